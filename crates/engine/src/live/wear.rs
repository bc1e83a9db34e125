//! What the compactions of a session came to, as their entries say.

use longhaul_compaction::Wear;
use longhaul_compaction::audit::Audit;
use longhaul_transcript::json::Object;
use longhaul_transcript::{Entry, Epoch, Loaded, Result, Session};

use crate::survey::{Keep, Survey, Wanted};

/// What one of our own compactions says about what it kept.
pub fn fidelity(entry: &Entry) -> Option<Audit> {
    detail(entry, "fidelity")
}

/// How many compactions are on the path, and what came of them. The latest of
/// ours carries that; where it is another agent's, the survey says it.
pub fn worn_by(session: &Session, loaded: &Loaded, keep: &Keep) -> Result<(Epoch, Wear)> {
    let carried = match loaded.compaction() {
        Some((entry, _)) => detail(entry, "wear"),
        None => Some(Wear::default()),
    };
    match carried {
        Some(wear) if loaded.epoch.is_exact() => Ok((loaded.epoch, wear)),
        carried => {
            let survey = Survey::of(session, keep, Wanted::Path)?;
            let wear = carried.unwrap_or_else(|| survey.wear());
            let epoch = match loaded.epoch.is_exact() {
                true => loaded.epoch,
                false => Epoch::Exact(survey.epoch()),
            };
            Ok((epoch, wear))
        }
    }
}

/// The same with one more compaction.
pub(crate) fn after(wear: Wear, entry: &Entry) -> Wear {
    detail(entry, "wear").unwrap_or_else(|| wear.after(fidelity(entry).as_ref()))
}

pub(super) fn detail<T: serde::de::DeserializeOwned>(entry: &Entry, name: &str) -> Option<T> {
    let object = Object::parse(entry.raw()).ok()?;
    serde_json::from_str(object.object("details")?.raw(name)?).ok()
}
