//! The event: the new message that a request answers.

use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::json::ObjectWriter;
use longhaul_transcript::{ContextMessage, EntryId, Millis};

use crate::{Error, Result};

/// A user's message with what is attached to it.
///
/// Its JSON is what a transcript stores, so that the message looks the same when
/// it is new and when it has become history, and stays in the prompt cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    text: String,
    images: Vec<Image>,
    at: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Image {
    mime: String,
    base64: String,
}

impl Event {
    /// A message of text.
    pub fn new(text: impl Into<String>, at: Millis) -> Event {
        Event {
            text: text.into(),
            images: Vec::new(),
            at,
        }
    }

    /// With a picture, as base64.
    pub fn with_image(
        mut self,
        mime: impl Into<String>,
        base64: impl Into<String>,
    ) -> Result<Event> {
        let (mime, base64) = (mime.into(), base64.into());
        let refused = |reason| Error::Attachment {
            mime: mime.clone(),
            reason,
        };
        if !mime.starts_with("image/") {
            return Err(refused("only images can be sent as content"));
        }
        let digits = base64.trim_end_matches('=');
        let is_digit = |b: u8| b.is_ascii_alphanumeric() || b == b'+' || b == b'/';
        if digits.is_empty() || !digits.bytes().all(is_digit) {
            return Err(refused("its data is not base64"));
        }
        self.images.push(Image { mime, base64 });
        Ok(self)
    }

    /// With a file of any other kind, which the agent can open by its path.
    pub fn with_file(mut self, name: &str, mime: &str, path: &str) -> Event {
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        let (name, mime, path) = (plain(name), plain(mime), plain(path));
        self.text
            .push_str(&format!("[attached: {name} ({mime}) at {path}]"));
        self
    }

    /// The message as a transcript stores it.
    pub fn to_json(&self) -> String {
        let text = ObjectWriter::new()
            .str("type", "text")
            .str("text", &self.text);
        let mut content = format!("[{}", text.finish());
        for image in &self.images {
            let block = ObjectWriter::new()
                .str("type", "image")
                .str("data", &image.base64)
                .str("mimeType", &image.mime)
                .finish();
            content.push(',');
            content.push_str(&block);
        }
        content.push(']');
        ObjectWriter::new()
            .str("role", "user")
            .raw("content", &content)
            .num("timestamp", self.at.0)
            .finish()
    }

    pub(crate) fn to_message(&self) -> ContextMessage {
        ContextMessage::new(EntryId::from("longhaul:event"), self.to_json())
    }

    pub(crate) fn tokens(&self, counter: &dyn Counter) -> Tokens {
        let images: Tokens = self.images.iter().map(|_| counter.image()).sum();
        counter.count(&self.text, ContentKind::Prose) + images + counter.message_overhead()
    }
}
