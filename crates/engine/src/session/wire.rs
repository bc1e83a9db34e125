//! Between the messages of a session, which are pi's, and those of a model.

use longhaul_assembly::{Assembled, Breakpoint, SystemPrompt, Tool};
use longhaul_model::{
    Answer, Content, Message, ModelInfo, Protocol, Request, Role as Speaker, Stop, SystemBlock,
    ToolCall, ToolDefinition, ToolResult,
};
use longhaul_transcript::json::ObjectWriter;
use longhaul_transcript::{Context, ContextMessage, EntryId, Millis, Role};
use serde_json::{Value, json};

use crate::spending::usage_json;
use crate::tools::Outcome;

/// What arguments that are no JSON object are kept under: the session's format
/// wants an object, and nothing the model said is to be lost.
const BROKEN: &str = "invalidJson";

/// An assembled context as a request to a model.
pub(super) fn request(assembled: &Assembled<'_>) -> Request {
    let laid_out = assembled.messages().iter();
    let laid_out: Vec<ContextMessage> = laid_out.map(|it| it.as_ref().clone()).collect();
    let cached = assembled.breakpoints().iter();
    let cached = cached.filter_map(|breakpoint| match breakpoint {
        Breakpoint::Static => None,
        Breakpoint::Message(at) => laid_out.get(*at).map(|message| message.entry.clone()),
    });
    let cached: Vec<EntryId> = cached.collect();
    written(assembled.system(), assembled.tools(), laid_out, &cached)
}

/// Some messages of a session as a request, with nothing put back and no
/// breakpoints: for asking beside the conversation.
pub(super) fn plain_request(prompt: &SystemPrompt, messages: Vec<ContextMessage>) -> Request {
    written(prompt.text(), prompt.tools().all(), messages, &[])
}

fn written(
    prompt: &str,
    tools: &[Tool],
    messages: Vec<ContextMessage>,
    cached: &[EntryId],
) -> Request {
    let sent = Context { messages }.for_provider();
    let mut request = Request {
        system: vec![SystemBlock {
            text: prompt.to_owned(),
            cache: true,
        }],
        tools: tools.iter().map(definition).collect(),
        ..Request::default()
    };
    let mut entries = Vec::with_capacity(sent.len());
    for message in &sent {
        match to_model(message) {
            Sent::Message(said) => {
                request.messages.push(said);
                entries.push(&message.entry);
            }
            Sent::System(text) => request.system.push(SystemBlock::new(text)),
            Sent::Nothing => {}
        }
    }
    for cached in cached {
        if let Some(at) = entries.iter().rposition(|entry| *entry == cached) {
            request.messages[at].cache = true;
        }
    }
    request
}

fn definition(tool: &Tool) -> ToolDefinition {
    ToolDefinition {
        name: tool.name.clone(),
        description: tool.description.clone(),
        parameters: serde_json::from_str(&tool.parameters).unwrap_or_else(|_| json!({})),
    }
}

enum Sent {
    Message(Message),
    System(String),
    Nothing,
}

fn to_model(message: &ContextMessage) -> Sent {
    let view = message.view();
    let said = match message.role {
        Role::System => return Sent::System(view.text()),
        Role::User => Message::new(Speaker::User, contents(message)),
        Role::Assistant => Message::new(Speaker::Assistant, contents(message)),
        Role::ToolResult => Message::tool(ToolResult {
            call: view.tool_call_id().unwrap_or_default().into_owned(),
            name: view.tool_name().unwrap_or_default().into_owned(),
            content: contents(message),
            is_error: view.is_error(),
        }),
        _ => return Sent::Nothing,
    };
    match said.content.is_empty() {
        true => Sent::Nothing,
        false => Sent::Message(said),
    }
}

/// The blocks of a message; images with their data, thinking with what its
/// provider wants back.
fn contents(message: &ContextMessage) -> Vec<Content> {
    let view = message.view();
    let raw = view.object().raw("content").unwrap_or("null");
    match serde_json::from_str::<Value>(raw) {
        Ok(Value::String(text)) => vec![Content::Text(text)],
        Ok(Value::Array(blocks)) => blocks.iter().filter_map(content).collect(),
        _ => Vec::new(),
    }
}

fn content(block: &Value) -> Option<Content> {
    let text = |key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(match block.get("type")?.as_str()? {
        "text" => Content::Text(text("text")?),
        "image" => Content::Image {
            mime: text("mimeType")?,
            data: text("data")?,
        },
        "thinking" => match (block.get("redacted"), text("thinkingSignature")) {
            (Some(Value::Bool(true)), Some(data)) => Content::RedactedThinking(data),
            (_, signature) => Content::Thinking {
                text: text("thinking").unwrap_or_default(),
                signature,
            },
        },
        "toolCall" => Content::ToolCall(ToolCall {
            id: text("id")?,
            name: text("name")?,
            arguments: block
                .get("arguments")
                .map_or_else(|| "{}".to_owned(), Value::to_string),
        }),
        _ => return None,
    })
}

/// A tool's result with its middle left out, if it is longer than so many
/// characters.
pub(super) fn shortened(message: &ContextMessage, most: usize) -> Option<ContextMessage> {
    if message.role != Role::ToolResult {
        return None;
    }
    let view = message.view();
    let text = cut(&view.text(), most, |_| String::new())?;
    let json =
        longhaul_transcript::json::with_field(view.object(), "content", &text_content(&text));
    Some(ContextMessage::new(message.entry.clone(), json))
}

