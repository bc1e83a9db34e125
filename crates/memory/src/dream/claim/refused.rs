//! What a line says yes to, and what it says no to beside that.

use super::{Claim, Words};

impl Claim {
    /// The words of what it says yes to.
    pub(in crate::dream) fn asserted(&self) -> Words {
        let said = self.parts.iter().filter(|(_, no)| !no);
        let said: Words = said.flat_map(|(words, _)| words.clone()).collect();
        said.difference(&self.denied).cloned().collect()
    }

    /// What it says no to beside something that it says yes to, each by itself:
    /// "tabs, not spaces", "yarn instead of npm".
    pub(in crate::dream) fn refused(&self) -> Vec<Words> {
        let asserted = self.asserted();
        let parts = self.parts.iter().filter(|(_, no)| *no);
        let parts = parts.map(|(words, _)| words);
        let groups = parts.chain([&self.denied]);
        let own = groups.map(|group| group.difference(&asserted).cloned().collect());
        match asserted.is_empty() {
            true => Vec::new(),
            false => own.collect(),
        }
    }
}
