//! Turns: what happens between one message of the user and the next.

use std::io;

use super::failure::{self, Failure};
use super::output::Output;
use super::picture;
use super::prose::{CHANGE_OF_TOPIC, QUESTIONS, REQUESTS, REQUESTS_ABROAD, YES};
use super::record::Stop;
use super::step::Step;
use super::story::{Due, Pending, Story};
use super::truth::TextAt;

/// How long the user takes to answer; one in three is away for more than five minutes.
const USER_MS: &[i64] = &[
    3_000, 9_000, 21_000, 40_000, 75_000, 140_000, 260_000, 420_000, 900_000, 4_000_000,
];
/// Files that may be created or moved, so that lists of files stay bounded.
const MOST_CREATED: usize = 10;
const MOST_MOVED: usize = 7;
const MOST_GIVEN_UP: usize = 3;

/// What kind of work a turn is.
enum Work {
    Change,
    Inquiry,
    Operations,
    Reorganise,
}

impl Story<'_> {
    pub(super) fn turn(&mut self) -> io::Result<()> {
        let mut due = match self.pending {
            Pending::Confirm => Due::default(),
            Pending::Nothing | Pending::Ignore => self.due(),
        };
        self.interlude()?;
        self.prompt(&mut due)?;
        let work = match self.rng.below(100) {
            _ if self.turns == 1 => Work::Inquiry,
            0..=54 => Work::Change,
            55..=74 => Work::Inquiry,
            75..=89 => Work::Operations,
            _ => Work::Reorganise,
        };
        match work {
            Work::Change => self.change()?,
            Work::Inquiry => self.inquire()?,
            Work::Operations => self.operate()?,
            Work::Reorganise => self.reorganise()?,
        }
        if !due.tool.is_empty() {
            self.release(&due)?;
        }
        self.answer(due, matches!(work, Work::Inquiry))
    }

    /// What can stand between two turns.
    pub(super) fn interlude(&mut self) -> io::Result<()> {
        let pause = self.rng.along(USER_MS);
        self.record.wait(pause);
        if self.thinks && self.rng.chance(20) {
            let level = self.rng.pick(&["low", "medium", "high"]);
            self.record.thinking_level(level)?;
        }
        if self.turns > 0 && self.rng.chance(40) {
            let kind = Output::Listing;
            let command = kind.command(&self.project.scene, &mut self.rng);
            let mut output = String::new();
            kind.print(&self.project.scene, 300, &mut self.rng, &mut output);
            self.record.bash_execution(&command, &output)?;
            self.record.wait(8_000);
        }
        Ok(())
    }

    pub(super) fn prompt(&mut self, due: &mut Due) -> io::Result<()> {
        let mut parts = std::mem::take(&mut due.user);
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        let request = match pending {
            Pending::Confirm => self.rng.pick(YES).to_owned(),
            Pending::Ignore => {
                let lead = self.rng.pick(CHANGE_OF_TOPIC);
                let request = self
                    .project
                    .scene
                    .text(self.rng.pick(REQUESTS), &mut self.rng);
                format!("{lead}{request}")
            }
            Pending::Nothing if self.turns == 0 => {
                let goal = self.rng.pick(self.project.kind.goals);
                self.project.scene.text(goal, &mut self.rng)
            }
            Pending::Nothing => {
                let abroad = self.rng.chance(180);
                let requests = if abroad { REQUESTS_ABROAD } else { REQUESTS };
                self.project
                    .scene
                    .text(self.rng.pick(requests), &mut self.rng)
            }
        };
        if self.turns > 0 && self.rng.chance(400) {
            parts.push(request);
        } else {
            parts.insert(0, request);
        }
        let text = parts.join(if self.rng.chance(500) { "\n\n" } else { " " });
        let picture = (self.with_pictures() && self.rng.chance(60))
            .then(|| picture::base64_png(&mut self.rng));
        let line = self.record.user(&text, picture.as_deref())?;
        self.turns += 1;
        self.truth.user_prompts.push(TextAt { line, text });
        if self.rng.chance(12) {
            let error = self
                .rng
                .pick(&["terminated", "529 overloaded_error: Overloaded"]);
            self.record
                .assistant(None, "", &[], Stop::Failed(error), &mut self.rng)?;
            self.record.wait(2_000);
        }
        Ok(())
    }

    /// Reads and searches, sometimes several at once.
    fn explore(&mut self, rounds: usize) -> io::Result<()> {
        for _ in 0..rounds {
            if self.no_room() {
                break;
            }
            let count = if self.rng.chance(300) {
                self.rng.between(2, 4)
            } else {
                1
            };
            let mut steps = Vec::new();
            for _ in 0..count {
                let step = match self.rng.below(10) {
                    0..=1 => self.survey(Output::Grep),
                    2 if self.with_pictures() && self.rng.chance(300) => self.look(),
                    _ => {
                        let at = self.project.any(&mut self.rng);
                        self.read(at)
                    }
                };
                steps.push(step);
            }
            self.work_round(steps)?;
        }
        Ok(())
    }

    fn change(&mut self) -> io::Result<()> {
        let rounds = self.rng.between(1, 3);
        self.explore(rounds)?;
        if self.rng.chance(600) && !self.no_room() {
            if self.tasks.all_done() {
                self.tasks.start(&self.project.scene, &mut self.rng);
            } else {
                self.tasks.advance();
            }
            let step = self.todo();
            self.round("", vec![step])?;
        }
        let mut last = self.project.hot(&mut self.rng);
        for _ in 0..self.rng.between(1, 4) {
            if self.no_room() {
                return Ok(());
            }
            if self.created < MOST_CREATED && self.rng.chance(60) {
                self.created += 1;
                last = self.project.create(&mut self.rng);
                let step = self.write(last);
                self.work_round(vec![step])?;
                continue;
            }
            if self.rng.chance(40) {
                let step = self.missed_edit(last);
                self.work_round(vec![step])?;
                let error = self.truth.errors.len() - 1;
                let mut step = self.edit(last);
                step.resolves.push(error);
                self.round(
                    "The text differs slightly; once more with the exact lines.",
                    vec![step],
                )?;
                continue;
            }
            last = self.project.hot(&mut self.rng);
            let mut steps = vec![self.edit(last)];
            while steps.len() < 3 && self.rng.chance(200) {
                steps.push(self.edit(last));
            }
            self.work_round(steps)?;
        }
        self.check(last)
    }

    /// Runs a test or the build; what fails is repaired and run again.
    fn check(&mut self, at: usize) -> io::Result<()> {
        let (scene, kind) = (&self.project.scene, self.project.kind);
        let path = self.project.files[at].path.clone();
        let (command, failed, passed) = if self.rng.chance(600) {
            let Failure { test, output } = failure::test(scene, kind.lang, &path, &mut self.rng);
            let command = kind.test.replace('@', &test);
            (
                command,
                output,
                format!("{test} ... ok\n1 passed in 0.{}s\n", self.rng.below(90)),
            )
        } else {
            let output = failure::build(scene, kind.lang, &path, &mut self.rng);
            (self.rng.pick(kind.builds).to_owned(), output, String::new())
        };
        let mut errors = Vec::new();
        let failures = [0, 0, 0, 1, 1, 2][self.rng.below(6)];
        for _ in 0..failures {
            if self.no_room() {
                break;
            }
            let step = self.failing_bash(&command, &failed);
            self.work_round(vec![step])?;
            errors.push(self.truth.errors.len() - 1);
            let repair = self.edit(at);
            self.work_round(vec![repair])?;
        }
        let mut step = self.bash(&command, passed);
        step.resolves = errors;
        self.work_round(vec![step])
    }

    fn inquire(&mut self) -> io::Result<()> {
        let rounds = self.rng.between(1, 4);
        self.explore(rounds)
    }

    fn operate(&mut self) -> io::Result<()> {
        for _ in 0..self.rng.between(1, 4) {
            if self.no_room() {
                break;
            }
            let kind = Output::ALL[self.rng.below(Output::ALL.len())];
            let step = self.survey(kind);
            self.work_round(vec![step])?;
        }
        if self.gave_up < MOST_GIVEN_UP && self.rng.chance(120) && !self.no_room() {
            self.gave_up += 1;
            let (command, says) = self.project.kind.hopeless;
            let step = self.failing_bash(command, says);
            self.round("One more check that would be good to have:", vec![step])?;
        }
        Ok(())
    }

    /// Files changed by shell commands.
    fn reorganise(&mut self) -> io::Result<()> {
        self.explore(1)?;
        for _ in 0..self.rng.between(1, 2) {
            if self.no_room() {
                return Ok(());
            }
            let at = self.project.hot(&mut self.rng);
            let path = self.project.files[at].path.clone();
            let step: Step = match self.rng.below(6) {
                0 | 1 if self.moved < MOST_MOVED => {
                    self.moved += 1;
                    let new = self.project.rename(at, &mut self.rng);
                    self.changed(at);
                    self.changed(new);
                    let target = self.project.files[new].path.clone();
                    let verb = self.rng.pick(&["git mv", "mv"]);
                    self.bash(&format!("{verb} {path} {target}"), String::new())
                }
                2 if self.moved < MOST_MOVED => {
                    self.moved += 1;
                    self.project.files[at].exists = false;
                    self.changed(at);
                    let verb = self.rng.pick(&["rm", "git rm -q", "rm -f"]);
                    self.bash(&format!("{verb} {path}"), String::new())
                }
                3 if self.created < MOST_CREATED => {
                    self.created += 1;
                    let new = self.project.create(&mut self.rng);
                    self.changed(new);
                    let target = self.project.files[new].path.clone();
                    let mut text = String::new();
                    self.project.text_of(new, &mut text);
                    let command = format!("cat > {target} <<'EOF'\n{text}EOF");
                    self.bash(&command, String::new())
                }
                way => {
                    self.project.revise(at, &mut self.rng);
                    self.changed(at);
                    let template = match way {
                        4 => "echo '# ~t: ~v the ~n' >> @",
                        _ => "sed -i 's/~1/~2/g' @",
                    };
                    let command = self.project.scene.text(template, &mut self.rng);
                    self.bash(&command.replace('@', &path), String::new())
                }
            };
            self.work_round(vec![step])?;
        }
        let at = self.project.hot(&mut self.rng);
        self.check(at)
    }

    /// A command whose output holds what is planted there.
    fn release(&mut self, due: &Due) -> io::Result<()> {
        let command = self
            .project
            .scene
            .text("./scripts/release.sh status --~n", &mut self.rng);
        let size = self.rng.between(200, 2_000).min(self.cap());
        let mut text = String::new();
        Output::Log.print(&self.project.scene, size, &mut self.rng, &mut text);
        for line in &due.tool {
            text.push_str(line);
            text.push('\n');
        }
        let step = self.bash(&command, text);
        self.work_round(vec![step])
    }

    /// The end of a turn: what was done, what was decided, sometimes a question.
    fn answer(&mut self, due: Due, long: bool) -> io::Result<()> {
        let sentences = if long {
            self.rng.between(6, 16)
        } else {
            self.rng.between(1, 6)
        };
        let mut text = String::new();
        self.project
            .scene
            .report(sentences, &mut self.rng, &mut text);
        for line in &due.agent {
            text.push_str("\n\n");
            text.push_str(line);
        }
        if self.rng.chance(120) {
            let at = self.project.hot(&mut self.rng);
            let lang = self.project.files[at].lang;
            let code = self.project.excerpt(at, &mut self.rng);
            text.push_str(&format!(
                "\n\n```{}\n{}\n```",
                lang.fence(),
                code.trim_end()
            ));
        }
        if due.rollout {
            text.push_str("\n\n");
            text.push_str(&self.tasks.tick_rollout(&self.project.scene, &mut self.rng));
        }
        let asks = due.decides && self.rng.chance(600) || long && self.rng.chance(300);
        let question = asks.then(|| {
            self.project
                .scene
                .text(self.rng.pick(QUESTIONS), &mut self.rng)
        });
        if let Some(question) = &question {
            text.push_str("\n\n");
            text.push_str(question);
        }
        let text = text.trim_end().to_owned();
        self.record
            .assistant(None, &text, &[], Stop::Done, &mut self.rng)?;
        if question.is_some() {
            self.pending = if due.decides || self.rng.chance(850) {
                Pending::Confirm
            } else {
                Pending::Ignore
            };
        }
        self.compact_if_full()
    }
}
