//! Admitting one value of one layer.

use serde_json::Value;

use super::catalogue::{self, Found};
use super::check::{Fault, check, expectation};
use super::{KeyPath, Origin, Problem, secret};

/// One value of one layer, checked.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    /// The key as written there.
    pub(super) written: KeyPath,
    /// The setting's own key.
    pub(super) key: KeyPath,
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// A value that its setting takes and that is no secret.
pub(super) fn checked(
    written: KeyPath,
    key: KeyPath,
    value: &Value,
    schema: &'static Value,
    origin_of: &dyn Fn(&KeyPath) -> Origin,
) -> Result<Setting, Problem> {
    let origin = origin_of(&written);
    if let Some(advice) = secret_advice(&key, value) {
        return Err(Problem::Secret {
            key: written,
            origin,
            advice,
        });
    }
    match check(value, schema, &written) {
        Ok(value) => Ok(Setting {
            written,
            key,
            value,
            origin,
        }),
        Err(Fault::Unknown { key, hint }) => Err(Problem::UnknownKey {
            origin: origin_of(&key),
            key,
            hint,
        }),
        Err(Fault::Invalid {
            key,
            value,
            expected,
        }) => Err(Problem::Invalid {
            origin: origin_of(&key),
            key,
            value,
            expected,
        }),
    }
}

fn secret_advice(key: &KeyPath, value: &Value) -> Option<String> {
    let advice = "put the key in an environment variable and give its name";
    match value {
        // What looks like a key there is said to be none.
        _ if key.as_str() == "redaction.keep" => None,
        Value::String(text) if key.as_str().ends_with("Env") => {
            let is_name = text.is_empty() || secret::is_variable_name(text);
            let is_secret = !is_name || secret::is_secret_value(text);
            is_secret.then(|| format!("{advice} here"))
        }
        Value::String(text) => secret::is_secret_value(text)
            .then(|| format!("{advice} in `memory.embedding.apiKeyEnv`")),
        Value::Array(items) => items.iter().find_map(|item| secret_advice(key, item)),
        Value::Object(fields) => fields.values().find_map(|field| secret_advice(key, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// A key that does not exist, or that would hold a secret.
pub(super) fn unknown(key: KeyPath, origin: Origin) -> Problem {
    let (_, name) = key.split();
    if secret::is_secret_name(name) {
        let advice = "put the key in an environment variable and give the variable's name in \
                      `memory.embedding.apiKeyEnv`";
        return Problem::Secret {
            key,
            origin,
            advice: advice.to_owned(),
        };
    }
    let hint = catalogue::hint(&key, catalogue::known_paths());
    Problem::UnknownKey { key, origin, hint }
}

/// For a value of OpenClaw's: the same checks, with a sentence for a note.
pub(super) fn adopt(key: &str, value: &Value, origin: Origin) -> Result<Setting, String> {
    let Found::Setting { key, schema } = catalogue::find(key) else {
        return Err("has no counterpart here".to_owned());
    };
    if secret_advice(&key, value).is_some() {
        return Err(
            "a secret, which is not read from a file; put it in an environment variable \
                    and give the variable's name in `memory.embedding.apiKeyEnv`"
                .to_owned(),
        );
    }
    match check(value, schema, &key) {
        Ok(value) => Ok(Setting {
            written: key.clone(),
            key,
            value,
            origin,
        }),
        Err(_) => Err(format!(
            "not used as `{key}`, which must be {}",
            expectation(schema)
        )),
    }
}
