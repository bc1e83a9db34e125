//! One pass over a text, from the first byte to the last.

use std::sync::LazyLock;

use super::value::Span;
use super::{Kind, Redactor, address, armour, before, beside, command, encoded, expect, fed};
use super::{follows, logins, markup, phrases, pieces, put, spoken, stores, tongues, vendors};
use super::{turns, windows};

/// Signs that part a name from its value, or open what may be a secret; the
/// number with which a list begins.
const SIGNS: &[u8] = b"-:=<>|`[${1";
/// Words that give a secret away, beside names and providers' marks.
const WORDS: [&str; 18] = [
    "bearer",
    "basic",
    "eyJ",
    "Private-Lines:",
    "mnemonic",
    "phrase",
    "seed",
    "login",
    "log in",
    "logged in",
    "sign in",
    "signed in",
    "auth",
    "send",
    "net use",
    "schtasks",
    "cmdkey",
    "htpasswd",
];

/// Where something may begin, by the next three bytes: nearly every place of a
/// text is passed over by one look.
struct Places {
    signs: [bool; 256],
    /// A bit for each three letters, whatever their case.
    letters: Box<[u64; 512]>,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let mut places = Places {
        signs: std::array::from_fn(|byte| SIGNS.contains(&(byte as u8)) || is_wide(byte as u8)),
        letters: Box::new([0; 512]),
    };
    let names = follows::STEMS.into_iter().chain(tongues::spaced());
    let marks = vendors::marks().chain(address::NUMBERS);
    for word in names.chain(marks).chain(WORDS).chain(encoded::MARKS) {
        match *word.as_bytes() {
            [a, b, c, ..] => places.add([a, b, c]),
            [a, b] => (0..32).for_each(|c| places.add([a, b, c])),
            _ => {}
        }
    }
    places
});

/// Whether a byte begins a character of three bytes.
fn is_wide(byte: u8) -> bool {
    matches!(byte, 0xe2..=0xef)
}

impl Places {
    /// Letters of either case have their last five bits in common.
    fn bit(word: [u8; 3]) -> (usize, u32) {
        let [a, b, c] = word.map(|byte| usize::from(byte & 31));
        let bit = a << 10 | b << 5 | c;
        (bit >> 6, (bit & 63) as u32)
    }

    fn add(&mut self, word: [u8; 3]) {
        let (row, bit) = Places::bit(word);
        self.letters[row] |= 1 << bit;
    }

    fn may_begin(&self, bytes: &[u8], at: usize) -> bool {
        let first = bytes[at];
        let next = |step: usize| bytes.get(at + step).copied().unwrap_or(0);
        let (row, bit) = Places::bit([first, next(1), next(2)]);
        self.letters[row] >> bit & 1 == 1 && !is_wide(first) || self.signs[usize::from(first)]
    }
}

