//! `cargo xtask e2e pi`: the real pi with the extension, and a model made of paper.
//!
//! pi runs as its users run it: its own program, its own file, the extension from
//! `integrations/pi`, the longhaul program beside it. Only the model is played,
//! because what it does has to be known beforehand. It reads more files than its
//! window holds, several times over; and everything that should be in pi's file, in
//! our state folder and in the requests afterwards is looked for there.

mod file;
mod host;
mod model;
mod pruning;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use longhaul_testkit::content::text;
use serde_json::{Value, json};

use self::host::{Home, Pi};
use self::model::{Answer, Scripted};
use crate::peers::Peers;
use crate::{Result, paths, shell};

const WINDOW: u32 = 24_000;
/// One in which hiding tool output makes as much room as the first summary might.
const WIDE: u32 = 60_000;
/// Prompts, and files that are read for each.
const STEPS: u32 = 14;
const FILES: u32 = 4;
/// Steps within which there is something to compact again.
const SOON: u32 = 4;
/// The step after which the longhaul process is killed.
const KILLED_AFTER: u32 = 4;

/// What is typed while a tool runs.
const STEERED: &str = "While you are at it: the port is 8443, not 8080.";
const FOLLOWED: &str = "When that is done, name the file ports.md.";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The longhaul program to use [default: one is built]
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let begun = Instant::now();
    let program = match &args.program {
        Some(program) => fs::canonicalize(program)?,
        None => {
            shell::run(shell::cargo().args(["build", "--package", "longhaul"]))?;
            paths::target().join("debug/longhaul")
        }
    };
    let peers = Peers::install()?;
    let model = Scripted::start(WINDOW)?;
    let home = Home::new(paths::scratch("e2e-pi")?, &model.url(), WINDOW)?;
    let mut run = Run {
        findings: Findings::default(),
        program,
        peers,
        model,
        home,
    };
    run.holds_alone()?;
    run.works_through()?;
    run.goes_on_after_a_restart()?;
    run.goes_on_without_us()?;
    run.comes_back()?;
    run.reads_afterwards()?;
    run.survives_another_file()?;
    run = run.in_a_wide_window()?;
    run.hides_old_output()?;
    println!("\n{:.0} s", begun.elapsed().as_secs_f64());
    run.findings.end()
}

/// What was looked for, and whether it was there.
#[derive(Default)]
struct Findings {
    checked: usize,
    failed: Vec<String>,
}

impl Findings {
    fn check(&mut self, what: &str, holds: bool, seen: impl std::fmt::Display) {
        self.checked += 1;
        let mark = if holds { "ok    " } else { "FAILED" };
        println!("{mark}  {what}: {seen}");
        if !holds {
            self.failed.push(what.to_owned());
        }
    }

    fn end(self) -> Result<()> {
        match self.failed.as_slice() {
            [] => {
                println!("all {} checks hold", self.checked);
                Ok(())
            }
            failed => Err(format!(
                "{} of {} checks failed: {}",
                failed.len(),
                self.checked,
                failed.join("; ")
            )
            .into()),
        }
    }
}

struct Run {
    findings: Findings,
    program: PathBuf,
    peers: Peers,
    model: Scripted,
    home: Home,
}

impl Run {
    /// The extension's own tests, with a pi that is played.
    fn holds_alone(&mut self) -> Result<()> {
        let folder = paths::root().join("integrations/pi");
        let output = Command::new(self.peers.node())
            .arg("--test")
            .current_dir(folder)
            .output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let passed = said.lines().rev().find(|line| line.contains("pass "));
        self.findings.check(
            "the extension's own tests pass",
            output.status.success(),
            passed.unwrap_or_default(),
        );
        Ok(())
    }

