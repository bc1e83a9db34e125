//! How large the window is, when several voices say so.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DEFAULT_WINDOW, Tokens};

/// Who said how large the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowOrigin {
    /// The user's configuration.
    Config,
    /// The model's metadata, or the built-in table.
    Metadata,
    /// The provider, refusing a request that was too large.
    ProviderError,
    /// A context that the provider took although the table says it is too large.
    Observed,
    /// Nobody: the default.
    Default,
}

impl fmt::Display for WindowOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WindowOrigin::Config => "config",
            WindowOrigin::Metadata => "model metadata",
            WindowOrigin::ProviderError => "provider error",
            WindowOrigin::Observed => "seen in use",
            WindowOrigin::Default => "default",
        })
    }
}

/// What each voice says about a model's window. The smallest is right: a window
/// taken too large overflows, one taken too small compacts a little early. Zero
/// counts as silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WindowSources {
    /// The user's configuration.
    pub config: Option<Tokens>,
    /// The model's metadata; [`known_window`](crate::known_window) when there is none.
    pub metadata: Option<Tokens>,
    /// The provider's own error messages, remembered per model.
    pub provider_error: Option<Tokens>,
    /// The largest context the provider has taken. It proves smaller metadata
    /// wrong: the same model is served with several windows.
    pub observed: Option<Tokens>,
}

/// The window assumed for a model that was seen to take more than it should.
const LARGE_WINDOW: Tokens = Tokens(1_000_000);

impl WindowSources {
    /// The smallest window anyone names, and who; the default when nobody does.
    pub fn resolve(&self) -> ResolvedWindow {
        let observed = self.observed.unwrap_or(Tokens::ZERO);
        let metadata = self.metadata.unwrap_or(DEFAULT_WINDOW);
        let outgrown = (observed > metadata).then(|| LARGE_WINDOW.max(observed));
        let voices = [
            (self.config, WindowOrigin::Config),
            (
                self.metadata.filter(|_| outgrown.is_none()),
                WindowOrigin::Metadata,
            ),
            (outgrown, WindowOrigin::Observed),
            (self.provider_error, WindowOrigin::ProviderError),
        ];
        voices
            .into_iter()
            .filter_map(|(window, origin)| {
                Some(ResolvedWindow {
                    window: window?,
                    origin,
                })
            })
            .filter(|resolved| resolved.window > Tokens::ZERO)
            .min_by_key(|resolved| resolved.window)
            .unwrap_or(ResolvedWindow {
                window: DEFAULT_WINDOW,
                origin: WindowOrigin::Default,
            })
    }

    /// Takes a limit from a provider's error in; a larger one than already known
    /// changes nothing.
    pub fn learn_from_error(&mut self, limit: Tokens) {
        if limit == Tokens::ZERO {
            return;
        }
        self.provider_error = Some(self.provider_error.map_or(limit, |known| known.min(limit)));
    }
}

/// A window and who named it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResolvedWindow {
    /// The size.
    pub window: Tokens,
    /// Who said so.
    pub origin: WindowOrigin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_voice_wins() {
        let mut sources = WindowSources {
            config: Some(Tokens(400_000)),
            metadata: Some(Tokens(200_000)),
            provider_error: None,
            observed: None,
        };
        let resolved = |window, origin| ResolvedWindow {
            window: Tokens(window),
            origin,
        };
        assert_eq!(sources.resolve(), resolved(200_000, WindowOrigin::Metadata));
        sources.learn_from_error(Tokens(131_072));
        sources.learn_from_error(Tokens(180_000));
        sources.learn_from_error(Tokens::ZERO);
        assert_eq!(
            sources.resolve(),
            resolved(131_072, WindowOrigin::ProviderError)
        );
    }

    #[test]
    fn silence_gives_the_default() {
        let silent = WindowSources {
            config: Some(Tokens::ZERO),
            ..WindowSources::default()
        };
        let expected = ResolvedWindow {
            window: Tokens(200_000),
            origin: WindowOrigin::Default,
        };
        assert_eq!(silent.resolve(), expected);
    }
}