/// The secrets of a text, in their order.
pub(super) struct Scan<'a> {
    redactor: &'a Redactor,
    bytes: &'a [u8],
    places: &'static Places,
    at: usize,
    /// What was found ahead, the last of it first.
    ahead: Vec<Span>,
    /// The ends of private keys without their beginnings, the last first.
    tails: Vec<Span>,
    /// Where the last table of separated values ends, so that none of its rows
    /// is read as the top of another.
    read: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(redactor: &'a Redactor, text: &'a str) -> Scan<'a> {
        Scan {
            redactor,
            bytes: text.as_bytes(),
            places: &PLACES,
            at: 0,
            ahead: Vec::new(),
            tails: armour::tails(text.as_bytes()),
            read: 0,
        }
    }

    /// What is listed behind or below this place, if its name tells of secrets.
    fn list(&mut self, at: usize) -> Option<Span> {
        if !self.ahead.is_empty() {
            return None;
        }
        self.ahead = match self.bytes[at] {
            b':' | b'=' => self.redactor.listed(self.bytes, at),
            b'|' => self.redactor.columns(self.bytes, at),
            b'<' => fed::here_document(self.bytes, at),
            0xe2 => self.redactor.boxed(self.bytes, at),
            byte if byte.is_ascii_alphabetic() => self.rows(at)?,
            _ => return None,
        };
        self.ahead.reverse();
        self.ahead.pop()
    }

    /// The values below or behind the names of their columns, one of which
    /// begins at this place.
    fn rows(&mut self, at: usize) -> Option<Vec<Span>> {
        let inserted = self.redactor.inserted(self.bytes, at);
        if !inserted.is_empty() {
            return Some(inserted);
        }
        let table = (at >= self.read).then(|| self.redactor.separated(self.bytes, at))??;
        self.read = table.end;
        Some(table.found)
    }

    /// A value may itself begin with a provider's mark, which says more than
    /// the name beside it.
    fn better(&self, span: Span) -> Span {
        let named = matches!(
            span.kind,
            Kind::Secret | Kind::Password | Kind::Bearer | Kind::UrlPassword
        );
        let better = named.then(|| self.here(span.start)).flatten();
        better
            .filter(|b| b.start == span.start && b.end >= span.end)
            .unwrap_or(span)
    }

    /// The secret that is given away at this place.
    fn here(&self, at: usize) -> Option<Span> {
        let bytes = self.bytes;
        let redactor = self.redactor;
        let span = |kind: Kind, end: usize| Span {
            kind,
            start: at,
            end,
        };
        match bytes[at] {
            b'-' => match bytes.get(at + 1) {
                Some(b'-') => armour::private_key(bytes, at)
                    .map(|end| span(Kind::PrivateKey, end))
                    .or_else(|| redactor.option(bytes, at))
                    .or_else(|| command::argument(bytes, at)),
                _ => command::argument(bytes, at),
            },
            b':' => address::in_address(bytes, at)
                .or_else(|| address::in_source_name(bytes, at))
                .or_else(|| address::telegram(bytes, at))
                .or_else(|| stores::pgpass(bytes, at))
                .or_else(|| redactor.assigned(bytes, at))
                .or_else(|| redactor.paired(bytes, at)),
            b'=' => {
                let assigned = redactor.assigned(bytes, at);
                assigned
                    .or_else(|| redactor.paired(bytes, at))
                    .or_else(|| redactor.declared(bytes, at))
            }
            b'<' => fed::here_string(bytes, at).or_else(|| redactor.behind_arrow(bytes, at)),
            b'>' => redactor
                .tagged(bytes, at)
                .or_else(|| logins::of_access_list(bytes, at)),
            b'|' => redactor.cell(bytes, at).or_else(|| fed::piped(bytes, at)),
            b'`' => redactor.code(bytes, at),
            b'$' => stores::hash(bytes, at),
            b'1' => vendors::find(bytes, at)
                .map(|found| span(found.kind, found.end))
                .or_else(|| phrases::numbered(bytes, at)),
            b'{' => stores::scheme(bytes, at),
            // What begins a character of three bytes.
            0xe2..=0xef => beside::linked(bytes, at)
                .or_else(|| redactor.wide(bytes, at))
                .or_else(|| beside::apart(bytes, at))
                .or_else(|| before::joined(bytes, at)),
            _ => vendors::find(bytes, at)
                .map(|found| span(found.kind, found.end))
                .or_else(|| self.word(at)),
        }
    }

    /// The same where a word begins that is no provider's mark.
    fn word(&self, at: usize) -> Option<Span> {
        let bytes = self.bytes;
        let found = match bytes[at] {
            b'a' | b'A' => logins::auth(bytes, at),
            b'b' | b'B' => address::bearer(bytes, at),
            b'l' => logins::called(bytes, at),
            b'L' => encoded::private_key(bytes, at).map(|end| Span {
                kind: Kind::PrivateKey,
                start: at,
                end,
            }),
            b'M' | b'N' | b'O' => {
                address::discord(bytes, at).or_else(|| windows::command(bytes, at))
            }
            b'n' | b'c' | b'C' => windows::command(bytes, at),
            b's' | b'S' => windows::command(bytes, at).or_else(|| expect::sent(bytes, at)),
            b'e' if vendors::is_word_start(bytes, at) => {
                armour::web_token(bytes, at).map(|end| Span {
                    kind: Kind::Jwt,
                    start: at,
                    end,
                })
            }
            b'P' if bytes[at..].starts_with(b"Private-Lines:") => {
                armour::putty_key(bytes, at).map(|(start, end)| Span {
                    kind: Kind::PrivateKey,
                    start,
                    end,
                })
            }
            b'h' => put::into_file(bytes, at),
            b'p' if bytes[at..].starts_with(b"password ") => markup::netrc(bytes, at),
            _ => None,
        };
        found
            .or_else(|| self.redactor.following(bytes, at))
            .or_else(|| phrases::wallet(bytes, at))
            .or_else(|| spoken::logged_in(bytes, at))
            .or_else(|| turns::passed(bytes, at))
    }

    /// Returns a secret, and remembers the pieces in which it goes on.
    fn found(&mut self, at: usize, span: Span) -> Span {
        let span = self.better(span);
        self.at = span.end.max(at + 1);
        let mut pieces = pieces::behind(self.bytes, span);
        pieces.retain(|piece| self.ahead.iter().all(|other| piece.start != other.start));
        pieces.reverse();
        self.ahead.append(&mut pieces);
        span
    }
}

impl Iterator for Scan<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let at = self.at;
            if self.tails.last().is_some_and(|span| span.start <= at)
                && let Some(span) = self.tails.pop()
            {
                // What was replaced before may reach into it.
                if span.end <= at {
                    continue;
                }
                self.at = span.end;
                return Some(Span { start: at, ..span });
            }
            if self.ahead.last().is_some_and(|span| span.start <= at)
                && let Some(span) = self.ahead.pop()
            {
                if span.start < at {
                    continue;
                }
                return Some(self.found(at, span));
            }
            if !self.places.may_begin(self.bytes, at) {
                self.at += 1;
                continue;
            }
            // What stands for a secret is none.
            if byte == b'[' {
                self.at += placeholder(&self.bytes[at..]).unwrap_or(1);
                continue;
            }
            match self.here(at).or_else(|| self.list(at)) {
                Some(span) => return Some(self.found(at, span)),
                None => self.at += 1,
            }
        }
        None
    }
}

/// The length of the placeholder at the beginning.
fn placeholder(bytes: &[u8]) -> Option<usize> {
    const OPEN: &[u8] = b"[redacted:";
    let inner = bytes.strip_prefix(OPEN)?;
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'#');
    let length = inner.iter().take(40).take_while(part).count();
    let closed = usize::from(inner.get(length) == Some(&b']')) * (length + 1);
    Some(OPEN.len() + closed)
}
