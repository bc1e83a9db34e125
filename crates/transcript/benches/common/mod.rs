//! Session files of any size, made once and kept for the next run.

// Each benchmark uses a part of it.
#![allow(dead_code)]

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;

use longhaul_transcript::sample::{Compactions, Plan, Size, generate};
use longhaul_transcript::{Draft, Durability, EntryId, Session, Stamp, Writer};

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

/// A session of about so many bytes, compacted whenever its context was full.
///
/// Files of every size end alike, with one compaction and the same messages
/// after it, so that opening them asks for the same work. `None`, with a word
/// why, when the disk has no room.
pub(crate) fn session(bytes: u64) -> Option<PathBuf> {
    let made = folder().and_then(|folder| {
        let path = folder.join(format!("session-{}mb.jsonl", bytes / MB));
        if !path.exists() {
            if bytes >= 1000 * MB && !has_room(&folder) {
                return Ok(None);
            }
            let partial = path.with_extension("partial");
            write(&partial, bytes)?;
            fs::rename(&partial, &path)?;
        }
        Ok(Some(path))
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

fn write(path: &Path, bytes: u64) -> io::Result<()> {
    let plan = Plan {
        size: Size::AtLeastBytes(bytes),
        compactions: Compactions::Every(160_000),
        ..Plan::default()
    };
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    generate(&plan, &mut out)?;
    out.flush()?;
    drop(out);
    add_ending(path).map_err(io::Error::other)
}

/// The compaction and the turns that every file ends with.
fn add_ending(path: &Path) -> longhaul_transcript::Result<()> {
    let ending = path.with_extension("ending");
    let plan = Plan {
        seed: 2,
        size: Size::AtLeastBytes(500_000),
        ..Plan::default()
    };
    let mut out = Vec::new();
    let drawn = generate(&plan, &mut out).and_then(|_| fs::write(&ending, out));
    drawn.map_err(longhaul_files::Error::io("write", &ending))?;
    let mut entries = Vec::new();
    Session::open(&ending)?.each(&mut |entry| {
        if let (Some(json), Some(time)) = (entry.message_json(), entry.time) {
            let stamp = Stamp {
                id: EntryId::new(format!("end-{}", entry.id)),
                time,
            };
            entries.push((Draft::Message(json.to_owned()), stamp));
        }
        ControlFlow::Continue(())
    })?;
    let compaction = Draft::Compaction {
        summary: "All that came before.".into(),
        first_kept: None,
        tokens_before: 160_000,
        details: None,
    };
    let stamp = Stamp {
        id: EntryId::from("end-compaction"),
        time: plan.start,
    };
    let mut writer = Writer::open(path, Durability::Os)?;
    writer.append(&compaction, stamp)?;
    writer.append_all(&entries)?;
    let _ = fs::remove_file(ending);
    Ok(())
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
