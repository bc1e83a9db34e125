//! What requests carry. What nobody here knows is passed over.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::frame::{BAD_PARAMS, Fault};

/// The name of a session, which everything about one has.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Whose {
    pub(super) session_id: Option<String>,
    pub(super) session_key: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) timeout_ms: Option<Value>,
}

impl Whose {
    /// How long the host waits for the answer, where it says so in a way that
    /// can be right.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let ms = self.timeout_ms.as_ref()?.as_f64()?;
        let sound = (ms >= 1.0).then_some(ms / 1000.0)?;
        Duration::try_from_secs_f64(sound).ok()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Initialize {
    pub(super) protocol: Option<Value>,
    pub(super) host: Host,
    pub(super) workspace_dir: Option<String>,
    pub(super) agent_dir: Option<String>,
    pub(super) agent_id: Option<String>,
    pub(super) state_dir: Option<String>,
    pub(super) config: Option<BTreeMap<String, Value>>,
    pub(super) llm: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) version: String,
}

/// A list of messages, whole or as a change, and what else an `assemble` has.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Listing<'a> {
    #[serde(borrow)]
    pub(super) messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) history: Option<History<'a>>,
    #[serde(borrow)]
    pub(super) token_budget: Option<&'a RawValue>,
    pub(super) available_tools: Option<Value>,
    pub(super) refs: bool,
    pub(super) tool_loop: bool,
    pub(super) runtime_settings: Option<Value>,
    pub(super) runtime_context: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct History<'a> {
    pub(super) base: String,
    pub(super) keep: usize,
    #[serde(borrow, default)]
    pub(super) tail: Vec<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct One<'a> {
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Several<'a> {
    #[serde(borrow)]
    pub(super) messages: Option<Vec<&'a RawValue>>,
    pub(super) advancement_key: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Compact<'a> {
    #[serde(borrow)]
    pub(super) token_budget: Option<&'a RawValue>,
    pub(super) force: bool,
    pub(super) custom_instructions: Option<String>,
    pub(super) runtime_settings: Option<Value>,
    pub(super) runtime_context: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Spawn {
    pub(super) parent_session_key: Option<String>,
    pub(super) child_session_key: Option<String>,
    pub(super) parent_session_id: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ToolCall<'a> {
    pub(super) name: Option<String>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// Reads parameters, or says what is wrong with them.
pub(super) fn read<'a, T: Deserialize<'a>>(params: &'a RawValue) -> Result<T, Fault> {
    serde_json::from_str(params.get()).map_err(|error| {
        Fault::new(
            BAD_PARAMS,
            format!("the parameters cannot be read: {error}"),
        )
    })
}

/// A parameter that must be there.
pub(super) fn wanted<T>(value: Option<T>, name: &str) -> Result<T, Fault> {
    value.ok_or_else(|| Fault::new(BAD_PARAMS, format!("`{name}` is missing")))
}

/// A token budget, and what is wrong with the one that was given.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Budget {
    pub(super) tokens: Option<f64>,
    pub(super) wrong: Option<String>,
}

/// A token budget: the one that is given, or the one of the surroundings. What
/// is no number is named and counts as not given.
pub(super) fn budget(
    given: Option<&RawValue>,
    settings: Option<&Value>,
    context: Option<&Value>,
) -> Budget {
    let mut wrong = None;
    if let Some(raw) = given.map(RawValue::get).filter(|raw| *raw != "null") {
        if let Ok(tokens) = raw.parse() {
            return Budget {
                tokens: Some(tokens),
                wrong,
            };
        }
        let excerpt: String = raw.chars().take(60).collect();
        wrong = Some(format!("the token budget {excerpt} is no number"));
    }
    let limits = settings.and_then(|settings| settings.get("limits"));
    let limit = limits.and_then(|limits| limits.get("promptTokenBudget"));
    let runtime = context.and_then(|context| context.get("tokenBudget"));
    Budget {
        tokens: limit.and_then(Value::as_f64).or_else(|| runtime?.as_f64()),
        wrong,
    }
}

/// Names of tools, given as a list or as the members of a set.
pub(super) fn names(value: Option<&Value>) -> Option<Vec<String>> {
    let names = value?.as_array()?.iter();
    Some(names.filter_map(Value::as_str).map(str::to_owned).collect())
}

/// The keys of nested settings, joined by dots, and their values as JSON.
pub(super) fn flat(settings: &BTreeMap<String, Value>) -> Vec<(String, String)> {
    fn walk(prefix: &str, value: &Value, out: &mut Vec<(String, String)>) {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    walk(&format!("{prefix}.{key}"), value, out);
                }
            }
            Value::String(text) => out.push((prefix.to_owned(), text.clone())),
            other => out.push((prefix.to_owned(), other.to_string())),
        }
    }
    let mut out = Vec::new();
    for (key, value) in settings {
        walk(key, value, &mut out);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_budget_that_is_no_number_is_named_as_it_was_given() {
        for given in ["\"8000\"", "true", "[1]"] {
            let raw = RawValue::from_string(given.to_owned()).unwrap();
            let Budget { tokens, wrong } = budget(Some(&raw), None, None);
            assert_eq!(tokens, None);
            let wrong = wrong.unwrap();
            assert!(wrong.contains(given) && !wrong.contains("NaN"), "{wrong}");
        }
        let raw = RawValue::from_string("true".to_owned()).unwrap();
        let settings = json!({ "limits": { "promptTokenBudget": 9_000 } });
        let found = budget(Some(&raw), Some(&settings), None);
        assert_eq!(found.tokens, Some(9_000.0));
        let raw = RawValue::from_string("8000".to_owned()).unwrap();
        let sound = Budget {
            tokens: Some(8_000.0),
            wrong: None,
        };
        assert_eq!(budget(Some(&raw), Some(&settings), None), sound);
    }
}
