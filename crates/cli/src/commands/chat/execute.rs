//! The commands that are typed at the prompt, carried out.

use longhaul_compaction::Layer;
use longhaul_compaction::compact::CompactionFailure;
use longhaul_engine::catalog::is_prompt;
use longhaul_engine::session::{Error, Listener, Session};
use longhaul_transcript::{Draft, EntryId};

use super::super::spending;
use super::slash::{self, Slash};
use super::{Chat, listener, setup, usage};
use crate::prelude::*;

impl Chat<'_> {
    pub(super) fn execute(&mut self, slash: Slash) -> Result {
        match slash {
            Slash::Compact(focus) => self.compact(focus.as_deref()),
            Slash::Context => self.context(),
            Slash::Status => self.status(),
            Slash::New(name) => self.begin_anew(name),
            Slash::Undo => self.again("undo", "taken back", Session::undo),
            Slash::Redo => self.again("redo", "done again", Session::redo),
            Slash::Pin(entry) => self.pin(entry.as_deref()),
            Slash::Model(None) if self.app.json => self.tell_model(),
            Slash::Model(None) => say!("{}", self.chosen.spec),
            Slash::Model(Some(name)) => self.change_model(&name),
            Slash::Help if self.app.json => help_json(),
            Slash::Help => help(),
            Slash::Quit => Ok(()),
        }
    }

    fn again(
        &mut self,
        event: &str,
        said: &str,
        work: impl FnOnce(&mut Session, &mut dyn Listener) -> Result<EntryId, Error>,
    ) -> Result {
        let mut listener = listener(self.app, &self.screen);
        let subject = work(&mut self.session, listener.as_mut())?;
        let tokens = self.session.size().tokens;
        let value = json!({ "event": event, "subject": subject.as_str(), "tokens": tokens });
        self.tell(
            &value,
            &format!("{said}: {subject}; the context has {tokens} tokens"),
        )
    }

    /// Says what was done.
    fn tell(&self, value: &Value, sentence: &str) -> Result {
        if self.app.json {
            return say!("{value}");
        }
        self.screen.aside(sentence);
        Ok(())
    }

    /// Pins an entry of the context; without a name, what the user said last.
    fn pin(&mut self, name: Option<&str>) -> Result {
        let mut entries = self.session.live().entries().iter().rev();
        let target = match name {
            Some(name) => entries.find(|entry| entry.id.as_str().starts_with(name)),
            None => entries.find(|entry| is_prompt(entry)),
        };
        let Some(target) = target.map(|entry| entry.id.clone()) else {
            return Err(Failure::nothing(match name {
                Some(name) => format!("No entry of the context begins with {name:?}."),
                None => "Nothing was said yet.".to_owned(),
            }));
        };
        self.session.ingest(Draft::pin(target.clone(), None))?;
        let value = json!({ "event": "pin", "entry": target.as_str() });
        self.tell(&value, &format!("{target} is pinned"))
    }

    fn compact(&mut self, focus: Option<&str>) -> Result {
        let mut listener = listener(self.app, &self.screen);
        let Chat {
            runtime,
            stopper,
            session,
            screen,
            ..
        } = self;
        screen.wait();
        let compacted = stopper.run(runtime, async |cancel| {
            session
                .compact(Layer::Summarize, focus, &cancel, listener.as_mut())
                .await
        });
        drop(listener);
        screen.finish()?;
        let why = match compacted {
            Err(Error::Compaction(
                why @ (CompactionFailure::NothingToDo | CompactionFailure::Grows { .. }),
            )) => Some(why.to_string()),
            compacted => compacted.map(|_| None)?,
        };
        let tokens = self.session.size().tokens;
        let value = json!({ "event": "compact", "done": why.is_none(), "tokens": tokens });
        self.tell(&value, &why.unwrap_or_default())
    }

    fn context(&mut self) -> Result {
        let mut listener = listener(self.app, &self.screen);
        usage::print(self.app, &mut self.session, listener.as_mut())
    }

    fn tell_model(&self) -> Result {
        let spec = self.chosen.spec.to_string();
        say!("{}", json!({ "event": "model", "model": spec }))
    }

    fn status(&mut self) -> Result {
        let status = self.session.status();
        if self.app.json {
            return say!("{}", json!({ "event": "status", "status": status }));
        }
        out::row("Session", paint::gist(&status.session, 60))?;
        out::row("File", self.app.show_path(self.session.path()))?;
        out::row("Model", self.chosen.spec.to_string())?;
        out::row("Summaries", &status.summarizer)?;
        let (size, window, from) = (status.size.tokens, status.window, status.activation);
        let percent = status.fullness * 100.0;
        row!(
            "Tokens",
            "{size} of {window} ({percent:.1} %), compaction from {from}"
        )?;
        out::row("Window", &status.window_source)?;
        let state = &status.degradation;
        let (epoch, risk) = (
            self.session.live().epoch(),
            paint::risk(state.risk).apply_to(state.risk),
        );
        row!("Compactions", "{epoch} (risk {risk})")?;
        for line in status.brakes.lines() {
            out::row("Stopped", line)?;
        }
        spending::print(&status.spending)
    }

    fn begin_anew(&mut self, name: Option<String>) -> Result {
        let name = name.or_else(|| self.args.session.clone());
        let mut listener = listener(self.app, &self.screen);
        let new = self.engine.create(name.as_deref(), listener.as_mut())?;
        self.app.last_writes().remember(self.session.path());
        self.place.set(new.path());
        self.session = new;
        self.keep();
        if self.app.json {
            let session = super::json::session(&self.session);
            return say!("{}", json!({ "event": "new", "session": session }));
        }
        self.greet();
        Ok(())
    }

    fn change_model(&mut self, name: &str) -> Result {
        let chosen = setup::connect(self.app, self.args, name)?;
        let engine = setup::engine(self.app, self.args, &chosen, &self.tools, &self.place);
        let path = self.session.path().to_owned();
        let mut listener = listener(self.app, &self.screen);
        self.session = engine.open(&path, listener.as_mut())?;
        self.engine = engine;
        self.chosen = chosen;
        drop(listener);
        self.note_model()?;
        self.keep();
        if self.app.json {
            return self.tell_model();
        }
        self.greet();
        Ok(())
    }
}

fn help_json() -> Result {
    let commands = slash::ALL.iter();
    let commands: Vec<_> = commands
        .map(|(name, takes, does)| json!({ "name": name, "takes": takes, "does": does }))
        .collect();
    say!("{}", json!({ "event": "help", "commands": commands }))
}

fn help() -> Result {
    for (name, more, what) in slash::ALL {
        say!("{:<26} {what}", format!("{name} {more}"))?;
    }
    say!(
        "{:<26} stops the answer; at the prompt it clears the line",
        "Ctrl-C"
    )?;
    say!("{:<26} a line that ends with it goes on", "\\")
}
