//! Archiving: what no context needs any more, moved out of the live file.
//!
//! Everything between the header and the boundary of the latest compaction
//! goes, as the bytes it is, to `<file>.bak` (or `.bak.zst`); the live file
//! keeps the header and all that follows. [`restore`] puts the bytes back
//! where they were. Both write the archive first and the live file last, so
//! that a crash in between leaves the entries in one place more, never in none.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::durable;
use crate::error::{Error, Result};
use crate::layout::Dialect;
use crate::native::Native;
use crate::scan;
use crate::writer::lock;

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

/// Moves what stands before the boundary into the archive. `None` when there
/// is nothing to move.
pub fn archive(path: &Path, packing: Packing) -> Result<Option<Archived>> {
    let live = File::open(path).map_err(Error::io("read", path))?;
    lock_now(&live, path)?;
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
    let context = Context::build(&loaded).to_json();
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
            format!("{} exists; restore it first, or use the same packing", other.display()),
        ));
    }
    if !ends_with(&bak, packing, path, moved.clone())? {
        append_archive(&bak, packing, path, moved.clone())?;
    }
    durable::replace_checked(
        path,
        &mut |out| {
            copy_range(path, 0..start, out)?;
            copy_range(path, cut..size, out)
        },
        &mut |new| same_context(path, new, &context),
    )?;
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
    let live = File::open(path).map_err(Error::io("read", path))?;
    lock_now(&live, path)?;
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
    let done = starts_with(path, start, &bak, packing).map_err(read("read"))?;
    if !done {
        let context = Context::build(&Native::open(path)?.load(None)?).to_json();
        durable::replace_checked(
            path,
            &mut |out| {
                copy_range(path, 0..start, out)?;
                io::copy(&mut open_archive(&bak, packing)?, out)?;
                copy_range(path, start..size, out)
            },
            &mut |new| same_context(path, new, &context),
        )?;
    }
    // Its bytes are in the live file now, on disk.
    fs::remove_file(&bak).map_err(Error::io("remove", &bak))?;
    Ok(Some(Archived {
        archive: bak,
        bytes,
        live_before: size,
        live_after: if done { size } else { size + bytes },
    }))
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

fn same_context(path: &Path, new: &Path, context: &str) -> Result<()> {
    let rebuilt = Context::build(&Native::open(new)?.load(None)?).to_json();
    if rebuilt == context {
        return Ok(());
    }
    Err(Error::refused(
        "archive",
        path,
        "the context would not be the same afterwards; nothing was changed",
    ))
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
    io::BufRead::read_until(&mut BufReader::new(file), b'\n', &mut line)?;
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

/// Whether an earlier, interrupted run already archived these bytes.
fn ends_with(bak: &Path, packing: Packing, path: &Path, range: Range<u64>) -> Result<bool> {
    let compare = || -> io::Result<bool> {
        let wanted = range.end - range.start;
        let total = match length(bak, packing) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        };
        if total < wanted {
            return Ok(false);
        }
        let mut archived = open_archive(bak, packing)?;
        io::copy(&mut (&mut archived).take(total - wanted), &mut io::sink())?;
        same_bytes(&mut archived, &mut range_reader(path, range.clone())?)
    };
    compare().map_err(Error::io("read", bak))
}

/// Whether an interrupted restore already put the archive back.
fn starts_with(path: &Path, start: u64, bak: &Path, packing: Packing) -> io::Result<bool> {
    let bytes = length(bak, packing)?;
    if fs::metadata(path)?.len() < start + bytes {
        return Ok(false);
    }
    same_bytes(
        &mut open_archive(bak, packing)?,
        &mut range_reader(path, start..start + bytes)?,
    )
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
