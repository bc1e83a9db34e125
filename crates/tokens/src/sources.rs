//! How large the window is, when several voices say so.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Tokens;

/// Taken when nobody says how large a window is, as for a model that no table has:
/// most hosted models take this much or more.
pub const DEFAULT_WINDOW: Tokens = Tokens(200_000);

/// The window assumed for a model that was seen to take more than it should.
const LARGE_WINDOW: Tokens = Tokens(1_000_000);

/// Who said how large the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowOrigin {
    /// The user's configuration.
    Config,
    /// The model's metadata: the table of models.
    Metadata,
    /// The session itself: the agent that wrote it names the window it works with.
    Transcript,
    /// The provider, refusing a request that was too large.
    ProviderError,
    /// A request that the provider took although it was said to be too large.
    Observed,
    /// Nobody: the default.
    Default,
}

impl fmt::Display for WindowOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            WindowOrigin::Config => "config",
            WindowOrigin::Metadata => "model metadata",
            WindowOrigin::Transcript => "transcript",
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
    /// The model's metadata.
    pub metadata: Option<Tokens>,
    /// What the session says of the window it was written with.
    pub transcript: Option<Tokens>,
    /// The provider's own error messages, remembered per model.
    pub provider_error: Option<Tokens>,
    /// The largest request that the provider took, by its own count. It proves
    /// smaller metadata wrong: the same model is served with several windows.
    pub observed: Option<Tokens>,
}

impl WindowSources {
    /// The smallest window anyone names, and who; the default when nobody does.
    pub fn resolve(&self) -> ResolvedWindow {
        let spoken = |window: Option<Tokens>| window.filter(|window| *window > Tokens::ZERO);
        let taken = self.observed.unwrap_or_default();
        let holds = |window: Option<Tokens>| spoken(window).filter(|window| *window >= taken);
        let (metadata, transcript) = (holds(self.metadata), holds(self.transcript));
        let assumed = spoken(self.metadata.max(self.transcript)).unwrap_or(DEFAULT_WINDOW);
        let outgrown = metadata.is_none() && transcript.is_none() && taken > assumed;
        let voices = [
            (spoken(self.config), WindowOrigin::Config),
            (metadata, WindowOrigin::Metadata),
            (transcript, WindowOrigin::Transcript),
            (
                outgrown.then(|| LARGE_WINDOW.max(taken)),
                WindowOrigin::Observed,
            ),
            (spoken(self.provider_error), WindowOrigin::ProviderError),
        ];
        let named = voices
            .into_iter()
            .filter_map(|(window, origin)| window.map(|window| ResolvedWindow { window, origin }));
        named
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
            ..WindowSources::default()
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

    #[test]
    fn a_request_that_was_taken_proves_what_is_smaller_wrong() {
        let resolve = |metadata: Option<u32>, transcript: Option<u32>, observed| {
            let sources = WindowSources {
                metadata: metadata.map(Tokens),
                transcript: transcript.map(Tokens),
                observed: Some(Tokens(observed)),
                ..WindowSources::default()
            };
            let resolved = sources.resolve();
            (resolved.window.0, resolved.origin)
        };
        use WindowOrigin::{Default, Metadata, Observed, Transcript};
        let (table, session) = (Some(1_050_000), Some(258_400));
        assert_eq!(resolve(table, session, 0), (258_400, Transcript));
        assert_eq!(resolve(table, session, 258_400), (258_400, Transcript));
        assert_eq!(resolve(table, session, 300_000), (1_050_000, Metadata));
        assert_eq!(resolve(table, session, 1_100_000), (1_100_000, Observed));
        assert_eq!(resolve(Some(200_000), None, 210_000), (1_000_000, Observed));
        assert_eq!(resolve(None, None, 200_000), (200_000, Default));
        assert_eq!(resolve(None, None, 200_001), (1_000_000, Observed));
    }
}
