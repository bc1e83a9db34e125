//! The static half of every request, and what is put back after a compaction.

use std::time::SystemTime;

use jiff::civil::Date;
use longhaul_assembly::{
    Breakdown, Budget, Counted, FileCache, Mode, PartCounts, PartName, Problem, PromptSource,
    Request, RestoreLimits, SkillSources, Skills, SystemPrompt, Tool, Tools, Workspace, assemble,
    notes,
};
use longhaul_checkpoint::Checkpoint;
use longhaul_tokens::{Fragment, Tokens, Window};
use longhaul_transcript::EntryId;

use super::{Listener, Result, Session, Setup, Told, tell, wire};
use crate::checkpoints::{Checkpoints, Putting, Restoration};
use crate::event::Event;
use crate::live::Live;

/// What every request of an epoch begins with.
pub(super) struct Layout {
    pub(super) workspace: Workspace,
    pub(super) prompt: SystemPrompt,
    pub(super) day: Date,
    pub(super) problems: Vec<Problem>,
}

/// Reads the workspace and writes the system prompt.
pub(super) fn lay(
    setup: &Setup,
    window: &Window,
    live: &Live,
    files: &mut FileCache,
    counts: &mut PartCounts,
) -> Result<Layout> {
    let now = setup.clock.now();
    let read_at = SystemTime::from(now.timestamp());
    let config = &setup.config;
    let limits = config.bootstrap_limits(window);
    let (workspace, mut problems) = Workspace::load(&setup.workspace, &limits, read_at, files)?;
    let sources = SkillSources {
        extra: config.skill_dirs(&setup.workspace),
        bundled: None,
        managed: setup.managed_skills.clone(),
        home: setup.home_skills.clone(),
        workspace: Some(setup.workspace.clone()),
    };
    let (skills, found) = Skills::load(&sources, &setup.host, read_at, files);
    problems.extend(found);
    let (tools, found) = Tools::select(offered(setup), &config.tool_policy()?);
    problems.extend(found);
    let time_zone = now.time_zone().iana_name().unwrap_or("UTC").to_owned();
    let mode = match &setup.subagent {
        Some(subagent) => Mode::Minimal(subagent.clone()),
        None => Mode::Full,
    };
    let extra = setup.extra_prompt.as_ref().or(config.prompt.extra.as_ref());
    let prompt = SystemPrompt::build(
        &PromptSource {
            mode: &mode,
            runtime: &setup.runtime,
            today: now.date(),
            time_zone: &time_zone,
            workspace: &workspace,
            skills: &skills,
            tools: &tools,
            hints: &config.hints(live.loaded().settings.thinking_level.clone()),
            extra: extra.map(String::as_str),
        },
        config.tokens.estimator.counter(),
        counts,
    );
    Ok(Layout {
        workspace,
        prompt,
        day: now.date(),
        problems,
    })
}

/// The agent's tools, and the one by which it saves to memory: it is always
/// there, so that a silent turn has the same beginning as every other request.
fn offered(setup: &Setup) -> Vec<Tool> {
    let mut tools = setup.tools.definitions();
    let flushes = setup.config.compaction.memory_flush.enabled
        && setup.subagent.is_none()
        && !setup.config.sandbox.read_only
        && !tools.is_empty();
    if flushes && !tools.iter().any(|tool| tool.name == super::flush::TOOL) {
        tools.push(super::flush::tool());
    }
    tools
}

/// A request, ready to be sent, and its size.
pub(super) struct Prepared {
    /// What is sent.
    pub(super) request: longhaul_model::Request,
    /// How large it is, as counted part by part.
    pub(super) counted: Tokens,
    /// Where its tokens are.
    pub(super) breakdown: Breakdown,
}

impl Session {
    /// Takes secrets out of what is written beside the session.
    pub(super) fn redact(text: &str) -> String {
        longhaul_redact::Redactor::default().redact(text).text
    }

