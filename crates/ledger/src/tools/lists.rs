//! Calls of to-do tools and questions to the user.

use std::borrow::Cow;

use longhaul_transcript::json::{self, Object};

use super::{ToolUse, text_of};
use crate::facts::ItemState;

pub(super) fn todo(object: &Object<'_>) -> ToolUse {
    match ["todos", "plan", "items", "tasks", "list", "todoList"]
        .into_iter()
        .find_map(|key| object.raw(key).and_then(todo_items))
    {
        Some(items) => ToolUse::Todo { items },
        None => match text_of(object, &["text", "content", "title"]) {
            Some(text) => ToolUse::TodoAdd { text },
            None => ToolUse::Other,
        },
    }
}

/// The items of a to-do list, from its JSON array.
pub(crate) fn todo_items(raw: &str) -> Option<Vec<(String, ItemState)>> {
    let list = json::array(raw)?;
    let mut items = Vec::with_capacity(list.len());
    for raw in list {
        if let Some(text) = json::string(raw.get()) {
            items.push((text.into_owned(), ItemState::Open));
            continue;
        }
        let Some(item) = Object::of(raw.get()) else {
            continue;
        };
        let Some(text) = text_of(
            &item,
            &[
                "content",
                "step",
                "text",
                "title",
                "task",
                "subject",
                "description",
                "name",
            ],
        ) else {
            continue;
        };
        let done = ["done", "completed", "checked"]
            .into_iter()
            .find_map(|key| item.bool(key));
        let state = item
            .str("status")
            .or_else(|| item.str("state"))
            .and_then(|status| state(&status))
            .unwrap_or(match done {
                Some(true) => ItemState::Done,
                _ => ItemState::Open,
            });
        items.push((text, state));
    }
    Some(items)
}

pub(super) fn state(status: &str) -> Option<ItemState> {
    let plain: String = status
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    Some(match plain.as_str() {
        "pending" | "open" | "todo" | "notstarted" | "queued" | "blocked" => ItemState::Open,
        "inprogress" | "active" | "doing" | "started" | "current" | "running" => {
            ItemState::InProgress
        }
        "completed" | "complete" | "done" | "finished" | "closed" => ItemState::Done,
        "cancelled" | "canceled" | "deleted" | "dropped" | "skipped" | "abandoned" => {
            ItemState::Dropped
        }
        _ => return None,
    })
}

pub(super) fn ask(object: &Object<'_>) -> ToolUse {
    let mut questions = Vec::new();
    let mut options = Vec::new();
    for raw in object.array("questions").unwrap_or_default() {
        match Object::of(raw.get()) {
            Some(question) => {
                questions.extend(text_of(&question, &["question", "text", "header"]));
                offered(&question, &mut options);
            }
            None => questions.extend(json::string(raw.get()).map(Cow::into_owned)),
        }
    }
    if questions.is_empty() {
        questions.extend(text_of(object, &["question", "prompt", "text", "message"]));
        offered(object, &mut options);
    }
    match questions.is_empty() {
        true => ToolUse::Other,
        false => ToolUse::Ask {
            question: questions.join("\n"),
            options,
        },
    }
}

/// The options of a question: what an answer may name, and what it then says.
fn offered(question: &Object<'_>, options: &mut Vec<(String, String)>) {
    const MOST: usize = 32;
    for raw in question.array("options").unwrap_or_default() {
        if options.len() >= MOST {
            return;
        }
        let Some(option) = Object::of(raw.get()) else {
            options
                .extend(json::string(raw.get()).map(|text| (text.to_string(), text.into_owned())));
            continue;
        };
        let label = text_of(&option, &["label", "text", "title", "name"]);
        let Some(label) = label.or_else(|| text_of(&option, &["value", "id"])) else {
            continue;
        };
        let says = match text_of(&option, &["description"]) {
            Some(more) => format!("{label}: {more}"),
            None => label.clone(),
        };
        let name = text_of(&option, &["value", "id", "key"]).unwrap_or_else(|| label.clone());
        if name != label {
            options.push((label, says.clone()));
        }
        options.push((name, says));
    }
}
