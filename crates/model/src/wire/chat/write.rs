//! What is sent.

use serde_json::{Map, Value, json};

use super::{DETAILS, THINKING_FIELDS};
use crate::provider::Provider;
use crate::request::{Content, Effort, Request, ToolChoice};
use crate::wire::tidy::{Piece, Rules, Turn, arguments, limit_breakpoints, tidy};
use crate::wire::{Dialect, MAX_BREAKPOINTS, data_url};

pub(in crate::wire) fn body(request: &Request, dialect: &Dialect) -> Option<Value> {
    let mut turns = tidy(
        &request.messages,
        &Rules {
            keeps: &|content| match content {
                Content::Thinking {
                    signature: Some(signature),
                    ..
                } => returned(signature, dialect).is_some(),
                _ => false,
            },
            images: dialect.images,
        },
    );
    if turns.is_empty() {
        return None;
    }
    let mut system = request.system.clone();
    system.retain(|block| !block.text.trim().is_empty());
    let most = if dialect.breakpoints {
        MAX_BREAKPOINTS
    } else {
        0
    };
    limit_breakpoints(&mut system, &mut turns, most);

    let mut messages = Vec::new();
    if !system.is_empty() {
        let content = if dialect.breakpoints {
            system
                .iter()
                .map(|block| marked(json!({"type": "text", "text": block.text}), block.cache))
                .collect()
        } else {
            let texts: Vec<&str> = system.iter().map(|block| block.text.as_str()).collect();
            Value::String(texts.join("\n\n"))
        };
        messages.push(json!({"role": "system", "content": content}));
    }
    for turn in &turns {
        push_turn(turn, dialect, &mut messages);
    }

    let official = dialect.provider == Provider::OpenAi;
    let mut body = Map::new();
    body.insert("model".into(), json!(dialect.model));
    body.insert("messages".into(), messages.into());
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": tool.parameters,
                    },
                })
            })
            .collect();
        body.insert("tools".into(), tools.into());
        match request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => drop(body.insert("tool_choice".into(), json!("none"))),
            ToolChoice::Required => drop(body.insert("tool_choice".into(), json!("required"))),
        }
    }
    if let Some(max) = request.max_output {
        // OpenAI's reasoning models refuse the old name, most others know only it.
        let field = if official {
            "max_completion_tokens"
        } else {
            "max_tokens"
        };
        body.insert(field.into(), json!(max));
    }
    if let Some(temperature) = request.temperature
        && !(official && dialect.reasons())
    {
        body.insert("temperature".into(), json!(temperature));
    }
    if let Some(effort) = request.effort {
        let effort = effort_name(effort);
        if dialect.provider == Provider::OpenRouter {
            body.insert("reasoning".into(), json!({"effort": effort}));
        } else if !official || dialect.reasons() {
            body.insert("reasoning_effort".into(), json!(effort));
        }
    }
    if let Some(session) = &request.session {
        if official {
            let key: String = session.chars().take(64).collect();
            body.insert("prompt_cache_key".into(), json!(key));
        } else if dialect.provider == Provider::OpenRouter {
            let id: String = session.chars().take(128).collect();
            body.insert("session_id".into(), json!(id));
        }
    }
    if dialect.provider == Provider::OpenRouter {
        body.insert("usage".into(), json!({"include": true}));
    }
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    Some(body.into())
}

pub(in crate::wire) fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
    }
}

/// The field and value in which a thought goes back, if it does.
fn returned(signature: &str, dialect: &Dialect) -> Option<(&'static str, Option<Value>)> {
    // These refuse fields that they do not know.
    let strict = matches!(
        dialect.provider,
        Provider::OpenAi | Provider::Groq | Provider::Gemini | Provider::Xai
    );
    if let Some(field) = THINKING_FIELDS
        .into_iter()
        .find(|field| *field == signature)
    {
        return (!strict).then_some((field, None));
    }
    if dialect.provider != Provider::OpenRouter {
        return None;
    }
    let parsed: Value = serde_json::from_str(signature).ok()?;
    let details = parsed.get(DETAILS)?.clone();
    Some((DETAILS, Some(details)))
}

