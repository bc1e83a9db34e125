//! The story of a sample: what is planted when, from the first line to the last.

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Write};

use super::plan::{Plan, Size};
use super::planted::{CHANGES, CHOICES, FACTS};
use super::project::Project;
use super::record::Recorder;
use super::rng::Rng;
use super::rules::{LIFTED, STANDING};
use super::tasks::Tasks;
use super::truth::{ConstraintAt, DecisionAt, FactAt, Speaker, Truth};

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

/// Something planted whose line is not known before it is written.
#[derive(Debug)]
pub(super) enum Plant {
    Rule(usize),
    Lift(usize, String),
    Decision { at: usize, replaces: Option<usize> },
    Fact { at: usize, replaces: Option<usize> },
}

impl Plant {
    pub(super) fn decision(&self) -> Option<usize> {
        match self {
            Plant::Decision { at, .. } => Some(*at),
            Plant::Rule(_) | Plant::Lift(..) | Plant::Fact { .. } => None,
        }
    }
}

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
    pub(super) user: Vec<(String, Plant)>,
    pub(super) agent: Vec<(String, Plant)>,
    pub(super) tool: Vec<(String, Plant)>,
    pub(super) rollout: bool,
}

/// What the user does with the question that ended the last turn.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pending {
    Nothing,
    Confirm {
        question: usize,
        decision: Option<usize>,
    },
    Ignore,
}

/// Where each table row was planted, and the chosen thing or value.
type Planted = Vec<Option<(usize, String)>>;

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
    choices: Planted,
    facts: Planted,
    lifted: Planted,
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
            facts: vec![None; FACTS.len()],
            lifted: vec![None; LIFTED.len()],
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
                let row = STANDING[at];
                let rule = &row[self.rng.below(row.len())];
                let text = self.project.scene.text(rule.text, &mut self.rng);
                let at = self.new_rule(&text, rule.language);
                due.user.push((text, Plant::Rule(at)));
            }
            Beat::Lifted(row) => {
                let rules = LIFTED[row];
                let rule = &rules[self.rng.below(rules.len())];
                let text = self.project.scene.text(rule.text, &mut self.rng);
                let at = self.new_rule(&text, rule.language);
                self.lifted[row] = Some((at, rule.lifted.unwrap_or_default().to_owned()));
                due.user.push((text, Plant::Rule(at)));
            }
            Beat::Lift(row) => {
                if let Some((at, text)) = self.lifted[row].take() {
                    due.user.push((text.clone(), Plant::Lift(at, text)));
                }
            }
            Beat::Choose(row) => {
                let choice = &CHOICES[row];
                let pick = self.project.scene.text(choice.pick, &mut self.rng);
                let reason = self.project.scene.text(choice.reason, &mut self.rng);
                let text = choice.text.replace('@', &pick).replace('%', &reason);
                let at = self.new_decision(text.clone(), reason, choice.by);
                self.choices[row] = Some((at, pick));
                due.add(choice.by, text, Plant::Decision { at, replaces: None });
            }
            Beat::Rechoose(row) => {
                let (Some((old, was)), Some((pick, reason))) =
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
                let at = self.new_decision(text.clone(), reason, Speaker::User);
                due.user.push((
                    text,
                    Plant::Decision {
                        at,
                        replaces: Some(old),
                    },
                ));
            }
            Beat::State(row) => self.state(row, FACTS[row].text, None, due),
            Beat::Restate(row) => {
                if let (Some((old, _)), Some(update)) = (self.facts[row].take(), FACTS[row].update)
                {
                    self.state(row, update, Some(old), due);
                }
            }
        }
    }

    fn state(&mut self, row: usize, template: &str, replaces: Option<usize>, due: &mut Due) {
        let fact = &FACTS[row];
        let value = self.project.scene.text(fact.value, &mut self.rng);
        let text = self
            .project
            .scene
            .text(template, &mut self.rng)
            .replace('@', &value);
        let at = self.truth.facts.len();
        self.truth.facts.push(FactAt {
            line: 0,
            text: text.clone(),
            value: value.clone(),
            kind: fact.kind,
            by: fact.by,
            superseded_by: None,
        });
        self.facts[row] = Some((at, value));
        due.add(fact.by, text, Plant::Fact { at, replaces });
    }

    fn new_rule(&mut self, text: &str, language: &str) -> usize {
        self.truth.constraints.push(ConstraintAt {
            line: 0,
            text: text.to_owned(),
            language: language.to_owned(),
            revoked_line: None,
            revoked_text: None,
        });
        self.truth.constraints.len() - 1
    }

    fn new_decision(&mut self, text: String, reason: String, by: Speaker) -> usize {
        self.truth.decisions.push(DecisionAt {
            line: 0,
            text,
            reason,
            by,
            confirmed_line: None,
            superseded_by: None,
        });
        self.truth.decisions.len() - 1
    }

    /// Notes the line that something planted was written to.
    pub(super) fn place(&mut self, plant: Plant, line: u64) {
        match plant {
            Plant::Rule(at) => self.truth.constraints[at].line = line,
            Plant::Lift(at, text) => {
                self.truth.constraints[at].revoked_line = Some(line);
                self.truth.constraints[at].revoked_text = Some(text);
            }
            Plant::Decision { at, replaces } => {
                self.truth.decisions[at].line = line;
                if let Some(old) = replaces {
                    self.truth.decisions[old].superseded_by = Some(line);
                }
            }
            Plant::Fact { at, replaces } => {
                self.truth.facts[at].line = line;
                if let Some(old) = replaces {
                    self.truth.facts[old].superseded_by = Some(line);
                }
            }
        }
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
    fn add(&mut self, by: Speaker, text: String, plant: Plant) {
        match by {
            Speaker::User => self.user.push((text, plant)),
            Speaker::Assistant => self.agent.push((text, plant)),
            Speaker::Tool => self.tool.push((text, plant)),
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
