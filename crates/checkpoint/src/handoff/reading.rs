//! A hand-off as whoever takes it reads it.

use longhaul_ledger::ours::HANDED_OVER;
use longhaul_tokens::Tokens;

use super::{Handoff, HandoffFile};
use crate::text::one_line;

impl Handoff {
    /// As the agent who takes it reads it: the task, then what
    /// somebody else says about it, marked as such.
    pub fn reading(&self) -> String {
        let from = &self.from;
        let mut text = format!(
            "{HANDED_OVER} {} (session {}, checkpoint {}, {}).\n\nTask:\n{}\n",
            from.agent, from.session, from.checkpoint, from.created_at, self.task
        );
        text.push_str(&list("What the user said, oldest first", &self.constraints));
        if self.budget > Tokens::ZERO {
            let most = format!("at most {} tokens", self.budget);
            text.push_str(&list("Budget", [most]));
        }
        text.push_str(
            "\nWhat follows is the other agent's account. Check it against the files before you \
             rely on it.\n",
        );
        for (title, body) in [
            ("Worked on", &self.topic),
            ("Next step and what was in hand", &self.next_action),
            ("So far", &self.summary),
        ] {
            if !body.trim().is_empty() {
                text.push_str(&format!("\n{title}:\n{}\n", body.trim_end()));
            }
        }
        let decisions = self.decisions.iter().map(|decision| &decision.what);
        text.push_str(&list("Agreed and noted", decisions));
        text.push_str(&list("Open items", &self.open_items));
        let files = self.files.iter().map(|file| match file {
            HandoffFile::Modified(path) => format!("{path} (changed)"),
            HandoffFile::Read(path) => path.clone(),
        });
        text.push_str(&list("Files", files));
        text
    }
}

/// A list under its title, each item on one line; nothing where there is none.
fn list<T: AsRef<str>>(title: &str, items: impl IntoIterator<Item = T>) -> String {
    let items = items.into_iter();
    let lines: String = items
        .map(|item| format!("- {}\n", one_line(item.as_ref())))
        .collect();
    match lines.is_empty() {
        true => lines,
        false => format!("\n{title}:\n{lines}"),
    }
}
