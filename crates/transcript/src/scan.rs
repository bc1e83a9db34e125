//! Reading a file's records forwards (all of them) or backwards (as many as needed).
//!
//! Both read the file as it was when the read began: bytes that another
//! program appends meanwhile wait for the next read. Memory is bounded by the
//! longest line.

use std::fs::File;
use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};
use std::ops::{ControlFlow, Range};
use std::path::Path;

use memchr::{memchr, memrchr};

use crate::entry::Place;
use crate::error::{Error, Result};
use crate::fault::{Fault, FaultKind};
use crate::lines::{LineEnd, MAX_LINE_BYTES, Order, Record, Visit, records_of_line};

const FIRST_FORWARD_BUFFER: usize = 16 * 1024;
const FORWARD_BUFFER: usize = 256 * 1024;
const FIRST_BACKWARD_CHUNK: usize = 64 * 1024;
const MAX_BACKWARD_CHUNK: usize = 2 * 1024 * 1024;

/// A part of a file that begins where a line does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) from: Place,
    pub(crate) to: u64,
}

/// Reads every record of `range` in file order. Offsets count from the start
/// of the file; lines are numbered only when the range starts there.
pub(crate) fn forward(
    path: &Path,
    range: Range<u64>,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let file = longhaul_files::open(path)?;
    forward_in(file, path, range, faults, visit)
}

/// Like [`forward`], of a file that is already open.
pub(crate) fn forward_in(
    file: File,
    path: &Path,
    range: Range<u64>,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let from = Place {
        line: u64::from(range.start == 0),
        offset: range.start,
    };
    let to = range.end;
    forward_from(file, path, Stretch { from, to }, faults, visit)?;
    Ok(())
}

