//! Scripts that wait for a prompt and answer it: `expect "*assword:*"` and then
//! `send "x\r"`.

use super::Kind;
use super::command::is_given;
use super::value::Span;
use super::vendors::is_word_start;

/// How far back the prompt is looked for, and how long an answer may be.
const REACH: usize = 256;

/// The password that the `send` at `at` answers a prompt with.
pub(super) fn sent(bytes: &[u8], at: usize) -> Option<Span> {
    if !bytes[at..].starts_with(b"send") || !is_word_start(bytes, at) {
        return None;
    }
    let lined = bytes[at..].starts_with(b"sendline");
    let end = at
        + if lined {
            "sendline".len()
        } else {
            "send".len()
        };
    let open = end
        + [" -- ", "(", " "]
            .iter()
            .find(|gap| bytes[end..].starts_with(gap.as_bytes()))?
            .len();
    let quote = *bytes.get(open).filter(|b| matches!(b, b'"' | b'\''))?;
    let start = open + 1;
    let rest = &bytes[start..bytes.len().min(start + REACH)];
    let inner = &rest[..memchr::memchr2(quote, b'\n', rest)?];
    let text = without_return(inner);
    // What is not ended by a return is not entered.
    let entered = lined || text.len() < inner.len();
    let one = !text.iter().any(u8::is_ascii_whitespace);
    let given = entered && one && is_given(text) && is_asked_for(bytes, at);
    given.then_some(Span {
        kind: Kind::Password,
        start,
        end: start + text.len(),
    })
}

fn without_return(mut text: &[u8]) -> &[u8] {
    while let Some(shorter) = text
        .strip_suffix(b"\\r")
        .or_else(|| text.strip_suffix(b"\\n"))
        .or_else(|| text.strip_suffix(b"\r"))
    {
        text = shorter;
    }
    text
}

/// Whether the prompt that was waited for last before `at` is one for a
/// password: behind it nothing else is waited for or answered.
fn is_asked_for(bytes: &[u8], at: usize) -> bool {
    const NAMES: [&str; 3] = ["assword", "assphrase", "asswort"];
    let before = bytes[at.saturating_sub(REACH)..at].to_ascii_lowercase();
    let last = |word: &str| memchr::memmem::rfind(&before, word.as_bytes());
    let asked = NAMES.iter().filter_map(|name| last(name)).max();
    let answered = last("send ").max(last("sendline")).max(last("send("));
    let waited = last("expect");
    waited.is_some() && asked > waited && asked > answered
}