/// A text as the content of a message.
pub(super) fn text_content(text: &str) -> String {
    json!([{ "type": "text", "text": text }]).to_string()
}

/// The beginning and the end of a text that is longer than so many characters, on
/// line ends where they are near, and between them how much is missing and how to
/// get it, from so many characters on.
pub(crate) fn cut(text: &str, most: usize, how: impl FnOnce(usize) -> String) -> Option<String> {
    let count = text.chars().count();
    if count <= most {
        return None;
    }
    let at = |chars: usize| {
        let mut places = text.char_indices().map(|(at, _)| at);
        places.nth(chars).unwrap_or(text.len())
    };
    let near = most / 10;
    let head = &text[..at(most * 2 / 3)];
    let head = match head.rfind('\n') {
        Some(end) if head.len() - end <= near => &head[..end],
        _ => head,
    };
    let tail = &text[at(count - most / 3)..];
    let tail = match tail.find('\n') {
        Some(end) if end <= near => &tail[end + 1..],
        _ => tail,
    };
    let shown = head.chars().count();
    let left_out = count - shown - tail.chars().count();
    let how = how(shown);
    Some(format!(
        "{head}\n[trimmed: {left_out} of {count} characters are left out here{how}]\n{tail}"
    ))
}

/// How an answer came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End<'a> {
    /// By itself.
    Whole,
    /// The user stopped it.
    Aborted,
    /// Something broke.
    Error(&'a str),
}

/// An answer as the session keeps it.
pub(super) fn answer_json(answer: &Answer, model: &ModelInfo, end: End<'_>, at: Millis) -> String {
    let blocks: Vec<Value> = answer.content.iter().filter_map(block).collect();
    let has_calls = answer.tool_calls().next().is_some();
    let (stop, error) = match (end, &answer.stop) {
        (End::Aborted, _) => ("aborted", None),
        (End::Error(error), _) => ("error", Some(error.to_owned())),
        (End::Whole, Stop::Length) => ("length", None),
        (End::Whole, _) if has_calls => ("toolUse", None),
        (End::Whole, Stop::Other(reason)) => ("stop", Some(reason.clone())),
        (End::Whole, Stop::Refusal) => ("stop", Some("the model refused".to_owned())),
        (End::Whole, Stop::End | Stop::ToolUse) => ("stop", None),
    };
    let content = Value::Array(blocks).to_string();
    // What the session goes on with is the name that was asked for; a provider may
    // answer under a dated one.
    let other = Some(answer.model.as_str()).filter(|name| !name.is_empty() && *name != model.name);
    let usage = answer
        .usage
        .map(|usage| usage_json(&usage, answer, model).to_string());
    ObjectWriter::new()
        .str("role", "assistant")
        .raw("content", &content)
        .str("api", api(model))
        .str("provider", &model.provider)
        .str("model", &model.name)
        .str_opt("responseModel", other)
        .raw_opt("usage", usage.as_deref())
        .str("stopReason", stop)
        .str_opt("errorMessage", error.as_deref())
        .str_opt("responseId", answer.id.as_deref())
        .num("timestamp", at.0)
        .finish()
}

/// pi's name of a provider's interface.
fn api(model: &ModelInfo) -> &'static str {
    match (model.protocol, model.provider.as_str()) {
        (Some(Protocol::Messages), _) | (None, "anthropic") => "anthropic-messages",
        (Some(Protocol::Responses), _) | (None, "openai") => "openai-responses",
        (Some(Protocol::Chat), _) | (None, _) => "openai-completions",
    }
}

fn block(content: &Content) -> Option<Value> {
    Some(match content {
        Content::Text(text) if text.is_empty() => return None,
        Content::Text(text) => json!({ "type": "text", "text": text }),
        Content::Image { mime, data } => {
            json!({ "type": "image", "data": data, "mimeType": mime })
        }
        Content::Thinking { text, signature } => {
            let mut block = json!({ "type": "thinking", "thinking": text });
            if let Some(signature) = signature {
                block["thinkingSignature"] = json!(signature);
            }
            block
        }
        Content::RedactedThinking(data) => json!({
            "type": "thinking", "thinking": "", "thinkingSignature": data, "redacted": true,
        }),
        Content::ToolCall(call) => json!({
            "type": "toolCall",
            "id": call.id,
            "name": call.name,
            "arguments": arguments(call),
        }),
        Content::ToolResult(_) => return None,
    })
}

fn arguments(call: &ToolCall) -> Value {
    match call.parse() {
        Ok(arguments) => Value::Object(arguments),
        Err(_) => json!({ BROKEN: call.arguments }),
    }
}

/// What a tool said, as the session keeps it.
pub(super) fn result_json(call: &ToolCall, outcome: &Outcome, at: Millis) -> String {
    let text = json!([{ "type": "text", "text": outcome.text }]).to_string();
    let details = outcome.details.as_ref().map(Value::to_string);
    ObjectWriter::new()
        .str("role", "toolResult")
        .str("toolCallId", &call.id)
        .str("toolName", &call.name)
        .raw("content", &text)
        .raw_opt("details", details.as_deref())
        .raw("isError", if outcome.is_error { "true" } else { "false" })
        .num("timestamp", at.0)
        .finish()
}
