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
        (self.embed)(texts).map_err(|reason| IndexError::Encoder {
            model: self.id.clone(),
            reason,
        })
    }
}
