//! Disks that are full and folders that may not be written to.

use std::fs;
use std::path::Path;
use std::process::Output;

use crate::{empty, roles, session};

fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Runs a role where no file may grow beyond so many kilobytes. The signal
/// that would come with it is ignored, so that writes fail instead.
fn with_small_files(kilobytes: u32, role: &str, path: &Path) {
    let script = format!("trap '' XFSZ; ulimit -f {kilobytes} && exec \"$0\" \"$@\"");
    let Ok(output) = roles::command(&["bash", "-c", &script], role, path, "").output() else {
        eprintln!("skipped: no bash here");
        return;
    };
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("done: "), "{}", said(&output));
}

/// Runs a role in a world of its own, where a command has prepared the folder.
/// What happens there is seen by nobody else and gone afterwards.
fn in_own_world(prepare: &str, role: &str, path: &Path) {
    let folder = path.parent().unwrap().to_str().unwrap();
    let script = format!("cd / && folder='{folder}' && {prepare} && exec \"$0\" \"$@\"");
    let wrapper = ["unshare", "-rm", "bash", "-c", &script];
    let trial = std::process::Command::new("unshare")
        .args([
            "-rm",
            "bash",
            "-c",
            &format!("cd / && folder='{folder}' && {prepare}"),
        ])
        .output();
    if !trial.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no mounts of our own here");
        return;
    }
    let output = roles::command(&wrapper, role, path, "").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("done: "), "{}", said(&output));
}

#[test]
fn an_append_beyond_the_largest_file_changes_nothing_and_says_so() {
    let (_folder, path) = empty();
    with_small_files(64, "fill the disk", &path);
}

#[test]
fn an_append_to_a_full_disk_changes_nothing_and_says_so() {
    let (_folder, path) = empty();
    let prepare = "cp $folder/s.jsonl /dev/shm/longhaul-seed-$$ \
        && mount -t tmpfs -o size=128k tmpfs $folder \
        && mv /dev/shm/longhaul-seed-$$ $folder/s.jsonl";
    in_own_world(prepare, "fill the disk", &path);
    assert_eq!(crate::names(&path), ["s.jsonl"]);
}

#[test]
fn an_archive_without_room_changes_nothing_and_leaves_nothing() {
    let (_folder, path) = session(300, &"text ".repeat(200));
    let bytes = fs::read(&path).unwrap();
    // What is to be archived does not fit, packed or not.
    with_small_files(1, "archive on a full disk", &path);
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_read_only_folder_can_be_read_and_says_why_it_is_not_written() {
    let (_folder, path) = session(30, "text");
    let prepare = "mount --bind $folder $folder && mount -o remount,ro,bind $folder";
    in_own_world(prepare, "write to a read-only folder", &path);
}
