//! To-do lists, wherever they are kept.

use longhaul_transcript::MessageView;

use crate::facts::{Item, ItemState, Provenance};
use crate::ledger::{At, Ledger};
use crate::outcome::Ended;
use crate::text::clip;
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
    fn the_id_of_a_task_is_read() {
        assert_eq!(task_id("Task #12 created"), Some("12".into()));
        assert_eq!(task_id("created"), None);
    }
}
