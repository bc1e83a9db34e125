//! Secrets that are known by what stands beside them.

use super::below::below;
use super::names::{Promise, is_key_of};
use super::promised::{is_secret, is_short_key, is_sure_key};
use super::shape::is_encoded_login;
use super::spoken::is_plain;
use super::tongues::{self, Foreign, Tongue};
use super::value::{BARE, Quoted, Span, VALUE};
use super::value::{blanks, blanks_before, closing, prefix, unclosed, value};
use super::words::{is_literal_as_password, is_word_as_password};
use super::{
    Kind, Redactor, address, blocks, environment, fallback, follows, kubernetes, markdown, pass,
    phrases, pieces, stores,
};

const NAME: usize = 64;

impl Redactor {
    /// The value behind the `:` or `=` at `at`, if its name tells of a secret.
    pub(super) fn assigned(&self, bytes: &[u8], at: usize) -> Option<Span> {
        if let Some(foreign) = foreign_before(bytes, at) {
            let found = foreign_value(bytes, at + 1, foreign);
            return found.or_else(|| below(bytes, at + 1, foreign.promise));
        }
        // `a::B` is a name in a program.
        let path = bytes[at..].starts_with(b"::") || bytes[..at].ends_with(b":");
        if path
            && bytes[at + 1..]
                .iter()
                .find(|b| **b != b':')?
                .is_ascii_alphanumeric()
        {
            return None;
        }
        let name = name_before(bytes, at)?;
        // Several values, each with a name of its own.
        if name.eq_ignore_ascii_case(b"cookie") && stores::is_pair(bytes, at) {
            return None;
        }
        let promise = match self.promise(name) {
            Some(Promise::Perhaps) => of_key(bytes, at, name)?,
            Some(promise) => promise,
            None if signs_query(bytes, at, name) => Promise::Random,
            None => {
                let block = blocks::is_default(name).then(|| self.of_block(bytes, at, name));
                match block.flatten() {
                    Some(promise) => promise,
                    None => {
                        let found = self.typed(bytes, at).or_else(|| plainly(bytes, at, name));
                        return found
                            .or_else(|| self.told_below(bytes, at, name))
                            .or_else(|| self.prompted(bytes, at));
                    }
                }
            }
        };
        let mut from = at + 1;
        // `:=`, `=>`, `==`.
        if bytes.get(from).is_some_and(|b| matches!(b, b'=' | b'>')) {
            from += 1;
        }
        from = markdown::behind_bold(bytes, from);
        if environment::is_folder(name, &bytes[from + blanks(bytes, from)..]) {
            return None;
        }
        if let Some(found) = environment::whole_line(bytes, at, name, promise) {
            return Some(found);
        }
        let found = value(bytes, from, promise)
            .filter(|span| !is_count(name, &bytes[span.start..span.end]));
        let found = found.or_else(|| markdown::in_bold(bytes, from, promise));
        let found = found.or_else(|| match promise {
            Promise::Password => word(bytes, at, from)
                .or_else(|| phrases::assigned(bytes, at, from, name))
                .or_else(|| below(bytes, from, promise))
                .or_else(|| fallback::chosen(bytes, from, promise)),
            Promise::Random if is_of_user(name) => of_user(bytes, from),
            Promise::Random => short(bytes, at, from, name)
                .or_else(|| below(bytes, from, promise))
                .or_else(|| fallback::chosen(bytes, from, promise)),
            Promise::Perhaps if is_header(name) => address::scheme(bytes, from),
            Promise::Perhaps if is_login(name) => login(bytes, from),
            Promise::Perhaps => None,
        });
        found.or_else(|| pieces::instead(bytes, from, promise))
    }

