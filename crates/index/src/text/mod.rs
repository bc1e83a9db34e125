//! Words as the index knows them.
//!
//! SQLite's own tokenizers find 55 of 4,309 Chinese documents, keep `parseUrl`
//! as one word and know English endings only. So the text is prepared here and
//! FTS5 sees tokens that need no more thought: folded, stemmed in the language
//! of the text, without stop words, identifiers both whole and in parts, scripts
//! without spaces in pairs of characters. A query goes through the same
//! preparation, and since a token has letters and digits only, no query can
//! reach FTS5's syntax.

mod language;
mod query;
mod stems;

use unicode_normalization::UnicodeNormalization;

pub(crate) use self::language::Language;
pub(crate) use self::query::{Quote, Term, begins_longer, questions, quote, terms};
pub(crate) use self::stems::Stems;

/// Changes whenever the same text gives other tokens: an index made before is
/// made anew.
pub(crate) const VERSION: i64 = 8;

/// Tokens longer than this are cut: nobody types them, and encoded data is
/// full of them.
const LONGEST: usize = 64;

/// A part of a text that is treated as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Run<'a> {
    /// Letters, digits and underscores.
    Word(&'a str),
    /// Characters of a script without spaces between words.
    Unspaced(&'a str),
}

/// The tokens of a text, each by itself.
pub(crate) fn tokens(text: &str, stems: &mut Stems, take: &mut dyn FnMut(&str)) {
    let language = Language::of(text);
    for run in runs(text) {
        match run {
            Run::Word(word) => word_tokens(word, language, stems, &mut |token, _| take(token)),
            Run::Unspaced(run) => unspaced_tokens(run, &mut |token, _| take(token)),
        }
    }
}

/// The words of a line that say what it is about: folded, stemmed in its language,
/// without stop words; of scripts without spaces pairs of characters.
pub fn content_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    tokens(line, &mut Stems::default(), &mut |token| {
        if !is_single(token) {
            words.push(token.to_owned());
        }
    });
    words
}

/// The tokens of a text as FTS5 is given them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Words, with a space between, in their order.
    pub(crate) words: String,
    /// Pairs of characters of scripts without spaces. Of single Chinese
    /// characters only those at the end of a run are among them, because each
    /// other one begins a pair; see [`begins_pairs`].
    pub(crate) pairs: String,
    /// How many there are, all single characters counted.
    pub(crate) count: u32,
    /// The language of its words.
    pub(crate) language: Language,
}

fn put(to: &mut String, token: &str) {
    if !to.is_empty() {
        to.push(' ');
    }
    to.push_str(token);
}

/// The tokens of a text as they are stored.
pub(crate) fn stored(text: &str, stems: &mut Stems) -> Stored {
    let language = Language::of(text);
    let mut stored = Stored {
        words: String::with_capacity(text.len()),
        pairs: String::new(),
        count: 0,
        language,
    };
    for run in runs(text) {
        match run {
            Run::Word(word) => word_tokens(word, language, stems, &mut |token, _| {
                stored.count += 1;
                put(&mut stored.words, token);
            }),
            Run::Unspaced(run) => {
                let mut last = None;
                unspaced_tokens(run, &mut |token, _| {
                    stored.count += 1;
                    last = match is_single(token) {
                        true => Some(token.to_owned()),
                        false => {
                            put(&mut stored.pairs, token);
                            None
                        }
                    };
                });
                // A single one that no pair followed.
                if let Some(single) = last {
                    put(&mut stored.pairs, &single);
                }
            }
        }
    }
    stored
}

/// Whether a text has characters of a script without spaces, so that blanks do not
/// tell how many words it has.
pub(crate) fn has_unspaced(text: &str) -> bool {
    text.chars().any(unspaced)
}

/// Whether a token is of a script without spaces, and so among the pairs.
pub(crate) fn is_pair(token: &str) -> bool {
    token.chars().next().is_some_and(unspaced)
}

/// Whether it is one character of such a script.
pub(crate) fn is_single(token: &str) -> bool {
    let mut chars = token.chars();
    chars.next().is_some_and(unspaced) && chars.next().is_none()
}

