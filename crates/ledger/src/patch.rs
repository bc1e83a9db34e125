//! Patches: which files they touch.

use serde::{Deserialize, Serialize};

use crate::facts::FileChange;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileEdit {
    /// The path as the patch gives it.
    pub path: String,
    /// Created, edited, deleted or moved.
    pub change: FileChange,
    /// Where it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
}

/// The files of a Codex patch (`*** Update File: …`) or a unified diff.
pub(crate) fn files(text: &str) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    let mut old: Option<&str> = None;
    let envelope = text.contains("*** ");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("*** ").filter(|_| envelope) {
            let made = [
                ("Update File: ", FileChange::Edited),
                ("Add File: ", FileChange::Created),
                ("Delete File: ", FileChange::Deleted),
            ]
            .into_iter()
            .find_map(|(head, change)| rest.strip_prefix(head).map(|path| (path.trim(), change)));
            if let Some((path, change)) = made {
                add(&mut edits, path, change);
            } else if let Some(to) = rest.strip_prefix("Move to: ")
                && let Some(last) = edits.last_mut()
            {
                last.change = FileChange::Moved;
                last.moved_to = Some(to.trim().to_owned());
            }
        } else if let Some(path) = line.strip_prefix("--- ") {
            old = Some(name(path));
        } else if let (Some(path), Some(was)) = (line.strip_prefix("+++ "), old.take()) {
            match (was, name(path)) {
                ("/dev/null", path) => add(&mut edits, path, FileChange::Created),
                (was, "/dev/null") => add(&mut edits, was, FileChange::Deleted),
                (_, path) => add(&mut edits, path, FileChange::Edited),
            }
        } else if let Some(from) = line.strip_prefix("rename from ") {
            add(&mut edits, from, FileChange::Moved);
        } else if let Some(to) = line.strip_prefix("rename to ")
            && let Some(last) = edits.last_mut()
            && last.change == FileChange::Moved
        {
            last.moved_to = Some(to.to_owned());
        }
    }
    edits
}

fn add(edits: &mut Vec<FileEdit>, path: &str, change: FileChange) {
    // A renamed file that is also changed has both lines.
    let known = edits.iter().any(|edit| {
        edit.moved_to.as_deref() == Some(path) || (edit.path == path && edit.change == change)
    });
    if !path.is_empty() && !known {
        edits.push(FileEdit {
            path: path.to_owned(),
            change,
            moved_to: None,
        });
    }
}

/// The path of a header line, without `a/`, `b/` and the time behind a tab.
fn name(header: &str) -> &str {
    let path = header.split('\t').next().unwrap_or("").trim();
    path.strip_prefix("a/")
        .or_else(|| path.strip_prefix("b/"))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, change: FileChange, to: Option<&str>) -> FileEdit {
        FileEdit {
            path: path.into(),
            change,
            moved_to: to.map(str::to_owned),
        }
    }

    #[test]
    fn envelopes_and_diffs_name_their_files() {
        assert_eq!(
            files(
                "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: src/b.rs\n*** Move to: src/c.rs\n@@\n-a\n+b\n*** Delete File: d\n*** End Patch"
            ),
            [
                edit("a.txt", FileChange::Created, None),
                edit("src/b.rs", FileChange::Moved, Some("src/c.rs")),
                edit("d", FileChange::Deleted, None)
            ]
        );
        assert_eq!(
            files(
                "--- a/x.rs\t2026\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new.rs\n--- a/gone\n+++ /dev/null\n"
            ),
            [
                edit("x.rs", FileChange::Edited, None),
                edit("new.rs", FileChange::Created, None),
                edit("gone", FileChange::Deleted, None)
            ]
        );
    }
}
