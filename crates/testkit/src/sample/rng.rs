//! Random numbers that never change.
//!
//! Written out here, and in integers only: a sample must have the same bytes
//! with every release of this crate and of its dependencies, and floating-point
//! functions differ between platforms. Pinned hashes rest on that.

/// xoshiro256**, seeded by SplitMix64.
#[derive(Debug, Clone)]
pub(super) struct Rng {
    state: [u64; 4],
}

/// One step of SplitMix64: also a good hash of a number.
pub(super) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Rng {
    pub(super) fn new(seed: u64) -> Rng {
        let a = mix(seed);
        let b = mix(a);
        let c = mix(b);
        Rng {
            state: [a, b, c, mix(c)],
        }
    }

    pub(super) fn next(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number below `n`; zero when `n` is zero.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in so many of a thousand cases.
    pub(super) fn chance(&mut self, per_mille: usize) -> bool {
        self.below(1000) < per_mille
    }

    pub(super) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// A value of a distribution given by its evenly spaced quantiles.
    pub(super) fn along(&mut self, quantiles: &[i64]) -> i64 {
        let at = self.below(quantiles.len() - 1);
        let (low, high) = (quantiles[at], quantiles[at + 1]);
        low + self.below((high - low).max(0) as usize + 1) as i64
    }

    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at + 1));
        }
    }

    /// Characters drawn from an alphabet.
    pub(super) fn letters(&mut self, alphabet: &[u8], count: usize, out: &mut String) {
        for _ in 0..count {
            out.push(char::from(alphabet[self.below(alphabet.len())]));
        }
    }

    pub(super) fn hex(&mut self, digits: usize, out: &mut String) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut bits = 0;
        for at in 0..digits {
            if at % 16 == 0 {
                bits = self.next();
            }
            out.push(char::from(DIGITS[(bits & 15) as usize]));
            bits >>= 4;
        }
    }

    pub(super) fn uuid(&mut self, out: &mut String) {
        self.hex(8, out);
        out.push('-');
        self.hex(4, out);
        out.push_str("-4");
        self.hex(3, out);
        out.push('-');
        out.push(char::from(b"89ab"[self.below(4)]));
        self.hex(3, out);
        out.push('-');
        self.hex(12, out);
    }
}

/// Alphabet of provider call ids.
pub(super) const BASE62: &[u8; 62] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_pinned() {
        let mut rng = Rng::new(1);
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        let first: Vec<usize> = (0..8).map(|_| rng.below(1000)).collect();
        let again: Vec<usize> = {
            let mut rng = Rng::new(1);
            (0..8).map(|_| rng.below(1000)).collect()
        };
        assert_eq!(first, again);
        assert!(first.iter().any(|&n| n != first[0]));
    }
}
