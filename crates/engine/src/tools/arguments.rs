//! The arguments of a call, and what the model is told when they are wrong.
//!
//! A model that wrote broken JSON mends it when it sees where it broke and what
//! was expected; "invalid arguments" alone makes it try the same again.

use longhaul_model::ToolCall;
use serde_json::{Map, Value};

/// Characters shown on either side of the place where JSON broke.
const AROUND: usize = 40;

/// The arguments of one call, checked against what the tool knows.
pub(super) struct Arguments<'a> {
    fields: Map<String, Value>,
    schema: &'a str,
    tool: &'a str,
    unknown: Vec<String>,
}

impl<'a> Arguments<'a> {
    /// Reads the arguments of a call to a tool with these parameters.
    pub(super) fn parse(call: &'a ToolCall, schema: &'a str) -> Result<Arguments<'a>, String> {
        let tool = call.name.as_str();
        // Some providers send nothing at all for "no arguments".
        let text = match call.arguments.trim() {
            "" => "{}",
            text => text,
        };
        let fields = match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(fields)) => fields,
            Ok(other) => {
                return Err(format!(
                    "The arguments of \"{tool}\" must be a JSON object, not {}.\n{}",
                    kind(&other),
                    expected(schema)
                ));
            }
            Err(error) => {
                return Err(format!(
                    "The arguments of \"{tool}\" are not JSON: {error}.\n{}\nNothing was done. \
                     Call it again with the whole arguments.\n{}",
                    broken_at(text, &error),
                    expected(schema)
                ));
            }
        };
        let known = parameters(schema);
        let unknown = fields
            .keys()
            .filter(|name| !known.contains(name))
            .cloned()
            .collect();
        Ok(Arguments {
            fields,
            schema,
            tool,
            unknown,
        })
    }

    /// A text that must be there.
    pub(super) fn text(&self, name: &str) -> Result<&str, String> {
        match self.fields.get(name) {
            Some(Value::String(text)) => Ok(text),
            None | Some(Value::Null) => Err(self.wrong(name, "is missing")),
            Some(other) => Err(self.wrong(name, &format!("must be a text, not {}", kind(other)))),
        }
    }

    /// A text that may be there. One without a character counts as absent.
    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&str>, String> {
        match self.fields.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => Ok(Some(self.text(name)?).filter(|text| !text.trim().is_empty())),
        }
    }

    /// A whole number from 1 on. A number in quotes is one too: smaller models
    /// write them so.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let number = match self.fields.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::Number(number)) => number
                .as_u64()
                .or_else(|| whole(number.as_f64().unwrap_or(f64::NAN))),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(_) => None,
        };
        match number {
            Some(number) if number > 0 => Ok(Some(number)),
            _ => Err(self.wrong(name, "must be a whole number from 1 on")),
        }
    }

    /// Any value.
    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// Says what is wrong with a parameter.
    pub(super) fn wrong(&self, name: &str, what: &str) -> String {
        format!(
            "The parameter \"{name}\" of \"{}\" {what}. Nothing was done.\n{}",
            self.tool,
            expected(self.schema)
        )
    }

    /// A line about parameters that the tool does not have, because a model
    /// that meant something by them would misread the result.
    pub(super) fn ignored(&self) -> Option<String> {
        if self.unknown.is_empty() {
            return None;
        }
        let names: Vec<String> = self.unknown.iter().map(|n| format!("\"{n}\"")).collect();
        Some(format!(
            "[\"{}\" has no parameter {}; it was ignored]",
            self.tool,
            names.join(", ")
        ))
    }
}

fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (1.0..9e15).contains(&number)).then_some(number as u64)
}

fn expected(schema: &str) -> String {
    format!("Its parameters are: {schema}")
}

fn parameters(schema: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(schema).unwrap_or_default();
    schema["properties"]
        .as_object()
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default()
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What stands around the place where the JSON broke.
fn broken_at(text: &str, error: &serde_json::Error) -> String {
    // The column counts bytes of its line, from 1.
    let line_start = text
        .match_indices('\n')
        .map(|(at, _)| at + 1)
        .nth(error.line().saturating_sub(2))
        .filter(|_| error.line() > 1)
        .unwrap_or(0);
    let mut at = (line_start + error.column().saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before: String = {
        let tail: Vec<char> = text[..at].chars().rev().take(AROUND).collect();
        tail.into_iter().rev().collect()
    };
    let after: String = text[at..].chars().take(AROUND).collect();
    format!("It broke here: …{before}⟪here⟫{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}"#;

    fn call(arguments: &str) -> ToolCall {
        ToolCall {
            id: "1".into(),
            name: "read".into(),
            arguments: arguments.into(),
        }
    }

    #[test]
    fn broken_json_is_shown_where_it_broke_with_the_schema() {
        let call = call("{\"path\": \"é\",\n \"limit\": 1x0}");
        let error = Arguments::parse(&call, SCHEMA).err().unwrap();
        assert!(error.contains("\"limit\": 1⟪here⟫x0}"), "{error}");
        assert!(error.contains(SCHEMA), "{error}");
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn arguments_cut_off_in_the_middle_are_an_error_at_their_end() {
        let call = call("{\"path\": \"日本");
        let error = Arguments::parse(&call, SCHEMA).err().unwrap();
        assert!(error.contains("EOF"), "{error}");
        assert!(error.contains("日"), "{error}");
    }

    #[test]
    fn no_prefix_of_any_arguments_makes_the_report_panic() {
        let whole = "{\"path\": \"a\\u00e9日\\n\",\r\n\n \"limit\": [1, {\"x\": 2e3}]}";
        for (end, _) in whole.char_indices() {
            let call = call(&whole[..end]);
            let parsed = Arguments::parse(&call, SCHEMA);
            assert_eq!(parsed.is_ok(), end == 0, "{end}");
        }
    }

    #[test]
    fn a_number_may_be_in_quotes_but_must_be_one() {
        let limit = |json: &str| {
            let call = call(json);
            Arguments::parse(&call, SCHEMA).unwrap().number("limit")
        };
        assert_eq!(limit(r#"{"limit":"12"}"#), Ok(Some(12)));
        assert_eq!(limit(r#"{"limit":12.0}"#), Ok(Some(12)));
        assert_eq!(limit(r#"{"limit":null}"#), Ok(None));
        for wrong in ["0", "-1", "1.5", "\"x\"", "[]", "1e300"] {
            let error = limit(&format!("{{\"limit\":{wrong}}}")).unwrap_err();
            assert!(error.contains("whole number"), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_parameter_that_does_not_exist_is_named() {
        let call = call(r#"{"path":"a","start":3}"#);
        let arguments = Arguments::parse(&call, SCHEMA).unwrap();
        let ignored = arguments.ignored().unwrap();
        assert!(ignored.contains("\"start\""), "{ignored}");
    }
}
