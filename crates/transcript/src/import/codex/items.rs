//! The items of Codex's rollouts as native blocks and messages.

use crate::entry::Place;
use crate::import::lineup::{image_block, list, text_block};
use crate::json::{self, Object, ObjectWriter};
use crate::user_text::{Channel, UserText};

/// What one item means for the conversation.
pub(super) enum Item {
    /// Something the user said, or Codex in the user's name.
    User { content: String, typed: String },
    /// A shell command that the user ran.
    Shell {
        command: String,
        output: String,
        exit: Option<i64>,
    },
    /// Text for the model from elsewhere: instructions, another agent.
    Note {
        custom_type: String,
        content: String,
    },
    /// A block of the model's answer.
    Block { json: String, call: Option<Call> },
    /// The output of a call.
    Output(Output),
    /// Nothing that has a native counterpart.
    Other,
}

/// A call of a tool.
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// What a tool returned.
pub(super) struct Output {
    /// The call; older files and other writers leave it out.
    pub(super) call: Option<String>,
    pub(super) name: Option<String>,
    pub(super) content: String,
    pub(super) is_error: bool,
    /// The output, if it is one text.
    pub(super) text: String,
}

impl Output {
    /// Whether the user refused the call, or stopped it.
    pub(super) fn is_rejected(&self) -> bool {
        let text = self.text.trim_end();
        REFUSALS.iter().any(|refusal| text.starts_with(refusal)) || text.ends_with(STOPPED)
    }

    /// The answers to the questions of a call with these arguments.
    pub(super) fn answers(&self, arguments: &str) -> Vec<UserText<'static>> {
        let output = Object::parse(&self.text).unwrap_or_default();
        let given = output.object("answers").unwrap_or_default();
        let arguments = Object::parse(arguments).unwrap_or_default();
        let mut texts = Vec::new();
        for raw in arguments.array("questions").unwrap_or_default() {
            let asked = Object::of(raw.get()).unwrap_or_default();
            let question = asked.str("question").unwrap_or_default();
            let answers = asked.str("id").and_then(|id| given.object(&id));
            for raw in answers
                .and_then(|of| of.array("answers"))
                .into_iter()
                .flatten()
            {
                let text = json::string(raw.get()).unwrap_or_default();
                let text = text.strip_prefix("user_note: ").unwrap_or(&text);
                texts.push(UserText {
                    question: Some(question.clone().into_owned().into()),
                    ..UserText::new(Channel::Answer, text.to_owned())
                });
            }
        }
        texts
    }
}

const REFUSALS: [&str; 3] = [
    "exec command rejected by user",
    "patch rejected by user",
    r#"exec_command failed: CreateProcess { message: "Rejected(\"rejected by user\")" }"#,
];
const STOPPED: &str = "\naborted by user";

impl Item {
    pub(super) fn read(item: &Object<'_>, raw: &str, place: Place) -> Item {
        let kind = item.str("type").unwrap_or_default();
        match kind.as_ref() {
            "message" => message(item),
            "" if item.has("role") => message(item),
            "reasoning" => Item::Block {
                json: thinking(item, raw),
                call: None,
            },
            "function_call" | "tool_call" | "local_shell_call" | "custom_tool_call"
            | "tool_search_call" => call(&kind, item, place),
            "function_call_output"
            | "custom_tool_call_output"
            | "function_result"
            | "tool_result"
            | "local_shell_call_output" => Item::Output(output(item)),
            "tool_search_output" => Item::Output(Output {
                call: text(item, "call_id"),
                name: Some("tool_search".into()),
                content: list(&[text_block(&json::quote(item.raw("tools").unwrap_or("[]")))]),
                is_error: false,
                text: String::new(),
            }),
            "agent_message" => Item::Note {
                custom_type: "codex:agent_message".into(),
                content: blocks(item.raw("content")),
            },
            _ => Item::Other,
        }
    }
}

fn text(item: &Object<'_>, key: &str) -> Option<String> {
    item.str(key)
        .filter(|text| !text.is_empty())
        .map(|text| text.into_owned())
}

