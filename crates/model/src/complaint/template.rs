//! Messages as templates: the words with the numbers named.

/// The numbers that a template names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) limit: Option<u64>,
    pub(super) requested: Option<u64>,
    pub(super) more: Option<u64>,
}

/// Looks for the template anywhere in a text of lower case. `{name}` stands for
/// a number, `*` for at most a few lines of anything.
pub(super) fn find(template: &str, text: &str) -> Option<Found> {
    let first = template
        .find(['{', '*'])
        .map_or(template, |end| &template[..end]);
    text.match_indices(first).find_map(|(at, _)| {
        matches(
            &template[first.len()..],
            &text[at + first.len()..],
            Found::default(),
        )
    })
}

/// Far enough for the sentence between two numbers, near enough that numbers of
/// an unrelated sentence are not taken for them.
const GAP: usize = 240;

fn matches(template: &str, text: &str, found: Found) -> Option<Found> {
    if template.is_empty() {
        return Some(found);
    }
    if let Some(rest) = template.strip_prefix('*') {
        return text
            .char_indices()
            .map(|(at, _)| at)
            .take_while(|at| *at <= GAP)
            .find_map(|at| matches(rest, &text[at..], found));
    }
    if let Some(rest) = template.strip_prefix('{') {
        let (name, rest) = rest.split_once('}')?;
        let (number, after) = number(text)?;
        let mut found = found;
        match name {
            "limit" => found.limit = Some(number),
            "requested" => found.requested = Some(number),
            "more" => found.more = Some(number),
            _ => {}
        }
        return matches(rest, after, found);
    }
    let end = template.find(['{', '*']).unwrap_or(template.len());
    let rest = text.strip_prefix(&template[..end])?;
    matches(&template[end..], rest, found)
}

/// A number, thousands separated by commas or not.
fn number(text: &str) -> Option<(u64, &str)> {
    let mut value: Option<u64> = None;
    let mut end = 0;
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(end) {
        match byte {
            b'0'..=b'9' => {
                let digit = u64::from(byte - b'0');
                value = Some(value.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            }
            b',' | b'_'
                if value.is_some() && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) => {}
            _ => break,
        }
        end += 1;
    }
    Some((value?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_from_their_places() {
        let found = find(
            "limit {limit}*has {requested} +{more}",
            "the limit 1,000 is; it has 20_5 +3",
        );
        assert_eq!(
            found,
            Some(Found {
                limit: Some(1000),
                requested: Some(205),
                more: Some(3)
            })
        );
        assert_eq!(
            find("limit {limit}", "limit of 3, limit 4"),
            Some(Found {
                limit: Some(4),
                ..Found::default()
            })
        );
        assert_eq!(find("limit {limit}", "limit x"), None);
    }

    #[test]
    fn characters_of_several_bytes_do_no_harm() {
        assert_eq!(find("a*z", "a水🦀ßz"), Some(Found::default()));
        assert_eq!(find("a*z", "a水🦀ß"), None);
    }

    #[test]
    fn numbers_that_overflow_saturate() {
        let found = find("{limit}", "99999999999999999999999");
        assert_eq!(found.and_then(|found| found.limit), Some(u64::MAX));
    }
}
