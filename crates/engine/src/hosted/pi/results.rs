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
        let counter = self.meter.estimator().counter();
        let tokens = counter.tool_result(tool, &text);
        if tokens <= Tokens(window.size().0 / PART) {
            return Ok(None);
        }
        let entry = self.keep_result(call, tool, content, is_error)?;
        let share = f64::from(window.size().0 / (PART * 2)) / f64::from(tokens.0.max(1));
        let chars = text.chars().count();
        let shown = (chars as f64 * share) as usize;
        let (head, tail) = ends(&text, shown);
        let middle = chars - head.chars().count() - tail.chars().count();
        let mut blocks = vec![json!({
            "type": "text",
            "text": format!(
                "{head}\n[longhaul: {middle} of {chars} characters are left out here, because the \
                 result alone would take more than a quarter of the context. All of it is kept: \
                 recall id={entry} gives it back from the start, with offset={} from here on.]\n\
                 {tail}",
                head.chars().count(),
            ),
        })];
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
        let path = results_path(&self.setup.state_dir, &self.whose.key);
        let mut writer = match path.exists() {
            true => Writer::open(&path, Durability::Always)?,
            false => {
                if let Some(folder) = path.parent() {
                    longhaul_files::create_folder(folder)?;
                }
                let header = Header {
                    id: format!("{}-results", self.whose.key),
                    version: 3,
                    time: Some(self.now()),
                    cwd: self.live.header().cwd.clone(),
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
            "timestamp": self.now().0,
        });
        let stamp = self.stamp();
        let id = writer.append(&Draft::Message(message.to_string()), stamp)?;
        Ok(id.as_str().to_owned())
    }

    /// The file with the results that are shown in part, if there are any: a
    /// session for `recall` like any other.
    pub fn results(&self) -> Option<PathBuf> {
        let path = results_path(&self.setup.state_dir, &self.whose.key);
        path.exists().then_some(path)
    }
}

fn text_of(block: &Value) -> Option<&str> {
    (block.get("type")?.as_str()? == "text").then(|| block.get("text")?.as_str())?
}

/// The beginning and the end of a text, so many characters together, on line ends
/// where they are near.
fn ends(text: &str, chars: usize) -> (&str, &str) {
    let at = |count: usize| {
        let mut places = text.char_indices().map(|(at, _)| at);
        places.nth(count).unwrap_or(text.len())
    };
    let total = text.chars().count();
    let head = &text[..at(chars * 2 / 3)];
    let tail = &text[at(total - (chars / 3).min(total))..];
    let near = chars / 10;
    let head = match head.rfind('\n') {
        Some(end) if head.len() - end <= near => &head[..end],
        _ => head,
    };
    let tail = match tail.find('\n') {
        Some(end) if end <= near => &tail[end + 1..],
        _ => tail,
    };
    (head, tail)
}
