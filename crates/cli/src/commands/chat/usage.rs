//! What fills the context of the session at work, by its own numbers.
//!
//! `context inspect` looks at a session from outside and knows neither the
//! tools nor the prompt that a chat gives the model; the session does.

use std::cmp::Reverse;

use longhaul_engine::session::{Listener, Session};
use longhaul_tokens::Tokens;
use longhaul_transcript::Role;

use super::super::budget;
use crate::prelude::*;

/// So many of the largest messages are named.
const LARGEST: usize = 5;

/// Prints what the next request holds, part by part.
pub(super) fn print(app: &App, session: &mut Session, listener: &mut dyn Listener) -> Result {
    let mut meter = app.meter();
    let messages = session.live().messages().iter();
    let counted = messages.map(|one| (one.entry.to_string(), one.role.clone(), meter.message(one)));
    let mut largest: Vec<(String, Role, Tokens)> = counted.collect();
    largest.sort_by_key(|(.., tokens)| Reverse(*tokens));
    largest.truncate(LARGEST);
    let breakdown = session.breakdown(listener)?;
    let status = session.status();
    let (size, window, origin) = (&status.size, status.window, status.window_origin);
    let percent = (status.fullness * 1000.0).round() / 10.0;
    if app.json {
        let largest = largest
            .iter()
            .map(|(entry, role, tokens)| json!({ "entry": entry, "role": role, "tokens": tokens }));
        let told = json!({
            "event": "context",
            "tokens": size.tokens,
            "reported": size.reported,
            "window": window,
            "windowFrom": origin.to_string(),
            "percent": percent,
            "activation": status.activation,
            "hard": status.hard,
            "parts": breakdown.parts,
            "largest": largest.collect::<Vec<_>>(),
        });
        return say!("{told}");
    }
    budget::print_parts(app, &breakdown, &|_| Vec::new())?;
    say!("")?;
    row!("Context", "{} of {window} ({percent:.1} %)", size.tokens)?;
    let known = match size.reported {
        true => "the provider's count of the last request, and ours of what came since",
        false => "our count of the parts above",
    };
    out::row("Known from", known)?;
    row!("Window", "{window} ({origin})")?;
    out::row("Compaction from", status.activation)?;
    for (entry, role, tokens) in &largest {
        row!("Largest", "{:>10}  {role} {entry}", tokens.to_string())?;
    }
    Ok(())
}
