//! The aftermath of a compaction: what of the session it left in the context, text
//! by text. The audit in the compaction's own entry counts the same at the time; here
//! every text is named with where it is.

use longhaul_compaction::audit::{Survival, survival};
use longhaul_ledger::Capture;
use longhaul_transcript::{Context, ContextMessage, EntryId, Result, Session};

use crate::live::Live;
use crate::recall::message_text;
use crate::survey::{Keep, Survey};

/// A session as one of its compactions left it.
#[derive(Debug)]
pub struct Aftermath {
    live: Live,
    context: Context,
    text: String,
}

impl Aftermath {
    /// What the compaction with this id left.
    pub fn of(session: &Session, compaction: &EntryId, keep: &Keep) -> Result<Aftermath> {
        let mut live = Live::open_at(session, Some(compaction), Capture::default(), keep)?;
        live.read_source(session)?;
        let context = Context::build(&session.load_at(compaction)?);
        let texts = context.messages.iter();
        let texts: Vec<String> = texts.map(|one| message_text(&one.view())).collect();
        Ok(Aftermath {
            live,
            text: texts.join("\n"),
            context,
        })
    }

    /// The messages that it left.
    pub fn messages(&self) -> &[ContextMessage] {
        &self.context.messages
    }

    /// Where everything is that the session holds. `survey` is that of the whole
    /// session: what it has a place of can be had back.
    pub fn survival(&self, session: &Session, survey: &Survey) -> Survival<'_> {
        let is_stored = |id: &EntryId| survey.has(id) || session.entry(id).is_ok();
        survival(self.live.audit_source(), &self.text, &is_stored)
    }
}
