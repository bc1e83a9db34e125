//! Steps: a tool call with its result, made together so that none lacks the other.
use std::fmt::Write;
use std::io;

use longhaul_transcript::json::{ObjectWriter, quote};

use super::output::{self, Output};
use super::picture;
use super::record::Stop;
use super::rng::BASE62;
use super::story::Story;
use super::truth::ErrorAt;

/// A tool call and what came back.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) id: String,
    pub(super) tool: &'static str,
    /// JSON.
    pub(super) arguments: String,
    pub(super) result: String,
    /// JSON.
    pub(super) details: Option<String>,
    pub(super) picture: Option<String>,
    pub(super) failed: bool,
    pub(super) took: i64,
    /// The command of a `bash` call.
    pub(super) command: Option<String>,
    /// The errors that this result shows to be gone.
    pub(super) resolves: Vec<usize>,
}

const TOOK_MS: &[i64] = &[3, 6, 9, 14, 30, 90, 400, 1_800, 6_000, 21_000];

impl Story<'_> {
    fn step(&mut self, tool: &'static str, arguments: String, result: String) -> Step {
        let mut id = String::from("toolu_01");
        self.rng.letters(BASE62, 22, &mut id);
        Step {
            id,
            tool,
            arguments,
            result,
            details: None,
            picture: None,
            failed: false,
            took: self.rng.along(&[2, 4, 7, 12]),
            command: None,
            resolves: Vec::new(),
        }
    }

    /// The model's answer with its calls, then all results.
    pub(super) fn round(&mut self, text: &str, steps: Vec<Step>) -> io::Result<()> {
        let thinking = (self.thinks && self.rng.chance(220))
            .then(|| self.project.scene.thought(&mut self.rng));
        self.record.assistant(
            thinking.as_deref(),
            text,
            &steps,
            Stop::ToolUse,
            &mut self.rng,
        )?;
        for step in steps {
            let line = self.record.result(&step)?;
            self.truth.tool_use += 1;
            self.truth.tool_result += 1;
            self.truth.bash += u64::from(step.tool == "bash");
            for error in step.resolves {
                self.truth.errors[error].resolved_line = Some(line);
            }
            if step.failed {
                self.truth.errors.push(ErrorAt {
                    line,
                    text: step.result.chars().take(300).collect(),
                    command: step.command,
                    resolved_line: None,
                });
            }
        }
        self.compact_if_full()
    }

    /// A round that says something first, most of the time.
    pub(super) fn work_round(&mut self, steps: Vec<Step>) -> io::Result<()> {
        let text = if self.rng.chance(600) {
            let opener = self.rng.pick(super::prose::OPENERS);
            self.project.scene.text(opener, &mut self.rng)
        } else {
            String::new()
        };
        self.round(&text, steps)
    }

    /// The path as the agent gives it: mostly relative.
    fn spoken(&mut self, path: &str) -> String {
        if self.rng.chance(150) {
            self.absolute(path)
        } else {
            path.to_owned()
        }
    }

    pub(super) fn read(&mut self, at: usize) -> Step {
        let mut text = String::new();
        self.project.text_of(at, &mut text);
        self.project.files[at].reads += 1;
        let path = self.project.files[at].path.clone();
        let mut arguments = ObjectWriter::new().str("path", &self.spoken(&path));
        let cap = self.cap();
        if text.len() > cap || (text.len() > 6_000 && self.rng.chance(500)) {
            let lines = text.lines().count();
            let limit = self
                .rng
                .between(20, 160)
                .min(lines * cap / text.len())
                .max(3);
            let offset = self.rng.between(1, lines.saturating_sub(limit).max(1));
            arguments = arguments.num("offset", offset).num("limit", limit);
            let mut part = String::with_capacity(8_000);
            for line in text.lines().skip(offset - 1).take(limit) {
                part.push_str(line);
                part.push('\n');
            }
            let shown = offset - 1 + limit;
            if shown < lines {
                // Writing to a string cannot fail.
                let _ = write!(
                    part,
                    "\n[{} more lines in file. Use offset={} to continue.]",
                    lines - shown,
                    shown + 1
                );
            }
            text = part;
        }
        self.step("read", arguments.finish(), text)
    }

    /// A picture that the agent looks at.
    pub(super) fn look(&mut self) -> Step {
        let path = format!(
            "/tmp/shots/{}-{}.png",
            self.project.kind.name,
            self.rng.below(6)
        );
        let arguments = ObjectWriter::new().str("path", &path).finish();
        self.pictures.insert(path);
        let mut step = self.step(
            "read",
            arguments,
            String::from("Read image file [image/png]"),
        );
        step.picture = Some(picture::base64_png(&mut self.rng));
        step
    }

    pub(super) fn edit(&mut self, at: usize) -> Step {
        let (old, new) = self.project.revise(at, &mut self.rng);
        let path = self.project.files[at].path.clone();
        let spoken = self.spoken(&path);
        let arguments = self.edit_arguments(&spoken, &old, &new);
        self.changed(at);
        let first = self.rng.between(4, 400);
        let result = format!("Successfully replaced 1 block(s) in {spoken}.");
        let mut step = self.step("edit", arguments, result);
        step.details = Some(
            ObjectWriter::new()
                .str("diff", &diff(&old, &new, first))
                .num("firstChangedLine", first)
                .finish(),
        );
        step
    }

    /// The two forms that pi's edit tool has had.
    fn edit_arguments(&self, path: &str, old: &str, new: &str) -> String {
        let edit = |writer: ObjectWriter| writer.str("oldText", old).str("newText", new).finish();
        let arguments = ObjectWriter::new().str("path", path);
        if self.edits_in_lists {
            let list = format!("[{}]", edit(ObjectWriter::new()));
            arguments.raw("edits", &list).finish()
        } else {
            edit(arguments)
        }
    }

    /// An edit whose old text is not in the file; the next one works.
    pub(super) fn missed_edit(&mut self, at: usize) -> Step {
        let path = self.project.files[at].path.clone();
        let spoken = self.spoken(&path);
        let old = self.project.scene.text("    ~1(~2, ~N);\n", &mut self.rng);
        let arguments = self.edit_arguments(&spoken, &old, "");
        let result = format!(
            "Could not find the exact text in {spoken}. The old text must match exactly \
             including all whitespace and newlines."
        );
        let mut step = self.step("edit", arguments, result);
        step.failed = true;
        step.details = Some(String::from("{}"));
        step
    }

    pub(super) fn write(&mut self, at: usize) -> Step {
        let mut text = String::new();
        self.project.text_of(at, &mut text);
        let path = self.project.files[at].path.clone();
        let spoken = self.spoken(&path);
        let result = format!("Successfully wrote {} bytes to {spoken}", text.len());
        let arguments = ObjectWriter::new()
            .str("path", &spoken)
            .str("content", &text);
        self.changed(at);
        self.step("write", arguments.finish(), result)
    }

    pub(super) fn bash(&mut self, command: &str, result: String) -> Step {
        let arguments = ObjectWriter::new().str("command", command);
        let arguments = if self.rng.chance(80) {
            arguments.num("timeout", 120)
        } else {
            arguments
        };
        let result = match result.is_empty() {
            true => String::from("(no output)"),
            false => result,
        };
        let mut step = self.step("bash", arguments.finish(), result);
        step.command = Some(command.to_owned());
        step.took = self.rng.along(TOOK_MS);
        step
    }

    pub(super) fn failing_bash(&mut self, command: &str, output: &str) -> Step {
        let code = if self.rng.chance(150) { 101 } else { 1 };
        let result = format!("{}\n\nCommand exited with code {code}", output.trim_end());
        let mut step = self.bash(command, result);
        step.failed = true;
        step.details = Some(String::from("{}"));
        step
    }

    /// A command with an output of its kind.
    pub(super) fn survey(&mut self, kind: Output) -> Step {
        let size = output::size(&mut self.rng).min(self.cap());
        let command = kind.command(&self.project.scene, &mut self.rng);
        let mut text = String::with_capacity(size + 400);
        kind.print(&self.project.scene, size, &mut self.rng, &mut text);
        self.bash(&command, text)
    }

    pub(super) fn todo(&mut self) -> Step {
        let list: Vec<String> = self
            .tasks
            .list()
            .map(|(text, state)| format!("{{\"content\":{},\"status\":\"{state}\"}}", quote(text)))
            .collect();
        let list = format!("[{}]", list.join(","));
        let result = self.tasks.progress();
        let arguments = ObjectWriter::new().raw("todos", &list).finish();
        let mut step = self.step("todo", arguments, result);
        step.details = Some(ObjectWriter::new().raw("todos", &list).finish());
        step
    }

    pub(super) fn changed(&mut self, at: usize) {
        self.project.files[at].changes += 1;
    }
}

/// The difference as pi shows it: removed and added lines with their numbers.
fn diff(old: &str, new: &str, first: usize) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = old[same..]
        .iter()
        .rev()
        .zip(new[same..].iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    let mut out = String::new();
    for (sign, lines) in [('-', &old), ('+', &new)] {
        for (at, line) in lines[same..lines.len() - tail].iter().enumerate() {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{sign}{:>3} {line}", first + at);
        }
    }
    out.truncate(out.trim_end().len());
    out
}
