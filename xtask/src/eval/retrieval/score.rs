//! The measures of a ranked list.

use std::collections::HashSet;
use std::time::Duration;

use longhaul_tokens::{ContentKind, Counter, Estimator};

use crate::sets::Question;

/// Tokens that may be put into a context.
const INJECTED: u64 = 2_000;

/// Averages over the questions of a set, in per cent.
pub(super) struct Scores {
    pub(super) questions: usize,
    pub(super) recall5: f64,
    pub(super) recall10: f64,
    /// Questions with anything right among the first ten.
    pub(super) hit10: f64,
    pub(super) ndcg: f64,
    pub(super) mrr: f64,
    pub(super) precision: f64,
    pub(super) p50: f64,
    pub(super) p95: f64,
}

#[derive(Default)]
pub(super) struct Sums {
    questions: usize,
    sums: [f64; 6],
    times: Vec<Duration>,
}

impl Sums {
    pub(super) fn took(&mut self, time: Duration) {
        self.times.push(time);
    }

    /// `found` are the names of what was found, each once; `hits` are all of it, with
    /// their texts.
    pub(super) fn add(&mut self, found: &[String], question: &Question, hits: &[(&str, &str)]) {
        let gold: HashSet<&str> = question.gold.iter().map(String::as_str).collect();
        let right = |count: usize| {
            let first = found.iter().take(count);
            first.filter(|name| gold.contains(name.as_str())).count() as f64
        };
        let worth = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let gain: f64 = (0..found.len().min(10))
            .filter(|rank| gold.contains(found[*rank].as_str()))
            .map(worth)
            .sum();
        let best: f64 = (0..gold.len().min(10)).map(worth).sum();
        let first = found.iter().position(|name| gold.contains(name.as_str()));
        let (mut tokens, mut injected, mut useful) = (0, 0, 0);
        for (name, text) in hits {
            tokens += u64::from(Estimator::O200k.count(text, ContentKind::Prose).0);
            if tokens > INJECTED && injected > 0 {
                break;
            }
            injected += 1;
            useful += usize::from(gold.contains(name));
        }
        let all = gold.len() as f64;
        let values = [
            right(5) / all,
            right(10) / all,
            f64::from(right(10) > 0.0),
            gain / best,
            first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
            if injected == 0 {
                0.0
            } else {
                useful as f64 / injected as f64
            },
        ];
        for (sum, value) in self.sums.iter_mut().zip(values) {
            *sum += value;
        }
        self.questions += 1;
    }

    pub(super) fn finish(mut self) -> Scores {
        self.times.sort_unstable();
        let at = |part: f64| {
            let place = (self.times.len() as f64 * part) as usize;
            let time = self
                .times
                .get(place.min(self.times.len().saturating_sub(1)));
            time.map_or(0.0, |time| time.as_secs_f64() * 1000.0)
        };
        let per_cent = |sum: f64| 100.0 * sum / self.questions.max(1) as f64;
        let [recall5, recall10, hit10, ndcg, mrr, precision] = self.sums.map(per_cent);
        Scores {
            questions: self.questions,
            recall5,
            recall10,
            hit10,
            ndcg,
            mrr,
            precision,
            p50: at(0.50),
            p95: at(0.95),
        }
    }
}
