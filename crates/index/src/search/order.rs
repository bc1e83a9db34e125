//! The order of hits.

use std::cell::OnceCell;
use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::{Candidate, Scored};
use crate::error::IndexError;
use crate::store::Matrix;

/// Keeps the `count` best by score and unit, the best first. Ties go to the newer
/// place, which comes later in its session.
pub(super) fn keep_best<T>(list: &mut Vec<T>, count: usize, of: impl Fn(&T) -> (f32, u32)) {
    let order = |a: &T, b: &T| {
        let (a, b) = (of(a), of(b));
        b.0.total_cmp(&a.0).then(b.1.cmp(&a.1))
    };
    if list.len() > count {
        list.select_nth_unstable_by(count, order);
        list.truncate(count);
    }
    list.sort_unstable_by(order);
}

/// How fast the worth of a rank falls.
const RANK: f32 = 10.0;

/// Weighted reciprocal ranks in place of scores.
pub(super) fn fuse_ranks(
    scored: &mut [Scored],
    by_words: &dyn Fn(u32) -> f32,
    by_vector: &dyn Fn(u32) -> Option<f32>,
    share: f32,
) {
    let ranks = |score: &dyn Fn(u32) -> f32| -> Vec<f32> {
        let scores: Vec<f32> = scored.iter().map(|one| score(one.unit)).collect();
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let mut ranks = vec![0.0; order.len()];
        for (rank, at) in order.into_iter().enumerate() {
            ranks[at] = RANK / (RANK + rank as f32);
        }
        ranks
    };
    let words = ranks(by_words);
    let vectors = ranks(&|unit| by_vector(unit).unwrap_or(0.0));
    for (at, one) in scored.iter_mut().enumerate() {
        let vector = by_vector(one.unit).map_or(words[at], |_| vectors[at]);
        one.score = (1.0 - share) * words[at] + share * vector;
    }
}

/// Words, looked up by the thousand in each search.
type WordSet<'a> = HashSet<&'a str, RandomState>;

/// The words of a text, for comparing it with others.
fn word_set(text: &str) -> WordSet<'_> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .collect()
}

/// How much two texts have in common, from 0 to 1.
fn overlap(a: &WordSet<'_>, b: &WordSet<'_>) -> f32 {
    let common = a.intersection(b).count() as f32;
    let all = (a.len() + b.len()) as f32 - common;
    if all > 0.0 { common / all } else { 0.0 }
}

/// What a repetition must have in common with a hit before it costs anything.
/// Two messages about one thing are alike, and both may be wanted.
const ALIKE: f32 = 0.6;

/// So many hits are chosen with a view to those before them. Further ones are read
/// by programs, if at all, and to compare each with all would take seconds.
const COMPARED: usize = 64;

/// A candidate, and with how many of those chosen before it was compared.
struct Waiting {
    at: usize,
    candidate: Candidate,
    compared: usize,
}

/// The texts of candidates and their words. Each is read when it is first needed,
/// which of most it never is.
struct Texts<'a> {
    read: &'a dyn Fn(u32) -> Result<String, IndexError>,
    texts: Vec<OnceCell<String>>,
}

impl Texts<'_> {
    fn text(&self, one: &Waiting) -> Result<&str, IndexError> {
        let kept = &self.texts[one.at];
        if let Some(text) = kept.get() {
            return Ok(text);
        }
        let text = (self.read)(one.candidate.slot)?;
        Ok(kept.get_or_init(|| text))
    }

    fn words<'a>(
        &'a self,
        one: &Waiting,
        sets: &'a [OnceCell<WordSet<'a>>],
    ) -> Result<&'a WordSet<'a>, IndexError> {
        let text = self.text(one)?;
        Ok(sets[one.at].get_or_init(|| word_set(text)))
    }
}