    /// A long piece of work in one pi, whose longhaul process is killed half way.
    fn works_through(&mut self) -> Result<()> {
        let mut pi = Pi::start(&self.home, &self.peers, &self.program)?;
        let mut pids = Vec::new();
        for step in 0..STEPS {
            self.step(&mut pi, step)?;
            pids.extend(pi.sidecar()?);
            if step == KILLED_AFTER
                && let Some(pid) = pids.last()
            {
                shell::output(Command::new("kill").args(["-9", &pid.to_string()]))?;
            }
        }
        pids.dedup();
        let file = self.home.session()?;
        let entries = file::entries(&file)?;
        let checkpoints = self.checkpoints()?;
        let ours = our_compactions(&entries);
        let restored = marked(&entries, "custom_message", "longhaul:restore");
        let findings = &mut self.findings;
        findings.check("checkpoints are in our store", !checkpoints.is_empty(), {
            let triggers: Vec<&str> = checkpoints.iter().map(|(_, why)| why.as_str()).collect();
            triggers.join(", ")
        });
        findings.check(
            "one of them was written at its threshold",
            checkpoints.iter().any(|(_, why)| why == "auto-80pct"),
            checkpoints.len(),
        );
        findings.check(
            "compactions in pi's file are ours",
            !ours.is_empty() && ours.len() == file::of_type(&entries, "compaction").len(),
            ours.len(),
        );
        let task = fs::read_to_string(self.home.work.join("memories/context.md"));
        findings.check(
            "the task at hand is written down in the workspace",
            task.as_ref().is_ok_and(|task| task.contains("Step ")),
            task.map_or_else(
                |error| error.to_string(),
                |task| format!("{} bytes", task.len()),
            ),
        );
        findings.check(
            "each carries our ledger and names its checkpoint",
            ours.iter().all(|entry| {
                let details = &entry["details"];
                !details["ledger"].is_null() && details["checkpointId"].is_string()
            }),
            ours.len(),
        );
        findings.check(
            "the state of the work that was put back is in pi's file",
            !restored.is_empty() && restored.len() <= ours.len(),
            restored.len(),
        );
        findings.check(
            "a killed process is replaced, and the work goes on",
            pids.len() >= 2,
            format!("{} processes", pids.len()),
        );
        let summaries = self.model.summaries();
        findings.check(
            "no model was asked for a summary",
            summaries == 0,
            summaries,
        );

        self.recalls_what_left(&mut pi, &entries)?;
        self.shows_a_large_result_in_part(&mut pi)?;
        self.hears_what_is_typed_meanwhile(&mut pi)?;
        self.compacts_when_asked(&mut pi)?;
        self.keeps_what_was_typed_meanwhile(&mut pi)?;
        pi.notices.clear();
        pi.prompt("/longhaul")?;
        let status = pi.notices.join("\n");
        let findings = &mut self.findings;
        findings.check(
            "/longhaul says how it stands",
            status.contains("compactions") && status.contains("of 24,000 tokens"),
            status.replace('\n', " | "),
        );
        let errors = pi.errors.join("; ");
        findings.check("the extension made no error", errors.is_empty(), &errors);
        let ended = pi.end()?;
        findings.check("pi ends by itself", ended, ended);
        self.looks_at_requests();
        Ok(())
    }

    /// One prompt, for which the model reads some files.
    fn step(&self, pi: &mut Pi, step: u32) -> Result<()> {
        let mut answers = Vec::new();
        for number in 0..FILES {
            let name = format!("part-{step}-{number}.rs");
            fs::write(self.home.work.join(&name), part(step, number))?;
            answers.push(Answer::Call("read", json!({ "path": name })));
        }
        answers.push(Answer::Text(report(step)));
        self.model.will(answers);
        let prompt = format!("Step {step}: read the {FILES} parts and say what they compute.");
        pi.prompt(&prompt)?;
        match self.model.left() {
            0 => Ok(()),
            left => Err(format!("step {step} ended {left} answers early").into()),
        }
    }

