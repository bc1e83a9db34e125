//! Finding words: one pass, hits grouped by the passage they stand in, ranked.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use longhaul_transcript::{Body, Entry, EntryId};
use memchr::memmem::Finder;

use super::{EXCERPT_CHARS, Others, Same, full_text};

/// Ids that a group names; of more, only the number is known.
const NAMED: usize = 200;
/// Groups held at a time; of more, the worst leave.
const GROUPS: usize = 4_096;
/// Bytes of entries held until it is known which are wanted.
const HELD: usize = 16 << 20;
/// A passage is a line, and of a long line so much on either side.
const PASSAGE_CHARS: usize = 120;

/// A search for words.
pub(super) struct Words {
    folded: Finder<'static>,
    exact: Finder<'static>,
    letters: Option<Letters>,
    /// What the model sees anyway.
    shown: HashSet<EntryId>,
    seen: HashSet<u64>,
    groups: HashMap<u64, Group>,
    held: usize,
    count: usize,
    /// Entries of groups that were dropped.
    dropped: usize,
}

/// Entries that say the same passage.
struct Group {
    best: Candidate,
    /// The first members.
    ids: Vec<EntryId>,
    count: usize,
    /// Whether all of them have the same text from beginning to end.
    identical: bool,
    text: u64,
}

struct Candidate {
    id: EntryId,
    entry: Option<Entry>,
    excerpt: String,
    shown: bool,
    fit: Fit,
    length: usize,
    order: usize,
}

/// How well a place fits what was asked for, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Exact,
    Words,
    ExactPart,
    Part,
}

/// What a search found: an entry, or its id if it was too large to hold.
pub(super) struct Found {
    pub(super) id: EntryId,
    pub(super) entry: Option<Entry>,
    pub(super) excerpt: String,
    pub(super) others: Others,
}

impl Words {
    pub(super) fn new(query: &str, shown: HashSet<EntryId>) -> Words {
        let folded = spaced(query, true);
        Words {
            letters: Letters::of(&folded),
            folded: Finder::new(&folded).into_owned(),
            exact: Finder::new(&spaced(query, false)).into_owned(),
            shown,
            seen: HashSet::new(),
            groups: HashMap::new(),
            held: 0,
            count: 0,
            dropped: 0,
        }
    }

    pub(super) fn take(&mut self, entry: Entry) {
        // A summary repeats what others said; the original is what is wanted.
        if self.folded.needle().is_empty() || matches!(entry.body, Body::Compaction(_)) {
            return;
        }
        if let Some(letters) = &self.letters
            && !letters.may_be_in(entry.raw())
        {
            return;
        }
        let text = full_text(&entry);
        let Some((fit, place)) = self.find(&text) else {
            return;
        };
        // A copy written by an undo is the same thing said once.
        if !self.seen.insert(hash(&entry.id)) {
            return;
        }
        self.count += 1;
        let said = passage(&text, &place);
        let key = match entry.role() {
            Some(role) => hash(&(role.as_str(), said)),
            None => hash(&(entry.kind().as_str(), said)),
        };
        let whole = hash(&text);
        let candidate = Candidate {
            id: entry.id.clone(),
            excerpt: around(&text, place.start),
            shown: self.shown.contains(&entry.id),
            fit,
            length: text.len(),
            order: self.count,
            entry: None,
        };
        self.add(key, whole, candidate, entry);
        if self.groups.len() > GROUPS {
            self.drop_the_worst();
        }
    }

    fn add(&mut self, key: u64, text: u64, mut candidate: Candidate, entry: Entry) {
        let Some(group) = self.groups.get_mut(&key) else {
            candidate.entry = hold(&mut self.held, entry);
            let group = Group {
                ids: vec![candidate.id.clone()],
                best: candidate,
                count: 1,
                identical: true,
                text,
            };
            self.groups.insert(key, group);
            return;
        };
        group.count += 1;
        group.identical &= group.text == text;
        if group.ids.len() < NAMED {
            group.ids.push(candidate.id.clone());
        }
        // Of equal ones the newest stands for them.
        if (candidate.shown, candidate.fit) <= (group.best.shown, group.best.fit) {
            if let Some(old) = group.best.entry.take() {
                self.held -= old.raw().len();
            }
            candidate.entry = hold(&mut self.held, entry);
            group.best = candidate;
        }
    }

