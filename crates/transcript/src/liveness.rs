//! Is another agent running this session?
//!
//! An agent keeps its own idea of the leaf in memory: what we append from
//! outside would end on a dead branch. So we look before we write. No single
//! sign is certain (pi takes no lock), so several are asked: a lock, an open
//! handle where the system shows them, growth in the last seconds.

use std::fs::TryLockError;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};

/// A file written to this recently is taken to be in use.
pub const QUIET_PERIOD: Duration = Duration::from_secs(5);

/// Why a session is taken to be in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Another process holds the lock.
    Locked,
    /// Another process has the file open.
    Open {
        /// Its process id.
        process: u32,
        /// Its name, if the system tells.
        name: String,
    },
    /// The file changed a moment ago.
    Fresh {
        /// How long ago.
        age: Duration,
    },
}

impl Evidence {
    /// The evidence in words.
    pub fn describe(&self) -> String {
        match self {
            Evidence::Locked => "another process holds its lock".into(),
            Evidence::Open { process, name } => {
                format!("process {process} ({name}) has it open")
            }
            Evidence::Fresh { age } => {
                format!("it was written to {:.1} s ago", age.as_secs_f64())
            }
        }
    }

    /// The evidence as the error that refuses a write.
    pub fn refusal(&self, path: &Path) -> Error {
        match self {
            Evidence::Locked => Error::Locked {
                path: path.to_owned(),
            },
            _ => Error::InUse {
                path: path.to_owned(),
                evidence: self.describe(),
            },
        }
    }
}

/// Looks for signs that another process runs this session. `age` is how long
/// ago the file was last modified, by the caller's clock.
pub fn in_use(path: &Path, age: Option<Duration>) -> Result<Option<Evidence>> {
    let file = longhaul_files::open(path)?;
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = file.unlock();
        }
        Err(TryLockError::WouldBlock) => return Ok(Some(Evidence::Locked)),
        // A file system without locks is no reason to refuse.
        Err(TryLockError::Error(_)) => {}
    }
    drop(file);
    if let Some(evidence) = open_elsewhere(path) {
        return Ok(Some(evidence));
    }
    Ok(age
        .filter(|age| *age < QUIET_PERIOD)
        .map(|age| Evidence::Fresh { age }))
}

/// Looks through the open files of other processes. Only those we may see
/// count; on systems without `/proc` there are none.
#[cfg(target_os = "linux")]
fn open_elsewhere(path: &Path) -> Option<Evidence> {
    let wanted = std::fs::canonicalize(path).ok()?;
    let own = std::process::id();
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let Some(id) = process
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(handles) = std::fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        let open = id != own
            && handles
                .flatten()
                .any(|handle| std::fs::read_link(handle.path()).is_ok_and(|at| at == wanted));
        if open {
            const NAME_BYTES: u64 = 4096;
            let name = longhaul_files::read_text(&process.path().join("comm"), NAME_BYTES);
            let name = name.unwrap_or_default();
            return Some(Evidence::Open {
                process: id,
                name: name.trim().to_owned(),
            });
        }
    }
    None
}

#[cfg(not(target_os = "linux"))]
fn open_elsewhere(_path: &Path) -> Option<Evidence> {
    None
}
