//! What is shown, as typed results: pages render them, programs get them as JSON.

mod compaction;
mod context;
mod dreams;
mod entry;
mod found;
mod memory;
mod sessions;
mod timeline;

use std::path::Path;

use longhaul_engine::standing::About;
use longhaul_engine::survey::{Keep, Survey};
use longhaul_tokens::Estimator;
use longhaul_transcript::{EntryId, Session, is_pin};
use schemars::JsonSchema;
use serde::Serialize;

use crate::desk::Desk;
use crate::http::Refusal;

pub use compaction::{CompactionRow, CompactionView, Compactions, FileLine, SaidLine, ToDoLine};
pub use context::{ContextView, MessageRow};
pub use dreams::{
    Beside, CandidateRow, Dreaming, DreamsView, FilePatch, Planned, Promotion, Promotions,
    Replaced, Why, without_secrets,
};
pub use entry::EntryView;
pub(super) use entry::stored;
pub use found::{FoundRow, FoundView, Question, Where};
pub use memory::{MemoryFile, MemoryView};
pub use sessions::{Glances, Order, SessionRow, Sessions, Wanted};
pub use timeline::{MarkRow, Stretch, TimelineView};

pub(super) type Shown<T> = Result<T, Refusal>;

/// A session that is asked about, and what it is looked at with.
pub struct Subject<'a> {
    /// The session.
    pub session: &'a Session,
    /// Where what is known of it is kept.
    pub keep: Keep,
    /// What counts its tokens.
    pub estimator: Estimator,
    /// Our own folder.
    pub state_dir: &'a Path,
}

impl<'a> Subject<'a> {
    /// A session that is served.
    pub(super) fn at(desk: &'a Desk, session: &'a Session) -> Subject<'a> {
        Subject {
            session,
            keep: desk.keep(session),
            estimator: desk.config.tokens.estimator,
            state_dir: &desk.state_dir,
        }
    }

    fn about(&self) -> About {
        About::of(self.session, self.state_dir)
    }
}

/// The entries that are pinned.
fn pins(survey: &Survey) -> Vec<EntryId> {
    let labels = survey.labels().into_iter();
    let pins = labels.filter(|(_, label)| is_pin(label));
    pins.map(|(entry, _)| entry).collect()
}

/// A number that may be the least of what it can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Count {
    /// `exact` or `atLeast`.
    pub certainty: &'static str,
    /// The number.
    pub count: u64,
}

impl From<longhaul_transcript::Epoch> for Count {
    fn from(epoch: longhaul_transcript::Epoch) -> Count {
        Count {
            certainty: if epoch.is_exact() { "exact" } else { "atLeast" },
            count: u64::from(epoch.count()),
        }
    }
}