fn marked(mut part: Value, cache: bool) -> Value {
    if cache && let Some(part) = part.as_object_mut() {
        part.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
    part
}

fn push_turn(turn: &Turn, dialect: &Dialect, messages: &mut Vec<Value>) {
    match turn {
        Turn::User { results, content } => {
            let mut pictures = Vec::new();
            for Piece {
                value: result,
                cache,
            } in results
            {
                let mut words = String::new();
                for piece in &result.content {
                    let text = match piece {
                        Content::Text(text) => text.as_str(),
                        // A result may hold words only; the picture follows as
                        // the user's.
                        Content::Image { .. } => {
                            pictures.push(Piece {
                                value: piece.clone(),
                                cache: false,
                            });
                            "[image: see below]"
                        }
                        _ => continue,
                    };
                    if !words.is_empty() {
                        words.push('\n');
                    }
                    words.push_str(text);
                }
                if words.is_empty() {
                    words.push_str("[no output]");
                }
                if result.is_error {
                    words.insert_str(0, "[error] ");
                }
                let content = if *cache {
                    json!([marked(json!({"type": "text", "text": words}), true)])
                } else {
                    words.into()
                };
                messages
                    .push(json!({"role": "tool", "tool_call_id": result.call, "content": content}));
            }
            if !pictures.is_empty() {
                let lead = Content::text("[images from the tool results above]");
                pictures.insert(
                    0,
                    Piece {
                        value: lead,
                        cache: false,
                    },
                );
                pictures.extend(content.iter().cloned());
                messages.push(json!({"role": "user", "content": parts(&pictures)}));
            } else if !content.is_empty() {
                messages.push(json!({"role": "user", "content": parts(content)}));
            }
        }
        Turn::Assistant { content } => messages.push(assistant(content, dialect)),
    }
}

/// Words as one text, which the templates of every local model can take;
/// pictures and breakpoints need a list.
fn parts(content: &[Piece<Content>]) -> Value {
    let words: Option<Vec<&str>> = content
        .iter()
        .map(|piece| match &piece.value {
            Content::Text(text) if !piece.cache => Some(text.as_str()),
            _ => None,
        })
        .collect();
    if let Some(words) = words {
        return words.join("\n\n").into();
    }
    content
        .iter()
        .filter_map(|piece| {
            let part = match &piece.value {
                Content::Text(text) => json!({"type": "text", "text": text}),
                Content::Image { mime, data } => {
                    json!({"type": "image_url", "image_url": {"url": data_url(mime, data)}})
                }
                _ => return None,
            };
            Some(marked(part, piece.cache))
        })
        .collect()
}

fn assistant(content: &[Piece<Content>], dialect: &Dialect) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    let texts: Vec<Piece<Content>> = content
        .iter()
        .filter(|piece| matches!(piece.value, Content::Text(_)))
        .cloned()
        .collect();
    let words = if texts.is_empty() {
        Value::Null
    } else {
        parts(&texts)
    };
    message.insert("content".into(), words);
    let mut calls = Vec::new();
    for piece in content {
        match &piece.value {
            Content::ToolCall(call) => calls.push(json!({
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": Value::Object(arguments(call)).to_string(),
                },
            })),
            Content::Thinking {
                text,
                signature: Some(signature),
            } => match returned(signature, dialect) {
                Some((field, Some(details))) => drop(message.insert(field.into(), details)),
                Some((field, None)) => {
                    let old = message
                        .get(field)
                        .and_then(Value::as_str)
                        .unwrap_or_default();
                    let all = if old.is_empty() {
                        text.clone()
                    } else {
                        format!("{old}\n{text}")
                    };
                    message.insert(field.into(), all.into());
                }
                None => {}
            },
            _ => {}
        }
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}
