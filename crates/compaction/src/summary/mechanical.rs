//! The ledger's own part: exact, bounded, in a fixed order.
//!
//! Sections are shown in the order of [`Part`] and filled by priority, all from
//! one budget. What is essential comes first: rules, all changed files, all
//! open items, where the work stands, the last unresolved error, the newest
//! request, decisions, how many files were read, and a line for every request;
//! then the prose takes its share; then the rest in this order: what may be
//! another's words, questions, errors, requests word for word, done items, files read, exact values,
//! resolved errors. What is left then goes around once more. So when room is short
//! things shrink from the end of that list, and rules, changed files and open
//! items only when they alone exceed everything, which is reported.

use longhaul_ledger::{Ledger, ours};
use longhaul_tokens::{ContentKind, Counter, Tokens};
use serde::Serialize;

use super::block::{Block, Pool, more, more_and, more_by_id, more_paths};
use super::limits::Limits;
use super::lists;
use super::material::Kept;
use super::paths::PathNames;
use super::requests::Requests;

/// The ledger's part of a summary.
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
    /// Standing rules take more than their own cap; they use what others left.
    #[serde(rename_all = "camelCase")]
    RulesAboveCap {
        /// Rules in force.
        rules: usize,
        /// Their cap.
        cap: Tokens,
    },
    /// Standing rules that found no room.
    #[serde(rename_all = "camelCase")]
    RulesLeftOut {
        /// How many.
        count: usize,
    },
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
            Note::RulesAboveCap { rules, cap } => write!(
                f,
                "the {rules} standing rules take more than the {cap} tokens meant for them"
            ),
            Note::RulesLeftOut { count } => write!(
                f,
                "{count} standing rules did not fit; the context names their entries"
            ),
            Note::ChangedFilesLeftOut { count } => {
                write!(f, "{count} changed files did not fit the summary")
            }
            Note::OpenItemsLeftOut { count } => {
                write!(f, "{count} open items did not fit the summary")
            }
        }
    }
}

/// The sections in the order they are shown. Rules open it; where the work
/// stands comes last, next to the messages that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum Part {
    Rules,
    Handed,
    PassedOn,
    Requests,
    Gists,
    Changed,
    Read,
    Decisions,
    Open,
    Done,
    Questions,
    Unresolved,
    Resolved,
    Anchors,
    ReEntry,
}

/// The ledger's part by itself, within `limits.total`, for a context in which
/// `kept` stays word for word.
pub fn mechanical(
    ledger: &Ledger,
    kept: &Kept<'_>,
    limits: &Limits,
    counter: &dyn Counter,
) -> Mechanical {
    let mut budget = limits.total;
    loop {
        let mut draft = Draft::new(ledger, kept, limits, budget, counter);
        draft.essentials();
        draft.rest("");
        let made = draft.finish();
        let excess = made.tokens - limits.total;
        if excess == Tokens::ZERO || budget == Tokens::ZERO {
            return made;
        }
        budget -= excess + Tokens(4);
    }
}

/// A ledger's part that is being filled.
pub(super) struct Draft<'a, 'c> {
    ledger: &'a Ledger,
    limits: Limits,
    requests: Requests<'a>,
    blocks: Vec<Block<'a>>,
    pool: Pool<'c>,
    rules_above_cap: bool,
    /// Set aside for a line a request.
    for_gists: Tokens,
}

impl<'a, 'c> Draft<'a, 'c> {
    pub(super) fn new(
        ledger: &'a Ledger,
        kept: &Kept<'_>,
        limits: &Limits,
        budget: Tokens,
        counter: &'c dyn Counter,
    ) -> Draft<'a, 'c> {
        let names = PathNames::new(ledger);
        let pool = Pool::new(budget, counter);
        let blocks = blocks(ledger, &names, &pool);
        Draft {
            ledger,
            limits: *limits,
            requests: Requests::new(ledger, kept),
            blocks,
            pool,
            rules_above_cap: false,
            for_gists: Tokens::ZERO,
        }
    }

