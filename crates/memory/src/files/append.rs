//! Appending by several processes at once.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::{Error, Result};

/// Appends `text` as a whole, durably. A new file begins with `head`. What a
/// crash left without its line end gets one, so that nothing runs into it.
pub(super) fn append(path: &Path, head: &str, text: &str) -> Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut file = options.open(path).map_err(Error::io("write", path))?;
    lock(&file).map_err(Error::io("lock", path))?;
    write(&mut file, head, text).map_err(Error::io("write", path))?;
    Ok(())
}

/// Waits for the others: each of them holds the lock for one write.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => file.lock(),
        // A file system without locks: appending is still one write.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn write(file: &mut File, head: &str, text: &str) -> io::Result<()> {
    let before = file.metadata()?.len();
    let mut whole = String::with_capacity(head.len() + text.len() + 1);
    if before == 0 {
        whole.push_str(head);
    } else {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            whole.push('\n');
        }
    }
    whole.push_str(text);
    let written = file
        .write_all(whole.as_bytes())
        .and_then(|()| file.sync_data());
    if let Err(error) = written {
        // A full disk leaves no half entry; if even that fails, the next
        // append heals the tail.
        let _ = file.set_len(before);
        return Err(error);
    }
    Ok(())
}
