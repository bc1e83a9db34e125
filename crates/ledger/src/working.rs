//! What the fold has to remember between entries, beside the facts.

use std::collections::BTreeMap;

use longhaul_transcript::{EntryId, Millis};
use serde::{Deserialize, Serialize};

use crate::facts::Exchange;
use crate::tools::ToolUse;

/// A call whose result has not come yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) entry: EntryId,
    pub(crate) does: ToolUse,
}

/// Which tool an item of a list came from; each list is replaced by its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemSource {
    List,
    Task,
}

/// The last thing the agent said at length.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Answer {
    /// Whether it was long enough for a short reply to be a decision.
    pub(crate) long: bool,
    /// The line that a reply would answer: its last.
    pub(crate) line: String,
}

/// The conversation in short, before it is cut to eight exchanges.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Thread {
    pub(crate) first: Option<Exchange>,
    pub(crate) pivots: Vec<Exchange>,
    pub(crate) recent: Vec<Exchange>,
}

/// Everything else the fold remembers. All of it is bounded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Working {
    pub(crate) calls: Vec<Call>,
    /// The folder a shell that lives on between calls is in.
    pub(crate) shell_dir: Option<String>,
    /// Bytes of all utterances that are listed.
    pub(crate) utterance_bytes: usize,
    pub(crate) item_sources: BTreeMap<String, ItemSource>,
    pub(crate) task_ids: BTreeMap<String, String>,
    pub(crate) thread: Thread,
    pub(crate) answer: Answer,
    pub(crate) changed: Option<(String, EntryId)>,
    pub(crate) read: Option<(String, EntryId)>,
    /// The agent's last words.
    pub(crate) words: Option<(String, EntryId)>,
    pub(crate) last_command: Option<(String, EntryId)>,
    /// When the agent last did something, as its messages say themselves.
    pub(crate) acted: Option<Millis>,
    /// Paths that do not stand in the transcript in full: the length of the
    /// longest ending of each that does.
    pub(crate) written: BTreeMap<String, u32>,
    /// Files touched by the call at hand, and whether they are new; empty
    /// between entries.
    #[serde(skip)]
    pub(crate) touched: Vec<(String, bool)>,
}

impl Working {
    /// Calls that are remembered; more are never open at once in practice.
    const MOST_CALLS: usize = 256;

    pub(crate) fn call(&mut self, call: Call) {
        if self.calls.len() >= Self::MOST_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// The call a result answers: by its id, or, where results carry none,
    /// the oldest one of that tool.
    pub(crate) fn answered(&mut self, id: Option<&str>, tool: Option<&str>) -> Option<Call> {
        let at = match id {
            Some(id) => self.calls.iter().position(|call| call.id == id),
            None => {
                let named = tool.filter(|tool| !tool.is_empty());
                self.calls
                    .iter()
                    .position(|call| named.is_none_or(|tool| call.tool == tool))
            }
        }?;
        Some(self.calls.remove(at))
    }
}
