//! Taking the latest compaction or pruning of a session back, and doing it again:
//! what every door that is asked for it looks at first, and how it is written.

use longhaul_engine::config::Config;
use longhaul_engine::live::{Again, Live, UndoFailure};
use longhaul_engine::survey::Keep;
use longhaul_transcript::{
    Boundary, Durability, EntryId, Error, Loaded, Session, Stamp, Writer, has_archive,
};

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Back.
    Undo,
    /// And forward again.
    Redo,
}

/// Why not.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// There is nothing to take back, or to do again.
    #[error("{0}")]
    Nothing(UndoFailure),
    /// What it removed lies in the archive.
    #[error("{0}")]
    Archived(String),
    /// The session cannot be read.
    #[error(transparent)]
    Unread(#[from] Error),
}

impl Failure {
    /// What to do about it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Failure::Nothing(_) => None,
            Failure::Archived(_) => {
                Some("`longhaul session restore` puts it back; then it can be undone".into())
            }
            Failure::Unread(error) => error.remedy(),
        }
    }
}

/// What would be written.
pub fn plan(
    session: &Session,
    config: &Config,
    keep: &Keep,
    way: Way,
    stamp: impl FnMut() -> Stamp,
) -> Result<Again, Failure> {
    let live = Live::open_with(session, config.state_capture(), keep)?;
    let plan = match way {
        Way::Undo => live.undo(stamp, &|id| session.entry(id).ok()),
        Way::Redo => live.redo(stamp),
    };
    let plan = plan.map_err(|failure| match failure {
        UndoFailure::Missing(_) => Failure::Archived(failure.to_string()),
        _ => Failure::Nothing(failure),
    })?;
    if way == Way::Undo
        && let Some(Some(parent)) = &plan.branch
        && has_archive(session.path())
        && !is_whole(&session.load_at(parent)?)
    {
        return Err(Failure::Archived(format!(
            "what compaction {} removed lies in the archive",
            plan.subject
        )));
    }
    Ok(plan)
}

/// Writes it; the new entries come back.
pub fn carry_out(
    plan: Again,
    session: &Session,
    durability: Durability,
) -> Result<Vec<EntryId>, Error> {
    let mut writer = Writer::open(session.path(), durability)?;
    if let Some(branch) = plan.branch {
        writer.branch(branch);
    }
    let ids = writer.append_all(&plan.drafts)?;
    writer.end_turn()?;
    Ok(ids)
}

/// Whether a context of a session with an archive has its beginning: what it
/// starts from is a boundary, and all that the boundary keeps is there.
pub(crate) fn is_whole(loaded: &Loaded) -> bool {
    match loaded.compaction() {
        None => false,
        Some((_, compaction)) => match &compaction.boundary {
            Boundary::FirstKept(first) => loaded.entries.iter().any(|entry| entry.id == *first),
            _ => true,
        },
    }
}
