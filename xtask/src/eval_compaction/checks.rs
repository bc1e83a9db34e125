//! What must stand in a context, and what must be found again.

use std::collections::{BTreeSet, HashMap, HashSet};

use longhaul_compaction::summary::ledger_part;
use longhaul_engine::live::Live;
use longhaul_engine::recall::{Query, Same, full_text, message_text, recall};
use longhaul_transcript::{Body, Entry, EntryId, Role, Session};

use super::score::{Row, Sheet};
use super::source::Source;
use crate::Result;

/// When a context is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    /// At the end of the replay.
    Replay,
    /// After so many forced compactions more.
    Forced(u32),
}

/// A session and what is computed of it once.
pub(super) struct View<'s> {
    source: &'s Source,
    /// Everything said in it, decoded.
    text: String,
    /// Commands, for what shells wrote.
    commands: String,
    /// The entry of each prompt.
    prompt_entries: Vec<Option<EntryId>>,
    cwd: String,
}

impl<'s> View<'s> {
    pub(super) fn new(source: &'s Source, entries: &[Entry]) -> View<'s> {
        let mut text = String::new();
        let mut commands = String::new();
        let mut users: Vec<(EntryId, String)> = Vec::new();
        for entry in entries {
            if matches!(entry.body, Body::Compaction(_)) {
                continue;
            }
            let said = full_text(entry);
            text.push_str(entry.id.as_str());
            text.push('\n');
            text.push_str(&said);
            text.push('\n');
            if let Some(message) = entry.message() {
                for call in message.tool_calls() {
                    if matches!(
                        call.name.to_ascii_lowercase().as_str(),
                        "bash" | "shell" | "exec"
                    ) {
                        commands.push_str(call.arguments);
                        commands.push('\n');
                    }
                }
                if message.role == Role::User {
                    users.push((entry.id.clone(), said));
                }
            }
        }
        let prompt_entries = source
            .truth
            .user_prompts
            .iter()
            .map(|prompt| {
                let wanted = prompt.text.trim();
                users
                    .iter()
                    .find(|(_, said)| said.trim() == wanted)
                    .or_else(|| users.iter().find(|(_, said)| said.contains(wanted)))
                    .map(|(id, _)| id.clone())
            })
            .collect();
        let cwd = source
            .header
            .cwd
            .as_ref()
            .map(|cwd| cwd.to_string_lossy().trim_end_matches('/').to_owned())
            .unwrap_or_default();
        View {
            source,
            text,
            commands,
            prompt_entries,
            cwd,
        }
    }

    /// Truth that is on the path at all.
    fn on_path<'a>(&self, paths: impl Iterator<Item = &'a String>) -> Vec<&'a String> {
        paths
            .filter(|path| {
                self.text.contains(path.as_str()) || self.text.contains(self.relative(path))
            })
            .collect()
    }

    fn relative<'p>(&self, path: &'p str) -> &'p str {
        match path
            .strip_prefix(&self.cwd)
            .and_then(|rest| rest.strip_prefix('/'))
        {
            Some(rest) if !self.cwd.is_empty() && !rest.is_empty() => rest,
            _ => path,
        }
    }

    /// Whether K names a file: in full, or relative and unambiguous.
    fn names(&self, context: &str, path: &str) -> bool {
        if contains_path(context, path) {
            return true;
        }
        let relative = self.relative(path);
        if relative == path {
            return false;
        }
        let ending = format!("/{relative}");
        let truth = &self.source.truth;
        let ambiguous = truth
            .modified
            .keys()
            .chain(&truth.read_only)
            .any(|other| other != path && other.ends_with(&ending));
        !ambiguous && contains_path(context, relative)
    }
}

/// Whether a path stands there and not as a part of a longer one.
fn contains_path(text: &str, path: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-');
    text.match_indices(path).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + path.len()..].chars();
        let next = after.next();
        let joined = next == Some('.') && after.next().is_some_and(char::is_alphanumeric);
        !before.is_some_and(|c| part(c) || c == '.') && !next.is_some_and(part) && !joined
    })
}

/// The text of a context.
fn context_text(live: &Live) -> String {
    let mut text = String::new();
    for message in live.context().messages {
        text.push_str(&message_text(&message.view()));
        text.push('\n');
    }
    text
}

/// The summary in force.
fn summary(live: &Live) -> Option<String> {
    let (_, compaction) = live.loaded().compaction()?;
    Some(compaction.summary.clone())
}

