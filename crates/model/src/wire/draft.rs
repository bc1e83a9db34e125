//! An answer while it is being put together.

use crate::answer::{Answer, Delta, Stop, Usage};
use crate::request::{Content, ToolCall};

/// Where deltas go.
pub(crate) type Out<'a> = dyn FnMut(Delta) + Send + 'a;

#[derive(Debug)]
enum Block {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Redacted(String),
    Call {
        index: usize,
        id: String,
        name: String,
        arguments: String,
    },
}

/// Blocks in the order in which they began, each under the key that the
/// provider continues it by.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    blocks: Vec<(u64, Block)>,
    calls: usize,
    said: bool,
    pub(crate) stop: Option<Stop>,
    pub(crate) usage: Option<Usage>,
    pub(crate) cost: Option<f64>,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
}

impl Draft {
    /// Whether any delta was handed out. From then on a retry would say
    /// things twice.
    pub(crate) fn said(&self) -> bool {
        self.said
    }

    pub(crate) fn has_calls(&self) -> bool {
        self.calls > 0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    fn find(&mut self, key: u64) -> Option<&mut Block> {
        self.blocks
            .iter_mut()
            .rev()
            .find(|(own, _)| *own == key)
            .map(|(_, block)| block)
    }

    fn say(&mut self, out: &mut Out<'_>, delta: Delta) {
        self.said = true;
        out(delta);
    }

    pub(crate) fn text(&mut self, key: u64, text: &str, out: &mut Out<'_>) {
        if text.is_empty() {
            return;
        }
        match self.find(key) {
            Some(Block::Text(all)) => all.push_str(text),
            _ => self.blocks.push((key, Block::Text(text.to_owned()))),
        }
        self.say(out, Delta::Text(text.to_owned()));
    }

    pub(crate) fn thinking(&mut self, key: u64, more: &str, out: &mut Out<'_>) {
        match self.find(key) {
            Some(Block::Thinking { text, .. }) => text.push_str(more),
            _ => self.blocks.push((
                key,
                Block::Thinking {
                    text: more.to_owned(),
                    signature: String::new(),
                },
            )),
        }
        if !more.is_empty() {
            self.say(out, Delta::Thinking(more.to_owned()));
        }
    }

    /// More of a signature; begins the block of thinking if there is none.
    pub(crate) fn signature(&mut self, key: u64, more: &str) {
        match self.find(key) {
            Some(Block::Thinking { signature, .. }) => signature.push_str(more),
            _ => self.blocks.push((
                key,
                Block::Thinking {
                    text: String::new(),
                    signature: more.to_owned(),
                },
            )),
        }
    }

    pub(crate) fn redacted(&mut self, key: u64, data: &str) {
        self.blocks.push((key, Block::Redacted(data.to_owned())));
    }

    pub(crate) fn call(&mut self, key: u64, id: &str, name: &str, out: &mut Out<'_>) {
        let index = self.calls;
        self.calls += 1;
        self.blocks.push((
            key,
            Block::Call {
                index,
                id: id.to_owned(),
                name: name.to_owned(),
                arguments: String::new(),
            },
        ));
        self.say(
            out,
            Delta::ToolCall {
                index,
                name: name.to_owned(),
            },
        );
    }

    /// The id of the call that is continued under the key.
    pub(crate) fn call_id(&mut self, key: u64) -> Option<&str> {
        match self.find(key) {
            Some(Block::Call { id, .. }) => Some(id),
            _ => None,
        }
    }

    /// Whether the arguments under the key are complete JSON.
    pub(crate) fn call_is_whole(&mut self, key: u64) -> bool {
        match self.find(key) {
            Some(Block::Call { arguments, .. }) => {
                serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
            }
            _ => false,
        }
    }

    pub(crate) fn arguments(&mut self, key: u64, more: &str, out: &mut Out<'_>) {
        if more.is_empty() {
            return;
        }
        let Some(Block::Call {
            index, arguments, ..
        }) = self.find(key)
        else {
            return;
        };
        let index = *index;
        arguments.push_str(more);
        self.say(
            out,
            Delta::ToolArguments {
                index,
                text: more.to_owned(),
            },
        );
    }

    /// The whole arguments, from a provider that repeats or only then sends them.
    pub(crate) fn settle_arguments(&mut self, key: u64, whole: &str, out: &mut Out<'_>) {
        if let Some(Block::Call { arguments, .. }) = self.find(key)
            && arguments.is_empty()
        {
            self.arguments(key, whole, out);
        }
    }

    pub(crate) fn has_text(&mut self, key: u64) -> bool {
        match self.find(key) {
            Some(Block::Text(text) | Block::Thinking { text, .. }) => !text.is_empty(),
            _ => false,
        }
    }

    /// The answer as far as it has arrived.
    pub(crate) fn answer(&self, model: &str) -> Answer {
        let content = self
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(place, (_, block))| match block {
                Block::Text(text) => (!text.is_empty()).then(|| Content::Text(text.clone())),
                Block::Thinking { text, signature } => {
                    let signature = (!signature.is_empty()).then(|| signature.clone());
                    (!text.is_empty() || signature.is_some()).then(|| Content::Thinking {
                        text: text.clone(),
                        signature,
                    })
                }
                Block::Redacted(data) => Some(Content::RedactedThinking(data.clone())),
                Block::Call {
                    id,
                    name,
                    arguments,
                    ..
                } => Some(Content::ToolCall(ToolCall {
                    // Some local servers leave the id out; the result must
                    // refer to something.
                    id: if id.is_empty() {
                        format!("call_{place}")
                    } else {
                        id.clone()
                    },
                    name: name.clone(),
                    arguments: arguments.clone(),
                })),
            })
            .collect();
        Answer {
            content,
            stop: self
                .stop
                .clone()
                .unwrap_or_else(|| Stop::Other("unfinished".into())),
            usage: self.usage,
            cost: self.cost,
            model: self.model.clone().unwrap_or_else(|| model.to_owned()),
            id: self.id.clone(),
        }
    }
}
