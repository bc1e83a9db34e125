//! Kinds of secrets.

use std::fmt;

use serde::{Serialize, Serializer};

macro_rules! kinds {
    ($( $(#[$about:meta])* $kind:ident = $name:literal, )*) => {
        /// What sort of secret it is.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Kind { $( $(#[$about])* $kind, )* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$( Kind::$kind, )*];

            /// Its name in placeholders and reports.
            pub fn name(self) -> &'static str {
                match self { $( Kind::$kind => $name, )* }
            }
        }
    };
}

kinds! {
    /// Anthropic's `sk-ant-…`.
    Anthropic = "anthropic-key",
    /// OpenAI's `sk-…`, and those of others in its form.
    OpenAi = "openai-key",
    /// OpenRouter's `sk-or-…`.
    OpenRouter = "openrouter-key",
    /// Google's `AIza…`, `GOCSPX-…`, `ya29.…`.
    Google = "google-key",
    /// The id of an AWS key, `AKIA…`.
    Aws = "aws-key",
    /// GitHub's `ghp_…` and its like.
    GitHub = "github-token",
    /// GitLab's `glpat-…` and its like.
    GitLab = "gitlab-token",
    /// Slack's `xoxb-…` and web hooks.
    Slack = "slack-token",
    /// Stripe's `sk_live_…` and its like.
    Stripe = "stripe-key",
    /// npm's `npm_…`.
    Npm = "npm-token",
    /// PyPI's `pypi-…`.
    Pypi = "pypi-token",
    /// Hugging Face's `hf_…`.
    HuggingFace = "huggingface-token",
    /// A key of another provider with a form of its own.
    Provider = "provider-key",
    /// A JSON web token.
    Jwt = "jwt",
    /// What follows `Bearer` or `Basic`.
    Bearer = "bearer-token",
    /// A private key between its marks.
    PrivateKey = "private-key",
    /// The password in an address.
    UrlPassword = "url-password",
    /// The value of something called a password.
    Password = "password",
    /// The hash of a password, as password files hold it.
    PasswordHash = "password-hash",
    /// The words from which a wallet is made again.
    SeedPhrase = "seed-phrase",
    /// A value that looks random beside a telling name.
    Secret = "secret",
    /// What a rule of the workspace found.
    Own = "own-rule",
}

impl Kind {
    /// Whether another kind says more of a secret that is of both: its form more
    /// than the place in which it stands.
    pub(super) fn says_less_than(self, other: Kind) -> bool {
        let placed = |kind| {
            matches!(
                kind,
                Kind::Secret | Kind::Password | Kind::Bearer | Kind::UrlPassword
            )
        };
        placed(self) && !placed(other)
    }

    /// What a placeholder stands for.
    pub(super) fn of_placeholder(placeholder: &str) -> Option<Kind> {
        let inner = placeholder.strip_prefix("[redacted:")?;
        Kind::named(inner.split_once('#')?.0)
    }

    pub(super) fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
