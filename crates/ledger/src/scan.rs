//! Finds exact identifiers in a sentence.

use crate::facts::AnchorKind;
use crate::words::marks::{NUMBER_LABELS, NUMBER_UNITS};

/// An identifier and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) text: &'a str,
    pub(crate) kind: AnchorKind,
    pub(crate) at: usize,
}

const LONGEST: usize = 300;

/// Every identifier of a sentence, in order.
pub(crate) fn scan(sentence: &str) -> Vec<Found<'_>> {
    let mut out = Vec::new();
    let mut rest = 0;
    // Code spans first: what stands between two backticks is one thing.
    while let Some(open) = sentence[rest..].find('`').map(|at| rest + at) {
        plain(sentence, rest, open, &mut out);
        let Some(close) = sentence[open + 1..].find('`').map(|at| open + 1 + at) else {
            rest = open + 1;
            continue;
        };
        let code = sentence[open + 1..close].trim();
        if !code.is_empty() && code.len() <= 120 && !code.contains('\n') {
            let kind = classify(code, "", "").unwrap_or(AnchorKind::Name);
            let at = open
                + 1
                + (sentence[open + 1..close].len() - sentence[open + 1..close].trim_start().len());
            out.push(Found {
                text: code,
                kind,
                at,
            });
        }
        rest = close + 1;
    }
    plain(sentence, rest, sentence.len(), &mut out);
    out
}

/// Identifiers among the words of a part without code spans.
fn plain<'a>(sentence: &'a str, from: usize, to: usize, out: &mut Vec<Found<'a>>) {
    let part = &sentence[from..to];
    let mut before = "";
    let mut words = part.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let next = words.peek().copied().unwrap_or("");
        // Only what has a digit, a slash, an @ or a # can be one.
        if word
            .bytes()
            .any(|byte| byte.is_ascii_digit() || matches!(byte, b'/' | b'@' | b'#'))
        {
            for piece in word.split(|c: char| {
                matches!(
                    c,
                    '"' | '“' | '”' | '，' | '。' | '、' | '；' | '：' | '（' | '）' | '|'
                ) || crate::text::is_cjk(c)
            }) {
                let text = trim(piece);
                if text.len() >= 2
                    && text.len() <= LONGEST
                    && let Some(kind) = classify(text, before, next)
                {
                    let at = text.as_ptr() as usize - sentence.as_ptr() as usize;
                    out.push(Found { text, kind, at });
                }
            }
        }
        before = word;
    }
}

fn trim(word: &str) -> &str {
    let text = word.trim_matches(|c: char| {
        matches!(
            c,
            '(' | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '<'
                | '>'
                | '\''
                | '’'
                | '‘'
                | ','
                | ';'
                | '!'
                | '?'
                | '*'
                | '…'
                | '«'
                | '»'
                | '„'
        )
    });
    let text = text.trim_end_matches(['.', ':', ',', ')', '\'', '*', '_']);
    text.trim_start_matches('=')
}

/// What a word is, given its neighbours.
fn classify(text: &str, before: &str, next: &str) -> Option<AnchorKind> {
    if text.contains("://") {
        return (text.len() > 8).then_some(AnchorKind::Url);
    }
    if let Some((name, host)) = text.split_once('@') {
        let mail =
            !name.is_empty() && host.contains('.') && !host.starts_with('.') && !text.contains('/');
        if mail {
            return Some(AnchorKind::Id);
        }
    }
    if is_uuid(text) || is_hash(text) {
        return Some(AnchorKind::Hash);
    }
    if is_ticket(text) {
        return Some(AnchorKind::Id);
    }
    if let Some(kind) = number(text, before, next) {
        return Some(kind);
    }
    if is_path(text) {
        return Some(AnchorKind::Path);
    }
    if is_id(text) {
        return Some(AnchorKind::Id);
    }
    None
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn is_hash(text: &str) -> bool {
    let body = text.strip_prefix("sha256:").unwrap_or(text);
    body.len() >= 7
        && body.len() <= 128
        && body.bytes().all(|byte| byte.is_ascii_hexdigit())
        && body.bytes().any(|byte| byte.is_ascii_digit())
        && body.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_ticket(text: &str) -> bool {
    if let Some(number) = text.strip_prefix('#') {
        return !number.is_empty()
            && number.len() <= 9
            && number.bytes().all(|byte| byte.is_ascii_digit());
    }
    let Some((name, number)) = text.rsplit_once('-') else {
        return false;
    };
    (2..=12).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
        && name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_uppercase())
        && (1..=9).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Versions, addresses, and numbers that mean something.
fn number(text: &str, before: &str, next: &str) -> Option<AnchorKind> {
    let label = before
        .trim_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    let body = text
        .strip_prefix(['v', 'V'])
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        .unwrap_or(text);
    let digits = body
        .bytes()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        let money = text.strip_prefix(['$', '€', '£'])?;
        return (money
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'.' || b == b',')
            && !money.is_empty())
        .then_some(AnchorKind::Number);
    }
    let dots = body.bytes().filter(|byte| *byte == b'.').count();
    let numeric = body
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if numeric && !body.ends_with('.') && !body.contains("..") {
        if dots == 3 {
            return Some(AnchorKind::Id);
        }
        if dots == 2
            || (dots == 1
                && (body.len() < text.len()
                    || matches!(label.as_str(), "version" | "release" | "versions")))
        {
            return Some(AnchorKind::Version);
        }
    }
    if body.len() < text.len() && numeric && dots == 0 {
        return Some(AnchorKind::Version);
    }
    // 1.2.3-rc.1, 1.2.3+build
    if dots >= 2
        && let Some((core, _)) = body.split_once(['-', '+'])
        && core
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return Some(AnchorKind::Version);
    }
    // 127.0.0.1:8443 and host:8443 have their port with them.
    if let Some((host, port)) = text.rsplit_once(':')
        && (2..=5).contains(&port.len())
        && port.bytes().all(|byte| byte.is_ascii_digit())
        && host.bytes().filter(|byte| *byte == b'.').count() == 3
    {
        return Some(AnchorKind::Id);
    }
    let plain = body
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'_'));
    if plain {
        let unit = next
            .trim_matches(|c: char| matches!(c, ',' | '.' | ';' | ')' | ':' | '!' | '?'))
            .to_lowercase();
        let meant = NUMBER_LABELS.contains(&label.as_str())
            || NUMBER_UNITS.contains(&unit.as_str())
            || digits >= 4 && dots == 0;
        return (meant && body.len() >= 2).then_some(AnchorKind::Number);
    }
    // 250ms, 12GB, 45%
    let suffix = body.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    (!suffix.is_empty() && NUMBER_UNITS.contains(&suffix.to_lowercase().as_str()))
        .then_some(AnchorKind::Number)
}

