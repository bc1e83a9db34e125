//! The parts that JSON answers have in common. `docs/src/json.md` describes them.

use std::path::Path;

use longhaul_engine::standing::About;
pub(crate) use longhaul_engine::standing::faults;
use longhaul_transcript::Session;
use serde::Serialize;
use serde_json::Value;

use crate::app::App;
use crate::failure::Result;

/// Which session it is about.
pub(crate) fn session(app: &App, session: &Session) -> About {
    About::of(session, &app.state_dir)
}

/// A path as text. JSON has no other bytes than UTF-8; a path that is not
/// UTF-8 is shown as well as it can be.
pub(crate) fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}

/// An answer with the fields of a result behind its own.
pub(crate) fn joined(mut answer: Value, result: &impl Serialize) -> Result<Value> {
    if let (Value::Object(all), Value::Object(fields)) =
        (&mut answer, serde_json::to_value(result)?)
    {
        all.extend(fields);
    }
    Ok(answer)
}
