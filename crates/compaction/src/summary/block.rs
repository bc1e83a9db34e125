//! Blocks of lines that share one budget.
//!
//! A [`Block`] is a section: a heading, the lines shown so far and those still
//! waiting, most important first. A [`Pool`] is the budget that all blocks of a
//! summary draw from. Lines that find no room are never dropped silently: the
//! block ends with a line that counts them and says how to get them back, and
//! room for that line is set aside before the first line is refused.

use longhaul_tokens::{ContentKind, Counter, Tokens};
use longhaul_transcript::EntryId;

use super::text::{is_short, one_line};

/// A line that would like to be shown.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// Where it stands among the lines shown.
    pub(super) order: usize,
    /// The line; it may run over several when it is fenced.
    pub(super) text: String,
    /// The entry it comes from.
    pub(super) entry: Option<EntryId>,
}

/// Says how many lines wait, and how to get them; nothing if that is no news.
pub(super) type Rest<'a> = Box<dyn Fn(&[Candidate]) -> Option<String> + 'a>;

/// Where the line about the rest stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RestPlace {
    Before,
    After,
}

/// What happens when a line does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FillOrder {
    /// The next one is tried.
    SkipLarge,
    /// Nothing after it is shown, so that what is shown has no gaps.
    Contiguous,
}

/// How many lines in a row may be too large before the others are not tried.
const TRIES: usize = 32;

/// A section that is being filled.
pub(super) struct Block<'a> {
    heading: &'static str,
    kind: ContentKind,
    preface: Option<String>,
    shown: Vec<Candidate>,
    waiting: Vec<Candidate>,
    rest: Rest<'a>,
    place: RestPlace,
    order: FillOrder,
    /// Charged so far for heading and preface.
    opened: Tokens,
    /// Charged so far for the line about the rest.
    reserved: Tokens,
    /// Whether that is enough for it.
    rest_paid: bool,
}

impl<'a> Block<'a> {
    pub(super) fn new(heading: &'static str, kind: ContentKind, rest: Rest<'a>) -> Block<'a> {
        Block {
            heading,
            kind,
            preface: None,
            shown: Vec::new(),
            waiting: Vec::new(),
            rest,
            place: RestPlace::After,
            order: FillOrder::SkipLarge,
            opened: Tokens::ZERO,
            reserved: Tokens::ZERO,
            rest_paid: false,
        }
    }

    pub(super) fn preface(mut self, line: Option<String>) -> Block<'a> {
        self.preface = line;
        self
    }

    pub(super) fn rest_before(mut self) -> Block<'a> {
        self.place = RestPlace::Before;
        self
    }

    pub(super) fn contiguous(mut self) -> Block<'a> {
        self.order = FillOrder::Contiguous;
        self
    }

    /// Adds lines, most important first; they are shown in this order.
    pub(super) fn lines<I>(self, lines: I) -> Block<'a>
    where
        I: IntoIterator<Item = (String, Option<EntryId>)>,
    {
        let candidates = lines
            .into_iter()
            .enumerate()
            .map(|(order, (text, entry))| Candidate { order, text, entry });
        self.candidates(candidates)
    }

    /// Adds lines, most important first; they are shown by their order.
    pub(super) fn candidates<I>(mut self, candidates: I) -> Block<'a>
    where
        I: IntoIterator<Item = Candidate>,
    {
        self.waiting.extend(candidates);
        self
    }

    /// The lines that found no room.
    pub(super) fn waiting(&self) -> &[Candidate] {
        &self.waiting
    }

    /// Shows as many of the waiting lines as fit into `cap` and the pool.
    pub(super) fn fill(&mut self, pool: &mut Pool<'_>, cap: Tokens) {
        self.fill_some(pool, cap, usize::MAX);
    }

    /// The same for the first `count` waiting lines.
    pub(super) fn fill_some(&mut self, pool: &mut Pool<'_>, cap: Tokens, count: usize) {
        if self.waiting.is_empty() && (self.rest)(&[]).is_none() {
            return;
        }
        let start = pool.left;
        let spent = |pool: &Pool<'_>| start - pool.left;
        if self.opened == Tokens::ZERO {
            let cost = pool.cost(self.heading, ContentKind::Prose)
                + self
                    .preface
                    .as_deref()
                    .map_or(Tokens::ZERO, |line| pool.cost(line, self.kind));
            if cost > cap.min(pool.left) {
                return;
            }
            self.opened = cost;
            pool.left -= cost;
        }
        let room = (cap - spent(pool)).min(pool.left + self.reserved);
        let costs = self.costs_within(pool, room);
        if costs.len() < self.waiting.len() || count < self.waiting.len() {
            self.reserve(pool);
        }
        let mut taken = 0;
        let mut refused = 0;
        let waiting = std::mem::take(&mut self.waiting);
        for (at, line) in waiting.into_iter().enumerate() {
            let room = (cap - spent(pool)).min(pool.left);
            let gap = self.order == FillOrder::Contiguous && !self.waiting.is_empty();
            let cost = if taken == count || gap || refused == TRIES {
                None
            } else {
                let known = costs.get(at).copied();
                let cost = known.unwrap_or_else(|| pool.cost(&line.text, self.kind));
                Some(cost).filter(|cost| *cost <= room)
            };
            match cost {
                Some(cost) => {
                    pool.left -= cost;
                    taken += 1;
                    self.shown.push(line);
                }
                None => {
                    refused = (refused + 1).min(TRIES);
                    self.waiting.push(line);
                }
            }
        }
        self.settle(pool);
    }

    /// The costs of the waiting lines, as many as fit together: what comes
    /// after them need not be counted to know that not all fit.
    fn costs_within(&self, pool: &Pool<'_>, room: Tokens) -> Vec<Tokens> {
        let mut sum = Tokens::ZERO;
        self.waiting
            .iter()
            .map(|line| pool.cost(&line.text, self.kind))
            .take_while(|cost| {
                sum += *cost;
                sum <= room
            })
            .collect()
    }

    /// Sets room aside for the line about the rest.
    fn reserve(&mut self, pool: &mut Pool<'_>) {
        // Which lines will be left is not known yet; their ids may be a little
        // longer than those of all lines.
        const SLACK: Tokens = Tokens(8);
        if self.reserved == Tokens::ZERO
            && let Some(line) = (self.rest)(&self.waiting)
        {
            self.reserved = (pool.cost(&line, self.kind) + SLACK).min(pool.left);
            pool.left -= self.reserved;
        }
    }

    /// Pays for the line about the rest as it is now: gives back what was set
    /// aside and is not needed, takes what is missing.
    fn settle(&mut self, pool: &mut Pool<'_>) {
        let needed = match (self.rest)(&self.waiting) {
            Some(line) => pool.cost(&line, self.kind),
            None => Tokens::ZERO,
        };
        let paid = needed.min(self.reserved + pool.left);
        pool.left = pool.left + self.reserved - paid;
        self.reserved = paid;
        self.rest_paid = paid == needed;
    }

    /// The section as text; nothing if there is nothing to say.
    pub(super) fn render(&self) -> Option<String> {
        if self.opened == Tokens::ZERO {
            return None;
        }
        let rest = (self.rest)(&self.waiting).filter(|_| self.rest_paid);
        if self.shown.is_empty() && rest.is_none() {
            return None;
        }
        let mut shown: Vec<&Candidate> = self.shown.iter().collect();
        shown.sort_by_key(|line| line.order);
        let mut lines: Vec<&str> = vec![self.heading];
        lines.extend(self.preface.as_deref());
        if self.place == RestPlace::Before {
            lines.extend(rest.as_deref());
        }
        lines.extend(shown.iter().map(|line| line.text.as_str()));
        if self.place == RestPlace::After {
            lines.extend(rest.as_deref());
        }
        Some(lines.join("\n"))
    }
}

