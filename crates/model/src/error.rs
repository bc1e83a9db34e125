//! What can go wrong between us and a model, said so that a person or a loop
//! knows what to do next. No variant ever carries a key.

use std::fmt;
use std::time::Duration;

/// A request that could not be sent, or did not end well.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A model was named in a way that cannot be read.
    #[error("\"{spec}\" does not name a model: {reason}")]
    BadSpec {
        /// What was given.
        spec: String,
        /// What is wrong with it.
        reason: String,
    },

    /// The provider wants a key and there is none.
    #[error("no key for {provider}: {variable} is not set")]
    MissingKey {
        /// Who wants it.
        provider: String,
        /// The environment variable it is looked for in.
        variable: String,
    },

    /// What is in the environment cannot be a key.
    #[error("the key for {provider} in {variable} has characters that no key has")]
    BadKey {
        /// Whose key.
        provider: String,
        /// The environment variable.
        variable: String,
    },

    /// The provider does not accept the key.
    #[error("{provider} refused the key ({status}): {message}")]
    Unauthorized {
        /// Who refused.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
        /// The environment variable the key came from, if there was one.
        variable: Option<String>,
    },

    /// The provider does not know the model, or does not serve it to this key.
    #[error("{provider} does not serve the model {model}: {message}")]
    UnknownModel {
        /// Who was asked.
        provider: String,
        /// The model.
        model: String,
        /// The provider's words.
        message: String,
    },

    /// The request does not fit the model's window.
    #[error("the request is larger than the context window of the model: {message}")]
    Overflow {
        /// The provider's words.
        message: String,
        /// The window in tokens, if the provider names it.
        limit: Option<u64>,
        /// The size of the request in tokens, if the provider names it.
        requested: Option<u64>,
    },

    /// Too many requests or tokens in too short a time.
    #[error("{provider} limits the rate: {message}")]
    RateLimited {
        /// Who limits.
        provider: String,
        /// The provider's words.
        message: String,
        /// When to come back, if the provider says so.
        retry_after: Option<Duration>,
    },

    /// The account has no credit left, or has reached its limit.
    #[error("{provider} asks for payment: {message}")]
    Quota {
        /// Who asks.
        provider: String,
        /// The provider's words.
        message: String,
    },

    /// The provider is overloaded or out of order.
    #[error("{provider} is overloaded or out of order ({status}): {message}")]
    Overloaded {
        /// Who is.
        provider: String,
        /// The HTTP status; 200 if the error came inside a stream.
        status: u16,
        /// The provider's words.
        message: String,
        /// When to come back, if the provider says so.
        retry_after: Option<Duration>,
    },

    /// Nothing came in time.
    #[error("{provider} did not answer in time: {phase} took more than {after:?}")]
    Timeout {
        /// Who did not answer.
        provider: String,
        /// What was waited for.
        phase: Phase,
        /// How long.
        after: Duration,
    },

    /// The caller cancelled.
    #[error("cancelled")]
    Cancelled,

    /// The provider refused for what the request says.
    #[error("{provider} refused the request: {message}")]
    Refused {
        /// Who refused.
        provider: String,
        /// The provider's words.
        message: String,
    },

    /// The provider finds the request wrong.
    #[error("{provider} rejected the request ({status}): {message}")]
    BadRequest {
        /// Who rejected it.
        provider: String,
        /// The HTTP status.
        status: u16,
        /// The provider's words.
        message: String,
    },

    /// What answered is not the interface of a model.
    #[error("{url} is not the interface of a model ({status}): {excerpt}")]
    NotAnApi {
        /// Where the request went.
        url: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of what came back.
        excerpt: String,
    },

    /// An answer that cannot be read.
    #[error("the answer of {provider} cannot be read: {reason}: {excerpt}")]
    BadAnswer {
        /// Who answered.
        provider: String,
        /// What is wrong with it.
        reason: String,
        /// The beginning of the part that is wrong.
        excerpt: String,
    },

    /// The provider could not be reached.
    #[error("cannot reach {url}: {reason}")]
    Network {
        /// Where the request went.
        url: String,
        /// The system's reason.
        reason: String,
    },

    /// The provider cannot be told from somebody who pretends to be it.
    #[error("cannot trust {url}: {reason}")]
    Certificate {
        /// Where the request went.
        url: String,
        /// What is wrong with its certificate, or with ours.
        reason: String,
    },

    /// The answer broke off before its end.
    #[error("the answer of {provider} broke off: {reason}")]
    Interrupted {
        /// Who answered.
        provider: String,
        /// How it broke off.
        reason: String,
    },
}

