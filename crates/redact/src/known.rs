//! Secrets that are replaced wherever they stand, once they are known.

use memchr::memmem::Finder;

use super::Kind;
use super::fragments::Fragments;

/// Secrets of this length stand for nothing else; shorter ones are replaced
/// between the borders of words, and only if they have more than letters.
const LONG: usize = 12;
/// What is shorter may stand elsewhere for anything.
const SHORT: usize = 6;
/// So many are looked for, so that time stays linear in the text.
const MOST: usize = 200;
/// No placeholder is longer.
const PLACEHOLDER: usize = 40;

/// The known secrets that are looked for, each with its placeholder.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    /// The longest first: what is part of another must not tear it.
    secrets: Vec<Secret>,
    /// What they are known by where only a piece of one stands.
    fragments: Fragments,
}

#[derive(Debug, Clone)]
struct Secret {
    finder: Finder<'static>,
    placeholder: String,
}

impl Secret {
    fn len(&self) -> usize {
        self.finder.needle().len()
    }
}

impl Known {
    /// From now on the secret is replaced wherever it stands.
    pub(super) fn learn(&mut self, secret: &str, placeholder: &str) {
        self.fragments.learn(secret, placeholder);
        let telling = secret.len() >= LONG
            || secret.len() >= SHORT && !secret.bytes().all(|b| b.is_ascii_alphabetic());
        if !telling || secret.contains('\n') || self.secrets.len() >= MOST {
            return;
        }
        let place = self
            .secrets
            .partition_point(|known| known.len() >= secret.len());
        let secret = Secret {
            finder: Finder::new(secret).into_owned(),
            placeholder: placeholder.to_owned(),
        };
        self.secrets.insert(place, secret);
    }

    /// The text with placeholders for the secrets in it, if there are any, and
    /// how many of each kind there were.
    pub(super) fn replace(&self, text: &str) -> Option<(String, Vec<(Kind, u64)>)> {
        let mut changed: Option<String> = None;
        let mut found = Vec::new();
        for secret in &self.secrets {
            let old = changed.as_deref().unwrap_or(text);
            let Some((new, hits)) = each(old, secret) else {
                continue;
            };
            found.extend(Kind::of_placeholder(&secret.placeholder).map(|kind| (kind, hits)));
            changed = Some(new);
        }
        let old = changed.as_deref().unwrap_or(text);
        if let Some((new, pieces)) = self.fragments.replace(old) {
            found.extend(pieces);
            changed = Some(new);
        }
        changed.map(|text| (text, found))
    }
}

/// The text with a placeholder in each place of one secret, and their number.
fn each(text: &str, secret: &Secret) -> Option<(String, u64)> {
    let mut out = String::new();
    let (mut from, mut hits) = (0, 0);
    for at in secret.finder.find_iter(text.as_bytes()) {
        let end = at + secret.len();
        if secret.len() < LONG && !is_apart(text, at, end) || is_placeholder(text, at) {
            continue;
        }
        out.push_str(&text[from..at]);
        out.push_str(&secret.placeholder);
        from = end;
        hits += 1;
    }
    (hits > 0).then(|| {
        out.push_str(&text[from..]);
        (out, hits)
    })
}

/// Whether no word goes on before or behind.
fn is_apart(text: &str, start: usize, end: usize) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..start].chars().next_back();
    let after = text[end..].chars().next();
    // The letter of an escape ends no word: `\nhunter2`.
    let escape = start >= 2 && text.as_bytes()[start - 2] == b'\\';
    (escape || !before.is_some_and(part)) && !after.is_some_and(part)
}

/// Whether the place is inside of a placeholder, whose words are no secrets.
fn is_placeholder(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[at.saturating_sub(PLACEHOLDER)..at];
    let open = memchr::memmem::rfind(before, b"[redacted:");
    open.is_some_and(|open| !before[open..].contains(&b']'))
}
