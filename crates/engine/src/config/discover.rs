//! Which file counts.

use std::io;
use std::path::{Path, PathBuf};

use longhaul_files::Fault;

use super::{ConfigError, ConfigFile, Problem};

/// The names looked for in a folder, in the order they are shown.
pub const FILE_NAMES: [&str; 4] = [
    "longhaul.yaml",
    "longhaul.yml",
    "longhaul.json5",
    "longhaul.json",
];

/// The places where a configuration file may be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Places<'a> {
    /// What `--config` says.
    pub flag: Option<&'a Path>,
    /// What `LONGHAUL_CONFIG` says; empty counts as unset.
    pub variable: Option<&'a Path>,
    /// The workspace.
    pub workspace: Option<&'a Path>,
    /// The folder of our own state.
    pub state_dir: Option<&'a Path>,
}

/// How a file was come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// Named by `--config`.
    Flag,
    /// Named by `LONGHAUL_CONFIG`.
    Variable,
    /// It lies in the workspace.
    Workspace,
    /// It lies in the state folder.
    StateDir,
}

impl FoundBy {
    /// How a user named it, if one did.
    fn named_by(self) -> Option<&'static str> {
        match self {
            FoundBy::Flag => Some("--config"),
            FoundBy::Variable => Some("LONGHAUL_CONFIG"),
            FoundBy::Workspace | FoundBy::StateDir => None,
        }
    }
}

/// A file that counts if it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The file.
    pub path: PathBuf,
    /// How it is come by.
    pub found_by: FoundBy,
}

/// Reading, done by the caller: the text of a file, or nothing when there is none.
pub type Reader<'a> = dyn Fn(&Candidate) -> io::Result<Option<String>> + 'a;

/// No configuration file has more bytes.
pub const MOST_CONFIG_BYTES: u64 = 1_000_000;

/// Reads a configuration file: a regular one of at most [`MOST_CONFIG_BYTES`].
/// One that the user named, or keeps in the state folder, may be a link; one that
/// came with a workspace may not, since that is somebody else's.
pub fn read(candidate: &Candidate) -> io::Result<Option<String>> {
    let path = &candidate.path;
    let text = match candidate.found_by {
        FoundBy::Workspace => longhaul_files::read_text(path, MOST_CONFIG_BYTES),
        FoundBy::Flag | FoundBy::Variable | FoundBy::StateDir => longhaul_files::resolve(path)
            .and_then(|real| longhaul_files::read_text(&real, MOST_CONFIG_BYTES)),
    };
    let is_link = longhaul_files::kind_of(path) == Some(longhaul_files::FileKind::Link);
    match longhaul_files::optional(text).map_err(advised)? {
        None if is_link => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "it is a link that leads nowhere",
        )),
        text => Ok(text),
    }
}

/// The failure with what a configuration file has to be.
fn advised(error: longhaul_files::Error) -> io::Error {
    let is_no_configuration = matches!(error.fault, Fault::NotAFile(_) | Fault::TooLarge { .. });
    let error = error.into_io();
    match is_no_configuration {
        true => io::Error::new(
            error.kind(),
            format!(
                "{error}; a configuration is a regular file of at most 1 MB: put one in its \
                 place, or name another with --config"
            ),
        ),
        false => error,
    }
}

/// The files that would count, first one first. A file named by hand is the only
/// candidate: whoever names one does not want another.
pub fn candidates(places: &Places<'_>) -> Vec<Candidate> {
    let named = [
        (places.flag, FoundBy::Flag),
        (places.variable, FoundBy::Variable),
    ];
    for (path, found_by) in named {
        if let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) {
            let path = path.to_owned();
            return vec![Candidate { path, found_by }];
        }
    }
    let folders = [
        (places.workspace, FoundBy::Workspace),
        (places.state_dir, FoundBy::StateDir),
    ];
    folders
        .into_iter()
        .filter_map(|(folder, found_by)| Some((folder?, found_by)))
        .flat_map(|(folder, found_by)| {
            FILE_NAMES.map(|name| Candidate {
                path: folder.join(name),
                found_by,
            })
        })
        .collect()
}

/// The file that counts, read, or nothing when there is none. A file named by
/// hand must exist; two files side by side are refused.
pub fn find(places: &Places<'_>, reader: &Reader<'_>) -> Result<Option<ConfigFile>, ConfigError> {
    for group in candidates(places).chunk_by(|a, b| a.found_by == b.found_by) {
        let mut found = Vec::new();
        for candidate in group {
            let Candidate { path, found_by } = candidate;
            let shown = path.display();
            let text = reader(candidate)
                .map_err(|error| Problem::new(format!("cannot read {shown}: {error}")))?;
            match (text, found_by.named_by()) {
                (Some(text), _) => found.push(ConfigFile {
                    path: path.clone(),
                    text,
                    found_by: *found_by,
                }),
                (None, Some(named_by)) => {
                    let problem = Problem::new(format!(
                        "there is no {shown}, which {named_by} names; correct the path, or leave \
                         it out to use the defaults"
                    ));
                    return Err(problem.into());
                }
                (None, None) => {}
            }
        }
        if found.len() > 1 {
            return Err(several(&found).into());
        }
        if let Some(file) = found.pop() {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn several(found: &[ConfigFile]) -> Problem {
    let folder = found.first().and_then(|file| file.path.parent());
    let names = found.iter().filter_map(|file| file.path.file_name());
    let names: Vec<_> = names.map(|name| name.to_string_lossy()).collect();
    Problem::new(format!(
        "{} has more than one configuration file ({}); keep one, so that it is clear which counts",
        folder.unwrap_or(Path::new("")).display(),
        names.join(", ")
    ))
}
