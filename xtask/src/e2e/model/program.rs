//! The `longhaul` program itself: one process a turn, as a script would use it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::heard::Heard;
use crate::Result;

/// A chat by way of `longhaul chat --print --json`.
pub(super) struct Program<'a> {
    pub(super) program: &'a Path,
    /// The model, as `--model` takes it.
    pub(super) model: String,
    pub(super) workspace: &'a Path,
    pub(super) state: &'a Path,
    /// Where its settings are.
    pub(super) config: PathBuf,
    /// The session's file, once it was said.
    pub(super) session: Option<PathBuf>,
    /// The window it believes in.
    pub(super) window: u32,
}

impl Program<'_> {
    /// Writes the settings: the window, and whether a model writes summaries.
    pub(super) fn settle(&self, summaries: Summaries) -> Result<()> {
        let extracted = match summaries {
            Summaries::ByModel => "",
            Summaries::Extracted => "    provider: extractive\n",
        };
        let text = format!(
            "compaction:\n  contextWindow: {}\n  model:\n    maxTokens: {}\n{extracted}",
            self.window,
            super::SUMMARY,
        );
        Ok(fs::write(&self.config, text)?)
    }

    /// Says something and hears what comes of it.
    pub(super) fn say(&mut self, message: &str, heard: &mut Heard) -> Result<()> {
        // A file, so that it never waits for somebody to read its complaints.
        let complaints = self.config.with_extension("err");
        let mut child = Command::new(self.program)
            .args(["chat", "--print", "--json", "--no-tools"])
            .args(["--session", "long", "--timeout", "7200", "--model"])
            .arg(&self.model)
            .arg("--config")
            .arg(&self.config)
            .arg("--workspace")
            .arg(self.workspace)
            .arg("--state-dir")
            .arg(self.state)
            // Neither the user's skills nor their settings are part of this.
            .env("HOME", self.state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&complaints)?)
            .spawn()
            .map_err(|error| format!("{}: {error}", self.program.display()))?;
        let mut input = child.stdin.take().ok_or("its input is piped")?;
        input.write_all(message.as_bytes())?;
        drop(input);
        let output = child.stdout.take().ok_or("its output is piped")?;
        let mut ended = false;
        for line in BufReader::new(output).lines() {
            let event: Value = serde_json::from_str(&line?)?;
            if event["event"] == "result" {
                ended = true;
                self.session = event["session"]["path"].as_str().map(PathBuf::from);
                let window = event["status"]["window"].as_u64();
                self.window = window
                    .and_then(|window| u32::try_from(window).ok())
                    .unwrap_or(0);
            }
            heard.take(&event);
        }
        child.wait()?;
        if !ended {
            let said = fs::read_to_string(&complaints)?;
            return Err(format!("longhaul chat ended without a result: {}", said.trim()).into());
        }
        Ok(())
    }
}

/// Who writes summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Summaries {
    ByModel,
    Extracted,
}
