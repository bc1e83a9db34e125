//! The checkpoint as text for an agent, never larger than its cap.
//!
//! What is left out when it does not fit follows one order: the least recent
//! exchanges, then learnings, then files and tools; after these, older
//! decisions and further open items; last, long lines. The re-entry packet stands
//! at the top, where nothing can push it out.

use std::collections::BTreeMap;

use longhaul_ledger::ours::RESTORED;
use longhaul_tokens::{Counter, Fragment, FragmentKind, Tokens};
use longhaul_transcript::Millis;

use crate::schema::{Checkpoint, Role, TakenDecision};
use crate::text::{largest, one_line, short_line};

/// How a checkpoint is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Restoring<'a> {
    /// The most tokens; never more than the cap of a checkpoint.
    pub limit: Tokens,
    /// What stands above it, of a session that was compacted often.
    pub warning: Option<&'a str>,
}

impl Default for Restoring<'_> {
    fn default() -> Self {
        Restoring {
            limit: FragmentKind::Checkpoint.cap(),
            warning: None,
        }
    }
}

/// How much of each part is shown.
#[derive(Debug, Clone, Copy)]
struct Shown {
    exchanges: usize,
    learnings: usize,
    /// Files modified and tools; half as many files that were only read.
    resources: usize,
    open_items: usize,
    decisions: usize,
    /// Characters of a line; half as many again in the re-entry packet.
    chars: usize,
}

/// What a checkpoint of ordinary size shows: S0's typical shares of 700 tokens.
const FULL: Shown = Shown {
    exchanges: 8,
    learnings: 8,
    resources: 12,
    open_items: 12,
    decisions: 12,
    chars: 200,
};

/// One part that may shrink: how much is shown, and the least that is.
type Part = (fn(&mut Shown) -> &mut usize, usize);

/// What shrinks, in this order.
const ORDER: [Part; 7] = [
    (|shown| &mut shown.exchanges, 0),
    (|shown| &mut shown.learnings, 0),
    (|shown| &mut shown.resources, 3),
    (|shown| &mut shown.decisions, 6),
    (|shown| &mut shown.open_items, 3),
    (|shown| &mut shown.decisions, 3),
    (|shown| &mut shown.chars, 40),
];

impl Checkpoint {
    /// The text that gives an agent its work back. Nothing when the limit has
    /// no room for any text.
    pub fn restore(&self, how: &Restoring<'_>, counter: &dyn Counter) -> Option<Fragment> {
        let kind = FragmentKind::Checkpoint;
        let limit = how.limit.min(kind.cap());
        let fits = |shown: &Shown| {
            let text = self.render(shown, how);
            counter.count(&text, kind.content()) <= limit
        };
        let mut shown = FULL;
        for (part, least) in ORDER {
            if fits(&shown) {
                break;
            }
            let most = *part(&mut shown);
            *part(&mut shown) = largest(least, most, |amount| {
                let mut tried = shown;
                *part(&mut tried) = amount;
                fits(&tried)
            });
        }
        Fragment::within(kind, self.render(&shown, how), limit, counter)
    }

    fn render(&self, shown: &Shown, how: &Restoring<'_>) -> String {
        let mut out = String::with_capacity(4 * 1024);
        out.push_str(RESTORED);
        out.push('\n');
        if let Some(warning) = how.warning {
            out.push_str(&format!("Warning: {warning}\n"));
        }
        self.render_working(&mut out, shown);
        let decisions: Vec<String> = self
            .decisions
            .iter()
            .map(|decision| self.decision_line(decision, shown.chars))
            .collect();
        newest(&mut out, "Decisions made", &decisions, shown.decisions);
        self.render_thread(&mut out, shown);
        let lines = |list: &[String]| -> Vec<String> {
            list.iter()
                .map(|text| short_line(text, shown.chars))
                .collect()
        };
        let items = lines(&self.open_items);
        if !items.is_empty() {
            out.push_str("\nOpen items:\n");
            for item in items.iter().take(shown.open_items) {
                out.push_str(&format!("- {item}\n"));
            }
            let further = items.len().saturating_sub(shown.open_items);
            if further > 0 {
                out.push_str(&format!("- … {further} more\n"));
            }
        }
        self.render_resources(&mut out, shown);
        newest(
            &mut out,
            "Learnings (consider storing to long-term memory)",
            &lines(&self.learnings),
            shown.learnings,
        );
        out
    }

    /// What was decided, where it is the agent's note alone, and when.
    fn decision_line(&self, decision: &TakenDecision, chars: usize) -> String {
        let what = short_line(&decision.what, chars);
        let noted = decision.id.starts_with('n').then(|| "noted".to_owned());
        let time = decision.when.as_deref().and_then(|when| self.clock(when));
        let about: Vec<String> = noted.into_iter().chain(time).collect();
        match about.is_empty() {
            true => what,
            false => format!("{what} ({})", about.join(", ")),
        }
    }

