//! The agent's to-do list and the check-list in its answers.

use super::fill::Scene;
use super::planted::ROLLOUT;
use super::prose::TASKS;
use super::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    InProgress,
    Completed,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            State::Pending => "pending",
            State::InProgress => "in_progress",
            State::Completed => "completed",
        }
    }
}

#[derive(Debug)]
struct Item {
    text: String,
    state: State,
}

/// Both lists as they stand.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    items: Vec<Item>,
    rollout: Vec<Item>,
    made: usize,
    /// Finished items of earlier lists and of these.
    pub(super) done: Vec<String>,
}

impl Tasks {
    /// The to-do list.
    pub(super) fn list(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.items
            .iter()
            .map(|item| (item.text.as_str(), item.state.name()))
    }

    /// Both lists.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.list().chain(
            self.rollout
                .iter()
                .map(|item| (item.text.as_str(), item.state.name())),
        )
    }

    /// What is not finished in either list.
    pub(super) fn open(&self) -> Vec<String> {
        self.all()
            .filter(|&(_, state)| state != State::Completed.name())
            .map(|(text, _)| text.to_owned())
            .collect()
    }

    pub(super) fn all_done(&self) -> bool {
        self.items.iter().all(|item| item.state == State::Completed)
    }

    /// Starts a new list; the old one is finished by then.
    pub(super) fn start(&mut self, scene: &Scene, rng: &mut Rng) {
        self.items.clear();
        for at in 0..rng.between(3, 6) {
            self.made += 1;
            let mut text = scene.text(rng.pick(TASKS), rng);
            text.push_str(&format!(" (#{})", self.made));
            self.items.push(Item {
                text,
                state: if at == 0 {
                    State::InProgress
                } else {
                    State::Pending
                },
            });
        }
    }

    /// Finishes the item in progress and takes up the next.
    pub(super) fn advance(&mut self) {
        for item in &mut self.items {
            match item.state {
                State::Completed => {}
                State::InProgress => {
                    item.state = State::Completed;
                    self.done.push(item.text.clone());
                }
                State::Pending => {
                    item.state = State::InProgress;
                    break;
                }
            }
        }
    }

    /// What the tool answers.
    pub(super) fn progress(&self) -> String {
        let done = |item: &&Item| item.state == State::Completed;
        format!(
            "{} of {} done",
            self.items.iter().filter(done).count(),
            self.items.len()
        )
    }

    /// The check-list as markdown: the first time new, then one or two further
    /// items ticked. The last two stay open.
    pub(super) fn tick_rollout(&mut self, scene: &Scene, rng: &mut Rng) -> String {
        if self.rollout.is_empty() {
            self.rollout = ROLLOUT
                .iter()
                .map(|template| Item {
                    text: scene.text(template, rng),
                    state: State::Pending,
                })
                .collect();
        } else {
            let last = self.rollout.len() - 2;
            if let Some(item) = self.rollout[..last]
                .iter_mut()
                .find(|item| item.state == State::Pending)
            {
                item.state = State::Completed;
                self.done.push(item.text.clone());
            }
        }
        let mut out = String::from("Rollout:\n");
        for item in &self.rollout {
            let mark = if item.state == State::Completed {
                'x'
            } else {
                ' '
            };
            out.push_str(&format!("- [{mark}] {}\n", item.text));
        }
        out
    }
}