/// Maximal marginal relevance: each next hit is the best that does not repeat
/// those before it. The candidates come with the best first.
pub(super) fn diverse(
    candidates: Vec<Candidate>,
    read: &dyn Fn(u32) -> Result<String, IndexError>,
    matrix: Option<&Matrix>,
    wanted: usize,
    lambda: f32,
) -> Result<Vec<(Candidate, String)>, IndexError> {
    let top = candidates
        .first()
        .map_or(1.0, |first| first.score)
        .max(1e-6);
    let texts = Texts {
        read,
        texts: vec![OnceCell::new(); candidates.len()],
    };
    let sets = vec![OnceCell::new(); candidates.len()];
    let compare = |one: &mut Waiting, chosen: &[Waiting]| -> Result<(), IndexError> {
        for before in &chosen[one.compared..] {
            let words = overlap(texts.words(before, &sets)?, texts.words(one, &sets)?);
            let slots = [before, one].map(|one| one.candidate.slot as usize);
            let meaning = matrix.and_then(|matrix| matrix.alike(slots[0], slots[1]));
            // Meaning alone is no repetition: the question and its answer
            // mean much the same.
            let like = meaning.map_or(words, |meaning| words.max(words * 0.5 + meaning * 0.5));
            let like = ((like - ALIKE) / (1.0 - ALIKE)).clamp(0.0, 1.0);
            let repeats = &mut one.candidate.why.repeats;
            *repeats = repeats.max(like);
        }
        one.compared = chosen.len();
        Ok(())
    };
    let waiting = candidates.into_iter().enumerate();
    let waiting = waiting.map(|(at, candidate)| Waiting {
        at,
        candidate,
        compared: 0,
    });
    let mut left: Vec<Waiting> = waiting.collect();
    let mut chosen: Vec<Waiting> = Vec::new();
    while chosen.len() < wanted.min(COMPARED) && !left.is_empty() {
        let mut next = (0, f32::MIN);
        for (place, one) in left.iter_mut().enumerate() {
            // What it is worth if it repeats nothing. Those behind it are worth no
            // more, so the best is known once one is worth as much.
            let most = lambda * one.candidate.score / top;
            if most <= next.1 {
                break;
            }
            compare(one, &chosen)?;
            let worth = most - (1.0 - lambda) * one.candidate.why.repeats;
            if worth > next.1 {
                next = (place, worth);
            }
        }
        chosen.push(left.remove(next.0));
    }
    let more = wanted.saturating_sub(chosen.len());
    let compared = chosen.len();
    for mut one in left.into_iter().take(more) {
        compare(&mut one, &chosen[..compared])?;
        chosen.push(one);
    }
    let with_text = |one: Waiting| {
        let text = texts.text(&one)?.to_owned();
        Ok((one.candidate, text))
    };
    chosen.into_iter().map(with_text).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::cell::RefCell;

    use proptest::prelude::*;

    use super::*;
    use crate::record::Why;

    fn candidate(slot: usize, score: f32) -> Candidate {
        Candidate {
            unit: slot as u32,
            slot: slot as u32,
            score,
            why: Why::default(),
        }
    }

    /// What the choice is by definition: of those left the one that is worth most,
    /// each compared with all that were chosen before it.
    fn by_definition(scores: &[f32], texts: &[String], wanted: usize, lambda: f32) -> Vec<usize> {
        let sets: Vec<WordSet<'_>> = texts.iter().map(|text| word_set(text)).collect();
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < wanted.min(scores.len()) {
            let worth = |at: usize| {
                let like = chosen.iter().map(|one| overlap(&sets[*one], &sets[at]));
                let like = like.fold(0f32, f32::max);
                let repeats = ((like - ALIKE) / (1.0 - ALIKE)).clamp(0.0, 1.0);
                lambda * scores[at] / scores[0].max(1e-6) - (1.0 - lambda) * repeats
            };
            let left = (0..scores.len()).filter(|at| !chosen.contains(at));
            let next = left.max_by(|a, b| worth(*a).total_cmp(&worth(*b)).then(b.cmp(a)));
            chosen.extend(next);
        }
        chosen
    }

    proptest! {
        #[test]
        fn reading_few_texts_chooses_as_reading_all_does(
            mut scores in proptest::collection::vec(0.01f32..1.0, 1..24),
            words in proptest::collection::vec(0usize..6, 24 * 4),
            wanted in 1usize..30,
            lambda in 0f32..=1.0,
        ) {
            scores.sort_by(|a, b| b.total_cmp(a));
            const WORDS: [&str; 6] = ["berlin", "cargo", "depot", "engine", "ferry", "glacier"];
            let text = |words: &[usize]| {
                let words: Vec<&str> = words.iter().map(|word| WORDS[*word]).collect();
                words.join(" ")
            };
            let texts: Vec<String> = words.chunks(4).map(text).collect();
            let texts = &texts[..scores.len()];
            let candidates = scores.iter().enumerate();
            let candidates = candidates.map(|(slot, score)| candidate(slot, *score)).collect();
            let read = |slot: u32| Ok(texts[slot as usize].clone());
            let chosen = diverse(candidates, &read, None, wanted, lambda).unwrap();
            for (candidate, text) in &chosen {
                prop_assert_eq!(text, &texts[candidate.slot as usize]);
            }
            let slots: Vec<usize> = chosen.iter().map(|(one, _)| one.slot as usize).collect();
            prop_assert_eq!(slots, by_definition(&scores, texts, wanted, lambda));
        }
    }

    #[test]
    fn texts_that_cannot_be_chosen_are_not_read() {
        let was_read = RefCell::new(Vec::new());
        let read = |slot: u32| {
            was_read.borrow_mut().push(slot);
            Ok(format!("note number {slot} about something else: {slot}"))
        };
        let scores = [1.0, 0.9, 0.8, 0.1, 0.1, 0.1];
        let candidates = scores.into_iter().enumerate();
        let candidates = candidates.map(|(slot, score)| candidate(slot, score));
        let chosen = diverse(candidates.collect(), &read, None, 2, 0.7).unwrap();
        assert_eq!(chosen.len(), 2);
        was_read.borrow_mut().sort_unstable();
        assert_eq!(*was_read.borrow(), [0, 1, 2]);
    }
}
