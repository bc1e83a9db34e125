//! Archiving: what no context needs any more, moved out of the live file.
//!
//! Everything between the header and the boundary of the latest compaction
//! goes, as the bytes it is, to `<file>.bak` (or `.bak.zst`); the live file
//! keeps the header and all that follows. [`restore`] puts the bytes back
//! where they were, if they are those of this session. Both write the archive
//! first and the live file last, so that a crash in between leaves the entries
//! in one place more, never in none.

mod packed;
mod record;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::{ControlFlow, Range};
use std::path::{Path, PathBuf};

use longhaul_files::{Sharing, Wait};

use self::packed::PackedArchive;
use self::record::Record;
use crate::chain::{At, Chain, Proving, each_line, may_be_mark};
use crate::context::Context;
use crate::entry::{Entry, Place};
use crate::error::{Error, Result};
use crate::fault::Fault;
use crate::layout::{Dialect, tree_entry};
use crate::lines::{LineEnd, MAX_LINE_BYTES, Order, records_of_line};
use crate::load::Loaded;
use crate::native::Native;
use crate::scan;

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

const PACKINGS: [Packing; 2] = [Packing::Plain, Packing::Zstd];

/// Whether entries of a session file are in an archive beside it.
pub fn has_archive(path: &Path) -> bool {
    PACKINGS
        .into_iter()
        .any(|packing| archive_path(path, packing).symlink_metadata().is_ok())
}

/// The archive of a session file, if there is one.
fn find(path: &Path) -> Result<Option<(PackedArchive, Packing)>> {
    for packing in PACKINGS {
        if let Some(found) = PackedArchive::find(&archive_path(path, packing), packing)? {
            return Ok(Some((found, packing)));
        }
    }
    Ok(None)
}

/// Moves what stands before the boundary into the archive. `None` when there
/// is nothing to move.
pub fn archive(path: &Path, packing: Packing) -> Result<Option<Archived>> {
    let live = open_locked(path)?;
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
    let start = header_end(&live, path, size)?;
    if cut <= start {
        return Ok(None);
    }
    let moved = start..cut;
    let old = match find(path)? {
        Some((old, as_packed)) if as_packed != packing => {
            return Err(Error::refused(
                "archive",
                path,
                format!(
                    "{} exists; restore it first, or use the same packing",
                    old.path.display()
                ),
            ));
        }
        old => old.map(|(old, _)| old),
    };
    let session = &native.header.id;
    let archived = match &old {
        Some(old) => Held::of(old, session, (&live, path), moved.clone())?.in_both,
        None => 0,
    };
    let bak = archive_path(path, packing);
    let record = if moved.start + archived < moved.end {
        let mut stored = old.as_ref().map(PackedArchive::stored).transpose()?;
        let mut record = None;
        let mut write = |out: &mut dyn Write| {
            packed::write(out, stored.take(), packing, &mut |out| {
                copy_range(&live, moved.start + archived..moved.end, out)
            })
        };
        longhaul_files::replace_checked(&bak, &mut write, &mut |new| {
            record = record_of(PackedArchive::find(new, packing)?, session, path)?;
            Ok::<(), Error>(())
        })?;
        record
    } else {
        record_of(old, session, path)?
    };
    if let Some(record) = record {
        record.write(path)?;
    }
    replace_live(path, &loaded, &mut |out| {
        copy_range(&live, 0..start, out)?;
        copy_range(&live, cut..size, out)
    })?;
    Ok(Some(Archived {
        archive: bak,
        bytes: moved.end - moved.start,
        live_before: size,
        live_after: start + (size - cut),
    }))
}

/// Whose archive it is, and what is in it. It is read once for that: what cannot
/// be read back must not be missing from the live file.
fn record_of(archive: Option<PackedArchive>, session: &str, path: &Path) -> Result<Option<Record>> {
    let Some(archive) = archive else {
        return Ok(None);
    };
    let hashed = record::hash(&mut archive.reader()?);
    let (bytes, blake3) = hashed.map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => Error::refused(
            "archive",
            path,
            format!("{error}, which is not taken back; archive it unpacked"),
        ),
        _ => Error::io("read", &archive.path)(error),
    })?;
    let session = session.to_owned();
    Ok(Some(Record {
        session,
        bytes,
        blake3,
    }))
}

/// Puts archived entries back into the live file and removes the archive.
/// `None` when there is no archive. An archive of another session is refused,
/// and stays.
pub fn restore(path: &Path) -> Result<Option<Archived>> {
    let live = open_locked(path)?;
    let Some((archive, _)) = find(path)? else {
        return Ok(None);
    };
    let size = live.metadata().map_err(Error::io("read", path))?.len();
    let start = header_end(&live, path, size)?;
    let native = Native::open(path)?;
    let held = Held::of(&archive, &native.header.id, (&live, path), start..size)?;
    let missing = held.bytes - held.in_both;
    let mut new = None;
    if missing > 0 {
        let loaded = native.load(None)?;
        let mut entries = archive.reader()?.take(missing);
        new = Some(replace_live(path, &loaded, &mut |out| {
            copy_range(&live, 0..start, out)?;
            let copied = io::copy(&mut entries, out)?;
            if copied != missing {
                return Err(shortened());
            }
            copy_range(&live, start..size, out)
        })?);
    }
    // Its bytes are in the live file now, on disk.
    longhaul_files::remove(&archive.path)?;
    longhaul_files::remove(&record::record_path(path))?;
    drop((new, live));
    Ok(Some(Archived {
        archive: archive.path,
        bytes: held.bytes,
        live_before: size,
        live_after: size + missing,
    }))
}

