//! Embeddings: what a text means, as a vector.
//!
//! Words alone find what was said in the words of the question. A small
//! encoder also finds what was said in others. There is none unless the user
//! installs one; which one is active is told with every result, and vectors of
//! two models are never compared.

mod choice;
mod remote;
mod safetensors;
mod store;
mod table;
mod tokenizer;
#[cfg(feature = "encoder")]
mod transformer;

pub use self::remote::{Embed, Patience, RemoteEncoder, Unmade};
pub use self::store::{BestModel, InstalledModel, Models, open_model};

use crate::error::IndexError;

/// What kind of model makes the vectors, which says how far to trust them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum EncoderKind {
    /// A transformer that reads the whole text.
    Transformer,
    /// A table of one vector a word, averaged. Quick, and weak on names and
    /// order, so it only ever adds a little to the words.
    Static,
    /// An endpoint somewhere else.
    Remote,
}

/// Something that turns texts into vectors.
pub trait Encoder: Send + Sync {
    /// The model's name and the start of its hash, by which people know it.
    fn id(&self) -> &str;

    /// What else changes its vectors and is not in its id: the settings that a
    /// model of the same weights may have others of. Its vectors are kept under
    /// this as well.
    fn fingerprint(&self) -> Option<&str> {
        None
    }

    /// What kind it is.
    fn kind(&self) -> EncoderKind;

    /// How long its vectors are. An endpoint may change this under the same
    /// name, so vectors are kept apart by their length as well.
    fn dimensions(&self) -> usize;

    /// The vectors of texts, one each, in order.
    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError>;

    /// The same; none for a text that the model refuses, which keeps no other from
    /// its vector.
    fn encode_each(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, IndexError> {
        Ok(self.encode(texts)?.into_iter().map(Some).collect())
    }

    /// The vector of a question. Somebody waits for the answer, who is served
    /// better by words alone than late.
    fn encode_question(&self, text: &str) -> Result<Option<Vec<f32>>, IndexError> {
        Ok(self.encode(&[text])?.pop())
    }
}