/// The lines of a section of the ledger's part.
fn section<'t>(summary: &'t str, heading: &str) -> Vec<&'t str> {
    let part = ledger_part(summary).unwrap_or_default();
    let mut inside = false;
    let mut lines = Vec::new();
    for line in part.lines() {
        if line.starts_with("## ") {
            inside = line.starts_with(heading);
        } else if inside {
            lines.push(line);
        }
    }
    lines
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Prompts word for word in a context, right after the first compaction.
pub(super) fn verbatim(sheet: &mut Sheet<'_>, source: &Source, said: &[String], live: &Live) {
    let context = context_text(live);
    for prompt in &source.truth.user_prompts {
        let text = prompt.text.trim();
        if said.iter().any(|said| said.contains(text)) {
            sheet.note(Row::PromptsVerbatim, context.contains(text), || {
                first_words(text)
            });
        }
    }
}

fn first_words(text: &str) -> String {
    let text: String = plain(text).chars().take(90).collect();
    text
}

/// Everything that one state of a session must have.
pub(super) fn state(
    sheet: &mut Sheet<'_>,
    view: &View<'_>,
    live: &Live,
    session: &Session,
    after: After,
) -> Result<()> {
    let context = context_text(live);
    let spaced = plain(&context);
    let summary = summary(live).unwrap_or_default();
    let truth = &view.source.truth;
    let here = |text: &str| context.contains(text.trim()) || spaced.contains(&plain(text));

    files(sheet, view, &context, &summary);
    prompts(sheet, view, &context, session, after)?;
    for rule in truth
        .constraints
        .iter()
        .filter(|rule| rule.revoked_line.is_none())
    {
        sheet.note(Row::Constraints, context.contains(rule.text.trim()), || {
            format!("[{}] {}", rule.language, first_words(&rule.text))
        });
    }
    planted(sheet, view, &here, session, after)?;
    items(sheet, view, &here, &summary, after);
    if let Some(error) = &truth.last_error {
        sheet.note(
            Row::LastError,
            context.contains(error.first_line.trim()),
            || format!("line: {}", first_words(&error.first_line)),
        );
        sheet.note(
            Row::LastError,
            context.contains(error.command.trim()),
            || format!("command: {}", first_words(&error.command)),
        );
    }
    fabrication(sheet, view, live, &summary);
    in_flight(sheet, view, &context, after);
    supersession(sheet, view, &context, &summary, after);
    Ok(())
}

fn files(sheet: &mut Sheet<'_>, view: &View<'_>, context: &str, summary: &str) {
    let truth = &view.source.truth;
    for path in view.on_path(truth.modified.keys()) {
        sheet.note(Row::ModifiedRecall, view.names(context, path), || {
            path.clone()
        });
    }
    for line in section(summary, "## Files changed") {
        let Some(shown) = line
            .strip_prefix("- ")
            .filter(|line| !line.starts_with('+'))
        else {
            continue;
        };
        let shown = match shown.rfind(" (") {
            Some(end) => &shown[..end],
            None => shown,
        };
        let full = if shown.starts_with(['/', '~']) || view.cwd.is_empty() {
            shown.to_owned()
        } else {
            format!("{}/{shown}", view.cwd)
        };
        let name = full.rsplit('/').next().unwrap_or(&full);
        let known = truth.modified.contains_key(&full)
            || (!view.source.knows_shell && view.commands.contains(name))
            || truth.modified.is_empty();
        sheet.note(Row::ModifiedPrecision, known, || full.clone());
    }
    let pointer = section(summary, "## Files only read")
        .iter()
        .any(|line| line.starts_with("- +"));
    for path in view.on_path(truth.read_only.iter()) {
        let listed = view.names(context, path);
        sheet.note(Row::ReadOnlyListed, listed, || path.clone());
        sheet.note(Row::ReadOnly, listed || pointer, || path.clone());
    }
}

