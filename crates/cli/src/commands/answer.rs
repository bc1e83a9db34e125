//! The parts that JSON answers have in common. `docs/json.md` describes them.

use std::path::Path;

use longhaul_engine::standing::About;
pub(super) use longhaul_engine::standing::faults;
use longhaul_transcript::Session;
use serde_json::Value;

use crate::app::App;

/// Which session it is about.
pub(super) fn session(app: &App, session: &Session) -> About {
    About::of(session, &app.state_dir)
}

/// A path as text. JSON has no other bytes than UTF-8; a path that is not
/// UTF-8 is shown as well as it can be.
pub(super) fn path(path: &Path) -> Value {
    Value::String(path.to_string_lossy().into_owned())
}
