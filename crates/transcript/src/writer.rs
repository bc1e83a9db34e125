//! Appending to a session: one write an entry, under a lock, never in place.
//!
//! Two processes may append to one file: each takes the lock, looks whether
//! the file grew since, and hangs its entry on the leaf that is there now. A
//! half line left by a crash is set aside in `<file>.torn` before the next
//! entry is written, so that its bytes are neither lost nor in the way.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use longhaul_files::{Sharing, Wait};

use crate::archive;
use crate::chain::{Chain, Kind};
use crate::draft::{Draft, Stamp};
use crate::entry::EntryId;
use crate::error::{Error, Result};
use crate::header::Header;
use crate::layout::Dialect;
use crate::lines::holds_record;
use crate::native::Native;

/// When written entries are forced to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// After every entry.
    Always,
    /// At the end of a turn.
    #[default]
    Turn,
    /// When the operating system sees fit.
    Os,
}

/// How long a writer waits for another one's lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// The first version of the format whose sessions get hashes: pi writes every
/// line of an older one anew when it opens it.
const FIRST_MARKED: u32 = 3;

/// A session opened for appending.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    header: Header,
    durability: Durability,
    /// The file's size when the leaf was last known.
    size: u64,
    leaf: Option<EntryId>,
    /// Where the next entry goes, if not on the leaf.
    branch: Option<Option<EntryId>>,
    unsynced: bool,
    ends_with_newline: bool,
    /// The hash over the lines before an offset, once it was asked for.
    chain: Option<(Chain, u64)>,
}

impl Writer {
    /// Starts a new session; the file must not exist.
    pub fn create(path: &Path, header: &Header, durability: Durability) -> Result<Writer> {
        let line = format!("{}\n", header.to_line());
        let file = longhaul_files::create(path, line.as_bytes())?;
        Ok(Writer {
            path: path.to_owned(),
            file,
            header: Header {
                version: 3,
                ..header.clone()
            },
            durability,
            size: line.len() as u64,
            leaf: None,
            branch: None,
            unsynced: false,
            ends_with_newline: true,
            chain: Some((Chain::of(&header.id), line.len() as u64)),
        })
    }

    /// Opens a session for appending. Reads its end, writes nothing.
    pub fn open(path: &Path, durability: Durability) -> Result<Writer> {
        let mut writer = Writer {
            path: path.to_owned(),
            file: longhaul_files::append(path)?,
            header: Header::default(),
            durability,
            size: 0,
            leaf: None,
            branch: None,
            unsynced: false,
            ends_with_newline: true,
            chain: None,
        };
        // Under the lock, since the file may be replaced (archived) at any moment.
        writer.locked(|writer| {
            writer.header = Native::open(path)?.header;
            match Dialect::of(&writer.header) {
                Dialect::Linear => Err(Error::refused(
                    "append to",
                    path,
                    "version 1 and flat sessions have no entry ids; `longhaul session import` \
                     makes a current copy",
                )),
                _ => writer.catch_up(),
            }
        })?;
        Ok(writer)
    }

    /// The session's header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The entry the next one will follow.
    pub fn parent(&self) -> Option<&EntryId> {
        match &self.branch {
            Some(branch) => branch.as_ref(),
            None => self.leaf.as_ref(),
        }
    }

    /// Lets the next entry follow another one than the leaf; `None` starts a
    /// new root.
    pub fn branch(&mut self, at: Option<EntryId>) {
        self.branch = Some(at);
    }

    /// Appends one entry.
    pub fn append(&mut self, draft: &Draft, stamp: Stamp) -> Result<EntryId> {
        let mut ids = self.append_all(&[(draft.clone(), stamp)])?;
        Ok(ids.pop().expect("one draft gives one id"))
    }

    /// Appends entries that follow one another, in one write.
    pub fn append_all(&mut self, drafts: &[(Draft, Stamp)]) -> Result<Vec<EntryId>> {
        self.locked(|writer| {
            writer.catch_up()?;
            writer.write(drafts)
        })
    }

