//! Files that somebody names, read whole but never without end. What the
//! system says of a size is not believed: a device has none, and a file may
//! grow while it is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What there was to read.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// All of it.
    Whole(Vec<u8>),
    /// More than the limit: so many bytes at least.
    TooLarge(u64),
    /// A folder, a device or a pipe; nothing was read from it.
    NoFile,
}

/// Reads a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Input> {
    // Before it is opened: opening a pipe waits for whoever writes to it.
    let meta = std::fs::metadata(path)?;
    if !meta.is_file() {
        return Ok(Input::NoFile);
    }
    if meta.len() > most {
        return Ok(Input::TooLarge(meta.len()));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(match bytes.len() as u64 {
        read if read > most => Input::TooLarge(read),
        _ => Input::Whole(bytes),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit_and_not_beyond() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "12345").unwrap();
        assert_eq!(read(&path, 5).unwrap(), Input::Whole(b"12345".to_vec()));
        assert_eq!(read(&path, 4).unwrap(), Input::TooLarge(5));
        assert_eq!(read(folder.path(), 5).unwrap(), Input::NoFile);
        assert!(read(&folder.path().join("b"), 5).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_size_of_nought_is_not_believed() {
        let Input::TooLarge(bytes) = read(Path::new("/proc/self/status"), 16).unwrap() else {
            panic!("read whole");
        };
        assert_eq!(bytes, 17);
    }
}
