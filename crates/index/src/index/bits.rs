//! Vectors in few bits a dimension: how they are stored, and how they come back.

/// A vector in a byte a dimension, and what a step is worth.
pub(super) fn quantised(vector: &[f32]) -> (Vec<i8>, f32) {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let most = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    if !(length.is_finite() && length > 0.0) {
        return (vec![0; vector.len()], 0.0);
    }
    let values = vector
        .iter()
        .map(|x| (x / most * 127.0).round() as i8)
        .collect();
    (values, most / 127.0 / length)
}

/// How many bits a dimension takes at most.
pub(super) const MOST_BITS: u8 = 4;

/// A vector of so few bytes need not be smaller.
const TINY: u64 = 16;

/// How many bits a dimension takes: as many as make a vector of it that is small
/// beside its text. What a short text says can be told with fewer.
pub(super) fn bits_for(text: u64, dimensions: usize) -> u8 {
    let fits = |bits: &u8| {
        let length = stored_length(dimensions, *bits) as u64;
        length <= TINY || length * 5 <= text
    };
    [MOST_BITS, 2].into_iter().find(fits).unwrap_or(1)
}

/// A vector that is no more than on which side of so many planes it lies, which
/// are the same for all. It takes eight bytes, and tells what is near from what
/// is not, though not what is nearer.
pub(super) const SKETCH: u8 = 0;
const PLANES: u32 = u64::BITS;

