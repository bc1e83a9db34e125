//! The memory files of a workspace, opened.

use jiff::civil::DateTime;
use longhaul_memory::dream::Dreams;
use longhaul_memory::{MemoryFolder, Seal};

use crate::prelude::*;

/// The memory of the workspace, only to be read.
pub(super) fn reading(app: &App) -> Result<MemoryFolder> {
    Ok(MemoryFolder::open(&app.workspace, None)?)
}

pub(super) fn refuse_read_only(app: &App) -> Result {
    match app.config.sandbox.read_only {
        false => Ok(()),
        true => Err(Failure::blocked("the workspace is read-only")
            .detail("`sandbox.readOnly` is set")
            .help("unset it to change the memory")),
    }
}

/// The memory of the workspace with the installation's seal.
pub(super) fn writing(app: &App) -> Result<MemoryFolder> {
    refuse_read_only(app)?;
    Ok(MemoryFolder::open(&app.workspace, Some(seal(app)?))?)
}

/// The installation's seal, made where there is none yet.
pub(super) fn seal(app: &App) -> Result<Seal> {
    // Each has 74 bits that nobody can guess.
    let mut fresh = Vec::new();
    for _ in 0..3 {
        fresh.extend_from_slice(uuid::Uuid::now_v7().as_bytes());
    }
    Ok(Seal::of_state_dir(&app.state_dir, &fresh)?)
}

/// The time where the user is, for logs.
pub(super) fn clock(app: &App) -> DateTime {
    app.zoned().datetime()
}

/// What a crash left half done is told to those who only read, too.
pub(super) fn unfinished(app: &App, memory: &MemoryFolder) -> Option<String> {
    // What keeps it from being known is told by whoever needs the state.
    let told = Dreams::new(&app.state_dir, memory).unfinished();
    let told = told.ok().flatten();
    told.iter().for_each(|told| half_done(told));
    told
}

pub(super) fn half_done(told: &str) {
    out::note_once(&format!("note: {told}"));
}
