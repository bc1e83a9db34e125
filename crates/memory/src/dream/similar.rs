//! Which lines say the same, and which may contradict each other.
//!
//! Nothing here knows what a sentence means. Two lines are *the same* where their
//! words are: all of them, or all but a small share on one side, with numbers, names
//! and denials agreeing. They *may contradict* each other where they share the words
//! that few other lines have and each says something else besides, or one denies.
//! Both are found over an inverted index, so that a line is compared with the few
//! that share its rarest words and never with all.

use std::collections::{BTreeMap, HashMap};

use longhaul_index::content_words;

/// Of the weight of all words of two lines, what the same lines share.
const SAME: f64 = 0.8;
/// The same where an encoder finds them near.
const SAME_BY_MEANING: f64 = 0.35;
/// The cosine from which an encoder finds two lines near.
const NEAR: f32 = 0.88;
/// Of the weight of the shorter of two lines, what they share where they are about
/// one thing.
const ABOUT: f64 = 0.4;
/// Words by which a line is looked up, the rarest.
const MOST_PROBES: usize = 8;
/// Lines of a word that are looked at, the newest.
const MOST_OF_WORD: usize = 64;
/// Lines that a line is compared with, those that share most of its rarest words.
const MOST_NEAR: usize = 24;

/// Words that deny: those of stopwords-iso (github.com/stopwords-iso) that do so on
/// their own. They are only counted.
const DENIALS: [&str; 31] = [
    "no", "not", "nor", "neither", "never", "none", "nothing", "without", "cannot",
    "t", // n't
    "nicht", "nichts", "kein", "keine", "keinen", "nie", "ohne", "pas", "sans", "aucun", "nunca",
    "sin", "não", "sem", "non", "niet", "geen", "нет", "不", "别", "无",
];

/// How two lines stand to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    /// They say the same.
    Same,
    /// They are about one thing and say two things of it.
    MayContradict,
    /// Neither.
    Apart,
}

/// How near two texts are to an encoder, where one is installed.
pub type Meaning<'a> = dyn Fn(&str, &str) -> Option<f32> + 'a;

/// A line taken apart. Words are numbers that an [`Index`] gives out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its letters and digits, in small letters.
    normal: String,
    /// Stems without stop words, pairs of characters where words are not spaced.
    terms: Vec<u32>,
    /// Those of them with digits.
    numbers: Vec<u32>,
    /// All its words in small letters.
    words: Vec<u32>,
    /// Those of them that are written as names are.
    names: Vec<u32>,
    denials: usize,
}

/// The lines that are known, by their words.
#[derive(Debug, Default)]
pub(super) struct Index {
    numbers_of: HashMap<String, u32>,
    lines: Vec<Line>,
    having: HashMap<u32, Vec<usize>>,
    normal: HashMap<String, Vec<usize>>,
}

impl Index {
    /// Takes a line apart.
    pub(super) fn line(&mut self, text: &str) -> Line {
        let mut line = Line {
            normal: normal(text),
            ..Line::default()
        };
        for term in content_words(text) {
            let number = self.number(&term);
            line.terms.push(number);
            if term.bytes().any(|byte| byte.is_ascii_digit()) {
                line.numbers.push(number);
            }
        }
        for word in line.normal.clone().split(' ') {
            line.denials += usize::from(DENIALS.contains(&word) && !word.starts_with(is_cjk));
            let number = self.number(&format!("={word}"));
            line.words.push(number);
        }
        // Where words are not spaced, a character is one.
        let unspaced = DENIALS.iter().filter(|word| word.starts_with(is_cjk));
        line.denials += unspaced
            .map(|word| text.matches(word).count())
            .sum::<usize>();
        for name in names(text) {
            let number = self.number(&format!("={}", normal(name)));
            line.names.push(number);
        }
        for list in [
            &mut line.terms,
            &mut line.numbers,
            &mut line.words,
            &mut line.names,
        ] {
            list.sort_unstable();
            list.dedup();
        }
        line
    }

    /// Adds a line; they are numbered from 0.
    pub(super) fn push(&mut self, line: Line) {
        let at = self.lines.len();
        for term in &line.terms {
            self.having.entry(*term).or_default().push(at);
        }
        let same = self.normal.entry(line.normal.clone()).or_default();
        same.push(at);
        self.lines.push(line);
    }

