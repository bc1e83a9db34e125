//! Voices: sessions in which an agent has the user's part.
//!
//! The ledger sees of each message whether the user typed it, where it says so.
//! Of a subagent's session only the file, or the root of its part, does.

use std::collections::HashSet;

use longhaul_ledger::is_brought;
use longhaul_ledger::ours::ORDERS;
use longhaul_transcript::{Body, Entry, Format, Role, Session};

/// Marks the root of a subagent's conversation in a session that holds both.
const SIDECHAIN: &str = "claude-code:sidechain";

/// Who spoke in a session.
pub(super) struct Voices {
    /// The user's part is an agent's from here on.
    is_sidechain: bool,
    /// Entries in the user's name so far.
    spoken: Vec<String>,
    /// Entries in the user's name that are not the user's.
    pub(super) others: HashSet<String>,
}

impl Voices {
    pub(super) fn of(session: &Session) -> Voices {
        let key = session.reference().key.as_deref();
        let is_child = key.is_some_and(|key| key.contains(":subagent:"));
        // A subagent's own file names the session it works for. In other
        // formats that is a fork, and the words are the user's.
        let has_parent = session.header().parent_session.is_some();
        Voices {
            is_sidechain: is_child || session.format() == Format::ClaudeCode && has_parent,
            spoken: Vec::new(),
            others: HashSet::new(),
        }
    }

    /// Notes any entry, wherever the path goes: what it says of the whole session.
    pub(super) fn notice(&mut self, entry: &Entry) {
        if matches!(&entry.body, Body::Custom { custom_type } if custom_type == ORDERS) {
            self.is_sidechain = true;
        }
    }

    /// Notes an entry on the path, in its order.
    pub(super) fn hear(&mut self, entry: &Entry) {
        if matches!(&entry.body, Body::Custom { custom_type } if custom_type == SIDECHAIN) {
            self.is_sidechain = true;
        }
        if is_brought(entry) {
            self.others.extend(self.spoken.drain(..));
        }
        if entry.role() != Some(&Role::User) {
            return;
        }
        self.spoken.push(entry.id.as_str().to_owned());
        if self.is_sidechain {
            self.others.insert(entry.id.as_str().to_owned());
        }
    }
}
