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

use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_assembly::FileCache;
use longhaul_compaction::Degradation;
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::{EntryId, Role};
use serde::Serialize;
use serde_json::Value;

pub use compact::{Offer, PiCompaction, Reason};
pub use results::ShownResult;
pub use shown::Shown;

use self::follow::Seen;
use crate::compactor::{Bench, Brakes};
use crate::error::{Error, Result};
use crate::live::Live;
use crate::measure::Size;
use crate::session::Setup;
use longhaul_compaction::compact::allowance;

/// The `customType` of the message that puts the state of the work back.
pub const RESTORE_MARK: &str = "longhaul:restore";

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
    setup: Arc<Setup>,
    path: PathBuf,
    seen: Seen,
    bench: Bench,
    files: FileCache,
    /// Tokens of a request that are not in the file: tools, most of all.
    overhead: Tokens,
}

impl PiSession {
    /// Opens the file that pi is writing, up to the entry at which pi is.
    pub fn open(setup: &Arc<Setup>, path: &Path, leaf: Option<&EntryId>) -> Result<PiSession> {
        let setup = Arc::clone(setup);
        let (stored, seen) = Seen::open(path)?;
        let (config, state_dir) = (&setup.config, &setup.state_dir);
        let live = Bench::read(&stored, leaf, config, state_dir)?;
        live.learn_secrets();
        // Each request says how large the window is.
        let window = Window::new(&config.window_settings(longhaul_tokens::DEFAULT_WINDOW))?;
        // What was damaged is set aside; a breaker that is closed again by that does
        // no harm.
        let (bench, _) = Bench::new(&stored, live, window, config, state_dir);
        let mut session = PiSession {
            path: path.to_owned(),
            files: FileCache::new(),
            overhead: Tokens::ZERO,
            seen,
            bench,
            setup,
        };
        session.seen.at(&session.bench.live);
        Ok(session)
    }

    /// The session as it was last read.
    pub fn live(&self) -> &Live {
        &self.bench.live
    }

    /// What it goes by.
    pub fn key(&self) -> &str {
        &self.bench.state.session_key
    }

    /// How it stands.
    pub fn status(&mut self, leaf: Option<&EntryId>, host: PiHost) -> Result<PiStatus> {
        self.follow(leaf, host)?;
        let size = self.size(None);
        let bench = &self.bench;
        let (config, wear) = (&self.setup.config, bench.live.wear());
        let latest = bench.checkpoints().latest(&mut |_| {}).ok().flatten();
        Ok(PiStatus {
            session: self.key().to_owned(),
            fullness: bench.window.fullness(size.tokens),
            degradation: Degradation::of(bench.live.epoch(), wear, &config.risk_rules()),
            checkpoint: latest.map(|checkpoint| checkpoint.meta.checkpoint_id.to_string()),
            brakes: Brakes::of(config, &bench.state, wear),
            size,
            window: bench.window,
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
    fn size(&mut self, ahead: Option<&Live>) -> Size {
        let Bench {
            live,
            meter,
            window,
            ..
        } = &mut self.bench;
        let live = ahead.unwrap_or(live);
        let context = live.context();
        let reading = meter.context(live.loaded(), &context);
        let factor = reading.factor.value;
        let messages = context.messages.iter();
        let system: Tokens = messages
            .zip(&reading.per_message)
            .filter(|(message, _)| message.role == Role::System)
            .map(|(_, tokens)| *tokens)
            .sum();
        let estimator = meter.estimator();
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
}
