//! What fills the context of the session at work, by its own numbers.
//!
//! `context inspect` looks at a session from outside and knows neither the
//! tools nor the prompt that a chat gives the model; the session does.

use longhaul_assembly::Breakdown;
use longhaul_engine::measure::Meter;
use longhaul_engine::session::{Error, Listener, Session, Status};
use longhaul_tokens::Tokens;
use longhaul_transcript::Role;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::paint;

/// So many of the largest messages are named.
const LARGEST: usize = 5;

/// The next request, part by part.
pub(super) struct Filled {
    status: Status,
    breakdown: Breakdown,
    largest: Vec<(String, Role, Tokens)>,
}

impl Filled {
    /// Looks at a session.
    pub(super) fn of(
        session: &mut Session,
        mut meter: Meter,
        listener: &mut dyn Listener,
    ) -> Result<Filled, Error> {
        let messages = session.live().messages().iter();
        let mut largest: Vec<(String, Role, Tokens)> = messages
            .map(|message| {
                let tokens = meter.message(message);
                (message.entry.to_string(), message.role.clone(), tokens)
            })
            .collect();
        largest.sort_by_key(|(.., tokens)| std::cmp::Reverse(*tokens));
        largest.truncate(LARGEST);
        Ok(Filled {
            breakdown: session.breakdown(listener)?,
            largest,
            status: session.status(),
        })
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
            "parts": self.breakdown.parts,
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
        for part in &self.breakdown.parts {
            row!(
                &part.name.to_string(),
                "{:>10}  {} {:>5.1} %",
                part.tokens.to_string(),
                paint::bar(share(part.tokens), 24),
                percent(share(part.tokens))
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
