//! One pass over a text, from the first byte to the last.

use super::value::Span;
use super::{Kind, Redactor, address, armour, beside, command, markup, prefixed};

/// The first secret at or after `from`.
pub(super) struct Scan<'a> {
    redactor: &'a Redactor,
    bytes: &'a [u8],
    at: usize,
    /// What was found ahead, in a list, the last of it first.
    ahead: Vec<Span>,
}

impl<'a> Scan<'a> {
    pub(super) fn new(redactor: &'a Redactor, text: &'a str) -> Scan<'a> {
        Scan {
            redactor,
            bytes: text.as_bytes(),
            at: 0,
            ahead: Vec::new(),
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
            _ => return None,
        };
        self.ahead.reverse();
        self.ahead.pop()
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

    fn here(&self, at: usize) -> Option<Span> {
        let bytes = self.bytes;
        let span = |kind: Kind, end: usize| Span {
            kind,
            start: at,
            end,
        };
        match bytes[at] {
            b'-' => match bytes.get(at + 1) {
                Some(b'-') => armour::private_key(bytes, at)
                    .map(|end| span(Kind::PrivateKey, end))
                    .or_else(|| self.redactor.option(bytes, at))
                    .or_else(|| command::argument(bytes, at)),
                _ => command::argument(bytes, at),
            },
            b':' => address::in_address(bytes, at)
                .or_else(|| address::telegram(bytes, at))
                .or_else(|| self.redactor.assigned(bytes, at))
                .or_else(|| self.redactor.paired(bytes, at)),
            b'=' => {
                let assigned = self.redactor.assigned(bytes, at);
                assigned.or_else(|| self.redactor.paired(bytes, at))
            }
            b'>' => self.redactor.tagged(bytes, at),
            b'p' if bytes[at..].starts_with(b"password ") => markup::netrc(bytes, at),
            b'|' => self.redactor.cell(bytes, at),
            b'`' => self.redactor.code(bytes, at),
            b'b' | b'B' => address::bearer(bytes, at).or_else(|| self.redactor.spoken(bytes, at)),
            b'i' | b'w' if at > 0 && bytes[at - 1] == b' ' => {
                let spoken = self.redactor.spoken(bytes, at);
                spoken.or_else(|| prefixed::find(bytes, at).map(|f| span(f.kind, f.end)))
            }
            b'e' if prefixed::is_word_start(bytes, at) => {
                armour::web_token(bytes, at).map(|end| span(Kind::Jwt, end))
            }
            // What begins a character of three bytes.
            0xe2..=0xef => beside::linked(bytes, at).or_else(|| self.redactor.wide(bytes, at)),
            b'P' if bytes[at..].starts_with(b"Private-Lines:") => {
                armour::putty_key(bytes, at).map(|(start, end)| Span {
                    kind: Kind::PrivateKey,
                    start,
                    end,
                })
            }
            byte if byte.is_ascii_alphanumeric() => {
                prefixed::find(bytes, at).map(|found| span(found.kind, found.end))
            }
            _ => None,
        }
    }
}

impl Iterator for Scan<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        while self.at < self.bytes.len() {
            let at = self.at;
            if self.ahead.last().is_some_and(|span| span.start <= at)
                && let Some(span) = self.ahead.pop()
            {
                if span.start < at {
                    continue;
                }
                let span = self.better(span);
                self.at = span.end;
                return Some(span);
            }
            // What stands for a secret is none.
            if self.bytes[at..].starts_with(b"[redacted:") {
                self.at += "[redacted:".len();
                continue;
            }
            match self.here(at).or_else(|| self.list(at)) {
                Some(span) => {
                    let span = self.better(span);
                    self.at = span.end.max(at + 1);
                    return Some(span);
                }
                None => self.at += 1,
            }
        }
        None
    }
}
