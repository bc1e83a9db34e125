//! Unpacking, with an end: nobody has seen yet how large it becomes.

use std::io::{self, BufRead, Read};

/// What anything may unpack to, whatever its size.
const ALWAYS_BYTES: u64 = 64 << 20;
/// Beyond that, so many times its size. Text packs to a tenth; what packs to a
/// thousandth was made to fill a disk.
const MOST_TIMES: u64 = 100;

/// What a file or a field of `size` packed bytes unpacks to, piece by piece, and
/// an error where it would become more than something of its size may.
pub fn unpacked(packed: impl BufRead, size: u64) -> io::Result<impl Read> {
    let most = size.saturating_mul(MOST_TIMES).max(ALWAYS_BYTES);
    Ok(Bounded::new(zstd::Decoder::with_buffer(packed)?, most))
}

/// The same, whole.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    unpacked(packed, packed.len() as u64)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

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

    #[test]
    fn what_was_made_to_fill_a_disk_is_not_unpacked() {
        let packed = |bytes: u64| {
            let mut packed = zstd::Encoder::new(Vec::new(), 1).unwrap();
            io::copy(&mut io::repeat(b'a').take(bytes), &mut packed).unwrap();
            packed.finish().unwrap()
        };
        let most = unpack(&packed(ALWAYS_BYTES)).unwrap();
        assert_eq!(most.len() as u64, ALWAYS_BYTES);
        let bomb = packed(ALWAYS_BYTES + 1);
        assert_eq!(
            unpack(&bomb).unwrap_err().kind(),
            io::ErrorKind::FileTooLarge
        );
        // A large one may become larger, but no more than so many times.
        let said = |size| io::copy(&mut unpacked(&bomb[..], size).unwrap(), &mut io::sink());
        assert!(said(ALWAYS_BYTES / MOST_TIMES).is_err());
        assert_eq!(
            said(ALWAYS_BYTES / MOST_TIMES + 1).unwrap(),
            ALWAYS_BYTES + 1
        );
        assert!(unpack(b"no frame").is_err());
    }
}
