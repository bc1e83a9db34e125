//! Pieces of known secrets: a line of a private key, half of a token, the
//! beginning that a cut left over.
//!
//! What is made of a text quotes it in lines and cuts it to a length, and no
//! such piece can be known for a secret by itself. So every window of so many
//! bytes that is random is remembered of each secret; where one
//! stands, the piece around it goes.

use std::collections::HashMap;

use super::Kind;

/// Pieces of this length stand for nothing else.
const PIECE: usize = 12;
/// No more bytes of secrets are remembered, some forty keys.
const MOST: usize = 128 * 1024;
/// Between two parts of what is remembered.
const END: u8 = b'\n';

/// The pieces by which secrets are known.
#[derive(Debug, Default, Clone)]
pub(super) struct Fragments {
    /// The secrets' parts, each behind an [`END`].
    parts: Vec<u8>,
    /// Where the secrets begin in them, with their placeholders.
    secrets: Vec<(usize, String)>,
    /// Where a window stands in the parts.
    windows: HashMap<[u8; PIECE], usize>,
}

impl Fragments {
    /// From now on pieces of the secret are replaced wherever they stand.
    pub(super) fn learn(&mut self, secret: &str, placeholder: &str) {
        if self.parts.len() + secret.len() > MOST {
            return;
        }
        let start = self.parts.len();
        for part in parts(secret).filter(|part| part.len() >= PIECE) {
            self.parts.push(END);
            let from = self.parts.len();
            self.parts.extend_from_slice(part.as_bytes());
            for at in from..=self.parts.len() - PIECE {
                if let Some(window) = window(&self.parts, at).filter(is_random) {
                    self.windows.entry(window).or_insert(at);
                }
            }
        }
        if self.parts.len() > start {
            self.secrets.push((start, placeholder.to_owned()));
        }
    }

    /// The text with placeholders for the pieces in it, if there are any, and
    /// how many of each kind there were.
    pub(super) fn replace(&self, text: &str) -> Option<(String, Vec<(Kind, u64)>)> {
        if self.windows.is_empty() {
            return None;
        }
        let bytes = text.as_bytes();
        let mut out = String::new();
        let mut found = Vec::new();
        let (mut from, mut at) = (0, 0);
        while let Some(window) = window(bytes, at) {
            // Where a run is broken within the window, none begins before that.
            if let Some(place) = window.iter().rposition(|byte| !is_part(*byte)) {
                at += place + 1;
                continue;
            }
            let Some(piece) = self.piece(bytes, at, from) else {
                at += 1;
                continue;
            };
            out.push_str(&text[from..piece.start]);
            out.push_str(piece.placeholder);
            found.extend(Kind::of_placeholder(piece.placeholder).map(|kind| (kind, 1)));
            from = piece.end;
            at = piece.end;
        }
        (from > 0).then(|| {
            out.push_str(&text[from..]);
            (out, found)
        })
    }

    /// The piece of a secret of which a window stands at `at`, none of it before
    /// `floor`.
    fn piece(&self, text: &[u8], at: usize, floor: usize) -> Option<Piece<'_>> {
        let known = *self.windows.get(&window(text, at)?)?;
        let same = |(a, b): &(&u8, &u8)| a == b && **a != END;
        let before = text[floor..at].iter().rev();
        let before = before.zip(self.parts[..known].iter().rev());
        let after = text[at..].iter().zip(&self.parts[known..]);
        let secret = self.secrets.partition_point(|(start, _)| *start <= known);
        Some(Piece {
            start: at - before.take_while(same).count(),
            end: at + after.take_while(same).count(),
            placeholder: &self.secrets.get(secret.checked_sub(1)?)?.1,
        })
    }
}

/// A piece of a secret in a text.
struct Piece<'a> {
    start: usize,
    end: usize,
    placeholder: &'a str,
}

fn window(bytes: &[u8], at: usize) -> Option<[u8; PIECE]> {
    bytes.get(at..at + PIECE)?.try_into().ok()
}

/// The runs of a secret, between blanks, line ends and other signs. The letter
/// of a line end that is written as one begins none.
fn parts(secret: &str) -> impl Iterator<Item = &str> {
    let lines = secret.split("\\n").flat_map(|line| line.split("\\r"));
    lines.flat_map(|line| line.split(|c: char| !c.is_ascii() || !is_part(c as u8)))
}

/// Whether keys are made of such bytes.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-' | b'.' | b'~' | b'%')
}

/// Whether a window is random: capitals, small letters and digits
/// change as they do in no word, date or name.
fn is_random(window: &[u8; PIECE]) -> bool {
    let class = |byte: u8| match byte {
        b'a'..=b'z' => 0,
        b'A'..=b'Z' => 1,
        b'0'..=b'9' => 2,
        _ => 3,
    };
    let changes = window.windows(2).filter(|pair| {
        let (one, two) = (class(pair[0]), class(pair[1]));
        one != two && one < 3 && two < 3
    });
    // The words of a name have capitals too.
    let least = match window.iter().any(u8::is_ascii_digit) {
        true => 4,
        false => 6,
    };
    changes.count() >= least
}
