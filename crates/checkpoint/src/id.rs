//! Names of checkpoints: `cp_001`, `cp_002`, …

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Flaw;

/// The number of a checkpoint within its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(u32);

impl CheckpointId {
    /// The first checkpoint of a session.
    pub const FIRST: CheckpointId = CheckpointId(1);

    /// The one after this.
    pub fn next(self) -> CheckpointId {
        CheckpointId(self.0.saturating_add(1))
    }
}

impl fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cp_{:03}", self.0)
    }
}

impl FromStr for CheckpointId {
    type Err = Flaw;

    fn from_str(text: &str) -> Result<Self, Flaw> {
        // Only the spelling that we write, so that no two names are one number.
        text.strip_prefix("cp_")
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .map(CheckpointId)
            .filter(|id| id.to_string() == text && *id >= CheckpointId::FIRST)
            .ok_or_else(|| {
                Flaw::new(format!(
                    "{} is not the name of a checkpoint; they are cp_001, cp_002, …",
                    crate::text::quoted(text)
                ))
            })
    }
}

impl Serialize for CheckpointId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_saphyr::DoubleQuoted(self.to_string()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CheckpointId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_on_past_three_digits() {
        let id: CheckpointId = "cp_999".parse().unwrap();
        assert_eq!(id.next().to_string(), "cp_1000");
        assert!(id.next() > id);
        assert_eq!("cp_1000".parse(), Ok(id.next()));
    }

    #[test]
    fn other_spellings_are_no_names() {
        for text in [
            "cp_1",
            "cp_0001",
            "cp_000",
            "cp_",
            "cp_+01",
            "CP_001",
            "cp_99999999999",
            "../cp_001",
        ] {
            assert!(text.parse::<CheckpointId>().is_err(), "{text}");
        }
    }
}