    /// What is left of the budget.
    pub(super) fn left(&self) -> Tokens {
        self.pool.left
    }

    /// Fills in what must be there.
    pub(super) fn essentials(&mut self) {
        let everything = self.limits.total;
        // Rules may take more than their own cap, and never more than half.
        self.fill(Part::Rules, self.limits.share(2));
        self.rules_above_cap = self.cost_of(Part::Rules) > self.limits.rules;
        self.fill(Part::Handed, self.limits.share(3));
        self.fill(Part::Changed, everything);
        self.fill(Part::Open, everything);
        self.fill(Part::ReEntry, self.limits.share(6));
        self.blocks[Part::Unresolved as usize].fill_some(&mut self.pool, everything, 1);
        let newest = Tokens(self.limits.requests.0 / 2).min(Tokens(self.pool.left.0 / 2));
        self.requests.newest(
            &mut self.blocks[Part::Requests as usize],
            &mut self.pool,
            newest,
        );
        self.fill(Part::Decisions, self.limits.share(4));
        // Whatever else finds room, it is said what there is more of.
        self.blocks[Part::Read as usize].fill_some(&mut self.pool, everything, 0);
        // One line a request comes before more words of any of them.
        let cap = self.limits.gists.max(self.limits.share(2));
        self.for_gists = self.requests.gists_cost(&self.pool, cap);
        self.pool.left -= self.for_gists;
    }

    /// Sets room aside for a prose that is not written yet.
    pub(super) fn set_aside(&mut self, prose: Tokens) {
        self.pool.left -= prose;
    }

    /// Fills in the rest, beside `prose` that is part of the same budget.
    pub(super) fn rest(&mut self, prose: &str) {
        if !prose.is_empty() {
            self.pool.left -= self.pool.cost(prose, ContentKind::Prose);
        }
        let limits = self.limits;
        let gists_cap = limits.gists.max(limits.share(2));
        self.fill(Part::PassedOn, limits.share(12));
        self.fill(Part::Questions, limits.share(24));
        self.fill(Part::Unresolved, limits.share(10));
        self.requests.others(
            &mut self.blocks[Part::Requests as usize],
            &mut self.pool,
            &limits,
        );
        self.fill(Part::Done, limits.share(24));
        let files = limits.read_files;
        self.blocks[Part::Read as usize].fill_some(&mut self.pool, limits.share(10), files);

        let seen = self.shown_text(prose);
        let anchors = lists::anchors(self.ledger, &seen);
        self.blocks[Part::Anchors as usize] =
            Block::new("## Exact values", ContentKind::Shell, no_rest()).lines(anchors);
        self.fill(Part::Anchors, limits.share(10));
        self.fill(Part::Resolved, limits.share(40));

        self.pool.left += std::mem::take(&mut self.for_gists);
        let gists =
            self.requests
                .gists(&self.blocks[Part::Requests as usize], &self.pool, gists_cap);
        self.blocks[Part::Gists as usize] = Block::new(
            "## Older requests (first line each)",
            ContentKind::Prose,
            more_and("earlier requests", self.ledger.requests_left),
        )
        .candidates(gists);
        self.fill(Part::Gists, gists_cap);

        // What the caps above left unused goes to what matters most.
        for part in [Part::Decisions, Part::Unresolved, Part::Questions] {
            self.fill(part, limits.total);
        }
        let files = limits.read_files;
        self.blocks[Part::Read as usize].fill_some(&mut self.pool, limits.total, files);
        self.fill(Part::Anchors, limits.share(10));
    }

    /// The text and what has to be reported.
    pub(super) fn finish(self) -> Mechanical {
        let text = self.text();
        let left_out = |part: Part| self.block(part).waiting().len();
        let mut notes = Vec::new();
        if self.rules_above_cap {
            notes.push(Note::RulesAboveCap {
                rules: self.block(Part::Rules).shown().len() + left_out(Part::Rules),
                cap: self.limits.rules,
            });
        }
        notes.extend(some(left_out(Part::Rules)).map(|count| Note::RulesLeftOut { count }));
        notes
            .extend(some(left_out(Part::Changed)).map(|count| Note::ChangedFilesLeftOut { count }));
        notes.extend(some(left_out(Part::Open)).map(|count| Note::OpenItemsLeftOut { count }));
        Mechanical {
            tokens: self.pool.counter().count(&text, ContentKind::Prose),
            text,
            notes,
        }
    }

