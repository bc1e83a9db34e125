//! A session of pi: pi runs the model and is the only one that writes its file.
//!
//! [`PiSession`] reads that file as it grows and says what to append; pi does.
//! What is appended are the drafts of [`Live`], the same that a session of our
//! own is given, so that everything that reads our sessions reads pi's. What is
//! ours alone (checkpoints, results that are too large to be shown) lies in the
//! state folder, under the session's id.
//!
//! | when | what |
//! |---|---|
//! | a round has ended | [`PiSession::turn_end`]: checkpoint, pruning, compaction |
//! | pi is about to compact | [`PiSession::before_compact`]: the compaction that it writes |
//! | a run is about to begin | [`PiSession::before_run`]: what is put back, before that |
//! | a request is about to leave | [`PiSession::shown`]: the gauge, and what is put back still |
//! | a tool has answered | [`PiSession::tool_result`]: the part of it that is shown |
//! | the model calls `recall` | it looks in the file, and in [`PiSession::results`] |

mod carry;
mod compact;
mod follow;
mod results;
mod shown;
mod site;
#[cfg(test)]
mod tests;
mod turn;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_assembly::FileCache;
use longhaul_checkpoint::FileStore;
use longhaul_compaction::Degradation;
use longhaul_model::Model;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{EntryId, Format, Millis, Role, Session as Stored, Stamp};
use serde::Serialize;
use serde_json::Value;

pub use compact::{Offer, PiCompaction, Reason};
pub use results::ShownResult;
pub use shown::Shown;

use self::follow::Seen;
use crate::checkpoints::{Checkpoints, FileNotebook, Whose};
use crate::compactor::{Brakes, Course};
use crate::config::Config;
use crate::live::{Live, allowance};
use crate::measure::{Meter, Size};
use crate::session::{Clock, Departures};
use crate::state::SessionState;
use crate::survey::Keep;

/// The `customType` of the message that puts the state of the work back.
pub const RESTORE_MARK: &str = "longhaul:restore";

/// What is the same for all sessions of one pi.
pub struct PiSetup {
    /// What is configured.
    pub config: Config,
    /// Where our own files lie.
    pub state_dir: PathBuf,
    /// Time and new names.
    pub clock: Arc<dyn Clock>,
    /// Who writes summaries; extracted, without one.
    pub summaries: Option<Arc<dyn Model>>,
    /// Is told what left a context.
    pub departures: Option<Arc<dyn Departures>>,
}

/// What pi says of itself with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PiHost {
    /// The window of its model.
    pub window: Option<Tokens>,
    /// What it keeps free before it compacts by itself.
    pub reserve: Option<Tokens>,
    /// Whether it compacts by itself at all.
    pub compacts: bool,
}

/// Why a call could not be served. pi then goes on as if we were not there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The session's file cannot be read, or has no such leaf.
    #[error(transparent)]
    Transcript(#[from] longhaul_transcript::Error),
    /// It is not a file that pi writes.
    #[error("{path} is a session of {format}, not of pi")]
    NotPi {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        format: Format,
    },
    /// The window is none.
    #[error("{0}; set `contextWindow` of the model in pi's models.json")]
    Window(#[from] longhaul_tokens::WindowError),
}

impl Error {
    /// What can be done about it, if there is something.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Error::Transcript(error) => error.remedy(),
            Error::NotPi { .. } | Error::Window(_) => None,
        }
    }
}

impl From<longhaul_files::Error> for Error {
    fn from(error: longhaul_files::Error) -> Error {
        Error::Transcript(error.into())
    }
}

/// The module's result type.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a round's end comes to.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct TurnEnd {
    /// What pi should append, in its own words.
    pub entries: Vec<Value>,
    /// What its user should know.
    pub notices: Vec<String>,
}

/// How a session stands.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PiStatus {
    /// What it goes by.
    pub session: String,
    /// The size of the next request.
    pub size: Size,
    /// The window.
    pub window: Window,
    /// The size against the window.
    pub fullness: f64,
    /// Compactions so far, and what to make of it.
    pub degradation: Degradation,
    /// The newest checkpoint.
    pub checkpoint: Option<String>,
    /// What keeps compaction from happening by itself.
    #[serde(flatten)]
    pub brakes: Brakes,
}

/// One session of pi.
pub struct PiSession {
    setup: Arc<PiSetup>,
    path: PathBuf,
    seen: Seen,
    live: Live,
    meter: Meter,
    whose: Whose,
    store: FileStore,
    notebook: FileNotebook,
    state: SessionState,
    files: FileCache,
    /// Tokens of a request that are not in the file: tools, most of all.
    overhead: Tokens,
    /// What compaction remembers between two looks.
    course: Course,
    /// What can be recalled, as it was last looked up.
    known: HashSet<EntryId>,
}

