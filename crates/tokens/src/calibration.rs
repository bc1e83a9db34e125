//! Learning how far our counts are from a provider's.
//!
//! No public tokenizer is Claude's or Gemini's, so a count is off by a factor
//! that differs from model to model and from estimator to estimator. Wherever a
//! transcript shows both numbers the factor can be learnt.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::{Estimator, Tokens};

/// Samples kept per model and estimator: enough for a stable median, few enough
/// to follow a model that changes under its name.
const KEPT: usize = 64;
/// Below this many samples a factor is an accident.
const ENOUGH: usize = 3;
/// Smaller counts are mostly rounding and unseen markup.
const SMALLEST_COUNT: Tokens = Tokens(256);
/// Ratios outside are no tokenizer's: content was added or removed unseen.
const BELIEVABLE: std::ops::RangeInclusive<f64> = 0.2..=5.0;
/// Whatever was learnt, an estimate is not corrected further than this.
const CLAMP: (f64, f64) = (0.5, 2.5);
/// The factor of a model that nobody names: no recorded content of chats and
/// agents was underrated by more. Better too early than too late.
const UNNAMED: f64 = 1.25;

/// One observation: the same content counted by us and reported by the provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// What our estimator made of it, uncorrected.
    pub counted: Tokens,
    /// What the provider said: a context, or the growth between two of them.
    pub reported: Tokens,
}

impl Sample {
    /// Whether it is large enough, and near enough to what tokenizers do, to
    /// teach anything.
    pub fn is_believable(self) -> bool {
        self.counted >= SMALLEST_COUNT && BELIEVABLE.contains(&self.ratio())
    }

    fn ratio(self) -> f64 {
        f64::from(self.reported.0) / f64::from(self.counted.0.max(1))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Series {
    seen: u64,
    recent: VecDeque<Sample>,
}

impl Series {
    fn observe(&mut self, sample: Sample) {
        self.seen += 1;
        self.recent.push_back(sample);
        while self.recent.len() > KEPT {
            self.recent.pop_front();
        }
    }

    /// The median of the ratios, each weighted by its count, since small samples
    /// are mostly markup. None weighs more than the middle one: a document that is
    /// counted otherwise than we do would outweigh all the rest.
    fn factor(&self) -> f64 {
        if self.recent.len() < ENOUGH {
            return 1.0;
        }
        let mut counts: Vec<u32> = self.recent.iter().map(|sample| sample.counted.0).collect();
        counts.sort_unstable();
        let most = counts[counts.len() / 2];
        let mut ratios: Vec<(f64, u64)> = self
            .recent
            .iter()
            .map(|sample| (sample.ratio(), u64::from(sample.counted.0.min(most).max(1))))
            .collect();
        ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: u64 = ratios.iter().map(|(_, weight)| weight).sum();
        let mut passed = 0;
        let median = ratios.iter().find_map(|(ratio, weight)| {
            passed += weight;
            (passed >= all.div_ceil(2)).then_some(*ratio)
        });
        median.unwrap_or(1.0).clamp(CLAMP.0, CLAMP.1)
    }
}

/// Factors from our counts to a provider's, one for each model *and* estimator:
/// what was learnt about one count says nothing about another.
///
/// A factor is the weighted median of the last 64 samples, between 0.5 and 2.5,
/// and 1 until there are three.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Calibration {
    models: BTreeMap<String, BTreeMap<Estimator, Series>>,
}

impl Calibration {
    /// Takes a sample in, unless it is too small or too far off to teach
    /// anything.
    pub fn observe(&mut self, model: &str, estimator: Estimator, sample: Sample) {
        if !sample.is_believable() {
            return;
        }
        self.models
            .entry(model.to_owned())
            .or_default()
            .entry(estimator)
            .or_default()
            .observe(sample);
    }

    /// Provider tokens for one of ours; 1 while nothing is known of a model, and
    /// more than that where not even its name is (`""`).
    pub fn factor(&self, model: &str, estimator: Estimator) -> f64 {
        let unknown = if model.is_empty() { UNNAMED } else { 1.0 };
        self.series(model, estimator)
            .map_or(unknown, Series::factor)
    }

    /// The least that a count can stand for, whatever a provider reports. Some
    /// leave out of their reports what they had cached, or cut off unseen.
    pub fn least(counted: Tokens) -> Tokens {
        counted.scale(CLAMP.0)
    }

    /// A count as the provider would report it.
    pub fn apply(&self, model: &str, estimator: Estimator, counted: Tokens) -> Tokens {
        counted.scale(self.factor(model, estimator))
    }

