//! Passwords that tests of pages enter into a field, which a selector names:
//! `page.fill("#password", "x")`, `cy.get("#password").type("x")`.

use super::follows::Name;
use super::names::Promise;
use super::value::{Span, blanks, value};

/// How far back the call is looked for to which a selector is given.
const SELECTOR: usize = 48;

/// Calls that enter a text.
const CALLS: [&str; 9] = [
    "fill",
    "type",
    "setValue",
    "sendKeys",
    "send_keys",
    "fillField",
    "fill_in",
    "pressSequentially",
    "typeText",
];

/// The text that is entered into the field of this name.
pub(super) fn entered(bytes: &[u8], name: Name) -> Option<Span> {
    if name.promise != Promise::Password {
        return None;
    }
    let from = behind_selector(bytes, name.end)?;
    let start = match bytes.get(from)? {
        b',' => second(bytes, name, from)?,
        b')' => chained(bytes, name, from)?,
        _ => return None,
    };
    let string = matches!(bytes.get(start), Some(b'"' | b'\''));
    let found = string.then(|| value(bytes, start, Promise::Password))??;
    let closed = bytes[found.end..].get(1).is_some_and(|b| b"),".contains(b));
    closed.then_some(found)
}

/// Behind the end of the string in which the selector is.
fn behind_selector(bytes: &[u8], end: usize) -> Option<usize> {
    const MOST: usize = 4;
    let part = |b: &&u8| matches!(b, b'"' | b'\'' | b']' | b'\\');
    let length = bytes[end..].iter().take(MOST).take_while(part).count();
    (length > 0).then_some(end + length)
}

/// Where the second argument begins, if the selector is the first of such a call.
fn second(bytes: &[u8], name: Name, comma: usize) -> Option<usize> {
    let before = &bytes[name.start.saturating_sub(SELECTOR)..name.start];
    let open = memchr::memrchr(b'(', before)?;
    let quoted = matches!(before.get(open + 1), Some(b'"' | b'\''));
    let called = CALLS.iter().any(|c| before[..open].ends_with(c.as_bytes()));
    (quoted && called).then(|| comma + 1 + blanks(bytes, comma + 1))
}

/// Where the argument of such a call begins on what was found by the selector.
fn chained(bytes: &[u8], name: Name, close: usize) -> Option<usize> {
    const BETWEEN: [&str; 3] = [".clear()", ".first()", ".focus()"];
    let mut rest = &bytes[close + 1..];
    while let Some(next) = BETWEEN.iter().find_map(|b| rest.strip_prefix(b.as_bytes())) {
        rest = next;
    }
    let rest = rest.strip_prefix(b".")?;
    let called = |call: &str| rest.strip_prefix(call.as_bytes())?.strip_prefix(b"(");
    let typed = called("type").is_some();
    let rest = CALLS.iter().find_map(|call| called(call))?;
    (!typed || is_looked_up(bytes, name.start)).then(|| bytes.len() - rest.len())
}

/// Whether the selector at `at` is given to a call that looks something up. Those
/// that describe a table have a `type` too: `column("password").type("text")`.
fn is_looked_up(bytes: &[u8], at: usize) -> bool {
    const LOOKS: [&str; 6] = ["get", "find", "locat", "query", "select", "element"];
    let before = &bytes[at.saturating_sub(SELECTOR)..at];
    let Some(open) = memchr::memrchr(b'(', before) else {
        return false;
    };
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    let length = before[..open].iter().rev().take_while(part).count();
    let call = before[open - length..open].to_ascii_lowercase();
    let looks = |look: &&str| memchr::memmem::find(&call, look.as_bytes()).is_some();
    call.starts_with(b"$") || LOOKS.iter().any(looks)
}
