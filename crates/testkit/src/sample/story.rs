//! The story of a sample: what is planted when, from the first line to the last.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};

use super::plan::{Plan, Size};
use super::planted::{CHANGES, CHOICES, FACTS, Speaker};
use super::project::Project;
use super::record::Recorder;
use super::rng::Rng;
use super::rules::{LIFTED, STANDING};
use super::tasks::Tasks;
use super::truth::Truth;

/// Writes a sample and says what is in it.
///
/// The file is streamed: apart from the truth, memory does not grow with it.
/// Any error comes from `out`.
pub fn generate(plan: &Plan, out: &mut dyn Write) -> io::Result<Truth> {
    let mut story = Story::new(plan, out);
    story.open()?;
    while !story.ending() {
        story.turn()?;
    }
    story.close()?;
    story.record.flush()?;
    Ok(story.finish())
}

/// When so many bytes are left, a sized file comes to its last turn.
const CLOSING_BYTES: u64 = 24_000;

/// One thing to plant; numbers refer to the tables.
#[derive(Debug, Clone, Copy)]
enum Beat {
    Rule(usize),
    Lifted(usize),
    Lift(usize),
    Choose(usize),
    Rechoose(usize),
    State(usize),
    Restate(usize),
    Rollout,
}

/// What one turn has to bring in.
#[derive(Debug, Default)]
pub(super) struct Due {
    pub(super) user: Vec<String>,
    pub(super) agent: Vec<String>,
    pub(super) tool: Vec<String>,
    /// Whether the agent decides something.
    pub(super) decides: bool,
    pub(super) rollout: bool,
}

/// What the user does with the question that ended the last turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    Nothing,
    Confirm,
    Ignore,
}

pub(super) struct Story<'a> {
    plan: &'a Plan,
    cwd: String,
    pub(super) rng: Rng,
    pub(super) project: Project,
    pub(super) record: Recorder<'a>,
    pub(super) truth: Truth,
    pub(super) tasks: Tasks,
    pub(super) pending: Pending,
    pub(super) pictures: BTreeSet<String>,
    pub(super) turns: u32,
    /// Whether the model shows its thinking, and how it writes edits.
    pub(super) thinks: bool,
    pub(super) edits_in_lists: bool,
    pub(super) created: usize,
    pub(super) moved: usize,
    pub(super) gave_up: usize,
    beats: VecDeque<(usize, Beat)>,
    /// What was chosen, whether a fact was stated, and what will lift a rule, by
    /// the rows of the tables.
    choices: Vec<Option<String>>,
    facts: Vec<bool>,
    lifted: Vec<Option<&'static str>>,
    pub(super) last_decision: Option<String>,
}

