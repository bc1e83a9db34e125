//! JSON-RPC 2.0: requests, answers, errors.

use longhaul_redact::Redactor;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// The line is not JSON.
pub(super) const PARSE: i64 = -32700;
/// It is no request.
pub(super) const INVALID: i64 = -32600;
/// Nobody knows the method.
pub(super) const UNKNOWN_METHOD: i64 = -32601;
/// The parameters are not what the method takes.
pub(super) const BAD_PARAMS: i64 = -32602;
/// The host speaks another protocol.
pub(super) const WRONG_PROTOCOL: i64 = -32001;
/// Something was asked before `initialize`.
pub(super) const NOT_INITIALIZED: i64 = -32002;
/// A list is changed that is not known here.
pub(super) const UNKNOWN_LIST: i64 = -32010;
/// A turn could not be made durable.
pub(super) const NOT_COMMITTED: i64 = -32011;
/// The host cancelled it.
pub(super) const CANCELLED: i64 = -32800;

/// What the ids of our own calls begin with.
pub(super) const OURS: &str = "lh-";

/// The id of a request, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Id(String);

impl Id {
    pub(super) fn new(raw: &str) -> Id {
        Id(raw.to_owned())
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) code: i64,
    pub(super) message: String,
    pub(super) data: Option<Box<Value>>,
}

impl Fault {
    /// Hosts keep what went wrong in logs, so no secret may be in it.
    pub(super) fn new(code: i64, message: impl Into<String>) -> Fault {
        let message: String = message.into();
        Fault {
            code,
            message: safe(&message),
            data: None,
        }
    }

    pub(super) fn with(self, data: Value) -> Fault {
        let redactor = Redactor::default();
        let text = data.to_string();
        let redacted = redactor.document().json(&text).into_owned();
        Fault {
            // Redaction leaves JSON what it is; what is none would say nothing.
            data: serde_json::from_str(&redacted).ok().map(Box::new),
            ..self
        }
    }

    pub(super) fn cancelled() -> Fault {
        Fault::new(CANCELLED, "cancelled")
    }
}

/// What went wrong, as it is told to a host: without secrets, since hosts keep
/// it in logs of their own.
pub(super) fn safe(text: &str) -> String {
    Redactor::default().redact(text).text
}

/// What a line is.
#[derive(Debug)]
pub(super) enum Frame {
    /// A request, or without an id a notification.
    Call {
        id: Option<Id>,
        method: String,
        params: Box<RawValue>,
    },
    /// An answer to a call of ours.
    Answer {
        id: String,
        outcome: Result<Value, String>,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: Option<Value>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "there")]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Value>,
}

/// What is there, be it `null`: a result may be.
fn there<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(value).map(Some)
}

/// Reads a line; what is wrong with it comes with the id it should be answered
/// under, where that can be told.
pub(super) fn read(line: &[u8]) -> Result<Frame, (Option<Id>, Fault)> {
    let text = std::str::from_utf8(line).map_err(|error| {
        (
            None,
            Fault::new(PARSE, format!("the line is not UTF-8: {error}")),
        )
    })?;
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('[') {
        let advice = "batches are not taken; send one request a line";
        return Err((None, Fault::new(INVALID, advice)));
    }
    let envelope: Envelope<'_> = serde_json::from_str(text).map_err(|error| {
        let code = match error.is_data() {
            true => INVALID,
            false => PARSE,
        };
        (
            None,
            Fault::new(code, format!("the line cannot be read: {error}")),
        )
    })?;
    let raw = envelope.id.map(RawValue::get);
    let sound = |raw: &str| raw.starts_with('"') || raw.parse::<f64>().is_ok() || raw == "null";
    let id = match raw {
        Some(raw) if sound(raw) => Some(Id::new(raw)),
        Some(_) => {
            let advice = "an id is a string or a number";
            return Err((None, Fault::new(INVALID, advice)));
        }
        None => None,
    };
    match envelope.method {
        Some(Value::String(method)) => {
            let params = envelope.params.map_or("{}", RawValue::get);
            if !params.starts_with('{') && !params.starts_with('[') && params != "null" {
                let fault = Fault::new(INVALID, "params is neither an object nor absent");
                return Err((id, fault));
            }
            let params = match params {
                "null" => "{}",
                params => params,
            };
            let params = RawValue::from_string(params.to_owned());
            let params = params.map_err(|error| {
                let fault = Fault::new(INVALID, error.to_string());
                (id.clone(), fault)
            })?;
            Ok(Frame::Call { id, method, params })
        }
        Some(_) => Err((id, Fault::new(INVALID, "the method is no string"))),
        None => answer(id, envelope),
    }
}