    fn drop_the_worst(&mut self) {
        let mut groups: Vec<(u64, Group)> = self.groups.drain().collect();
        groups.sort_by_key(|(_, group)| group.rank());
        for (_, group) in groups.drain(GROUPS / 2..) {
            self.dropped += group.count;
            self.held -= group.best.entry.map_or(0, |entry| entry.raw().len());
        }
        self.groups = groups.into_iter().collect();
    }

    /// The best place in a text.
    fn find(&self, text: &str) -> Option<(Fit, Range<usize>)> {
        let folded = spaced(text, true);
        let first = self.folded.find(folded.as_bytes())?;
        let place = |at: usize, finder: &Finder<'_>, fold: bool| {
            place(text, at..at + finder.needle().len(), fold)
        };
        let plain = spaced(text, false);
        if let Some(at) = whole(&plain, &self.exact) {
            return Some((Fit::Exact, place(at, &self.exact, false)));
        }
        if let Some(at) = whole(&folded, &self.folded) {
            return Some((Fit::Words, place(at, &self.folded, true)));
        }
        Some(match self.exact.find(plain.as_bytes()) {
            Some(at) => (Fit::ExactPart, place(at, &self.exact, false)),
            None => (Fit::Part, place(first, &self.folded, true)),
        })
    }

    /// The best hits, the best first. The last of `limit` names what found no
    /// place among them, so that nothing with the words goes unsaid.
    pub(super) fn finish(self, limit: usize) -> Vec<Found> {
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by_key(Group::rank);
        let rest = groups.split_off(limit.min(groups.len()));
        let mut found: Vec<Found> = groups.into_iter().map(Group::found).collect();
        let unsaid = rest.iter().map(|group| group.count).sum::<usize>() + self.dropped;
        if let Some(last) = found.last_mut().filter(|_| unsaid > 0) {
            let room = NAMED.saturating_sub(last.others.ids.len());
            let ids = rest.into_iter().flat_map(|group| group.ids);
            last.others.ids.extend(ids.take(room));
            last.others.count += unsaid;
            last.others.same = Same::Words;
        }
        found
    }
}

impl Group {
    fn found(mut self) -> Found {
        self.ids.retain(|id| *id != self.best.id);
        Found {
            id: self.best.id,
            entry: self.best.entry,
            excerpt: self.best.excerpt,
            others: Others {
                ids: self.ids,
                count: self.count - 1,
                same: match self.identical {
                    true => Same::Text,
                    false => Same::Passage,
                },
            },
        }
    }

    /// What is out of sight first, then what fits, is rare, is short, is new.
    fn rank(&self) -> (bool, Fit, usize, usize, Reverse<usize>) {
        let best = &self.best;
        let order = Reverse(best.order);
        (best.shown, best.fit, self.count, best.length, order)
    }
}

fn hold(held: &mut usize, entry: Entry) -> Option<Entry> {
    let size = entry.raw().len();
    (*held + size <= HELD).then(|| {
        *held += size;
        entry
    })
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Where words stand that are not a part of longer ones.
fn whole(text: &str, finder: &Finder<'_>) -> Option<usize> {
    let inside = |a: Option<char>, b: Option<char>| {
        a.is_some_and(char::is_alphanumeric) && b.is_some_and(char::is_alphanumeric)
    };
    finder.find_iter(text.as_bytes()).find(|at| {
        let end = at + finder.needle().len();
        let (before, found, after) = (&text[..*at], &text[*at..end], &text[end..]);
        !inside(before.chars().next_back(), found.chars().next())
            && !inside(found.chars().next_back(), after.chars().next())
    })
}

/// One space between words, in lower case if `fold`.
fn spaced(text: &str, fold: bool) -> String {
    let mut spaced = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !spaced.is_empty() {
            spaced.push(' ');
        }
        match fold {
            true if word.is_ascii() => {
                spaced.extend(word.bytes().map(|byte| byte.to_ascii_lowercase() as char));
            }
            true => spaced.extend(word.chars().flat_map(char::to_lowercase)),
            false => spaced.push_str(word),
        }
    }
    spaced
}

