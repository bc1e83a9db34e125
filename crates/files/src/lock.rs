//! Locks: one process at a time, on a file that was opened safely.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Fault, Result};
use crate::open::opened;
use crate::system::How;

const PAUSE: Duration = Duration::from_millis(2);

/// How long to wait for whoever holds a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    Never,
    /// So long.
    For(Duration),
    /// Until it is free.
    Always,
}

/// Who may hold a lock at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Any number of those who share it.
    Shared,
    /// One.
    Alone,
}

/// A lock on a file of its own, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Takes the lock of an open file. A file system without locks keeps nobody
/// apart, and to refuse would make what is there useless: it counts as taken.
pub fn lock(file: &File, path: &Path, sharing: Sharing, wait: Wait) -> Result<()> {
    let take = || match sharing {
        Sharing::Shared => file.try_lock_shared(),
        Sharing::Alone => file.try_lock(),
    };
    let mut waited = Duration::ZERO;
    loop {
        match (take(), wait) {
            (Ok(()), _) => return Ok(()),
            (Err(TryLockError::Error(error)), _) if error.kind() == io::ErrorKind::Unsupported => {
                return Ok(());
            }
            (Err(TryLockError::Error(source)), _) => return Err(Error::io("lock", path)(source)),
            (Err(TryLockError::WouldBlock), Wait::Always) => {
                let taken = match sharing {
                    Sharing::Shared => file.lock_shared(),
                    Sharing::Alone => file.lock(),
                };
                return taken.map_err(Error::io("lock", path));
            }
            (Err(TryLockError::WouldBlock), Wait::For(most)) if waited < most => {
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            (Err(TryLockError::WouldBlock), _) => {
                return Err(Error::new("lock", path, Fault::Locked));
            }
        }
    }
}

/// Takes the lock that a file of its own stands for. The file is made where it
/// is missing, and stays.
pub fn lock_file(path: &Path, sharing: Sharing, wait: Wait) -> Result<Lock> {
    let file = opened("lock", path, How::AppendOrCreate)?;
    lock(&file, path, sharing, wait)?;
    Ok(Lock { _file: file })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_keeps_others_out_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        let held = lock_file(&path, Sharing::Alone, Wait::Never).unwrap();
        for wait in [Wait::Never, Wait::For(Duration::from_millis(10))] {
            let refused = lock_file(&path, Sharing::Shared, wait).unwrap_err();
            assert!(matches!(refused.fault, Fault::Locked), "{refused}");
        }
        drop(held);
        let _one = lock_file(&path, Sharing::Shared, Wait::Never).unwrap();
        let _two = lock_file(&path, Sharing::Shared, Wait::Always).unwrap();
    }
}
