//! What the compactions of a session came to, as their entries say.

use longhaul_compaction::Wear;
use longhaul_transcript::{Epoch, Loaded, Result, Session};

use crate::marks::detail;
use crate::survey::{Keep, Survey};

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
            let survey = Survey::of(session, keep)?;
            let wear = carried.unwrap_or_else(|| survey.wear());
            let epoch = match loaded.epoch.is_exact() {
                true => loaded.epoch,
                false => Epoch::Exact(survey.epoch()),
            };
            Ok((epoch, wear))
        }
    }
}
