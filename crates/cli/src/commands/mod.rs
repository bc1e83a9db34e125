//! The commands, one file each group.

mod budget;
mod change;
pub(crate) mod chat;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod config;
pub(crate) mod context;
mod diff;
pub(crate) mod doctor;
pub(crate) mod dream;
mod events;
mod handoff;
mod history;
pub(crate) mod hook;
mod inspect;
mod list;
pub(crate) mod man;
pub(crate) mod mcp;
mod measured;
pub(crate) mod memory;
pub(crate) mod memory_files;
mod memory_folder;
mod models;
mod quotation;
pub(crate) mod recall;
pub(crate) mod redact;
pub(crate) mod replay;
pub(crate) mod rpc;
pub(crate) mod sample;
mod saving;
pub(crate) mod serve;
pub(crate) mod session;
mod show;
mod spending;
mod transfer;
mod trash;
mod windows;

use std::path::Path;

use longhaul_transcript::Fault;

use crate::prelude::*;

/// Says what was wrong with a file that could still be read.
fn report_faults(faults: &[Fault]) {
    const SHOWN: usize = 3;
    for fault in faults.iter().take(SHOWN) {
        note!("note: {fault}");
    }
    if faults.len() > SHOWN {
        note!(
            "note: {} more; `longhaul session verify` lists them all",
            faults.len() - SHOWN
        );
    }
}

/// A new file takes nobody's place.
fn refuse_existing(target: &Path) -> Result {
    if target.symlink_metadata().is_err() {
        return Ok(());
    }
    let what = format!("cannot write {}: the file exists already", target.display());
    Err(Failure::new(what).help("choose another name or remove it"))
}
