//! The memory of an agent, as its tools reach it.

/// What `memory_search`, `memory_get` and `memory_append` work on. The calls may
/// take their time: they run where they hold nothing up.
pub trait Notebook: Send + Sync {
    /// The best passages for some words, for the model to read: fenced and with
    /// the file and lines of each.
    fn search(&self, query: &str, limit: usize) -> Result<String, String>;

    /// Lines of a memory file: so many, from a line on (the first is 1).
    fn get(&self, path: &str, from: Option<u64>, lines: Option<u64>) -> Result<String, String>;

    /// Adds to today's log; what to tell the model.
    fn append(&self, text: &str) -> Result<String, String>;
}