/// What an archive has of a session.
struct Held {
    /// Bytes of entries.
    bytes: u64,
    /// How many of the last of them are in the live file too: what a run that
    /// was interrupted between its two files left in both.
    in_both: u64,
}

impl Held {
    /// Looks through an archive. What is not in the live file must be what was
    /// written down when it was taken out of this session.
    fn of(
        archive: &PackedArchive,
        session: &str,
        live: (&File, &Path),
        range: Range<u64>,
    ) -> Result<Held> {
        let (file, path) = live;
        let unreadable = || Error::io("read", &archive.path);
        let bytes = io::copy(&mut archive.reader()?, &mut io::sink()).map_err(unreadable())?;
        let in_both = overlap(archive, bytes, file, range)?;
        if in_both == bytes {
            return Ok(Held { bytes, in_both });
        }
        let refused = |reason: &str| {
            Err(Error::refused(
                "use the archive of",
                path,
                format!(
                    "{} {reason}; nothing was changed, and the archive stays as it is",
                    archive.path.display()
                ),
            ))
        };
        match Record::read(path)? {
            None => refused("has no record that says which session it was taken out of"),
            Some(record) if record.session != session => {
                refused("was taken out of another session")
            }
            Some(record) if bytes - in_both > record.bytes => {
                refused("is not what was taken out of this session")
            }
            Some(record) => match record.vouches_for(&mut archive.reader()?) {
                Ok(true) => Ok(Held { bytes, in_both }),
                Ok(false) => refused("is not what was taken out of this session"),
                Err(error) => Err(unreadable()(error)),
            },
        }
    }
}

