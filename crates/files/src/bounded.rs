//! A reader with an end: for what is unpacked, whose size nobody has seen yet.

use std::io::{self, Read};

/// Reads at most so many bytes; one more is an error and not an end.
#[derive(Debug)]
pub struct Bounded<R> {
    reader: R,
    left: u64,
    most: u64,
}

impl<R: Read> Bounded<R> {
    /// A reader that gives at most `most` bytes.
    pub fn new(reader: R, most: u64) -> Bounded<R> {
        Bounded {
            reader,
            left: most,
            most,
        }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.left)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        let wanted = buffer.len().min(room);
        let read = self.reader.read(&mut buffer[..wanted])?;
        match self.left.checked_sub(read as u64) {
            Some(left) => {
                self.left = left;
                Ok(read)
            }
            None => Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it unpacks to more than {} bytes", self.most),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_ends_at_its_limit_and_fails_beyond_it() {
        let read = |most| {
            let mut out = Vec::new();
            let mut reader = Bounded::new(&b"12345"[..], most);
            reader.read_to_end(&mut out).map(|_| out)
        };
        assert_eq!(read(5).unwrap(), b"12345");
        assert_eq!(read(9).unwrap(), b"12345");
        assert_eq!(read(4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(0).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    }
}
