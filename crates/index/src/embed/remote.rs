//! A model somewhere else, behind a function that the caller brings: this room
//! has no network.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Encoder, EncoderKind};
use crate::error::IndexError;

/// How long an endpoint may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Somebody waits: once, and not for long.
    Short,
    /// Texts are indexed: as long as it takes, again where it fails.
    Long,
}

/// Why an endpoint made no vectors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unmade {
    /// It does not take these texts; fewer or shorter ones it may.
    Refused(String),
    /// It took too long; for fewer or shorter ones the time may do.
    Late(String),
    /// Anything else, which other texts would not change.
    Failed(String),
}

/// Gives a vector for each text within some patience, or says why not.
pub type Embed = dyn Fn(&[&str], Patience) -> Result<Vec<Vec<f32>>, Unmade> + Send + Sync;

impl Unmade {
    fn reason(self) -> String {
        let (Unmade::Refused(reason) | Unmade::Late(reason) | Unmade::Failed(reason)) = self;
        reason
    }
}

/// Texts that go into one request, until the endpoint turns out to take fewer.
const TEXTS_AT_ONCE: usize = 64;
/// How often a text that is refused alone is halved before it is left out.
const HALVINGS: u32 = 3;
/// The beginning of a text that is shorter than so many bytes says too little of it.
const SHORTEST: usize = 64;
/// A text that an endpoint takes if it takes any.
const PROBE: &str = "longhaul";

/// An endpoint that makes vectors.
pub struct RemoteEncoder {
    id: String,
    dimensions: usize,
    embed: Box<Embed>,
    /// How many texts it takes in one request, as far as is known.
    at_once: AtomicUsize,
    pause: Mutex<Pause>,
}

/// The vectors of some texts, in order; none for a text that is not taken.
#[derive(Default)]
struct Made {
    vectors: Vec<Option<Vec<f32>>>,
    /// Whether a text had to be shortened or left out.
    is_cut: bool,
}

impl Made {
    fn add(&mut self, other: Made) {
        self.vectors.extend(other.vectors);
        self.is_cut |= other.is_cut;
    }
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
        let probe = embed(&[PROBE], patience).map_err(|unmade| failed(unmade.reason()))?;
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
            at_once: AtomicUsize::new(TEXTS_AT_ONCE),
            pause: Mutex::default(),
        })
    }

    fn ask(&self, texts: &[&str], patience: Patience) -> Result<Vec<Vec<f32>>, Unmade> {
        let vectors = (self.embed)(texts, patience)?;
        match unusable(&vectors) {
            Some(reason) => Err(Unmade::Failed(reason)),
            None => Ok(vectors),
        }
    }

    /// The vectors of texts, as many in a request as the endpoint takes.
    fn make(&self, texts: &[&str]) -> Result<Made, IndexError> {
        let mut made = Made::default();
        let mut rest = texts;
        while !rest.is_empty() {
            let at_once = self.at_once.load(Ordering::Relaxed);
            let (some, others) = rest.split_at(at_once.clamp(1, rest.len()));
            made.add(self.make_at_once(some)?);
            rest = others;
        }
        Ok(made)
    }

    /// The vectors of texts in one request, in halves where that is not taken.
    fn make_at_once(&self, texts: &[&str]) -> Result<Made, IndexError> {
        let reason = match self.ask(texts, Patience::Long) {
            Ok(vectors) => {
                return Ok(Made {
                    vectors: vectors.into_iter().map(Some).collect(),
                    is_cut: false,
                });
            }
            Err(Unmade::Refused(reason)) => reason,
            Err(Unmade::Late(reason)) => {
                // An endpoint that hangs is not asked for half of it, and half of that.
                self.answers_else(&reason)?;
                reason
            }
            Err(Unmade::Failed(reason)) => return Err(self.failed(reason)),
        };
        if let [text] = texts {
            return self.make_shortened(text, &reason);
        }
        let half = texts.len().div_ceil(2);
        let mut made = self.make_at_once(&texts[..half])?;
        made.add(self.make(&texts[half..])?);
        // Where one text was at fault, others go through in larger numbers.
        if !made.is_cut {
            self.at_once.fetch_min(half, Ordering::Relaxed);
        }
        Ok(made)
    }

    /// The vector of the beginning of a text that is not taken whole; none where
    /// that is not taken either.
    fn make_shortened(&self, text: &str, reason: &str) -> Result<Made, IndexError> {
        let cut = |vector| Made {
            vectors: vec![vector],
            is_cut: true,
        };
        for halvings in 1..=HALVINGS {
            let start = &text[..text.floor_char_boundary(text.len() >> halvings)];
            if start.trim().len() < SHORTEST {
                break;
            }
            match self.ask(&[start], Patience::Long) {
                Ok(mut vectors) => return Ok(cut(vectors.pop())),
                Err(Unmade::Refused(_) | Unmade::Late(_)) => {}
                Err(Unmade::Failed(reason)) => return Err(self.failed(reason)),
            }
        }
        // Else it is not the text that is at fault.
        self.answers_else(reason)?;
        Ok(cut(None))
    }

    /// Fails for this reason unless the endpoint takes another text.
    fn answers_else(&self, reason: &str) -> Result<(), IndexError> {
        let asked = self.ask(&[PROBE], Patience::Long);
        asked.map(drop).map_err(|_| self.failed(reason.to_owned()))
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
        let vectors = self.make(texts)?.vectors.into_iter().collect();
        let vectors: Option<Vec<Vec<f32>>> = vectors;
        vectors.ok_or_else(|| self.failed(String::from("it refuses one of the texts")))
    }

    fn encode_each(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, IndexError> {
        Ok(self.make(texts)?.vectors)
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
        let asked = asked.map_err(|unmade| self.failed(unmade.reason()));
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
