//! The mechanical part: exact, bounded, in a fixed order.
//!
//! The user's words have a budget of their own; all other sections share one and
//! are filled by priority: every changed file, what is open, what was agreed, what
//! fails, where the work stands, files read, lines with pending words, and
//! the work by turn with what is left. When room is short things shrink from the
//! end of that list; changed files and open items only when they alone exceed
//! everything, which is reported.

use longhaul_ledger::{Agreement, Ledger, Utterance};
use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::Channel;
use serde::Serialize;

use super::block::{Block, Pool, Rest, more, more_and, more_paths};
use super::heading;
use super::limits::Limits;
use super::material::{Kept, Material};
use super::paths::PathNames;
use super::pending::pending;
use super::sections;
use super::words::{Words, words};

/// The mechanical part of a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mechanical {
    /// The sections, each under its heading.
    pub text: String,
    /// Its size by the counter that was used.
    pub tokens: Tokens,
    /// What found no room although it should have.
    pub notes: Vec<Note>,
}

/// Something that should be in every summary and was too large for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Note {
    /// Changed files that found no room.
    #[serde(rename_all = "camelCase")]
    ChangedFilesLeftOut {
        /// How many.
        count: usize,
    },
    /// Open items that found no room.
    #[serde(rename_all = "camelCase")]
    OpenItemsLeftOut {
        /// How many.
        count: usize,
    },
}

impl std::fmt::Display for Note {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Note::ChangedFilesLeftOut { count } => {
                write!(f, "{count} changed files did not fit the summary")
            }
            Note::OpenItemsLeftOut { count } => {
                write!(f, "{count} open items did not fit the summary")
            }
        }
    }
}

/// What a line below [`heading::FAILING`] says.
const LATEST_RUN: &str = "(the latest run of each, in turn #n)";

/// The share of the room beside the words that agreements may take.
const AGREED: f64 = 0.375;
/// The share of the words' room that may be lent in a small window.
const LENT: f64 = 0.42;

/// The sections that share a budget, in the order in which they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Part {
    Agreed,
    Turns,
    Changed,
    Read,
    Failing,
    Open,
    Pending,
    Stands,
}

/// The mechanical part within `limits`, for a context in which what `material`
/// keeps stays word for word; `less` tokens of the budget are used otherwise.
pub fn mechanical(
    material: &Material<'_>,
    limits: &Limits,
    less: Tokens,
    counter: &dyn Counter,
) -> Mechanical {
    let ledger = material.ledger;
    let kept = material.kept_entries();
    let own = limits.rest - less;
    // In a small window what must be there may take from the words.
    let lent = match limits.shares_words {
        true => limits.words.scale(LENT),
        false => Tokens::ZERO,
    };
    let mut over = Tokens::ZERO;
    loop {
        let budget = own + lent - over;
        let mut draft = Draft::new(material, &kept, limits, budget, counter);
        draft.agreed(limits.rest + lent);
        // What the room does not hold of the answers stands among the words.
        let shown = draft.text_of(Part::Agreed);
        let elsewhere = |utterance: &Utterance| is_agreed(ledger, utterance, &shown);
        let used = budget - draft.pool.left;
        let room = limits.words - (used - own);
        let said = words(ledger, &kept, &elsewhere, room, limits, counter);
        draft.pool.left = own - over - used;
        if limits.shares_words {
            draft.pool.left += room - said.tokens;
        }
        draft.rest();
        let made = draft.finish(&said);
        let excess = made.tokens - (limits.words + own);
        if excess == Tokens::ZERO || budget == Tokens::ZERO {
            return made;
        }
        over += excess + Tokens(4);
    }
}

/// Whether an answer is shown with its question already.
fn is_agreed(ledger: &Ledger, utterance: &Utterance, shown: &str) -> bool {
    utterance.channel == Channel::Answer
        && shown.contains(super::text::one_line(&utterance.text).as_str())
        && ledger.agreements.iter().any(|agreement| {
            matches!(agreement, Agreement::Answer { entry, .. } if *entry == utterance.entry)
        })
}

/// The sections beside the user's words, being filled.
struct Draft<'a, 'c> {
    limits: Limits,
    blocks: Vec<Block<'a>>,
    pool: Pool<'c>,
}

impl<'a, 'c> Draft<'a, 'c> {
    fn new(
        material: &'a Material<'a>,
        kept: &Kept<'_>,
        limits: &Limits,
        budget: Tokens,
        counter: &'c dyn Counter,
    ) -> Draft<'a, 'c> {
        let pool = Pool::new(budget, counter);
        Draft {
            blocks: blocks(material, kept, limits, &pool),
            limits: *limits,
            pool,
        }
    }

