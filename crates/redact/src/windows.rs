//! Commands of Windows that are given a password without a name, or behind a
//! switch of a few letters.

use super::Kind;
use super::command::is_given;
use super::spoken::is_plain;
use super::value::Span;
use super::vendors::is_word_start;

/// No command line is read any further.
const REACH: usize = 512;

/// A word of a command line and where it begins, out of its quotes.
struct Word<'a> {
    start: usize,
    text: &'a [u8],
}

impl Word<'_> {
    fn span(&self) -> Option<Span> {
        is_given(self.text).then_some(Span {
            kind: Kind::Password,
            start: self.start,
            end: self.start + self.text.len(),
        })
    }

    fn is(&self, switch: &str) -> bool {
        self.text.eq_ignore_ascii_case(switch.as_bytes())
    }

    fn begins(&self, switch: &str) -> bool {
        let head = self.text.get(..switch.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(switch.as_bytes()))
    }
}

/// The password of the command that begins at `at`.
pub(super) fn command(bytes: &[u8], at: usize) -> Option<Span> {
    let rest = &bytes[at..];
    let named = |name: &str| {
        let head = rest.get(..name.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
    };
    if named("net use ") && is_word_start(bytes, at) {
        used(&words(bytes, at + "net use ".len()))
    } else if named("net user ") && is_word_start(bytes, at) {
        user(&words(bytes, at + "net user ".len()))
    } else if named("schtasks ") || named("schtasks.exe ") {
        let words = words(bytes, at);
        let switch = words.iter().position(|w| w.is("/rp") || w.is("/p"))?;
        words.get(switch + 1)?.span()
    } else if named("cmdkey ") || named("cmdkey.exe ") {
        let words = words(bytes, at);
        let word = words.iter().find(|w| w.begins("/pass:"))?;
        let quotes = usize::from(word.text.get(6) == Some(&b'"'));
        let skip = "/pass:".len() + quotes;
        let text = word.text[skip..].strip_suffix(b"\"");
        Word {
            start: word.start + skip,
            text: text.unwrap_or(&word.text[skip..]),
        }
        .span()
    } else {
        None
    }
}

/// `net use Z: \\srv\share x /user:app`: neither a switch nor a drive nor a share.
fn used(words: &[Word<'_>]) -> Option<Span> {
    let user = words.iter().any(|w| w.begins("/user:") || w.begins("/u:"));
    let share = |w: &Word<'_>| w.begins("\\") || w.begins("http");
    let drive = |w: &Word<'_>| w.text.ends_with(b":") || w.text == b"*";
    let own = |w: &&Word<'_>| !w.begins("/") && !share(w) && !drive(w);
    user.then(|| words.iter().find(own)?.span())?
}

/// `net user app x /add`. Without a switch it may be said of users as well.
fn user(words: &[Word<'_>]) -> Option<Span> {
    let switched = words.iter().any(|w| w.begins("/"));
    let mut own = words.iter().filter(|w| !w.begins("/"));
    let (_user, password) = (own.next()?, own.next()?);
    let whole = own.next().is_none() && (switched || is_plain(password.text));
    whole.then(|| password.span())?
}

/// The words of the command line from `from` on.
fn words(bytes: &[u8], from: usize) -> Vec<Word<'_>> {
    let rest = &bytes[from.min(bytes.len())..bytes.len().min(from + REACH)];
    let ends = |b: &u8| matches!(b, b'\n' | b'\r' | b'`' | b'&' | b'|');
    let line = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(byte) = line.get(at) {
        if *byte == b' ' {
            at += 1;
            continue;
        }
        let quoted = usize::from(*byte == b'"');
        let inner = &line[at + quoted..];
        let end = match quoted {
            1 => memchr::memchr(b'"', inner),
            _ => memchr::memchr(b' ', inner),
        };
        let text = &inner[..end.unwrap_or(inner.len())];
        found.push(Word {
            start: from + at + quoted,
            text,
        });
        at += text.len() + 2 * quoted;
    }
    found
}