    /// The model asks for a file that it read first, and gets its bytes.
    fn recalls_what_left(&mut self, pi: &mut Pi, entries: &[Value]) -> Result<()> {
        let needle = needle(0, 1);
        let first = entries.iter().find(|entry| {
            entry["message"]["role"] == "toolResult" && text(&entry["message"]).contains(&needle)
        });
        let id = first
            .and_then(|entry| entry["id"].as_str())
            .ok_or("the first file is in pi's file")?;
        let requests = self.model.requests();
        let shown = |request: &Value| request["messages"].to_string().contains(&needle);
        let left = requests.iter().any(shown) && !requests.last().is_some_and(shown);
        self.findings
            .check("what was read first has left the context", left, id);
        self.model.will([
            Answer::Call("recall", json!({ "id": id })),
            Answer::Text("It is back.".into()),
        ]);
        pi.prompt("What was in the first part?")?;
        let entries = file::entries(&self.home.session()?)?;
        let (_, text) = file::last_result(&entries, "recall").unwrap_or_default();
        let back = text.contains(part(0, 1).trim_end());
        self.findings.check(
            "recall gives the model every byte of it back",
            back,
            format!("{} characters", text.len()),
        );
        Ok(())
    }

    fn shows_a_large_result_in_part(&mut self, pi: &mut Pi) -> Result<()> {
        let lines: String = (0..700)
            .map(|line| {
                format!(
                    "line {line} of the output, with a number: {}\n",
                    line * 7919
                )
            })
            .collect();
        fs::write(self.home.work.join("large.txt"), &lines)?;
        self.model.will([
            Answer::Call("bash", json!({ "command": "cat large.txt" })),
            Answer::Text("That was long.".into()),
        ]);
        pi.prompt("Show me large.txt.")?;
        let entries = file::entries(&self.home.session()?)?;
        let (_, shown) = file::last_result(&entries, "bash").unwrap_or_default();
        let id = shown
            .split("recall id=")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next())
            .unwrap_or_default()
            .to_owned();
        self.findings.check(
            "a result of more than a quarter of the window is shown in part",
            !id.is_empty() && shown.len() < lines.len() / 2,
            format!("{} of {} bytes", shown.len(), lines.len()),
        );
        let at = lines.find("line 350 of").unwrap_or_default();
        self.model.will([
            Answer::Call("recall", json!({ "id": id, "offset": at })),
            Answer::Text("There it is.".into()),
        ]);
        pi.prompt("What is in line 350?")?;
        let entries = file::entries(&self.home.session()?)?;
        let (_, text) = file::last_result(&entries, "recall").unwrap_or_default();
        let wanted = format!("line 350 of the output, with a number: {}\n", 350 * 7919);
        self.findings.check(
            "and recalled whole",
            text.contains(&wanted) && !shown.contains(&wanted),
            wanted.trim_end(),
        );
        Ok(())
    }

    /// Two texts come while a tool runs; the model hears both.
    fn hears_what_is_typed_meanwhile(&mut self, pi: &mut Pi) -> Result<()> {
        self.model.will([
            Answer::Call("bash", json!({ "command": "sleep 2; echo slept" })),
            Answer::Text("With the remark in mind.".into()),
            Answer::Text("And that as well.".into()),
        ]);
        pi.interrupt("Sleep a little.", STEERED, FOLLOWED)?;
        let entries = file::entries(&self.home.session()?)?;
        let said = |words: &str| {
            let messages = entries.iter().map(|entry| &entry["message"]);
            messages
                .filter(|message| message["role"] == "user" && text(message) == words)
                .count()
        };
        self.findings.check(
            "pi writes what is typed while it works as the user's",
            said(STEERED) == 1 && said(FOLLOWED) == 1 && self.model.left() == 0,
            format!("{} and {} times", said(STEERED), said(FOLLOWED)),
        );
        Ok(())
    }

    /// Both stand in the context when the messages that they were have left it.
    fn keeps_what_was_typed_meanwhile(&mut self, pi: &mut Pi) -> Result<()> {
        for step in STEPS + SOON..STEPS + SOON + 3 {
            self.step(pi, step)?;
        }
        self.has_it_compact(pi, STEPS + SOON + 3)?;
        let entries = file::entries(&self.home.session()?)?;
        let last = our_compactions(&entries).last().copied();
        let summary = last.and_then(|entry| entry["summary"].as_str());
        let lines: Vec<&str> = summary.unwrap_or_default().lines().collect();
        let place = |words: &str| {
            let mut lines = lines.iter();
            lines.position(|line| line.starts_with("- #") && line.ends_with(words))
        };
        let (steered, followed) = (place(STEERED), place(FOLLOWED));
        self.findings.check(
            "and our summary has it word for word, in its order",
            steered.is_some() && steered < followed,
            format!("lines {steered:?} and {followed:?} of {}", lines.len()),
        );
        Ok(())
    }

    /// Works on until pi finds something to leave out, since right behind one of our
    /// compactions there is nothing; says how many of ours came before.
    fn has_it_compact(&mut self, pi: &mut Pi, from: u32) -> Result<usize> {
        for step in from..from + SOON {
            self.step(pi, step)?;
            let before = our_compactions(&file::entries(&self.home.session()?)?).len();
            if pi.compact()? {
                return Ok(before);
            }
        }
        Err(format!("pi found nothing to compact in {SOON} steps").into())
    }

    fn compacts_when_asked(&mut self, pi: &mut Pi) -> Result<()> {
        let before = self.has_it_compact(pi, STEPS)?;
        let entries = file::entries(&self.home.session()?)?;
        let ours = our_compactions(&entries);
        let trigger = ours.last().map(|entry| entry["details"]["trigger"].clone());
        self.findings.check(
            "pi's /compact writes our compaction",
            ours.len() == before + 1
                && trigger == Some(json!("manual"))
                && self.model.summaries() == 0,
            format!("trigger {}", trigger.unwrap_or_default()),
        );
        Ok(())
    }

    /// What pi sent to its model.
    fn looks_at_requests(&mut self) {
        let requests = self.model.requests();
        let largest = requests.iter().map(model::tokens).max().unwrap_or_default();
        let orphans: usize = requests.iter().map(file::orphans).sum();
        let gauges = requests.iter().filter(|request| {
            let last = request["messages"].as_array().and_then(|all| all.last());
            last.is_some_and(|last| {
                text(last)
                    .trim_end()
                    .ends_with("tokens | Checkpoint saved]")
            })
        });
        let gauges = gauges.count();
        let entries = self.home.session().and_then(|path| file::entries(&path));
        let entries = entries.unwrap_or_default();
        let changes = marked(&entries, "custom", "longhaul:prune").len()
            + file::of_type(&entries, "compaction").len();
        let rewrites = file::rewrites(&requests);
        let findings = &mut self.findings;
        findings.check(
            "no request was larger than the window",
            largest <= u64::from(WINDOW),
            format!("{largest} of {WINDOW} in {} requests", requests.len()),
        );
        let (mut compacted, mut bare, mut ahead, mut behind) = (0, 0, 0, 0);
        for request in &requests {
            let text = request["messages"].to_string();
            let is_compacted = text.contains("<summary>");
            compacted += usize::from(is_compacted);
            bare += usize::from(is_compacted && !text.contains("<longhaul:checkpoint"));
            behind += usize::from(file::is_behind_the_user(request));
            let mut last = request["messages"].as_array().into_iter().flatten().rev();
            let said = last.find(|message| !file::is_note(message));
            let is_users = said.is_some_and(|message| message["role"] == "user");
            ahead += usize::from(is_users && last.next().is_some_and(file::is_restored));
        }
        let moves = file::moves(&requests);
        findings.check(
            "every request after a compaction carries the state of the work",
            compacted > 0 && bare == 0,
            format!("{bare} of {compacted} do not"),
        );
        findings.check(
            "it stands before what the user says next, and stays there",
            ahead > 0 && behind == 0 && moves == 0,
            format!("before {ahead} times, behind {behind}, moved {moves}"),
        );
        findings.check(
            "every call has its result in every request",
            orphans == 0,
            orphans,
        );
        findings.check(
            "the gauge is the last thing in a request",
            gauges > 0,
            gauges,
        );
        findings.check(
            "a request begins as the one before, but for prunings and compactions",
            rewrites <= changes,
            format!("{rewrites} rewrites, {changes} reasons"),
        );
    }

    /// Another pi goes on from the compaction.
    fn goes_on_after_a_restart(&mut self) -> Result<()> {
        let before = self.model.requests().len();
        self.model.will([Answer::Text("Here I am again.".into())]);
        let output = self
            .home
            .print(&self.peers, &self.program, "Are you still there?")?;
        let requests = self.model.requests();
        let request = requests.get(before).cloned().unwrap_or_default();
        let entries = file::entries(&self.home.session()?)?;
        let last = our_compactions(&entries)
            .last()
            .map(|entry| entry["summary"].clone());
        let summary = last.as_ref().and_then(Value::as_str).unwrap_or_default();
        let sent = request["messages"].as_array().into_iter().flatten();
        let carries = sent.map(text).any(|text| text.contains(summary));
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        self.findings.check(
            "another pi goes on from our compaction",
            said == "Here I am again." && !summary.is_empty() && carries,
            said,
        );
        Ok(())
    }

    /// A program that is missing, and one that is too old.
    fn goes_on_without_us(&mut self) -> Result<()> {
        let old = self.home.folder.join("old-longhaul");
        fs::write(
            &old,
            "#!/bin/sh\necho \"error: unrecognized subcommand 'rpc'\" >&2\nexit 2\n",
        )?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&old, fs::Permissions::from_mode(0o755))?;
        }
        let missing = self.home.folder.join("no-such-program");
        for (what, program, named) in [
            ("missing", missing, "is not there"),
            ("too old", old, "too old"),
        ] {
            self.model.will([
                Answer::Call("read", json!({ "path": "part-0-0.rs" })),
                Answer::Text("Done without.".into()),
            ]);
            let output = self
                .home
                .print(&self.peers, &program, "Read the first part.")?;
            let said = String::from_utf8_lossy(&output.stdout);
            let notices = String::from_utf8_lossy(&output.stderr);
            let ours = notices.matches("longhaul cannot help now").count();
            self.findings.check(
                &format!("with a program that is {what}, pi does its work"),
                output.status.success() && said.contains("Done without."),
                said.trim(),
            );
            self.findings.check(
                "and says so once",
                ours == 1 && notices.contains(named),
                notices.trim(),
            );
        }
        Ok(())
    }

    /// The same session with the program again.
    fn comes_back(&mut self) -> Result<()> {
        self.model.will([
            Answer::Call("recall", json!({ "text": needle(0, 1) })),
            Answer::Text("And back.".into()),
        ]);
        let output = self.home.print(&self.peers, &self.program, "And now?")?;
        let entries = file::entries(&self.home.session()?)?;
        let (_, text) = file::last_result(&entries, "recall").unwrap_or_default();
        self.findings.check(
            "once the program is there again, it helps again",
            output.status.success() && text.contains(&needle(0, 1)),
            String::from_utf8_lossy(&output.stdout).trim(),
        );
        Ok(())
    }

    /// The session file is replaced under a running pi: by a copy, then by its
    /// first half, in which the entry at which pi is has no place.
    fn survives_another_file(&mut self) -> Result<()> {
        let file = self.home.session()?;
        let mut pi = Pi::start(&self.home, &self.peers, &self.program)?;
        let text = fs::read_to_string(&file)?;
        let lines: Vec<&str> = text.lines().collect();
        let half = lines[..lines.len() / 2].join("\n") + "\n";
        for (what, content) in [("a copy", text.clone()), ("its first half", half)] {
            self.model.will([Answer::Text("Before.".into())]);
            pi.prompt("Say something.")?;
            let other = file.with_extension("other");
            fs::write(&other, content)?;
            fs::rename(&other, &file)?;
            self.model.will([
                Answer::Call("read", json!({ "path": "part-0-0.rs" })),
                Answer::Text("After.".into()),
            ]);
            pi.prompt("Read the first part.")?;
            let left = self.model.left();
            let errors = pi.errors.join("; ");
            self.findings.check(
                &format!("a file replaced by {what} does not stop pi"),
                left == 0 && errors.is_empty(),
                errors,
            );
        }
        Ok(())
    }

    /// Our own commands on pi's file.
    fn reads_afterwards(&mut self) -> Result<()> {
        let file = self.home.session()?;
        let entries = file::entries(&file)?;
        let ours = our_compactions(&entries);
        let last = ours
            .last()
            .and_then(|entry| entry["id"].as_str())
            .unwrap_or_default();
        let (recalled, _) = file::last_result(&entries, "read").unwrap_or_default();
        let commands: [&[&str]; 4] = [
            &["session", "verify", "--session"],
            &["context", "status", "--session"],
            &["context", "diff", last, "--session"],
            &["recall", &recalled, "--session"],
        ];
        for command in commands {
            self.says(command, &file)?;
        }
        Ok(())
    }

    /// What a command of ours says of pi's file.
    fn says(&mut self, command: &[&str], file: &Path) -> Result<String> {
        let output = Command::new(&self.program)
            .args(command)
            .arg(file)
            .env("LONGHAUL_STATE_DIR", &self.home.state)
            .env("HOME", &self.home.folder)
            .current_dir(&self.home.work)
            .output()?;
        let said = String::from_utf8_lossy(match output.status.success() {
            true => &output.stdout,
            false => &output.stderr,
        })
        .into_owned();
        let mut what = String::from("longhaul");
        for word in &command[..command.len() - 1] {
            let _ = write!(what, " {word}");
        }
        let first = said.lines().find(|line| !line.trim().is_empty());
        self.findings.check(
            &format!("{what} on pi's file"),
            output.status.success(),
            first.unwrap_or_default().trim(),
        );
        Ok(said)
    }

    /// The checkpoints in the state folder: file and trigger.
    fn checkpoints(&self) -> Result<Vec<(PathBuf, String)>> {
        let mut found = Vec::new();
        let all = self.home.state.join("context/checkpoints");
        for session in fs::read_dir(&all).into_iter().flatten() {
            let yaml = |name: &str| name.starts_with("cp_") && name.ends_with(".yaml");
            for path in paths::files(&session?.path(), yaml)? {
                let why = trigger(&path)?;
                found.push((path, why));
            }
        }
        Ok(found)
    }
}

