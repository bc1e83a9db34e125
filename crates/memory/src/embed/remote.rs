//! A model somewhere else, behind a function that the caller brings: this room
//! has no network.

use super::{Encoder, EncoderKind};
use crate::index::IndexError;

/// Gives a vector for each text, or says why not.
pub type Embed = dyn Fn(&[&str]) -> Result<Vec<Vec<f32>>, String> + Send + Sync;

/// An endpoint that makes vectors.
pub struct RemoteEncoder {
    id: String,
    dimensions: usize,
    embed: Box<Embed>,
}

impl RemoteEncoder {
    /// An endpoint's model. Its length is learnt from one call, which also
    /// shows that the endpoint can be reached. `endpoint` and `model` together
    /// name its vectors: the same model at two places may differ.
    pub fn connect(
        endpoint: &str,
        model: &str,
        embed: Box<Embed>,
    ) -> Result<RemoteEncoder, IndexError> {
        let id = format!("{model}@{endpoint}");
        let failed = |reason: String| IndexError::Encoder {
            model: id.clone(),
            reason,
        };
        let probe = embed(&["longhaul"]).map_err(failed)?;
        let dimensions = probe.first().map_or(0, Vec::len);
        if dimensions == 0 {
            return Err(failed(String::from("it gave no vector")));
        }
        if let Some(reason) = unusable(&probe) {
            return Err(failed(reason));
        }
        Ok(RemoteEncoder {
            id,
            dimensions,
            embed,
        })
    }
}

impl Encoder for RemoteEncoder {
    fn id(&self) -> &str {
        &self.id
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Remote
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let failed = |reason| IndexError::Encoder {
            model: self.id.clone(),
            reason,
        };
        let vectors = (self.embed)(texts).map_err(failed)?;
        match unusable(&vectors) {
            Some(reason) => Err(failed(reason)),
            None => Ok(vectors),
        }
    }
}

/// Why a vector among these cannot be compared with any, where one cannot. An
/// endpoint that is out of order answers so, and what it said would count as
/// done for ever.
fn unusable(vectors: &[Vec<f32>]) -> Option<String> {
    vectors.iter().enumerate().find_map(|(at, vector)| {
        let which = format!("of its {} vectors number {}", vectors.len(), at + 1);
        if !vector.iter().all(|x| x.is_finite()) {
            return Some(format!("{which} holds what is no number; it is not kept"));
        }
        let square: f32 = vector.iter().map(|x| x * x).sum();
        match square {
            0.0 => Some(format!(
                "{which} is all zeros and says nothing; it is not kept"
            )),
            square if square.is_infinite() => Some(format!(
                "{which} holds numbers too large to be compared; it is not kept"
            )),
            _ => None,
        }
    })
}
