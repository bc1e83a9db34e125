//! Archiving: what no context needs any more, moved out of the live file.
//!
//! Everything between the header and the boundary of the latest compaction
//! goes, as the bytes it is, to `<file>.bak` (or `.bak.zst`); the live file
//! keeps the header and all that follows. [`restore`] puts the bytes back
//! where they were. Both write the archive first and the live file last, so
//! that a crash in between leaves the entries in one place more, never in none.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::durable;
use crate::entry::{Entry, Place};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::layout::{Dialect, tree_entry};
use crate::lines::{LineEnd, Order, records_of_line};
use crate::load::Loaded;
use crate::native::Native;
use crate::scan;
use crate::writer::{lock, same_file};

/// How archived entries are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As they are.
    Plain,
    /// As zstd frames.
    Zstd,
}

/// What an archive or restore moved.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    /// The archive.
    pub archive: PathBuf,
    /// Bytes of entries moved.
    pub bytes: u64,
    /// The live file's size before and after.
    pub live_before: u64,
    /// The live file's size after.
    pub live_after: u64,
}

/// Where the archive of a session file is.
pub fn archive_path(path: &Path, packing: Packing) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(match packing {
        Packing::Plain => ".bak",
        Packing::Zstd => ".bak.zst",
    });
    path.with_file_name(name)
}

/// Whether entries of a session file are in an archive beside it.
pub(crate) fn has_archive(path: &Path) -> bool {
    [Packing::Plain, Packing::Zstd]
        .into_iter()
        .any(|packing| archive_path(path, packing).exists())
}

/// Moves what stands before the boundary into the archive. `None` when there
/// is nothing to move.
pub fn archive(path: &Path, packing: Packing) -> Result<Option<Archived>> {
    let _live = open_locked(path)?;
    let native = Native::open(path)?;
    if Dialect::of(&native.header) == Dialect::Linear {
        return Err(Error::refused(
            "archive",
            path,
            "version 1 counts its lines, so none can be taken out; `longhaul session import` \
             makes a current copy",
        ));
    }
    let loaded = native.load(None)?;
    let (Some(_), Some(cut)) = (
        loaded.boundary,
        loaded.entries.iter().map(|entry| entry.place.offset).min(),
    ) else {
        return Ok(None);
    };
    let size = native.records.size();
    let start = header_end(path, size)?;
    if cut <= start {
        return Ok(None);
    }
    let moved = start..cut;
    let bak = archive_path(path, packing);
    let other = archive_path(
        path,
        match packing {
            Packing::Plain => Packing::Zstd,
            Packing::Zstd => Packing::Plain,
        },
    );
    if other.exists() {
        return Err(Error::refused(
            "archive",
            path,
            format!(
                "{} exists; restore it first, or use the same packing",
                other.display()
            ),
        ));
    }
    let archived = overlap(&bak, packing, path, moved.clone()).map_err(Error::io("read", &bak))?;
    if moved.start + archived < moved.end {
        append_archive(&bak, packing, path, moved.start + archived..moved.end)?;
    }
    replace_live(path, &loaded, &mut |out| {
        copy_range(path, 0..start, out)?;
        copy_range(path, cut..size, out)
    })?;
    Ok(Some(Archived {
        archive: bak,
        bytes: moved.end - moved.start,
        live_before: size,
        live_after: start + (size - cut),
    }))
}

/// Puts archived entries back into the live file and removes the archive.
/// `None` when there is no archive.
pub fn restore(path: &Path) -> Result<Option<Archived>> {
    let live = open_locked(path)?;
    let found = [Packing::Plain, Packing::Zstd]
        .into_iter()
        .map(|packing| (archive_path(path, packing), packing))
        .find(|(bak, _)| bak.exists());
    let Some((bak, packing)) = found else {
        return Ok(None);
    };
    let size = live.metadata().map_err(Error::io("read", path))?.len();
    let start = header_end(path, size)?;
    let read = |action| Error::io(action, &bak);
    let bytes = length(&bak, packing).map_err(read("read"))?;
    let restored = overlap(&bak, packing, path, start..size).map_err(read("read"))?;
    let missing = bytes - restored;
    let mut locked = live;
    if missing > 0 {
        let loaded = Native::open(path)?.load(None)?;
        locked = replace_live(path, &loaded, &mut |out| {
            copy_range(path, 0..start, out)?;
            io::copy(&mut open_archive(&bak, packing)?.take(missing), out)?;
            copy_range(path, start..size, out)
        })?;
    }
    // Its bytes are in the live file now, on disk.
    fs::remove_file(&bak).map_err(Error::io("remove", &bak))?;
    drop(locked);
    Ok(Some(Archived {
        archive: bak,
        bytes,
        live_before: size,
        live_after: size + missing,
    }))
}

/// Reads the archived entries of a session file, oldest first. Nothing
/// happens where there is no archive.
pub fn each_archived(
    path: &Path,
    visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for packing in [Packing::Plain, Packing::Zstd] {
        let bak = archive_path(path, packing);
        if !bak.exists() {
            continue;
        }
        let header = Native::open(path)?.header;
        let reader = open_archive(&bak, packing).map_err(Error::io("read", &bak))?;
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        let mut place = Place::default();
        loop {
            line.clear();
            let read = io::BufRead::read_until(&mut reader, b'\n', &mut line)
                .map_err(Error::io("read", &bak))?;
            if read == 0 {
                break;
            }
            place.line += 1;
            let end = (LineEnd::Newline, Order::Stored);
            let flow = records_of_line(&line, end, place, &mut faults, &mut |record| {
                visit(tree_entry(&record, &header))
            });
            if flow.is_break() {
                return Ok(faults);
            }
            place.offset += read as u64;
        }
    }
    Ok(faults)
}

