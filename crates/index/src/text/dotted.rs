//! Words with dots in them: versions, and names that end like a file.
//!
//! Their parts alone say little: `2.4.1` has a `2`, and so has every list. So
//! they are kept whole as well, in a form that people write without dots
//! (`nodejs`) or that nobody writes (`2v4v1`).

/// How names end that people write with a dot and without. Every further one
/// costs a token for each file that ends so.
const ENDINGS: [&str; 4] = ["js", "net", "io", "ai"];

/// A version has no more numbers; an address has four.
const MOST_NUMBERS: usize = 6;

/// The length of what a text begins with, where that is a version or such a
/// name. What stands before it does not matter: a quotation may begin here.
pub(super) fn dotted(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let first = bytes.first()?;
    if first.is_ascii_digit() || (matches!(first, b'v' | b'V') && digits(bytes, 1) > 0) {
        version(bytes)
    } else if first.is_ascii_alphabetic() {
        name(text)
    } else {
        None
    }
}

/// How many digits stand from here on.
fn digits(bytes: &[u8], at: usize) -> usize {
    bytes[at.min(bytes.len())..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}

fn version(bytes: &[u8]) -> Option<usize> {
    let mut end = usize::from(!bytes[0].is_ascii_digit());
    end += digits(bytes, end);
    let mut numbers = 1;
    while bytes.get(end) == Some(&b'.') && digits(bytes, end + 1) > 0 {
        end += 1 + digits(bytes, end + 1);
        numbers += 1;
    }
    (2..=MOST_NUMBERS).contains(&numbers).then_some(end)
}

fn name(text: &str) -> Option<usize> {
    let stem = text
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let rest = text[stem..].strip_prefix('.')?;
    let ending = rest
        .bytes()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let after = &rest[ending..];
    let ends = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        && !after
            .strip_prefix('.')
            .is_some_and(|next| next.starts_with(char::is_alphanumeric));
    let known = ENDINGS
        .iter()
        .any(|one| rest[..ending].eq_ignore_ascii_case(one));
    (stem > 1 && known && ends).then_some(stem + 1 + ending)
}

/// From so many digits on behind its dot a number was measured or reckoned, and
/// its halves say nothing.
const MEASURED: usize = 3;

/// Whether what [`dotted`] found is a number with a long fraction.
pub(super) fn is_measure(word: &str) -> bool {
    let halves = word.split_once('.');
    halves.is_some_and(|(whole, fraction)| {
        let is_number = |half: &str| half.bytes().all(|byte| byte.is_ascii_digit());
        is_number(whole) && is_number(fraction) && fraction.len() >= MEASURED
    })
}

/// The token of what [`dotted`] found.
pub(super) fn whole(word: &str) -> String {
    let lower = word.to_ascii_lowercase();
    match lower.strip_prefix('v').unwrap_or(&lower) {
        numbers if numbers.starts_with(|c: char| c.is_ascii_digit()) => numbers.replace('.', "v"),
        _ => lower.replace('.', ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_long_fraction_is_no_version() {
        assert!(is_measure("16777.216"));
        for word in ["2.4", "3.12", "v2.4000", "10.0.19041", "node.js"] {
            assert!(!is_measure(word), "{word}");
        }
    }

    #[test]
    fn versions_and_names_end_where_they_end() {
        let of = |text: &str| dotted(text).map(|length| whole(&text[..length]));
        for (text, token) in [
            ("2.4.1", "2v4v1"),
            ("v2.4.1, then", "2v4v1"),
            ("V2.4.1-rc1", "2v4v1"),
            ("2.4.1rc1", "2v4v1"),
            ("3.12.", "3v12"),
            ("node.js", "nodejs"),
            ("Node.js.", "nodejs"),
            ("ASP.NET", "aspnet"),
            ("vue.js", "vuejs"),
        ] {
            assert_eq!(of(text).as_deref(), Some(token), "{text}");
        }
        for text in [
            "2",
            "v2",
            "2.",
            "2.x",
            "v.2",
            "1.2.3.4.5.6.7.8",
            "main.rs",
            "app.js.map",
            "a.js",
            "x.jsé",
            "the end.",
            "node.json",
            "",
            "v",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
