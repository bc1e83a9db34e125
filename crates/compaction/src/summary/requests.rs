//! What the user asked for: word for word as far as it fits, newest first.

use std::collections::BTreeMap;

use longhaul_ledger::{Ledger, Request};
use longhaul_tokens::{ContentKind, Tokens};
use longhaul_transcript::EntryId;
use memchr::memmem::Finder;

use super::block::{Block, Candidate, Pool};
use super::limits::Limits;
use super::material::Kept;
pub(crate) use super::text::abbreviated;
use super::text::{clipped, fenced, is_one_line, mark, mark_if_short, one_line, within};

/// Entries whose word no longer stands whole, and the entry that changed it.
/// Their text is kept as it was said, so it has to be marked.
pub(super) fn replaced(ledger: &Ledger) -> BTreeMap<&EntryId, &EntryId> {
    let decisions = ledger
        .decisions
        .iter()
        .map(|decision| (&decision.provenance, &decision.superseded));
    let anchors = ledger
        .anchors
        .values()
        .map(|anchor| (&anchor.provenance, &anchor.superseded));
    let rules = ledger
        .rules
        .iter()
        .map(|rule| (&rule.provenance, &rule.revoked));
    let mut found = BTreeMap::new();
    for (provenance, by) in anchors.chain(decisions).chain(rules) {
        if let Some(by) = by {
            for entry in provenance.entries.iter().filter(|entry| *entry != by) {
                found.insert(entry, by);
            }
        }
    }
    found
}

/// What the heading of the gists costs, with the line that counts the rest.
const HEADING: Tokens = Tokens(40);

/// Values that another has taken the place of. Wherever one of them is still
/// quoted, the line has to say so.
#[derive(Debug)]
pub(super) struct OldValues<'a> {
    values: Vec<OldValue<'a>>,
}

#[derive(Debug)]
struct OldValue<'a> {
    text: &'a str,
    by: &'a EntryId,
    finder: Finder<'a>,
}

impl<'a> OldValues<'a> {
    pub(super) fn new(ledger: &'a Ledger) -> OldValues<'a> {
        OldValues {
            values: ledger
                .anchors
                .values()
                .filter(|anchor| !anchor.text.is_empty())
                .filter_map(|anchor| {
                    Some(OldValue {
                        text: &anchor.text,
                        by: anchor.superseded.as_ref()?,
                        finder: Finder::new(&anchor.text),
                    })
                })
                .collect(),
        }
    }

    /// The old value that a text holds, and the entry that replaced it.
    pub(super) fn held_by(&self, text: &str) -> Option<(&'a str, &'a EntryId)> {
        let held = self.values.iter().find(|value| value.stands_in(text));
        held.map(|value| (value.text, value.by))
    }

    /// What a line that quotes `text`, said in `said`, has to add.
    pub(super) fn remark(&self, text: &str, said: Option<&EntryId>) -> String {
        match self.held_by(text) {
            None => String::new(),
            // The words that replaced it name it as the old one.
            Some((value, by)) if said == Some(by) => format!(" ({} replaced)", one_line(value)),
            Some((_, by)) => replaced_by(by),
        }
    }
}

impl OldValue<'_> {
    /// Whether it stands in a text, and not as a part of a longer value.
    fn stands_in(&self, text: &str) -> bool {
        let joins = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        self.finder.find_iter(text.as_bytes()).any(|at| {
            let end = at + self.text.len();
            !joins(text[..at].chars().next_back()) && !joins(text[end..].chars().next())
        })
    }
}

fn replaced_by(entry: &EntryId) -> String {
    match mark_if_short(Some(entry)) {
        by if by.is_empty() => " (replaced in part later)".to_owned(),
        by => format!(" (replaced in part by{by})"),
    }
}

/// No gist is cut to less.
pub(crate) const SHORTEST_GIST: usize = 24;

/// The requests of a ledger on their way into a summary.
pub(super) struct Requests<'a> {
    /// Not in the kept part; newest first.
    wanted: Vec<&'a Request>,
    /// Older ones that the ledger only counts.
    left: u64,
    replaced: BTreeMap<&'a EntryId, &'a EntryId>,
    old: OldValues<'a>,
}

