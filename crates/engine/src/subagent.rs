//! Subagents: a session of its own for a part of the work.
//!
//! It has the minimal prompt, its own file that names the parent, its own
//! window and budget; it never flushes memory and never dreams, because what
//! it learnt goes to the parent as its result.

use std::path::Path;

use longhaul_assembly::{Budget, Mode, Reserves, Subagent};
use longhaul_compaction::ladder::Limits;
use longhaul_tokens::{Counter, Fragment, FragmentKind, Window};
use longhaul_transcript::{Draft, Durability, Header, NewSession, SessionKey, Writer};
use serde_json::json;

use crate::checkpoints::Sink;
use crate::event::Event;

/// The `customType` of the entry that records a subagent's end.
pub const RESULT_MARK: &str = "longhaul:subagent";

/// What a subagent is started with.
#[derive(Debug, Clone, Copy)]
pub struct Spawn<'a> {
    /// The parent's key.
    pub parent: &'a SessionKey,
    /// The parent's file.
    pub parent_file: &'a Path,
    /// The parent's header; the subagent works in the same folder.
    pub header: &'a Header,
    /// What it is for.
    pub subagent: &'a Subagent,
    /// Its own window.
    pub window: &'a Window,
    /// What its requests leave free.
    pub reserves: Reserves,
    /// When written entries are forced to the disk.
    pub durability: Durability,
}

/// A subagent's session.
#[derive(Debug)]
pub struct SubagentSession {
    /// Its key.
    pub key: SessionKey,
    /// The parent's key.
    pub parent: SessionKey,
    /// Its file, open for appending.
    pub writer: Writer,
    /// The mode of its prompt.
    pub mode: Mode,
    /// How much its contexts may hold.
    pub budget: Budget,
    /// What it does beside its task.
    pub duties: Duties,
}

/// What a session does beside its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duties {
    /// Whether it flushes memory before a compaction.
    pub flush: bool,
    /// Whether its logs are dreamt about.
    pub dreaming: bool,
}

impl Duties {
    /// Those of the agent the user talks to.
    pub const MAIN: Duties = Duties {
        flush: true,
        dreaming: true,
    };
    /// Those of a subagent.
    pub const SUBAGENT: Duties = Duties {
        flush: false,
        dreaming: false,
    };

    /// The same as limits of the ladder.
    pub fn limit(self, limits: Limits) -> Limits {
        Limits {
            subagent: !self.flush,
            ..limits
        }
    }
}

/// Why a subagent did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its file could not be made.
    #[error(transparent)]
    Write(#[from] longhaul_transcript::Error),
    /// Its window is too small to work in.
    #[error(transparent)]
    Budget(#[from] longhaul_assembly::Error),
}

impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        Error::Write(error.into())
    }
}

impl SubagentSession {
    /// Makes the session in `file`, which must not exist.
    pub fn start(
        spawn: &Spawn<'_>,
        file: &Path,
        new: &NewSession,
        sink: &mut Sink<'_>,
    ) -> Result<SubagentSession, Error> {
        let budget = Budget::new(spawn.window, spawn.reserves)?;
        // Below the parent's key, so that both are told apart and belong together.
        let key = SessionKey::new(format!("{}:subagent:{}", spawn.parent, new.id));
        let header = Header {
            id: new.id.clone(),
            version: 3,
            time: Some(new.time),
            cwd: spawn.header.cwd.clone(),
            parent_session: Some(spawn.parent_file.to_string_lossy().into_owned()),
        };
        if let Some(folder) = file.parent() {
            longhaul_files::create_folder(folder)?;
        }
        let writer = Writer::create(file, &header, spawn.durability)?;
        let mode = Mode::Minimal(Subagent {
            requester: Some(spawn.parent.to_string()),
            session: Some(key.to_string()),
            ..spawn.subagent.clone()
        });
        sink(Event::SubagentStarted {
            session: key.to_string(),
            parent: spawn.parent.to_string(),
            window: spawn.window.size(),
        });
        Ok(SubagentSession {
            key,
            parent: spawn.parent.clone(),
            writer,
            mode,
            budget,
            duties: Duties::SUBAGENT,
        })
    }

    /// How the result is announced: a fragment for the parent's next context,
    /// within its cap, and an entry that says where the whole of it is.
    pub fn result(&self, text: &str, counter: &dyn Counter) -> (Fragment, Draft) {
        let fragment = Fragment::new(
            FragmentKind::Hook,
            format!("[Result of subagent {}]\n{text}", self.key),
            counter,
        );
        let mark = Draft::Custom {
            custom_type: RESULT_MARK.into(),
            data: json!({
                "session": self.key,
                "file": self.writer.path().to_string_lossy(),
                "tokens": fragment.tokens(),
                "truncated": fragment.is_truncated(),
            })
            .to_string(),
        };
        (fragment, mark)
    }
}

#[cfg(test)]
mod tests {
    use longhaul_tokens::{Heuristic, Tokens, WindowSettings};
    use longhaul_transcript::{Millis, Session};

    use super::*;

    #[test]
    fn a_subagent_has_its_own_file_budget_and_minimal_prompt() {
        let folder = tempfile::tempdir().unwrap();
        let parent = SessionKey::new("agent:main:main");
        let header = Header {
            cwd: Some("/w".into()),
            ..Header::default()
        };
        let window = Window::new(&WindowSettings::of(Tokens(32_000))).unwrap();
        let subagent = Subagent {
            task: "Count the tests.".into(),
            ..Subagent::default()
        };
        let spawn = Spawn {
            parent: &parent,
            parent_file: Path::new("/s/parent.jsonl"),
            header: &header,
            subagent: &subagent,
            window: &window,
            reserves: Reserves::default(),
            durability: Durability::Os,
        };
        let file = folder.path().join("sub/one.jsonl");
        let new = NewSession {
            id: "one".into(),
            time: Millis(1_790_000_000_000),
        };
        let mut events = Vec::new();
        let session =
            SubagentSession::start(&spawn, &file, &new, &mut |event| events.push(event)).unwrap();
        let stored = Session::open(&file).unwrap();
        assert_eq!(
            stored.header().parent_session.as_deref(),
            Some("/s/parent.jsonl")
        );
        assert_eq!(stored.header().cwd.as_deref(), Some(Path::new("/w")));
        assert_ne!(session.key.folder_name(), parent.folder_name());
        let Mode::Minimal(of) = &session.mode else {
            panic!("{:?}", session.mode);
        };
        assert_eq!(of.requester.as_deref(), Some("agent:main:main"));
        assert_eq!(of.task, "Count the tests.");
        let allowed = Limits {
            auto_enabled: true,
            read_only: false,
            subagent: false,
            breaker_open: false,
            max_auto: 5,
            layers: longhaul_compaction::ladder::Layers::ALL,
        };
        assert!(session.duties.limit(allowed).subagent);
        assert!(!Duties::MAIN.limit(allowed).subagent);
        assert_eq!(
            events,
            [Event::SubagentStarted {
                session: session.key.to_string(),
                parent: parent.to_string(),
                window: Tokens(32_000),
            }]
        );
        let (fragment, _) = session.result(&"long ".repeat(20_000), &Heuristic);
        assert!(fragment.is_truncated() && fragment.tokens() <= FragmentKind::Hook.cap());
        // A second one of the same file is refused, and the first stays.
        assert!(SubagentSession::start(&spawn, &file, &new, &mut |_| {}).is_err());
    }
}