impl<'a> Story<'a> {
    fn new(plan: &'a Plan, out: &'a mut dyn Write) -> Story<'a> {
        let mut rng = Rng::new(plan.seed);
        let project = Project::draw(plan.seed, &mut rng);
        Story {
            cwd: plan.cwd.to_string_lossy().into_owned(),
            project,
            record: Recorder::new(plan, out),
            truth: Truth::default(),
            tasks: Tasks::default(),
            pending: Pending::Nothing,
            pictures: BTreeSet::new(),
            turns: 0,
            thinks: rng.chance(600),
            edits_in_lists: rng.chance(600),
            created: 0,
            moved: 0,
            gave_up: 0,
            beats: if plan.planted {
                schedule()
            } else {
                VecDeque::new()
            },
            choices: vec![None; CHOICES.len()],
            facts: vec![false; FACTS.len()],
            lifted: vec![None; LIFTED.len()],
            last_decision: None,
            rng,
            plan,
        }
    }

    fn open(&mut self) -> io::Result<()> {
        let mut id = String::new();
        self.rng.uuid(&mut id);
        self.record.header(&id, &self.cwd)?;
        self.record
            .settings(if self.thinks { "medium" } else { "off" })
    }

    pub(super) fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("{}/{path}", self.cwd.trim_end_matches('/'))
        }
    }

    pub(super) fn with_pictures(&self) -> bool {
        self.plan.images
    }

    /// Bytes left in a sized file.
    pub(super) fn left(&self) -> Option<u64> {
        match self.plan.size {
            Size::Turns(_) => None,
            Size::AtLeastBytes(bytes) => Some(bytes.saturating_sub(self.record.bytes)),
        }
    }

    /// Bytes of the pad that brings the last turn to the size wanted.
    pub(super) fn pad(&self) -> usize {
        // What follows the pad has at least so many bytes.
        const REST: u64 = 2_500;
        self.left().unwrap_or(0).saturating_sub(REST) as usize
    }

    /// Whether only the last turn is to come.
    pub(super) fn ending(&self) -> bool {
        match self.plan.size {
            Size::Turns(turns) => self.turns + 1 >= turns,
            Size::AtLeastBytes(_) => self.left().is_some_and(|left| left < CLOSING_BYTES),
        }
    }

    /// Whether a turn must end so that a sized file does not grow beyond it.
    pub(super) fn no_room(&self) -> bool {
        self.left().is_some() && self.ending()
    }

    /// The longest output that still fits.
    pub(super) fn cap(&self) -> usize {
        self.left()
            .map_or(45_000, |left| (left / 10).clamp(300, 45_000) as usize)
    }

    /// How far the story has come, of a thousand.
    fn depth(&self) -> usize {
        match self.plan.size {
            Size::Turns(turns) => (u64::from(self.turns) * 1000 / u64::from(turns.max(1))) as usize,
            Size::AtLeastBytes(bytes) => {
                (self.record.bytes.saturating_mul(1000) / bytes.max(1)) as usize
            }
        }
    }

    /// What is due in the next turn: at most three things.
    pub(super) fn due(&mut self) -> Due {
        let mut due = Due::default();
        let depth = self.depth();
        for _ in 0..3 {
            match self.beats.front() {
                Some(&(at, beat)) if at <= depth => {
                    self.beats.pop_front();
                    self.bring(beat, &mut due);
                }
                _ => break,
            }
        }
        due
    }

    fn bring(&mut self, beat: Beat, due: &mut Due) {
        match beat {
            Beat::Rollout => due.rollout = true,
            Beat::Rule(at) => {
                let rule = self.rng.pick(STANDING[at]);
                let text = self.project.scene.text(rule, &mut self.rng);
                due.user.push(text);
            }
            Beat::Lifted(row) => {
                let rules = LIFTED[row];
                let (rule, lifted) = rules[self.rng.below(rules.len())];
                let text = self.project.scene.text(rule, &mut self.rng);
                self.lifted[row] = Some(lifted);
                due.user.push(text);
            }
            Beat::Lift(row) => due.user.extend(self.lifted[row].take().map(str::to_owned)),
            Beat::Choose(row) => {
                let choice = &CHOICES[row];
                let pick = self.project.scene.text(choice.pick, &mut self.rng);
                let reason = self.project.scene.text(choice.reason, &mut self.rng);
                let text = choice.text.replace('@', &pick).replace('%', &reason);
                self.choices[row] = Some(pick);
                self.last_decision = Some(text.clone());
                due.decides |= choice.by == Speaker::Assistant;
                due.add(choice.by, text);
            }
            Beat::Rechoose(row) => {
                let (Some(was), Some((pick, reason))) =
                    (self.choices[row].take(), CHOICES[row].other)
                else {
                    return;
                };
                let pick = self.project.scene.text(pick, &mut self.rng);
                let reason = self.project.scene.text(reason, &mut self.rng);
                let text = self
                    .rng
                    .pick(CHANGES)
                    .replace('@', &pick)
                    .replace('&', &was)
                    .replace('%', &reason);
                self.last_decision = Some(text.clone());
                due.user.push(text);
            }
            Beat::State(row) => {
                self.facts[row] = true;
                self.state(row, FACTS[row].text, due);
            }
            Beat::Restate(row) => {
                if let (true, Some(update)) = (self.facts[row], FACTS[row].update) {
                    self.state(row, update, due);
                }
            }
        }
    }

    fn state(&mut self, row: usize, template: &str, due: &mut Due) {
        let fact = &FACTS[row];
        let value = self.project.scene.text(fact.value, &mut self.rng);
        let text = self.project.scene.text(template, &mut self.rng);
        due.add(fact.by, text.replace('@', &value));
    }

    fn finish(mut self) -> Truth {
        let (_, read) = self.touched();
        self.truth.lines = self.record.lines;
        self.truth.read_only = read.iter().map(|path| self.absolute(path)).collect();
        for file in self.project.files.iter().filter(|file| file.changes > 0) {
            let path = self.absolute(&file.path);
            if !file.exists {
                self.truth.removed.push(path.clone());
            }
            self.truth.modified.insert(path, file.changes);
        }
        self.truth.open_items_end = self.tasks.open();
        self.truth.todos_end = self
            .tasks
            .all()
            .map(|(text, state)| (text.to_owned(), state.to_owned()))
            .collect();
        self.truth.done_items = self.tasks.done;
        self.truth
    }
}

impl Due {
    fn add(&mut self, by: Speaker, text: String) {
        match by {
            Speaker::User => self.user.push(text),
            Speaker::Assistant => self.agent.push(text),
            Speaker::Tool => self.tool.push(text),
        }
    }
}

/// Everything that is planted, by depth. The number of things is the same for
/// every size, so that what must be kept fits into a context.
fn schedule() -> VecDeque<(usize, Beat)> {
    let mut beats = Vec::new();
    for (at, depth) in [0, 15, 50, 100, 170, 260, 370, 490, 630, 800]
        .into_iter()
        .enumerate()
    {
        beats.push((depth, Beat::Rule(at)));
    }
    for (row, from, to) in [(0, 30, 560), (1, 200, 780)] {
        beats.extend([(from, Beat::Lifted(row)), (to, Beat::Lift(row))]);
    }
    for (row, choice) in CHOICES.iter().enumerate() {
        beats.push((40 + 85 * row, Beat::Choose(row)));
        if choice.other.is_some() {
            beats.push((450 + 110 * row, Beat::Rechoose(row)));
        }
    }
    for (row, fact) in FACTS.iter().enumerate() {
        beats.push((20 + 50 * row, Beat::State(row)));
        if fact.update.is_some() {
            beats.push((400 + 40 * row, Beat::Restate(row)));
        }
    }
    beats.extend([330, 480, 640, 790, 880].map(|depth| (depth, Beat::Rollout)));
    beats.sort_by_key(|&(depth, _)| depth);
    beats.into()
}