/// What was waited for when time ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// The connection.
    Connect,
    /// The beginning of the answer.
    FirstByte,
    /// The next piece of the answer.
    Idle,
    /// One attempt from its start to the end of the answer.
    Request,
    /// All attempts together.
    Total,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Connect => "connecting",
            Self::FirstByte => "the beginning of the answer",
            Self::Idle => "the next piece of the answer",
            Self::Request => "the answer",
            Self::Total => "all attempts together",
        })
    }
}

impl Error {
    /// What a person can do about it.
    pub fn remedy(&self) -> String {
        match self {
            Self::BadSpec { .. } => {
                "name the model as provider/name, for example anthropic/claude-sonnet-4-5".into()
            }
            Self::MissingKey { variable, .. } => {
                format!("set {variable} in the environment; keys are read from nowhere else")
            }
            Self::BadKey { variable, .. } => {
                format!("check {variable} for line breaks, quotes and anything but the key")
            }
            Self::Unauthorized {
                provider, variable, ..
            } => match variable {
                Some(variable) => {
                    format!("check that {variable} holds a valid key of {provider}")
                }
                None => format!("{provider} wants a key: name the variable that holds it"),
            },
            Self::UnknownModel { provider, .. } => {
                format!("check the name against the list of models that {provider} serves")
            }
            Self::Overflow { .. } => {
                "compact the session, or choose a model with a larger window".into()
            }
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                match retry_after {
                    Some(after) => format!("try again in {} s", after.as_secs_f64().ceil()),
                    None => "try again in a while".into(),
                }
            }
            Self::Quota { provider, .. } => {
                format!("check the credit and the limits of the account with {provider}")
            }
            Self::Timeout { phase, .. } => match phase {
                Phase::Connect => "check the network and the address of the provider".into(),
                _ => "try again, or allow more time".into(),
            },
            Self::Cancelled => "ask again when you want it".into(),
            Self::Refused { .. } => "rephrase the request, or ask another model".into(),
            Self::BadRequest { .. } => {
                "the provider's words say what it does not accept; another model may".into()
            }
            Self::NotAnApi { .. } => {
                "check the base URL, and whether a proxy or a login page answers in its place"
                    .into()
            }
            Self::BadAnswer { .. } => {
                "try again; if it stays, check that the server speaks the protocol it is said to"
                    .into()
            }
            Self::Network { .. } => {
                "check the network, the base URL, and that the server is running".into()
            }
            Self::Certificate { .. } => {
                "install the system's certificates (ca-certificates), with that of your proxy among \
                 them if there is one, or name a file of them in SSL_CERT_FILE"
                    .into()
            }
            Self::Interrupted { .. } => "ask again; what had arrived is kept".into(),
        }
    }

    /// When the provider says it may be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Overloaded { retry_after, .. } => {
                *retry_after
            }
            _ => None,
        }
    }

    /// Changes whatever a provider has worded.
    pub(crate) fn map_words(&mut self, change: &dyn Fn(&str) -> String) {
        match self {
            Self::Unauthorized { message, .. }
            | Self::UnknownModel { message, .. }
            | Self::Overflow { message, .. }
            | Self::RateLimited { message, .. }
            | Self::Quota { message, .. }
            | Self::Overloaded { message, .. }
            | Self::Refused { message, .. }
            | Self::BadRequest { message, .. } => *message = change(message),
            Self::NotAnApi { excerpt, .. } => *excerpt = change(excerpt),
            Self::BadAnswer {
                reason, excerpt, ..
            } => {
                *reason = change(reason);
                *excerpt = change(excerpt);
            }
            Self::Network { reason, .. }
            | Self::Certificate { reason, .. }
            | Self::Interrupted { reason, .. } => {
                *reason = change(reason);
            }
            Self::BadSpec { .. }
            | Self::MissingKey { .. }
            | Self::BadKey { .. }
            | Self::Timeout { .. }
            | Self::Cancelled => {}
        }
    }
}
