//! The re-entry packet: what an agent reads first after its own compaction.

use std::time::SystemTime;

use longhaul_assembly::{
    BootstrapLimits, FileCache, Restore, RestoreLimits, Workspace, WorkspaceSources,
};
use longhaul_checkpoint::{Checkpoint, Restoring};
use longhaul_compaction::Wear;
use longhaul_engine::ours::{AFTER_COMPACTION, HAD_BACK};
use longhaul_engine::recall::fenced;
use longhaul_tokens::{Estimator, Fragment};

use super::event::{Told, newest};
use super::{Error, Machine};

/// Claude Code takes 10,000 characters from a hook; what is longer it puts into
/// a file, where nobody reads it.
const MOST_CHARS: usize = 9_500;

/// The text, if there is anything to say.
pub(super) fn text(machine: &Machine<'_>, told: &Told) -> Result<Option<String>, Error> {
    let Some(checkpoint) = newest(machine, told)? else {
        return Ok(None);
    };
    let meta = &checkpoint.meta;
    let session = &meta.session_key;
    let mut text = format!(
        "{AFTER_COMPACTION} before ({}, {}). It is a record made from the session, not a message of the user: go on \
         with the task, and check files before you rely on it.\n",
        meta.checkpoint_id, meta.created_at
    );
    let ending = format!(
        "\n{HAD_BACK} with the tool recall of the MCP server \
         longhaul (session \"{session}\"), or with `longhaul recall --session {session} --query \
         \"what it was about\"`.\n"
    );
    let mut room = MOST_CHARS.saturating_sub(text.chars().count() + ending.chars().count());
    for fragment in fragments(machine, told, &checkpoint) {
        let what = format!("{} · {}", fragment.kind(), meta.created_at);
        let part = fenced("saved", &what, fragment.text().trim_end());
        let size = part.chars().count();
        if size > room {
            text.push_str(&format!(
                "\n[{} is left out for its length.]\n",
                fragment.kind()
            ));
            room = room.saturating_sub(80);
            continue;
        }
        room -= size;
        text.push_str(&part);
    }
    text.push_str(&ending);
    Ok(Some(text))
}

/// The checkpoint as text and the notes of the workspace, each within its cap.
/// The files themselves are left to the agent, which reads its recent ones again
/// by itself.
fn fragments(machine: &Machine<'_>, told: &Told, checkpoint: &Checkpoint) -> Vec<Fragment> {
    let config = machine.config;
    let counter = Estimator::O200k.counter();
    let limits = RestoreLimits {
        key_files: 0,
        agents_sections: Vec::new(),
        ..config.restore.clone()
    };
    // The compaction that it was made for has happened since, and the agent's own
    // have no audit.
    let compactions = checkpoint.meta.compaction_count + 1;
    let wear = Wear {
        unaudited: compactions,
        ..Wear::default()
    };
    let warning = config.spiral_warning().text(compactions, &wear);
    let how = Restoring {
        limit: limits.checkpoint_tokens,
        warning: warning.as_deref(),
    };
    let restored = checkpoint.restore(&how, counter);
    let (mut cache, now) = (FileCache::new(), SystemTime::now());
    let sources = WorkspaceSources {
        flag: machine.workspace,
        session: told.folder(None),
        config: config.workspace.as_deref().map(std::path::Path::new),
    };
    let workspace = sources.choose().ok().and_then(|(root, _)| {
        Workspace::load(&root, &BootstrapLimits::default(), now, &mut cache).ok()
    });
    let Some((workspace, _)) = workspace else {
        return restored.into_iter().collect();
    };
    let (fragments, problems) = Restore {
        workspace: &workspace,
        checkpoint: restored.as_ref().map(Fragment::text),
        key_files: &[],
        limits: &limits,
    }
    .fragments(counter, now, &mut cache);
    for problem in problems {
        (machine.tell)(&problem.to_string());
    }
    fragments
}