    pub(super) fn checkpoints(&self) -> Checkpoints<'_> {
        Checkpoints {
            store: &self.store,
            whose: &self.whose,
            redact: &Session::redact,
        }
    }

    /// Lays the static half out anew: a compaction has rewritten the prompt
    /// anyway, or a new day has begun.
    pub(super) fn lay_out_anew(&mut self, listener: &mut dyn Listener) {
        let laid = lay(
            &self.setup,
            &self.window,
            &self.live,
            &mut self.files,
            &mut self.counts,
        );
        match laid {
            Ok(layout) => {
                self.workspace = layout.workspace;
                if !self.hosted {
                    self.prompt = layout.prompt;
                }
                self.prompt_day = layout.day;
            }
            // The one before serves on.
            Err(error) => tell(listener, Event::trouble(error.to_string())),
        }
    }

    /// Decides what this epoch's contexts carry beside the conversation.
    pub(super) fn restore(&mut self, listener: &mut dyn Listener) {
        self.restore_now(listener);
    }

    /// The same at once, where an epoch has just begun.
    pub(super) fn restore_now(&mut self, listener: &mut dyn Listener) -> Restoration {
        let restored = self.put_back(listener, |session, putting, sink| {
            session
                .checkpoints()
                .restore(&session.notebook, &session.live, putting, sink)
        });
        let mut restoration = restored.unwrap_or(Restoration {
            unrecorded: true,
            ..Restoration::default()
        });
        for problem in &restoration.problems {
            tell(listener, Event::trouble(problem.to_string()));
        }
        let fragments = std::mem::take(&mut restoration.fragments);
        self.restored = self.fitting(None, fragments);
        restoration
    }

    /// Works with what putting state back needs.
    pub(super) fn put_back<T>(
        &mut self,
        listener: &mut dyn Listener,
        work: impl FnOnce(
            &Session,
            &mut Putting<'_>,
            &mut dyn FnMut(Event),
        ) -> crate::checkpoints::Result<T>,
    ) -> Option<T> {
        let limits = restore_limits(&self.setup.config, &self.window);
        let mut files = std::mem::take(&mut self.files);
        // Reading the whole file for this would make opening it slow; what is not
        // in the context was read long ago.
        let times = |id: &EntryId| match &self.entries {
            Some(entries) => entries.get(id).copied().flatten(),
            None => {
                let mut entries = self.live.entries().iter().rev();
                entries.find(|entry| entry.id == *id)?.time
            }
        };
        let clock = self.setup.clock.now();
        let now = SystemTime::from(clock.timestamp());
        let done = work(
            self,
            &mut Putting {
                workspace: Some(&self.workspace),
                limits: &limits,
                warning: self.setup.config.spiral_warning(),
                seen: &times,
                counter: self.meter.estimator().counter(),
                now,
                today: clock.date(),
                cache: &mut files,
            },
            &mut |event| listener.event(&event),
        );
        self.files = files;
        match done {
            Ok(done) => Some(done),
            Err(error) => {
                tell(listener, error.event());
                None
            }
        }
    }

    /// Reads ahead what the next turn will want, where the settings allow it: for
    /// whoever waits for the user.
    pub fn prewarm(&mut self, listener: &mut dyn Listener) {
        if !self.setup.config.prewarm.enabled {
            return;
        }
        let latest = self.checkpoints().latest(&mut |_| {}).ok().flatten();
        let now = SystemTime::from(self.setup.clock.now().timestamp());
        self.warm.run(
            &self.setup.config.prewarm,
            self.workspace.root(),
            latest.as_ref(),
            now,
            &mut self.files,
            &mut |event| tell(listener, event),
        );
    }

    /// The request as it would leave now. `first` says whether it opens a turn:
    /// then it tells the time.
    pub(super) fn lay_request(
        &mut self,
        size: Tokens,
        first: bool,
        listener: &mut dyn Listener,
    ) -> Result<Prepared> {
        let now = self.setup.clock.now();
        if now.date() != self.prompt_day {
            self.lay_out_anew(listener);
        }
        let gauge = self.gauge_notes(size, listener);
        self.noted = gauge.iter().map(Fragment::tokens).sum();
        let messages: Vec<_> = self.live.messages().to_vec();
        let unasked = longhaul_transcript::unasked(&messages);
        let mut history: Vec<Counted<'_>> = messages
            .iter()
            .enumerate()
            .filter(|(at, _)| !unasked.contains(at))
            .map(|(_, message)| Counted {
                message,
                tokens: self.meter.message(message),
            })
            .collect();
        let uncorrected = self.correct(&mut history, size);
        let request = Request {
            prompt: &self.prompt,
            restored: &self.restored,
            history: &history,
            event: None,
            dynamic: &gauge,
            now: first.then_some(&now),
        };
        let budget = Budget::new(&self.window, self.setup.config.budget)?;
        let assembled = assemble(&request, &budget, self.meter.estimator().counter())?;
        let mut request = wire::request(&assembled);
        request.session = Some(self.state.session_key.clone());
        request.max_output = self.max_output();
        let breakdown = assembled.breakdown().clone();
        Ok(Prepared {
            counted: breakdown.total + uncorrected,
            breakdown,
            request,
        })
    }

    /// Gives the history the size by which its fate is decided: what the gauge
    /// takes for small enough is not refused for our own larger count. Says by
    /// how much less that is than we count.
    fn correct(&self, history: &mut [Counted<'_>], size: Tokens) -> Tokens {
        let counted: Tokens = history.iter().map(|counted| counted.tokens).sum();
        let known = size - self.fixed();
        if known >= counted {
            return Tokens::ZERO;
        }
        let share = known.share_of(counted);
        for message in history.iter_mut() {
            message.tokens = message.tokens.scale(share);
        }
        let corrected: Tokens = history.iter().map(|counted| counted.tokens).sum();
        counted - corrected
    }

    /// The answer's share of the window: what is kept free for it.
    pub(super) fn max_output(&self) -> Option<u32> {
        let free = (self.window.size() - self.window.hard()).0;
        let of_model = self.model().and_then(|info| info.max_output);
        Some(of_model.map_or(free, |most| most.min(free)))
    }

    fn gauge_notes(&mut self, size: Tokens, listener: &mut dyn Listener) -> Vec<Fragment> {
        if !self.setup.config.gauge.enabled || size < self.window.gauge() {
            self.told.remove(&Told::Gauge);
            return Vec::new();
        }
        let epoch = self.live.epoch();
        let latest: Option<Checkpoint> = self.checkpoints().latest(&mut |_| {}).ok().flatten();
        let note = self.checkpoints().note(latest.as_ref(), epoch);
        let notes = notes(size, &self.window, note, self.meter.estimator().counter());
        if self.told.insert(Told::Gauge)
            && let Some(gauge) = notes.last()
        {
            tell(
                listener,
                Event::Gauge {
                    tokens: size,
                    line: gauge.text().to_owned(),
                },
            );
        }
        notes
    }

    /// Tokens of a request beside the conversation.
    pub(super) fn fixed(&self) -> Tokens {
        self.fixed_with(&self.restored)
    }

    /// The same, were this put back.
    pub(super) fn fixed_with(&self, restored: &[Fragment]) -> Tokens {
        use PartName::{Files, Prompt, Skills, Tools};
        let prompt: Tokens = [Tools, Prompt, Files, Skills]
            .into_iter()
            .map(|part| self.prompt.tokens(part))
            .sum();
        let tokens: Tokens = restored.iter().map(Fragment::tokens).sum();
        // The fences, the time and the gauge.
        prompt + tokens + Tokens(restored.len() as u32 * 12 + 64)
    }
}

/// What is put back, fitted to the window: a small one has no room for files.
pub(crate) fn restore_limits(config: &crate::config::Config, window: &Window) -> RestoreLimits {
    const ENOUGH: f64 = 64_000.0;
    let share = (f64::from(window.size().0) / ENOUGH).min(1.0);
    let limits = config.restore.clone();
    RestoreLimits {
        checkpoint_tokens: limits.checkpoint_tokens.scale(share.max(0.2)),
        carried_tokens: window.scaled(limits.carried_tokens),
        memory_tokens: limits.memory_tokens.scale(share),
        context_tokens: limits.context_tokens.scale(share),
        log_tokens: window.scaled(limits.log_tokens),
        key_files: (f64::from(limits.key_files) * share).floor() as u32,
        key_file_tokens: limits.key_file_tokens.scale(share.max(0.3)),
        agents_sections: limits.agents_sections,
    }
}