fn prompts(
    sheet: &mut Sheet<'_>,
    view: &View<'_>,
    context: &str,
    session: &Session,
    after: After,
) -> Result<()> {
    let truth = &view.source.truth;
    let spaced = plain(context);
    let mut replayed = false;
    session.each(&mut |entry| {
        let ours = entry.id.as_str().starts_with("longhaul-");
        replayed |= ours && matches!(entry.body, Body::Compaction(_));
        std::ops::ControlFlow::Continue(())
    })?;
    // What is not in K must come back by its id, and by nothing but recall.
    let pairs = truth.user_prompts.iter().zip(&view.prompt_entries);
    let gone = pairs
        .filter(|(prompt, _)| !context.contains(prompt.text.trim()))
        .filter_map(|(_, entry)| entry.clone());
    let stored = brought_back(session, gone.collect())?;
    for (prompt, entry) in truth.user_prompts.iter().zip(&view.prompt_entries) {
        let text = prompt.text.trim();
        let Some(entry) = entry else {
            // Said on a branch that was left.
            continue;
        };
        let whole = context.contains(text);
        let gist: String = text.lines().next().unwrap_or("").chars().take(24).collect();
        // Eight characters of a UUID lead to its entry.
        let id = match entry.as_str() {
            uuid if uuid.len() == 36 => &uuid[..8],
            id => id,
        };
        let pointed = spaced.contains(&plain(&gist)) && context.contains(id);
        sheet.note(Row::PromptsPointed, whole || pointed, || {
            format!("{entry}: {}", first_words(text))
        });
        let found = whole
            || stored
                .get(entry)
                .is_some_and(|back| full_text(back).contains(text));
        sheet.note(Row::PromptsFound, found, || {
            format!("{entry}: {}", first_words(text))
        });
        // The first compaction of a session that the replay left whole.
        if after == After::Forced(1) && sheet.window == 200_000 && !replayed {
            sheet.note(Row::PromptsVerbatim, whole, || first_words(text));
        }
    }
    Ok(())
}

fn planted(
    sheet: &mut Sheet<'_>,
    view: &View<'_>,
    here: &dyn Fn(&str) -> bool,
    session: &Session,
    after: After,
) -> Result<()> {
    let truth = &view.source.truth;
    for decision in truth
        .decisions
        .iter()
        .filter(|decision| decision.superseded_by.is_none())
    {
        sheet.note(Row::DecisionsInContext, here(&decision.text), || {
            format!("{:?}: {}", decision.by, first_words(&decision.text))
        });
    }
    for item in &truth.open_items_end {
        sheet.note(Row::DecisionsInContext, here(item), || {
            format!("item: {}", first_words(item))
        });
    }
    for fact in truth
        .facts
        .iter()
        .filter(|fact| fact.superseded_by.is_none())
    {
        sheet.note(Row::FactsInContext, here(&fact.value), || {
            format!("{:?} {:?}: {}", fact.by, fact.kind, first_words(&fact.text))
        });
    }
    // Searching is the same at every N but the last, where most has left.
    if after != After::Forced(30) {
        return Ok(());
    }
    let all = truth
        .facts
        .iter()
        .map(|fact| (&fact.text, &fact.value))
        .chain(
            truth
                .decisions
                .iter()
                .map(|decision| (&decision.text, &decision.reason)),
        );
    for (text, value) in all {
        let found = here(value) || {
            let words: Vec<&str> = text.split_whitespace().take(5).collect();
            let hits = recall(session, &Query::Text(words.join(" ")), 5)?;
            hits.iter()
                .any(|hit| full_text(&hit.entry).contains(value.as_str()))
        };
        sheet.note(Row::PlantedFound, found, || first_words(text));
    }
    Ok(())
}

fn items(
    sheet: &mut Sheet<'_>,
    view: &View<'_>,
    here: &dyn Fn(&str) -> bool,
    summary: &str,
    after: After,
) {
    let truth = &view.source.truth;
    let open: Vec<String> = section(summary, "## Open items")
        .iter()
        .map(|line| plain(line))
        .collect();
    let listed = |item: &str| {
        let item = plain(item);
        open.iter().any(|line| line.contains(&item))
    };
    for item in &truth.open_items_end {
        // A summary of the replay is older than what follows it.
        let found = if after == After::Replay {
            here(item)
        } else {
            listed(item)
        };
        sheet.note(Row::OpenItems, found, || first_words(item));
    }
    if after == After::Replay {
        return;
    }
    let finished = truth.done_items.iter().chain(
        truth
            .todos_end
            .iter()
            .filter(|(_, state)| *state == "completed")
            .map(|(item, _)| item),
    );
    for item in finished.filter(|item| !truth.open_items_end.contains(item)) {
        // An open item may contain a finished one's words.
        let wanted = plain(item);
        let stale = open.iter().any(|line| {
            line.contains(&wanted)
                && !truth
                    .open_items_end
                    .iter()
                    .any(|open| line.contains(&plain(open)))
        });
        sheet.note(Row::StaleItems, !stale, || first_words(item));
    }
}

