//! The code under test, and all of it that the evaluation touches: replay a
//! session, compact it once more, read the context, recall what left it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use longhaul_compaction::compact::{CompactionFailure, CompactionRequest, Tail};
use longhaul_compaction::{Layer, Trigger};
use longhaul_engine::config::Config;
use longhaul_engine::live::Live;
use longhaul_engine::measure::Meter;
use longhaul_engine::recall::{Query, Same, recall};
use longhaul_engine::replay::{Options, ReplayReport, replay};
use longhaul_engine::session::cache_prices;
use longhaul_engine::survey::Keep;
use longhaul_tokens::{Estimator, Tokens, Window};
use longhaul_transcript::{
    Body, Context, ContextMessage, Entry, EntryId, Header, Millis, Session, Stamp, write_path,
};

use super::native;
use crate::Result;

/// o200k finds so many of a Claude token.
const O200K_SHARE: f64 = 0.83;

/// What a user text's own line takes beside its words.
const ITEM_TOKENS: u32 = 6;
/// How ids of forced compactions begin.
const FORCED: &str = "forced-";

/// One window, with what the engine makes of it.
#[derive(Clone)]
pub(crate) struct Setup {
    config: Config,
    pub(super) window: Window,
    pub(super) size: u32,
}

/// A session as a replay left it.
pub(super) struct Played {
    pub(super) report: ReplayReport,
    pub(super) written: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Compacted,
    NothingToDo,
    /// The context would have grown.
    Refused,
    Failed,
}

/// Counts tokens, as the engine does and with o200k.
pub(crate) struct Counters {
    engine: Meter,
    o200k: Meter,
}

impl Setup {
    pub(crate) fn new(size: u32) -> Result<Setup> {
        let config = Config::default();
        let window = Window::new(&config.window_settings(Tokens(size)))
            .map_err(|error| error.to_string())?;
        Ok(Setup {
            config,
            window,
            size,
        })
    }

    pub(crate) fn counters(&self) -> Counters {
        Counters {
            engine: Meter::new(self.config.tokens.estimator),
            o200k: Meter::new(Estimator::O200k),
        }
    }

    /// Tokens that the user's words may take (SPEC §7).
    pub(super) fn words_budget(&self) -> u32 {
        20_000.min(self.size / 10)
    }

    /// The same without pruning.
    pub(super) fn unpruned(&self) -> Setup {
        let mut setup = self.clone();
        setup.config.compaction.prune.enabled = false;
        setup
    }

    /// Replays entries, stored at `path`.
    pub(super) fn play(&self, header: &Header, entries: &[Entry], path: &Path) -> Result<Played> {
        let session = store(path, header, entries)?;
        let model = entries
            .iter()
            .filter_map(|entry| entry.message()?.model().map(|model| model.into_owned()))
            .next()
            .unwrap_or_default();
        let options = Options {
            window: &self.window,
            config: &self.config,
            prices: cache_prices(&self.config, None, &model),
            summaries: None,
            clock: &|| 0.0,
        };
        let mut count = 0u64;
        let (report, written) = replay(
            &session,
            &options,
            &mut |time| {
                count += 1;
                Stamp {
                    id: EntryId::new(format!("longhaul-{count:06}")),
                    time: time.unwrap_or(Millis(0)),
                }
            },
            &mut |_, _| {},
        )?;
        Ok(Played { report, written })
    }

    /// Compacts as every door does when a person asks: what would make the context
    /// grow is refused.
    pub(super) fn ask(
        &self,
        session: &mut Running,
        counters: &mut Counters,
        number: u32,
    ) -> Outcome {
        let before = counters.engine(&session.messages());
        let mut tried = session.clone();
        let outcome = self.force(&mut tried, counters, number);
        if outcome == Outcome::Compacted && counters.engine(&tried.messages()) > before {
            return Outcome::Refused;
        }
        *session = tried;
        outcome
    }

    /// Compacts whatever the ladder thinks of it, and whatever comes of it.
    pub(crate) fn force(
        &self,
        session: &mut Running,
        counters: &mut Counters,
        number: u32,
    ) -> Outcome {
        let overhead = session.overhead;
        let before = counters.engine(&session.messages());
        let stored: HashSet<EntryId> = session.file.iter().map(|entry| entry.id.clone()).collect();
        let request = CompactionRequest {
            layer: Layer::Summarize,
            trigger: Trigger::Manual,
            focus: None,
            window: &self.window,
            protect: self
                .window
                .scaled(self.config.protected_tail(Layer::Summarize)),
            overhead,
            tokens_before: overhead + Tokens(before),
            rules: self.config.compaction_rules(),
            tail: Tail::default(),
            is_stored: &|id| stored.contains(id),
        };
        match session.live.compact(&mut counters.engine, &request) {
            Ok(compacted) => {
                let stamp = Stamp {
                    id: EntryId::new(format!("{FORCED}{number:04}")),
                    time: session.time,
                };
                let parent = session.live.entries().last().map(|entry| entry.id.clone());
                session.push(compacted.draft.to_entry(&stamp, parent.as_ref()));
                for (at, edit) in compacted.edits.iter().enumerate() {
                    let stamp = Stamp {
                        id: EntryId::new(format!("{FORCED}{number:04}-{at}")),
                        time: session.time,
                    };
                    let parent = session.live.entries().last().map(|entry| entry.id.clone());
                    session.push(edit.to_entry(&stamp, parent.as_ref()));
                }
                Outcome::Compacted
            }
            Err(CompactionFailure::NothingToDo) => Outcome::NothingToDo,
            Err(_) => Outcome::Failed,
        }
    }
}