    /// The value in the line below a sentence that ends at the colon `at` with this
    /// word: `The password is:`.
    fn told_below(&self, bytes: &[u8], at: usize, word: &[u8]) -> Option<Span> {
        const IS: [&[u8]; 6] = [b"is", b"are", b"ist", b"lautet", b"est", b"es"];
        if bytes[at] != b':' || !IS.iter().any(|is| word.eq_ignore_ascii_case(is)) {
            return None;
        }
        let end = at.checked_sub(blanks_before(bytes, at) + word.len())?;
        let name = name_before(bytes, end)?;
        let promise = match self.promise(name)? {
            Promise::Perhaps => of_key(bytes, end, name)?,
            promise => promise,
        };
        if promise == Promise::Perhaps {
            return None;
        }
        below(bytes, at + 1, promise)
    }

    /// The value behind the colon of a prompt that shows the one before:
    /// `AWS Secret Access Key [None]: x`.
    fn prompted(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let before = bytes[at.saturating_sub(NAME)..at].strip_suffix(b"]")?;
        let open = memchr::memmem::rfind(before, b" [")?;
        let end = at - 1 - (before.len() - open);
        let name = name_before(bytes, end)?;
        let promise = match self.promise(name)? {
            Promise::Perhaps => of_key(bytes, end, name)?,
            promise => promise,
        };
        value(bytes, at + 1, promise).filter(|_| bytes[at] == b':')
    }

    /// The string behind the `=` at `at`, if a type stands between it and the
    /// name: `secret: string = "x"`, `var apiKey string = "x"`.
    fn typed(&self, bytes: &[u8], at: usize) -> Option<Span> {
        const TYPES: [&str; 6] = ["string", "String", "str", "wstring", "SecretStr", "Secret"];
        let from = at + 1 + blanks(bytes, at + 1);
        let string = matches!(bytes.get(from), Some(b'"' | b'\'' | b'`'));
        if bytes[at] != b'=' || !string {
            return None;
        }
        let before = &bytes[at.saturating_sub(NAME)..at];
        let is_type = |b: &u8| {
            b.is_ascii_alphanumeric()
                || matches!(
                    b,
                    b' ' | b'_'
                        | b'.'
                        | b'<'
                        | b'>'
                        | b'&'
                        | b'\''
                        | b'?'
                        | b'['
                        | b']'
                        | b'|'
                        | b'*'
                )
        };
        let end = match before.iter().rposition(|b| !is_type(b)) {
            Some(colon) if before[colon] == b':' => before.len() - colon,
            _ => {
                let last = TYPES
                    .iter()
                    .find(|t| before.trim_ascii_end().ends_with(t.as_bytes()))?;
                before.len() - (before.trim_ascii_end().len() - last.len())
            }
        };
        let promise = self.promise(name_before(bytes, at - end)?)?;
        value(bytes, from, promise)
    }

    /// The value behind the wide colon at `at`.
    pub(super) fn wide(&self, bytes: &[u8], at: usize) -> Option<Span> {
        const COLON: &[u8] = "：".as_bytes();
        if !bytes[at..].starts_with(COLON) {
            return None;
        }
        let promise = self.promise(name_before(bytes, at)?)?;
        value(bytes, at + COLON.len(), promise)
    }

    /// The strings of the list behind the `:` or `=` at `at`, those that are
    /// what its name promises.
    pub(super) fn listed(&self, bytes: &[u8], at: usize) -> Vec<Span> {
        let mut from = at + 1;
        if bytes.get(from).is_some_and(|b| matches!(b, b'=' | b'>')) {
            from += 1;
        }
        let open = from + blanks(bytes, from);
        if bytes[at] == b':' {
            let found = stores::cookies(bytes, at);
            let found = if found.is_empty() {
                kubernetes::values(bytes, at)
            } else {
                found
            };
            if !found.is_empty() {
                return found;
            }
        }
        let promise = match bytes.get(open) {
            Some(b'[') => name_before(bytes, at).and_then(|name| self.promise(name)),
            Some(b'\n' | b'\r') if bytes[at] == b':' => {
                let name = name_before(bytes, at);
                return name.map_or_else(Vec::new, |name| self.items(bytes, at, name));
            }
            Some(b'(' | b'"' | b'\'') => {
                let promise = name_before(bytes, at).and_then(|name| self.promise(name));
                return promise
                    .map_or_else(Vec::new, |promise| pieces::joined(bytes, from, promise));
            }
            Some(byte) if byte.is_ascii_alphanumeric() && goes_on(bytes, open) => {
                let promise = name_before(bytes, at).and_then(|name| self.promise(name));
                return promise
                    .map_or_else(Vec::new, |promise| pieces::joined(bytes, from, promise));
            }
            _ => None,
        };
        match promise {
            Some(Promise::Password) => strings(bytes, open + 1, Promise::Password),
            Some(Promise::Random) => strings(bytes, open + 1, Promise::Random),
            Some(Promise::Perhaps) | None => Vec::new(),
        }
    }