/// Reads the archived entries of a session file, oldest first. Nothing
/// happens where there is no archive.
pub fn each_archived(
    path: &Path,
    visit: &mut dyn FnMut(Entry) -> ControlFlow<()>,
) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for packing in PACKINGS {
        let bak = archive_path(path, packing);
        let Some(archive) = PackedArchive::find(&bak, packing)? else {
            continue;
        };
        let header = Native::open(path)?.header;
        let mut reader = BufReader::new(archive.reader()?);
        let mut line = Vec::new();
        let mut place = Place::default();
        loop {
            line.clear();
            let mut next = (&mut reader).take(MAX_LINE_BYTES as u64);
            let read = next
                .read_until(b'\n', &mut line)
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

/// The chain at the last mark of a live file of this size, and where that
/// stands. Without one, after what is in the archive.
pub(crate) fn last_mark(path: &Path, session: &str, size: u64) -> Result<(Chain, u64)> {
    let live = longhaul_files::open(path)?;
    let start = header_end(&live, path, size)?;
    let mut chain = Chain::of(session);
    let mut found = None;
    let mut failure = None;
    scan::backward(path, start..size, &mut Vec::new(), &mut |record| {
        if !may_be_mark(record.text.as_bytes()) {
            return ControlFlow::Continue(());
        }
        let offset = record.place.offset;
        // The whole line counts, also where several records stand on it.
        match line_at(&live, offset..size) {
            Ok(line) => found = chain.mark(&line).map(|mark| (mark, offset)),
            Err(error) => failure = Some(Error::io("read", path)(error)),
        }
        match found.is_some() || failure.is_some() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    if let Some((mark, offset)) = found {
        chain.resume(&mark);
        return Ok((chain, offset));
    }
    if let Some((archive, lines)) = moved_lines(path, &live, start..size)? {
        let read = chain.observe_all(lines);
        read.map_err(Error::io("read", &archive))?;
    }
    Ok((chain, start))
}

/// Checks every mark of a session, its archive first.
pub(crate) fn prove(path: &Path, session: &str) -> Result<Proving> {
    let live = longhaul_files::open(path)?;
    let size = live.metadata().map_err(Error::io("read", path))?.len();
    let start = header_end(&live, path, size)?;
    let mut proving = Proving::of(session);
    let mut at = At {
        archived: true,
        line: 1,
        offset: 0,
    };
    let mut take = |line: &[u8], at: &mut At| {
        proving.observe(line, *at);
        at.line += 1;
        at.offset += line.len() as u64 + 1;
    };
    if let Some((archive, lines)) = moved_lines(path, &live, start..size)? {
        let read = each_line(lines, &mut |line| take(line, &mut at));
        read.map_err(Error::io("read", &archive))?;
    }
    let unreadable = || Error::io("read", path);
    let mut line = 1;
    let before = range_reader(&live, 0..start).map_err(unreadable())?;
    each_line(before, &mut |_| line += 1).map_err(unreadable())?;
    let mut at = At {
        archived: false,
        line,
        offset: start,
    };
    let lines = range_reader(&live, start..size).map_err(unreadable())?;
    each_line(lines, &mut |line| take(line, &mut at)).map_err(unreadable())?;
    Ok(proving)
}

/// The lines that are in the archive and not in this range of the live file.
fn moved_lines(
    path: &Path,
    live: &File,
    range: Range<u64>,
) -> Result<Option<(PathBuf, impl Read)>> {
    let Some((archive, _)) = find(path)? else {
        return Ok(None);
    };
    let unreadable = || Error::io("read", &archive.path);
    let bytes = io::copy(&mut archive.reader()?, &mut io::sink()).map_err(unreadable())?;
    let in_both = overlap(&archive, bytes, live, range)?;
    let lines = archive.reader()?.take(bytes - in_both);
    Ok(Some((archive.path, lines)))
}

fn line_at(live: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    let reader = range_reader(live, range)?.take(MAX_LINE_BYTES as u64);
    BufReader::new(reader).read_until(b'\n', &mut line)?;
    Ok(line)
}

/// Opens the file that the path names and locks it. One that was replaced
/// between the two is not the session any more, and its lock keeps nobody out.
fn open_locked(path: &Path) -> Result<File> {
    loop {
        let live = longhaul_files::open(path)?;
        // A rewrite does not wait: whoever holds the lock is writing this session.
        longhaul_files::lock(&live, path, Sharing::Alone, Wait::Never)?;
        if longhaul_files::same_file(&live, path)? {
            return Ok(live);
        }
    }
}

/// Replaces the live file by one with the same context. The new file is locked
/// from its first byte until the caller drops it: a second archive
/// must not begin while this one still has to remove or write another file.
fn replace_live(
    path: &Path,
    loaded: &Loaded,
    write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> Result<File> {
    let context = Context::build(loaded).to_json();
    longhaul_files::replace_checked(path, write, &mut |new| {
        let rebuilt = Context::build(&Native::open(new)?.load(None)?).to_json();
        match rebuilt == context {
            true => Ok(()),
            false => Err(Error::refused(
                "archive",
                path,
                "the context would not be the same afterwards; nothing was changed",
            )),
        }
    })
}

/// Where the header's line ends.
fn header_end(live: &File, path: &Path, size: u64) -> Result<u64> {
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
        Some(HeaderAt::Line(offset)) => line_end(live, offset).map_err(Error::io("read", path)),
        _ => Ok(0),
    }
}

enum HeaderAt {
    Line(u64),
    Missing,
}

fn line_end(mut live: &File, offset: u64) -> io::Result<u64> {
    live.seek(SeekFrom::Start(offset))?;
    let mut line = Vec::new();
    BufReader::new(live.take(MAX_LINE_BYTES as u64)).read_until(b'\n', &mut line)?;
    Ok(offset + line.len() as u64)
}

pub(crate) fn range_reader(mut live: &File, range: Range<u64>) -> io::Result<impl Read> {
    live.seek(SeekFrom::Start(range.start))?;
    Ok(BufReader::with_capacity(256 * 1024, live).take(range.end - range.start))
}

fn copy_range(live: &File, range: Range<u64>, out: &mut dyn Write) -> io::Result<()> {
    let expected = range.end - range.start;
    match io::copy(&mut range_reader(live, range)?, out)? == expected {
        true => Ok(()),
        false => Err(shortened()),
    }
}

fn shortened() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file became shorter while it was copied",
    )
}

/// How many of a range's first bytes are the last of the archive's `total`.
fn overlap(archive: &PackedArchive, total: u64, live: &File, range: Range<u64>) -> Result<u64> {
    let unreadable = || Error::io("read", &archive.path);
    let mut first = Vec::new();
    range_reader(live, range.clone())
        .and_then(|reader| {
            let reader = reader.take(MAX_LINE_BYTES as u64);
            BufReader::new(reader).read_until(b'\n', &mut first)
        })
        .map_err(unreadable())?;
    let mut archived = BufReader::new(archive.reader()?);
    let mut at = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut next = (&mut archived).take(MAX_LINE_BYTES as u64);
        if next.read_until(b'\n', &mut line).map_err(unreadable())? == 0 {
            return Ok(0);
        }
        let shared = total.saturating_sub(at);
        if line == first && shared <= range.end - range.start {
            let mut rest = archive.reader()?;
            let same = io::copy(&mut (&mut rest).take(at), &mut io::sink())
                .and_then(|_| range_reader(live, range.start..range.start + shared))
                .and_then(|mut live| same_bytes(&mut rest, &mut live));
            if same.map_err(unreadable())? {
                return Ok(shared);
            }
        }
        at += line.len() as u64;
    }
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
