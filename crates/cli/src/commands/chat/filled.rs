//! What fills the context of the session at work, by its own numbers.
//!
//! `context inspect` looks at a session from outside and knows neither the
//! tools nor the prompt that a chat gives the model; the session does.

use longhaul_engine::measure::Meter;
use longhaul_engine::session::{Listener, Session, Status};
use longhaul_tokens::{ContentKind, Tokens};
use longhaul_transcript::Role;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::paint;

/// So many of the largest messages are named.
const LARGEST: usize = 5;

/// The next request, part by part.
pub(super) struct Filled {
    status: Status,
    prompt: Tokens,
    tools: Tokens,
    /// What was put back after a compaction, with the time and the gauge.
    restored: Tokens,
    conversation: Tokens,
    largest: Vec<(String, Role, Tokens)>,
}

impl Filled {
    /// Looks at a session.
    pub(super) fn of(
        session: &mut Session,
        mut meter: Meter,
        listener: &mut dyn Listener,
    ) -> Result<Filled, longhaul_engine::session::Error> {
        let counter = meter.estimator().counter();
        let request = session.assemble(listener)?;
        let prompt = request
            .system
            .iter()
            .map(|block| counter.count(&block.text, ContentKind::Prose))
            .sum();
        // As one text, which is how the engine counts them.
        let tools = match request.tools.as_slice() {
            [] => Tokens::ZERO,
            tools => counter.count(
                &serde_json::to_string(tools).unwrap_or_default(),
                ContentKind::Json,
            ),
        };
        let mut largest: Vec<(String, Role, Tokens)> = session
            .live()
            .messages()
            .iter()
            .map(|message| {
                let tokens = meter.message(message);
                (message.entry.to_string(), message.role.clone(), tokens)
            })
            .collect();
        let conversation = largest.iter().map(|(.., tokens)| *tokens).sum();
        largest.sort_by_key(|(.., tokens)| std::cmp::Reverse(*tokens));
        largest.truncate(LARGEST);
        let status = session.status();
        Ok(Filled {
            prompt,
            tools,
            restored: status.size.overhead - prompt - tools,
            conversation,
            largest,
            status,
        })
    }

    fn parts(&self) -> [(&'static str, Tokens); 4] {
        [
            ("system prompt", self.prompt),
            ("tool definitions", self.tools),
            ("put back, notes", self.restored),
            ("conversation", self.conversation),
        ]
    }

    /// For programs; `docs/src/json.md` describes it.
    pub(super) fn json(&self) -> Value {
        let status = &self.status;
        json!({
            "event": "context",
            "tokens": status.size.tokens,
            "reported": status.size.reported,
            "window": status.window,
            "windowFrom": status.window_origin.to_string(),
            "percent": percent(status.fullness),
            "activation": status.activation,
            "hard": status.hard,
            "parts": {
                "prompt": self.prompt,
                "tools": self.tools,
                "restored": self.restored,
                "conversation": self.conversation,
            },
            "largest": self.largest.iter().map(|(entry, role, tokens)| json!({
                "entry": entry,
                "role": role,
                "tokens": tokens,
            })).collect::<Vec<_>>(),
        })
    }

    /// For people.
    pub(super) fn print(&self) -> Result<(), Failure> {
        let status = &self.status;
        let share = |tokens: Tokens| f64::from(tokens.0) / f64::from(status.window.0.max(1));
        for (name, tokens) in self.parts() {
            row!(
                name,
                "{:>10}  {} {:>5.1} %",
                tokens.to_string(),
                paint::bar(share(tokens), 24),
                percent(share(tokens))
            )?;
        }
        say!("")?;
        row!(
            "Context",
            "{} of {} ({:.1} %)",
            status.size.tokens,
            status.window,
            percent(status.fullness)
        )?;
        paint::row(
            "Known from",
            match status.size.reported {
                true => "the provider's count of the last request, and ours of what came since",
                false => "our count of the parts above",
            },
        )?;
        row!("Window", "{} ({})", status.window, status.window_origin)?;
        paint::row("Compaction from", status.activation)?;
        if self.largest.is_empty() {
            return Ok(());
        }
        say!("")?;
        for (entry, role, tokens) in &self.largest {
            row!("Largest", "{:>10}  {role} {entry}", tokens.to_string())?;
        }
        Ok(())
    }
}

fn percent(share: f64) -> f64 {
    (share * 1000.0).round() / 10.0
}
