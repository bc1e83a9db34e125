//! The workspace: the folder an agent works in, and the files there that open
//! every system prompt.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use longhaul_tokens::{Tokens, Window, settings};
use serde::Serialize;

use crate::files::{Content, FileCache};
use crate::globs;
use crate::shorten::{Shape, shorten};
use crate::{Error, Problem, Result};

/// The files, in the order of the prompt. `CLAUDE.md` counts only where there is
/// no `AGENTS.md`.
const FILES: [(&str, FileKind); 6] = [
    ("AGENTS.md", FileKind::Rules),
    ("CLAUDE.md", FileKind::Rules),
    ("SOUL.md", FileKind::Identity),
    ("IDENTITY.md", FileKind::Identity),
    ("USER.md", FileKind::Identity),
    ("MEMORY.md", FileKind::Memory),
];

settings! {
    /// Files of the workspace that open every system prompt.
    pub struct BootstrapLimits {
        /// Characters kept of each file.
        max_chars: u32 [min = 1] = 20_000,
        /// Characters kept of all files together.
        total_max_chars: u32 [min = 1] = 60_000,
        /// Share of a file's limit kept from its beginning, in percent.
        head_percent: f64 [min = 0, max = 100] = 70.0,
        /// Share of a file's limit kept from its end, in percent.
        tail_percent: f64 [min = 0, max = 100] = 20.0,
        /// Further files, as globs in the workspace.
        extra_files: Vec<String> = Vec::new(),
    }
}

impl BootstrapLimits {
    /// The same for a small window, where 60,000 characters would leave no room
    /// for anything else: in proportion to 200,000 tokens, never larger.
    pub fn scaled_to(mut self, window: &Window) -> BootstrapLimits {
        let scaled = |chars: u32| window.scaled(Tokens(chars)).0.max(1);
        self.max_chars = scaled(self.max_chars);
        self.total_max_chars = scaled(self.total_max_chars);
        self
    }
}

/// What a file of the workspace is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileKind {
    /// How to work here: `AGENTS.md`, `CLAUDE.md`.
    Rules,
    /// Who the agent and the user are.
    Identity,
    /// `MEMORY.md`.
    Memory,
    /// Named by configuration.
    Extra,
}

/// A file as the prompt shows it.
#[derive(Debug, Clone)]
pub struct BootstrapFile {
    /// Its path in the workspace, with `/`.
    pub name: String,
    /// What it is about.
    pub kind: FileKind,
    /// Characters in the middle that are not shown.
    pub left_out: u64,
    pub(crate) body: Arc<str>,
    pub(crate) content: Arc<Content>,
}

impl BootstrapFile {
    /// What is shown of it.
    pub fn body(&self) -> &str {
        &self.body
    }
}

/// A folder and its bootstrap files.
#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
    files: Vec<BootstrapFile>,
}

/// Who may name the workspace, strongest first.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkspaceSources<'a> {
    /// The flag.
    pub flag: Option<&'a Path>,
    /// The folder in the session's header.
    pub session: Option<&'a Path>,
    /// The configuration.
    pub config: Option<&'a Path>,
}

impl WorkspaceSources<'_> {
    /// The folder that counts. A session may outlive its folder; what a person
    /// named must be there.
    pub fn choose(&self) -> Result<(PathBuf, Vec<Problem>)> {
        if let Some(path) = self.flag {
            return Ok((folder(path)?, Vec::new()));
        }
        let mut problems = Vec::new();
        if let Some(path) = self.session {
            match folder(path) {
                Ok(found) => return Ok((found, problems)),
                Err(_) => problems.push(Problem::FolderGone {
                    path: path.to_owned(),
                }),
            }
        }
        match (self.config, self.session) {
            (Some(path), _) => Ok((folder(path)?, problems)),
            (None, Some(path)) => folder(path).map(|found| (found, problems)),
            (None, None) => Err(Error::WorkspaceUnknown),
        }
    }
}

