//! A model somewhere else, behind a function that the caller brings: this room
//! has no network.

use std::sync::{Mutex, PoisonError};

use super::{Encoder, EncoderKind};
use crate::index::IndexError;

/// How long an endpoint may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Somebody waits: once, and not for long.
    Short,
    /// Texts are indexed: as long as it takes, again where it fails.
    Long,
}

/// Gives a vector for each text within some patience, or says why not.
pub type Embed = dyn Fn(&[&str], Patience) -> Result<Vec<Vec<f32>>, String> + Send + Sync;

/// An endpoint that makes vectors.
pub struct RemoteEncoder {
    id: String,
    dimensions: usize,
    embed: Box<Embed>,
    pause: Mutex<Pause>,
}

/// How many questions go by words alone after one that got no vector. Each that
/// gets none again doubles it, so that an endpoint that hangs holds few of them
/// up.
#[derive(Debug, Default)]
struct Pause {
    left: u32,
    next: u32,
}

/// Not more than so many.
const LONGEST_PAUSE: u32 = 32;

impl Pause {
    /// Whether this question is to be spared.
    fn spares(&mut self) -> bool {
        let spares = self.left > 0;
        self.left = self.left.saturating_sub(1);
        spares
    }

    fn note(&mut self, answered: bool) {
        self.next = match answered {
            true => 0,
            false => (self.next * 2).clamp(1, LONGEST_PAUSE),
        };
        self.left = self.next;
    }
}

impl RemoteEncoder {
    /// An endpoint's model. Its length is learnt from one call, which also
    /// shows that the endpoint can be reached. `endpoint` and `model` together
    /// name its vectors: the same model at two places may differ.
    pub fn connect(
        endpoint: &str,
        model: &str,
        patience: Patience,
        embed: Box<Embed>,
    ) -> Result<RemoteEncoder, IndexError> {
        let id = format!("{model}@{endpoint}");
        let failed = |reason: String| IndexError::Encoder {
            model: id.clone(),
            reason,
        };
        let probe = embed(&["longhaul"], patience).map_err(failed)?;
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
            pause: Mutex::default(),
        })
    }

    fn ask(&self, texts: &[&str], patience: Patience) -> Result<Vec<Vec<f32>>, IndexError> {
        let vectors = (self.embed)(texts, patience).map_err(|reason| self.failed(reason))?;
        match unusable(&vectors) {
            Some(reason) => Err(self.failed(reason)),
            None => Ok(vectors),
        }
    }

    fn failed(&self, reason: String) -> IndexError {
        IndexError::Encoder {
            model: self.id.clone(),
            reason,
        }
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
        self.ask(texts, Patience::Long)
    }

    fn encode_question(&self, text: &str) -> Result<Option<Vec<f32>>, IndexError> {
        let pause = || self.pause.lock().unwrap_or_else(PoisonError::into_inner);
        if pause().spares() {
            return Err(self.failed(String::from(
                "it failed lately and is asked again some questions later",
            )));
        }
        let asked = self.ask(&[text], Patience::Short);
        pause().note(asked.is_ok());
        Ok(asked?.pop())
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
