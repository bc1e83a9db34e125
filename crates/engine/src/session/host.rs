//! What a session offers to a host that has the messages and runs the model.

use longhaul_assembly::SystemPrompt;
use longhaul_tokens::{Fragment, ResolvedWindow, Tokens, Window, WindowOrigin};
use longhaul_transcript::{ContextMessage, Draft, EntryId, Role};

use super::{Listener, Result, Session, layout};

/// The gauge is shown in steps of one part in so many of the window: it is part
/// of a prompt that should stay the same for as long as it can.
const GAUGE_STEPS: u32 = 20;

/// A context for a host, laid out.
pub(crate) struct Laid {
    /// What is sent, in order; notes of ours among it.
    pub(crate) messages: Vec<ContextMessage>,
    /// How large it is, as counted part by part.
    pub(crate) tokens: Tokens,
}

impl Session {
    /// The last entry.
    pub(crate) fn leaf(&self) -> Option<EntryId> {
        self.live().leaf()
    }

    /// What was appended is on the disk when this returns, unless durability is
    /// left to the operating system.
    pub(crate) fn make_durable(&mut self) -> Result<()> {
        Ok(self.writer.end_turn()?)
    }

    /// Goes on behind another entry than the leaf, `None` being the very start.
    /// What is left stays in the file.
    pub(crate) fn branch(
        &mut self,
        behind: Option<EntryId>,
        drafts: &[Draft],
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let stamped = self.stamped(drafts);
        self.writer.branch(behind);
        self.writer.append_all(&stamped)?;
        // The path is another one now.
        self.known_size = 0;
        self.heard(listener).refresh()
    }

    /// Reads the session anew, after a host has rewritten what it said, and has
    /// the entries that it is about put into the index again.
    pub(crate) fn reread(
        &mut self,
        changed: &[EntryId],
        listener: &mut dyn Listener,
    ) -> Result<()> {
        self.known_size = 0;
        self.heard(listener).refresh()?;
        if let Some(departures) = &self.setup.departures {
            departures.left(self.writer.path(), changed);
        }
        Ok(())
    }

    /// Whether the file is the one that was written last, and as long.
    pub(crate) fn is_untouched(&self) -> bool {
        self.size_on_disk() == self.known_size
    }

    /// Works within a window that a host names for its next request.
    pub(crate) fn fit(&mut self, window: Tokens) -> Result<()> {
        let config = &self.setup.config;
        let window = match config.compaction.context_window {
            Some(most) => window.min(most),
            None => window,
        };
        if window == self.window().size() {
            return Ok(());
        }
        self.bench.window = Window::new(&config.window_settings(window))?;
        self.resolved = ResolvedWindow {
            window,
            origin: WindowOrigin::Metadata,
        };
        Ok(())
    }

    /// Serves a host from now on. It has the system prompt and the tools, and
    /// its budget is for the messages alone; what its provider reports is the
    /// size of all of them together, and says nothing about that.
    pub(crate) fn serve_host(&mut self) {
        self.hosted = true;
        self.anchor = None;
        self.prompt = SystemPrompt::none();
    }

    /// An answer has come: the provider has the prompt in its cache.
    pub(crate) fn note_answer(&mut self) {
        self.last_request = Some(self.setup.now());
    }

    /// Lays out what a host sends: summary, restored state, and of the history
    /// what it lists.
    pub(crate) fn lay_for_host(&mut self, lists: &dyn Fn(&EntryId) -> bool) -> Result<Laid> {
        let mut shown = self.live().messages().to_vec();
        shown.retain(|it| it.role == Role::CompactionSummary || lists(&it.entry));
        let history = layout::history(&shown, &mut self.bench.meter);
        let assembled = self.assembled(&history, &[], None)?;
        let tokens = assembled.breakdown().total;
        let messages = assembled.into_messages();
        Ok(Laid {
            messages: messages.into_iter().map(|m| m.into_owned()).collect(),
            tokens,
        })
    }

    /// What an agent is told about a context of this size.
    pub(crate) fn gauge_for_host(&self, size: Tokens) -> Vec<Fragment> {
        let step = (self.window().size().0 / GAUGE_STEPS).max(1);
        self.notes(Tokens(size.0 / step * step))
    }

    /// What counts tokens here.
    pub(crate) fn counter(&self) -> &'static dyn longhaul_tokens::Counter {
        self.bench.meter.estimator().counter()
    }

    /// Whether the window may be too small for what is in the context and what
    /// comes on top, without what is not sent.
    pub(crate) fn is_over(&mut self, extra: Tokens, unsent: Tokens) -> bool {
        let size = self.size();
        size.at_most + extra - unsent >= self.window().hard()
    }

    /// What a message of the context takes.
    pub(crate) fn tokens_of(&mut self, message: &ContextMessage) -> Tokens {
        let settings = &self.bench.live.loaded().settings;
        let model = settings.model.as_ref().map(|model| model.model_id.as_str());
        let factor = self.bench.meter.factor(model.unwrap_or_default()).value;
        self.bench.meter.message(message).scale(factor)
    }
}
