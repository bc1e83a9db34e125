//! `memory verify`: how pointers stand whose files are hard to read.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use longhaul_memory::MemoryFolder;
use longhaul_memory::files::{Standing, Verify};

fn standings(root: &Path, mode: Verify) -> Vec<Standing> {
    let memory = MemoryFolder::open(root, None).unwrap();
    let verified = memory.verify(mode).unwrap();
    verified.iter().map(|one| one.standing).collect()
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_told_and_the_others_are_verified() {
    use std::os::unix::fs::PermissionsExt;

    let root = tempfile::tempdir().unwrap();
    let text = "- a → shut.md\n- b → open.md\n";
    fs::write(root.path().join("MEMORY.md"), text).unwrap();
    let shut = root.path().join("shut.md");
    fs::write(&shut, "x").unwrap();
    fs::write(root.path().join("open.md"), "x").unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();
    // Root may read anything; there is nothing to see then.
    if fs::read(&shut).is_ok() {
        eprintln!("skipped: this user may read anything");
        return;
    }
    let told = standings(root.path(), Verify::Tell);
    assert_eq!(told, [Standing::Unreadable, Standing::New]);
    let marked = standings(root.path(), Verify::Mark);
    assert_eq!(marked, [Standing::Unreadable, Standing::Fresh]);
    assert!(Standing::Unreadable.is_stale());
}

#[test]
fn a_file_that_is_too_large_to_be_hashed_is_known_by_its_size_and_time() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("MEMORY.md"), "- a → large.csv\n").unwrap();
    let file = File::create(root.path().join("large.csv")).unwrap();
    file.set_len(65 * 1024 * 1024).unwrap();
    let day = |days: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400);
    file.set_modified(day(20_000)).unwrap();
    let told = || standings(root.path(), Verify::Tell);
    assert_eq!(told(), [Standing::New]);
    assert_eq!(told(), [Standing::Fresh]);
    file.set_modified(day(20_001)).unwrap();
    assert_eq!(told(), [Standing::Changed]);
}
