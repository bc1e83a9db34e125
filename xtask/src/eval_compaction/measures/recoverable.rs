//! C5, C10: what left the context comes back, by id and by a few of its words.

use std::collections::HashSet;

use longhaul_transcript::{Entry, EntryId};

use super::super::drive::{Running, Store, shown};
use super::super::kept::{excerpt, plain};
use super::super::native;
use super::super::score::{Row, Sheet};
use super::super::source::Source;
use crate::Result;

pub(in super::super) fn recoverable(
    sheet: &mut Sheet<'_>,
    source: &Source,
    session: &Running,
    store: &Store,
    most: usize,
) -> Result<()> {
    for (text, value) in &source.planted.hidden {
        let words: Vec<&str> = text.split_whitespace().take(5).collect();
        let hits = store.search(&words.join(" "), &EntryId::from(""))?;
        let found = hits.iter().any(|hit| hit.text.contains(value.as_str()));
        sheet.note(Row::FactsFound, found, || excerpt(text));
    }
    let messages = session.messages();
    let whole = messages.iter().filter(|message| !message.edited);
    let whole: HashSet<&EntryId> = whole.map(|message| &message.entry).collect();
    let gone: Vec<&Entry> = source
        .entries
        .iter()
        .filter(|entry| !whole.contains(&entry.id) && entry.message().is_some())
        .collect();
    // All ids at once: one by one each would be a pass over the file. Those of
    // the sample below are asked for one by one as well.
    let stored = store.by_ids(gone.iter().map(|entry| entry.id.clone()).collect())?;
    for entry in &gone {
        let same = stored.get(&entry.id).is_some_and(|back| same(back, entry));
        sheet.note(Row::BytesById, same, || entry.id.to_string());
    }
    let all: Vec<String> = source
        .texts
        .iter()
        .map(|(_, text)| plain(text).to_lowercase())
        .collect();
    let step = gone.len().div_ceil(most.max(1)).max(1);
    for entry in gone.iter().step_by(step) {
        let back = store.by_id(&entry.id)?;
        let one = back.len() == 1 && back[0].id == entry.id && same(&back[0], entry);
        sheet.note(Row::BytesById, one, || format!("{} by recall", entry.id));
        let text = quotable(entry);
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() < 5 {
            continue;
        }
        let middle = (words.len() / 2).saturating_sub(2).min(words.len() - 5);
        let quote = words[middle..middle + 5].join(" ");
        let mut look_up = |row: Row, quote: &str| -> Result<()> {
            let hits = store.search(quote, &entry.id)?;
            if row == Row::Quotes {
                let shown = hits.iter().any(|hit| hit.shows);
                sheet.note(Row::QuotesPassage, shown, || excerpt(quote));
            }
            sheet.note(row, hits.iter().any(|hit| hit.names), || {
                let hits: Vec<&str> = hits.iter().map(|hit| hit.entry.as_str()).collect();
                format!(
                    "{}: “{}” (hits: {})",
                    entry.id,
                    excerpt(quote),
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

fn same(back: &Entry, entry: &Entry) -> bool {
    back.message_json() == entry.message_json() || shown(back) == shown(entry)
}

/// The text of a message; the longest argument of its calls where there is none.
fn quotable(entry: &Entry) -> String {
    let json = entry.message_json().unwrap_or_default();
    let (_, text) = native::spoken(json);
    match text.trim().is_empty() {
        true => native::longest_argument(json),
        false => text,
    }
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
