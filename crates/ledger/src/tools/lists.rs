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
        let Ok(item) = Object::parse(raw.get()) else {
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
    let mut questions: Vec<String> = object
        .array("questions")
        .unwrap_or_default()
        .iter()
        .filter_map(|raw| match Object::parse(raw.get()) {
            Ok(question) => text_of(&question, &["question", "text", "header"]),
            Err(_) => json::string(raw.get()).map(Cow::into_owned),
        })
        .collect();
    if questions.is_empty() {
        questions.extend(text_of(object, &["question", "prompt", "text", "message"]));
    }
    match questions.is_empty() {
        true => ToolUse::Other,
        false => ToolUse::Ask {
            question: questions.join("\n"),
        },
    }
}
