//! Messages as JSON, as hosts hand them over and take them back.

use serde_json::{Value, json};

/// What the user says.
pub fn user(text: &str, time: i64) -> Value {
    json!({ "role": "user", "content": text, "timestamp": time })
}

/// An answer that ends a turn.
pub fn assistant(text: &str, time: i64) -> Value {
    json!({
        "role": "assistant", "content": [{ "type": "text", "text": text }], "timestamp": time,
        "stopReason": "stop",
    })
}

/// A question and its answer.
pub fn turn(number: i64) -> Vec<Value> {
    vec![
        user(&format!("question {number}"), number * 10),
        assistant(&format!("answer {number}"), number * 10 + 1),
    ]
}

/// The text of a message, of all its blocks together.
pub fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| block["text"].as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}

/// The texts of messages.
pub fn texts(messages: &[Value]) -> Vec<String> {
    messages.iter().map(text).collect()
}

/// A value as it is once JavaScript has read and written it: every number is
/// a float, and whole ones lose their point.
pub fn as_javascript(value: &Value) -> Value {
    match value {
        Value::Number(number) => {
            let float = number.as_f64().unwrap_or(0.0);
            if float == float.trunc() && float.abs() < 9e15 {
                Value::from(float as i64)
            } else {
                Value::from(float)
            }
        }
        Value::Array(items) => items.iter().map(as_javascript).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(key, value)| (key.clone(), as_javascript(value)))
            .collect(),
        other => other.clone(),
    }
}
