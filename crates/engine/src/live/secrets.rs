//! The secrets of a session, for what is made of it.

use longhaul_memory::Redactor;

use super::Live;

impl Live {
    /// A redactor that knows every secret which the entries since the boundary
    /// show. Ledgers, summaries and notes quote them in lines and cut them, and
    /// a piece of a secret cannot be known by itself.
    pub fn redactor(&self) -> Redactor {
        let plain = Redactor::default();
        let mut document = plain.document();
        for entry in self.entries() {
            document.json(entry.raw());
        }
        document.into_redactor()
    }
}
