//! What sort of thing a value is: only the like take each other's place.
//!
//! A number or a weekday shows it by itself. Of names nothing is known but how
//! they are said: "in Leeds" is where, "on Warfarin" is something else, and what
//! somebody is or has is seldom one thing at a time.

use super::words::{Class, Way};
use super::{Claim, Clause, Form, Words};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sort {
    Number(String),
    One(Class),
    Name,
    Plain,
}

impl Claim {
    pub(super) fn sort(&self, value: &Words) -> Sort {
        let number = self
            .numbers
            .iter()
            .find(|(_, number)| value.contains(number));
        // "Elm Street 3" is a place by its name.
        if let Some((of, _)) = number.filter(|(of, _)| !self.names.contains(of)) {
            return Sort::Number(of.clone());
        }
        if let Some((class, ..)) = self.classes.iter().find(|one| value.contains(&one.2)) {
            return Sort::One(*class);
        }
        match value.is_disjoint(&self.names) {
            true => Sort::Plain,
            false => Sort::Name,
        }
    }

    /// Whether a value that is no name, or is said as another one was, is plainly
    /// another of the same sort.
    pub(super) fn is_plainly_another(&self, old: &Clause, new: &Clause) -> bool {
        if self.sort(&new.value) != Sort::Name {
            return true;
        }
        if new.form == Form::Becomes {
            // "Сервер в Москве", "сервер переехал в Казань".
            let moved =
                new.way == Way::Placed && old.lead.as_ref().is_some_and(|lead| !is_by(lead));
            return old.is_said_as(new) || new.way == Way::Plain || moved;
        }
        // "Max ist Diabetiker", "Max ist jetzt Kapitän".
        let of_somebody = new.way == Way::Plain && new.lead.is_none();
        let several = new.way == Way::Used || of_somebody && new.subject.is_subset(&self.persons);
        let tied = old.form == Form::Becomes || old.lead == new.lead;
        old.is_said_as(new) && tied && !several
    }
}

impl Clause {
    pub(super) fn is_said_as(&self, other: &Clause) -> bool {
        let holds = |clause: &Clause| clause.form == Form::Holds;
        self.way == other.way && holds(self) == holds(other)
    }

    /// Whether one of two says who does it, by what or on which terms, and the
    /// other something else: "on GitHub", "under MIT".
    pub(super) fn is_tied_apart(&self, other: &Clause) -> bool {
        let (Some(one), Some(two)) = (&self.lead, &other.lead) else {
            return false;
        };
        one != two && (is_by(one) || is_by(two))
    }
}

/// Whether a preposition says who does it, by what, or on which terms.
fn is_by(lead: &str) -> bool {
    [
        "by", "with", "under", "mit", "unter", "avec", "sous", "par", "con", "bajo", "com", "sob",
        "met", "onder",
    ]
    .contains(&lead)
}

/// One form for each preposition: "im" is "in".
pub(super) fn lead_of(lead: &str) -> String {
    let plain = match lead {
        "im" | "ins" | "nel" | "nella" => "in",
        "zum" | "zur" => "zu",
        "am" => "an",
        "au" | "aux" | "en" => "à",
        "no" | "na" | "nos" | "nas" => "em",
        "al" => "a",
        "ze" => "z",
        "we" => "w",
        "со" => "с",
        other => other,
    };
    plain.to_owned()
}

/// Whether a word is for somebody of the family, or an animal that lives with it.
pub(super) fn is_relative(lower: &str) -> bool {
    RELATIVES.contains(&format!(" {lower} "))
}

const RELATIVES: &str = " mother mom mum father dad brother sister son daughter wife husband partner uncle aunt cousin \
    nephew niece grandma grandpa grandmother grandfather boy girl kid child dog cat \
    mutter mama vater papa bruder schwester sohn tochter frau mann partnerin onkel tante cousine neffe nichte oma opa \
    großmutter großvater kind enkel enkelin hund katze kater \
    moeder vader broer zus zoon dochter man vrouw oom hond kat ";
