//! Words in other forms: *commit* and *committed*, *löschen* and *gelöscht*.
//!
//! A statement in two wordings seldom has its verb in one form. Where all other
//! words agree, a shared stem with common endings is the same word.

use super::Words;

/// Endings that make another form of a word, not another word.
const ENDINGS: &str = " e s n t d r m j u a o i y en et te er es ed st em ten tes ung ing é ée ées és ez ant ons \
    ar ir as an am aj ać ado ada ados adas ido ida ars arse irs irse ers erse are ere ire ato ata ati ate ito ita uto ando \
    ć to о а и у ы е я ю ь й ит ить ать ай ять ти ет uj ować ment ments ien iert iere ieren eln elt ";

/// Whether two words without their endings are forms of one.
pub(in crate::dream) fn is_kin(a: &str, b: &str) -> bool {
    // "thing1" and "thing11" are two.
    let plain = |word: &str| !word.chars().any(|c| c.is_ascii_digit());
    a == b || plain(a) && plain(b) && is_one(a, b)
}

fn is_one(a: &str, b: &str) -> bool {
    has_one_frame(a, b)
        || has_one_stem(a, b)
        || [(a, b), (b, a)].iter().any(|(a, b)| is_participle(a, b))
}

fn has_one_stem(a: &str, b: &str) -> bool {
    let both = a.chars().zip(b.chars());
    let shared = both.take_while(|(a, b)| a == b).count();
    let rest = |word: &str| word.chars().skip(shared).collect::<String>();
    let (of_a, of_b) = (rest(a), rest(b));
    // "log" and "logg" of "logging".
    let last = a.chars().take(shared).last();
    let doubled = |long: &str, short: &str| {
        short.is_empty() && long.chars().count() == 1 && long.chars().next() == last
    };
    let is_ending =
        |ending: &String| ending.is_empty() || ENDINGS.split_whitespace().any(|one| one == ending);
    doubled(&of_a, &of_b)
        || doubled(&of_b, &of_a)
        || (shared >= LEAST && is_ending(&of_a) && is_ending(&of_b))
}

/// "überspringen" and "übersprungen", "schreib" and "geschrieb": strong verbs
/// change their vowels and keep their consonants.
fn has_one_frame(a: &str, b: &str) -> bool {
    let frame = |word: &str| -> String {
        let bare = word.strip_prefix("ge").filter(|rest| rest.len() >= LEAST);
        let kept = |c: &char| !"aeiouyäöü".contains(*c);
        let all: String = bare.unwrap_or(word).chars().filter(kept).collect();
        all.trim_end_matches(['n', 't']).to_owned()
    };
    let (of_a, of_b) = (frame(a), frame(b));
    let begins = |word: &str| word.strip_prefix("ge").unwrap_or(word).chars().next();
    of_a == of_b
        && of_a.chars().count() >= LEAST
        && begins(a) == begins(b)
        && a.is_ascii() == b.is_ascii()
}

/// Characters of a stem; fewer are shared by chance.
const LEAST: usize = 4;

/// "speichern" and "gespeichert".
fn is_participle(participle: &str, verb: &str) -> bool {
    participle
        .strip_prefix("ge")
        .is_some_and(|rest| rest.chars().count() >= LEAST && has_one_stem(rest, verb))
}

/// Whether a word stands in some form among others.
pub(super) fn has_kin(words: &Words, word: &str) -> bool {
    words.contains(word) || words.iter().any(|other| is_kin(other, word))
}

/// Those of some words that stand in some form among others.
pub(super) fn kin_shared(words: &Words, others: &Words) -> usize {
    words.iter().filter(|word| has_kin(others, word)).count()
}

/// Whether two sets are of the same words, in whatever form.
pub(in crate::dream) fn are_kin(a: &Words, b: &Words) -> bool {
    let mut left: Vec<&String> = b.difference(a).collect();
    let own: Vec<&String> = a.difference(b).collect();
    own.len() == left.len()
        && own.iter().all(|word| {
            let at = left.iter().position(|other| is_kin(word, other));
            at.map(|at| left.swap_remove(at)).is_some()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_are_told_from_other_words() {
        for (a, b) in [
            ("commit", "committ"),
            ("log", "logg"),
            ("deploy", "deployment"),
            ("speichern", "gespeichert"),
            ("lösch", "gelöscht"),
            ("supprimer", "supprimé"),
            ("borr", "borrars"),
            ("modificar", "modificato"),
            ("usuwaj", "usuwać"),
            ("überspring", "übersprung"),
            ("schreib", "geschrieb"),
        ] {
            assert!(is_kin(a, b) && is_kin(b, a), "{a} / {b}");
        }
        for (a, b) in [
            ("commit", "comment"),
            ("port", "portal"),
            ("server", "servic"),
            ("test", "text"),
            ("lexer", "parser"),
            ("maria", "mario's"),
            ("back", "backend"),
        ] {
            assert!(!is_kin(a, b) && !is_kin(b, a), "{a} / {b}");
        }
    }
}