impl Counters {
    /// Tokens by the engine's own count.
    pub(super) fn engine(&mut self, messages: &[ContextMessage]) -> u32 {
        messages
            .iter()
            .map(|message| self.engine.message(message).0)
            .sum()
    }

    /// Tokens by an independent count: o200k, brought to Claude's scale.
    pub(super) fn independent(&mut self, messages: &[ContextMessage]) -> u32 {
        let counted: u32 = messages
            .iter()
            .map(|message| self.o200k.message(message).0)
            .sum();
        (f64::from(counted) / O200K_SHARE) as u32
    }

    /// The same for a user text as an item of a summary.
    pub(super) fn item(&mut self, text: &str) -> u32 {
        self.text(text) + ITEM_TOKENS
    }

    fn text(&mut self, text: &str) -> u32 {
        let json = serde_json::json!({"role": "user", "content": text}).to_string();
        self.independent(&[ContextMessage::new(EntryId::from("text"), json)])
    }
}

/// A session under way: what is in its file, and the context of its leaf.
#[derive(Clone)]
pub(crate) struct Running {
    live: Live,
    pub(super) header: Header,
    pub(super) file: Vec<Entry>,
    pub(super) overhead: Tokens,
    pub(super) time: Millis,
}

impl Running {
    pub(crate) fn new(header: &Header, overhead: Tokens) -> Running {
        Running {
            live: Live::new(header.clone()),
            header: header.clone(),
            file: Vec::new(),
            overhead,
            time: Millis(0),
        }
    }

    pub(crate) fn push(&mut self, entry: Entry) {
        self.time = entry.time.unwrap_or(self.time);
        self.file.push(entry.clone());
        self.live.push(entry);
    }

    pub(crate) fn messages(&self) -> Vec<ContextMessage> {
        self.live.context().messages
    }

    pub(super) fn context(&self) -> Context {
        self.live.context()
    }

    /// The summary in force.
    pub(super) fn summary(&self) -> Option<&str> {
        let (_, compaction) = self.live.loaded().compaction()?;
        Some(&compaction.summary)
    }

    /// Whether the summary in force was made after all that was recorded.
    pub(super) fn is_summary_fresh(&self) -> bool {
        let compaction = self.live.loaded().compaction();
        compaction.is_some_and(|(entry, _)| entry.id.as_str().starts_with(FORCED))
    }

    /// Messages that the newest compaction kept.
    pub(super) fn kept(&self) -> usize {
        let Some(at) = self
            .file
            .iter()
            .rposition(|entry| matches!(entry.body, Body::Compaction(_)))
        else {
            return 0;
        };
        let before: HashSet<&EntryId> = self.file[..at].iter().map(|entry| &entry.id).collect();
        let kept = self.messages();
        kept.iter()
            .filter(|message| before.contains(&message.entry))
            .count()
    }

    /// Writes the file and opens it.
    pub(crate) fn store(&self, path: &Path) -> Result<Store> {
        Ok(Store(store(path, &self.header, &self.file)?))
    }

    /// Whether a context read from the file is the same.
    pub(super) fn is_same_after_opening(&self, store: &Store) -> Result<bool> {
        let opened = Live::open(&store.0)?;
        Ok(opened.context().to_json() == self.live.context().to_json())
    }
}

fn store(path: &Path, header: &Header, entries: &[Entry]) -> Result<Session> {
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    write_path(path, header, entries)?;
    Ok(Session::open(path)?)
}

/// A stored session, for what `recall` brings back.
pub(crate) struct Store(Session);

/// What a search found.
pub(super) struct Found {
    pub(super) entry: EntryId,
    pub(super) text: String,
    /// Whether it is, or names, the entry that was looked for.
    pub(super) names: bool,
    /// Whether it shows that entry's own passage.
    pub(super) shows: bool,
}

impl Store {
    pub(super) fn open(path: PathBuf) -> Result<Store> {
        Ok(Store(Session::open(&path)?))
    }

    /// Entries by their ids.
    pub(super) fn by_ids(&self, ids: Vec<EntryId>) -> Result<HashMap<EntryId, Entry>> {
        let hits = recall(&self.0, &Keep::nowhere(), &Query::Ids(ids), 1)?;
        Ok(hits
            .into_iter()
            .map(|hit| (hit.entry.id.clone(), hit.entry))
            .collect())
    }

    /// What one id brings back.
    pub(super) fn by_id(&self, id: &EntryId) -> Result<Vec<Entry>> {
        let hits = recall(&self.0, &Keep::nowhere(), &Query::Id(id.to_string()), 5)?;
        Ok(hits.into_iter().map(|hit| hit.entry).collect())
    }

    /// The first five hits of a search.
    pub(super) fn search(&self, words: &str, wanted: &EntryId) -> Result<Vec<Found>> {
        let hits = recall(&self.0, &Keep::nowhere(), &Query::Text(words.to_owned()), 5)?;
        Ok(hits
            .into_iter()
            .map(|hit| {
                let names = hit.names(wanted);
                Found {
                    text: shown(&hit.entry),
                    names,
                    shows: hit.entry.id == *wanted || (names && hit.others.same != Same::Words),
                    entry: hit.entry.id,
                }
            })
            .collect())
    }
}

/// Everything an entry shows, decoded.
pub(super) fn shown(entry: &Entry) -> String {
    entry.message_json().map(native::shown).unwrap_or_default()
}
