//! What a person sees of a turn: the answer on standard output as it arrives,
//! everything else beside it on standard error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use longhaul_engine::event::Event;
use longhaul_engine::session::Listener;
use longhaul_model::Delta;

use super::super::events::{self, Weight};
use crate::prelude::*;
use crate::style::Style;

/// The terminal, or what stands in its place. Copies are the same screen.
#[derive(Clone)]
pub(super) struct Screen {
    state: Arc<Mutex<State>>,
    kind: Kind,
}

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Everything, thinking included.
    Terminal,
    /// Answers, tools and events.
    Lines,
    /// Answers alone.
    Bare,
    /// What the user must know beside an answer that is printed at its end.
    Warnings,
    /// Nothing.
    Nothing,
}

impl Kind {
    /// Whether answers are shown as they arrive.
    fn streams(self) -> bool {
        matches!(self, Kind::Terminal | Kind::Lines | Kind::Bare)
    }

    /// Whether tools and events are shown.
    fn tells(self) -> bool {
        matches!(self, Kind::Terminal | Kind::Lines)
    }

    /// Whether warnings are.
    fn warns(self) -> bool {
        self.tells() || self == Kind::Warnings
    }
}

struct State {
    open: Open,
    /// Shown while nothing else is.
    waiting: Option<ProgressBar>,
    /// Why standard output could not be written to.
    broken: Option<Failure>,
}

/// What the cursor stands behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Text,
    Thinking,
    Call,
}

impl Screen {
    pub(super) fn new(kind: Kind) -> Screen {
        Screen {
            state: Arc::new(Mutex::new(State {
                open: Open::Nothing,
                waiting: None,
                broken: None,
            })),
            kind,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line beside the answer.
    pub(super) fn aside(&self, text: &str) {
        if self.kind.tells() {
            self.lines(text, Style::new().dim());
        }
    }

    /// A line that the user should not miss.
    pub(super) fn warn(&self, text: &str) {
        if self.kind.warns() {
            self.lines(text, Style::new().yellow());
        }
    }

    fn lines(&self, text: &str, style: Style) {
        let mut state = self.state();
        state.close();
        let style = style.for_stderr();
        for line in out::redacted(text).lines() {
            out::remark(style.apply_to(line));
        }
    }

    /// Something to be asked: as it is, colours included.
    pub(super) fn ask(&self, text: &str) {
        self.state().close();
        out::beside(text);
    }

    /// Shows that an answer is awaited, until something else is shown.
    pub(super) fn wait(&self) {
        if matches!(self.kind, Kind::Terminal | Kind::Warnings) {
            self.state().wait();
        }
    }

    /// Ends whatever line is open; whether all of it could be written.
    pub(super) fn finish(&self) -> Result {
        let mut state = self.state();
        state.close();
        state.broken.take().map_or(Ok(()), Err)
    }

    fn text(&self, text: &str) {
        self.opened(Open::Text).out(text);
    }

    fn thinking(&self, text: &str) {
        let _state = self.opened(Open::Thinking);
        let dim = Style::new().for_stderr().dim().italic();
        out::beside(&dim.apply_to(text).to_string());
    }

    /// The screen with such a line open.
    fn opened(&self, open: Open) -> MutexGuard<'_, State> {
        let mut state = self.state();
        if state.open != open {
            state.close();
            state.open = open;
        }
        state
    }

    fn called(&self, line: &str) {
        let mut state = self.state();
        state.close();
        let dim = Style::new().for_stderr().dim();
        out::beside(&format!("{} {line}", dim.apply_to("•")));
        state.open = Open::Call;
    }

    fn answered(&self, tool: &str, is_error: bool, outcome: &str) {
        let mut state = self.state();
        let style = Style::new().for_stderr();
        let style = if is_error { style.red() } else { style.dim() };
        let outcome = style.apply_to(outcome);
        // The call's line is gone when somebody was asked in between.
        if state.open == Open::Call {
            out::remark(format_args!(" {outcome}"));
        } else {
            state.close();
            out::remark(format_args!("• {tool} {outcome}"));
        }
        state.open = Open::Nothing;
        drop(state);
        self.wait();
    }
}

impl State {
    /// Shown by a terminal alone.
    fn wait(&mut self) {
        let looks = "{spinner} waiting for an answer ({elapsed}, Ctrl-C stops it)";
        let bar = ProgressBar::new_spinner();
        bar.set_style(
            ProgressStyle::with_template(looks).unwrap_or(ProgressStyle::default_spinner()),
        );
        bar.enable_steady_tick(Duration::from_millis(120));
        self.waiting = Some(bar);
    }

    fn close(&mut self) {
        if let Some(bar) = self.waiting.take() {
            bar.finish_and_clear();
        }
        match self.open {
            Open::Nothing => {}
            Open::Text => self.out("\n"),
            Open::Thinking | Open::Call => out::beside("\n"),
        }
        self.open = Open::Nothing;
    }

    fn out(&mut self, text: &str) {
        if let Err(failure) = out::part(text) {
            self.broken.get_or_insert(failure);
        }
    }
}

impl Listener for Screen {
    fn event(&mut self, event: &Event) {
        match event {
            Event::ToolCalled {
                tool, arguments, ..
            } if self.kind.tells() => self.called(&events::call(tool, arguments)),
            Event::ToolAnswered {
                tool,
                is_error,
                text,
                ..
            } if self.kind.tells() => {
                self.answered(tool, *is_error, &events::outcome(*is_error, text));
            }
            event => match events::event(event) {
                Some((Weight::Warning, line)) => self.warn(&line),
                // Where notes are shown it is one of them.
                Some((Weight::Change, line)) if !self.kind.tells() => self.warn(&line),
                Some((Weight::Note | Weight::Change, line)) => self.aside(&line),
                None => {}
            },
        }
    }

    fn delta(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(text) if self.kind.streams() => self.text(text),
            Delta::Thinking(text) if self.kind == Kind::Terminal => self.thinking(text),
            Delta::Retrying {
                attempt,
                after,
                reason,
            } => self.aside(&format!(
                "trying again in {:.1} s (attempt {attempt}): {reason}",
                after.as_secs_f64()
            )),
            _ => {}
        }
    }
}
