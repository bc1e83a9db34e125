//! The order of hits.

use std::collections::HashSet;

use super::{Candidate, Scored};
use crate::index::Matrix;

/// Keeps the `count` best, the best first. Ties go to the newer place, which
/// comes later in its session.
pub(super) fn best(candidates: &mut Vec<Candidate>, count: usize) {
    keep(candidates, count, |one| (one.score, one.unit));
}

/// The same of scores.
pub(super) fn best_scored(scored: &mut Vec<Scored>, count: usize) {
    keep(scored, count, |one| (one.score, one.unit));
}

fn keep<T>(list: &mut Vec<T>, count: usize, of: impl Fn(&T) -> (f32, u32)) {
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

/// Cosines as a part of the way from an ordinary one to the best. A cosine
/// says little by itself: some models call everything alike.
pub(super) fn spread(cosines: &mut [Option<(f32, u32)>]) {
    let mut known: Vec<f32> = cosines
        .iter()
        .flatten()
        .map(|(cosine, _)| *cosine)
        .collect();
    if known.is_empty() {
        return;
    }
    let ordinary = known.len().saturating_sub(1).min(200);
    let (_, low, _) = known.select_nth_unstable_by(ordinary, |a, b| b.total_cmp(a));
    let low = *low;
    let high = known.iter().copied().fold(f32::MIN, f32::max);
    let range = (high - low).max(1e-6);
    for (cosine, _) in cosines.iter_mut().flatten() {
        *cosine = ((*cosine - low) / range).clamp(0.0, 1.0);
    }
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

/// The words of a text, for comparing it with others.
fn word_set(text: &str) -> HashSet<&str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 2)
        .collect()
}

/// How much two texts have in common, from 0 to 1.
fn overlap(a: &HashSet<&str>, b: &HashSet<&str>) -> f32 {
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

/// Maximal marginal relevance: each next hit is the best that does not repeat
/// those before it.
pub(super) fn diverse(
    candidates: Vec<Candidate>,
    texts: &[String],
    matrix: Option<&Matrix>,
    wanted: usize,
    lambda: f32,
) -> Vec<(Candidate, String)> {
    let top = candidates
        .first()
        .map_or(1.0, |first| first.score)
        .max(1e-6);
    let sets: Vec<HashSet<&str>> = texts.iter().map(|text| word_set(text)).collect();
    let mut left: Vec<(usize, Candidate)> = candidates.into_iter().enumerate().collect();
    let mut chosen: Vec<(usize, Candidate)> = Vec::new();
    while chosen.len() < wanted.min(COMPARED) && !left.is_empty() {
        let worth = |(_, candidate): &(usize, Candidate)| {
            lambda * candidate.score / top - (1.0 - lambda) * candidate.why.repeats
        };
        let next = (0..left.len())
            .max_by(|&a, &b| worth(&left[a]).total_cmp(&worth(&left[b])).then(b.cmp(&a)))
            .expect("something is left");
        let (at, candidate) = left.remove(next);
        for (other, rest) in &mut left {
            let words = overlap(&sets[at], &sets[*other]);
            let meaning =
                matrix.and_then(|matrix| matrix.alike(candidate.slot as usize, rest.slot as usize));
            // Meaning alone is no repetition: the question and its answer
            // mean much the same.
            let like = meaning.map_or(words, |meaning| words.max(words * 0.5 + meaning * 0.5));
            let like = ((like - ALIKE) / (1.0 - ALIKE)).clamp(0.0, 1.0);
            rest.why.repeats = rest.why.repeats.max(like);
        }
        chosen.push((at, candidate));
    }
    let more = wanted.saturating_sub(chosen.len());
    chosen.extend(left.into_iter().take(more));
    chosen
        .into_iter()
        .map(|(at, candidate)| (candidate, texts[at].clone()))
        .collect()
}
