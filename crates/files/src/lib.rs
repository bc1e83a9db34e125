//! Files, opened so that nobody else decides which file it is.
//!
//! A name in a folder may have been put there by somebody else: a link to a
//! file outside, a pipe that makes its reader wait for ever, a device that never
//! ends. So everything longhaul reads or writes is opened here: the last part of
//! a path is never followed when it is a link, what was opened must be a regular
//! file, and opening does not wait. Links in the folders above are the user's
//! own arrangement and count.
//!
//! | to | call |
//! |---|---|
//! | read | [`open`]; whole and with a limit [`read`], [`read_text`] |
//! | append | [`append`], or [`append_or_create`] |
//! | create what must not exist | [`create`], or [`create_whole`], never half |
//! | replace, old or new but never half | [`replace`], [`replace_by`], [`replace_checked`] |
//! | read and write what an agent names below a folder | [`open_beneath`], [`replace_beneath`] |
//! | keep others out | [`lock`], [`lock_file`] |
//! | unpack no more than is allowed | [`unpack`], [`unpacked`]; another packer's [`Bounded`] |
//!
//! A file that the user names on purpose may be a link: [`resolve`] says where it
//! leads, and that is opened like anything else.
//!
//! Unix only: without descriptors of folders and `O_NOFOLLOW` none of it holds,
//! and a half of it would be believed.
#![cfg_attr(test, allow(clippy::unwrap_used))]
// The one place where files are opened.
#![allow(clippy::disallowed_methods)]

#[cfg(not(unix))]
compile_error!("longhaul runs on Unix systems; nothing else was tried");

mod error;
mod folder;
mod lock;
mod open;
mod replace;
mod system;
mod unpack;

pub use error::{Error, Fault, FileKind, Result, optional};
pub use folder::{
    create_folder, names, remove, remove_folder, rename, resolve, resolve_folder, sync_folder,
};
pub use lock::{Lock, Sharing, Wait, lock, lock_file};
pub use open::{
    Identity, append, append_or_create, create, kind_of, open, open_beneath, read, read_named,
    read_text, require_regular, same_file,
};
pub use replace::{create_whole, replace, replace_beneath, replace_by, replace_checked, sweep};
pub use system::NewFile;
pub use unpack::{Bounded, unpack, unpacked};
