//! Checking one value against the schema of its setting.
//!
//! Only the words of JSON Schema that our own schema uses are understood. It does
//! what a general validator does not: it says what was expected in a sentence.

use longhaul_redact::{Redactor, is_secret_name};
use serde_json::{Map, Value};

use super::catalogue::hint;
use super::{KeyPath, Origin, Problem};

/// Where a key of one layer stands.
pub(super) type Places<'a> = dyn Fn(&KeyPath) -> Origin + 'a;

/// The value as the setting takes it (`1e5` and `3.0` become whole numbers where
/// one is wanted), or why not.
pub(super) fn check(
    value: &Value,
    schema: &Value,
    key: &KeyPath,
    origin_of: &Places<'_>,
) -> Result<Value, Problem> {
    let refused = || invalid(value, schema, key, &origin_of(key));
    if let Some(branches) = branches(schema) {
        let branch = branches.iter().find(|branch| fits(value, branch));
        return check(value, branch.ok_or_else(refused)?, key, origin_of);
    }
    match value {
        Value::Null if allows(schema, "null") => Ok(Value::Null),
        Value::Bool(_) if allows(schema, "boolean") => Ok(value.clone()),
        Value::Number(number) => number
            .as_f64()
            .and_then(|number| check_number(value, number, schema))
            .ok_or_else(refused),
        Value::String(text) if allows(schema, "string") && fits_text(text, schema) => {
            Ok(value.clone())
        }
        Value::Array(items) if allows(schema, "array") => {
            let items = items.iter().enumerate();
            items
                .map(|(i, item)| check(item, &schema["items"], &key.item(i), origin_of))
                .collect()
        }
        Value::Object(fields) if allows(schema, "object") => {
            check_fields(fields, schema, key, origin_of)
        }
        _ => Err(refused()),
    }
}

fn check_fields(
    fields: &Map<String, Value>,
    schema: &Value,
    key: &KeyPath,
    origin_of: &Places<'_>,
) -> Result<Value, Problem> {
    let mut checked = Map::new();
    for (name, value) in fields {
        let place = key.child(name);
        let Some(property) = schema["properties"].get(name) else {
            let known = schema["properties"].as_object().into_iter().flatten();
            let known: Vec<KeyPath> = known.map(|(name, _)| key.child(name)).collect();
            let hint = hint(&place, known.iter().map(KeyPath::as_str));
            return Err(Problem::unknown_key(&place, &origin_of(&place), &hint));
        };
        checked.insert(name.clone(), check(value, property, &place, origin_of)?);
    }
    let mut required = schema["required"].as_array().into_iter().flatten();
    let missing =
        required.find_map(|name| name.as_str().filter(|name| !checked.contains_key(*name)));
    match missing {
        Some(name) => {
            let (value, expected) = (format!("without `{name}`"), expectation(schema));
            Err(Problem::invalid(key, &value, &origin_of(key), &expected))
        }
        None => Ok(Value::Object(checked)),
    }
}

fn check_number(value: &Value, number: f64, schema: &Value) -> Option<Value> {
    let whole = allows(schema, "integer");
    if !whole && !allows(schema, "number") {
        return None;
    }
    let least = schema["minimum"].as_f64().unwrap_or(f64::MIN);
    let above = schema["exclusiveMinimum"].as_f64().unwrap_or(f64::MIN);
    let in_range = (least..=largest(schema)).contains(&number) && number > above;
    if !in_range || (whole && number.fract() != 0.0) {
        return None;
    }
    // In range of a u32 by now, so that the cast is exact.
    Some(if whole {
        (number as u64).into()
    } else {
        value.clone()
    })
}

fn largest(schema: &Value) -> f64 {
    let of_type = if allows(schema, "integer") {
        f64::from(u32::MAX)
    } else {
        f64::MAX
    };
    schema["maximum"].as_f64().unwrap_or(of_type)
}

fn fits_text(text: &str, schema: &Value) -> bool {
    let least = schema["minLength"].as_u64().unwrap_or(0);
    let long_enough = text.trim().len() as u64 >= least;
    let named = match (&schema["const"], schema["enum"].as_array()) {
        (Value::String(only), _) => only == text,
        (_, Some(names)) => names.iter().any(|name| name == text),
        _ => true,
    };
    long_enough && named
}

/// Whether a value is meant for this branch: objects are told apart by their
/// constant field, everything else by checking it.
fn fits(value: &Value, branch: &Value) -> bool {
    match (value, branch["properties"].as_object()) {
        (Value::Object(fields), Some(properties)) => properties
            .iter()
            .filter(|(_, property)| property["const"].is_string())
            .all(|(name, property)| fields.get(name) == Some(&property["const"])),
        _ => check(value, branch, &KeyPath::root(), &|_| Origin::Default).is_ok(),
    }
}