fn is_path(text: &str) -> bool {
    let Some(slash) = text.find('/') else {
        return false;
    };
    if !text
        .chars()
        .all(|c| c.is_alphanumeric() || "/._-~@+$#[]()=:%".contains(c))
        || text.contains("//")
    {
        return false;
    }
    let rooted = text.starts_with('/')
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with("~/");
    let name = text.rsplit('/').next().unwrap_or("");
    let extension = name
        .rfind('.')
        .is_some_and(|dot| dot + 1 < name.len() && name.len() - dot <= 8);
    (rooted && text.len() > 3 && text[1..].bytes().any(|b| b.is_ascii_alphabetic()))
        || (extension && slash > 0)
        || (slash > 0 && text.matches('/').count() >= 2 && text.is_ascii())
}

/// `req_8f2c1a`, `sg-0a1b2c3d`, `E-41-9af3`: letters and digits joined.
fn is_id(text: &str) -> bool {
    text.len() >= 5
        && text.len() <= 80
        && text.contains(['_', '-', ':'])
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'.'))
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.split(['_', '-', ':']).any(|part| {
            part.bytes().any(|byte| byte.is_ascii_digit())
                && (part.len() >= 4
                    || part.bytes().all(|byte| byte.is_ascii_digit()) && part.len() >= 2)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(&str, AnchorKind)> {
        scan(text)
            .into_iter()
            .map(|found| (found.text, found.kind))
            .collect()
    }

    #[test]
    fn identifiers_are_found_and_named() {
        use AnchorKind::*;
        let table: &[(&str, &[(&str, AnchorKind)])] = &[
            ("See https://x.org/a?b=1.", &[("https://x.org/a?b=1", Url)]),
            ("It listens on port 8443.", &[("8443", Number)]),
            ("commit 9f3c2ab, please", &[("9f3c2ab", Hash)]),
            ("Ticket ABC-123 and #42", &[("ABC-123", Id), ("#42", Id)]),
            (
                "use v1.2.3 or 2.0.1-rc.1",
                &[("v1.2.3", Version), ("2.0.1-rc.1", Version)],
            ),
            (
                "the tenant 123e4567-e89b-12d3-a456-426614174000",
                &[("123e4567-e89b-12d3-a456-426614174000", Hash)],
            ),
            (
                "it took 4123.7 ms, 250ms less",
                &[("4123.7", Number), ("250ms", Number)],
            ),
            (
                "look at src/a.rs and /var/lib/x/y.db",
                &[("src/a.rs", Path), ("/var/lib/x/y.db", Path)],
            ),
            (
                "`foo_bar` in `src/b.rs`",
                &[("foo_bar", Name), ("src/b.rs", Path)],
            ),
            (
                "request req_1a2b3c4d and group sg-0a1b2c3d",
                &[("req_1a2b3c4d", Id), ("sg-0a1b2c3d", Id)],
            ),
            (
                "ask ada@example.org at 10.0.0.1:8080",
                &[("ada@example.org", Id), ("10.0.0.1:8080", Id)],
            ),
            ("例如 PAY-4711。", &[("PAY-4711", Id)]),
            ("and/or 3 things", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(kinds(text), *expected, "{text}");
        }
    }
}