/// Whether a token is found in all that begin with it, too: a single Chinese
/// character that is no grammar.
pub(crate) fn begins_pairs(token: &str) -> bool {
    let mut chars = token.chars();
    let first = chars.next();
    chars.next().is_none() && first.is_some_and(|c| is_han(c) && !HAN_STOPS.contains(c))
}

fn runs(text: &str) -> impl Iterator<Item = Run<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let begin = rest.find(|c: char| c.is_alphanumeric() || c == '_')?;
        rest = &rest[begin..];
        // Most words are of plain letters, and end before a plain character.
        let plain = rest
            .bytes()
            .position(|b| !(b.is_ascii_alphanumeric() || b == b'_'))
            .unwrap_or(rest.len());
        let is_plain = rest.as_bytes().get(plain).is_none_or(u8::is_ascii);
        let first = !is_plain && rest.chars().next().is_some_and(unspaced);
        let length = match is_plain {
            true => plain,
            false => rest
                .find(|c: char| {
                    let inside = c.is_alphanumeric() || c == '_' || is_mark(c);
                    !inside || (unspaced(c) != first && !is_mark(c))
                })
                .unwrap_or(rest.len()),
        };
        let (run, behind) = rest.split_at(length);
        rest = behind;
        Some(match first {
            true => Run::Unspaced(run),
            false => Run::Word(run),
        })
    })
}

/// Combining marks, which belong to the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{0300}'..='\u{036f}' | '\u{0e31}' | '\u{0e34}'..='\u{0e3a}' | '\u{0e47}'..='\u{0e4e}')
}

/// Whether a character belongs to a script that puts no spaces between words,
/// or, as Korean, puts endings on them that no stemmer here knows.
fn unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'        // Thai, Lao
        | '\u{1000}'..='\u{109f}'      // Burmese
        | '\u{1100}'..='\u{11ff}'      // Korean letters
        | '\u{1780}'..='\u{17ff}'      // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3040}'..='\u{30ff}'      // Japanese
        | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}'      // Chinese characters
        | '\u{ac00}'..='\u{d7af}'      // Korean syllables
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Chinese characters that are grammar rather than matter.
const HAN_STOPS: &str = "的了是在我你您他她它们這这那有和与與吗嗎呢吧啊就都也很么什请請问問哪个個還还會会把被给給对對从從";

/// Pairs of characters, and single Chinese ones, which often are a word.
fn unspaced_tokens(run: &str, take: &mut dyn FnMut(&str, f32)) {
    let chars: Vec<char> = run.nfkc().collect();
    let mut token = String::new();
    for (at, &c) in chars.iter().enumerate() {
        if (is_han(c) && !HAN_STOPS.contains(c)) || chars.len() == 1 {
            token.clear();
            token.push(c);
            take(&token, SINGLE);
        }
        if let Some(&next) = chars.get(at + 1) {
            if HAN_STOPS.contains(c) && HAN_STOPS.contains(next) {
                continue;
            }
            token.clear();
            token.push(c);
            token.push(next);
            take(&token, 1.0);
        }
    }
}

/// What a single character counts beside the pairs it is part of.
const SINGLE: f32 = 0.6;

/// A name has no more parts, and its parts have as many letters on average; a hash
/// or a line of encoded data has more and shorter ones. Nobody types them, and there
/// are more of them than there is text.
const MOST_PARTS: usize = 12;
const FEW_PARTS: usize = 3;
const LEAST_PART: usize = 3;

/// So much is kept of what is no name.
const LONGEST_CODE: usize = 32;

/// What the parts of an identifier count beside the whole.
const PART: f32 = 0.6;