/// The same from a place whose line is known, so that lines are numbered.
pub(crate) fn forward_from(
    mut file: File,
    path: &Path,
    range: Stretch,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> Result<Place> {
    let Stretch { from, to } = range;
    let mut line = from.line;
    let range = from.offset..to;
    file.seek(SeekFrom::Start(range.start))
        .map_err(Error::io("read", path))?;
    let mut left = range.end.saturating_sub(range.start);
    // A small file needs a small buffer; one byte more shows where it ends. Who
    // wants one line takes no more than that from a large one.
    let size = usize::try_from(left).unwrap_or(usize::MAX);
    let full = size.saturating_add(1).min(FORWARD_BUFFER);
    let mut buffer = vec![0; full.min(FIRST_FORWARD_BUFFER)];
    let mut filled = 0;
    let mut offset = range.start;
    let mut skipping = 0u64;
    loop {
        if filled == buffer.len() {
            if buffer.len() >= MAX_LINE_BYTES {
                // Too long to hold: remember how much, go on at its end.
                skipping += filled as u64;
                filled = 0;
            } else {
                buffer.resize(buffer.len() * 2, 0);
            }
        }
        let room = (buffer.len() - filled).min(usize::try_from(left).unwrap_or(usize::MAX));
        let read = read_some(&mut file, &mut buffer[filled..filled + room])
            .map_err(Error::io("read", path))?;
        left -= read as u64;
        let searched = filled;
        filled += read;
        let mut start = 0;
        let mut search = searched;
        while let Some(at) = memchr(b'\n', &buffer[search..filled]) {
            let end = search + at;
            let bytes = &buffer[start..end];
            if skipping > 0 {
                faults.push(too_long(line, offset, skipping + bytes.len() as u64));
                offset += skipping;
                skipping = 0;
            } else if records_of_line(
                bytes,
                (LineEnd::Newline, Order::Stored),
                Place { line, offset },
                faults,
                visit,
            )
            .is_break()
            {
                return Ok(Place { line, offset });
            }
            offset += bytes.len() as u64 + 1;
            line += u64::from(line > 0);
            start = end + 1;
            search = start;
        }
        if read == 0 && left > 0 {
            return Err(Error::Changed {
                path: path.to_owned(),
            });
        }
        if read == 0 {
            if skipping > 0 {
                faults.push(too_long(line, offset, skipping + (filled - start) as u64));
            } else {
                let _ = records_of_line(
                    &buffer[start..filled],
                    (LineEnd::EndOfFile, Order::Stored),
                    Place { line, offset },
                    faults,
                    visit,
                );
            }
            return Ok(Place { line, offset });
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        if buffer.len() < full {
            let longer = (buffer.len() * 4).min(full);
            buffer.resize(longer, 0);
        }
        if start > 0 && buffer.len() > 8 * FORWARD_BUFFER && filled < FORWARD_BUFFER {
            buffer.truncate(FORWARD_BUFFER);
            buffer.shrink_to_fit();
        }
    }
}

fn too_long(line: u64, offset: u64, bytes: u64) -> Fault {
    Fault {
        line,
        offset,
        kind: FaultKind::TooLong { bytes },
    }
}

fn read_some(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

/// Reads records of `range` from its end towards its start, until `visit`
/// breaks, several records of one line last first.
pub(crate) fn backward(
    path: &Path,
    range: Range<u64>,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    let file = longhaul_files::open(path)?;
    backward_in(file, path, range, faults, visit)
}

/// Like [`backward`], of a file that is already open.
pub(crate) fn backward_in(
    mut file: File,
    path: &Path,
    range: Range<u64>,
    faults: &mut Vec<Fault>,
    visit: &mut Visit<'_>,
) -> Result<()> {
    // `held` are the bytes of the file from `start` on that are not handed out yet.
    let mut held: Vec<u8> = Vec::new();
    let mut start = range.end;
    let mut chunk = FIRST_BACKWARD_CHUNK;
    let mut end = LineEnd::EndOfFile;
    loop {
        while let Some(at) = memrchr(b'\n', &held) {
            let place = Place {
                line: 0,
                offset: start + at as u64 + 1,
            };
            let flow = records_of_line(
                &held[at + 1..],
                (end, Order::Reversed),
                place,
                faults,
                visit,
            );
            held.truncate(at);
            end = LineEnd::Newline;
            if flow.is_break() {
                return Ok(());
            }
        }
        if start <= range.start {
            let place = Place {
                line: u64::from(range.start == 0),
                offset: start,
            };
            let _ = records_of_line(&held, (end, Order::Reversed), place, faults, visit);
            return Ok(());
        }
        // A line longer than the chunk doubles it, so that joining the pieces
        // stays linear in the length of the line.
        let want = chunk.max(held.len()) as u64;
        let size = want.min(start - range.start) as usize;
        chunk = (chunk * 2).min(MAX_BACKWARD_CHUNK);
        start -= size as u64;
        let mut bytes = Vec::with_capacity(size + held.len());
        file.seek(SeekFrom::Start(start))
            .map_err(Error::io("read", path))?;
        bytes.resize(size, 0);
        file.read_exact(&mut bytes).map_err(cut_short(path))?;
        bytes.extend_from_slice(&held);
        held = bytes;
    }
}

/// An error of reading what was there when the file was opened.
pub(crate) fn cut_short(path: &Path) -> impl Fn(io::Error) -> Error + '_ {
    move |error| match error.kind() {
        ErrorKind::UnexpectedEof => Error::Changed {
            path: path.to_owned(),
        },
        _ => Error::io("read", path)(error),
    }
}

/// Where the first whole line starts of the last `max_bytes` of a file.
pub(crate) fn tail_start(path: &Path, size: u64, max_bytes: u64) -> Result<u64> {
    let Some(before) = size.checked_sub(max_bytes.saturating_add(1)) else {
        return Ok(0);
    };
    let mut file = longhaul_files::open(path)?;
    let mut find = || -> io::Result<u64> {
        file.seek(SeekFrom::Start(before))?;
        let mut skipped = Vec::new();
        io::BufReader::new(&file).read_until(b'\n', &mut skipped)?;
        Ok(before + skipped.len() as u64)
    };
    find().map_err(Error::io("read", path))
}

/// Where the last whole line ends of the first `size` bytes of a file.
pub(crate) fn lines_end(file: &mut File, size: u64) -> io::Result<u64> {
    let mut end = size;
    let mut bytes = vec![0; 4096];
    while end > 0 {
        let start = end.saturating_sub(bytes.len() as u64);
        let part = &mut bytes[..(end - start) as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(part)?;
        if let Some(at) = memrchr(b'\n', part) {
            return Ok(start + at as u64 + 1);
        }
        end = start;
        let longer = (bytes.len() * 2).min(MAX_BACKWARD_CHUNK);
        bytes.resize(longer, 0);
    }
    Ok(0)
}

/// Calls `visit` with the record at `offset` (the first one of its line that
/// satisfies it); the line must end within `limit`.
pub(crate) fn record_at(
    file: File,
    path: &Path,
    offset: u64,
    limit: u64,
    visit: &mut dyn FnMut(Record<'_>) -> bool,
) -> Result<bool> {
    let mut found = false;
    let mut first = true;
    forward_in(file, path, offset..limit, &mut Vec::new(), &mut |record| {
        if !first && record.place.offset != offset {
            return ControlFlow::Break(());
        }
        first = false;
        found = visit(record);
        if found {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn write(text: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn ids(path: &Path, size: u64, back: bool) -> Vec<(String, u64)> {
        let mut ids = Vec::new();
        let mut visit = |record: Record<'_>| {
            ids.push((
                record.object.str("id").unwrap().into_owned(),
                record.place.offset,
            ));
            ControlFlow::Continue(())
        };
        let read = if back { backward } else { forward };
        read(path, 0..size, &mut Vec::new(), &mut visit).unwrap();
        ids
    }

    #[test]
    fn backwards_is_forwards_reversed() {
        let mut text = String::new();
        for n in 0..3000 {
            let pad = "x".repeat(n * 7 % 913);
            text.push_str(&format!(
                "{{\"type\":\"custom\",\"id\":\"{n}\",\"pad\":\"{pad}\"}}\r\n"
            ));
        }
        // One line much longer than a chunk, and no newline at the end.
        text.push_str(&format!(
            "{{\"id\":\"long\",\"pad\":\"{}\"}}\n",
            "y".repeat(900_000)
        ));
        text.push_str("{\"id\":\"last\"}");
        let file = write(text.as_bytes());
        let mut forwards = ids(file.path(), text.len() as u64, false);
        let backwards = ids(file.path(), text.len() as u64, true);
        forwards.reverse();
        assert_eq!(forwards.len(), 3002);
        assert_eq!(forwards, backwards);
    }

    #[test]
    fn bytes_added_after_the_read_began_are_not_seen() {
        let file = write(b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
        assert_eq!(ids(file.path(), 11, false).len(), 1);
        assert_eq!(ids(file.path(), 11, true).len(), 1);
    }
}
