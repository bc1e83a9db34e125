//! What the operating system is asked for.

use std::fs::Permissions;

use crate::error::FileKind;

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::{Beneath, make_blocking, open, sync_folder_of};
#[cfg(unix)]
pub(crate) use unix::{Beneath, make_blocking, open, sync_folder_of};

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// To be read.
    Read,
    /// To be read and appended to; it must exist.
    Append,
    /// The same; it must not exist.
    Create,
    /// The same, whether it exists or not.
    AppendOrCreate,
}

/// What has a name in a folder.
pub(crate) struct Seen {
    /// What it is; nothing for a regular file.
    pub(crate) kind: Option<FileKind>,
    pub(crate) permissions: Permissions,
}
