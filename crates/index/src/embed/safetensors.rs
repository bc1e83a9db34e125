//! The weights of a model, out of a `.safetensors` file.

use std::path::{Path, PathBuf};

use safetensors::tensor::Metadata;
use safetensors::{Dtype, SafeTensors};

use crate::error::IndexError;

/// No weight is larger, and sums of no larger ones can be squared.
const LARGEST: f32 = 1e15;

/// A file of tensors.
pub(super) struct Tensors {
    path: PathBuf,
    bytes: Vec<u8>,
    data: usize,
    header: Metadata,
}

impl Tensors {
    pub(super) fn open(path: &Path, most_bytes: u64) -> Result<Tensors, IndexError> {
        let bytes = longhaul_files::read(path, most_bytes)?;
        let (length, header) = SafeTensors::read_metadata(&bytes).map_err(|error| {
            let reason = format!("its weights are not safetensors ({error})");
            IndexError::model(path, reason, "get the file again")
        })?;
        Ok(Tensors {
            path: path.to_owned(),
            bytes,
            data: 8 + length,
            header,
        })
    }

    #[cfg(feature = "encoder")]
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.header.offset_keys().into_iter()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.header.info(name).map(|info| info.shape.as_slice())
    }

    /// A tensor of numbers, which must have this shape.
    pub(super) fn get(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, IndexError> {
        const REMEDY: &str = "its weights and its config.json must come from the same model";
        let bad = |reason: String| IndexError::model(&self.path, reason, REMEDY);
        let info = self
            .header
            .info(name)
            .ok_or_else(|| bad(format!("it has no tensor {name}")))?;
        if info.shape != shape {
            return Err(bad(format!(
                "its tensor {name} has the shape {:?} where {shape:?} is needed",
                info.shape
            )));
        }
        let (begin, end) = info.data_offsets;
        let raw = &self.bytes[self.data + begin..self.data + end];
        let pairs = raw.as_chunks::<2>().0.iter();
        let numbers: Vec<f32> = match info.dtype {
            Dtype::F32 => {
                let fours = raw.as_chunks::<4>().0.iter();
                fours.map(|bytes| f32::from_le_bytes(*bytes)).collect()
            }
            Dtype::F16 => pairs.map(|two| half(u16::from_le_bytes(*two))).collect(),
            Dtype::BF16 => pairs
                .map(|two| f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16))
                .collect(),
            other => {
                return Err(bad(format!(
                    "its tensor {name} is of the type {other:?}, not F32, F16 or BF16"
                )));
            }
        };
        // One of them makes every sum that it is in no number, and so every
        // vector that is made of it.
        let sound = |number: &f32| number.abs() <= LARGEST;
        if let Some(at) = numbers.iter().position(|number| !sound(number)) {
            let (at, number) = (at + 1, numbers[at]);
            let reason =
                format!("number {at} of its tensor {name} is {number}, which no weight is");
            let remedy = "its weights are damaged: fetch the model again";
            return Err(IndexError::model(&self.path, reason, remedy));
        }
        Ok(numbers)
    }
}

/// A number of 16 bits as one of 32.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let fraction = u32::from(bits & 0x3ff);
    match exponent {
        0 => {
            let small = fraction as f32 / 16_777_216.0;
            if sign == 0 { small } else { -small }
        }
        31 => f32::from_bits(sign | 0x7f80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

#[cfg(test)]
mod tests {
    use super::half;

    #[test]
    fn halves_are_read() {
        assert_eq!(
            [0x3c00, 0xc000, 0x0000, 0x3555, 0x0001, 0x7bff].map(half),
            [1.0, -2.0, 0.0, 0.333_251_95, 5.960_464_5e-8, 65504.0]
        );
        assert!(half(0x7e00).is_nan());
        assert_eq!(half(0x7c00), f32::INFINITY);
    }
}
