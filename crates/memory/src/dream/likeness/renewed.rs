//! "My new address is …": *new* before what an older line speaks of is a word of
//! change, and no name that sets one thing apart from another.

use super::{Features, Relation};

/// A line that calls what it speaks of new, read without that word and with a
/// word of change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Renewed {
    line: Features,
    /// Whose it is: "my", "our". Of "the new office" there may be an old one
    /// beside it.
    owned: bool,
}

/// How things are called new, in lower case: a name has a capital letter.
const NEW: &str = " new neu neue neuer neues neuen neuem nouveau nouvel nouvelle nouveaux nouvelles \
    nuevo nueva nuevos nuevas novo nova novos novas nuovo nuova nuovi nuove nieuw nieuwe \
    nowy nowa nowe новый новая новое новые ";

/// Whose something is.
const OWN: &str = " my our his her their mein meine meiner meinem meinen unser unsere unserer unserem \
    unseren mon ma mes notre nos mi mis nuestro nuestra nuestros nuestras meu minha nosso nossa \
    mio mia nostro nostra mijn onze ons mój moja moje nasz nasza nasze \
    мой моя моё мои наш наша наше наши ";

/// What says that a thing is known.
const THE: &str = " the der die das dem den le la les el los las il o a os as het de ";

/// The same where words are not spaced.
const UNSPACED: [&str; 4] = ["我的新", "我们的新", "私の新しい", "うちの新しい"];

impl Renewed {
    pub(super) fn of(text: &str) -> Option<Box<Renewed>> {
        let (rest, owned) = without_new(text)?;
        let line = Features::read(&rest);
        Some(Box::new(Renewed { line, owned }))
    }

    /// How it stands to an older line, if that speaks of the same as if it was not
    /// called new.
    pub(super) fn relation_to(&self, older: &Features, newer: &Features) -> Option<Relation> {
        let is_of_it =
            self.line.claim.is_about_what(&older.claim) && !newer.claim.is_about_what(&older.claim);
        let found = is_of_it.then(|| older.relation(&self.line))?;
        match found {
            Relation::Replaces if !self.owned => Some(Relation::Perhaps),
            found => Some(found),
        }
    }
}

/// A line that says "now" in the place of its first "new", and whether that stands
/// behind a word that says whose.
fn without_new(text: &str) -> Option<(String, bool)> {
    let is_in = |list: &str, word: &str| list.contains(&format!(" {word} "));
    for mark in UNSPACED {
        let new = mark.find('新').unwrap_or(mark.len());
        if text.contains(mark) {
            let known = text.replacen(mark, &mark[..new], 1);
            let now = if mark.contains('の') {
                "今は"
            } else {
                "现在"
            };
            return Some((format!("{now}{known}"), true));
        }
    }
    let words: Vec<&str> = text.split(' ').collect();
    let at = words.windows(2).position(|two| {
        let before = two[0].to_lowercase();
        is_in(NEW, two[1]) && (is_in(OWN, &before) || is_in(THE, &before))
    })?;
    let owned = is_in(OWN, &words[at].to_lowercase());
    let mut rest = words[..=at].to_vec();
    rest.extend(&words[at + 2..]);
    let rest = rest.join(" ");
    let mut chars = rest.chars();
    let first = chars.next()?.to_lowercase();
    Some((format!("Now {first}{}", chars.as_str()), owned))
}
