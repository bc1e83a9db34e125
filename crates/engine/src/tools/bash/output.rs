//! The output of a command: a beginning and an end in memory, all of it in a file.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use super::BashSettings;

/// The output, as it comes.
pub(super) struct Output {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_bytes: usize,
    tail_bytes: usize,
    total: u64,
    /// Everything, until it is clear that a file is needed.
    spill: Spill,
    kept_bytes: u64,
    closed: bool,
}

enum Spill {
    /// Not needed yet; where it would be.
    Memory(PathBuf),
    File {
        file: File,
        path: PathBuf,
        written: u64,
    },
    Failed(String),
}

/// The output, complete.
pub(super) struct Closed {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes that the command wrote.
    pub(super) total: u64,
    /// Where all of them are, if they are not shown.
    pub(super) file: Option<PathBuf>,
    written: u64,
    problem: Option<String>,
}

impl Output {
    pub(super) fn new(settings: &BashSettings, mark: &str) -> Output {
        let name: String = mark
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let head_bytes = settings.shown_bytes / 3;
        Output {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_bytes,
            tail_bytes: settings.shown_bytes - head_bytes,
            total: 0,
            spill: Spill::Memory(settings.outputs.join(format!("{name}.txt"))),
            kept_bytes: settings.kept_bytes,
            closed: false,
        }
    }

    /// Takes more output; false once nobody wants any.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        if self.closed {
            return false;
        }
        self.total += bytes.len() as u64;
        let shown = (self.head_bytes + self.tail_bytes) as u64;
        if self.total > shown {
            self.open_file();
            self.keep(bytes);
        }
        let begins = bytes.len().min(self.head_bytes - self.head.len());
        let (head, rest) = bytes.split_at(begins);
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(self.tail_bytes);
        self.tail.drain(..surplus);
        true
    }

    /// Makes the file when the output has just outgrown memory, with what is
    /// there so far.
    fn open_file(&mut self) {
        let Spill::Memory(path) = &self.spill else {
            return;
        };
        let path = path.clone();
        let opened = longhaul_files::create_folder(path.parent().unwrap_or(&path))
            .and_then(|()| longhaul_files::create(&path, b""));
        self.spill = match opened {
            Ok(file) => Spill::File {
                file,
                path,
                written: 0,
            },
            Err(error) => Spill::Failed(error.to_string()),
        };
        let so_far: Vec<u8> = self.head.iter().chain(&self.tail).copied().collect();
        self.keep(&so_far);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Spill::File {
            file,
            path,
            written,
        } = &mut self.spill
        else {
            return;
        };
        let room = usize::try_from(self.kept_bytes - *written).unwrap_or(usize::MAX);
        let bytes = &bytes[..bytes.len().min(room)];
        match file.write_all(bytes) {
            Ok(()) => *written += bytes.len() as u64,
            Err(error) => self.spill = Spill::Failed(format!("{}: {error}", path.display())),
        }
    }

    /// Ends it: what comes later is not wanted.
    pub(super) fn close(&mut self) -> Closed {
        self.closed = true;
        let (file, written, problem) =
            match std::mem::replace(&mut self.spill, Spill::Failed(String::new())) {
                Spill::Memory(_) => (None, 0, None),
                Spill::File { path, written, .. } => (Some(path), written, None),
                Spill::Failed(problem) => (None, 0, Some(problem)),
            };
        Closed {
            head: std::mem::take(&mut self.head),
            tail: std::mem::take(&mut self.tail).into(),
            total: self.total,
            file,
            written,
            problem,
        }
    }
}

impl Closed {
    fn is_cut(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// What the model sees.
    pub(super) fn shown(&self, most: usize) -> Option<Vec<u8>> {
        if self.total == 0 {
            return None;
        }
        let mut shown = self.head.clone();
        if self.is_cut() {
            // Whole lines on either side, where there are any.
            if let Some(at) = memchr::memrchr(b'\n', &shown) {
                shown.truncate(at);
            }
            let from = memchr::memchr(b'\n', &self.tail).map_or(0, |at| at + 1);
            let tail = &self.tail[from.min(self.tail.len())..];
            let left_out = self.total - (shown.len() + tail.len()) as u64;
            shown.extend_from_slice(format!("\n\n[… {left_out} bytes left out …]\n\n").as_bytes());
            shown.extend_from_slice(tail);
        } else {
            shown.extend_from_slice(&self.tail);
        }
        shown.truncate(most + 200);
        Some(shown)
    }

    /// Where the rest is.
    pub(super) fn notice(&self) -> Option<String> {
        if !self.is_cut() {
            return None;
        }
        Some(match (&self.file, &self.problem) {
            (Some(file), _) if self.written < self.total => format!(
                "[Showing the beginning and the end of {} bytes. The first {} bytes are in: {}]",
                self.total,
                self.written,
                file.display()
            ),
            (Some(file), _) => format!(
                "[Showing the beginning and the end of {} bytes. Full output: {}]",
                self.total,
                file.display()
            ),
            (None, problem) => format!(
                "[Showing the beginning and the end of {} bytes. The rest could not be kept: {}]",
                self.total,
                problem.as_deref().unwrap_or_default()
            ),
        })
    }
}

/// Output as a person would see it: no escape sequences, of a line that was
/// written over only what stayed, and nothing that is not UTF-8.
pub(super) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut line = 0;
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // CSI: parameters, then one letter.
                Some('[') => {
                    for c in chars.by_ref() {
                        if ('\u{40}'..='\u{7e}').contains(&c) {
                            break;
                        }
                    }
                }
                // OSC and the like: up to BEL or ESC \.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' {
                            break;
                        }
                        if c == '\u{1b}' {
                            chars.next_if_eq(&'\\');
                            break;
                        }
                    }
                }
                _ => {}
            },
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' if chars.peek().is_none() => {}
            '\r' => out.truncate(line),
            '\n' => {
                out.push('\n');
                line = out.len();
            }
            '\t' => out.push('\t'),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
