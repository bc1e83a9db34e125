//! Admitting one value of one layer.

use longhaul_redact::is_secret_name;
use serde_json::Value;

use super::catalogue::{self, Found};
use super::check::{Places, check, is_secret};
use super::{KeyPath, Origin, Problem};

const ADVICE: &str = "put the key in an environment variable and give the variable's name";
const KEY_SETTING: &str = "memory.embedding.apiKeyEnv";

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

/// A value that a setting takes and that is no secret; `read` makes it of the
/// schema's type where it came as text.
pub(super) fn admit(
    written: &str,
    read: &dyn Fn(&Value) -> Value,
    origin_of: &Places<'_>,
) -> Result<Setting, Problem> {
    let written = KeyPath::new(written);
    let origin = origin_of(&written);
    let (key, schema) = match catalogue::find(written.as_str()) {
        Found::Setting(key, schema) => (key, schema),
        Found::Section => {
            let hint = "it is a section; name one of its keys";
            return Err(Problem::unknown_key(&written, &origin, hint));
        }
        Found::Nothing if would_hold_secret(written.split().1) => {
            let advice = format!("{ADVICE} in `{KEY_SETTING}`");
            return Err(Problem::secret(&written, &origin, &advice));
        }
        Found::Nothing => {
            let hint = catalogue::hint_of_path(&written);
            return Err(Problem::unknown_key(&written, &origin, &hint));
        }
    };
    let value = read(schema);
    if let Some(place) = secret_place(&key, &value) {
        return Err(Problem::secret(
            &written,
            &origin,
            &format!("{ADVICE} {place}"),
        ));
    }
    Ok(Setting {
        value: check(&value, schema, &written, origin_of)?,
        written,
        key,
        origin,
    })
}

/// Whether something of this name would hold a secret. Tokens are counted here, not
/// kept.
pub(super) fn would_hold_secret(name: &str) -> bool {
    is_secret_name(name) && !name.to_lowercase().ends_with("tokens")
}

/// Where the name of a variable belongs in place of the secret that a value holds.
fn secret_place(key: &KeyPath, value: &Value) -> Option<String> {
    match value {
        // What secrets look like, or what only looks like one.
        _ if key.as_str().starts_with("redaction.") => None,
        Value::String(text) if key.as_str() == KEY_SETTING => {
            let is_name = text.is_empty() || is_variable_name(text);
            (!is_name || is_secret(text)).then(|| "here".to_owned())
        }
        Value::String(text) => is_secret(text).then(|| format!("in `{KEY_SETTING}`")),
        Value::Array(items) => items.iter().find_map(|item| secret_place(key, item)),
        Value::Object(fields) => fields.values().find_map(|field| secret_place(key, field)),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Whether a text can be the name of an environment variable.
pub(super) fn is_variable_name(text: &str) -> bool {
    let named = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text.is_empty() && !text.starts_with(|c: char| c.is_ascii_digit()) && text.chars().all(named)
}