fn word_tokens(word: &str, language: Language, stems: &mut Stems, take: &mut dyn FnMut(&str, f32)) {
    let word = word.trim_matches('_');
    if word.is_empty() {
        return;
    }
    if word.is_ascii() && word.bytes().all(|b| b.is_ascii_lowercase()) {
        stems.token(word, language, take, 1.0);
        return;
    }
    if word.bytes().all(|b| b.is_ascii_digit()) {
        take(&word[..word.len().min(LONGEST)], 1.0);
        return;
    }
    // A name or the first word of a sentence has no parts.
    let (first, rest) = (word.as_bytes()[0], &word.as_bytes()[1..]);
    if first.is_ascii_uppercase() && rest.iter().all(u8::is_ascii_lowercase) {
        stems.token(&word.to_ascii_lowercase(), language, take, 1.0);
        return;
    }
    let parts = identifier_parts(word);
    if parts.len() < 2 {
        stems.token(&word.to_lowercase(), language, take, 1.0);
        return;
    }
    let whole: String = word.chars().filter(|c| *c != '_').collect();
    let mut whole = fold(&whole.to_lowercase());
    let is_name = parts.len() <= FEW_PARTS
        || (parts.len() <= MOST_PARTS && parts.len() * LEAST_PART <= whole.len());
    if !is_name {
        whole.truncate(whole.floor_char_boundary(LONGEST_CODE));
    }
    if !whole.is_empty() {
        take(&whole, 1.0);
    }
    if !is_name {
        return;
    }
    for part in parts {
        let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
        if is_number || part.chars().nth(1).is_some() {
            stems.token(&part.to_lowercase(), language, take, PART);
        }
    }
}

/// `parseHTTPUrl_v2` is `parse`, `HTTP`, `Url`, `v`, `2`.
fn identifier_parts(word: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut parts = Vec::new();
    let mut begin = 0;
    let mut cut = |begin: &mut usize, end: usize| {
        let part = word[*begin..end].trim_matches('_');
        if !part.is_empty() {
            parts.push(part);
        }
        *begin = end;
    };
    for pair in chars.windows(2).enumerate() {
        let (at, &[(_, left), (offset, right)]) = (pair.0, pair.1) else {
            continue;
        };
        let next = chars.get(at + 2).map(|(_, c)| *c);
        let edge = left == '_'
            || right == '_'
            || (left.is_lowercase() && right.is_uppercase())
            || (left.is_uppercase()
                && right.is_uppercase()
                && next.is_some_and(char::is_lowercase))
            || (left.is_ascii_digit() != right.is_ascii_digit());
        if edge {
            cut(&mut begin, offset);
        }
    }
    cut(&mut begin, word.len());
    parts
}