    /// The value of an option on a command line: `--password x`.
    pub(super) fn option(&self, bytes: &[u8], at: usize) -> Option<Span> {
        let rest = &bytes[at..];
        let quote = at.checked_sub(1).map(|place| bytes[place]);
        let quote = quote.filter(|b| matches!(b, b'"' | b'\''));
        let apart = at == 0 || quote.is_some() || bytes[at - 1].is_ascii_whitespace();
        if !rest.starts_with(b"--") || !apart {
            return None;
        }
        let name = rest[2..]
            .iter()
            .take(NAME)
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
            .count();
        let end = at + 2 + name;
        let from = match quote {
            Some(quote) => next_string(bytes, end, quote)?,
            None if bytes.get(end) == Some(&b' ') => end + 1,
            None => return None,
        };
        let promise = self.promise(&rest[2..2 + name])?;
        value(bytes, from, promise)
    }

    /// Whether the whole text is the secret that its name promises.
    pub(super) fn named(&self, name: &str, value: &str) -> Option<Kind> {
        let bytes = value.as_bytes();
        if environment::is_folder(name.as_bytes(), bytes) {
            return None;
        }
        let promise = match self.promise(name.as_bytes()) {
            Some(promise) => promise,
            None if name == "pass" => Promise::Password,
            None if is_key_of(name.as_bytes()) && is_sure_key(bytes) => Promise::Random,
            None => return None,
        };
        if is_login(name.as_bytes()) && is_encoded_login(bytes) {
            return Some(Kind::Secret);
        }
        if is_header(name.as_bytes()) && address::scheme(bytes, 0).is_some() {
            return Some(Kind::Bearer);
        }
        let whole = bytes.len() <= VALUE && !bytes.contains(&b'\n');
        let whole = whole && !is_count(name.as_bytes(), bytes);
        (whole && is_secret(bytes, promise, Quoted::Yes)).then_some(promise.kind())
    }
}

/// Where the next string of a list opens behind the quote at `at`.
fn next_string(bytes: &[u8], at: usize, quote: u8) -> Option<usize> {
    let rest = bytes[at..].strip_prefix(&[quote])?;
    let gap = |b: &&u8| b.is_ascii_whitespace() || **b == b',';
    let length = rest.iter().take(64).take_while(gap).count();
    let listed = rest[..length].contains(&b',') && rest.get(length) == Some(&quote);
    listed.then_some(at + 1 + length)
}

/// The value behind the `:` or `=` at `at` whose name tells of a secret only if
/// it looks like one: `STRIPE_KEY=…`, `pass: "…"`.
fn plainly(bytes: &[u8], at: usize, name: &[u8]) -> Option<Span> {
    if name.eq_ignore_ascii_case(b"pass") {
        return pass::assigned(bytes, at, name);
    }
    let from = at + 1 + blanks(bytes, at + 1);
    let span = is_key_of(name).then(|| value(bytes, from, Promise::Random))?;
    span.filter(|span| is_sure_key(&bytes[span.start..span.end]))
}

