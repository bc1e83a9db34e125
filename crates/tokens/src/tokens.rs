//! The unit: a number of tokens that cannot be mistaken for bytes or characters.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A number of tokens. All arithmetic saturates: a context is never negative,
/// and a sum that no longer fits is simply too large.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Tokens(pub u32);

impl Tokens {
    /// No tokens at all.
    pub const ZERO: Tokens = Tokens(0);
    /// The largest count that can be held; sums saturate here.
    pub const MAX: Tokens = Tokens(u32::MAX);

    /// A count of any size, saturating at [`Tokens::MAX`].
    pub fn saturating(count: usize) -> Tokens {
        Tokens(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Tokens for `chars` characters at `tenths / 10` characters a token,
    /// rounded up so that no text is free.
    pub fn from_chars(chars: usize, tenths: u32) -> Tokens {
        let tenths = u64::from(tenths.max(1));
        let tokens = (chars as u64).saturating_mul(10).div_ceil(tenths);
        Tokens(u32::try_from(tokens).unwrap_or(u32::MAX))
    }

    /// This count times `factor`, rounded to the nearest token. A factor that is
    /// negative or not a number gives zero.
    pub fn scale(self, factor: f64) -> Tokens {
        // A float-to-integer cast saturates and maps NaN to zero.
        Tokens((f64::from(self.0) * factor).round() as u32)
    }

    /// `self` as a share of `whole`: 0.81 for 162,000 of 200,000.
    pub fn share_of(self, whole: Tokens) -> f64 {
        f64::from(self.0) / f64::from(whole.0.max(1))
    }

    /// For narrow places: `812`, `8.2k`, `162k`, `1M`, `1.05M`.
    pub fn short(self) -> String {
        let n = u64::from(self.0);
        // The limits are where rounding would spill into the next unit
        // ("1000k", "10.0k").
        match n {
            0..=999 => n.to_string(),
            1_000..=9_949 => decimal((n + 50) / 100, 10, "k"),
            9_950..=999_499 => format!("{}k", (n + 500) / 1_000),
            _ => decimal((n + 5_000) / 10_000, 100, "M"),
        }
    }
}

/// `units` of `1 / per_whole`, without trailing zeros.
fn decimal(units: u64, per_whole: u64, suffix: &str) -> String {
    let (whole, rest) = (units / per_whole, units % per_whole);
    if rest == 0 {
        return format!("{whole}{suffix}");
    }
    let width = if per_whole == 10 { 1 } else { 2 };
    let rest = format!("{rest:0width$}");
    format!("{whole}.{}{suffix}", rest.trim_end_matches('0'))
}

/// With thousands separators: `162,000`.
impl fmt::Display for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut grouped = String::with_capacity(digits.len() + 3);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        f.pad_integral(true, "", &grouped)
    }
}

impl Add for Tokens {
    type Output = Tokens;
    fn add(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_add(other.0))
    }
}

impl Sub for Tokens {
    type Output = Tokens;
    fn sub(self, other: Tokens) -> Tokens {
        Tokens(self.0.saturating_sub(other.0))
    }
}

impl AddAssign for Tokens {
    fn add_assign(&mut self, other: Tokens) {
        *self = *self + other;
    }
}

impl SubAssign for Tokens {
    fn sub_assign(&mut self, other: Tokens) {
        *self = *self - other;
    }
}

impl Sum for Tokens {
    fn sum<I: Iterator<Item = Tokens>>(iter: I) -> Tokens {
        iter.fold(Tokens::ZERO, Add::add)
    }
}

impl<'a> Sum<&'a Tokens> for Tokens {
    fn sum<I: Iterator<Item = &'a Tokens>>(iter: I) -> Tokens {
        iter.copied().sum()
    }
}

impl From<u32> for Tokens {
    fn from(count: u32) -> Tokens {
        Tokens(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_read_separators_and_short_forms() {
        let cases = [
            (0, "0", "0"),
            (812, "812", "812"),
            (1_000, "1,000", "1k"),
            (8_192, "8,192", "8.2k"),
            (9_949, "9,949", "9.9k"),
            (9_950, "9,950", "10k"),
            (162_000, "162,000", "162k"),
            (999_499, "999,499", "999k"),
            (999_500, "999,500", "1M"),
            (1_000_000, "1,000,000", "1M"),
            (1_047_576, "1,047,576", "1.05M"),
            (1_500_000, "1,500,000", "1.5M"),
            (2_097_152, "2,097,152", "2.1M"),
        ];
        for (count, long, short) in cases {
            let tokens = Tokens(count);
            assert_eq!(
                (tokens.to_string().as_str(), tokens.short().as_str()),
                (long, short)
            );
        }
        assert_eq!(format!("{:>9}", Tokens(162_000)), "  162,000");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Tokens(3) - Tokens(5), Tokens::ZERO);
        assert_eq!(Tokens::MAX + Tokens(1), Tokens::MAX);
        assert_eq!([Tokens(1), Tokens(2)].iter().sum::<Tokens>(), Tokens(3));
        assert_eq!(Tokens(100).scale(f64::NAN), Tokens::ZERO);
        assert_eq!(Tokens(100).scale(1.234), Tokens(123));
    }

    #[test]
    fn no_text_is_free() {
        assert_eq!(Tokens::from_chars(0, 35), Tokens::ZERO);
        assert_eq!(Tokens::from_chars(1, 35), Tokens(1));
        assert_eq!(Tokens::from_chars(35, 35), Tokens(10));
        assert_eq!(Tokens::from_chars(36, 35), Tokens(11));
    }

    #[test]
    fn stored_as_a_plain_number() {
        assert_eq!(serde_json::to_string(&Tokens(7)).unwrap(), "7");
        assert_eq!(serde_json::from_str::<Tokens>("7").unwrap(), Tokens(7));
    }
}
