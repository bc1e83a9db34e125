//! The commands that are typed at the prompt, carried out.

use longhaul_compaction::Layer;
use longhaul_engine::live::CompactionFailure;
use longhaul_engine::session::Error;

use serde_json::json;

use super::filled::Filled;
use super::slash::{self, Slash};
use super::{Chat, failure, listener, money, setup};
use crate::failure::Failure;
use crate::out::say;
use crate::{own_write, paint};

impl Chat<'_> {
    pub(super) fn obey(&mut self, slash: Slash) -> Result<(), Failure> {
        match slash {
            Slash::Compact(focus) => self.compact(focus.as_deref()),
            Slash::Context => self.context(),
            Slash::Status => self.status(),
            Slash::New(name) => self.begin_anew(name),
            Slash::Undo => {
                let mut listener = listener(self.app, &self.screen);
                let subject = self.session.undo(listener.as_mut()).map_err(failure)?;
                let tokens = self.session.size().tokens;
                if self.app.json {
                    let subject = subject.to_string();
                    return say!(
                        "{}",
                        json!({ "event": "undo", "subject": subject, "tokens": tokens })
                    );
                }
                self.screen.aside(&format!(
                    "taken back: {subject}; the context has {tokens} tokens"
                ));
                Ok(())
            }
            Slash::Model(None) if self.app.json => self.tell_model(),
            Slash::Model(None) => say!("{}", self.chosen.spec),
            Slash::Model(Some(name)) => self.change_model(&name),
            Slash::Help if self.app.json => help_json(),
            Slash::Help => help(),
            Slash::Quit => Ok(()),
        }
    }

    fn compact(&mut self, focus: Option<&str>) -> Result<(), Failure> {
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
            compacted => compacted.map(|_| None).map_err(failure)?,
        };
        if self.app.json {
            let tokens = self.session.size().tokens;
            return say!(
                "{}",
                json!({ "event": "compact", "done": why.is_none(), "tokens": tokens })
            );
        }
        if let Some(why) = why {
            self.screen.aside(&why);
        }
        Ok(())
    }

    fn context(&mut self) -> Result<(), Failure> {
        let mut listener = listener(self.app, &self.screen);
        let meter = self.app.meter();
        let filled = Filled::of(&mut self.session, meter, listener.as_mut()).map_err(failure)?;
        match self.app.json {
            true => say!("{}", filled.json()),
            false => filled.print(),
        }
    }

    fn tell_model(&self) -> Result<(), Failure> {
        let spec = self.chosen.spec.to_string();
        say!("{}", json!({ "event": "model", "model": spec }))
    }

    fn status(&mut self) -> Result<(), Failure> {
        let status = self.session.status();
        if self.app.json {
            return say!("{}", json!({ "event": "status", "status": status }));
        }
        paint::row("Session", paint::gist(&status.session, 60))?;
        paint::row("File", self.app.show_path(self.session.path()))?;
        paint::row("Model", self.chosen.spec.to_string())?;
        paint::row("Summaries", &status.summarizer)?;
        paint::row(
            "Tokens",
            format!(
                "{} of {} ({:.1} %), compaction from {}",
                status.size.tokens,
                status.window,
                status.fullness * 100.0,
                status.activation
            ),
        )?;
        paint::row("Window", &status.window_source)?;
        let state = &status.degradation;
        paint::row(
            "Compactions",
            format!(
                "{} (risk {})",
                self.session.live().epoch(),
                paint::risk(state.risk).apply_to(state.risk)
            ),
        )?;
        for line in status.brakes.lines() {
            paint::row("Stopped", line)?;
        }
        money::print(&status.spending)
    }

    fn begin_anew(&mut self, name: Option<String>) -> Result<(), Failure> {
        let name = name.or_else(|| self.args.session.clone());
        let mut listener = listener(self.app, &self.screen);
        let new = self
            .engine
            .create(name.as_deref(), listener.as_mut())
            .map_err(failure)?;
        own_write::remember(self.app, self.session.path());
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

    fn change_model(&mut self, name: &str) -> Result<(), Failure> {
        let chosen = setup::connect(self.app, self.args, name)?;
        let engine = setup::engine(self.app, self.args, &chosen, &self.tools, &self.place);
        let path = self.session.path().to_owned();
        let mut listener = listener(self.app, &self.screen);
        self.session = engine.open(&path, listener.as_mut()).map_err(failure)?;
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

fn help_json() -> Result<(), Failure> {
    let commands: Vec<_> = slash::ALL
        .iter()
        .map(|(name, takes, does)| json!({ "name": name, "takes": takes, "does": does }))
        .collect();
    say!("{}", json!({ "event": "help", "commands": commands }))
}

fn help() -> Result<(), Failure> {
    for (name, more, what) in slash::ALL {
        say!("{:<26} {what}", format!("{name} {more}"))?;
    }
    say!(
        "{:<26} stops the answer; at the prompt it clears the line",
        "Ctrl-C"
    )?;
    say!("{:<26} a line that ends with it goes on", "\\")
}