fn branches(schema: &Value) -> Option<&Vec<Value>> {
    schema["oneOf"].as_array().or(schema["anyOf"].as_array())
}

/// Whether the schema takes values of a JSON type.
pub(super) fn allows(schema: &Value, kind: &str) -> bool {
    if let Some(branches) = branches(schema) {
        return branches.iter().any(|branch| allows(branch, kind));
    }
    match &schema["type"] {
        Value::String(only) => only == kind,
        Value::Array(kinds) => kinds.iter().any(|one| one == kind),
        _ => false,
    }
}

fn invalid(value: &Value, schema: &Value, key: &KeyPath, origin: &Origin) -> Problem {
    let too_large = value.as_f64().is_some_and(|n| n > largest(schema));
    let mut expected = expectation(schema);
    if too_large && schema["maximum"].is_null() {
        expected.push_str(&format!(" and at most {}", largest(schema)));
    }
    Problem::invalid(key, &shown(value), origin, &expected)
}

/// What a setting takes, to follow "it must be".
pub(super) fn expectation(schema: &Value) -> String {
    let names = names(schema);
    if !names.is_empty() {
        return format!("one of {}", names.join(", "));
    }
    if let Some(fields) = tagged_fields(schema) {
        return fields;
    }
    let number = ["integer", "number"]
        .into_iter()
        .find(|kind| allows(schema, kind));
    let least = schema["minimum"].as_f64();
    let most = schema["maximum"].as_f64();
    match number {
        Some(kind) => {
            let noun = if kind == "integer" {
                "a whole number"
            } else {
                "a number"
            };
            match (least, most, schema["exclusiveMinimum"].as_f64()) {
                (Some(least), Some(most), _) => format!("{noun} from {least} to {most}"),
                (Some(least), None, _) => format!("{noun} of at least {least}"),
                (None, Some(most), _) => format!("{noun} of at most {most}"),
                (None, None, Some(above)) => format!("{noun} above {above}"),
                (None, None, None) => noun.to_owned(),
            }
        }
        None if allows(schema, "boolean") => "true or false".to_owned(),
        None if allows(schema, "array") => {
            format!("a list, each item {}", expectation(&schema["items"]))
        }
        None if allows(schema, "string") => "text, and not empty".to_owned(),
        None => {
            let required = schema["required"].as_array().into_iter().flatten();
            let required = required.filter_map(Value::as_str).collect::<Vec<_>>();
            format!("keys and values with `{}`", required.join("`, `"))
        }
    }
}

/// The constants a text may be.
fn names(schema: &Value) -> Vec<&str> {
    if let Some(name) = schema["const"].as_str() {
        return vec![name];
    }
    let listed = schema["enum"].as_array().into_iter().flatten();
    let listed = listed.filter_map(Value::as_str);
    let nested = branches(schema).into_iter().flatten().flat_map(names);
    listed.chain(nested).collect()
}

/// `type: schedule with cron, or type: session_idle with idle_minutes`.
fn tagged_fields(schema: &Value) -> Option<String> {
    let variants = branches(schema)?.iter().filter_map(|branch| {
        let properties = branch["properties"].as_object()?;
        let (tag, name) = properties
            .iter()
            .find_map(|(tag, property)| Some((tag, property["const"].as_str()?)))?;
        let others: Vec<_> = properties
            .keys()
            .filter(|key| *key != tag)
            .cloned()
            .collect();
        Some(format!("`{tag}: {name}` with `{}`", others.join("`, `")))
    });
    let variants = variants.collect::<Vec<_>>();
    (!variants.is_empty()).then(|| variants.join(", or "))
}

/// A value for a message: short, on one line, and without secrets.
pub(super) fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = match masked(value) {
        Value::Null => "empty".to_owned(),
        other => other.to_string(),
    };
    if text.chars().count() <= MOST {
        return text;
    }
    let beginning: String = text.chars().take(MOST).collect();
    format!("{beginning}…")
}

fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if is_secret(text) => "***".into(),
        Value::Array(items) => items.iter().map(masked).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, field)| match is_secret_name(name) {
                true => (name.clone(), "***".into()),
                false => (name.clone(), masked(field)),
            })
            .collect(),
        other => other.clone(),
    }
}

/// Whether a value is, or holds, a secret by its look.
pub(super) fn is_secret(text: &str) -> bool {
    Redactor::default().redact(text).text != text
}
