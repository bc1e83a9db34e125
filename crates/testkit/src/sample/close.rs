//! The last turn: a sample ends in the middle of the work.

use std::io;

use super::failure::{self, Failure};
use super::output::Output;
use super::prose::QUESTIONS;
use super::record::Stop;
use super::story::{Due, Story};
use super::truth::{InFlight, LastError};

impl Story<'_> {
    /// Edits a file, sees its test fail, and mostly asks what to do.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.interlude()?;
        self.prompt(&mut Due::default())?;
        let pad = self.pad();
        if pad > 0 {
            let command = Output::Log.command(&self.project.scene, &mut self.rng);
            let mut text = String::new();
            Output::Log.print(&self.project.scene, pad, &mut self.rng, &mut text);
            let step = self.bash(&command, text);
            self.work_round(vec![step])?;
        }
        if self.tasks.all_done() {
            self.tasks.start(&self.project.scene, &mut self.rng);
            let step = self.todo();
            self.round("", vec![step])?;
        }
        let at = self.project.hot(&mut self.rng);
        let path = self.project.files[at].path.clone();
        let step = self.edit(at);
        self.work_round(vec![step])?;
        let (scene, kind) = (&self.project.scene, self.project.kind);
        let Failure { test, output } = failure::test(scene, kind.lang, &path, &mut self.rng);
        let command = kind.test.replace('@', &test);
        let first_line = output.lines().next().unwrap_or("").to_owned();
        let step = self.failing_bash(&command, &output);
        self.round("", vec![step])?;
        self.truth.last_error = Some(LastError {
            line: self.record.lines,
            command: command.clone(),
            first_line,
        });
        let question = self.rng.chance(700).then(|| {
            self.project
                .scene
                .text(self.rng.pick(QUESTIONS), &mut self.rng)
        });
        if let Some(text) = &question {
            let answer = format!("`{test}` still fails after the change to {path}. {text}");
            self.record
                .assistant(None, &answer, &[], Stop::Done, &mut self.rng)?;
        }
        self.truth.in_flight = Some(InFlight {
            file: self.absolute(&path),
            command,
            test,
            question,
        });
        Ok(())
    }
}
