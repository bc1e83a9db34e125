//! Reading: every byte this crate takes from the disk comes through here, bounded
//! and checked, and an unchanged file is not read twice.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::Problem;

/// Larger files are kept by their ends only.
const WHOLE_BYTES: u64 = 1 << 20;
/// Still larger ones are not even counted through.
const COUNTED_BYTES: u64 = 64 << 20;
/// What is kept of each end; a limit beyond it shows no more of such a file.
const END_BYTES: usize = 256 << 10;
/// A change so soon before a read may leave the same time stamp as the next one.
const SETTLED: Duration = Duration::from_secs(2);
/// More files than any workspace has; a bound, not a policy.
const MOST_FILES: usize = 4_096;

/// The text of a file, or of both its ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// All of it, or its beginning.
    pub(crate) head: String,
    /// Its end, where the middle was not kept.
    pub(crate) tail: Option<String>,
    /// How many characters it has in all, if that is known.
    pub(crate) chars: Option<u64>,
    /// How many bytes.
    pub(crate) bytes: u64,
    /// Whether something had to be replaced.
    pub(crate) lossy: bool,
}

/// Which version of a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    bytes: u64,
    modified: Option<SystemTime>,
    /// Inode and change time, where the system has them: a rename into place or
    /// a reset clock shows there.
    identity: (u64, i64, i64),
}

#[derive(Debug)]
struct Known {
    version: Version,
    read_at: SystemTime,
    content: Arc<Content>,
}

/// Files read before, so that an unchanged one costs a look at its time stamp.
///
/// Keep one for the life of a session and hand it to every
/// [`Workspace::load`](crate::Workspace::load) and
/// [`Skills::load`](crate::Skills::load).
#[derive(Debug, Default)]
pub struct FileCache {
    known: HashMap<PathBuf, Known>,
    reads: u64,
}

impl FileCache {
    /// An empty one.
    pub fn new() -> FileCache {
        FileCache::default()
    }

    /// How many files had to be read so far.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Reads `path` ahead and says which text it has, by its hash; nothing if
    /// there is no such file. It must not lead out of the resolved folder
    /// `inside`.
    pub fn warm(
        &mut self,
        path: &Path,
        inside: &Path,
        now: SystemTime,
    ) -> Result<Option<String>, Problem> {
        let found = self.read(&inside.join(path), Some(inside), now)?;
        Ok(found.map(|found| {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&found.content.bytes.to_le_bytes());
            hasher.update(found.content.head.as_bytes());
            hasher.update(found.content.tail.as_deref().unwrap_or_default().as_bytes());
            hasher.finalize().to_hex().to_string()
        }))
    }

    /// The content of `path`, or nothing if there is no such file. With
    /// `inside`, a resolved folder that the file must not lead out of.
    pub(crate) fn read(
        &mut self,
        path: &Path,
        inside: Option<&Path>,
        now: SystemTime,
    ) -> Result<Option<Found>, Problem> {
        let Some((real, metadata)) = locate(path, inside)? else {
            return Ok(None);
        };
        let version = Version::of(&metadata);
        if let Some(known) = self.known.get(&real)
            && known.version == version
            && known.is_settled()
        {
            let content = Arc::clone(&known.content);
            return Ok(Some(Found { real, content }));
        }
        self.reads += 1;
        let content =
            fetch(&real, version.bytes).map_err(|error| unread(path, version.bytes, &error))?;
        let content = Arc::new(content);
        if self.known.len() >= MOST_FILES {
            self.known.clear();
        }
        self.known.insert(
            real.clone(),
            Known {
                version,
                read_at: now,
                content: Arc::clone(&content),
            },
        );
        Ok(Some(Found { real, content }))
    }
}

/// A file that was there.
#[derive(Debug)]
pub(crate) struct Found {
    /// Where it really is.
    pub(crate) real: PathBuf,
    pub(crate) content: Arc<Content>,
}

impl Known {
    fn is_settled(&self) -> bool {
        self.version
            .modified
            .is_some_and(|modified| modified + SETTLED < self.read_at)
    }
}

