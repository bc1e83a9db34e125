//! The memory of an agent, as its tools reach it.

/// What `memory_search` and `memory_get` work on. What is written goes another
/// way: the turn loop binds `memory_append` to today's log itself.
///
/// The calls may take their time: they run where they hold nothing up.
pub trait Notebook: Send + Sync {
    /// The best passages for some words, for the model to read: fenced and with
    /// the file and lines of each.
    fn search(&self, query: &str, limit: usize) -> Result<String, String>;

    /// How many passages a search gives where the model names no number.
    fn usual_hits(&self) -> usize {
        6
    }

    /// Lines of a memory file: so many, from a line on (the first is 1).
    fn get(&self, path: &str, from: Option<u64>, lines: Option<u64>) -> Result<String, String>;
}
