//! Windows that providers have told us, by refusing what did not fit.

use std::path::{Path, PathBuf};

use longhaul_model::ModelInfo;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Result, durable};
use serde::{Deserialize, Serialize};

/// Where they are kept.
pub(super) fn path(state_dir: &Path) -> PathBuf {
    state_dir.join("windows.json")
}

/// Everything learnt. A file of another form, such as the first one, which knew
/// models by their names alone, is read as nothing.
#[derive(Default, Serialize, Deserialize)]
struct Windows {
    windows: Vec<Learnt>,
}

/// One model at one server: the same name is served with several windows.
#[derive(Serialize, Deserialize)]
struct Learnt {
    provider: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    model: String,
    window: Tokens,
}

impl Learnt {
    fn is_of(&self, info: &ModelInfo) -> bool {
        self.provider == info.provider && self.endpoint == info.endpoint && self.model == info.name
    }
}

fn all(state_dir: &Path) -> Windows {
    // What cannot be read is learnt again at the next overflow.
    std::fs::read_to_string(path(state_dir))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

fn keep(state_dir: &Path, known: &Windows) -> Result<()> {
    durable::create_folder(state_dir)?;
    let text = serde_json::to_string_pretty(known).unwrap_or_default();
    durable::replace(&path(state_dir), &mut |out| out.write_all(text.as_bytes()))
}

/// The window a provider has named for a model.
pub(super) fn learnt(state_dir: &Path, info: &ModelInfo) -> Option<Tokens> {
    let known = all(state_dir).windows;
    let found = known.iter().find(|learnt| learnt.is_of(info));
    found.map(|learnt| learnt.window)
}

/// Remembers it.
pub(super) fn learn(state_dir: &Path, info: &ModelInfo, window: Tokens) -> Result<()> {
    let mut known = all(state_dir);
    known.windows.retain(|learnt| !learnt.is_of(info));
    known.windows.push(Learnt {
        provider: info.provider.clone(),
        endpoint: info.endpoint.clone(),
        model: info.name.clone(),
        window,
    });
    keep(state_dir, &known)
}

/// Forgets it; whether there was one.
pub(super) fn forget(state_dir: &Path, info: &ModelInfo) -> Result<bool> {
    let mut known = all(state_dir);
    let before = known.windows.len();
    known.windows.retain(|learnt| !learnt.is_of(info));
    if known.windows.len() == before {
        return Ok(false);
    }
    keep(state_dir, &known)?;
    Ok(true)
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
}
