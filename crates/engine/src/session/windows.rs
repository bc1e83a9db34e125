//! Windows that providers have told us, by refusing what did not fit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use longhaul_tokens::Tokens;
use longhaul_transcript::{Result, durable};

fn path(state_dir: &Path) -> PathBuf {
    state_dir.join("windows.json")
}

fn all(state_dir: &Path) -> BTreeMap<String, u32> {
    // What cannot be read is learnt again at the next overflow.
    std::fs::read_to_string(path(state_dir))
        .ok()
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// The window a provider has named for a model.
pub(super) fn learnt(state_dir: &Path, model: &str) -> Option<Tokens> {
    all(state_dir).get(model).copied().map(Tokens)
}

/// Remembers it.
pub(super) fn learn(state_dir: &Path, model: &str, window: Tokens) -> Result<()> {
    let mut known = all(state_dir);
    known.insert(model.to_owned(), window.0);
    durable::create_folder(state_dir)?;
    let text = serde_json::to_string_pretty(&known).unwrap_or_default();
    durable::replace(&path(state_dir), &mut |out| out.write_all(text.as_bytes()))
}
