//! Where two lines differ: in a value, in a name, in one place of the line.

use super::Features;
use crate::dream::phrase::{Kind, Phrase};

impl Features {
    /// What is between the values of two lines.
    pub(super) fn values_apart(&self, newer: &Features) -> Apart {
        let gone: Vec<&String> = self.values.difference(&newer.values).collect();
        let came: Vec<&String> = newer.values.difference(&self.values).collect();
        let is_subject =
            |phrase: &Phrase, word: &str| phrase.kind(word) == Some(Kind::Name { subject: true });
        match (gone.as_slice(), came.as_slice()) {
            ([], []) => Apart::No,
            (_, []) => Apart::Less,
            ([], _) => Apart::More,
            _ if gone.iter().any(|word| is_subject(&self.phrase, word))
                && came.iter().any(|word| is_subject(&newer.phrase, word)) =>
            {
                Apart::Things
            }
            ([old], [new]) => {
                let is_value = |phrase: &Phrase, word: &str| phrase.kind(word) == Some(Kind::Value);
                let values = is_value(&self.phrase, old) && is_value(&newer.phrase, new);
                match values && self.phrase.same_place(old, &newer.phrase, new) {
                    true => Apart::Value,
                    false => Apart::Name,
                }
            }
            _ => Apart::Many,
        }
    }

    /// Whether the lines are the same but that two parts changed places.
    pub(super) fn is_swapped(&self, newer: &Features) -> bool {
        let (head, tail) = self.ends_shared(newer);
        let (a, b) = (&self.words, &newer.words);
        if a.len() != b.len() {
            return false;
        }
        let (a, b) = (&a[head..a.len() - tail], &b[head..b.len() - tail]);
        let most = a.len().min(LONGEST_PART);
        (1..=most).any(|x| {
            let room = (a.len() - x).min(LONGEST_PART);
            (1..=room).any(|y| {
                let (of_a, of_b) = (a.len() - y, b.len() - x);
                a[..x] == b[of_b..] && a[of_a..] == b[..y] && a[x..of_a] == b[y..of_b]
            })
        })
    }

    /// How many words the lines share at their beginning, and behind that at
    /// their end.
    fn ends_shared(&self, newer: &Features) -> (usize, usize) {
        let (a, b) = (&self.words, &newer.words);
        let same = |pair: &(&String, &String)| pair.0 == pair.1;
        let head = a.iter().zip(b).take_while(same).count();
        let behind = a.iter().rev().zip(b.iter().rev());
        let left = a.len().min(b.len()) - head;
        let tail = behind.take(left).take_while(same).count();
        (head, tail)
    }

    /// Whether the lines are the same but for one place.
    pub(super) fn one_thing_differs(&self, newer: &Features) -> bool {
        let (a, b) = (&self.words, &newer.words);
        if a.len().min(b.len()) < 4 {
            return false;
        }
        let (head, tail) = self.ends_shared(newer);
        let (of_a, of_b) = (a.len() - head - tail, b.len() - head - tail);
        (1..=2).contains(&of_a) && (1..=2).contains(&of_b) && head + tail >= 3
    }
}

/// What is between the values of two lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    /// They have the same.
    No,
    /// The newer one has fewer, or more.
    Less,
    More,
    /// One value stands where another stood.
    Value,
    /// One differs that says which one, or stands elsewhere.
    Name,
    /// Several differ.
    Many,
    /// They are about two things.
    Things,
}

impl Apart {
    pub(super) fn fit(self) -> bool {
        matches!(self, Apart::No | Apart::Less | Apart::More)
    }
}

/// Words of a part that changes places with another.
const LONGEST_PART: usize = 8;
