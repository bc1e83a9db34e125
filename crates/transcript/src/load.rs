//! What loading a session gives: the path from the boundary to the leaf.

use serde::Serialize;

use crate::entry::{Body, Boundary, Compaction, Entry, EntryId};
use crate::fault::Fault;
use crate::header::Header;
use crate::layout::Dialect;
use crate::message::Role;
use crate::session::Tail;
use crate::time::Millis;

/// How many compactions are on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "certainty", content = "count")]
pub enum Epoch {
    /// The number.
    Exact(u32),
    /// At least so many: the path was not read further back.
    AtLeast(u32),
}

impl Epoch {
    /// The number, or the least it can be.
    pub fn count(self) -> u32 {
        match self {
            Epoch::Exact(count) | Epoch::AtLeast(count) => count,
        }
    }

    /// Whether the number is certain.
    pub fn is_exact(self) -> bool {
        matches!(self, Epoch::Exact(_))
    }

    /// Counts compactions over entries from leaf to root, trusting a recorded
    /// epoch where there is one.
    pub(crate) fn of_walk<'a>(
        entries: impl IntoIterator<Item = &'a Entry>,
        complete: bool,
    ) -> Epoch {
        let mut count = 0;
        for entry in entries {
            if let Body::Compaction(compaction) = &entry.body {
                count += 1;
                if let Some(epoch) = compaction.epoch {
                    return Epoch::Exact(epoch.saturating_add(count - 1));
                }
            }
        }
        if complete {
            Epoch::Exact(count)
        } else {
            Epoch::AtLeast(count)
        }
    }
}

/// A session as the context needs it.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The header.
    pub header: Header,
    /// Whose rules apply.
    pub dialect: Dialect,
    /// The path from the first kept entry (or the root) to the leaf.
    pub entries: Vec<Entry>,
    /// Where in `entries` the compaction or reset stands that set the boundary.
    pub boundary: Option<usize>,
    /// Compactions on the path.
    pub epoch: Epoch,
    /// The model and thinking level in force, as far as the path was read.
    pub settings: Settings,
    /// Whether the path was read back to its root.
    pub complete: bool,
    /// What was wrong with what was read.
    pub faults: Vec<Fault>,
}

impl Loaded {
    /// The end of a path, cut at its boundary where the end reaches back to
    /// it. What lies before the end is missing from the context.
    pub fn of_tail(header: Header, tail: Tail) -> Loaded {
        let dialect = Dialect::of(&header);
        let resets = match dialect {
            Dialect::OpenClaw => Resets::Honoured,
            Dialect::Pi | Dialect::Linear => Resets::Ignored,
        };
        Loaded {
            epoch: Epoch::of_walk(tail.entries.iter().rev(), tail.complete),
            complete: tail.complete,
            ..cut_at_boundary(header, dialect, resets, tail.entries, Vec::new())
        }
    }

    /// The entry at the end of the path.
    pub fn leaf(&self) -> Option<&Entry> {
        self.entries.last()
    }

    /// The compaction whose summary opens the context.
    pub fn compaction(&self) -> Option<(&Entry, &Compaction)> {
        let entry = &self.entries[self.boundary?];
        match &entry.body {
            Body::Compaction(compaction) => Some((entry, compaction)),
            _ => None,
        }
    }

    /// The latest summary, if the path was compacted.
    pub fn summary(&self) -> Option<&str> {
        self.compaction()
            .map(|(_, compaction)| compaction.summary.as_str())
    }

    /// When the latest compaction happened.
    pub fn last_compaction(&self) -> Option<Millis> {
        self.compaction().and_then(|(entry, _)| entry.time)
    }
}

/// The settings a path ends with.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// Provider and id of the model used last.
    pub model: Option<ModelName>,
    /// The thinking level set last.
    pub thinking_level: Option<String>,
}

/// A model as a session names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelName {
    /// The provider.
    pub provider: String,
    /// The model's id.
    pub model_id: String,
}

impl Settings {
    /// The settings at the end of entries given from leaf to root.
    pub(crate) fn of_walk<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Settings {
        let mut settings = Settings::default();
        for entry in entries {
            match &entry.body {
                Body::ModelChange { provider, model } if settings.model.is_none() => {
                    settings.model = Some(ModelName {
                        provider: provider.clone(),
                        model_id: model.clone(),
                    });
                }
                Body::Message(message)
                    if settings.model.is_none() && message.role == Role::Assistant =>
                {
                    settings.model = entry.message().and_then(|message| {
                        Some(ModelName {
                            provider: message.provider()?.into_owned(),
                            model_id: message.model()?.into_owned(),
                        })
                    });
                }
                Body::ThinkingLevelChange(level) if settings.thinking_level.is_none() => {
                    settings.thinking_level = Some(level.clone());
                }
                _ => {}
            }
            if settings.model.is_some() && settings.thinking_level.is_some() {
                break;
            }
        }
        settings
    }
}

/// Whether a `reset` entry starts a new window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resets {
    Honoured,
    Ignored,
}

/// Cuts a whole path (root first) at its boundary.
pub(crate) fn cut_at_boundary(
    header: Header,
    dialect: Dialect,
    resets: Resets,
    mut entries: Vec<Entry>,
    faults: Vec<Fault>,
) -> Loaded {
    let epoch = Epoch::of_walk(entries.iter().rev(), true);
    let settings = Settings::of_walk(entries.iter().rev());
    let boundary = entries.iter().rposition(|entry| match &entry.body {
        Body::Compaction(_) => true,
        Body::Reset { .. } => resets == Resets::Honoured,
        _ => false,
    });
    let first = boundary.map_or(0, |at| first_kept(&entries, at));
    entries.drain(..first);
    Loaded {
        header,
        dialect,
        entries,
        boundary: boundary.map(|at| at - first),
        epoch,
        settings,
        complete: true,
        faults,
    }
}

/// Where the kept part of a path starts: at the boundary itself if nothing
/// before it is kept.
fn first_kept(entries: &[Entry], at: usize) -> usize {
    let position = |id: &EntryId| entries[..at].iter().position(|entry| entry.id == *id);
    match &entries[at].body {
        Body::Compaction(compaction) => match &compaction.boundary {
            Boundary::FirstKept(id) => position(id),
            Boundary::After(id) => position(id).map(|found| found + 1),
            Boundary::Index(_) | Boundary::Nothing => None,
        },
        Body::Reset {
            first_kept: Some(id),
            ..
        } => position(id),
        _ => None,
    }
    .unwrap_or(at)
}
