//! Session files of any size, made once and kept for the next run.

// Each benchmark uses a part of it.
#![allow(dead_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use longhaul_testkit::sample::alike;

/// A megabyte; sizes are powers of ten, as people say them.
pub(crate) const MB: u64 = 1_000_000;

/// Room that must be left on the disk before a gigabyte is written to it.
const FREE_KB: u64 = 3_000_000;

/// Where the files are kept: below the build folder, so `cargo clean` removes them.
pub(crate) fn folder() -> io::Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-data");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// A session of about so many bytes, which ends as those of every size.
/// `None`, with a word why, when the disk has no room.
pub(crate) fn session(bytes: u64) -> Option<PathBuf> {
    let made = folder().and_then(|folder| {
        if bytes >= 1000 * MB && !has_room(&folder) {
            return Ok(None);
        }
        alike(&folder, bytes / MB).map(Some)
    });
    match made {
        Ok(Some(path)) => Some(path),
        Ok(None) => {
            eprintln!(
                "skipped: less than {} GB free for the large session",
                FREE_KB / 1_000_000
            );
            None
        }
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}

/// Whether the disk has room for the largest file. A system that does not say
/// is believed to have it.
fn has_room(folder: &Path) -> bool {
    let output = Command::new("df").arg("-Pk").arg(folder).output().ok();
    output
        .and_then(|output| {
            let text = String::from_utf8(output.stdout).ok()?;
            text.lines()
                .nth(1)?
                .split_whitespace()
                .nth(3)?
                .parse::<u64>()
                .ok()
        })
        .is_none_or(|free| free >= FREE_KB)
}
