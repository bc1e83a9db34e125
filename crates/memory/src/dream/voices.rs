//! Voices: entries of the user that the user did not type.
//!
//! An agent that hands work to another writes the user's part of that
//! conversation, and programs put what they fetched there. Nobody vouches for
//! it, so it has to be reviewed.

use std::collections::HashSet;

use longhaul_transcript::{Block, Body, Entry, Format, MessageView, Role, Session};

/// How texts begin that something else put in the user's place.
const OTHERS: &[&str] = &[
    "another claude session sent a message",
    "contents of web page:",
    "contents of the web page:",
    "web page content:",
    "<teammate-message",
];
/// Marks the root of a subagent's conversation in a session that holds both.
const SIDECHAIN: &str = "claude-code:sidechain";

/// Who spoke in a session.
pub(super) struct Voices {
    /// The user's part is an agent's from here on.
    is_sidechain: bool,
    /// Entries in the user's name that are not the user's.
    pub(super) others: HashSet<String>,
}

impl Voices {
    pub(super) fn of(session: &Session) -> Voices {
        // A subagent's own file names the session it works for. In other
        // formats that is a fork, and the words are the user's.
        let has_parent = session.header().parent_session.is_some();
        Voices {
            is_sidechain: session.format() == Format::ClaudeCode && has_parent,
            others: HashSet::new(),
        }
    }

    /// Notes an entry on the path, in its order.
    pub(super) fn hear(&mut self, entry: &Entry) {
        if matches!(&entry.body, Body::Custom { custom_type } if custom_type == SIDECHAIN) {
            self.is_sidechain = true;
        }
        if entry.role() != Some(&Role::User) {
            return;
        }
        if self.is_sidechain || entry.message().is_some_and(|view| is_others(&view)) {
            self.others.insert(entry.id.as_str().to_owned());
        }
    }
}

fn is_others(view: &MessageView) -> bool {
    view.object().bool("isSidechain") == Some(true)
        || view.blocks().iter().any(|block| match block {
            Block::Text(text) => {
                let start: String = text.trim_start().chars().take(60).collect();
                let start = start.to_lowercase();
                OTHERS.iter().any(|others| start.starts_with(others))
            }
            _ => false,
        })
}