/// On which side of each plane a dimension points.
fn sides(dimension: usize) -> u64 {
    // SplitMix64: as good as drawn, and always the same.
    let mut state = (dimension as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

fn sketch(vector: &[f32]) -> u64 {
    let mut sums = [0f32; PLANES as usize];
    for (at, x) in vector.iter().enumerate() {
        let sides = sides(at);
        for (plane, sum) in sums.iter_mut().enumerate() {
            *sum += if sides >> plane & 1 == 1 { *x } else { -x };
        }
    }
    let bits = sums.iter().zip(0u32..);
    bits.fold(0, |sketch, (sum, plane)| {
        sketch | u64::from(*sum > 0.0) << plane
    })
}

/// The vector that lies in the middle of the sides of a sketch; gives what a step
/// of it is worth, so that its cosine with its own vector is 1 on average.
fn from_sketch(sketch: u64, row: &mut [i8]) -> f32 {
    for (at, value) in row.iter_mut().enumerate() {
        let against = (sketch ^ sides(at)).count_ones();
        *value = (PLANES as i32 - 2 * against as i32) as i8;
    }
    (std::f32::consts::PI / 2.0).sqrt() / PLANES as f32
}

/// The sketch of a vector that is stored in more bits.
pub(super) fn sketch_of(blob: &[u8], bits: u8, dimensions: usize) -> Vec<u8> {
    let mut row = vec![0; dimensions];
    restored(blob, bits, &mut row);
    let vector: Vec<f32> = row.into_iter().map(f32::from).collect();
    stored(&vector, SKETCH)
}

/// The highest step; steps are odd numbers, of either sign.
fn top(bits: u8) -> i32 {
    (1 << bits) - 1
}

/// A vector as it is stored: what a step is worth, then its dimensions. Where
/// the steps end is chosen so that the angle is kept best: a few large values
/// would otherwise leave no steps for the others.
pub(super) fn stored(vector: &[f32], bits: u8) -> Vec<u8> {
    let most = vector.iter().fold(0f32, |most, x| most.max(x.abs()));
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    let mut blob = vec![0; stored_length(vector.len(), bits)];
    if !(length.is_finite() && length > 0.0) {
        return blob;
    }
    if bits == SKETCH {
        blob.copy_from_slice(&sketch(vector).to_le_bytes());
        return blob;
    }
    const ENDS: [f32; 10] = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1];
    let half = f32::from(1u8 << (bits - 1));
    let level = |x: f32, end: f32| {
        let step = (x / end * half).floor() as i32;
        (2 * step + 1).clamp(-top(bits), top(bits))
    };
    let likeness = |end: f32| {
        let (mut both, mut own) = (0f32, 0f32);
        for x in vector {
            let level = level(*x, end) as f32;
            both += x * level;
            own += level * level;
        }
        (both / own.sqrt(), own.sqrt())
    };
    let (end, likeness, own) = ENDS
        .iter()
        .map(|part| {
            let end = part * most;
            let (likeness, own) = likeness(end);
            (end, likeness, own)
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .expect("there are several ends");
    // What is stored is at an angle to what it stands for, and its cosines would
    // be too low for that.
    let step = length / (own * likeness);
    blob[..SCALE].copy_from_slice(&half_of(step).to_le_bytes());
    for (at, x) in vector.iter().enumerate() {
        let value = ((level(*x, end) + top(bits)) / 2) as u8;
        let place = at * usize::from(bits);
        blob[SCALE + place / 8] |= value << (place % 8);
    }
    blob
}

/// What a step is worth takes so many bytes: the upper half of a number.
const SCALE: usize = 2;

fn half_of(number: f32) -> u16 {
    // To the nearest.
    ((number.to_bits().saturating_add(0x8000)) >> 16) as u16
}

pub(super) fn stored_length(dimensions: usize, bits: u8) -> usize {
    if bits == SKETCH {
        return size_of::<u64>();
    }
    SCALE + (dimensions * usize::from(bits)).div_ceil(8)
}

/// The same of bits that a file says, which may be any.
pub(super) fn length_in(dimensions: usize) -> impl Fn(u8) -> Option<usize> {
    move |bits| matches!(bits, SKETCH | 1 | 2 | MOST_BITS).then(|| stored_length(dimensions, bits))
}

/// Puts a stored vector into a row; gives what a step of it is worth.
pub(super) fn restored(blob: &[u8], bits: u8, row: &mut [i8]) -> f32 {
    if bits == SKETCH {
        let Some(sketch) = blob.first_chunk() else {
            return 0.0;
        };
        return from_sketch(u64::from_le_bytes(*sketch), row);
    }
    let Some((scale, packed)) = blob.split_first_chunk::<SCALE>() else {
        return 0.0;
    };
    let mask = (1u8 << bits) - 1;
    for (at, value) in row.iter_mut().enumerate() {
        let place = at * usize::from(bits);
        let step = packed[place / 8] >> (place % 8) & mask;
        *value = (2 * i32::from(step) - top(bits)) as i8;
    }
    f32::from_bits(u32::from(u16::from_le_bytes(*scale)) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_a_dimension_keeps_the_angle() {
        let a = [0.3f32, -0.8, 0.52, 0.01];
        let b = [0.1f32, -0.7, 0.9, -0.2];
        let exact: f32 = {
            let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
            a.iter().zip(&b).map(|(x, y)| x * y).sum::<f32>() / length(&a) / length(&b)
        };
        let (left, one) = quantised(&a);
        let (right, two) = quantised(&b);
        let sum: i32 = left
            .iter()
            .zip(&right)
            .map(|(x, y)| i32::from(*x) * i32::from(*y))
            .sum();
        assert!((sum as f32 * one * two - exact).abs() < 0.01);
    }

    #[test]
    fn nothing_has_no_direction() {
        assert_eq!(quantised(&[0.0, 0.0]).1, 0.0);
        assert_eq!(quantised(&[f32::NAN, 1.0]).1, 0.0);
        let mut row = [0; 2];
        assert_eq!(restored(&stored(&[0.0, 0.0], 4), 4, &mut row), 0.0);
        assert_eq!(restored(&stored(&[f32::NAN, 1.0], 1), 1, &mut row), 0.0);
    }

    /// A vector of some length, spread as those of models are.
    fn drawn(seed: u64, dimensions: usize) -> Vec<f32> {
        let mut state = seed | 1;
        let mut roll = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        };
        (0..dimensions)
            .map(|_| roll() + roll() + roll() + roll())
            .collect()
    }

    fn cosine(a: &[f32], b: &[f32]) -> f32 {
        let length = |v: &[f32]| v.iter().map(|x| x * x).sum::<f32>().sqrt();
        a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() / length(a) / length(b)
    }

    #[test]
    fn a_few_bits_a_dimension_keep_the_angle() {
        for (seed, dimensions) in [(1, 256), (2, 384), (3, 383), (4, 1_024)] {
            let (mut a, b) = (drawn(seed, dimensions), drawn(seed + 100, dimensions));
            // Near, but not the same; and a few values are far larger.
            for (x, y) in a.iter_mut().zip(&b) {
                *x += 0.5 * y;
            }
            a[7] *= 3.0;
            for (bits, alike, most) in [(4, 0.985, 0.02), (2, 0.92, 0.05), (1, 0.76, 0.1)] {
                let mut row = vec![0; dimensions];
                let blob = stored(&a, bits);
                assert_eq!(blob.len(), 2 + (dimensions * bits as usize).div_ceil(8));
                let scale = restored(&blob, bits, &mut row);
                let back: Vec<f32> = row.iter().map(|x| f32::from(*x) * scale).collect();
                assert!(cosine(&a, &back) > alike, "{bits}: {}", cosine(&a, &back));
                // As it is reckoned: with what a step is worth, not its length.
                let (query, own) = quantised(&b);
                let dot = query
                    .iter()
                    .zip(&row)
                    .map(|(x, y)| i32::from(*x) * i32::from(*y));
                let found = dot.sum::<i32>() as f32 * own * scale;
                let off = cosine(&a, &b) - found;
                assert!(off.abs() < most, "{bits}: {off}");
            }
        }
    }

    #[test]
    fn a_vector_is_small_beside_its_text_or_as_small_as_can_be() {
        for dimensions in [64, 256, 384, 1_536] {
            for text in [0, 40, 150, 300, 1_000, 10_000] {
                let bits = bits_for(text, dimensions);
                let length = stored_length(dimensions, bits) as u64;
                assert!(bits == 1 || length * 5 <= text, "{dimensions} {text}");
            }
            assert_eq!(bits_for(100_000, dimensions), MOST_BITS);
        }
    }

    #[test]
    fn a_sketch_tells_what_is_near_from_what_is_not() {
        let (query, step) = quantised(&drawn(1, 384));
        let mut near = 0.0;
        let mut far: f32 = 0.0;
        for seed in 0..100 {
            let other = drawn(seed + 2, 384);
            let mixed: Vec<f32> = drawn(1, 384)
                .iter()
                .zip(&other)
                .map(|(x, y)| x + y)
                .collect();
            let found = |vector: &[f32]| {
                let blob = stored(vector, SKETCH);
                assert_eq!(blob.len(), 8);
                let mut row = vec![0; 384];
                let scale = restored(&blob, SKETCH, &mut row);
                let dot = query
                    .iter()
                    .zip(&row)
                    .map(|(x, y)| i32::from(*x) * i32::from(*y));
                dot.sum::<i32>() as f32 * step * scale
            };
            near += found(&mixed) / 100.0;
            far += found(&other) / 100.0;
        }
        // Their cosines are 0.7 and 0.
        assert!((0.65..0.77).contains(&near), "{near}");
        assert!(far.abs() < 0.05, "{far}");
    }
}
