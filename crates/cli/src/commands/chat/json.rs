//! A turn for programs: one JSON object a line. `docs/src/json.md` describes them.

use longhaul_engine::event::Event;
use longhaul_engine::session::{Error, Listener, Session, Turn};
use longhaul_model::Delta;

use crate::prelude::*;

/// Prints every event as it happens.
#[derive(Default)]
pub(super) struct JsonLines {
    broken: Option<Failure>,
}

impl JsonLines {
    pub(super) fn line(&mut self, value: &Value) {
        if let Err(failure) = out::whole(&format!("{value}\n")) {
            self.broken.get_or_insert(failure);
        }
    }

    /// Whether all of it could be written.
    pub(super) fn finish(&mut self) -> Result {
        self.broken.take().map_or(Ok(()), Err)
    }
}

impl Listener for JsonLines {
    fn event(&mut self, event: &Event) {
        match event.told() {
            Ok(value) => self.line(&value),
            Err(error) => self.line(&json!({"event": "trouble", "reason": error.to_string()})),
        }
    }

    fn delta(&mut self, delta: &Delta) {
        let value = match delta {
            Delta::Text(text) => json!({"event": "text", "text": text}),
            Delta::Thinking(text) => json!({"event": "thinking", "text": text}),
            Delta::Retrying {
                attempt,
                after,
                reason,
            } => json!({
                "event": "retrying",
                "attempt": attempt,
                "seconds": after.as_secs_f64(),
                "reason": out::redacted(reason),
            }),
            // The whole call comes as an event of its own.
            Delta::ToolCall { .. } | Delta::ToolArguments { .. } => return,
        };
        self.line(&value);
    }
}

/// The last line of a turn.
pub(super) fn result(session: &mut Session, ended: &Result<Turn, Error>) -> Value {
    let status = session.status();
    let spending = status.spending;
    json!({
        "event": "result",
        "ok": ended.is_ok(),
        "text": ended.as_ref().map(|turn| turn.text.as_str()).unwrap_or_default(),
        "stop": ended.as_ref().map_or_else(|error| error.kind(), |turn| turn.stop.as_str()),
        "rounds": ended.as_ref().map(|turn| turn.rounds).ok(),
        "spent": spending.last_turn,
        "error": ended.as_ref().err().map(|error| json!({
            "kind": error.kind(),
            "message": out::redacted(&error.to_string()),
            "remedy": error.remedy().map(|remedy| out::redacted(&remedy)),
        })),
        "session": self::session(session),
        "status": status,
    })
}

/// Which session it is.
pub(super) fn session(session: &Session) -> Value {
    json!({
        "name": session.key(),
        "path": session.path().to_string_lossy(),
    })
}
