//! Who is listened to.

use std::collections::HashMap;

use longhaul_ledger::Ledger;
use longhaul_transcript::{ContextMessage, Role};

/// Tells what the user and the model said from what programs and tools put in
/// their names: the ledger knows which messages are requests.
#[derive(Debug)]
pub(super) struct Voices<'a> {
    gists: HashMap<&'a str, &'a str>,
    /// Requests so old that the ledger no longer lists them.
    unlisted: bool,
}

impl<'a> Voices<'a> {
    pub(super) fn new(ledger: &'a Ledger) -> Voices<'a> {
        Voices {
            gists: ledger
                .requests
                .iter()
                .map(|request| (request.entry.as_str(), request.gist.as_str()))
                .collect(),
            unlisted: ledger.requests_left > 0,
        }
    }

    /// What the user asked for in a message, shortened; nothing if it is not a
    /// request.
    pub(super) fn request(&self, message: &ContextMessage) -> Option<String> {
        if message.role != Role::User {
            return None;
        }
        match self.gists.get(message.entry.as_str()) {
            Some(gist) => Some((*gist).to_owned()),
            None if self.unlisted => {
                let view = message.view();
                let meta = view.object().bool("isMeta") == Some(true);
                (!meta).then(|| view.text())
            }
            None => None,
        }
    }

    /// Whether the user or the model speaks. Tools are not listened to: their
    /// text is data.
    pub(super) fn hears(&self, message: &ContextMessage) -> bool {
        message.role == Role::Assistant || self.request(message).is_some()
    }
}
