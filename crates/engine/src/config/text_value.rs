//! Values that arrive as text: variables and flags.

use serde_json::Value;

use super::check::allows;
use super::document;

/// The text as what the setting takes, or as text where it is nothing of the
/// kind, for the check to say what it should have been.
pub(super) fn from_text(text: &str, schema: &Value) -> Value {
    let text = text.trim();
    let plain = || Value::String(text.to_owned());
    if allows(schema, "null") && matches!(text, "" | "null") {
        return Value::Null;
    }
    if allows(schema, "boolean") {
        return match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => Value::Bool(true),
            "false" | "0" | "no" | "off" => Value::Bool(false),
            _ => plain(),
        };
    }
    if allows(schema, "integer") || allows(schema, "number") {
        let digits: String = text.chars().filter(|c| !matches!(c, '_' | ',')).collect();
        return number(&digits).unwrap_or_else(plain);
    }
    if allows(schema, "array") {
        return list(text).unwrap_or_else(plain);
    }
    plain()
}

fn number(digits: &str) -> Option<Value> {
    if let Ok(whole) = digits.parse::<i64>() {
        return Some(whole.into());
    }
    let number: f64 = digits.parse().ok()?;
    serde_json::Number::from_f64(number).map(Value::Number)
}

/// `["a", "b"]`, or `a, b`.
fn list(text: &str) -> Option<Value> {
    if text.starts_with('[') {
        return document::value(text);
    }
    let items = text.split(',').map(str::trim);
    Some(
        items
            .filter(|item| !item.is_empty())
            .map(|item| Value::String(item.to_owned()))
            .collect(),
    )
}