fn message(item: &Object<'_>) -> Item {
    let content = blocks(item.raw("content").or_else(|| item.raw("message")));
    match item.str("role").unwrap_or_default().as_ref() {
        "user" => match shell(item) {
            Some(shell) => shell,
            None => Item::User {
                typed: typed(item),
                content,
            },
        },
        "assistant" => {
            // One message may hold several texts; they stay separate blocks.
            let inner = &content[1..content.len() - 1];
            if inner.is_empty() {
                Item::Other
            } else {
                Item::Block {
                    json: inner.to_owned(),
                    call: None,
                }
            }
        }
        role => Item::Note {
            custom_type: format!("codex:{role}"),
            content,
        },
    }
}

/// How Codex opens the texts that it writes in the user's name.
const CONTEXT_STARTS: [&str; 10] = [
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<user_action>",
    "<skill>",
    "<subagent_notification>",
    "<image name=",
];
/// What an editor's context ends with.
const REQUEST: &str = "## My request for Codex:";

/// The words that a person typed. Newer versions say for every text where it
/// comes from; older ones are told by how it begins.
pub(super) fn typed(item: &Object<'_>) -> String {
    let sources = item
        .object("internal_chat_message_metadata_passthrough")
        .and_then(|metadata| metadata.array("content_item_metadata"))
        .unwrap_or_default();
    let is_users = |at: usize, text: &str| {
        let source = sources
            .get(at)
            .and_then(|raw| Object::of(raw.get())?.object("provenance")?.str("type"));
        match source {
            Some(source) => source == "user",
            None => {
                let text = text.trim_start();
                text != "</image>" && !CONTEXT_STARTS.iter().any(|start| text.starts_with(start))
            }
        }
    };
    let texts: Vec<String> = texts(item)
        .into_iter()
        .enumerate()
        .filter(|(at, text)| is_users(*at, text))
        .map(|(_, text)| match text.split_once(REQUEST) {
            Some((_, request)) => request.trim().to_owned(),
            None => text,
        })
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n")
}

/// The texts of a message, one for each part of its content.
fn texts(item: &Object<'_>) -> Vec<String> {
    let raw = item.raw("content").or_else(|| item.raw("message"));
    if let Some(text) = raw.and_then(json::string) {
        return vec![text.into_owned()];
    }
    raw.and_then(json::array)
        .unwrap_or_default()
        .into_iter()
        .map(|raw| {
            let part = Object::of(raw.get()).unwrap_or_default();
            part.str("text").unwrap_or_default().into_owned()
        })
        .collect()
}

fn shell(item: &Object<'_>) -> Option<Item> {
    let texts = texts(item);
    let text = texts.first()?.trim_start();
    let inside = text.strip_prefix("<user_shell_command>")?;
    let between = |text: &str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from)?;
        Some(rest.rsplit_once(to)?.0.to_owned())
    };
    let command = between(
        inside.split_once("<result>")?.0,
        "<command>\n",
        "\n</command>",
    )?;
    let result = between(inside, "<result>\n", "\n</result>")?;
    let exit = result
        .lines()
        .find_map(|line| line.strip_prefix("Exit code: "));
    Some(Item::Shell {
        exit: exit.and_then(|code| code.trim().parse().ok()),
        output: result
            .split_once("Output:\n")
            .map_or_else(String::new, |(_, output)| output.to_owned()),
        command,
    })
}

/// Whether an item of a kind that is not known says something.
pub(super) fn unknown_text(kind: &str, item: &Object<'_>) -> bool {
    const SILENT: [&str; 10] = [
        "web_search_call",
        "image_generation_call",
        "ghost_snapshot",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "compaction_trigger",
        "additional_tools",
        "item_reference",
        "computer_call",
    ];
    let says = |text: &str| !text.trim().is_empty();
    !SILENT.contains(&kind)
        && (texts(item).iter().any(|text| says(text))
            || item.str("text").is_some_and(|text| says(&text)))
}

/// Content as native blocks: from a text, an object or an array.
fn blocks(raw: Option<&str>) -> String {
    let items: Vec<String> = match raw {
        Some(raw) if raw.starts_with('"') => vec![text_block(raw)],
        Some(raw) if raw.starts_with('{') => block(raw).into_iter().collect(),
        Some(raw) => json::array(raw)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|raw| block(raw.get()))
            .collect(),
        None => Vec::new(),
    };
    list(&items)
}