impl<'a> Requests<'a> {
    pub(super) fn new(ledger: &'a Ledger, kept: &Kept<'_>) -> Requests<'a> {
        Requests {
            wanted: ledger
                .requests
                .iter()
                .rev()
                .filter(|request| !kept.has(&request.entry))
                .collect(),
            left: ledger.requests_left,
            replaced: replaced(ledger),
            old: OldValues::new(ledger),
        }
    }

    /// Shows the newest request, shortened if it is larger than `cap`.
    pub(super) fn newest(&self, block: &mut Block<'_>, pool: &mut Pool<'_>, cap: Tokens) {
        let Some(request) = self.wanted.first() else {
            return;
        };
        let text = request.text.as_deref().unwrap_or(&request.gist);
        let mut lines = vec![self.whole(request, text)];
        if pool.cost(&lines[0], ContentKind::Prose) > cap.min(pool.left) {
            let frame = pool.cost(&self.shortened_to(request, ""), ContentKind::Prose) + Tokens(24);
            lines = match within(text.trim(), cap.min(pool.left) - frame, pool.counter()) {
                Some(cut) => vec![self.shortened_to(request, &cut)],
                None => vec![self.gist(request)],
            };
        }
        self.show(
            block,
            pool,
            cap + Tokens(24),
            0,
            lines.swap_remove(0),
            request,
        );
    }

    /// Shows what fits of the others: first those of ordinary size, newest
    /// first, so that one long paste does not displace twenty requests; then
    /// the large ones, whole or shortened.
    pub(super) fn others(&self, block: &mut Block<'_>, pool: &mut Pool<'_>, limits: &Limits) {
        let start = pool.left;
        let large = Tokens(limits.requests.0 / 4);
        let spent_before = block
            .shown()
            .iter()
            .map(|line| pool.cost(&line.text, ContentKind::Prose))
            .sum::<Tokens>();
        // A quarter of what is left is for the sections after this one.
        let cap = (limits.requests - spent_before).min(Tokens(start.0 / 4 * 3));
        let left = |pool: &Pool<'_>| (cap - (start - pool.left)).min(pool.left);
        // What lies beyond twice the room is not looked at: it becomes a gist.
        let mut counted = Tokens::ZERO;
        let whole: Vec<(usize, &Request, String, Tokens)> = self
            .others_wanted()
            .filter_map(|(order, request)| {
                if counted > Tokens(cap.0.saturating_mul(2)) {
                    return None;
                }
                let line = self.whole(request, request.text.as_deref()?);
                let cost = pool.cost(&line, ContentKind::Prose);
                if cost <= large {
                    counted += cost;
                }
                Some((order, request, line, cost))
            })
            .collect();
        let (ordinary, large): (Vec<_>, Vec<_>) =
            whole.into_iter().partition(|(.., cost)| *cost <= large);
        for (order, request, line, cost) in ordinary {
            if cost <= left(pool) {
                let room = left(pool);
                self.show(block, pool, room, order, line, request);
            }
        }
        const WORTH_IT: Tokens = Tokens(160);
        for (order, request, line, cost) in large {
            let room = left(pool);
            if cost <= room {
                self.show(block, pool, room, order, line, request);
            } else if room >= WORTH_IT {
                let text = request.text.as_deref().unwrap_or(&request.gist);
                let share = Tokens(room.0 / 2).min(Tokens(800)) - Tokens(32);
                if let Some(cut) = within(text.trim(), share, pool.counter()) {
                    let line = self.shortened_to(request, &cut);
                    self.show(block, pool, room, order, line, request);
                }
            }
        }
    }

    /// What one line for each request but the newest costs, as far as `cap`
    /// allows.
    pub(super) fn gists_cost(&self, pool: &Pool<'_>, cap: Tokens) -> Tokens {
        let cap = cap.min(Tokens(pool.left.0 / 10 * 9));
        match self.wanted.len() {
            0 | 1 if self.left == 0 => Tokens::ZERO,
            0 | 1 => HEADING.min(cap),
            _ => self.gists_within(&self.wanted[1..], pool, cap).1,
        }
    }

    /// One line for each request that `block` does not show; newest first.
    pub(super) fn gists(&self, block: &Block<'_>, pool: &Pool<'_>, cap: Tokens) -> Vec<Candidate> {
        let shown: Vec<usize> = block.shown().iter().map(|line| line.order).collect();
        let (orders, requests): (Vec<usize>, Vec<&Request>) = self
            .wanted
            .iter()
            .enumerate()
            .filter(|(order, _)| !shown.contains(order))
            .map(|(order, request)| (order, *request))
            .unzip();
        let (lines, _) = self.gists_within(&requests, pool, cap.min(pool.left));
        orders
            .into_iter()
            .zip(requests)
            .zip(lines)
            .map(|((order, request), text)| Candidate {
                order,
                text,
                entry: Some(request.entry.clone()),
            })
            .collect()
    }

    /// The lines, as long as they may be for all of them to fit into `cap`, and
    /// what those that fit cost, with the heading.
    fn gists_within(
        &self,
        requests: &[&Request],
        pool: &Pool<'_>,
        cap: Tokens,
    ) -> (Vec<String>, Tokens) {
        for most in [usize::MAX, 64, 40, 28] {
            let mut cost = HEADING;
            let lines: Vec<String> = requests
                .iter()
                .map(|request| self.gist_within(request, most))
                .take_while(|line| {
                    cost += pool.cost(line, ContentKind::Prose);
                    cost <= cap
                })
                .collect();
            if lines.len() == requests.len() {
                return (lines, cost);
            }
        }
        let lines: Vec<String> = requests
            .iter()
            .map(|request| self.gist_within(request, SHORTEST_GIST))
            .collect();
        let costs = lines.iter().map(|line| pool.cost(line, ContentKind::Prose));
        let cost = costs.sum::<Tokens>() + HEADING;
        (lines, cost.min(cap))
    }

    fn others_wanted(&self) -> impl Iterator<Item = (usize, &'a Request)> + '_ {
        self.wanted
            .iter()
            .enumerate()
            .skip(1)
            .map(|(order, request)| (order, *request))
    }

    fn show(
        &self,
        block: &mut Block<'_>,
        pool: &mut Pool<'_>,
        cap: Tokens,
        order: usize,
        text: String,
        request: &Request,
    ) {
        block.push(Candidate {
            order,
            text,
            entry: Some(request.entry.clone()),
        });
        block.fill(pool, cap);
        // What found no room is shown as a gist instead.
        block.take_waiting(pool);
    }

    fn whole(&self, request: &Request, text: &str) -> String {
        let end = self.end(request, text, mark_if_short(Some(&request.entry)));
        if is_one_line(text) {
            format!("- {}{end}", one_line(text))
        } else {
            format!("-{end}\n{}", fenced(text))
        }
    }

    fn shortened_to(&self, request: &Request, text: &str) -> String {
        let end = self.end(request, text, mark(&request.entry));
        if is_one_line(text) {
            format!("- (shortened) {}{end}", one_line(text))
        } else {
            format!("- (shortened){end}\n{}", fenced(text))
        }
    }

    fn gist(&self, request: &Request) -> String {
        self.gist_within(request, usize::MAX)
    }

    /// The gist in at most so many characters. Where they are few, the id is
    /// as short as it can be.
    fn gist_within(&self, request: &Request, most: usize) -> String {
        let gist = clipped(&request.gist, most);
        let end = match most {
            usize::MAX => self.end(request, &gist, mark(&request.entry)),
            _ => {
                let remark = self.old.remark(&gist, Some(&request.entry));
                format!(
                    " ·{}{remark}",
                    one_line(abbreviated(request.entry.as_str()))
                )
            }
        };
        format!("- {gist}{end}")
    }

    /// The id, and whether something in it was replaced later.
    fn end(&self, request: &Request, text: &str, id: String) -> String {
        match self.replaced.get(&request.entry) {
            Some(by) => format!("{id}{}", replaced_by(by)),
            None => format!("{id}{}", self.old.remark(text, Some(&request.entry))),
        }
    }
}
