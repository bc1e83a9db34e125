//! Windows that providers have told us, by refusing what did not fit.

use std::path::{Path, PathBuf};

use longhaul_model::{ModelInfo, listed};
use longhaul_tokens::{DEFAULT_WINDOW, ResolvedWindow, Tokens, WindowOrigin, WindowSources};
use longhaul_transcript::Result;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::measure::WindowEvidence;

/// Where they are kept.
pub(super) fn path(state_dir: &Path) -> PathBuf {
    state_dir.join("windows.json")
}

/// Everything learnt. A file of another form, such as the first one, which knew
/// models by their names alone, is read as nothing.
#[derive(Default, Serialize, Deserialize)]
struct Windows {
    windows: Vec<LearntWindow>,
}

/// The window of one model at one server, as the server told it: the same name is
/// served with several windows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearntWindow {
    /// Who serves it.
    pub provider: String,
    /// Where: scheme, host and port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// Its name.
    pub model: String,
    /// What fits.
    pub window: Tokens,
}

impl LearntWindow {
    fn is_of(&self, info: &ModelInfo) -> bool {
        self.provider == info.provider && self.endpoint == info.endpoint && self.model == info.name
    }
}

/// No list of windows has more.
const MOST_BYTES: u64 = 1 << 20;

fn keep(state_dir: &Path, windows: Vec<LearntWindow>) -> Result<()> {
    longhaul_files::create_folder(state_dir)?;
    let text = serde_json::to_string_pretty(&Windows { windows }).unwrap_or_default();
    Ok(longhaul_files::replace(&path(state_dir), text.as_bytes())?)
}

/// The window a provider has named for a model.
pub(super) fn learnt(state_dir: &Path, info: &ModelInfo) -> Option<Tokens> {
    let mut known = learnt_windows(state_dir).into_iter();
    known.find(|learnt| learnt.is_of(info)).map(|it| it.window)
}

/// Remembers it.
pub(super) fn learn(state_dir: &Path, info: &ModelInfo, window: Tokens) -> Result<()> {
    let mut known = learnt_windows(state_dir);
    known.retain(|learnt| !learnt.is_of(info));
    known.push(LearntWindow {
        provider: info.provider.clone(),
        endpoint: info.endpoint.clone(),
        model: info.name.clone(),
        window,
    });
    keep(state_dir, known)
}

/// Forgets it; whether there was one.
pub(super) fn forget(state_dir: &Path, info: &ModelInfo) -> Result<bool> {
    let forgotten = forget_windows(state_dir, &|learnt| learnt.is_of(info))?;
    Ok(!forgotten.is_empty())
}

/// Every window that servers have told us, by refusing what did not fit.
pub fn learnt_windows(state_dir: &Path) -> Vec<LearntWindow> {
    // What cannot be read is learnt again at the next overflow.
    let text = longhaul_files::read_text(&path(state_dir), MOST_BYTES).ok();
    let known: Option<Windows> = text.and_then(|text| serde_json::from_str(&text).ok());
    known.unwrap_or_default().windows
}

/// Forgets the windows that are meant, and says which there were. The next error
/// of a server may teach it again.
pub fn forget_windows(
    state_dir: &Path,
    meant: &dyn Fn(&LearntWindow) -> bool,
) -> Result<Vec<LearntWindow>> {
    let (forgotten, kept): (Vec<_>, Vec<_>) = learnt_windows(state_dir)
        .into_iter()
        .partition(|it| meant(it));
    if !forgotten.is_empty() {
        keep(state_dir, kept)?;
    }
    Ok(forgotten)
}

/// The window of a model as a session has it: the smallest of what the
/// configuration, its metadata, the session and its server say. A request that was
/// answered proves a smaller table wrong, not the server.
pub fn resolve_window(
    config: &Config,
    state_dir: &Path,
    info: Option<&ModelInfo>,
    evidence: WindowEvidence,
) -> ResolvedWindow {
    let learnt = info.and_then(|info| learnt(state_dir, info));
    sources(config.compaction.context_window, info, learnt, evidence).resolve()
}

/// Who says what of a model's window.
fn sources(
    at_most: Option<Tokens>,
    info: Option<&ModelInfo>,
    learnt: Option<Tokens>,
    evidence: WindowEvidence,
) -> WindowSources {
    let window = info.and_then(|info| info.window).map(Tokens);
    let given = window.filter(|_| info.is_some_and(|info| info.window_given));
    match given {
        // Whoever gives a model's window knows better than any table and any agent,
        // and what is given is not outgrown; it is kept to.
        Some(_) => WindowSources {
            config: at_most.into_iter().chain(given).min(),
            provider_error: learnt,
            ..WindowSources::default()
        },
        None => WindowSources {
            config: at_most,
            metadata: window,
            transcript: evidence.named,
            provider_error: learnt,
            observed: evidence.answered,
        },
    }
}