    fn render_working(&self, out: &mut String, shown: &Shown) {
        let working = &self.working;
        let chars = shown.chars + shown.chars / 2;
        out.push('\n');
        if !working.topic.trim().is_empty() {
            out.push_str(&format!(
                "Working on: {}\n",
                short_line(&working.topic, chars)
            ));
        }
        out.push_str(&format!("Status: {}", working.status.name()));
        if working.interrupted {
            out.push_str(" (interrupted in the middle of a turn)");
        }
        out.push('\n');
        if let Some(call) = &working.last_tool_call {
            out.push_str(&format!(
                "Last tool call: {} {}\n",
                one_line(&call.name),
                short_line(&call.params_summary, chars)
            ));
        }
        let mut packet = working.next_action.lines().map(str::trim);
        if let Some(next) = packet.next().filter(|next| !next.is_empty()) {
            out.push_str(&format!("Next action: {}\n", short_line(next, chars)));
        }
        for line in packet.filter(|line| !line.is_empty()) {
            out.push_str(&format!("  {}\n", short_line(line, chars)));
        }
    }

    fn render_thread(&self, out: &mut String, shown: &Shown) {
        let summary = &self.thread.summary;
        if !summary.trim().is_empty() {
            // The first and the last message, 100 characters each.
            let chars = shown.chars + 5;
            out.push_str(&format!("\nThread: {}\n", short_line(summary, chars)));
        }
        let exchanges = &self.thread.key_exchanges;
        let from = exchanges.len().saturating_sub(shown.exchanges);
        for exchange in &exchanges[from..] {
            let role = match exchange.role {
                Role::User => "user",
                Role::Agent => "agent",
            };
            let gist = short_line(&exchange.gist, shown.chars.min(120));
            out.push_str(&format!("- {role}: {gist}\n"));
        }
    }

    fn render_resources(&self, out: &mut String, shown: &Shown) {
        let resources = &self.resources;
        let latest = |list: &[String], most: usize| -> (usize, Vec<String>) {
            let from = list.len().saturating_sub(most);
            let names = list[from..].iter();
            (from, names.map(|name| one_line(name)).collect())
        };
        let modified = latest(&resources.files_modified, shown.resources);
        let read = latest(&resources.files_read, shown.resources / 2);
        let tools = latest(&resources.tools_used, shown.resources);
        let base = shared_folder(modified.1.iter().chain(&read.1));
        let line = |title: &str, (before, names): &(usize, Vec<String>)| {
            let names: Vec<String> = names
                .iter()
                .map(|name| short_line(below(&base, name).unwrap_or(name), shown.chars))
                .collect();
            match (names.join(", "), before) {
                (names, _) if names.is_empty() => String::new(),
                (names, 0) => format!("{title}: {names}\n"),
                (names, before) => format!("{title}: {names} (and {before} before)\n"),
            }
        };
        let lines = match base.is_empty() {
            true => line("Files modified", &modified) + &line("Files read", &read),
            false => {
                format!("Files, relative to {}:\n", short_line(&base, shown.chars))
                    + &line("  modified", &modified)
                    + &line("  read", &read)
            }
        } + &line("Tools used", &tools);
        if !lines.is_empty() {
            out.push('\n');
            out.push_str(&lines);
        }
    }

    /// The time of day, with the day where it is not the checkpoint's own.
    fn clock(&self, when: &str) -> Option<String> {
        let iso = Millis::parse_iso(when)?.to_iso();
        let (day, time) = (iso.get(..10)?, iso.get(11..16)?);
        Some(match self.meta.created_at.starts_with(day) {
            true => time.to_owned(),
            false => format!("{day} {time}"),
        })
    }
}

/// The folder that, said once, makes the list of paths shortest; empty if none
/// does.
fn shared_folder<'a>(paths: impl Iterator<Item = &'a String>) -> String {
    let mut under: BTreeMap<&str, usize> = BTreeMap::new();
    for path in paths.filter(|path| path.starts_with('/')) {
        for (at, _) in path.match_indices('/').skip(1) {
            *under.entry(&path[..at]).or_default() += 1;
        }
    }
    under
        .into_iter()
        .filter(|(_, count)| *count > 1)
        .max_by_key(|(folder, count)| folder.len() * (count - 1))
        .map_or_else(String::new, |(folder, _)| folder.to_owned())
}

/// The path within a folder.
fn below<'a>(folder: &str, path: &'a str) -> Option<&'a str> {
    match folder {
        "" => None,
        folder => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// A list of which the newest, last ones are shown.
fn newest(out: &mut String, title: &str, lines: &[String], most: usize) {
    if lines.is_empty() || most == 0 {
        return;
    }
    let from = lines.len().saturating_sub(most);
    out.push_str(&format!("\n{title}:\n"));
    if from > 0 {
        out.push_str(&format!("- … {from} before\n"));
    }
    for line in &lines[from..] {
        out.push_str(&format!("- {line}\n"));
    }
}