fn trigger(checkpoint: &Path) -> Result<String> {
    let text = fs::read_to_string(checkpoint)?;
    let line = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("trigger:"));
    Ok(line.unwrap_or_default().trim().trim_matches('"').to_owned())
}

/// A file that no other is like.
fn part(step: u32, number: u32) -> String {
    let mut text = format!("// {}\n", needle(step, number));
    for line in 0..70 {
        let _ = writeln!(
            text,
            "pub fn part_{step}_{number}_{line}(input: u64) -> u64 {{ input * {} + {line} }}",
            (step + 1) * 1_000 + number,
        );
    }
    text
}

/// What the model says of a step: prose, which cannot be pruned.
fn report(step: u32) -> String {
    let mut text = format!("Step {step} is done. ");
    for number in 0..FILES {
        let _ = write!(
            text,
            "Part {number} computes seventy functions of one number: each multiplies it by a \
             constant of its own and adds the number of its line, so that no two of them agree \
             anywhere but by chance. None of them checks for an overflow, which a caller has to \
             do; I would rather see them take a checked multiplication and say so. "
        );
    }
    text
}

fn needle(step: u32, number: u32) -> String {
    format!(
        "needle {} of part {step}-{number}",
        (step * 31 + number) * 7_919 + 104_729
    )
}

fn our_compactions(entries: &[Value]) -> Vec<&Value> {
    let all = file::of_type(entries, "compaction").into_iter();
    all.filter(|entry| entry["fromHook"] == true && entry["details"]["summarizer"].is_string())
        .collect()
}

fn marked<'a>(entries: &'a [Value], kind: &str, name: &str) -> Vec<&'a Value> {
    let all = file::of_type(entries, kind).into_iter();
    all.filter(|entry| entry["customType"] == name).collect()
}