/// Whether the name before the `=` at `at` is that of an address's signature:
/// `?sig=`, `&X-Amz-Signature=`.
fn signs_query(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    const NAMES: [&[u8]; 4] = [
        b"sig",
        b"signature",
        b"x-amz-signature",
        b"x-goog-signature",
    ];
    let start = at.checked_sub(name.len() + 1);
    let in_query = start.is_some_and(|start| matches!(bytes[start], b'?' | b'&' | b';'));
    in_query && NAMES.iter().any(|n| name.eq_ignore_ascii_case(n))
}

/// Whether the line ends with a backslash that carries it on.
fn goes_on(bytes: &[u8], from: usize) -> bool {
    let rest = &bytes[from..bytes.len().min(from + BARE)];
    let line = &rest[..memchr::memchr(b'\n', rest).unwrap_or(0)];
    line.trim_ascii_end().ends_with(b"\\")
}

/// A value too short to look random with which its line ends: of a variable of
/// the environment, or of a name with which the line begins.
fn short(bytes: &[u8], at: usize, from: usize, name: &[u8]) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + BARE)];
    let length = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let after = rest[length..].iter().find(|b| !matches!(b, b' ' | b'\t'));
    let ends = after.is_none_or(|b| matches!(b, b'\n' | b'\r'));
    let told = match bytes[at] {
        b'=' => start == from && is_variable(name) || begins_line(bytes, at, name),
        _ => start > from && begins_line(bytes, at, name),
    };
    let text = &rest[..length];
    // `sync_token: 17000000` is where something stopped.
    let place = text.iter().all(u8::is_ascii_digit)
        && !is_variable(name)
        && name.to_ascii_lowercase().ends_with(b"token");
    let is_key = is_short_key(text) && !is_count(name, text) && !place;
    (told && ends && is_key).then_some(Span {
        kind: Kind::Secret,
        start,
        end: start + length,
    })
}

/// Whether a number says how many tokens there are.
fn is_count(name: &[u8], text: &[u8]) -> bool {
    let plural = name.to_ascii_lowercase().ends_with(b"tokens");
    plural && text.iter().all(u8::is_ascii_digit)
}

pub(super) fn is_variable(name: &[u8]) -> bool {
    name.iter()
        .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
}

/// Whether nothing but blanks, or the dash of a list, stands before the name.
pub(super) fn begins_line(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    let before = bytes[at.saturating_sub(NAME * 3)..at].trim_ascii_end();
    let Some(before) = before.strip_suffix(name) else {
        return false;
    };
    let line = memchr::memrchr(b'\n', before).map_or(0, |place| place + 1);
    before[line..]
        .iter()
        .all(|b| matches!(b, b' ' | b'\t' | b'-'))
}

/// Whether a name is that of a login, as Docker's `auth` and npm's `_auth`.
fn is_login(name: &[u8]) -> bool {
    let plain = name.strip_prefix(b"_").unwrap_or(name);
    plain.eq_ignore_ascii_case(b"auth")
}

/// Whether a name is that of the header by which a program logs in.
fn is_header(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"authorization")
}

/// The user and the password in base64 behind `from`.
fn login(bytes: &[u8], from: usize) -> Option<Span> {
    let open = from + blanks(bytes, from);
    let rest = &bytes[open.min(bytes.len())..bytes.len().min(open + BARE)];
    let quote = |b: &&u8| matches!(b, b'"' | b'\'' | b'\\');
    let skip = rest.iter().take(8).take_while(quote).count();
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let length = rest[skip..].iter().take_while(part).count();
    is_encoded_login(&rest[skip..skip + length]).then_some(Span {
        kind: Kind::Secret,
        start: open + skip,
        end: open + skip + length,
    })
}

/// Whether a name is that of a user and a password together.
fn is_of_user(name: &[u8]) -> bool {
    ["creds", "cred", "credentials", "credential"]
        .iter()
        .any(|n| name.eq_ignore_ascii_case(n.as_bytes()))
}

