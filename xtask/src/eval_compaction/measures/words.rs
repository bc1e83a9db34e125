//! C3, C4, C5, C14, C18: the user's words, what corrects them, what was agreed.

use std::collections::HashMap;

use longhaul_transcript::EntryId;

use super::super::drive::{Store, shown};
use super::super::kept::{Kept, excerpt, plain};
use super::super::score::{Row, Sheet};
use super::super::sections::Section;
use super::super::source::{Kind, Source};
use super::After;
use crate::Result;

/// How the user's words of a session relate to their budget at a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Budget {
    Fits,
    /// More, but no more than three times as much.
    Past,
    FarPast,
}

/// C3: every text of every channel, whole in K and in S.
pub(super) fn said(
    sheet: &mut Sheet<'_>,
    source: &Source,
    kept: &Kept,
    store: &Store,
    budget: Budget,
) -> Result<()> {
    let mut gone: Vec<(&str, Option<&EntryId>)> = Vec::new();
    for text in &source.truth.said {
        let words = text.said.text.as_str();
        let whole = kept.holds(words);
        let row = match budget {
            Budget::Fits => Row::Said(text.said.channel),
            Budget::Past => Row::SaidPast,
            Budget::FarPast => Row::SaidFarPast,
        };
        let what = || {
            format!(
                "line {} ({}): {}",
                text.line,
                text.said.channel,
                excerpt(words)
            )
        };
        sheet.note(row, whole, what);
        match whole {
            true => sheet.note(Row::SaidFound, true, String::new),
            false => gone.push((words, entry_of(source, &text.record, words))),
        }
    }
    // What is not in K must come back by its id, and by nothing but recall.
    let ids = gone.iter().filter_map(|(_, id)| id.cloned()).collect();
    let back: HashMap<_, _> = store.by_ids(ids)?;
    for (words, id) in gone {
        let found = id
            .and_then(|id| back.get(id))
            .is_some_and(|entry| shown(entry).contains(words));
        sheet.note(Row::SaidFound, found, || excerpt(words));
    }
    Ok(())
}

/// The entry that carries words: that of the record, or any that has them.
fn entry_of<'s>(source: &'s Source, record: &str, words: &str) -> Option<&'s EntryId> {
    let mut carrying = source.texts.iter().filter(|(_, text)| text.contains(words));
    let own = carrying.clone().find(|(id, _)| id.as_str() == record);
    own.or_else(|| carrying.next()).map(|(id, _)| id)
}

/// C4, C5, C14: planted wishes, facts and corrections.
pub(super) fn planted(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept, budget: Budget) {
    let rows = match (source.kind, budget) {
        (Kind::Agent, _) => [Row::WishesAgent, Row::FactsAgent],
        (Kind::Chat, Budget::FarPast) => [Row::WishesFar, Row::FactsFar],
        (Kind::Chat, _) => [Row::WishesChat, Row::FactsChat],
    };
    for (row, texts) in rows
        .into_iter()
        .zip([&source.planted.wishes, &source.planted.facts])
    {
        for text in texts {
            sheet.note(row, kept.holds(text), || excerpt(text));
        }
    }
    for (old, new) in &source.planted.corrections {
        let row = match source.kind {
            Kind::Agent => Row::CorrectionsAgent,
            Kind::Chat if new.chars().count() <= old.chars().count() => Row::CorrectionsChat,
            Kind::Chat => Row::CorrectionsLonger,
        };
        let at = |words: &str| kept.spaced.rfind(&plain(words));
        let stands = match (at(old), at(new)) {
            (Some(old), Some(new)) => new > old,
            (Some(_), None) => false,
            (None, _) => true,
        };
        sheet.note(row, stands, || {
            format!("old without new below it: {}", excerpt(old))
        });
    }
}

/// C18: notes, chosen answers with their question, approved plans.
pub(super) fn agreed(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept) {
    let listed: Vec<String> = kept
        .sections
        .items(Section::Agreed)
        .map(|item| plain(&item.text()))
        .collect();
    for agreed in &source.truth.agreed {
        let texts = &agreed.texts;
        let what = || format!("{}: {}", agreed.kind, excerpt(&texts.join(" / ")));
        let here = texts.iter().all(|text| kept.mentions(text));
        sheet.note(Row::Agreed, here, what);
        let in_section = listed
            .iter()
            .any(|item| texts.iter().all(|text| item.contains(&plain(text))));
        sheet.note(Row::AgreedListed, in_section, what);
    }
}

/// P, as far as structure tells: what stands under the user's name was said,
/// what stands as agreed was agreed.
pub(super) fn precision(sheet: &mut Sheet<'_>, source: &Source, kept: &Kept, after: After) {
    let rounds = match after {
        After::Replay => 0,
        After::Forced(rounds) => rounds,
    };
    let rounds: Vec<String> = (2..=rounds)
        .map(|round| super::round_words(round).0)
        .collect();
    for item in &kept.said {
        let words = plain(&item.words);
        let mut texts = source
            .truth
            .said
            .iter()
            .map(|text| &text.said.text)
            .chain(&rounds);
        let told = match item.is_shortened() {
            true => texts.any(|text| {
                let begin: String = words.chars().take(24).collect();
                plain(text).starts_with(begin.trim_end_matches('…').trim_end())
            }),
            false => texts.any(|text| plain(text) == words),
        };
        sheet.note(Row::PreciseSaid, told, || {
            format!("#{}: {}", item.number, excerpt(&item.words))
        });
    }
    for item in kept.sections.items(Section::Agreed) {
        let text = plain(&item.text());
        if item.is_rest() {
            continue;
        }
        // A long one may be cut: its beginning counts.
        let begins = |agreed: &str| {
            let begin: String = plain(agreed).chars().take(40).collect();
            text.contains(&begin)
        };
        let mut known = source.truth.agreed.iter();
        let known = known.any(|agreed| agreed.texts.iter().all(|text| begins(text)));
        sheet.note(Row::PreciseAgreed, known, || excerpt(&text));
    }
}
