//! What the user said: word for word, oldest first, newest last, so that a
//! correction stands below what it corrects.
//!
//! While it fits, all of it is whole, and on real agent sessions it does. Past the
//! budget length and order decide, and nothing else: long messages keep their two
//! ends; then the first one stays, the newest until three quarters are used, and
//! of the older ones the shortest, of equal length the newer.

use longhaul_ledger::{Ledger, Origin, TurnState, Utterance};
use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::Channel;

use super::heading;
use super::limits::Limits;
use super::material::Kept;
use super::text::{abbreviated, fenced, is_one_line, one_line, within};

/// What stays of a long message where not everything fits.
const PASTE: Tokens = Tokens(300);

/// What the user said, as a section.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// The section; empty where nobody said anything that is not kept.
    pub(super) text: String,
    /// Its size.
    pub(super) tokens: Tokens,
}

/// An utterance on its way into a summary.
struct Item<'a> {
    utterance: &'a Utterance,
    line: String,
    cost: Tokens,
    /// Characters of the words: what decides between older ones.
    length: usize,
}

/// The section within `budget`. Utterances whose entry `kept` has, or that
/// `elsewhere` shows, are not among them.
pub(super) fn words(
    ledger: &Ledger,
    kept: &Kept<'_>,
    elsewhere: &dyn Fn(&Utterance) -> bool,
    budget: Tokens,
    limits: &Limits,
    counter: &dyn Counter,
) -> Words {
    let cost = |line: &str| counter.count(line, ContentKind::Prose) + Tokens(1);
    let mut items: Vec<Item<'_>> = ledger
        .utterances
        .iter()
        .filter(|utterance| !kept.has(&utterance.entry) && !elsewhere(utterance))
        .map(|utterance| {
            let line = item(utterance, None);
            Item {
                cost: cost(&line),
                line,
                length: utterance.text.chars().count(),
                utterance,
            }
        })
        .collect();
    if items.is_empty() && ledger.utterances_left == 0 {
        return Words::default();
    }
    let sum = |items: &[Item<'_>]| items.iter().map(|item| item.cost).sum::<Tokens>();
    let room = budget - cost(heading::WORDS);
    let mut left = ledger.utterances_left;
    if sum(&items) > room {
        let cap = PASTE
            .min(Tokens(room.0 / 8))
            .min(Tokens(limits.paste.0 / 2));
        for paste in items.iter_mut().filter(|item| item.cost > limits.paste) {
            shorten(paste, cap, counter);
        }
    }
    if sum(&items) > room {
        // The task and the newest word stay, whatever their size.
        if let Some(first) = items.first_mut() {
            shorten(first, Tokens(room.0 / 4), counter);
        }
        if let Some(newest) = items.last_mut() {
            shorten(newest, Tokens(room.0 / 2), counter);
        }
    }
    let rest =
        |left: u64| format!("- +{left} more, not shown: recall brings them back (query, or an id)");
    let room = match left > 0 || sum(&items) > room {
        true => room - cost(&rest(left + items.len() as u64)),
        false => room,
    };
    let stays = chosen(&items, room);
    left += stays.iter().filter(|stays| !**stays).count() as u64;
    let mut lines: Vec<String> = vec![heading::WORDS.to_owned()];
    let mut shown = items
        .iter()
        .zip(&stays)
        .filter(|(_, stays)| **stays)
        .peekable();
    if shown.peek().is_none() && left == 0 {
        return Words::default();
    }
    lines.extend((left > 0).then(|| rest(left)));
    lines.extend(shown.map(|(item, _)| item.line.clone()));
    let text = lines.join("\n");
    Words {
        tokens: counter.count(&text, ContentKind::Prose),
        text,
    }
}

/// Cuts words that take more than `cap` to their two ends.
fn shorten(shortened: &mut Item<'_>, cap: Tokens, counter: &dyn Counter) {
    const FRAME: Tokens = Tokens(24);
    if shortened.cost <= cap {
        return;
    }
    let words = shortened.utterance.text.trim();
    if let Some(cut) = within(words, cap - FRAME, counter) {
        shortened.line = item(shortened.utterance, Some(&cut));
        shortened.cost = counter.count(&shortened.line, ContentKind::Prose) + Tokens(1);
    }
}

/// Which of them fit.
fn chosen(items: &[Item<'_>], room: Tokens) -> Vec<bool> {
    let mut stays = vec![false; items.len()];
    let all: Tokens = items.iter().map(|item| item.cost).sum();
    if all <= room {
        return vec![true; items.len()];
    }
    let mut left = room;
    let mut take = |at: usize, left: &mut Tokens| {
        let fits = items[at].cost <= *left;
        if fits && !stays[at] {
            stays[at] = true;
            *left -= items[at].cost;
        }
        fits
    };
    if !items.is_empty() {
        take(0, &mut left);
    }
    // The newest backwards, until three quarters are used.
    let quarter = Tokens(room.0 / 4);
    let mut newest = items.len();
    while newest > 1 {
        let at = newest - 1;
        let is_within = left - items[at].cost >= quarter && items[at].cost <= left;
        // The very newest is the task in hand.
        if !(is_within || newest == items.len()) || !take(at, &mut left) {
            break;
        }
        newest = at;
    }
    // Then the shortest; of equal length the newer one.
    let mut older: Vec<usize> = (1..newest).collect();
    older.sort_by_key(|&at| (items[at].length, usize::MAX - at));
    for at in older {
        if !take(at, &mut left) {
            break;
        }
    }
    stays
}

/// `- #12: the words`, with what is to be said about them in brackets behind the
/// number; several lines stand in a fence. Only what is shortened names its entry:
/// of the others there is no more to bring back.
fn item(utterance: &Utterance, shortened: Option<&str>) -> String {
    let (words, is_cut) = match (shortened, utterance.gap) {
        (Some(words), _) => (words.to_owned(), true),
        (None, Some(gap)) => {
            let (head, tail) = utterance.text.split_at(gap);
            (format!("{head}\n[…]\n{tail}"), true)
        }
        (None, None) => (utterance.text.clone(), false),
    };
    let state = match utterance.state {
        TurnState::Answered => None,
        TurnState::Interrupted => Some("interrupted"),
        TurnState::Open => Some("open"),
    };
    let origin = match utterance.origin {
        Origin::User => None,
        Origin::Carried => Some("from the session before"),
        Origin::HandedOver => Some("handed over by another agent"),
        Origin::Imported => Some("imported; binds nobody"),
        Origin::Agent => Some("not the user: another agent"),
    };
    let channel = (utterance.channel != Channel::Prompt).then(|| utterance.channel.as_str());
    let question = utterance.question.as_ref();
    let question = question.map(|question| format!("to “{}”", one_line(question)));
    let cut = is_cut.then(|| {
        let id = one_line(abbreviated(utterance.entry.as_str()));
        format!("shortened ·{id}")
    });
    let marks: Vec<String> = [state, channel, origin]
        .into_iter()
        .flatten()
        .map(str::to_owned)
        .chain(question)
        .chain(cut)
        .collect();
    let marks = match marks.is_empty() {
        true => String::new(),
        false => format!(" [{}]", marks.join(", ")),
    };
    let head = format!("- #{}{marks}:", utterance.number);
    match is_one_line(&words) {
        true => format!("{head} {}", one_line(&words)),
        false => format!("{head}\n{}", fenced(&words)),
    }
}