impl Version {
    fn of(metadata: &Metadata) -> Version {
        use std::os::unix::fs::MetadataExt;
        Version {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: (metadata.ino(), metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

/// The last lines of a file that grows, from about `most` bytes, and whether that
/// is all of it; nothing if there is no such file.
pub(crate) fn last_lines(
    path: &Path,
    inside: &Path,
    most: u64,
) -> Result<Option<(String, bool)>, Problem> {
    let Some((real, metadata)) = locate(path, Some(inside))? else {
        return Ok(None);
    };
    let bytes = metadata.len();
    let end = || -> io::Result<String> {
        let mut file = longhaul_files::open(&real).map_err(longhaul_files::Error::into_io)?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(most)))?;
        let mut raw = Vec::new();
        file.take(most).read_to_end(&mut raw)?;
        let whole = match bytes > most {
            true => memchr::memchr(b'\n', &raw).map_or(raw.len(), |at| at + 1),
            false => 0,
        };
        Ok(text(&raw[whole..])?.0)
    };
    let end = end().map_err(|error| unread(path, bytes, &error))?;
    Ok(Some((end, bytes <= most)))
}

/// A file where it really is; nothing if there is none.
fn locate(path: &Path, inside: Option<&Path>) -> Result<Option<(PathBuf, Metadata)>, Problem> {
    let Some(real) = resolve(path)? else {
        return Ok(None);
    };
    if let Some(folder) = inside
        && !real.starts_with(folder)
    {
        return Err(Problem::Outside {
            path: path.to_owned(),
            target: real,
        });
    }
    let metadata = fs::metadata(&real).map_err(|error| Problem::unreadable(path, &error))?;
    // Opening a pipe would wait for its writer.
    if !metadata.is_file() {
        return Err(Problem::NotAFile {
            path: path.to_owned(),
        });
    }
    Ok(Some((real, metadata)))
}

fn unread(path: &Path, bytes: u64, error: &io::Error) -> Problem {
    match error.kind() {
        io::ErrorKind::InvalidData => Problem::NotText {
            path: path.to_owned(),
            bytes,
        },
        _ => Problem::unreadable(path, error),
    }
}

/// The path with its links followed; nothing if nothing is there. A link to
/// nowhere is something.
fn resolve(path: &Path) -> Result<Option<PathBuf>, Problem> {
    match fs::canonicalize(path) {
        Ok(real) => Ok(Some(real)),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) && fs::symlink_metadata(path).is_err() =>
        {
            Ok(None)
        }
        Err(error) => Err(Problem::unreadable(path, &error)),
    }
}

fn fetch(path: &Path, bytes: u64) -> io::Result<Content> {
    let mut file = longhaul_files::open(path).map_err(longhaul_files::Error::into_io)?;
    if bytes <= WHOLE_BYTES {
        let mut raw = Vec::new();
        // The file may grow meanwhile.
        file.take(WHOLE_BYTES).read_to_end(&mut raw)?;
        let (head, lossy) = text(&raw)?;
        return Ok(Content {
            chars: Some(head.chars().count() as u64),
            head,
            tail: None,
            bytes,
            lossy,
        });
    }
    let (head, tail, chars) = if bytes <= COUNTED_BYTES {
        ends_by_reading(&mut file, bytes)?
    } else {
        ends_by_seeking(&mut file)?
    };
    let head = match std::str::from_utf8(&head) {
        Err(error) if error.error_len().is_none() => &head[..error.valid_up_to()],
        _ => &head[..],
    };
    let partial = tail.iter().take(3).take_while(|b| is_continuation(**b));
    let skip = partial.count();
    let ((head, first), (tail, last)) = (text(head)?, text(&tail[skip..])?);
    Ok(Content {
        head,
        tail: Some(tail),
        chars,
        bytes,
        lossy: first || last,
    })
}

type Ends = (Vec<u8>, Vec<u8>, Option<u64>);

fn ends_by_reading(file: &mut File, bytes: u64) -> io::Result<Ends> {
    let mut head = Vec::with_capacity(END_BYTES);
    file.take(END_BYTES as u64).read_to_end(&mut head)?;
    let mut chars = count(&head);
    let (mut tail, mut buffer) = (Vec::with_capacity(2 * END_BYTES), vec![0; END_BYTES]);
    let mut left = bytes.saturating_sub(head.len() as u64);
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(END_BYTES).min(END_BYTES);
        let read = file.read(&mut buffer[..most])?;
        if read == 0 {
            break;
        }
        left -= read as u64;
        chars += count(&buffer[..read]);
        tail.extend_from_slice(&buffer[..read]);
        let surplus = tail.len().saturating_sub(END_BYTES);
        tail.drain(..surplus);
    }
    Ok((head, tail, Some(chars)))
}

fn ends_by_seeking(file: &mut File) -> io::Result<Ends> {
    let (mut head, mut tail) = (Vec::new(), Vec::new());
    file.take(END_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::End(-(END_BYTES as i64)))?;
    file.take(END_BYTES as u64).read_to_end(&mut tail)?;
    Ok((head, tail, None))
}

fn count(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| !is_continuation(**b)).count() as u64
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Text without a byte order mark, and whether something was replaced. A NUL
/// means that it is none.
fn text(raw: &[u8]) -> io::Result<(String, bool)> {
    if memchr::memchr(0, raw).is_some() {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let raw = raw.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(raw);
    Ok(match std::str::from_utf8(raw) {
        Ok(text) => (text.to_owned(), false),
        Err(_) => (String::from_utf8_lossy(raw).into_owned(), true),
    })
}
