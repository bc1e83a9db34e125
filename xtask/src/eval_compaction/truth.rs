//! What there is to keep, counted from the events of a source.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::commands::Run;
use super::event::{Event, Placed, Said, is_refusal};

/// What a source holds up to some event.
#[derive(Debug, Default)]
pub(super) struct Truth {
    /// Everything a person said: line, record and words.
    pub(super) said: Vec<SaidAt>,
    /// Paths that calls of tools changed.
    pub(super) changed: BTreeSet<String>,
    /// Paths that were read and never changed.
    pub(super) read: BTreeSet<String>,
    /// Paths that calls of any tool named and found.
    pub(super) named: BTreeSet<String>,
    pub(super) runs: Vec<Run>,
    pub(super) open_items: Vec<String>,
    pub(super) finished_items: BTreeSet<String>,
    /// Questions asked through a tool that nobody answered.
    pub(super) waiting: Vec<String>,
    pub(super) agreed: Vec<Agreed>,
    /// The file that was changed last, else read last.
    pub(super) file_in_hand: Option<String>,
    /// Whether the newest request has no answer yet.
    pub(super) turn_open: bool,
}

#[derive(Debug, Clone)]
pub(super) struct SaidAt {
    pub(super) line: u64,
    pub(super) record: String,
    pub(super) said: Said,
}

/// Something agreed on: texts that must stand in the context together.
#[derive(Debug, Clone)]
pub(super) struct Agreed {
    pub(super) kind: &'static str,
    pub(super) texts: Vec<String>,
}

/// A longer plan is named by its first line; the rest is its file's.
const WHOLE_PLAN_CHARS: usize = 1_600;

impl Truth {
    pub(super) fn of(events: &[Placed], cwd: &str) -> Truth {
        let mut fold = Fold {
            cwd,
            ..Fold::default()
        };
        for placed in events {
            fold.take(placed);
        }
        fold.finish()
    }
}

#[derive(Default)]
struct Fold<'e> {
    truth: Truth,
    cwd: &'e str,
    calls: HashMap<&'e str, (&'e str, &'e Value)>,
    seen_read: BTreeSet<String>,
    last_read: Option<String>,
    last_changed: Option<String>,
    /// Items of the to-do tools, in order, by what identifies them.
    todos: Vec<(String, String)>,
    tasks: BTreeMap<u64, (String, String)>,
    ever: BTreeSet<String>,
}

impl<'e> Fold<'e> {
    fn take(&mut self, placed: &'e Placed) {
        match &placed.event {
            Event::Said(said) => {
                self.truth.turn_open = true;
                if let (Some(question), text) = (&said.question, &said.text) {
                    self.agree("answer", vec![question.clone(), text.clone()]);
                }
                self.truth.said.push(SaidAt {
                    line: placed.line,
                    record: placed.record.clone(),
                    said: said.clone(),
                });
            }
            Event::Words(_) => self.truth.turn_open = false,
            Event::Call { id, name, input } => {
                self.truth.turn_open = true;
                self.calls.insert(id, (name, input));
            }
            Event::Result {
                call,
                text,
                is_error,
            } => {
                if let Some((name, input)) = self.calls.remove(call.as_str()) {
                    self.ended(placed.line, name, input, text, *is_error);
                }
            }
            Event::Interrupted | Event::Compacted(_) => {}
        }
    }

    fn ended(&mut self, line: u64, name: &str, input: &Value, text: &str, is_error: bool) {
        let lower = name.to_ascii_lowercase();
        if let Some(command) = command(&lower, input) {
            self.truth
                .runs
                .push(Run::new(line, command, text, is_error));
            return;
        }
        if is_error || is_refusal(text) {
            return;
        }
        let field = |key: &str| input[key].as_str().unwrap_or_default();
        self.truth.named.extend(self.path(input));
        match (name, lower.as_str()) {
            ("TodoWrite", _) => self.todo_list(input),
            ("TaskCreate", _) => {
                let number = task_number(text).unwrap_or(self.tasks.len() as u64 + 1);
                self.ever.insert(field("subject").to_owned());
                let task = (field("subject").to_owned(), "pending".to_owned());
                self.tasks.insert(number, task);
            }
            ("TaskUpdate", _) => {
                let number = field("taskId").parse().unwrap_or(0);
                if let Some((_, state)) = self.tasks.get_mut(&number)
                    && !field("status").is_empty()
                {
                    *state = field("status").to_owned();
                }
            }
            ("ExitPlanMode", _) => {
                let plan = match text.split_once("## Approved Plan:") {
                    Some((_, plan)) => plan,
                    None => field("plan"),
                };
                let plan = plan.trim();
                let shown = match plan.len() <= WHOLE_PLAN_CHARS {
                    true => plan,
                    false => plan.lines().next().unwrap_or_default(),
                };
                if !shown.is_empty() {
                    self.agree("plan", vec![shown.to_owned()]);
                }
            }
            (_, "note") => self.agree("note", vec![field("text").to_owned()]),
            (_, "read") => {
                if let Some(path) = self.path(input) {
                    self.seen_read.insert(path.clone());
                    self.last_read = Some(path);
                }
            }
            _ => {
                for path in self.changes(&lower, input) {
                    self.last_changed = Some(path.clone());
                    self.truth.changed.insert(path);
                }
            }
        }
    }

    fn agree(&mut self, kind: &'static str, texts: Vec<String>) {
        self.truth.agreed.push(Agreed { kind, texts });
    }

