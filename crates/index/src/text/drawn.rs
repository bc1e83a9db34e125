//! Words that nobody made up: hashes, ids, keys, encoded data.
//!
//! No part of one says anything, and no two texts share one unless they mean the
//! same thing. Kept whole and in parts they would take more room than the text
//! they stand in. So of each its beginning and its end are kept in one token, by
//! which it is found as a whole, and by whatever beginning people call it by, as
//! they do with commits.

/// How much of its beginning is kept.
const FRONT: usize = 12;

/// How much of its end. Ids that are given one after the other begin alike, with
/// a time or a machine, and count at the end.
const BACK: usize = 6;

/// As few characters may stand for a hash, as Git gives them.
const LEAST: usize = 7;

/// From so many characters on what is no hash may be encoded data.
const LONG: usize = 16;

/// From so many on it need not have a digit.
const LONGER: usize = 20;

/// What is kept of a word that was drawn; none of one that somebody made up.
/// `parts` are those it would have as a name.
pub(super) fn head(word: &str, parts: usize) -> Option<String> {
    let plain = plain(word)?;
    let is_drawn = is_uuid(word) || is_hash(&plain) || is_encoded(&plain, parts);
    is_drawn.then(|| match plain.len() > FRONT + BACK {
        true => [&plain[..FRONT], &plain[plain.len() - BACK..]].concat(),
        false => plain,
    })
}

/// What a word of a query begins with that may stand for a longer one.
pub(super) fn beginning(word: &str, parts: usize) -> Option<String> {
    let plain = plain(word)?;
    let has_digit = plain.bytes().any(|byte| byte.is_ascii_digit());
    let is_hex = has_digit && plain.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed = has_digit && (turns(&plain) >= 2 || is_often(&plain, parts));
    (is_hex || is_mixed || is_encoded(&plain, parts))
        .then(|| plain[..plain.len().min(FRONT)].to_owned())
}

/// A word without what only divides it, in small letters.
fn plain(word: &str) -> Option<String> {
    if word.len() < LEAST || !word.is_ascii() {
        return None;
    }
    let digits = match word.get(..2) {
        Some("0x" | "0X") => &word[2..],
        _ => word,
    };
    let letters = digits.bytes().filter(u8::is_ascii_alphanumeric);
    let plain: String = letters
        .map(|byte| char::from(byte.to_ascii_lowercase()))
        .collect();
    (plain.len() >= LEAST).then_some(plain)
}

/// Whether it has digits from 0 to f, and goes to and fro between both kinds.
fn is_hash(plain: &str) -> bool {
    plain.bytes().all(|byte| byte.is_ascii_hexdigit()) && turns(plain) >= 2
}

/// How often it goes from letters to digits or back.
fn turns(plain: &str) -> usize {
    let pairs = plain.as_bytes().windows(2);
    let turns = pairs.filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    turns.count()
}

/// Whether it changes between large, small and digits more often than names do,
/// whose parts have four letters and more.
fn is_encoded(plain: &str, parts: usize) -> bool {
    let length = plain.len();
    let has_digit = plain.bytes().any(|byte| byte.is_ascii_digit());
    length >= LONG && is_often(plain, parts) && (has_digit || length >= LONGER)
}

fn is_often(plain: &str, parts: usize) -> bool {
    // What is that long is no name, and may have zeros in it that change nothing.
    match plain.len() >= LINE {
        true => parts * 4 >= plain.len(),
        false => parts * 5 >= plain.len() * 2,
    }
}

/// A line of encoded data has at least so many characters.
const LINE: usize = 40;

/// The encoded data that a text begins with, with the marks that divide it into
/// words; paths have them too, and are names.
pub(super) fn line(text: &str) -> Option<&str> {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let bytes = text.as_bytes();
    if bytes.get(..LINE)?.iter().all(is_inside) {
        let length = bytes.iter().take_while(|byte| is_inside(byte)).count();
        let line = &text[..length];
        return head(line, super::identifier_parts(line).len()).map(|_| line);
    }
    None
}

/// Where in a UUID its hyphens stand.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const UUID: usize = 36;