/// Who says how large a window is, in words, and how to change it.
pub fn window_source(origin: WindowOrigin, info: Option<&ModelInfo>) -> String {
    match origin {
        WindowOrigin::Config => {
            "set by `compaction.contextWindow`, `--window` or `models`".to_owned()
        }
        WindowOrigin::Metadata => {
            let row = info.and_then(|info| listed(&info.name));
            let whose = row.map(|row| format!(" ({}, {})", row.source, row.as_of));
            format!(
                "from the table of models{}; `models` in the configuration counts above it",
                whose.unwrap_or_default()
            )
        }
        WindowOrigin::Transcript => {
            "named by the agent in its session; `models` in the configuration counts above it"
                .to_owned()
        }
        WindowOrigin::ProviderError => {
            let whose = match info {
                Some(info) => {
                    let server = info.endpoint.as_deref().unwrap_or("its server");
                    format!("{}/{} at {server}", info.provider, info.name)
                }
                None => "the model".to_owned(),
            };
            format!(
                "learnt from an error of {whose}; `longhaul context windows --forget` \
                 forgets it, or set it with \
                 `models` in the configuration to keep it"
            )
        }
        WindowOrigin::Observed => {
            "seen in use; `models` in the configuration says what it is".to_owned()
        }
        WindowOrigin::Default => {
            let why = match info {
                Some(info) => format!("the table of models has no {:?}", info.name),
                None => "no model is named".to_owned(),
            };
            format!(
                "the default of {DEFAULT_WINDOW}, as {why}; set it with `models` in the \
                 configuration"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(provider: &str, endpoint: &str, name: &str) -> ModelInfo {
        ModelInfo {
            provider: provider.into(),
            endpoint: Some(endpoint.into()),
            name: name.into(),
            ..ModelInfo::default()
        }
    }

    #[test]
    fn a_window_is_learnt_for_a_model_at_one_server_only() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let small = model("vllm", "http://127.0.0.1:8000", "qwen");
        let others = [
            model("vllm", "http://127.0.0.1:8001", "qwen"),
            model("ollama", "http://127.0.0.1:8000", "qwen"),
            model("vllm", "http://127.0.0.1:8000", "qwen3"),
        ];
        learn(dir, &small, Tokens(3_000)).unwrap();
        learn(dir, &others[0], Tokens(9_000)).unwrap();
        learn(dir, &small, Tokens(2_000)).unwrap();
        assert_eq!(learnt(dir, &small), Some(Tokens(2_000)));
        assert_eq!(learnt(dir, &others[0]), Some(Tokens(9_000)));
        assert_eq!(learnt(dir, &others[1]), None);
        assert_eq!(learnt(dir, &others[2]), None);
    }

    #[test]
    fn what_is_forgotten_is_gone_and_the_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        let (one, other) = (
            model("vllm", "http://a", "m"),
            model("vllm", "http://b", "m"),
        );
        assert!(!forget(dir, &one).unwrap());
        assert!(!path(dir).exists());
        learn(dir, &one, Tokens(3_000)).unwrap();
        learn(dir, &other, Tokens(4_000)).unwrap();
        assert!(forget(dir, &one).unwrap());
        assert_eq!(learnt(dir, &one), None);
        assert_eq!(learnt(dir, &other), Some(Tokens(4_000)));
    }

    #[test]
    fn a_file_that_knows_models_by_name_alone_says_nothing_and_is_written_anew() {
        let folder = tempfile::tempdir().unwrap();
        let dir = folder.path();
        std::fs::write(path(dir), r#"{"qwen": 3000, "windows": 4000}"#).unwrap();
        let qwen = model("vllm", "http://a", "qwen");
        assert_eq!(learnt(dir, &qwen), None);
        learn(dir, &qwen, Tokens(5_000)).unwrap();
        assert_eq!(learnt(dir, &qwen), Some(Tokens(5_000)));
    }

    fn resolved(
        at_most: Option<u32>,
        window: Option<u32>,
        window_given: bool,
        learnt: Option<u32>,
    ) -> (u32, WindowOrigin) {
        let info = ModelInfo {
            name: "claude-opus-4-5".into(),
            window,
            window_given,
            ..ModelInfo::default()
        };
        let sources = sources(
            at_most.map(Tokens),
            Some(&info),
            learnt.map(Tokens),
            WindowEvidence::default(),
        );
        let resolved = sources.resolve();
        (resolved.window.0, resolved.origin)
    }

    #[test]
    fn a_window_that_is_given_counts_above_the_tables_also_where_it_is_larger() {
        use WindowOrigin::{Config, Metadata, ProviderError};
        let million = Some(1_000_000);
        assert_eq!(resolved(None, million, false, None), (1_000_000, Metadata));
        assert_eq!(resolved(None, million, true, None), (1_000_000, Config));
        assert_eq!(resolved(None, Some(9_000), true, None), (9_000, Config));
        // At most so much is used, whatever the model has.
        assert_eq!(
            resolved(Some(64_000), million, true, None),
            (64_000, Config)
        );
        // What the server refused, it refuses.
        let learnt = resolved(Some(64_000), million, true, Some(3_000));
        assert_eq!(learnt, (3_000, ProviderError));
    }
}