    /// Lines that may say the same as this one or contradict it, the nearest first.
    pub(super) fn near(&self, line: &Line) -> Vec<usize> {
        let mut probes: Vec<(&Vec<usize>, u32)> = line
            .terms
            .iter()
            .filter_map(|term| Some((self.having.get(term)?, *term)))
            .collect();
        probes.sort_by_key(|(having, term)| (having.len(), *term));
        let mut shared: BTreeMap<usize, usize> = BTreeMap::new();
        for (having, _) in probes.into_iter().take(MOST_PROBES) {
            for at in having.iter().rev().take(MOST_OF_WORD) {
                *shared.entry(*at).or_default() += 1;
            }
        }
        let mut near: Vec<(usize, usize)> = shared.into_iter().collect();
        near.sort_by(|a, b| b.1.cmp(&a.1).then(b.0.cmp(&a.0)));
        let same = self.normal.get(&line.normal).into_iter().flatten().rev();
        let mut found: Vec<usize> = same.take(MOST_NEAR).copied().collect();
        for (at, _) in near.into_iter().take(MOST_NEAR) {
            if !found.contains(&at) {
                found.push(at);
            }
        }
        found
    }

    /// How a line stands to a known one; `meaning` is asked only where words leave
    /// it open.
    pub(super) fn relation(
        &self,
        known: usize,
        line: &Line,
        meaning: &dyn Fn() -> Option<f32>,
    ) -> Relation {
        let known = &self.lines[known];
        if known.normal == line.normal {
            return Relation::Same;
        }
        let (shared, only_known, only_line) = self.weights(known, line);
        let all = shared + only_known + only_line;
        let numbers_agree = known.numbers == line.numbers;
        let names_agree = within(&known.names, &line.words) && within(&line.names, &known.words);
        let agree = numbers_agree && names_agree && known.denials == line.denials;
        let both_differ = only_known > 0.0 && only_line > 0.0;
        if agree && all > 0.0 {
            let by_meaning =
                || shared >= SAME_BY_MEANING * all && meaning().is_some_and(|near| near >= NEAR);
            if (!both_differ && shared >= SAME * all) || by_meaning() {
                return Relation::Same;
            }
        }
        let shorter = shared + only_known.min(only_line);
        let several = common(&known.terms, &line.terms).count() >= 2;
        let about_one = several && shared >= ABOUT * shorter;
        match about_one && (both_differ || !agree) {
            true => Relation::MayContradict,
            false => Relation::Apart,
        }
    }

    /// What the words of two lines weigh that both have, and that one has.
    fn weights(&self, a: &Line, b: &Line) -> (f64, f64, f64) {
        let sum = |terms: &mut dyn Iterator<Item = &u32>| -> f64 {
            terms.map(|term| self.weight(*term)).sum()
        };
        let shared = sum(&mut common(&a.terms, &b.terms));
        let own = |line: &Line| (sum(&mut line.terms.iter()) - shared).max(0.0);
        // Sums in another order differ in their last bits.
        let apart = |line: &Line, other: &Line| match within(&line.terms, &other.terms) {
            true => 0.0,
            false => own(line),
        };
        (shared, apart(a, b), apart(b, a))
    }

    /// A word weighs the more, the fewer lines have it.
    fn weight(&self, term: u32) -> f64 {
        let having = self.having.get(&term).map_or(0, Vec::len).max(1);
        (1.0 + self.lines.len().max(1) as f64 / having as f64).ln()
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers_of.get(word) {
            return *number;
        }
        let number = self.numbers_of.len() as u32;
        self.numbers_of.insert(word.to_owned(), number);
        number
    }
}

/// How many words of a line mean something: pairs of characters count half.
pub(super) fn size(text: &str) -> usize {
    let terms = content_words(text);
    let spaced = terms.iter().filter(|term| term.is_ascii()).count();
    spaced + (terms.len() - spaced).div_ceil(2)
}

/// Whether all values and words of a line stand in one of these texts: nothing was
/// added to them.
pub(super) fn is_grounded(line: &str, texts: &[&str]) -> bool {
    let mut index = Index::default();
    let line = index.line(line);
    texts.iter().any(|text| {
        let text = index.line(text);
        within(&line.terms, &text.terms)
            && within(&line.names, &text.words)
            && line.denials == text.denials
    })
}