/// The words of a text that a part of its spaced form comes from.
fn place(text: &str, found: Range<usize>, fold: bool) -> Range<usize> {
    let mut position = 0;
    let mut place = 0..text.len();
    for word in text.split_whitespace() {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        if position <= found.start {
            place.start = start;
        }
        place.end = start + word.len();
        position += match fold {
            true => word
                .chars()
                .flat_map(char::to_lowercase)
                .map(char::len_utf8)
                .sum(),
            false => word.len(),
        };
        if position >= found.end {
            break;
        }
        position += 1;
    }
    place
}

/// The line or lines around a place, spacing and line numbers aside.
fn passage(text: &str, place: &Range<usize>) -> String {
    let before = &text[..place.start];
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let near = last_chars(before, PASSAGE_CHARS);
    let start = line.max(near);
    let after = &text[place.end..];
    let line_end = after.find('\n').unwrap_or(after.len());
    let end = place.end + line_end.min(first_chars(after, PASSAGE_CHARS));
    let passage = &text[start..end];
    spaced(
        if start == line {
            without_number(passage, place.start - start)
        } else {
            passage
        },
        false,
    )
}

/// A line without the number that a tool put before it.
fn without_number(line: &str, before: usize) -> &str {
    let rest = line.trim_start();
    let text = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let mark = ['→', '\t', ':', '|', '-'];
    match text.strip_prefix(mark) {
        Some(text) if rest.len() > text.len() + 1 && line.len() - text.len() <= before => text,
        _ => line,
    }
}

/// Where the last so many characters begin.
fn last_chars(text: &str, count: usize) -> usize {
    let last = text.char_indices().rev().take(count).last();
    last.map_or(text.len(), |(at, _)| at)
}

/// Where the first so many characters end.
fn first_chars(text: &str, count: usize) -> usize {
    let mut chars = text.char_indices();
    chars.nth(count).map_or(text.len(), |(at, _)| at)
}

/// The text around a place.
fn around(text: &str, start: usize) -> String {
    let from = last_chars(&text[..start], EXCERPT_CHARS / 3);
    let to = start + first_chars(&text[start..], EXCERPT_CHARS);
    text[from..to].to_owned()
}

/// Letters that stand in the stored bytes of every entry with the words, in
/// upper or lower case. Most entries are passed over by them, undecoded.
struct Letters {
    letters: Vec<u8>,
    rarest: usize,
}

impl Letters {
    /// `None` where the words have no letters that are sure to be stored as
    /// they are: the Kelvin sign and the dotted İ become `k` and `i`, numbers
    /// may be stored in another form.
    fn of(folded: &str) -> Option<Letters> {
        let sure = |c: char| c.is_ascii_lowercase() && !matches!(c, 'i' | 'k');
        let longest = folded
            .split(|c: char| !sure(c))
            .max_by_key(|part| part.len())
            .filter(|part| part.len() >= 2)?;
        const RARE: &[u8] = b"zqxjvbpgwyfmcuhldrsnoate";
        let rarest = longest
            .bytes()
            .enumerate()
            .min_by_key(|(_, letter)| RARE.iter().position(|rare| rare == letter))
            .map(|(at, _)| at)?;
        Some(Letters {
            letters: longest.as_bytes().to_vec(),
            rarest,
        })
    }

    fn may_be_in(&self, raw: &str) -> bool {
        let raw = raw.as_bytes();
        let rare = self.letters[self.rarest];
        memchr::memchr2_iter(rare, rare.to_ascii_uppercase(), raw).any(|at| {
            at.checked_sub(self.rarest)
                .and_then(|start| raw.get(start..start + self.letters.len()))
                .is_some_and(|part| part.eq_ignore_ascii_case(&self.letters))
        }) || has_escaped_letters(raw)
    }
}

/// Whether a letter is stored as an escape, which no known program does.
fn has_escaped_letters(raw: &[u8]) -> bool {
    memchr::memmem::find_iter(raw, b"\\u00").any(|at| matches!(raw.get(at + 4), Some(b'4'..=b'7')))
}