    fn todo_list(&mut self, input: &Value) {
        let items = input["todos"].as_array().into_iter().flatten();
        self.todos = items
            .map(|item| {
                let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
                (text("content"), text("status"))
            })
            .collect();
        self.ever
            .extend(self.todos.iter().map(|(item, _)| item.clone()));
    }

    fn path(&self, input: &Value) -> Option<String> {
        ["file_path", "path", "notebook_path"]
            .iter()
            .find_map(|key| input[*key].as_str())
            .filter(|path| !path.is_empty())
            .map(|path| self.full(path))
    }

    fn full(&self, path: &str) -> String {
        match path.starts_with(['/', '~']) || self.cwd.is_empty() {
            true => path.to_owned(),
            false => format!("{}/{}", self.cwd, path.trim_start_matches("./")),
        }
    }

    /// Paths that a call changes.
    fn changes(&self, tool: &str, input: &Value) -> Vec<String> {
        match tool {
            "edit" | "write" | "multiedit" | "notebookedit" | "delete" | "remove" => {
                self.path(input).into_iter().collect()
            }
            "move" | "rename" => ["from", "to", "source", "destination", "path", "new_path"]
                .iter()
                .filter_map(|key| input[*key].as_str())
                .map(|path| self.full(path))
                .collect(),
            "apply_patch" | "patch" => {
                let patch = ["input", "patch", "patchText"]
                    .iter()
                    .find_map(|key| input[*key].as_str());
                patch
                    .unwrap_or_default()
                    .lines()
                    .filter_map(|line| {
                        [
                            "*** Update File: ",
                            "*** Add File: ",
                            "*** Delete File: ",
                            "*** Move to: ",
                        ]
                        .iter()
                        .find_map(|mark| line.strip_prefix(mark))
                    })
                    .map(|path| self.full(path.trim()))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn finish(mut self) -> Truth {
        let listed = self.todos.iter().chain(self.tasks.values());
        let open: Vec<String> = listed
            .filter(|(_, state)| matches!(state.as_str(), "pending" | "in_progress"))
            .map(|(item, _)| item.clone())
            .collect();
        self.ever.retain(|item| !open.contains(item));
        self.truth.open_items = open;
        self.truth.finished_items = self.ever;
        let changed = &self.truth.changed;
        self.truth.read = self
            .seen_read
            .into_iter()
            .filter(|path| !changed.contains(path))
            .collect();
        self.truth.file_in_hand = self.last_changed.or(self.last_read);
        for (name, input) in self.calls.values() {
            if *name == "AskUserQuestion" {
                let asked = input["questions"].as_array().into_iter().flatten();
                let asked = asked.filter_map(|question| question["question"].as_str());
                self.truth.waiting.extend(asked.map(str::to_owned));
            }
        }
        self.truth
    }
}

/// `Task #3 created successfully`.
fn task_number(result: &str) -> Option<u64> {
    let digits = result.split_once('#')?.1;
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    digits[..end].parse().ok()
}

/// The command line of a call of a shell.
fn command(tool: &str, input: &Value) -> Option<String> {
    if !matches!(
        tool,
        "bash" | "shell" | "exec" | "exec_command" | "local_shell" | "run_command"
    ) {
        return None;
    }
    let command = input.get("command").or_else(|| input.get("cmd"))?;
    match command {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            Some(words.join(" "))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn exchange(name: &str, input: Value, result: &str, is_error: bool) -> Vec<Placed> {
        let placed = |event| Placed {
            line: 1,
            record: String::new(),
            event,
        };
        vec![
            placed(Event::Call {
                id: "c".into(),
                name: name.into(),
                input,
            }),
            placed(Event::Result {
                call: "c".into(),
                text: result.into(),
                is_error,
            }),
        ]
    }

    #[test]
    fn only_calls_that_succeeded_change_files() {
        let mut events = exchange("Edit", json!({"file_path": "/w/a"}), "ok", false);
        events.extend(exchange(
            "Write",
            json!({"file_path": "/w/b"}),
            "denied",
            true,
        ));
        events.extend(exchange(
            "Read",
            json!({"file_path": "/w/c"}),
            "text",
            false,
        ));
        events.extend(exchange(
            "Read",
            json!({"file_path": "/w/a"}),
            "text",
            false,
        ));
        events.extend(exchange(
            "apply_patch",
            json!({"input": "*** Update File: d\n*** Move to: e"}),
            "ok",
            false,
        ));
        let truth = Truth::of(&events, "/w");
        let changed: Vec<&str> = truth.changed.iter().map(String::as_str).collect();
        assert_eq!(changed, ["/w/a", "/w/d", "/w/e"]);
        assert_eq!(truth.read.into_iter().collect::<Vec<_>>(), ["/w/c"]);
    }

    #[test]
    fn items_are_open_by_their_last_state() {
        let list = json!({"todos": [
            {"content": "one", "status": "completed"},
            {"content": "two", "status": "in_progress"},
        ]});
        let mut events = exchange("TodoWrite", list, "ok", false);
        let create = json!({"subject": "three"});
        events.extend(exchange(
            "TaskCreate",
            create,
            "Task #7 created successfully",
            false,
        ));
        let update = json!({"taskId": "7", "status": "completed"});
        events.extend(exchange("TaskUpdate", update, "ok", false));
        let truth = Truth::of(&events, "");
        assert_eq!(truth.open_items, ["two"]);
        assert_eq!(
            truth.finished_items.into_iter().collect::<Vec<_>>(),
            ["one", "three"]
        );
    }
}