fn is_uuid(word: &str) -> bool {
    let fits = |(at, byte): (usize, &u8)| match HYPHENS.contains(&at) {
        true => *byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    word.len() == UUID && word.as_bytes().iter().enumerate().all(fits)
}

/// The UUID that a text begins with.
pub(super) fn uuid(text: &str) -> Option<&str> {
    // Most words are told by their ninth character.
    if text.as_bytes().get(HYPHENS[0]) != Some(&b'-') {
        return None;
    }
    let word = text.get(..UUID).filter(|word| is_uuid(word))?;
    let goes_on = |c: char| c.is_alphanumeric() || c == '_';
    (!text[UUID..].starts_with(goes_on)).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::super::identifier_parts;
    use super::*;

    fn kept(word: &str) -> Option<String> {
        head(word, identifier_parts(word).len())
    }

    #[test]
    fn of_hashes_ids_and_encoded_data_the_beginning_and_the_end_are_kept() {
        for (word, head) in [
            ("3f2a9c1", "3f2a9c1"),
            ("9b1c4f0e7d2a8b3c5e6f", "9b1c4f0e7d2a3c5e6f"),
            ("9B1C4F0E7D2A8B3C5E6F", "9b1c4f0e7d2a3c5e6f"),
            ("0x52908400098527886E0F7030", "5290840009850f7030"),
            ("550e8400-e29b-41d4-a716-446655440000", "550e8400e29b440000"),
            ("00000000-0000-0000-0000-000000000000", "000000000000000000"),
            ("toolu_01A09q90qw90lq917835lq9", "toolu01a09q9835lq9"),
            (
                "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf",
                "ivborw0kggoayaaaaf",
            ),
            ("01HX5K3V9Q7W2R8T4Y6Z", "01hx5k3v9q7w8t4y6z"),
            ("aB3/dE5+fG7hI9jK1lM3", "ab3de5fg7hi9jk1lm3"),
        ] {
            assert_eq!(kept(word).as_deref(), Some(head), "{word}");
        }
    }

    #[test]
    fn a_beginning_is_known_by_its_look() {
        for (word, begins) in [
            ("3f2a9c1", Some("3f2a9c1")),
            ("9b1c4f0e7d2a8b3c5e6f", Some("9b1c4f0e7d2a")),
            ("iVBORw0", Some("ivborw0")),
            ("msg_01AB", Some("msg01ab")),
            ("01HX5K3V", Some("01hx5k3v")),
            ("5KJvsng", Some("5kjvsng")),
            ("python3", None),
            ("userSegmentTags", None),
            ("followers", None),
        ] {
            let parts = identifier_parts(word).len();
            assert_eq!(beginning(word, parts).as_deref(), begins, "{word}");
        }
    }

    #[test]
    fn names_and_numbers_are_not_taken_for_them() {
        for word in [
            "userSegmentTags",
            "parseHTTPUrl_v2",
            "getIdByKey",
            "utf8mb4",
            "sha256sum512bits",
            "x86_64_unknown_linux_gnu",
            "MAX_RETRY_COUNT_2",
            "Q3_2026_results",
            "f150",
            "deadbeef",
            "20260315",
            "a_b_c_d_e_f",
            "été2026été2026",
        ] {
            assert_eq!(kept(word), None, "{word}");
        }
    }

    #[test]
    fn a_line_of_encoded_data_is_one_word_and_a_path_is_not() {
        let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGA";
        assert_eq!(line(&format!("{data}==\nnext")), Some(data));
        assert_eq!(line(&data[..LINE - 1]), None);
        let path = "crates/memory/src/index/register/and/so/on/and/on/Something";
        assert_eq!(line(path), None);
    }

    #[test]
    fn a_uuid_ends_where_it_ends() {
        let id = "550e8400-e29b-41d4-a716-446655440000";
        assert_eq!(uuid(&format!("{id}.")), Some(id));
        assert_eq!(uuid(&format!("{id}7")), None);
        assert_eq!(uuid("550e8400-e29b-41d4-a716-44665544000g"), None);
        assert_eq!(uuid("follow-up"), None);
    }
}