    /// The text as far as it is filled.
    pub(super) fn text(&self) -> String {
        let sections: Vec<String> = self.blocks.iter().filter_map(Block::render).collect();
        sections.join("\n")
    }

    fn shown_text(&self, prose: &str) -> String {
        let mut text = self.text();
        text.push('\n');
        text.push_str(prose);
        text
    }

    fn fill(&mut self, part: Part, cap: Tokens) {
        self.blocks[part as usize].fill(&mut self.pool, cap);
    }

    fn cost_of(&self, part: Part) -> Tokens {
        let block = self.block(part);
        let lines = block.shown().iter().chain(block.waiting());
        lines
            .map(|line| self.pool.cost(&line.text, ContentKind::Prose))
            .sum()
    }

    fn block(&self, part: Part) -> &Block<'a> {
        &self.blocks[part as usize]
    }
}

fn some(count: usize) -> Option<usize> {
    (count > 0).then_some(count)
}

fn no_rest<'a>() -> super::block::Rest<'a> {
    Box::new(|_| None)
}

/// Every section with its lines, in the order of [`Part`].
fn blocks<'a>(ledger: &'a Ledger, names: &PathNames<'a>, pool: &Pool<'_>) -> Vec<Block<'a>> {
    let prose = |heading, rest| Block::new(heading, ContentKind::Prose, rest);
    let list = |heading, rest| Block::new(heading, ContentKind::Shell, rest);
    let folder = names
        .folder()
        .map(|folder| format!("(relative to {})", super::text::one_line(folder)));
    let changed = changed(ledger, names, pool);
    let (changed_folder, read_folder) = match changed.is_empty() {
        true => (None, folder),
        false => (folder, None),
    };
    vec![
        prose(ours::STANDING_RULES, more_by_id("rules in force")).lines(lists::rules(ledger)),
        prose(ours::HANDED, more_by_id("rules handed over")).lines(lists::handed(ledger)),
        prose(ours::PASSED_ON, more_by_id("lines passed on")).lines(lists::passed_on(ledger)),
        prose(
            "## What the user asked (word for word, newest first)",
            no_rest(),
        ),
        prose("## Older requests (first line each)", no_rest()),
        list("## Files changed", more_paths("changed files"))
            .preface(changed_folder)
            .lines(changed),
        list("## Files only read", more_paths("files"))
            .preface(read_folder)
            .lines(lists::read_files(ledger, names)),
        prose("## Decisions that stand", more("decisions")).lines(lists::decisions(ledger)),
        prose("## Open items", more("open items")).lines(lists::open_items(ledger)),
        prose("## Done (not to be done again)", no_rest()).lines(lists::done_items(ledger)),
        prose("## Open questions", more("questions")).lines(lists::questions(ledger)),
        list(
            "## Unresolved errors (tool output ← what gave it)",
            more("errors"),
        )
        .lines(lists::unresolved(ledger)),
        list("## Errors since resolved", no_rest()).lines(lists::resolved(ledger)),
        list("## Exact values", no_rest()),
        prose("## Where the work stands", no_rest()).lines(lists::re_entry(ledger, names)),
    ]
}

/// What happened to each file is left out when it would crowd out the rest.
fn changed(ledger: &Ledger, names: &PathNames<'_>, pool: &Pool<'_>) -> Vec<lists::Line> {
    let files = ledger.modified_files();
    let told = lists::changed_lines(&files, names);
    let cost = told
        .iter()
        .map(|(line, _)| pool.cost(line, ContentKind::Shell))
        .sum::<Tokens>();
    if cost.0 > pool.left.0 / 5 * 2 {
        lists::changed_paths(&files, names)
    } else {
        told
    }
}