/// Letters without their marks, full-width letters as ordinary ones, and
/// nothing that FTS5 would take for a separator.
fn fold(word: &str) -> String {
    let mut folded = String::with_capacity(word.len());
    if word.is_ascii() {
        folded.push_str(word);
    } else {
        let letters = word
            .nfkd()
            .filter(|c| !unicode_normalization::char::is_combining_mark(*c))
            .filter(|c| c.is_alphanumeric());
        for c in letters {
            match c {
                'ß' => folded.push_str("ss"),
                'ø' => folded.push('o'),
                'đ' => folded.push('d'),
                'ł' => folded.push('l'),
                'ı' => folded.push('i'),
                c => folded.push(c),
            }
        }
    }
    folded.truncate(folded.floor_char_boundary(LONGEST));
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> String {
        let mut out = String::new();
        super::tokens(text, &mut Stems::default(), &mut |token| {
            put(&mut out, token)
        });
        out
    }

    #[test]
    fn english_is_stemmed_and_stop_words_leave() {
        assert_eq!(
            tokens("The connections were being retried"),
            "connect retri"
        );
        assert_eq!(tokens("Mel's dogs don't bark"), "mel dog bark");
    }

    #[test]
    fn identifiers_are_found_whole_and_in_parts_whatever_their_style() {
        assert_eq!(
            tokens("userSegmentTags"),
            "usersegmenttags user segment tag"
        );
        assert_eq!(
            tokens("user_segment_tags"),
            "usersegmenttags user segment tag"
        );
        assert_eq!(tokens("parseHTTPUrl"), "parsehttpurl pars http url");
        assert_eq!(tokens("f150"), "f150 150");
        assert_eq!(tokens("HTTP"), "http");
    }

    #[test]
    fn a_name_is_found_however_its_words_are_put_together() {
        let of = |query: &str| terms(query, &[], &mut Stems::default())[0].tokens.clone();
        assert_eq!(of("usersegmenttags"), ["usersegmenttag", "usersegmenttags"]);
        assert_eq!(of("userSegmentTags"), ["usersegmenttags", "usersegmenttag"]);
    }

    #[test]
    fn a_part_of_a_name_is_known_by_the_part_and_not_by_the_name() {
        let words = |query: &str| -> Vec<String> {
            let terms = terms(query, &[], &mut Stems::default()).into_iter();
            terms.map(|term| term.word).collect()
        };
        assert_eq!(
            words("isProtectedPath"),
            ["isProtectedPath", "Protected", "Path"]
        );
        assert_eq!(
            words("copy_queries harbour"),
            ["copy_queries", "copy", "queries", "harbour"]
        );
    }

    #[test]
    fn spellings_of_one_word_are_one_token() {
        for (one, other) in [
            ("Straße", "strasse"),
            ("GROẞ", "gross"),
            ("Ёлка", "елка"),
            ("е\u{308}лки", "елка"),
            ("cafe\u{301}", "café"),
        ] {
            assert_eq!(tokens(one), tokens(other), "{one}");
        }
    }

    #[test]
    fn single_characters_are_stored_only_where_no_pair_begins_with_them() {
        let stored = stored("银行的行长，好", &mut Stems::default());
        assert_eq!(stored.pairs, "银行 行的 的行 行长 长 好");
        // The length of a text is counted with them all.
        assert_eq!(stored.count, 9);
        assert_eq!(
            ["行", "的", "行长", "a"].map(begins_pairs),
            [true, false, false, false]
        );
        let quote = |text| quote(text, &mut Stems::default());
        let of = |phrases: &[&str], pairs: &[&str]| {
            Some(Quote {
                phrases: phrases.iter().map(|one| (*one).to_owned()).collect(),
                pairs: pairs.iter().map(|one| (*one).to_owned()).collect(),
            })
        };
        assert_eq!(quote("银行"), of(&[], &["银行"]));
        assert_eq!(quote("rust 好"), of(&["rust"], &["好"]));
        assert_eq!(quote("好"), None);
    }

    #[test]
    fn chinese_is_indexed_by_characters_and_pairs() {
        assert_eq!(tokens("银行柜员"), "银 银行 行 行柜 柜 柜员 员");
        assert_eq!(tokens("我的上司"), "的上 上 上司 司");
    }

    #[test]
    fn other_languages_have_their_own_stems() {
        assert_eq!(
            tokens(
                "wir haben uns für die Datenbanken entschieden und das war nicht die Entscheidung"
            ),
            "datenbank entschied entscheid"
        );
        assert_eq!(tokens("базы данных"), "баз дан");
        assert_eq!(tokens("Café"), "cafe");
        assert_eq!(tokens("ＦＵＬＬ"), "full");
    }

    #[test]
    fn a_query_knows_the_languages_of_the_notes() {
        let terms = terms(
            "Datenbanken",
            &[Language::English, Language::German],
            &mut Stems::default(),
        );
        assert_eq!(terms.len(), 1);
        assert_eq!(terms[0].tokens, ["datenbanken", "datenbank"]);
    }

    #[test]
    fn saying_a_word_again_counts_a_little() {
        let terms = terms("cache cache cache cache", &[], &mut Stems::default());
        assert_eq!(terms.len(), 1);
        assert!(terms[0].weight > 1.0 && terms[0].weight <= 1.75);
    }

    #[test]
    fn tokens_have_letters_and_digits_only() {
        let text = "a\"b' OR NEAR(x, 3) * -c ^d {e}:f ½ ² ① İstanbul ﬁne e\u{301}t\u{301} _ __x__ 日本語テキスト ไทย한국어";
        for token in tokens(text).split(' ') {
            assert!(
                token.chars().all(char::is_alphanumeric)
                    || token.chars().all(|c| unspaced(c) || is_mark(c)),
                "{token:?}"
            );
        }
    }
}