    /// Ends a turn: what was appended is on the disk when this returns, unless
    /// durability is left to the operating system.
    pub fn end_turn(&mut self) -> Result<()> {
        if self.unsynced && self.durability != Durability::Os {
            self.sync()?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.file
            .sync_data()
            .map_err(Error::io("write", &self.path))?;
        self.unsynced = false;
        Ok(())
    }

    fn write(&mut self, drafts: &[(Draft, Stamp)]) -> Result<Vec<EntryId>> {
        let mut text = String::new();
        if !self.ends_with_newline {
            text.push('\n');
        }
        let mut parent = self.parent().cloned();
        let wanted = self.chain.is_some() || drafts.iter().any(|(draft, _)| draft.is_mark());
        let mut chain = match wanted && self.header.version >= FIRST_MARKED {
            true => Some(self.chain_at_end()?),
            false => None,
        };
        for (draft, stamp) in drafts {
            let mut line = draft.to_line(stamp, parent.as_ref());
            if let Some(chain) = &mut chain {
                let kind = match draft {
                    Draft::Compaction { .. } => Kind::Mark,
                    _ => Kind::Other,
                };
                line = chain.seal(line, kind);
            }
            text.push_str(&line);
            text.push('\n');
            parent = Some(stamp.id.clone());
        }
        let written = self.file.write_all(text.as_bytes()).and_then(|()| {
            if self.durability == Durability::Always {
                self.file.sync_data()
            } else {
                Ok(())
            }
        });
        if let Err(source) = written {
            // We hold the lock, so what stands after the old end is ours alone.
            let _ = self.file.set_len(self.size);
            return Err(Error::io("write", &self.path)(source));
        }
        self.unsynced |= self.durability != Durability::Always;
        self.size += text.len() as u64;
        if let Some(chain) = chain {
            self.chain = Some((chain, self.size));
        }
        self.leaf = parent;
        self.branch = None;
        self.ends_with_newline = true;
        Ok(drafts.iter().map(|(_, stamp)| stamp.id.clone()).collect())
    }

    /// The hash over every line of the file. What we wrote ourselves is in it
    /// already; at first it is read from the last mark on.
    fn chain_at_end(&self) -> Result<Chain> {
        let (mut chain, at) = match &self.chain {
            Some((chain, at)) if *at <= self.size => (chain.clone(), *at),
            _ => archive::last_mark(&self.path, &self.header.id, self.size)?,
        };
        let lines = archive::range_reader(&self.file, at..self.size);
        lines
            .and_then(|lines| chain.observe_all(lines))
            .map_err(Error::io("read", &self.path))?;
        Ok(chain)
    }

    /// Runs `work` under the lock, on the file that the path names now.
    fn locked<T>(&mut self, work: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        loop {
            lock(&self.file, &self.path)?;
            if longhaul_files::same_file(&self.file, &self.path)? {
                break;
            }
            // The file was replaced (archived) while we waited.
            self.file = longhaul_files::append(&self.path)?;
            self.size = 0;
            self.chain = None;
        }
        let result = work(self);
        let _ = self.file.unlock();
        result
    }

    /// Learns what other writers appended, and sets a torn tail aside.
    fn catch_up(&mut self) -> Result<()> {
        let size = self
            .file
            .metadata()
            .map_err(Error::io("read", &self.path))?
            .len();
        if size == self.size {
            return Ok(());
        }
        self.size = size;
        self.heal()?;
        self.leaf = Native::open(&self.path)?.leaf()?;
        Ok(())
    }

    fn heal(&mut self) -> Result<()> {
        let (start, line) =
            last_line(&mut self.file, self.size).map_err(Error::io("read", &self.path))?;
        self.ends_with_newline = line.is_empty();
        if line.is_empty() || holds_record(&line) {
            return Ok(());
        }
        set_aside(&torn_path(&self.path), &line)?;
        self.file
            .set_len(start)
            .and_then(|()| self.file.sync_data())
            .map_err(Error::io("write", &self.path))?;
        self.size = start;
        self.ends_with_newline = true;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.end_turn();
    }
}

/// Where half lines are kept.
pub fn torn_path(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".torn");
    path.with_file_name(name)
}

/// Takes the exclusive lock, waiting a while for another writer.
pub(crate) fn lock(file: &File, path: &Path) -> Result<()> {
    let wait = Wait::For(PATIENCE);
    Ok(longhaul_files::lock(file, path, Sharing::Alone, wait)?)
}

/// The bytes after the last newline and where they start.
fn last_line(file: &mut File, size: u64) -> io::Result<(u64, Vec<u8>)> {
    let mut start = size;
    let mut held: Vec<u8> = Vec::new();
    let mut chunk = 4096u64;
    while start > 0 {
        let take = chunk.min(start);
        start -= take;
        let mut bytes = vec![0; take as usize];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        if let Some(at) = memchr::memrchr(b'\n', &bytes) {
            let mut line = bytes.split_off(at + 1);
            line.extend_from_slice(&held);
            return Ok((start + at as u64 + 1, line));
        }
        bytes.extend_from_slice(&held);
        held = bytes;
        chunk = (chunk * 2).min(1 << 24);
    }
    Ok((0, held))
}

fn set_aside(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = longhaul_files::append_or_create(path)?;
    file.write_all(bytes)
        .and_then(|()| file.write_all(b"\n"))
        .and_then(|()| file.sync_all())
        .map_err(Error::io("write", path))
}