fn is_cjk(c: char) -> bool {
    c >= '\u{2e80}'
}

fn normal(text: &str) -> String {
    let letters: String = text
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { ' ' })
        .flat_map(char::to_lowercase)
        .collect();
    letters.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words that are written as names are: with a capital that no sentence begins with,
/// or with a sign or a capital inside.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let mut begins = true;
    text.split_whitespace().filter_map(move |word| {
        let begun = std::mem::replace(&mut begins, word.ends_with(['.', '!', '?', ':', '。']));
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let mut chars = bare.chars();
        let first = chars.next()?;
        let inside = chars
            .clone()
            .any(|c| c.is_uppercase() || matches!(c, '_' | '/' | '.' | '@'));
        let is_name = inside || (first.is_uppercase() && !begun && chars.next().is_some());
        // "I've" is no name.
        (is_name && !bare.contains(['\'', '’'])).then_some(bare)
    })
}

fn common<'a>(a: &'a [u32], b: &'a [u32]) -> impl Iterator<Item = &'a u32> {
    a.iter().filter(|one| b.binary_search(one).is_ok())
}

fn within(a: &[u32], b: &[u32]) -> bool {
    a.iter().all(|one| b.binary_search(one).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How two lines stand to each other among others.
    fn relation(a: &str, b: &str) -> Relation {
        let mut index = Index::default();
        for text in [a, "The office is closed in August.", "Lunch is at noon."] {
            let line = index.line(text);
            index.push(line);
        }
        let line = index.line(b);
        index.relation(0, &line, &|| None)
    }

    #[test]
    fn the_same_words_are_the_same_line_whatever_their_dress() {
        for (a, b) in [
            ("Never push to main.", "never push to MAIN!"),
            ("The tests run on Postgres", "Tests are run on the Postgres"),
            ("提交之前必须运行测试。", "提交之前必须运行测试"),
        ] {
            assert_eq!(relation(a, b), Relation::Same, "{a} / {b}");
        }
    }

    #[test]
    fn another_value_name_number_or_a_denial_may_contradict() {
        for (a, b) in [
            (
                "The relay listens on port 8100",
                "The relay listens on port 9100",
            ),
            ("Never push to main on Fridays", "Push to main on Fridays"),
            (
                "Nightly backups go to the cellar",
                "Nightly backups go to the attic",
            ),
            (
                "Backups of the shop belong to Petra",
                "Backups of the shop belong to Omar",
            ),
            (
                "Wir deployen den Laden nur am Montag",
                "Wir deployen den Laden nur am Dienstag",
            ),
            ("数据库运行在法兰克福的服务器", "数据库运行在都柏林的服务器"),
        ] {
            assert_eq!(relation(a, b), Relation::MayContradict, "{a} / {b}");
        }
    }

    #[test]
    fn lines_about_two_things_are_apart() {
        for (a, b) in [
            (
                "The relay listens on port 8100",
                "Petra looks after the backups",
            ),
            ("Never push to main", "Never eat at the keyboard"),
        ] {
            assert_eq!(relation(a, b), Relation::Apart, "{a} / {b}");
        }
    }

    #[test]
    fn an_encoder_joins_what_words_leave_open_but_no_two_numbers() {
        let of = |a: &str, b: &str| {
            let mut index = Index::default();
            let line = index.line(a);
            index.push(line);
            let line = index.line(b);
            index.relation(0, &line, &|| Some(0.95))
        };
        let (a, b) = ("Keep answers short please", "Keep replies short please");
        assert_eq!(of(a, b), Relation::Same);
        assert_eq!(
            of("wait 5 minutes", "wait 9 minutes"),
            Relation::MayContradict
        );
    }

    #[test]
    fn a_wording_may_leave_words_out_and_add_none() {
        let notes = ["JWT tokens expire after 15 minutes in the auth-service"];
        assert!(is_grounded("JWT tokens expire after 15 minutes", &notes));
        for made_up in [
            "JWT tokens expire after 5 minutes",
            "JWT tokens expire after 15 minutes, says Alice",
            "JWT tokens never expire after 15 minutes",
        ] {
            assert!(!is_grounded(made_up, &notes), "{made_up}");
        }
    }
}
