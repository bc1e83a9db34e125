//! What is asked of a model, in terms that no provider owns.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One request: the instructions, the conversation, the tools.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The instructions, in order.
    pub system: Vec<SystemBlock>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Whether it may, must or must not call.
    pub tool_choice: ToolChoice,
    /// The most tokens the answer may take. Where a provider insists on a number
    /// and none is given, the model's own limit is sent, or 32,000 if that is less.
    pub max_output: Option<u32>,
    /// Sampling temperature; left out where a model refuses one.
    pub temperature: Option<f64>,
    /// How hard a reasoning model is to think. `None` leaves it to the provider.
    pub effort: Option<Effort>,
    /// Names the session to the provider, so that requests with a common
    /// beginning reach the same prompt cache.
    pub session: Option<String>,
}

/// A part of the instructions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemBlock {
    /// The text.
    pub text: String,
    /// Whether the prompt up to the end of this block is worth caching.
    #[serde(default)]
    pub cache: bool,
}

impl SystemBlock {
    /// A block without a breakpoint.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            cache: false,
        }
    }
}

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or whatever speaks in their place.
    User,
    /// The model.
    Assistant,
    /// The results of tools.
    Tool,
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// What is said.
    pub content: Vec<Content>,
    /// Whether the prompt up to the end of this message is worth caching.
    #[serde(default)]
    pub cache: bool,
}

impl Message {
    /// A message of the given role.
    pub fn new(role: Role, content: Vec<Content>) -> Self {
        Self {
            role,
            content,
            cache: false,
        }
    }

    /// A user's message of one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(Role::User, vec![Content::Text(text.into())])
    }

    /// A model's message of one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::new(Role::Assistant, vec![Content::Text(text.into())])
    }

    /// One tool's result.
    pub fn tool(result: ToolResult) -> Self {
        Self::new(Role::Tool, vec![Content::ToolResult(result)])
    }

    /// The same message with a cache breakpoint after it.
    pub fn cached(mut self) -> Self {
        self.cache = true;
        self
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture.
    Image {
        /// Its media type, such as `image/png`.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// What the model thought before it answered.
    Thinking {
        /// The readable part; may be empty.
        text: String,
        /// What the provider wants back unchanged with it. Each provider's is
        /// recognised by its form and is not sent to another.
        signature: Option<String>,
    },
    /// Thinking that the provider shows only encrypted.
    RedactedThinking(String),
    /// The model wants a tool called.
    ToolCall(ToolCall),
    /// What a tool answered.
    ToolResult(ToolResult),
}

impl Content {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

/// A call of a tool, as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// What the result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments: JSON text as the model wrote it, which may be broken.
    pub arguments: String,
}

/// Arguments of a tool call that are not a JSON object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the arguments of {tool} are not a JSON object: {reason}")]
pub struct BrokenArguments {
    /// The tool that was called.
    pub tool: String,
    /// What is wrong with them, and where.
    pub reason: String,
}

impl ToolCall {
    /// The arguments as an object. No arguments at all are an empty object, for
    /// that is how several providers write a call of a tool that takes none.
    pub fn parse(&self) -> Result<Map<String, Value>, BrokenArguments> {
        let text = self.arguments.trim();
        if text.is_empty() {
            return Ok(Map::new());
        }
        let broken = |reason: String| BrokenArguments {
            tool: self.name.clone(),
            reason,
        };
        match serde_json::from_str(text) {
            Ok(Value::Object(map)) => Ok(map),
            Ok(Value::Null) => Ok(Map::new()),
            Ok(Value::Array(_)) => Err(broken("they are an array".into())),
            Ok(Value::String(_)) => Err(broken("they are a string".into())),
            Ok(Value::Number(_)) => Err(broken("they are a number".into())),
            Ok(Value::Bool(_)) => Err(broken("they are a boolean".into())),
            Err(error) => Err(broken(error.to_string())),
        }
    }
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call: String,
    /// The tool.
    pub name: String,
    /// Texts and images.
    pub content: Vec<Content>,
    /// Whether the tool failed.
    #[serde(default)]
    pub is_error: bool,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Value,
}

/// Whether the model may call tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it sees fit.
    #[default]
    Auto,
    /// Not this time.
    None,
    /// At least one.
    Required,
}

/// How hard a reasoning model is to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// A little.
    Low,
    /// As usual.
    Medium,
    /// Much.
    High,
}
