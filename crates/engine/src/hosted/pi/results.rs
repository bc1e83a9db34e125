//! Results that are too large to be shown: kept whole first, then shown in part.
//!
//! They are kept as entries of a session file of our own beside the state of the
//! session, so that `recall` finds them as it finds everything else.

use std::path::{Path, PathBuf};

use longhaul_tokens::Tokens;
use longhaul_transcript::{Draft, Durability, Header, SessionKey, Writer};
use serde::Serialize;
use serde_json::{Value, json};

use super::{PiHost, PiSession, Result};
use crate::session::cut;

/// A result may take this part of the window, and is shown in half of that else.
const PART: u32 = 4;

/// A result as the model is shown it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownResult {
    /// The blocks in place of the tool's own.
    pub content: Vec<Value>,
    /// The entry that has all of it.
    pub entry: String,
    /// Its size.
    pub tokens: Tokens,
}

/// Where the large results of a session are kept.
fn results_path(state_dir: &Path, key: &SessionKey) -> PathBuf {
    state_dir
        .join("context/results")
        .join(format!("{}.jsonl", key.folder_name()))
}

impl PiSession {
    /// Looks at a tool's result before pi takes it: one that is larger than a
    /// quarter of the window is kept whole, durably, and shown in part. `None` for
    /// all others.
    pub fn tool_result(
        &mut self,
        call: &str,
        tool: &str,
        content: &[Value],
        is_error: bool,
        host: PiHost,
    ) -> Result<Option<ShownResult>> {
        let window = self.window(host)?;
        let text: Vec<&str> = content.iter().filter_map(text_of).collect();
        let text = text.join("\n");
        let counter = self.bench.meter.estimator().counter();
        let tokens = counter.tool_result(tool, &text);
        if tokens <= Tokens(window.size().0 / PART) {
            return Ok(None);
        }
        let entry = self.keep_result(call, tool, content, is_error)?;
        let share = f64::from(window.size().0 / (PART * 2)) / f64::from(tokens.0.max(1));
        let most = (text.chars().count() as f64 * share) as usize;
        let shown = cut(&text, most, |shown| {
            format!(
                ", because the result alone would take more than a quarter of the context. All \
                 of it is kept: recall id={entry} gives it back from the start, with \
                 offset={shown} from here on."
            )
        });
        let mut blocks = vec![json!({ "type": "text", "text": shown.unwrap_or(text) })];
        blocks.extend(
            content
                .iter()
                .filter(|block| text_of(block).is_none())
                .cloned(),
        );
        Ok(Some(ShownResult {
            content: blocks,
            entry,
            tokens,
        }))
    }

    /// Writes a result down; it is on the disk when this returns.
    fn keep_result(
        &self,
        call: &str,
        tool: &str,
        content: &[Value],
        is_error: bool,
    ) -> Result<String> {
        let path = results_path(&self.setup.state_dir, &self.bench.whose.key);
        let mut writer = match path.exists() {
            true => Writer::open(&path, Durability::Always)?,
            false => {
                if let Some(folder) = path.parent() {
                    longhaul_files::create_folder(folder)?;
                }
                let header = Header {
                    id: format!("{}-results", self.bench.whose.key),
                    version: 3,
                    time: Some(self.setup.now()),
                    cwd: self.live().header().cwd.clone(),
                    parent_session: Some(self.path.to_string_lossy().into_owned()),
                };
                Writer::create(&path, &header, Durability::Always)?
            }
        };
        let message = json!({
            "role": "toolResult",
            "toolCallId": call,
            "toolName": tool,
            "content": content,
            "isError": is_error,
            "timestamp": self.setup.now().0,
        });
        let stamp = self.setup.stamp();
        let id = writer.append(&Draft::Message(message.to_string()), stamp)?;
        Ok(id.as_str().to_owned())
    }

    /// The file with the results that are shown in part, if there are any: a
    /// session for `recall` like any other.
    pub fn results(&self) -> Option<PathBuf> {
        let path = results_path(&self.setup.state_dir, &self.bench.whose.key);
        path.exists().then_some(path)
    }
}

fn text_of(block: &Value) -> Option<&str> {
    (block.get("type")?.as_str()? == "text").then(|| block.get("text")?.as_str())?
}
