//! Dates and times of the day: numbers that one sign joins.
//!
//! Their numbers alone say little, since every year has a 3rd and a 14th. Where
//! places are known, they are known by their numbers one behind the other; in a
//! text that is full of codes they are noted whole (see `codes`).

/// What stands between the numbers.
const SIGNS: [u8; 3] = [b'-', b'/', b':'];

/// No number of a date or a time is longer.
const LONGEST: usize = 4;

/// What joins numbers in a token, whichever sign does in the text. No other token
/// has it in it.
const JOINT: &str = "-";

/// The dates and times of a text, as they are written.
pub(super) fn joined(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let begin = at + bytes[at..].iter().position(u8::is_ascii_digit)?;
            let (end, is_whole) = chain(bytes, begin);
            at = end;
            if is_whole && is_apart(text, begin, end) {
                return Some(&text[begin..end]);
            }
        }
        None
    })
}

/// The token of what [`joined`] found.
pub(super) fn whole(written: &str) -> String {
    written.replace(['/', ':'], JOINT)
}

/// The numbers of a date or a time, where a token is one.
pub(crate) fn numbers(token: &str) -> Option<Vec<&str>> {
    let numbers: Vec<&str> = token.split(JOINT).collect();
    (numbers.len() > 1).then_some(numbers)
}

/// Whether a text has a date or a time of this token.
pub(crate) fn has(text: &str, token: &str) -> bool {
    joined(text).any(|written| whole(written) == token)
}

/// Where numbers that one sign joins end, and whether they may be a date or a time.
fn chain(bytes: &[u8], begin: usize) -> (usize, bool) {
    let digits = |at: usize| {
        let rest = bytes.iter().skip(at);
        rest.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut long = digits(begin);
    let mut end = begin + long;
    let mut count = 1;
    let sign = bytes.get(end).copied().filter(|sign| SIGNS.contains(sign));
    while let Some(sign) = sign
        && bytes.get(end) == Some(&sign)
        && digits(end + 1) > 0
    {
        let next = digits(end + 1);
        long = long.max(next);
        end += 1 + next;
        count += 1;
    }
    let is_whole = count == 3 || (count == 2 && sign == Some(b':'));
    (end, is_whole && long <= LONGEST)
}

/// Whether no word goes on before or behind it, but for the `T` and the `Z` of
/// `2024-03-14T12:34:56Z`.
fn is_apart(text: &str, begin: usize, end: usize) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    let before = text[..begin].strip_suffix(['T', 't']);
    let before = before.filter(|day| day.ends_with(|c: char| c.is_ascii_digit()));
    let behind = text[end..].strip_prefix(['T', 't', 'Z', 'z']);
    let behind = behind.filter(|rest| !rest.starts_with(char::is_alphabetic));
    (before.is_some() || !text[..begin].ends_with(goes_on))
        && (behind.is_some() || !text[end..].starts_with(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_three_numbers_or_two_and_end_where_they_end() {
        let of = |text| joined(text).map(whole).collect::<Vec<_>>().join(" ");
        for (text, tokens) in [
            ("2024-03-14,5", "2024-03-14"),
            ("on 3/14/2024 or 2024/03/14.", "3-14-2024 2024-03-14"),
            ("[12:34:56.789] and 9:05", "12-34-56 9-05"),
            ("2024-03-14T12:34:56Z", "2024-03-14 12-34-56"),
            ("(2024-03-14)é 1", "2024-03-14"),
            ("10-20, 1/2, 555-0134 and 7-", ""),
            ("1-800-555-0134", ""),
            ("00:1b:44:11:3a:b7", ""),
            ("12:34:56:78", ""),
            ("x12:34 12:34x é12:34 12:34é 12:34Tea", ""),
            ("20240-03-14", ""),
            ("", ""),
        ] {
            assert_eq!(of(text), tokens, "{text}");
        }
        assert_eq!(numbers("2024-03-14"), Some(vec!["2024", "03", "14"]));
        assert_eq!(numbers("20240314"), None);
        assert!(has("at 12:34, then", "12-34") && !has("at 12:34:56", "12-34"));
    }
}