/// The password behind its user: `creds: bob/x`, `creds: bob : x`.
fn of_user(bytes: &[u8], from: usize) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + BARE)];
    let user = rest
        .iter()
        .take(NAME)
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'@' | b'.' | b'+'))
        .count();
    let gap = blanks(rest, user);
    if user == 0 || !matches!(rest.get(user + gap), Some(b'/' | b':' | b'|')) {
        return None;
    }
    let found = value(bytes, start + user + gap + 1, Promise::Password)?;
    // A second slash makes a path of it.
    (!bytes[found.start..found.end].contains(&b'/')).then_some(found)
}

/// The secrets among the strings from `from` on that only commas and spaces
/// part.
fn strings(bytes: &[u8], from: usize, promise: Promise) -> Vec<Span> {
    let mut found = Vec::new();
    let most = bytes.len().min(from + VALUE);
    let mut at = from;
    loop {
        let gap = |b: &u8| b.is_ascii_whitespace() || *b == b',';
        at += bytes[at.min(most)..most]
            .iter()
            .take_while(|b| gap(b))
            .count();
        let rest = &bytes[at.min(most)..most];
        let slashes = rest.iter().take_while(|b| **b == b'\\').count();
        let Some(quote @ (b'"' | b'\'')) = rest.get(slashes).copied() else {
            return found;
        };
        let start = slashes + 1;
        let Some(length) = closing(&rest[start..], quote, slashes) else {
            return found;
        };
        found.extend(value(bytes, at, promise));
        at += start + length + slashes + 1;
    }
}

/// A password of letters only behind the `:` or `=` at `at`: in quotes, alone
/// behind a colon up to the end of its line, or assigned to a variable of the
/// environment. Elsewhere letters are a variable, a type or a word.
fn word(bytes: &[u8], at: usize, from: usize) -> Option<Span> {
    let start = from + blanks(bytes, from);
    let start = start + prefix(bytes, start);
    let rest = &bytes[start.min(bytes.len())..bytes.len().min(start + BARE)];
    let slashes = rest.iter().take_while(|b| **b == b'\\').count();
    let quote = rest
        .get(slashes)
        .copied()
        .filter(|b| matches!(b, b'"' | b'\''));
    let skip = match quote {
        Some(_) => slashes + 1,
        None => 0,
    };
    let length = rest[skip..]
        .iter()
        .take_while(|b| b.is_ascii_alphabetic())
        .count();
    let text = &rest[skip..skip + length];
    let after = &rest[skip + length..];
    // In quotes and behind a variable of the environment no name can be meant.
    let mut literal = true;
    let ends = match (quote, bytes[at]) {
        (Some(quote), _) => {
            let open = || unclosed(&rest[skip..]) == Some(length);
            after.get(slashes) == Some(&quote) || open()
        }
        (None, b':') => {
            literal = false;
            let line = after
                .iter()
                .position(|b| !matches!(b, b' ' | b'\t' | b'\r'));
            start > from && line.is_none_or(|end| after[end] == b'\n')
        }
        (None, _) => {
            let name = name_before(bytes, at)?;
            is_variable(name) && start == from && after.first().is_none_or(u8::is_ascii_whitespace)
        }
    };
    let is_password = match literal {
        true => is_literal_as_password(text),
        false => is_word_as_password(text),
    };
    (ends && is_password).then_some(Span {
        kind: Kind::Password,
        start: start + skip,
        end: start + skip + length,
    })
}

/// What the `key` before the sign at `at` promises by the word before it:
/// `API key:` a key, `cache key:` nothing.
fn of_key(bytes: &[u8], at: usize, name: &[u8]) -> Option<Promise> {
    let start = at.checked_sub(blanks_before(bytes, at) + name.len());
    let is = |of: fn(&[u8], usize, usize) -> bool| {
        start.is_some_and(|start| of(bytes, start, start + name.len()))
    };
    match (is(follows::is_kind_of_key), is(follows::is_other_key)) {
        (true, _) => Some(Promise::Random),
        (false, true) => None,
        (false, false) => Some(Promise::Perhaps),
    }
}

