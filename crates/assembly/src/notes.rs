//! Notes: what an agent is told about its own context.

use longhaul_tokens::{
    CheckpointNote, Counter, Fragment, FragmentKind, Gauge, Level, Tokens, Window,
};

/// From this compaction on a session is in a spiral.
pub const SPIRAL_FROM: u32 = 4;

/// The notes that belong at the end of a context of this size: from the
/// checkpoint threshold on an advisory, from the gauge threshold on the gauge
/// line, last.
pub fn notes(
    used: Tokens,
    window: &Window,
    checkpoint: CheckpointNote,
    counter: &dyn Counter,
) -> Vec<Fragment> {
    let gauge = Gauge {
        used,
        window,
        checkpoint,
    };
    advisory(used, window, checkpoint, counter)
        .into_iter()
        .chain(gauge.fragment(counter))
        .collect()
}

/// From the checkpoint threshold on: what will happen, what to do now.
fn advisory(
    used: Tokens,
    window: &Window,
    checkpoint: CheckpointNote,
    counter: &dyn Counter,
) -> Option<Fragment> {
    if window.level(used) < Level::Checkpoint {
        return None;
    }
    let saved = match checkpoint {
        CheckpointNote::Saved => "The state of the work is saved in a checkpoint. ",
        CheckpointNote::None => "",
    };
    let text = format!(
        "The context is nearly full. {saved}At {} tokens older messages become a summary; \
         recent ones stay, and `recall` brings the rest back. Finish the step at hand, and \
         write down now what must not be lost: decisions and their reasons, open items, \
         what comes next.",
        window.activation()
    );
    Some(Fragment::new(FragmentKind::Advisory, text, counter))
}

/// The warning of a session that was compacted `epoch` times, from `from` times
/// on ([`SPIRAL_FROM`] by default). It is the same for a whole
/// epoch, so it belongs to what is restored after a compaction.
pub fn spiral_warning(epoch: u32, from: u32, counter: &dyn Counter) -> Option<Fragment> {
    if epoch < from {
        return None;
    }
    let text = format!(
        "This session has been compacted {} times. Every compaction costs detail, and a session \
         that keeps filling up goes in circles. Do not rely on memory of early work: check files \
         and `recall`. Finish what is open in small steps, and tell the user that a fresh \
         session, started from the checkpoint (`longhaul session handoff`), would serve better.",
        epoch
    );
    Some(Fragment::new(FragmentKind::Warning, text, counter))
}
