//! The chain: a running hash over the lines of a session, by which it is found
//! that an entry was altered, taken out, put in or moved.
//!
//! The hash after a line is that of the hash before it and of the line's bytes.
//! It begins empty behind the header and goes on from the archive into the live
//! file, so that archiving and restoring change nothing about it. A *mark* is
//! an entry of ours with a field `proof`: the hash of every line before it, and
//! the session it is about, since other programs copy entries into sessions of
//! their own. Marks are compactions (in `details`) and turns (in `data`), where
//! no other reader looks. To write the next one nothing is read but what others
//! appended; a process that begins reads back to the last one.

use std::io::{self, BufRead, BufReader, Read};

use memchr::memmem;

use crate::entry::EntryId;
use crate::json::{Object, ObjectWriter, with_field};
use crate::lines::MAX_LINE_BYTES;

/// The field of a mark.
const PROOF: &str = "proof";
/// What our own entries call themselves begins with this.
const OURS: &str = "longhaul:";
const BUFFER: usize = 256 * 1024;

/// The hash over the lines of a session so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    session: String,
    hash: blake3::Hash,
}

impl Chain {
    /// That of a session with this id, at its beginning.
    pub fn of(session: &str) -> Chain {
        Chain {
            session: session.to_owned(),
            hash: blake3::Hash::from_bytes([0; blake3::OUT_LEN]),
        }
    }

    /// Takes in the next line, without its newline.
    pub(crate) fn observe(&mut self, line: &[u8]) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.hash.as_bytes()).update(line);
        self.hash = hasher.finalize();
    }

    /// Takes in every line of a reader.
    pub(crate) fn observe_all(&mut self, lines: impl Read) -> io::Result<()> {
        each_line(lines, &mut |line| self.observe(line))
    }

    /// A line written again in another file, taken in: a mark gets the hash of
    /// its new place.
    pub fn copy(&mut self, line: String) -> String {
        self.seal(line, Kind::Other)
    }

    /// A line of ours as it is stored at this point, taken in.
    pub(crate) fn seal(&mut self, line: String, kind: Kind) -> String {
        let sealed = self.marked(&line, kind).unwrap_or(line);
        self.observe(sealed.as_bytes());
        sealed
    }

    fn marked(&self, line: &str, kind: Kind) -> Option<String> {
        if kind == Kind::Other && !may_be_mark(line.as_bytes()) {
            return None;
        }
        let object = Object::parse(line).ok()?;
        let holder = holder(&object)?;
        let held = match object.has(holder) {
            true => object.object(holder)?,
            false => Object::default(),
        };
        if kind == Kind::Other && !has_proof(&held) {
            return None;
        }
        let proof = ObjectWriter::new()
            .str("session", &self.session)
            .str("hash", self.hash.to_hex().as_str())
            .finish();
        let held = with_field(&held, PROOF, &proof);
        Some(with_field(&object, holder, &held))
    }

    /// The mark of this session that a line is.
    pub(crate) fn mark(&self, line: &[u8]) -> Option<Mark> {
        if !may_be_mark(line) {
            return None;
        }
        let object = Object::parse_bytes(line.trim_ascii()).ok()?;
        let held = object.object(holder(&object)?)?;
        let proof = held.object(PROOF)?;
        if proof.str("session")? != self.session {
            return None;
        }
        Some(Mark {
            entry: EntryId::new(object.str("id")?.into_owned()),
            hash: blake3::Hash::from_hex(proof.str("hash")?.as_bytes()).ok()?,
        })
    }

    /// Goes on from a mark that stands next.
    pub(crate) fn resume(&mut self, mark: &Mark) {
        self.hash = mark.hash;
    }
}

/// Whether a line becomes a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Mark,
    /// Only if it was one elsewhere, or asks to be one.
    Other,
}

/// A mark as it is stored.
pub(crate) struct Mark {
    pub(crate) entry: EntryId,
    /// That of every line before it.
    hash: blake3::Hash,
}

/// Whether the data of an entry asks for the hash.
pub(crate) fn asks(data: &str) -> bool {
    may_be_mark(data.as_bytes()) && Object::parse(data).is_ok_and(|data| has_proof(&data))
}

/// Whether the field is ours: others may have one of that name.
fn has_proof(held: &Object<'_>) -> bool {
    match held.raw(PROOF) {
        Some("null") => true,
        Some(_) => held
            .object(PROOF)
            .is_some_and(|proof| proof.has("session") && proof.has("hash")),
        None => false,
    }
}

pub(crate) fn may_be_mark(line: &[u8]) -> bool {
    memmem::find(line, b"\"proof\":").is_some()
}

/// Where an entry of ours keeps what no other reader looks at.
fn holder(object: &Object<'_>) -> Option<&'static str> {
    match object.str("type").as_deref() {
        Some("compaction") => Some("details"),
        Some("custom") => {
            let ours = object.str("customType")?.starts_with(OURS);
            ours.then_some("data")
        }
        _ => None,
    }
}

/// Every line of a reader, without its newline.
pub(crate) fn each_line(lines: impl Read, visit: &mut dyn FnMut(&[u8])) -> io::Result<()> {
    let mut reader = BufReader::with_capacity(BUFFER, lines);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut next = (&mut reader).take(MAX_LINE_BYTES as u64);
        if next.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        visit(line.strip_suffix(b"\n").unwrap_or(&line));
    }
}

/// Checks the marks of a session, line by line.
pub(crate) struct Proving {
    chain: Chain,
    /// The line where the stretch before the next mark begins.
    first: Option<At>,
    /// The last mark.
    after: Option<EntryId>,
    /// Marks whose hash is the right one.
    pub(crate) proven: u64,
    /// Lines from the last mark on, which no other one covers.
    pub(crate) uncovered: u64,
    pub(crate) broken: Vec<Broken>,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) archived: bool,
    pub(crate) line: u64,
    pub(crate) offset: u64,
}

/// A stretch of lines that is not what it was.
pub(crate) struct Broken {
    pub(crate) first: At,
    pub(crate) mark_at: At,
    pub(crate) after: Option<EntryId>,
    pub(crate) mark: EntryId,
}

impl Proving {
    pub(crate) fn of(session: &str) -> Proving {
        Proving {
            chain: Chain::of(session),
            first: None,
            after: None,
            proven: 0,
            uncovered: 0,
            broken: Vec::new(),
        }
    }

    pub(crate) fn observe(&mut self, line: &[u8], at: At) {
        let first = *self.first.get_or_insert(at);
        if let Some(mark) = self.chain.mark(line) {
            if mark.hash == self.chain.hash {
                self.proven += 1;
            } else {
                self.broken.push(Broken {
                    first,
                    mark_at: at,
                    after: self.after.take(),
                    mark: mark.entry.clone(),
                });
                // What comes after it is looked at by itself.
                self.chain.resume(&mark);
            }
            self.first = Some(at);
            self.after = Some(mark.entry);
            self.uncovered = 0;
        }
        self.uncovered += 1;
        self.chain.observe(line);
    }
}
