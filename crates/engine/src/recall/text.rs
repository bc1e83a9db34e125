//! Finding words: one pass, hits grouped by the passage they stand in, ranked.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use aho_corasick::AhoCorasick;
use longhaul_transcript::{Body, Entry, EntryId};
use memchr::memmem::Finder;
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::hit::{NAMED, Others, Same};
use super::said::Said;
use super::wording::{EXCERPT_CHARS, THINKING, with_thinking};

/// Groups held at a time; of more, the worst leave.
const GROUPS: usize = 4_096;
/// Bytes of entries held until it is known which are wanted.
const HELD: usize = 16 << 20;
/// Fewer bytes without their punctuation are in everything: `C#` is looked for
/// as it is.
const LEAST_BARE: usize = 4;
/// A passage is a line, and of a long line so much on either side.
const PASSAGE_CHARS: usize = 120;

/// A search for words.
pub(super) struct Words {
    folded: Finder<'static>,
    exact: Finder<'static>,
    /// None where too little is left without punctuation.
    bare: Option<Finder<'static>>,
    letters: Option<AhoCorasick>,
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
    is_summary: bool,
    shown: bool,
    fit: Fit,
    length: usize,
    order: usize,
}

/// How candidates stand to each other, the best first.
type Standing = (bool, bool, bool, Fit);

/// How well a place fits what was asked for, the best first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Exact,
    Words,
    ExactPart,
    Part,
    Bare,
    BarePart,
}

impl Fit {
    /// Whether only other punctuation keeps it from standing there as given.
    fn is_bare(self) -> bool {
        self >= Fit::Bare
    }
}

/// What a search found: an entry, or its id if it was too large to hold.
pub(super) struct Found {
    pub(super) id: EntryId,
    pub(super) entry: Option<Entry>,
    pub(super) excerpt: String,
    pub(super) others: Others,
    /// Whether the context shows it.
    pub(super) shown: bool,
}

impl Words {
    pub(super) fn new(query: &str, shown: HashSet<EntryId>) -> Words {
        let folded = Form::Folded.of(query);
        let bare = Form::Bare.of(query);
        Words {
            letters: letters_of(&folded),
            folded: Finder::new(&folded).into_owned(),
            exact: Finder::new(&Form::Exact.of(query)).into_owned(),
            bare: (bare.len() >= LEAST_BARE).then(|| Finder::new(&bare).into_owned()),
            shown,
            seen: HashSet::new(),
            groups: HashMap::new(),
            held: 0,
            count: 0,
            dropped: 0,
        }
    }

