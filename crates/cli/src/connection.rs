//! What a chat keeps about a session for the next one: how and where its model
//! is asked, and the window it ran with.
//!
//! The transcript names provider and model, as pi does, and no more. Without
//! this a session that was asked on this machine would be resumed elsewhere,
//! with all that was said in it.

use std::path::{Path, PathBuf};

use longhaul_engine::checkpoints::{FileNotebook, Whose};
use longhaul_model::ModelSpec;
use longhaul_tokens::{Tokens, WindowOrigin};
use longhaul_transcript::Session;
use serde::{Deserialize, Serialize};

/// What is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Connection {
    /// The session's file: a new session of the same name is another one.
    file: String,
    /// The model as it is named on a command line.
    model: String,
    window: Tokens,
    window_origin: WindowOrigin,
}

/// Nothing that is kept has more.
const MOST_BYTES: u64 = 64 << 10;

fn path(state_dir: &Path, session: &Session) -> PathBuf {
    let notebook = FileNotebook::new(state_dir, &Whose::of(session).key);
    notebook.folder().join("chat.json")
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

impl Connection {
    /// What was kept about a session. What cannot be read is written anew by the
    /// next chat.
    pub(crate) fn of(state_dir: &Path, session: &Session) -> Option<Connection> {
        let text = longhaul_files::read_text(&path(state_dir, session), MOST_BYTES).ok()?;
        let kept: Connection = serde_json::from_str(&text).ok()?;
        (kept.file == file_name(session.path())).then_some(kept)
    }

    /// Keeps it.
    pub(crate) fn write(
        state_dir: &Path,
        session: &Path,
        spec: &ModelSpec,
        window: (Tokens, WindowOrigin),
    ) -> longhaul_transcript::Result<()> {
        let stored = Session::open(session)?;
        let kept = Connection {
            file: file_name(session),
            model: without_secrets(spec).to_string(),
            window: window.0,
            window_origin: window.1,
        };
        if Connection::of(state_dir, &stored).as_ref() == Some(&kept) {
            return Ok(());
        }
        let path = path(state_dir, &stored);
        if let Some(folder) = path.parent() {
            longhaul_files::create_folder(folder)?;
        }
        let text = serde_json::to_string_pretty(&kept).unwrap_or_default();
        Ok(longhaul_files::replace(&path, text.as_bytes())?)
    }

    /// How the model was asked, if it is the one that the session names.
    pub(crate) fn spec(&self, named: &str) -> Option<ModelSpec> {
        let spec = ModelSpec::parse(&self.model).ok()?;
        (format!("{}/{}", spec.provider.name(), spec.name) == named).then_some(spec)
    }

    /// The window it ran with, where that is more than the model's name tells.
    pub(crate) fn window(&self) -> Option<(Tokens, WindowOrigin)> {
        let told = matches!(
            self.window_origin,
            WindowOrigin::Config | WindowOrigin::ProviderError
        );
        told.then_some((self.window, self.window_origin))
    }
}

/// A model without what a URL may carry of passwords and keys.
pub(crate) fn without_secrets(spec: &ModelSpec) -> ModelSpec {
    let mut spec = spec.clone();
    if let Some(url) = &spec.base_url {
        let plain = url.split(['?', '#']).next().unwrap_or_default();
        let plain = match plain.split_once("://") {
            Some((scheme, rest)) => {
                let (host, path) = match rest.find('/') {
                    Some(at) => rest.split_at(at),
                    None => (rest, ""),
                };
                let host = host.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}{path}")
            }
            None => plain.to_owned(),
        };
        spec.base_url = Some(plain);
    }
    spec
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_and_keys_in_a_url_are_not_kept() {
        let spec = ModelSpec::parse("openai+chat/m@https://ada:secret@host:1/v1?key=k#x").unwrap();
        assert_eq!(
            without_secrets(&spec).to_string(),
            "openai+chat/m@https://host:1/v1"
        );
        let spec = ModelSpec::parse("ollama/m@http://127.0.0.1:1").unwrap();
        assert_eq!(without_secrets(&spec), spec);
    }
}
