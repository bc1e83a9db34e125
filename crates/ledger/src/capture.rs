//! How much of a session the state of a checkpoint holds.

/// The caps of the state, and what counts as a reply that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capture {
    /// Most decisions; the ledger itself holds no more than 300.
    pub decisions: usize,
    /// Most exchanges.
    pub exchanges: usize,
    /// Most tools; the ledger itself holds no more than 300.
    pub tools: usize,
    /// Most files in each list.
    pub files: usize,
    /// Characters of each message of an exchange.
    pub exchange_chars: usize,
    /// The last pairs of messages that are always among the exchanges.
    pub recent_pairs: usize,
    /// A reply of fewer characters than this, after a long answer, decides.
    pub short_reply_chars: usize,
    /// An answer of more characters than this is long.
    pub long_answer_chars: usize,
}

impl Default for Capture {
    fn default() -> Capture {
        Capture {
            decisions: 50,
            exchanges: 8,
            tools: 100,
            files: 100,
            exchange_chars: 120,
            recent_pairs: 2,
            short_reply_chars: 50,
            long_answer_chars: 500,
        }
    }
}