    /// How many samples were taken in, those no longer kept included.
    pub fn samples(&self, model: &str, estimator: Estimator) -> u64 {
        self.series(model, estimator)
            .map_or(0, |series| series.seen)
    }

    fn series(&self, model: &str, estimator: Estimator) -> Option<&Series> {
        self.models.get(model)?.get(&estimator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODEL: &str = "claude-opus-4-6";

    fn sample(counted: u32, reported: u32) -> Sample {
        Sample {
            counted: Tokens(counted),
            reported: Tokens(reported),
        }
    }

    fn learnt(samples: &[Sample]) -> Calibration {
        let mut calibration = Calibration::default();
        for sample in samples {
            calibration.observe(MODEL, Estimator::O200k, *sample);
        }
        calibration
    }

    #[test]
    fn a_model_that_nobody_names_is_counted_with_a_margin() {
        let calibration = Calibration::default();
        let counted = |model| calibration.apply(model, Estimator::Heuristic, Tokens(1_000));
        assert_eq!(counted(MODEL), Tokens(1_000));
        assert_eq!(counted(""), Tokens(1_250));
    }

    #[test]
    fn one_outlier_does_not_move_the_factor() {
        let calibration = learnt(&[
            sample(1_000, 1_200),
            sample(2_000, 2_400),
            sample(1_500, 1_800),
            sample(1_000, 4_900),
        ]);
        assert_eq!(calibration.factor(MODEL, Estimator::O200k), 1.2);
        assert_eq!(
            calibration.apply(MODEL, Estimator::O200k, Tokens(10_000)),
            Tokens(12_000)
        );
    }

    #[test]
    fn one_sample_does_not_outweigh_the_rest_by_its_size() {
        for outlier in [sample(114_000, 23_900), sample(50_000, 240_000)] {
            let usual = [sample(1_000, 1_200), sample(300, 360)];
            let calibration = learnt(&[usual[0], outlier, usual[1]]);
            assert_eq!(calibration.factor(MODEL, Estimator::O200k), 1.2);
        }
    }

    #[test]
    fn factors_are_never_mixed() {
        let calibration = learnt(&[sample(1_000, 1_200); 5]);
        assert_eq!(calibration.factor(MODEL, Estimator::Heuristic), 1.0);
        assert_eq!(calibration.factor("gpt-5", Estimator::O200k), 1.0);
        assert_eq!(calibration.samples(MODEL, Estimator::O200k), 5);
    }

    #[test]
    fn tiny_and_absurd_samples_teach_nothing() {
        let calibration = learnt(&[
            sample(0, 900),
            sample(20, 90),
            sample(1_000, 90),
            sample(1_000, 90_000),
        ]);
        assert_eq!(calibration, Calibration::default());
    }

    #[test]
    fn two_samples_are_not_enough() {
        assert_eq!(
            learnt(&[sample(1_000, 1_500); 2]).factor(MODEL, Estimator::O200k),
            1.0
        );
    }

    #[test]
    fn old_samples_make_room_for_new_ones() {
        let mut samples = vec![sample(1_000, 1_500); KEPT];
        samples.extend(vec![sample(1_000, 1_100); KEPT]);
        let calibration = learnt(&samples);
        assert_eq!(calibration.factor(MODEL, Estimator::O200k), 1.1);
        assert_eq!(calibration.samples(MODEL, Estimator::O200k), 128);
    }

    #[test]
    fn survives_being_stored() {
        let calibration = learnt(&[sample(1_000, 1_200), sample(2_000, 2_300)]);
        let stored = serde_json::to_string(&calibration).unwrap();
        assert_eq!(
            stored,
            r#"{"claude-opus-4-6":{"o200k":{"seen":2,"recent":[{"counted":1000,"reported":1200},{"counted":2000,"reported":2300}]}}}"#
        );
        assert_eq!(
            serde_json::from_str::<Calibration>(&stored).unwrap(),
            calibration
        );
    }

    proptest! {
        #[test]
        fn a_factor_is_always_within_its_clamp(
            pairs in proptest::collection::vec((any::<u32>(), any::<u32>()), 0..100)
        ) {
            let samples: Vec<_> = pairs.iter().map(|(c, r)| sample(*c, *r)).collect();
            let factor = learnt(&samples).factor(MODEL, Estimator::O200k);
            prop_assert!((CLAMP.0..=CLAMP.1).contains(&factor));
        }
    }
}
