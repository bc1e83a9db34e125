//! Assembly: from a workspace, a conversation and a message to the one request
//! that a model is sent.
//!
//! Files are read by [`Workspace::load`], [`Skills::load`] and [`Restore::fragments`]
//! and nowhere else; the rest is a function of
//! its arguments. Nothing here reads the environment, the home folder or a clock.
//!
//! | question | answer |
//! |---|---|
//! | which folder? | [`WorkspaceSources::choose`] |
//! | what does the workspace say? | [`Workspace::load`]: its files, within [`BootstrapLimits`] |
//! | which skills are there? | [`Skills::load`], from [`SkillSources`], for a [`Host`] |
//! | which tools? | [`Tools::select`], by a [`ToolPolicy`] |
//! | what is every request's beginning? | a [`SystemPrompt`], [`Mode::Full`] or [`Mode::Minimal`] |
//! | what is the agent told of its window? | [`notes`] |
//! | what is put back after a compaction? | [`Restore::fragments`] |
//! | how much fits? | a [`Budget`], and after the fact a [`Breakdown`] |
//! | what is sent? | [`assemble`]: a [`Request`] becomes an [`Assembled`] or an [`Error`] that names the part |
//! | what was left out? | [`Problem`]s: for the user, never fatal |
//!
//! ```
//! use longhaul_assembly::*;
//! use longhaul_tokens::{CheckpointNote, Heuristic, Tokens, Window, WindowSettings};
//! use longhaul_transcript::Millis;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path();
//! # let now: jiff::Zoned = "2026-11-15T07:44:05+01:00[Europe/Berlin]".parse()?;
//! # let read_at = std::time::SystemTime::UNIX_EPOCH;
//! // Kept for the life of a session:
//! let (mut files, mut counts) = (FileCache::new(), PartCounts::new());
//!
//! let (workspace, _) = Workspace::load(root, &BootstrapLimits::default(), read_at, &mut files)?;
//! let sources = SkillSources { workspace: Some(root.into()), ..SkillSources::default() };
//! let (skills, _) = Skills::load(&sources, &Host::default(), read_at, &mut files);
//! let prompt = SystemPrompt::build(
//!     &PromptSource {
//!         mode: &Mode::Full,
//!         runtime: &Runtime::default(),
//!         today: now.date(),
//!         time_zone: "Europe/Berlin",
//!         workspace: &workspace,
//!         skills: &skills,
//!         tools: &Tools::default(),
//!         hints: &Hints::default(),
//!         extra: None,
//!     },
//!     &Heuristic,
//!     &mut counts,
//! );
//!
//! let window = Window::new(&WindowSettings::of(Tokens(200_000)))?;
//! let request = Request {
//!     prompt: &prompt,
//!     restored: &[],
//!     history: &[],
//!     event: Some(&Event::new("What is left to do?", Millis(0))),
//!     dynamic: &notes(Tokens(150_000), &window, CheckpointNote::None, &Heuristic),
//!     now: Some(&now),
//! };
//! let context = assemble(&request, &Budget::new(&window, Reserves::default())?, &Heuristic)?;
//! assert!(context.breakdown().total < Tokens(2_000));
//! assert!(context.to_json().starts_with(&context.static_json()));
//! # Ok(())
//! # }
//! ```
//!
//! Three things hold for every input. The static half of consecutive requests is
//! the same to the byte. No text of a user, a file, a skill or a tool can pass for
//! a mark of ours. No context is larger than its budget.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

mod assemble;
mod budget;
mod error;
mod event;
mod fence;
mod files;
mod globs;
mod notes;
mod prompt;
mod restore;
mod shorten;
mod skills;
mod tools;
mod workspace;

pub use assemble::{Assembled, Breakpoint, Counted, Request, assemble, fenced};
pub use budget::{Breakdown, Budget, Part, PartName, Reserves};
pub use error::{Error, Problem, Result};
pub use event::Event;
pub use files::FileCache;
pub use notes::notes;
pub use prompt::{
    Hints, Mode, PartCounts, PromptSource, Runtime, Subagent, SubagentLimits, SystemPrompt,
};
pub use restore::{KeyFile, Restore, RestoreLimits, daily_logs};
pub use skills::{Host, Skill, SkillOrigin, SkillSources, Skills, Unavailable};
pub use tools::{Tool, ToolPolicy, Tools};
pub use workspace::{BootstrapFile, BootstrapLimits, FileKind, Workspace, WorkspaceSources};
