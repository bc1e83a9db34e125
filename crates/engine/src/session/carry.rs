//! A new session of a key takes along what the user said in the one before.
//!
//! The words stand in an entry of their own at the start of the new session, so
//! that its ledger has them, and with it the first contexts, its summaries, and
//! the session after it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_checkpoint::user_words;
use longhaul_ledger::ours;
use longhaul_redact::Redactor;
use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Result, Session as Stored, SessionKey};
use serde_json::json;

use super::{Listener, Setup, engine};
use crate::catalog::listed_id;
use crate::checkpoints::redacted;
use crate::compactor::Bench;
use crate::event::Event;
use crate::marks::mark;

/// The newest session of ours that has this name, by when it was written to.
pub fn newest_of(state_dir: &Path, name: &str) -> Option<PathBuf> {
    let folder = SessionKey::new(name).folder_name();
    let is_called = |path: &PathBuf| {
        let file = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        file.ends_with(".jsonl")
            && file.contains(folder.as_str())
            && Stored::open(path).is_ok_and(|session| session.header().id == name)
    };
    let files = fs::read_dir(state_dir.join("sessions")).ok()?;
    let paths = files.flatten().map(|file| file.path()).filter(is_called);
    let changed = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    paths.max_by_key(|path| (changed(path), path.clone()))
}

/// The entry with which a session begins that follows the one in `before`; none
/// where the user said nothing there. A session that cannot be read is told and
/// leaves nothing.
pub(crate) fn carried(setup: &Setup, before: &Path, listener: &mut dyn Listener) -> Option<Draft> {
    match words(setup, before) {
        Ok(draft) => draft,
        Err(error) => {
            let reason = format!("what the user said in the session before is left out: {error}");
            listener.event(&Event::trouble(reason));
            None
        }
    }
}

fn words(setup: &Setup, before: &Path) -> Result<Option<Draft>> {
    let stored = Stored::open(before)?;
    let live = Bench::read(&stored, None, &setup.config, &setup.state_dir)?;
    let texts = user_words(
        live.ledger(),
        limit(setup),
        setup.config.tokens.estimator.counter(),
    );
    if texts.is_empty() {
        return Ok(None);
    }
    let redactor = live.redactor();
    let texts = redacted(&texts, &|text| {
        let text = redactor.redact(text).text;
        Redactor::default().redact(&text).text
    });
    let data = json!({ "session": listed_id(&stored), "texts": texts });
    Ok(Some(mark(ours::CARRIED, &data)))
}

fn limit(setup: &Setup) -> Tokens {
    let most = setup.config.restore.carried_tokens;
    engine::window(setup).map_or(most, |(window, _)| window.scaled(most))
}