    pub(super) fn take(&mut self, said: &Said, entry: Entry) {
        if self.folded.needle().is_empty() {
            return;
        }
        if let Some(letters) = &self.letters
            && !letters.is_match(entry.raw())
            && !has_escaped_letters(entry.raw())
        {
            return;
        }
        let mut text = said.text(&entry);
        let mut found = self.find(&text);
        let said_aloud = text.len();
        if found.is_none()
            && let Some(message) = entry.message()
        {
            text = with_thinking(text, &message);
            found = self.find(&text);
        }
        let Some((fit, place)) = found else {
            return;
        };
        // A copy written by an undo is the same thing said once.
        if !self.seen.insert(hash(&entry.id)) {
            return;
        }
        self.count += 1;
        let passage = passage(&text, &place);
        let key = match entry.role() {
            Some(role) => hash(&(role.as_str(), passage)),
            None => hash(&(entry.kind().as_str(), passage)),
        };
        let whole = hash(&text);
        let candidate = Candidate {
            id: entry.id.clone(),
            excerpt: excerpt(&text, place.start, said_aloud),
            is_summary: matches!(entry.body, Body::Compaction(_)),
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
        if candidate.standing() <= group.best.standing() {
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
        let folded = Form::Folded.of(text);
        let place = |at: usize, finder: &Finder<'_>, form: Form| {
            form.place(text, at..at + finder.needle().len())
        };
        let Some(first) = self.folded.find(folded.as_bytes()) else {
            let bare = self.bare.as_ref()?;
            let found = Form::Bare.of(text);
            let (fit, at) = match whole(&found, bare) {
                Some(at) => (Fit::Bare, at),
                None => (Fit::BarePart, bare.find(found.as_bytes())?),
            };
            return Some((fit, place(at, bare, Form::Bare)));
        };
        let plain = Form::Exact.of(text);
        if let Some(at) = whole(&plain, &self.exact) {
            return Some((Fit::Exact, place(at, &self.exact, Form::Exact)));
        }
        if let Some(at) = whole(&folded, &self.folded) {
            return Some((Fit::Words, place(at, &self.folded, Form::Folded)));
        }
        Some(match self.exact.find(plain.as_bytes()) {
            Some(at) => (Fit::ExactPart, place(at, &self.exact, Form::Exact)),
            None => (Fit::Part, place(first, &self.folded, Form::Folded)),
        })
    }

    /// The best hits, the best first. The last of `limit` names what found no
    /// place among them, so that nothing with the words goes unsaid, nor that there
    /// are so many more that were not looked at.
    pub(super) fn finish(self, limit: usize, more: usize) -> Vec<Found> {
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by_key(Group::rank);
        let rest = groups.split_off(limit.min(groups.len()));
        let mut found: Vec<Found> = groups.into_iter().map(Group::found).collect();
        let unsaid = rest.iter().map(|group| group.count).sum::<usize>() + self.dropped + more;
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

impl Candidate {
    /// A summary repeats what others said, and comes behind them. Of the others
    /// what has the words as they were given is first, then what is out of sight,
    /// then what fits better.
    fn standing(&self) -> Standing {
        (self.is_summary, self.fit.is_bare(), self.shown, self.fit)
    }
}

impl Group {
    fn found(mut self) -> Found {
        self.ids.retain(|id| *id != self.best.id);
        Found {
            id: self.best.id,
            entry: self.best.entry,
            excerpt: self.best.excerpt,
            shown: self.best.shown,
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

    /// As the best of it stands; then what is rare, is short, is new.
    fn rank(&self) -> (Standing, usize, usize, Reverse<usize>) {
        let best = &self.best;
        let order = Reverse(best.order);
        (best.standing(), self.count, best.length, order)
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

/// What of a text is compared. Between words is one space in all of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is.
    Exact,
    /// In lower case.
    Folded,
    /// In lower case, punctuation being no more than space, nor what stands
    /// between the cells of a table.
    Bare,
}

impl Form {
    fn words(self, text: &str) -> impl Iterator<Item = &str> {
        let gap = move |c: char| c.is_whitespace() || self == Form::Bare && is_punctuation(c);
        let is_rule = move |word: &str| {
            self == Form::Bare && word.chars().all(|c| matches!(c, '|' | '│' | '┃' | '║'))
        };
        text.split(gap)
            .filter(move |word| !word.is_empty() && !is_rule(word))
    }

    fn of(self, text: &str) -> String {
        let mut spaced = String::with_capacity(text.len());
        for word in self.words(text) {
            if !spaced.is_empty() {
                spaced.push(' ');
            }
            spaced.push_str(&self.word(word));
        }
        spaced
    }

    /// A word as it is compared. A letter and its mark may be two characters in
    /// one place and one in another.
    fn word(self, word: &str) -> Cow<'_, str> {
        match self {
            Form::Exact if is_nfc(word) => Cow::Borrowed(word),
            Form::Exact => word.nfc().collect(),
            _ if word.is_ascii() => Cow::Owned(word.to_ascii_lowercase()),
            _ => word.nfc().flat_map(char::to_lowercase).collect(),
        }
    }

    /// The words of a text that a part of its form comes from.
    fn place(self, text: &str, found: Range<usize>) -> Range<usize> {
        let mut position = 0;
        let mut place = 0..text.len();
        for word in self.words(text) {
            let start = word.as_ptr() as usize - text.as_ptr() as usize;
            if position <= found.start {
                place.start = start;
            }
            place.end = start + word.len();
            position += self.word(word).len();
            if position >= found.end {
                break;
            }
            position += 1;
        }
        place
    }
}

/// Marks that say how words stand together. Signs with a meaning of their own,
/// such as `+` and `=`, are none: `c++` is not `c`.
fn is_punctuation(c: char) -> bool {
    match c {
        '+' | '<' | '=' | '>' | '^' | '|' | '~' | '$' => false,
        c if c.is_ascii() => c.is_ascii_punctuation(),
        '¡' | '¿' | '«' | '»' | '·' | '§' | '¶' => true,
        // General, CJK and full-width punctuation.
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' => c != '\u{2044}' && c != '\u{2052}',
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' => true,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' => {
            !matches!(c, '＄' | '＋' | '＜' | '＝' | '＞')
        }
        '\u{ff3b}'..='\u{ff3d}' | '\u{ff5f}'..='\u{ff65}' => true,
        '\u{60c}' | '\u{61b}' | '\u{61f}' | '\u{6d4}' | '\u{964}' | '\u{965}' => true,
        _ => false,
    }
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
    Form::Exact.of(if start == line {
        without_number(passage, place.start - start)
    } else {
        passage
    })
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

/// The text around a place, which says so if it was only thought.
fn excerpt(text: &str, start: usize, said_aloud: usize) -> String {
    let around = around(text, start);
    match start >= said_aloud && !around.contains(THINKING.trim_end()) && said_aloud < text.len() {
        true => format!("{THINKING}{around}"),
        false => around,
    }
}

/// The text around a place.
fn around(text: &str, start: usize) -> String {
    let from = last_chars(&text[..start], EXCERPT_CHARS / 3);
    let to = start + first_chars(&text[start..], EXCERPT_CHARS);
    text[from..to].to_owned()
}

/// Letters that stand in the stored bytes of every entry with the words, in upper or
/// lower case: most entries are passed over by them, undecoded. None where the words
/// have no letters that are sure to be stored as they are: the Kelvin sign and the
/// dotted İ become `k` and `i`, numbers may be stored in another form.
fn letters_of(folded: &str) -> Option<AhoCorasick> {
    let sure = |c: char| c.is_ascii_lowercase() && !matches!(c, 'i' | 'k');
    let parts = folded.split(|c: char| !sure(c));
    let longest = parts.max_by_key(|part| part.len());
    let longest = longest.filter(|part| part.len() >= 2)?;
    // So much passes over as many entries, and the automaton grows with its letters.
    let some = &longest[..longest.len().min(64)];
    let mut builder = AhoCorasick::builder();
    builder.ascii_case_insensitive(true).build([some]).ok()
}

/// Whether a letter is stored as an escape, which no known program does.
fn has_escaped_letters(raw: &str) -> bool {
    let raw = raw.as_bytes();
    memchr::memmem::find_iter(raw, b"\\u00").any(|at| matches!(raw.get(at + 4), Some(b'4'..=b'7')))
}
