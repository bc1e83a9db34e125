//! What a replay would have cost, beside what else could have been done.

use longhaul_compaction::cost::{Bill, Prices, Since};
use longhaul_tokens::Tokens;
use longhaul_transcript::{Context, Entry, Role};

use crate::measure::{Meter, usage};

/// Four bills over the same requests.
pub(super) struct Bills {
    /// With the engine.
    pub(super) longhaul: Bill,
    /// With every message ever sent again, however large the window would
    /// have to be.
    pub(super) nothing: Bill,
    /// With tool results older than ten rounds masked, one by one.
    pub(super) masking: Bill,
    /// With the contexts that were recorded, where the recording says how
    /// large they were.
    pub(super) native: Bill,
    last_native: Tokens,
    pub(super) overhead: Tokens,
    unmanaged: u64,
    last_unmanaged: Tokens,
    mask: Mask,
}

/// Tool results in the order they came, for masking.
#[derive(Default)]
struct Mask {
    /// (tokens in front of the result, its tokens, its round)
    results: std::collections::VecDeque<(u64, u64, u32)>,
    masked: u64,
    rounds: u32,
    shared: Option<u64>,
    last_total: Tokens,
}

const MASK_AFTER_ROUNDS: u32 = 10;
const MASK_TOKENS: u64 = 30;

impl Bills {
    pub(super) fn new(prices: Prices) -> Bills {
        Bills {
            longhaul: Bill::new(prices),
            nothing: Bill::new(prices),
            masking: Bill::new(prices),
            native: Bill::new(prices),
            last_native: Tokens::ZERO,
            overhead: Tokens::ZERO,
            unmanaged: 0,
            last_unmanaged: Tokens::ZERO,
            mask: Mask::default(),
        }
    }

    /// An entry joined the conversation.
    pub(super) fn unmanaged(&mut self, entry: &Entry, meter: &mut Meter) {
        for message in Context::of_entry(entry) {
            let tokens = u64::from(meter.message(&message).0);
            if message.role == Role::ToolResult {
                self.mask
                    .results
                    .push_back((self.unmanaged, tokens, self.mask.rounds));
            }
            self.unmanaged += tokens;
        }
    }

    /// The context if nothing were ever removed.
    pub(super) fn unmanaged_tokens(&self) -> Tokens {
        self.overhead + tokens(self.unmanaged)
    }

    /// Charges one request to every bill.
    pub(super) fn request(&mut self, answer: &Entry, shared: Tokens, total: Tokens, since: Since) {
        self.longhaul.charge(shared, total, since);
        let unmanaged = self.unmanaged_tokens();
        self.nothing.charge(self.last_unmanaged, unmanaged, since);
        self.last_unmanaged = unmanaged;
        self.mask_old(since);
        if let Some(reported) = answer.message().and_then(|message| message.usage()) {
            let total = usage(reported).prompt_tokens();
            // A context that became smaller was rewritten behind its static part.
            let shared = if total >= self.last_native {
                self.last_native
            } else {
                self.overhead
            };
            self.native.charge(shared, total, since);
            self.last_native = total;
        }
    }

    fn mask_old(&mut self, since: Since) {
        self.mask.rounds += 1;
        let mut first = None;
        while let Some(&(before, size, round)) = self.mask.results.front() {
            if self.mask.rounds - round <= MASK_AFTER_ROUNDS {
                break;
            }
            self.mask.results.pop_front();
            first.get_or_insert(before.saturating_sub(self.mask.masked));
            self.mask.masked += size.saturating_sub(MASK_TOKENS);
        }
        if let Some(first) = first {
            self.mask.shared = Some(first);
        }
        let total = self.overhead + tokens(self.unmanaged - self.mask.masked.min(self.unmanaged));
        let shared = match self.mask.shared.take() {
            Some(shared) => self.overhead + tokens(shared),
            None => self.mask.last_total,
        };
        self.mask.last_total = total;
        self.masking.charge(shared, total, since);
    }

    /// What the recorded contexts cost, if nearly all of them say how large they were.
    pub(super) fn native_units(&self) -> Option<f64> {
        (self.native.requests * 10 >= self.longhaul.requests.max(1) * 9)
            .then(|| self.native.input_units())
    }
}

fn tokens(count: u64) -> Tokens {
    Tokens::saturating(usize::try_from(count).unwrap_or(usize::MAX))
}