fn block(raw: &str) -> Option<String> {
    let Ok(item) = Object::parse(raw) else {
        return raw.starts_with('"').then(|| text_block(raw));
    };
    if let Some(text) = item.raw("text").filter(|text| text.starts_with('"')) {
        return Some(text_block(text));
    }
    match item.raw("image_url") {
        Some("null") => None,
        Some(url) => Some(image(url).unwrap_or_else(|| raw.to_owned())),
        None => Some(raw.to_owned()),
    }
}

/// An image from a `data:` URL.
fn image(url: &str) -> Option<String> {
    let url = json::string(url)?;
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(image_block(&json::quote(data), &json::quote(mime)))
}

/// Reasoning as a thinking block. The item itself is the signature, as pi
/// keeps it for this API, so that it can be sent back.
fn thinking(item: &Object<'_>, raw: &str) -> String {
    let mut texts = Vec::new();
    for key in ["summary", "content"] {
        for part in item.array(key).unwrap_or_default() {
            if let Some(part) = Object::of(part.get())
                && let Some(text) = part.str("text")
            {
                texts.push(text.into_owned());
            }
        }
    }
    ObjectWriter::new()
        .str("type", "thinking")
        .str("thinking", &texts.join("\n\n"))
        .str("thinkingSignature", raw)
        .finish()
}

fn call(kind: &str, item: &Object<'_>, place: Place) -> Item {
    let id = text(item, "call_id")
        .or_else(|| text(item, "id"))
        .unwrap_or_else(|| format!("call_at_{}", place.offset));
    let name = match kind {
        "local_shell_call" => String::from("local_shell"),
        "tool_search_call" => String::from("tool_search"),
        _ => text(item, "name")
            .or_else(|| text(&item.object("function")?, "name"))
            .unwrap_or_default(),
    };
    let arguments = match kind {
        "local_shell_call" => item.raw("action").map(str::to_owned),
        "custom_tool_call" => item
            .raw("input")
            .map(|input| ObjectWriter::new().raw("input", input).finish()),
        _ => item.raw("arguments").and_then(arguments),
    };
    let arguments = arguments.unwrap_or_else(|| String::from("{}"));
    Item::Block {
        json: ObjectWriter::new()
            .str("type", "toolCall")
            .str("id", &id)
            .str("name", &name)
            .raw("arguments", &arguments)
            .finish(),
        call: Some(Call {
            id,
            name,
            arguments,
        }),
    }
}

/// Arguments are an object inside a string. What is no object is kept too.
fn arguments(raw: &str) -> Option<String> {
    if raw.starts_with('{') {
        return Some(raw.to_owned());
    }
    let text = json::string(raw)?;
    if Object::parse(&text).is_ok() {
        // Entries are single lines, and JSON has no line breaks inside strings.
        return Some(text.replace(['\n', '\r'], " "));
    }
    (!text.is_empty()).then(|| ObjectWriter::new().raw("arguments", raw).finish())
}

fn output(item: &Object<'_>) -> Output {
    let raw = item.raw("output").or_else(|| item.raw("result"));
    let mut is_error = false;
    let content = match raw {
        Some(raw) if raw.starts_with('{') => {
            let object = Object::of(raw).unwrap_or_default();
            is_error = object.bool("success") == Some(false)
                || object.u64("exitCode").is_some_and(|code| code != 0);
            if object.has("content") {
                blocks(object.raw("content"))
            } else if object.has("type") {
                blocks(Some(raw))
            } else {
                list(&[text_block(&json::quote(raw))])
            }
        }
        Some(raw) => {
            is_error = json::string(raw).is_some_and(|text| failed(&text));
            blocks(Some(raw))
        }
        None => String::from("[]"),
    };
    Output {
        call: text(item, "call_id"),
        name: text(item, "name"),
        content,
        is_error,
        text: raw
            .and_then(json::string)
            .map_or_else(String::new, |text| text.into_owned()),
    }
}

/// Whether a shell's output says that the command failed: as JSON with its
/// metadata, or as a first line.
fn failed(output: &str) -> bool {
    if output.starts_with('{')
        && let Ok(object) = Object::parse(output)
    {
        let metadata = object.object("metadata").unwrap_or_default();
        return metadata.f64("exit_code").is_some_and(|code| code != 0.0);
    }
    output
        .lines()
        .take(4)
        .find_map(|line| {
            line.strip_prefix("Exit code: ")
                .or_else(|| line.strip_prefix("Process exited with code "))
        })
        .and_then(|code| code.trim().parse::<i64>().ok())
        .is_some_and(|code| code != 0)
}