fn answer(id: Option<Id>, envelope: Envelope<'_>) -> Result<Frame, (Option<Id>, Fault)> {
    let none = || Fault::new(INVALID, "neither a request nor an answer");
    let Some(known) = &id else {
        return Err((None, none()));
    };
    let name = known.as_str().trim_matches('"').to_owned();
    let outcome = match (envelope.result, envelope.error) {
        (_, Some(error)) if !error.is_null() => {
            let message = error.get("message").and_then(Value::as_str);
            Err(message.map_or_else(|| error.to_string(), str::to_owned))
        }
        (Some(result), _) => match serde_json::from_str(result.get()) {
            Ok(result) => Ok(result),
            Err(error) => Err(error.to_string()),
        },
        // Whoever asked waits for it, however little it says.
        _ if name.starts_with(OURS) => Err("neither a result nor an error".to_owned()),
        _ => return Err((id, none())),
    };
    Ok(Frame::Answer { id: name, outcome })
}

/// The line of an answer.
pub(super) fn result(id: &Id, result: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{result}}}",
        id.as_str()
    )
}

/// The line of an error.
pub(super) fn error(id: Option<&Id>, fault: &Fault) -> String {
    let mut error = json!({ "code": fault.code, "message": fault.message });
    if let Some(data) = &fault.data {
        error["data"] = data.as_ref().clone();
    }
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{error}}}",
        id.map_or("null", Id::as_str)
    )
}

/// The line of a call of ours; without an id it is a notification.
pub(super) fn call(id: Option<&str>, method: &str, params: &Value) -> String {
    let mut call = json!({ "jsonrpc": "2.0" });
    if let Some(id) = id {
        call["id"] = id.into();
    }
    call["method"] = method.into();
    call["params"] = params.clone();
    call.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> (Option<String>, i64) {
        let (id, fault) = read(line.as_bytes()).unwrap_err();
        (id.map(|id| id.as_str().to_owned()), fault.code)
    }

    #[test]
    fn what_is_wrong_with_a_line_is_told_under_its_id() {
        assert_eq!(code("no"), (None, PARSE));
        assert_eq!(code("{\"id\":1"), (None, PARSE));
        assert_eq!(code("[]"), (None, INVALID));
        assert_eq!(code("1"), (None, INVALID));
        assert_eq!(code("{\"id\":{},\"method\":\"ping\"}"), (None, INVALID));
        assert_eq!(code("{\"id\":1,\"method\":2}"), (Some("1".into()), INVALID));
        assert_eq!(code("{\"id\":1}"), (Some("1".into()), INVALID));
        let params = "{\"id\":\"a\",\"method\":\"ping\",\"params\":7}";
        assert_eq!(code(params), (Some("\"a\"".into()), INVALID));
        assert_eq!(read(b"\xff").unwrap_err().1.code, PARSE);
    }

    #[test]
    fn no_secret_is_in_a_fault_nor_in_what_comes_with_it() {
        let key = format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0);
        let data = json!({ "given": [key, 1.5], "password": "hunter2x", "methods": ["ping"] });
        let fault = Fault::new(BAD_PARAMS, format!("{key} is no session")).with(data);
        let line = error(Some(&Id::new("7")), &fault);
        assert_eq!(
            line,
            "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-32602,\"message\":\
             \"[redacted:github-token#1] is no session\",\"data\":{\"given\":\
             [\"[redacted:github-token#1]\",1.5],\"password\":\"[redacted:password#1]\",\
             \"methods\":[\"ping\"]}}}"
        );
    }

    #[test]
    fn requests_and_answers_are_told_apart() {
        let Frame::Call { id, method, params } =
            read(b"{\"id\":\"x\",\"method\":\"ping\",\"params\":null}").unwrap()
        else {
            panic!("no call");
        };
        assert_eq!(id.unwrap().as_str(), "\"x\"");
        assert_eq!((method.as_str(), params.get()), ("ping", "{}"));
        let Frame::Answer { id, outcome } =
            read(b"{\"id\":\"lh-1\",\"result\":{\"a\":1}}").unwrap()
        else {
            panic!("no answer");
        };
        assert_eq!((id.as_str(), outcome), ("lh-1", Ok(json!({ "a": 1 }))));
        let Frame::Answer { outcome, .. } =
            read(b"{\"id\":\"lh-1\",\"error\":{\"code\":1,\"message\":\"no\"}}").unwrap()
        else {
            panic!("no answer");
        };
        assert_eq!(outcome, Err("no".to_owned()));
    }

    #[test]
    fn an_answer_that_says_nothing_is_an_answer_still() {
        for (line, expected) in [
            ("{\"id\":\"lh-1\",\"result\":null}", Ok(Value::Null)),
            (
                "{\"id\":\"lh-1\",\"result\":null,\"error\":null}",
                Ok(Value::Null),
            ),
            (
                "{\"id\":\"lh-1\"}",
                Err("neither a result nor an error".to_owned()),
            ),
            (
                "{\"id\":\"lh-1\",\"error\":null}",
                Err("neither a result nor an error".to_owned()),
            ),
        ] {
            let Ok(Frame::Answer { id, outcome }) = read(line.as_bytes()) else {
                panic!("no answer: {line}");
            };
            assert_eq!((id.as_str(), outcome), ("lh-1", expected), "{line}");
        }
    }
}
