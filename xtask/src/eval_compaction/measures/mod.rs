//! What must stand in a context, and what must be found again.

mod files;
mod recoverable;
mod source_only;
mod standing;
mod words;

use super::drive::{Running, Store};
use super::kept::Kept;
use super::score::Sheet;
use super::source::Source;
use crate::Result;

pub(super) use files::names_file;
pub(super) use recoverable::recoverable;
pub(super) use words::Budget;

/// When a context is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// At the end of the replay.
    Replay,
    /// After so many forced compactions more.
    Forced(u32),
}

/// The rounds of talk that lie between two forced compactions.
pub(super) fn round_words(round: u32) -> (String, String) {
    (
        format!("Round {round}: how is it going?"),
        format!("Round {round}: nothing new to tell."),
    )
}

/// Everything that one state of a session must have.
pub(super) fn state(
    sheet: &mut Sheet<'_>,
    source: &Source,
    session: &Running,
    store: &Store,
    after: After,
    budget: Budget,
) -> Result<()> {
    let kept = Kept::of(session);
    files::files(sheet, source, &kept);
    words::said(sheet, source, &kept, store, budget)?;
    words::planted(sheet, source, &kept, budget);
    words::agreed(sheet, source, &kept);
    words::precision(sheet, source, &kept, after);
    standing::open(sheet, source, &kept, after);
    standing::failing(sheet, source, &kept);
    standing::in_flight(sheet, source, &kept, after);
    source_only::fabrication(sheet, source, &kept, session);
    Ok(())
}