/// Opens the file that the path names and locks it. One that was replaced
/// between the two is not the session any more, and its lock keeps nobody out.
fn open_locked(path: &Path) -> Result<File> {
    loop {
        let live = File::open(path).map_err(Error::io("read", path))?;
        lock_now(&live, path)?;
        if same_file(&live, path).map_err(Error::io("read", path))? {
            return Ok(live);
        }
    }
}

/// A rewrite does not wait: whoever holds the lock is writing this session.
fn lock_now(file: &File, path: &Path) -> Result<()> {
    match file.try_lock() {
        Err(fs::TryLockError::WouldBlock) => Err(Error::Locked {
            path: path.to_owned(),
        }),
        _ => lock(file, path),
    }
}

/// Replaces the live file by one with the same context. The new file is locked
/// before it takes its place, and until the caller drops it: a second archive
/// must not begin while this one still has to remove or write another file.
fn replace_live(
    path: &Path,
    loaded: &Loaded,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<File> {
    let context = Context::build(loaded).to_json();
    let mut locked = None;
    durable::replace_checked(path, write, &mut |new| {
        let rebuilt = Context::build(&Native::open(new)?.load(None)?).to_json();
        if rebuilt != context {
            return Err(Error::refused(
                "archive",
                path,
                "the context would not be the same afterwards; nothing was changed",
            ));
        }
        let file = File::open(new).map_err(Error::io("read", new))?;
        lock(&file, new)?;
        locked = Some(file);
        Ok(())
    })?;
    Ok(locked.expect("a replaced file was checked"))
}

/// Where the header's line ends.
fn header_end(path: &Path, size: u64) -> Result<u64> {
    let mut end = None;
    scan::forward(path, 0..size, &mut Vec::new(), &mut |record| {
        end = Some(if crate::native::is_header(&record) {
            HeaderAt::Line(record.place.offset)
        } else {
            HeaderAt::Missing
        });
        ControlFlow::Break(())
    })?;
    match end {
        Some(HeaderAt::Line(offset)) => line_end(path, offset).map_err(Error::io("read", path)),
        _ => Ok(0),
    }
}

enum HeaderAt {
    Line(u64),
    Missing,
}

fn line_end(path: &Path, offset: u64) -> io::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(offset))?;
    let mut line = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut line)?;
    Ok(offset + line.len() as u64)
}

fn range_reader(path: &Path, range: Range<u64>) -> io::Result<impl Read> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    Ok(BufReader::with_capacity(256 * 1024, file).take(range.end - range.start))
}

fn copy_range(path: &Path, range: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
    let expected = range.end - range.start;
    let copied = io::copy(&mut range_reader(path, range)?, out)?;
    if copied == expected {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file became shorter while it was copied",
        ))
    }
}

fn open_archive(bak: &Path, packing: Packing) -> io::Result<Box<dyn Read>> {
    let file = BufReader::with_capacity(256 * 1024, File::open(bak)?);
    Ok(match packing {
        Packing::Plain => Box::new(file),
        Packing::Zstd => Box::new(zstd::Decoder::with_buffer(file)?),
    })
}

fn length(bak: &Path, packing: Packing) -> io::Result<u64> {
    match packing {
        Packing::Plain => Ok(fs::metadata(bak)?.len()),
        Packing::Zstd => io::copy(&mut open_archive(bak, packing)?, &mut io::sink()),
    }
}

/// How many of a range's first bytes are the archive's last: what an earlier
/// run, interrupted between its two files, left in both.
fn overlap(bak: &Path, packing: Packing, path: &Path, range: Range<u64>) -> io::Result<u64> {
    let total = match length(bak, packing) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        other => other?,
    };
    let mut first = Vec::new();
    BufReader::new(range_reader(path, range.clone())?).read_until(b'\n', &mut first)?;
    let mut archived = BufReader::new(open_archive(bak, packing)?);
    let mut at = 0;
    let mut line = Vec::new();
    while archived.read_until(b'\n', &mut line)? > 0 {
        let shared = total - at;
        if line == first && shared <= range.end - range.start {
            let mut rest = open_archive(bak, packing)?;
            io::copy(&mut (&mut rest).take(at), &mut io::sink())?;
            let mut live = range_reader(path, range.start..range.start + shared)?;
            if same_bytes(&mut rest, &mut live)? {
                return Ok(shared);
            }
        }
        at += line.len() as u64;
        line.clear();
    }
    Ok(0)
}

fn same_bytes(a: &mut dyn Read, b: &mut dyn Read) -> io::Result<bool> {
    let (mut left, mut right) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        let n = fill(a, &mut left)?;
        let m = fill(b, &mut right)?;
        if left[..n] != right[..m] {
            return Ok(false);
        }
        if n == 0 {
            return Ok(true);
        }
    }
}

fn fill(reader: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}

fn append_archive(bak: &Path, packing: Packing, path: &Path, range: Range<u64>) -> Result<()> {
    durable::replace(bak, &mut |out| {
        match File::open(bak) {
            Ok(mut old) => {
                io::copy(&mut old, out)?;
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match packing {
            Packing::Plain => copy_range(path, range.clone(), out),
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(out, 3)?;
                copy_range(path, range.clone(), &mut encoder)?;
                encoder.finish().map(|_| ())
            }
        }
    })
}
