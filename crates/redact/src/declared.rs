//! Secrets that a program declares with more than a name and a sign between: as an
//! array of characters, behind Basic's type or behind R's arrow.

use super::Redactor;
use super::beside::name_before;
use super::names::Promise;
use super::value::{Span, blanks, blanks_before, value};

/// No declaration is longer before its sign.
const REACH: usize = 96;

impl Redactor {
    /// The string behind the `=` at `at`: `char password[32] = "x"`,
    /// `Dim password As String = "x"`.
    pub(super) fn declared(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let end = at - blanks_before(bytes, at);
        let before = &bytes[end.saturating_sub(REACH)..end];
        let name = match before.last()? {
            b']' => array(before)?,
            b'g' | b'G' => of_basic(before)?,
            _ => return None,
        };
        self.string(bytes, at + 1, name)
    }

    /// The string behind the arrow at `at`: `password <- "x"`.
    pub(super) fn behind_arrow(&self, bytes: &[u8], at: usize) -> Option<Span> {
        const ARROW: &[u8] = b"<-";
        if !bytes[at..].starts_with(ARROW) {
            return None;
        }
        self.string(bytes, at + ARROW.len(), name_before(bytes, at)?)
    }

    fn string(&self, bytes: &[u8], from: usize, name: &[u8]) -> Option<Span> {
        let from = from + blanks(bytes, from);
        let promise = self.promise(name).filter(|p| *p != Promise::Perhaps)?;
        let string = matches!(bytes.get(from), Some(b'"' | b'\''));
        string.then(|| value(bytes, from, promise))?
    }
}

/// The name of an array of characters, with which its declaration ends.
fn array(before: &[u8]) -> Option<&[u8]> {
    const TYPES: [&str; 4] = ["char", "wchar_t", "TCHAR", "uint8_t"];
    let size = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b' ' | b'+');
    let open = memchr::memrchr(b'[', before)?;
    let sized = before[open + 1..before.len() - 1].iter().all(size);
    let name = name_before(before, open)?;
    let rest = before[..open].trim_ascii_end().strip_suffix(name)?;
    let word = rest.trim_ascii_end();
    let declares = |of: &str| word.ends_with(of.as_bytes());
    (sized && TYPES.iter().any(|of| declares(of))).then_some(name)
}

/// The name before Basic's type: `password As String`.
fn of_basic(before: &[u8]) -> Option<&[u8]> {
    const TYPE: &[u8] = b" as string";
    let end = before.len().checked_sub(TYPE.len())?;
    let typed = before[end..].eq_ignore_ascii_case(TYPE);
    typed.then(|| name_before(before, end))?
}
