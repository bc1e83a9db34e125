//! Medians and other quantiles.

/// Numbers in order.
pub(super) struct Sorted(Vec<f64>);

impl Sorted {
    pub(super) fn of(numbers: impl IntoIterator<Item = f64>) -> Sorted {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        Sorted(numbers)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The smallest number that a share `q` of all does not exceed; not a
    /// number if there is none.
    pub(super) fn quantile(&self, q: f64) -> f64 {
        let rank = (q * self.0.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.0.len().max(1)) - 1;
        self.0.get(at).copied().unwrap_or(f64::NAN)
    }

    /// The middle, between two numbers if need be.
    pub(super) fn median(&self) -> f64 {
        let middle = self.0.len() / 2;
        if !self.0.is_empty() && self.0.len().is_multiple_of(2) {
            return (self.0[middle - 1] + self.0[middle]) / 2.0;
        }
        self.0.get(middle).copied().unwrap_or(f64::NAN)
    }

    pub(super) fn max(&self) -> f64 {
        self.0.last().copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_numbers_that_occur() {
        let sorted = Sorted::of((1..=200).rev().map(f64::from));
        assert_eq!(
            [0.0, 0.5, 0.9, 0.99, 1.0].map(|q| sorted.quantile(q)),
            [1.0, 100.0, 180.0, 198.0, 200.0]
        );
        assert_eq!(
            (sorted.median(), sorted.max(), sorted.len()),
            (100.5, 200.0, 200)
        );
        assert_eq!(Sorted::of([3.0]).median(), 3.0);
        assert!(Sorted::of([]).median().is_nan());
    }
}
