//! A compaction of Codex: a summary, and the history put in place of the old one.

use std::ops::ControlFlow;

use super::items::{Item, typed};
use super::replay::Replay;
use crate::import::lineup::{Emit, Imported, Parent};
use crate::json::{self, Object, ObjectWriter};
use crate::lines::Record;

impl Replay<'_> {
    /// After a compaction the context is what Codex put in place of the
    /// history, so that is what follows the summary.
    pub(super) fn compacted(
        &mut self,
        payload: &Object<'_>,
        record: &Record<'_>,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        self.close(emit)?;
        let message = payload.str("message").unwrap_or_default();
        let origin = self.origin(record.place);
        let summary = if message.is_empty() {
            "(Codex compacted the conversation; the summary is encrypted and only the provider \
             can read it.)"
        } else {
            message.as_ref()
        };
        let fields = ObjectWriter::new()
            .str("summary", summary)
            .str("firstKeptEntryId", origin.id.as_str())
            .num("tokensBefore", self.tokens)
            .raw(
                "details",
                r#"{"trigger":"auto","layer":"full","source":"codex"}"#,
            );
        let draft = Imported::new(
            "compaction",
            origin.id,
            origin.timestamp.as_deref(),
            origin.place,
            fields,
        );
        self.lineup.follow(draft, emit)?;
        self.turns.clear();
        let kept = std::mem::take(&mut self.prompts);
        self.prompt_bytes = 0;
        self.repeats = true;
        let flow = match payload.array("replacement_history") {
            Some(items) => self.replace(&items, &message, record, emit),
            None => kept.iter().try_for_each(|content| {
                let item = ObjectWriter::new().raw("content", content).finish();
                let item = Object::parse(&item).unwrap_or_default();
                self.user(content, &typed(&item), record.place, emit)
            }),
        };
        self.repeats = false;
        flow
    }

    fn replace(
        &mut self,
        items: &[json::Raw<'_>],
        summary: &str,
        record: &Record<'_>,
        emit: &mut Emit<'_>,
    ) -> ControlFlow<()> {
        // The replacement ends with the summary, which the compaction has.
        let repeated = items.iter().rposition(|raw| says(raw.get(), summary));
        for (at, raw) in items.iter().enumerate() {
            let Some(item) = Object::of(raw.get()) else {
                continue;
            };
            let other = matches!(Item::read(&item, raw.get(), record.place), Item::Other);
            if Some(at) != repeated && !other {
                self.item(&item, raw.get(), record, emit)?;
            }
        }
        self.close(emit)?;
        let data = record.object.raw("payload").unwrap_or("null");
        if items
            .iter()
            .any(|raw| raw.get().contains("\"encrypted_content\""))
        {
            // What only the provider can read is kept, for a later import.
            let draft = self.origin(record.place).custom("codex:compacted", data);
            return self.lineup.beside(draft, Parent::Tip, emit);
        }
        ControlFlow::Continue(())
    }
}

/// Whether an item is a user message with exactly this text.
fn says(raw: &str, text: &str) -> bool {
    let Ok(item) = Object::parse(raw) else {
        return false;
    };
    if text.is_empty() || item.raw("role") != Some("\"user\"") {
        return false;
    }
    let parts = item
        .raw("content")
        .and_then(json::array)
        .unwrap_or_default();
    let [part] = parts.as_slice() else {
        return false;
    };
    Object::parse(part.get()).is_ok_and(|part| part.str("text").as_deref() == Some(text))
}
