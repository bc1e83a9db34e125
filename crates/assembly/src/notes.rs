//! Notes: what an agent is told about its own context.

use longhaul_tokens::{
    CheckpointNote, Counter, Fragment, FragmentKind, Gauge, Level, Tokens, Window,
};

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
