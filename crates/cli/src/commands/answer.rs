//! The parts that JSON answers have in common. `docs/json.md` describes them.

use std::path::Path;

use longhaul_transcript::{Fault, Session};
use serde_json::{Value, json};

use crate::resolve::id_of;

/// What every answer says about its session.
pub(super) fn session(session: &Session) -> Value {
    let header = session.header();
    json!({
        "id": id_of(session.reference()),
        "key": session.reference().key,
        "agent": session.format().agent(),
        "format": session.format(),
        "path": path(session.path()),
        "workspace": header.cwd.as_deref().map(path),
        "started": header.time.map(|time| time.to_iso()),
        "parentSession": header.parent_session,
    })
}

/// A path as text. JSON has no other bytes than UTF-8; a path that is not
/// UTF-8 is shown as well as it can be.
pub(super) fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}

/// Faults with their place, their kind's own fields, and the sentence that
/// people read.
pub(super) fn faults(faults: &[Fault]) -> Result<Value, serde_json::Error> {
    let mut list = Vec::with_capacity(faults.len());
    for fault in faults {
        let mut value = json!({ "line": fault.line, "offset": fault.offset });
        if let (Value::Object(all), Value::Object(kind)) =
            (&mut value, serde_json::to_value(&fault.kind)?)
        {
            all.extend(kind);
            all.insert("message".into(), json!(fault.kind.to_string()));
            all.insert("loss".into(), json!(fault.kind.is_loss()));
        }
        list.push(value);
    }
    Ok(Value::Array(list))
}