/// The budget of a summary.
pub(super) struct Pool<'c> {
    pub(super) left: Tokens,
    counter: &'c dyn Counter,
}

impl<'c> Pool<'c> {
    pub(super) fn new(budget: Tokens, counter: &'c dyn Counter) -> Pool<'c> {
        Pool {
            left: budget,
            counter,
        }
    }

    pub(super) fn counter(&self) -> &'c dyn Counter {
        self.counter
    }

    /// A line and its line break.
    pub(super) fn cost(&self, line: &str, kind: ContentKind) -> Tokens {
        self.counter.count(line, kind) + Tokens(1)
    }
}

/// `- +12 more decisions: recall 7f34aa1c…9b01c2d3`. Counts that we made
/// ourselves are always written `+n` or `×n`, so that they can be told from
/// numbers of the source. Long ids are left out where words find the same.
pub(super) fn more<'a>(what: &'static str) -> Rest<'a> {
    more_and(what, 0)
}

/// The same, with some that were not even candidates.
pub(super) fn more_and<'a>(what: &'static str, unlisted: u64) -> Rest<'a> {
    Box::new(move |waiting: &[Candidate]| {
        let count = waiting.len() as u64 + unlisted;
        let range = range(waiting).filter(|(first, last)| is_short(first) && is_short(last));
        (count > 0).then(|| format!("- +{count} more {what}: recall {}", named(range)))
    })
}

/// Things that are found again by their path.
pub(super) fn more_paths<'a>(what: &'static str) -> Rest<'a> {
    Box::new(move |waiting: &[Candidate]| {
        (!waiting.is_empty()).then(|| {
            format!(
                "- +{} more {what}: recall finds them by path",
                waiting.len()
            )
        })
    })
}

/// The oldest and the newest entry of the lines, which come newest first.
fn range(lines: &[Candidate]) -> Option<(&EntryId, &EntryId)> {
    let mut entries = lines.iter().filter_map(|line| line.entry.as_ref());
    let newest = entries.next()?;
    Some((entries.next_back().unwrap_or(newest), newest))
}

fn named(range: Option<(&EntryId, &EntryId)>) -> String {
    match range {
        None => "brings them back".to_owned(),
        Some((one, same)) if one == same => one_line(one.as_str()),
        Some((first, last)) => {
            format!("{}…{}", one_line(first.as_str()), one_line(last.as_str()))
        }
    }
}