/// Every path, id and number of the ledger's part must stand in the source.
fn fabrication(sheet: &mut Sheet<'_>, view: &View<'_>, live: &Live, summary: &str) {
    let Some(part) = ledger_part(summary) else {
        return;
    };
    // Ids of entries that the engine or this program appended are in the file.
    let ids: HashSet<&str> = live
        .entries()
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for line in part.lines() {
        // How many more there are, and how often something happened, is counted.
        if line.starts_with("- +") || line.starts_with("(relative to") {
            continue;
        }
        let apart = |c: char| {
            c.is_whitespace()
                || matches!(
                    c,
                    '`' | '"'
                        | '\''
                        | '('
                        | ')'
                        | ','
                        | '“'
                        | '”'
                        | '·'
                        | '…'
                        | '|'
                        | '['
                        | ']'
                        | '{'
                        | '}'
                        | '<'
                        | '>'
                        | ';'
                        | '*'
                        | '='
                        | '←'
                        | '→'
                )
        };
        for token in line.split(apart) {
            let token =
                token.trim_matches(|c: char| matches!(c, '.' | ':' | '!' | '?' | '-' | '\\'));
            let exact = token.len() >= 3
                && token.chars().any(|c| c.is_ascii_digit() || c == '/')
                && token.chars().any(char::is_alphanumeric);
            if exact && !token.contains('×') {
                seen.insert(token);
            }
        }
    }
    for token in seen {
        let appended = ["round-", "forced-", "longhaul-"];
        let literal = view.text.contains(token)
            || ids.contains(token)
            || view.cwd.contains(token)
            || appended.iter().any(|kind| token.starts_with(kind));
        sheet.note(Row::Fabrication, literal, || token.to_owned());
        // A path put together from the folder a command went to and what it named.
        let joined = token.match_indices('/').any(|(at, _)| {
            let (folder, name) = (&token[..at], &token[at + 1..]);
            let known = view.text.contains(folder) || view.cwd.contains(folder);
            !folder.is_empty() && !name.is_empty() && known && view.text.contains(name)
        });
        sheet.note(Row::FabricationJoined, literal || joined, || {
            token.to_owned()
        });
    }
}

fn in_flight(sheet: &mut Sheet<'_>, view: &View<'_>, context: &str, after: After) {
    let Some(flight) = &view.source.truth.in_flight else {
        return;
    };
    sheet.note(Row::InFlight, view.names(context, &flight.file), || {
        format!("file {}", flight.file)
    });
    sheet.note(Row::InFlight, context.contains(&flight.command), || {
        format!("command {}", flight.command)
    });
    sheet.note(Row::InFlight, context.contains(&flight.test), || {
        format!("test {}", flight.test)
    });
    // From the second round on the user has spoken again.
    let waiting = matches!(after, After::Replay | After::Forced(1));
    if let Some(question) = flight.question.as_ref().filter(|_| waiting) {
        sheet.note(Row::InFlight, context.contains(question.as_str()), || {
            format!("question {question}")
        });
    }
}

/// Newest in K; the old one marked or not in the summary.
fn supersession(
    sheet: &mut Sheet<'_>,
    view: &View<'_>,
    context: &str,
    summary: &str,
    after: After,
) {
    let truth = &view.source.truth;
    // Several lines of one item stand in a fence below its mark.
    let mut items: Vec<String> = Vec::new();
    for line in summary.lines() {
        match items.last_mut() {
            Some(item) if !line.starts_with(['-', '#']) => item.push_str(line),
            _ => items.push(line.to_owned()),
        }
    }
    const MARKS: &[&str] = &[
        "replaced",
        "superseded",
        "no longer",
        "instead",
        "changed my mind",
    ];
    let marked = |old: &str| {
        let mut having = items.iter().filter(|item| item.contains(old));
        having.all(|item| {
            let item = item.to_lowercase();
            MARKS.iter().any(|mark| item.contains(mark))
        })
    };
    let spaced = plain(context);
    let mut check = |old: &str, new: Option<&str>| {
        if let Some(new) = new {
            sheet.note(Row::Supersession, spaced.contains(&plain(new)), || {
                format!("newest not in K: {}", first_words(new))
            });
        }
        let older = after == After::Replay;
        sheet.note(Row::Supersession, older || marked(old), || {
            format!("old not marked: {}", first_words(old))
        });
    };
    for fact in &truth.facts {
        let Some(by) = fact.superseded_by else {
            continue;
        };
        // Several facts may stand in one message.
        let new = truth
            .facts
            .iter()
            .find(|new| new.line == by && new.kind == fact.kind && new.by == fact.by);
        let new = new.filter(|new| new.superseded_by.is_none());
        check(&fact.value, new.map(|new| new.value.as_str()));
    }
    for decision in &truth.decisions {
        let Some(by) = decision.superseded_by else {
            continue;
        };
        let new = truth.decisions.iter().find(|new| new.line == by);
        let new = new.filter(|new| new.superseded_by.is_none());
        check(&decision.text, new.map(|new| new.text.as_str()));
    }
}

