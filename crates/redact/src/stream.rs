//! A text that comes in chunks: no more of it is held than a secret and what
//! gives it away can need.

use super::document::{Document, Tally};
use super::value::floor;

/// What is behind a secret, or before it, by so many bytes says nothing about it;
/// a private key is half as long.
const BOUND: usize = 128 * 1024;
/// So many bounds are redacted at once: what is around them is read twice.
const AT_ONCE: usize = 8;

/// Redacts a text that comes in chunks.
///
/// The result is that of the whole text, wherever the chunks end, for secrets
/// that are given away within 128 KiB of where they stand. A secret that is only
/// given away later stays where it stood without that, since it was written
/// already. Bytes that are no text stay, and divide one text from the next.
#[derive(Debug)]
pub struct Stream<'a> {
    document: Document<'a>,
    /// What was given out last, for what it says about the rest, and the rest.
    text: String,
    given: usize,
    /// The beginning of a character of which the end has not come yet.
    begun: Vec<u8>,
    bound: usize,
}

impl<'a> Stream<'a> {
    pub(super) fn new(document: Document<'a>) -> Stream<'a> {
        Stream {
            document,
            text: String::new(),
            given: 0,
            begun: Vec::new(),
            bound: BOUND,
        }
    }

    /// Takes the next chunk, and gives what is redacted so far.
    pub fn push(&mut self, chunk: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(chunk);
        let mut read = 0;
        for piece in bytes.utf8_chunks() {
            self.text.push_str(piece.valid());
            let invalid = piece.invalid();
            read += piece.valid().len() + invalid.len();
            let begins = std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if begins && read == bytes.len() {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.end(&mut out);
                out.extend_from_slice(invalid);
            }
        }
        while self.text.len() - self.given > (AT_ONCE + 1) * self.bound {
            self.give(self.border(), &mut out);
        }
        out
    }

    /// Gives what is left of the text, and how many secrets were replaced.
    pub fn finish(mut self) -> (Vec<u8>, Tally) {
        let mut out = Vec::new();
        self.end(&mut out);
        out.append(&mut self.begun);
        (out, self.document.tally())
    }

    /// The last end of a line, or else of a word, behind which enough stands.
    fn border(&self) -> usize {
        let last = floor(&self.text, self.text.len() - self.bound);
        let held = &self.text[self.given..last];
        let line = held.rfind('\n').or_else(|| held.rfind(' '));
        line.map_or(last, |at| self.given + at + 1)
    }

    /// Gives the text up to `end` or the secret that reaches beyond it.
    fn give(&mut self, end: usize, out: &mut Vec<u8>) {
        let (text, end) = self.document.part(&self.text, self.given..end);
        out.extend_from_slice(&text.as_bytes()[self.given..end]);
        let near = floor(&text, end.saturating_sub(self.bound));
        let from = text[near..end].find('\n').map_or(near, |at| near + at + 1);
        let rest = text[from..].to_owned();
        drop(text);
        (self.given, self.text) = (end - from, rest);
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.give(self.text.len(), out);
        (self.given, self.text) = (0, String::new());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Redactor;

    /// Lines with a secret that nothing farther than themselves gives away.
    fn block() -> impl Strategy<Value = String> {
        let secret = "[A-Z][a-z]{3}[0-9][A-Z]{2}[a-z]{4}[0-9]{2}[A-Z]{3}[a-z][0-9][a-z]{5}[0-9]";
        (0..9, secret, 1..6usize).prop_map(|(form, secret, count)| match form {
            0 => format!("API_TOKEN={secret}\n"),
            1 => format!("db:\n  password: {secret}\n  host: é\n"),
            2 => format!("push with ghp_{secret}{} now\n", &secret[..12]),
            3 => format!("{{\"client_secret\":\"{secret}\",\"n\":{count}}}\n"),
            4 => format!("postgres://app:{secret}@db/shop\n"),
            5 => {
                let line = format!("{secret}{secret}/+4x\n").repeat(count);
                format!("-----BEGIN PRIVATE KEY-----\n{line}-----END PRIVATE KEY-----\n\n")
            }
            6 => format!("| user | password |\n|--|--|\n| bob | {secret} |\n\n"),
            7 => "2026-11-19T04:12:07Z INFO listening on 127.0.0.1:8080 «ß»\n".repeat(count),
            _ => format!(
                "the words of a line that is long and has none {}\n",
                "é".repeat(count * 9)
            ),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn chunks_give_what_the_whole_text_gives_where_the_bound_is_kept(
            blocks in prop::collection::vec(block(), 1..120),
            size in 1..900usize,
        ) {
            let text = blocks.concat();
            let redactor = Redactor::default();
            let mut stream = Stream { bound: 512, ..redactor.stream() };
            let mut out = Vec::new();
            for chunk in text.as_bytes().chunks(size) {
                out.extend(stream.push(chunk));
                prop_assert!(stream.text.len() <= (AT_ONCE + 2) * 512 + size);
            }
            let (rest, tally) = stream.finish();
            out.extend(rest);
            let whole = redactor.redact(&text);
            prop_assert_eq!(String::from_utf8(out).unwrap(), whole.text);
            prop_assert_eq!(tally.total(), whole.found.len() as u64);
        }
    }
}