impl PiSession {
    /// Opens the file that pi is writing, up to the entry at which pi is.
    pub fn open(setup: &Arc<PiSetup>, path: &Path, leaf: Option<&EntryId>) -> Result<PiSession> {
        let setup = Arc::clone(setup);
        let (stored, seen) = Seen::open(path)?;
        let whose = Whose::of(&stored);
        let notebook = FileNotebook::new(&setup.state_dir, &whose.key);
        let keep = Keep::of(&stored, &setup.config, &setup.state_dir);
        let live = Live::open_at(&stored, leaf, setup.config.state_capture(), &keep)?;
        live.learn_secrets();
        // What was damaged is set aside; a breaker that is closed again by that does
        // no harm.
        let (state, _) = SessionState::load(&setup.state_dir, &whose.key.to_string());
        let mut session = PiSession {
            store: FileStore::new(&setup.state_dir, setup.config.checkpoint_policy()),
            notebook,
            meter: Meter::new(setup.config.tokens.estimator),
            path: path.to_owned(),
            files: FileCache::new(),
            overhead: Tokens::ZERO,
            course: Course::default(),
            known: HashSet::new(),
            seen,
            live,
            whose,
            state,
            setup,
        };
        session.seen.at(&session.live);
        Ok(session)
    }

    /// The session as it was last read.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// What it goes by.
    pub fn key(&self) -> &str {
        &self.state.session_key
    }

    /// How it stands.
    pub fn status(&mut self, leaf: Option<&EntryId>, host: PiHost) -> Result<PiStatus> {
        self.follow(leaf)?;
        let window = self.window(host)?;
        let size = self.size(None, &window);
        let (config, wear) = (&self.setup.config, self.live.wear());
        let latest = self.checkpoints().latest(&mut |_| {}).ok().flatten();
        Ok(PiStatus {
            session: self.state.session_key.clone(),
            fullness: window.fullness(size.tokens),
            degradation: Degradation::of(self.live.epoch(), wear, &config.risk_rules()),
            checkpoint: latest.map(|checkpoint| checkpoint.meta.checkpoint_id.to_string()),
            brakes: Brakes::of(config, &self.state, wear),
            size,
            window,
        })
    }

    /// The window, with thresholds at which we come before pi does: what it cuts
    /// by itself, it has to ask a model for.
    fn window(&self, host: PiHost) -> Result<Window> {
        let config = &self.setup.config;
        let configured = config.compaction.context_window;
        let size = configured.into_iter().chain(host.window).min();
        let size = size.unwrap_or(longhaul_tokens::DEFAULT_WINDOW);
        let mut settings = config.window_settings(size);
        let usual = Window::new(&settings)?;
        if let Some(reserve) = host.reserve.filter(|_| host.compacts)
            && let own = size - reserve
            && own > Tokens::ZERO
            && own < usual.activation()
        {
            settings.trigger_tokens = Some(own);
            settings.auto_threshold_percent = None;
        }
        Ok(Window::new(&settings)?)
    }

    /// How large the next request is, for a session as it is or as it will be.
    fn size(&mut self, ahead: Option<&Live>, window: &Window) -> Size {
        let live = ahead.unwrap_or(&self.live);
        let context = live.context();
        let reading = self.meter.context(live.loaded(), &context);
        let factor = reading.factor.value;
        let messages = context.messages.iter();
        let system: Tokens = messages
            .zip(&reading.per_message)
            .filter(|(message, _)| message.role == Role::System)
            .map(|(_, tokens)| *tokens)
            .sum();
        let estimator = self.meter.estimator();
        let counted: Tokens = reading.per_message.iter().copied().sum();
        let mut tokens = reading.measurement.tokens;
        let reported = reading.anchor.is_some();
        match reported || reading.compacted {
            true => self.overhead = tokens - counted.scale(factor),
            false => tokens += self.overhead,
        }
        let uncertain = match reported {
            true => reading.following.scale(factor),
            false => tokens,
        };
        Size {
            tokens,
            at_most: tokens + allowance(window, estimator, uncertain),
            overhead: self.overhead + system,
            reported,
        }
    }

    fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints {
            store: &self.store,
            whose: &self.whose,
            redact: &|text| longhaul_redact::Redactor::default().redact(text).text,
        }
    }

    fn now(&self) -> Millis {
        Millis(self.setup.clock.now().timestamp().as_millisecond())
    }

    /// A name for an entry until pi gives it its own.
    fn stamp(&self) -> Stamp {
        Stamp {
            id: EntryId::new(self.setup.clock.new_id()),
            time: self.now(),
        }
    }

    /// Every entry that can be recalled.
    fn stored_entries(&self) -> longhaul_transcript::Result<HashSet<EntryId>> {
        let tree = Stored::open(&self.path)?.tree()?;
        let mut known: HashSet<EntryId> = tree.nodes().iter().map(|node| node.id.clone()).collect();
        longhaul_transcript::each_archived(&self.path, &mut |entry| {
            known.insert(entry.id);
            std::ops::ControlFlow::Continue(())
        })?;
        Ok(known)
    }
}