    /// What must be there, then what was agreed.
    fn agreed(&mut self, whole: Tokens) {
        let everything = self.pool.left;
        for part in [Part::Changed, Part::Open] {
            self.fill(part, everything);
        }
        self.fill(Part::Agreed, whole.scale(AGREED));
        self.fill(Part::Failing, whole.scale(0.25));
        self.fill(Part::Stands, self.limits.rest.scale(0.25));
    }

    fn rest(&mut self) {
        let rest = self.limits.rest;
        // What found no room before may find it now.
        for part in [Part::Changed, Part::Open, Part::Failing] {
            self.fill(part, self.pool.left);
        }
        self.fill(Part::Read, rest.scale(0.25));
        self.fill(Part::Pending, rest.scale(0.0625));
        self.fill(Part::Turns, self.pool.left);
        for part in [Part::Stands, Part::Read, Part::Agreed] {
            self.fill(part, self.pool.left);
        }
    }

    fn finish(self, said: &Words) -> Mechanical {
        let sections = self.blocks.iter().filter_map(Block::render);
        let words = Some(said.text.clone()).filter(|text| !text.is_empty());
        let text = words
            .into_iter()
            .chain(sections)
            .collect::<Vec<_>>()
            .join("\n");
        let left_out = |part: Part| Some(self.blocks[part as usize].waiting().len());
        let left_out = |part: Part| left_out(part).filter(|count| *count > 0);
        let mut notes = Vec::new();
        notes.extend(left_out(Part::Changed).map(|count| Note::ChangedFilesLeftOut { count }));
        notes.extend(left_out(Part::Open).map(|count| Note::OpenItemsLeftOut { count }));
        Mechanical {
            tokens: self.pool.counter().count(&text, ContentKind::Prose),
            text,
            notes,
        }
    }

    fn fill(&mut self, part: Part, cap: Tokens) {
        self.blocks[part as usize].fill(&mut self.pool, cap);
    }

    fn text_of(&self, part: Part) -> String {
        self.blocks[part as usize].render().unwrap_or_default()
    }
}

/// Every section with its lines, in the order of [`Part`].
fn blocks<'a>(
    material: &'a Material<'a>,
    kept: &Kept<'_>,
    limits: &Limits,
    pool: &Pool<'_>,
) -> Vec<Block<'a>> {
    let ledger = material.ledger;
    let names = PathNames::new(ledger);
    let prose = |heading, rest| Block::new(heading, ContentKind::Prose, rest);
    let list = |heading, rest| Block::new(heading, ContentKind::Shell, rest);
    let folder = names
        .folder()
        .map(|folder| format!("(relative to {})", super::text::one_line(folder)));
    let changed = changed(ledger, &names, pool);
    let (changed_folder, read_folder) = match changed.is_empty() {
        true => (None, folder),
        false => (folder, None),
    };
    let agreed = sections::agreed(ledger, limits.rest.scale(AGREED), pool.counter());
    let agreed_left = ledger.agreements_left + ledger.notes_left;
    let lone = |lines: Vec<String>| lines.into_iter().map(|line| (line, None));
    vec![
        prose(
            heading::AGREED,
            more_and("agreed or noted earlier", agreed_left),
        )
        .candidates(agreed),
        prose(heading::TURNS, more_and("earlier turns", ledger.turns_left))
            .rest_before()
            .contiguous()
            .candidates(sections::turns(material, kept, &names)),
        list(heading::CHANGED, more_paths("changed files"))
            .preface(changed_folder)
            .lines(changed),
        list(heading::READ, more_paths("files and folders"))
            .preface(read_folder)
            .lines(sections::read_files(ledger, &names, limits.read_files)),
        list(heading::FAILING, more("failing commands"))
            .preface(Some(LATEST_RUN.to_owned()))
            .lines(sections::failing(ledger)),
        prose(heading::OPEN, more("open items")).lines(sections::open(ledger)),
        prose(heading::PENDING, nothing()).lines(lone(pending(material))),
        prose(heading::STANDS, nothing()).lines(sections::stands(ledger, kept, &names)),
    ]
}

fn nothing<'a>() -> Rest<'a> {
    Box::new(|_| None)
}

/// What happened to each file is left out when it would crowd out the rest.
fn changed(ledger: &Ledger, names: &PathNames<'_>, pool: &Pool<'_>) -> Vec<sections::Line> {
    let files = ledger.modified_files();
    let told = sections::changed_lines(&files, names);
    let cost = told
        .iter()
        .map(|(line, _)| pool.cost(line, ContentKind::Shell))
        .sum::<Tokens>();
    match cost.0 > pool.left.0 / 5 * 2 {
        true => sections::changed_paths(&files, names),
        false => told,
    }
}
