//! To-do lists, wherever they are kept.

use longhaul_transcript::MessageView;

use crate::facts::{Item, ItemState, Provenance};
use crate::ledger::{At, Ledger};
use crate::outcome::Ended;
use crate::text::{clip, prose_lines};
use crate::tools::{ToolUse, todo_items};
use crate::working::ItemSource;

const MOST: usize = 300;
const LONGEST: usize = 600;

impl Ledger {
    /// What a to-do tool did.
    pub(crate) fn apply_list(
        &mut self,
        at: At<'_>,
        does: &ToolUse,
        view: &MessageView<'_>,
        ended: &Ended<'_>,
    ) {
        // Some tools answer with the whole list; that is the truth.
        let answered = view
            .object()
            .object("details")
            .and_then(|details| details.raw("todos").and_then(todo_items));
        match (does, answered) {
            (ToolUse::Todo { items }, _) => self.replace_list(at, items),
            (ToolUse::TodoAdd { .. }, Some(items)) => self.replace_list(at, &items),
            (ToolUse::TodoAdd { text }, None) => {
                self.set_item(at, text, ItemState::Open, ItemSource::Task);
                if let Some(id) = task_id(ended.text()) {
                    if self.working.task_ids.len() >= MOST {
                        self.working.task_ids.pop_first();
                    }
                    self.working.task_ids.insert(id, text.clone());
                }
            }
            (ToolUse::TodoSet { id, state, text }, _) => {
                let Some(was) = self.working.task_ids.get(id).cloned() else {
                    return;
                };
                if let Some(text) = text.as_ref().filter(|text| **text != was) {
                    self.set_item(at, &was, ItemState::Dropped, ItemSource::Task);
                    self.set_item(at, text, state.unwrap_or(ItemState::Open), ItemSource::Task);
                    self.working.task_ids.insert(id.clone(), text.clone());
                } else if let Some(state) = state {
                    self.set_item(at, &was, *state, ItemSource::Task);
                }
            }
            _ => {}
        }
    }

    fn replace_list(&mut self, at: At<'_>, items: &[(String, ItemState)]) {
        let sources = &self.working.item_sources;
        for item in &mut self.items {
            if item.is_open()
                && sources.get(&item.text) == Some(&ItemSource::List)
                && !items.iter().any(|(text, _)| *text == item.text)
            {
                item.state = ItemState::Dropped;
                item.provenance.add(at.entry);
            }
        }
        for (text, state) in items {
            self.set_item(at, text, *state, ItemSource::List);
        }
    }

    fn set_item(&mut self, at: At<'_>, text: &str, state: ItemState, source: ItemSource) {
        let text = clip(text.trim(), LONGEST);
        if text.is_empty() {
            return;
        }
        if let Some(item) = self.items.iter_mut().rev().find(|item| item.text == text) {
            item.state = state;
            item.provenance.add(at.entry);
            return;
        }
        if self.items.len() >= MOST {
            let leaves = self
                .items
                .iter()
                .position(|item| !item.is_open())
                .unwrap_or(0);
            let gone = self.items.remove(leaves);
            self.working.item_sources.remove(&gone.text);
        }
        self.working.item_sources.insert(text.to_owned(), source);
        self.items.push(Item {
            text: text.to_owned(),
            state,
            provenance: Provenance::new(at.entry.clone()),
        });
    }

    /// Check-lists in what people write.
    pub(crate) fn note_checklist(&mut self, at: At<'_>, text: &str) {
        if !text.contains(['[', ':']) {
            return;
        }
        for line in prose_lines(text) {
            if let Some((state, item)) = check(&text[line]) {
                self.set_item(at, item, state, ItemSource::Prose);
            }
        }
    }
}

/// The item of a line such as `- [x] text` or `TODO: text`.
fn check(line: &str) -> Option<(ItemState, &str)> {
    let body = line.trim_start();
    let body = match body.split_once(['.', ')']) {
        Some((number, rest))
            if !number.is_empty()
                && number.len() <= 3
                && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            rest.trim_start()
        }
        _ => body
            .strip_prefix(['-', '*', '+', '•'])
            .unwrap_or(body)
            .trim_start(),
    };
    if let Some(rest) = body.strip_prefix('[') {
        let (mark, item) = rest.split_once(']')?;
        let item = item.strip_prefix(' ')?.trim();
        let state = match mark {
            "" | " " => ItemState::Open,
            "x" | "X" | "✓" | "✔" | "✅" => ItemState::Done,
            "~" | "/" | ">" => ItemState::InProgress,
            "-" => ItemState::Dropped,
            _ => return None,
        };
        return (!item.is_empty()).then_some((state, item));
    }
    let (state, rest) = [("TODO:", ItemState::Open), ("DONE:", ItemState::Done)]
        .into_iter()
        .find_map(|(head, state)| body.strip_prefix(head).map(|rest| (state, rest)))?;
    let rest = rest.trim();
    (!rest.is_empty()).then_some((state, rest))
}

/// The id in "Task #3 created successfully: …".
fn task_id(text: &str) -> Option<String> {
    let at = text.find('#')?;
    let id: String = text[at + 1..]
        .chars()
        .take_while(|c| c.is_alphanumeric())
        .collect();
    (!id.is_empty()).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_lists_are_read() {
        assert_eq!(check("- [ ] a b"), Some((ItemState::Open, "a b")));
        assert_eq!(check("  * [x] a"), Some((ItemState::Done, "a")));
        assert_eq!(check("2. [X] a"), Some((ItemState::Done, "a")));
        assert_eq!(check("TODO: write it"), Some((ItemState::Open, "write it")));
        assert_eq!(check("- [link](x)"), None);
        assert_eq!(check("[ ]"), None);
        assert_eq!(task_id("Task #12 created"), Some("12".into()));
    }
}