/// The name that ends before `at`, quotes and spaces between passed over.
pub(super) fn name_before(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let from = at.saturating_sub(NAME + 8);
    let before = &bytes[from..at];
    let end = before.iter().rposition(|b| {
        !matches!(
            b,
            b' ' | b'\t' | b'"' | b'\'' | b'\\' | b'`' | b']' | b'*' | b'?'
        )
    })? + 1;
    let start = before[..end]
        .iter()
        .rposition(|b| !(b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.')))
        .map_or(0, |place| place + 1);
    (start < end).then(|| &before[start..end])
}

/// The value behind the link at `at`: `パスワードは x です`, `密码：x`.
pub(super) fn linked(bytes: &[u8], at: usize) -> Option<Span> {
    let length = tongues::link(bytes, at)?;
    let foreign = foreign_before(bytes, at)?;
    match foreign.tongue {
        // `密码是：x`
        Tongue::Joined => {
            let from = at + length;
            foreign_value(
                bytes,
                from + tongues::link(bytes, from).unwrap_or(0),
                foreign,
            )
        }
        Tongue::Spaced => None,
    }
}

/// The value a blank behind the name that begins at `at`: `账号 admin 密码 x`.
pub(super) fn apart(bytes: &[u8], at: usize) -> Option<Span> {
    let foreign = tongues::begins_joined(&bytes[at..])?;
    let from = at + foreign.name.len();
    let of_user = tongues::is_behind_user(bytes, at);
    if blanks(bytes, from) == 0 && !of_user {
        return None;
    }
    let found = foreign_value(bytes, from, foreign)?;
    (of_user || is_plain(&bytes[found.start..found.end])).then_some(found)
}

/// The name in another language that ends before `at`.
fn foreign_before(bytes: &[u8], at: usize) -> Option<Foreign> {
    let mut before = &bytes[at.saturating_sub(NAME)..at];
    loop {
        let gap = blanks_before(before, before.len());
        match before[..before.len() - gap] {
            [ref inner @ .., b'"' | b'\'' | b'\\' | b'`' | b'*'] => before = inner,
            ref name => return tongues::named(name),
        }
    }
}

/// The value of such a name. Where words are written together, what is no
/// ASCII ends it.
fn foreign_value(bytes: &[u8], from: usize, foreign: Foreign) -> Option<Span> {
    let Foreign {
        tongue, promise, ..
    } = foreign;
    let mut start = from + blanks(bytes, from);
    if tongue == Tongue::Spaced {
        let found = value(bytes, start, promise);
        return found
            .or_else(|| (promise == Promise::Password).then(|| phrases::quoted(bytes, start))?);
    }
    start += tongues::opening(bytes, start);
    start += blanks(bytes, start);
    if matches!(bytes.get(start)?, b'"' | b'\'' | b'`' | b'\\' | b'\n') {
        return value(bytes, start, promise);
    }
    let rest = &bytes[start..bytes.len().min(start + VALUE)];
    let ends = |b: &u8| !b.is_ascii_graphic() || matches!(b, b'"' | b'\'' | b'`' | b',' | b';');
    let mut end = rest.iter().position(ends).unwrap_or(rest.len());
    // `x(으)로`
    let particle = rest[..end].ends_with(b"(") && rest.get(end).is_some_and(|b| !b.is_ascii());
    end -= usize::from(particle);
    while end > 0 && matches!(rest[end - 1], b'.' | b':' | b'!' | b'?' | b')') {
        end -= 1;
    }
    // Behind a sentence it is its end, behind a password mostly not.
    let calls = rest[end..].iter().take_while(|b| **b == b'!').count();
    let text = &rest[..end];
    let word = promise == Promise::Password && is_word_as_password(text);
    let said = word && tongues::is_behind_user(bytes, from);
    (said || is_secret(text, promise, Quoted::No)).then_some(Span {
        kind: promise.kind(),
        start,
        end: start + end + calls,
    })
}
