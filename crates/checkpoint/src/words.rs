//! The user's words for whoever goes on without the session: another agent, or
//! the next session of the same key.
//!
//! Nothing is judged. All of it is there, word for word and oldest first, while
//! it fits; past that length and order decide: long texts keep their two ends,
//! then the first message and the newest stay.

use longhaul_ledger::{Agreement, Ledger, Utterance};
use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::Channel;

use crate::text::largest;

/// The most tokens of the user's words that are taken along.
pub const USER_WORDS: Tokens = Tokens(2_000);

/// No text needs more characters for a token than this to fill its share.
const CHARS_A_TOKEN: usize = 8;

/// What the user typed here and in the sessions before, within `limit`. An answer
/// to a question of a tool is left out where it is listed as agreed: there it
/// stands with its question.
pub fn user_words(ledger: &Ledger, limit: Tokens, counter: &dyn Counter) -> Vec<String> {
    fit(own(ledger).collect(), limit, counter)
}

/// The constraints of a hand-off: the user's words, behind those that came with a
/// hand-off that the session itself began with.
pub fn constraints(ledger: &Ledger, limit: Tokens, counter: &dyn Counter) -> Vec<String> {
    let handed = ledger.handed.iter().flat_map(|handed| {
        let texts = handed.constraints.iter();
        texts.map(|text| Said {
            head: text.trim(),
            tail: "",
            entry: handed.entry.as_str(),
        })
    });
    fit(handed.chain(own(ledger)).collect(), limit, counter)
}

/// One text: whole, or the two ends that the ledger has of it.
#[derive(Debug, Clone, Copy)]
struct Said<'a> {
    head: &'a str,
    tail: &'a str,
    entry: &'a str,
}

fn own(ledger: &Ledger) -> impl Iterator<Item = Said<'_>> {
    let agreed = |said: &Utterance| {
        let mut agreed = ledger.agreements.iter().map(Agreement::entry);
        said.channel == Channel::Answer && agreed.any(|entry| *entry == said.entry)
    };
    let own = ledger.own_words().filter(move |said| !agreed(said));
    own.map(|said| {
        let end = said.gap.unwrap_or(said.text.len());
        let (head, tail) = said.text.split_at_checked(end).unwrap_or((&said.text, ""));
        Said {
            head,
            tail,
            entry: said.entry.as_str(),
        }
    })
}

impl Said<'_> {
    fn whole(&self) -> Option<String> {
        self.tail.is_empty().then(|| self.head.to_owned())
    }

    /// So many characters from the two ends, around a mark that says where the
    /// whole is.
    fn ends(&self, chars: usize) -> String {
        let last = match self.tail {
            "" => self.head,
            tail => tail,
        };
        let (front, back) = (chars - chars / 2, chars / 2);
        let head = self.head.char_indices().nth(front);
        let head = head.map_or(self.head, |(at, _)| &self.head[..at]);
        let tail = last.char_indices().rev().take(back).last();
        let tail = tail.map_or("", |(at, _)| &last[at..]);
        let (head, tail) = (head.trim_end(), tail.trim_start());
        format!("{head} [… whole in entry {} …] {tail}", self.entry)
    }
}

/// Texts in their order that together have at most `limit` tokens.
fn fit(said: Vec<Said<'_>>, limit: Tokens, counter: &dyn Counter) -> Vec<String> {
    let count = |text: &str| counter.count(text, ContentKind::Prose);
    let whole: Option<Vec<String>> = said.iter().map(Said::whole).collect();
    let sum = |texts: &Vec<String>| texts.iter().map(|text| count(text)).sum::<Tokens>();
    if let Some(whole) = whole.filter(|texts| sum(texts) <= limit) {
        return whole;
    }
    let longest = Tokens(limit.0 / 4);
    let short = |said: &Said<'_>| {
        let fits = |text: &String| count(text) <= longest;
        said.whole().filter(fits).unwrap_or_else(|| {
            let most = longest.0 as usize * CHARS_A_TOKEN;
            said.ends(largest(0, most, |chars| fits(&said.ends(chars))))
        })
    };
    let Some((first, later)) = said.split_first() else {
        return Vec::new();
    };
    let first = short(first);
    let mut left = limit.0.saturating_sub(count(&first).0);
    let mut newest = Vec::new();
    for said in later.iter().rev() {
        let text = short(said);
        let Some(rest) = left.checked_sub(count(&text).0) else {
            break;
        };
        left = rest;
        newest.push(text);
    }
    newest.push(first);
    newest.reverse();
    newest
}