/// The folder with its links followed.
fn folder(path: &Path) -> Result<PathBuf> {
    let error = |reason: String| Error::NoWorkspace {
        path: path.to_owned(),
        reason,
    };
    let real = fs::canonicalize(path).map_err(|e| error(e.to_string()))?;
    if real.is_dir() {
        Ok(real)
    } else {
        Err(error("something else is there".to_owned()))
    }
}

impl Workspace {
    /// Reads the bootstrap files of `root`. A file that cannot be read, leads
    /// out of the workspace or is too long is told as a problem; a missing one
    /// is none. `now` decides which cached files are old enough to be trusted.
    pub fn load(
        root: &Path,
        limits: &BootstrapLimits,
        now: SystemTime,
        cache: &mut FileCache,
    ) -> Result<(Workspace, Vec<Problem>)> {
        let root = folder(root)?;
        let mut loading = Loading {
            limits,
            now,
            cache,
            room: limits.total_max_chars as usize,
            seen: HashSet::new(),
            files: Vec::new(),
            problems: Vec::new(),
        };
        let mut has_rules = false;
        for (name, kind) in FILES {
            if !(has_rules && name == "CLAUDE.md") {
                let present = loading.add(&root, &root.join(name), kind);
                has_rules |= present && kind == FileKind::Rules;
            }
        }
        for pattern in &limits.extra_files {
            let setting = "bootstrap.extraFiles";
            for path in globs::expand(setting, &root, pattern, &mut loading.problems) {
                loading.add(&root, &path, FileKind::Extra);
            }
        }
        let (files, problems) = (loading.files, loading.problems);
        Ok((Workspace { root, files }, problems))
    }

    /// The folder, with its links followed.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The files found, in the order of the prompt.
    pub fn files(&self) -> &[BootstrapFile] {
        &self.files
    }
}

/// One pass over the files.
struct Loading<'a> {
    limits: &'a BootstrapLimits,
    now: SystemTime,
    cache: &'a mut FileCache,
    /// Characters left of the total.
    room: usize,
    /// Files already there, under whatever name.
    seen: HashSet<PathBuf>,
    files: Vec<BootstrapFile>,
    problems: Vec<Problem>,
}

impl Loading<'_> {
    /// Adds a file; says whether there is one of that name.
    fn add(&mut self, root: &Path, path: &Path, kind: FileKind) -> bool {
        let found = match self.cache.read(path, Some(root), self.now) {
            Ok(Some(found)) => found,
            Ok(None) => return false,
            Err(problem) => {
                self.problems.push(problem);
                return true;
            }
        };
        let content = found.content;
        if !self.seen.insert(found.real) || content.head.trim().is_empty() {
            return true;
        }
        let path = path.to_owned();
        if content.lossy {
            self.problems.push(Problem::NotUtf8 { path: path.clone() });
        }
        let name = relative(root, &path);
        let shape = Shape {
            limit: self.room.min(self.limits.max_chars as usize),
            head_percent: self.limits.head_percent,
            tail_percent: self.limits.tail_percent,
        };
        let Some(shown) = shorten(&name, &content, shape) else {
            self.problems.push(Problem::NoRoomLeft { path });
            return true;
        };
        self.room -= shown.chars;
        match content.chars {
            Some(chars) if shown.left_out > 0 => self.problems.push(Problem::Shortened {
                path,
                chars,
                left_out: shown.left_out,
            }),
            Some(_) => {}
            None => self.problems.push(Problem::Enormous {
                path,
                bytes: content.bytes,
            }),
        }
        self.files.push(BootstrapFile {
            name,
            kind,
            left_out: shown.left_out,
            body: shown.body.into(),
            content,
        });
        true
    }
}

/// A path in the workspace as prompts write it on every system.
fn relative(root: &Path, path: &Path) -> String {
    let inside = path.strip_prefix(root).unwrap_or(path);
    let parts: Vec<_> = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy())
        .collect();
    parts.join("/")
}