/// What left the context comes back, by its id and by five of its words.
pub(super) fn recoverable(
    sheet: &mut Sheet<'_>,
    view: &View<'_>,
    live: &Live,
    session: &Session,
    most: usize,
) -> Result<()> {
    let shown: HashSet<EntryId> = live
        .context()
        .messages
        .iter()
        .filter(|message| !message.edited)
        .map(|message| message.entry.clone())
        .collect();
    let gone: Vec<&Entry> = view
        .source
        .entries
        .iter()
        .filter(|entry| !shown.contains(&entry.id) && entry.message().is_some())
        .collect();
    // All ids at once: one by one each would be a pass over the file. Those
    // of the sample below are asked for one by one as well.
    let stored = brought_back(session, gone.iter().map(|entry| entry.id.clone()).collect())?;
    for entry in &gone {
        let same = stored.get(&entry.id).is_some_and(|back| {
            full_text(back) == full_text(entry)
                && (back.message_json() == entry.message_json()
                    || back.message().map(|message| message.text())
                        == entry.message().map(|message| message.text()))
        });
        sheet.note(Row::BytesById, same, || entry.id.to_string());
    }
    let all: Vec<String> = view
        .source
        .entries
        .iter()
        .map(|entry| plain(&full_text(entry)).to_lowercase())
        .collect();
    let step = gone.len().div_ceil(most.max(1)).max(1);
    for entry in gone.iter().step_by(step) {
        let by_id = recall(session, &Query::Id(entry.id.to_string()), 5)?;
        let same = by_id.len() == 1
            && by_id[0].entry.id == entry.id
            && full_text(&by_id[0].entry) == full_text(entry);
        sheet.note(Row::BytesById, same, || format!("{} by recall", entry.id));
        let text = full_text(entry);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() < 5 {
            continue;
        }
        let middle = (words.len() / 2).saturating_sub(2).min(words.len() - 5);
        let quote = words[middle..middle + 5].join(" ");
        let mut look_up = |row: Row, quote: &str| -> Result<()> {
            let hits = recall(session, &Query::Text(quote.to_owned()), 5)?;
            let found = hits.iter().any(|hit| hit.names(&entry.id));
            if row == Row::Quotes {
                let shown = hits.iter().any(|hit| {
                    let passage = hit.others.same != Same::Words && hit.names(&entry.id);
                    hit.entry.id == entry.id || passage
                });
                sheet.note(Row::QuotesPassage, shown, || first_words(quote));
            }
            sheet.note(row, found, || {
                let hits: Vec<&str> = hits.iter().map(|hit| hit.entry.id.as_str()).collect();
                format!(
                    "{}: “{}” (hits: {})",
                    entry.id,
                    first_words(quote),
                    hits.join(" ")
                )
            });
            Ok(())
        };
        look_up(Row::Quotes, &quote)?;
        // Boilerplate that more than five entries have cannot tell one of them.
        if let Some(quote) = telling(&words, &all) {
            look_up(Row::QuotesTelling, &quote)?;
        }
    }
    Ok(())
}

/// Entries by their ids, as recall brings them back.
fn brought_back(session: &Session, ids: Vec<EntryId>) -> Result<HashMap<EntryId, Entry>> {
    let hits = recall(session, &Query::Ids(ids), 1)?;
    Ok(hits
        .into_iter()
        .map(|hit| (hit.entry.id.clone(), hit.entry))
        .collect())
}

/// Five words from the middle, or the nearest before it, that no more than five
/// entries of the source have.
fn telling(words: &[&str], all: &[String]) -> Option<String> {
    let middle = (words.len() / 2).saturating_sub(2).min(words.len() - 5);
    (0..=middle).rev().step_by(5).take(20).find_map(|from| {
        let quote = words[from..from + 5].join(" ");
        let wanted = quote.to_lowercase();
        let having = all.iter().filter(|text| text.contains(&wanted)).take(6);
        (having.count() <= 5).then_some(quote)
    })
}
