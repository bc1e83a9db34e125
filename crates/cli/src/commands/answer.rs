//! The parts that JSON answers have in common. `docs/json.md` describes them.

use std::path::Path;

pub(super) use longhaul_engine::standing::{about as session, faults};
use serde_json::Value;

/// A path as text. JSON has no other bytes than UTF-8; a path that is not
/// UTF-8 is shown as well as it can be.
pub(super) fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}
