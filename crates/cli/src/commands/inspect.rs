//! `context inspect`: what fills the context, part by part.

use longhaul_engine::recall::looks_back;
use longhaul_engine::standing::{Threshold, Thresholds};
use longhaul_engine::survey::Survey;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::Role;

use super::budget;
use super::measured::{Measured, heading, measure, note_unasked};
use super::saving::restored;
use super::show::{call, title};
use crate::args::Which;
use crate::prelude::*;
use crate::resolve::id_starts;

pub(super) fn inspect(app: &App, which: &Which, top: usize) -> Result {
    let measured = measure(app, which.name(), None)?;
    let parts = app.meter().parts(&measured.context);
    let window = &measured.window;
    let tokens = measured.tokens();
    let per_message = measured.reading.per_message.iter().copied();
    let mut largest: Vec<(usize, Tokens)> = per_message.enumerate().collect();
    largest.sort_by_key(|(at, tokens)| (std::cmp::Reverse(*tokens), *at));
    largest.truncate(top);
    let restored = restored(app, &measured, None)?;
    let layout = budget::lay_out(app, &measured, &restored)?;
    let retrieved = retrieved(&measured);
    let verdict = budget::cache_verdict(app, &measured)?;
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &measured.session),
            "tokens": tokens,
            "tokensFrom": measured.reading.measurement.source.to_string(),
            "percent": measured.percent(),
            "anchor": measured.reading.anchor.as_ref().map(|id| id.as_str()),
            "anchored": measured.reading.measurement.anchored,
            "estimated": measured.reading.measurement.estimated,
            "estimator": app.config.tokens.estimator.to_string(),
            "factor": measured.reading.factor,
            "parts": parts,
            "retrieved": retrieved,
            "counted": parts.total(),
            "window": window.size(),
            "windowFrom": measured.origin.origin.to_string(),
            "thresholds": Thresholds::of(window),
            "largest": largest.iter().map(|(at, tokens)| json!({
                "entry": measured.context.messages[*at].entry.as_str(),
                "role": measured.context.messages[*at].role,
                "tokens": tokens,
            })).collect::<Vec<_>>(),
            "request": budget::layout_json(&layout, &restored)?,
            "cache": verdict,
        }));
    }
    say!("{}", heading(app, &measured.session))?;
    budget::print(app, &layout, &restored)?;
    say!("")?;
    let rows = parts.rows().into_iter();
    for (name, tokens) in rows.chain([("  recalled again", retrieved)]) {
        if tokens > Tokens::ZERO {
            print_part(name, tokens, window)?;
        }
    }
    if measured.reading.anchor.is_some() && tokens > parts.total() {
        print_part("not in the file", tokens - parts.total(), window)?;
        out::note(
            "not in the file: what the provider counted beyond our count (system prompt, tools, \
            and the error of the count)",
        );
    }
    note_unasked(&measured);
    say!("")?;
    print_measurement(&measured)?;
    say!("")?;
    budget::print_rest(app, &layout, &verdict)?;
    print_largest(app, &measured, &largest)?;
    budget::note_problems(&layout);
    Ok(())
}

/// What of the tool results was retrieved: by recall, or from the memory.
fn retrieved(measured: &Measured) -> Tokens {
    let messages = measured.context.messages.iter();
    let counted = messages.zip(&measured.reading.per_message);
    counted
        .filter(|(message, _)| {
            let tool = message.view().tool_name().map(|tool| looks_back(&tool));
            message.role == Role::ToolResult && tool == Some(true)
        })
        .map(|(_, tokens)| *tokens)
        .sum()
}

fn print_part(name: &str, tokens: Tokens, window: &Window) -> Result {
    say!(
        "{} {:>10}  {} {:>5.1} %",
        style(format!("{name:<16}")).dim(),
        tokens.to_string(),
        paint::bar(window.fullness(tokens), 24),
        paint::percent(window, tokens),
    )
}

fn print_measurement(measured: &Measured) -> Result {
    let tokens = measured.tokens();
    let window = &measured.window;
    let size = window.size();
    row!(
        "Context",
        "{tokens} of {size} ({:.1} %)",
        measured.percent()
    )?;
    out::row("Known from", measured.reading.measurement.source)?;
    let factor = measured.reading.factor;
    let learnt = paint::plural(factor.samples, "answer");
    match factor.samples {
        0 => out::row("Correction", "none learnt yet")?,
        _ => row!("Correction", "× {:.2}, learnt from {learnt}", factor.value)?,
    }
    row!("Window", "{size} ({})", measured.origin.origin)?;
    for Threshold { name, at, .. } in Thresholds::of(window).0 {
        let (name, at_tokens) = (format!("  {name}"), format!("{:>10}", at.to_string()));
        match tokens >= at {
            true => row!(&name, "{at_tokens}  {}", style("passed").yellow())?,
            false => out::row(&name, at_tokens)?,
        }
    }
    Ok(())
}

fn print_largest(app: &App, measured: &Measured, largest: &[(usize, Tokens)]) -> Result {
    if largest.is_empty() {
        return Ok(());
    }
    say!("")?;
    let messages = &measured.context.messages;
    let session = &measured.session;
    let survey = Survey::of(session, &app.keep(session))?;
    let own = largest
        .iter()
        .map(|(at, _)| messages[*at].entry.to_string());
    let own: Vec<String> = own.collect();
    let mut table = Table::new([
        left("LARGEST"),
        right("TOKENS"),
        left("ENTRY"),
        left("WHAT").cut_to(16),
    ]);
    for ((at, tokens), id) in largest.iter().zip(id_starts(session, &survey, &own)?) {
        let view = messages[*at].view();
        let mut what = view.text();
        if view.role == Role::Assistant {
            let calls = view.tool_calls();
            what.extend(calls.iter().map(|made| format!(" → {}", call(made))));
        }
        let (title, what) = (paint::gist(&title(&view), 30), paint::gist(&what, 80));
        table.row([title, tokens.to_string(), id, what]);
    }
    table.print(app.columns())
}
