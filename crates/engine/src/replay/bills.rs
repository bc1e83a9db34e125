//! What a replay would have cost, beside what else could have been done.

use longhaul_compaction::cost::{Bill, Prices, Since};
use longhaul_tokens::{Sample, Tokens};
use longhaul_transcript::{ContextMessage, Entry, Role};

use crate::measure::{Meter, tokens, usage};

/// Four bills over the same requests. What was recorded is in the provider's
/// tokens, the others are in ours: they are charged without the static part of
/// the requests, and that is added once our tokens are known in the provider's.
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
    /// The static part of every request, in the provider's tokens.
    fixed: Bill,
    last_native: Tokens,
    scale: Scale,
    pub(super) overhead: Tokens,
    unmanaged: u64,
    last_unmanaged: Tokens,
    mask: Mask,
}

/// The provider's tokens for one of ours, over a whole session.
#[derive(Default)]
struct Scale {
    last: Option<(u64, Tokens)>,
    counted: u64,
    reported: u64,
}

impl Scale {
    /// Learns from what a prompt grew by since the last answer.
    fn learn(&mut self, counted: u64, reported: Tokens) -> Option<Sample> {
        let (before, earlier) = self.last.replace((counted, reported))?;
        let sample = Sample {
            counted: tokens(counted - before),
            reported: reported - earlier,
        };
        if !sample.is_believable() {
            return None;
        }
        self.counted += u64::from(sample.counted.0);
        self.reported += u64::from(sample.reported.0);
        Some(sample)
    }

    fn factor(&self) -> f64 {
        match self.counted {
            0 => 1.0,
            counted => self.reported as f64 / counted as f64,
        }
    }
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
            fixed: Bill::new(prices),
            last_native: Tokens::ZERO,
            scale: Scale::default(),
            overhead: Tokens::ZERO,
            unmanaged: 0,
            last_unmanaged: Tokens::ZERO,
            mask: Mask::default(),
        }
    }

    /// A message joined the conversation.
    pub(super) fn unmanaged(&mut self, message: &ContextMessage, meter: &mut Meter) {
        let tokens = u64::from(meter.message(message).0);
        if message.role == Role::ToolResult {
            self.mask
                .results
                .push_back((self.unmanaged, tokens, self.mask.rounds));
        }
        self.unmanaged += tokens;
    }

    /// Everything said so far.
    pub(super) fn said(&self) -> Tokens {
        tokens(self.unmanaged)
    }

    /// The context if nothing were ever removed.
    pub(super) fn unmanaged_tokens(&self) -> Tokens {
        self.overhead + self.said()
    }

    /// Charges one request to every bill; `shared` and `total` are our own
    /// tokens in the transcript's part of it. Returns what the answer teaches
    /// about counting.
    pub(super) fn request(
        &mut self,
        answer: &Entry,
        shared: Tokens,
        total: Tokens,
        since: Since,
    ) -> Option<Sample> {
        self.fixed.charge(self.overhead, self.overhead, since);
        self.longhaul.charge(shared, total, since);
        let unmanaged = self.said();
        self.nothing.charge(self.last_unmanaged, unmanaged, since);
        self.last_unmanaged = unmanaged;
        self.mask_old(since);
        let message = answer.message()?;
        let total = usage(message.usage()?).prompt_tokens();
        // A context that became smaller was rewritten behind its static part.
        let shared = if total >= self.last_native {
            self.last_native
        } else {
            self.overhead
        };
        self.native.charge(shared, total, since);
        self.last_native = total;
        if !message.is_settled() {
            return None;
        }
        self.scale.learn(self.unmanaged, total)
    }

    /// What a bill comes to in the provider's tokens of fresh input.
    pub(super) fn units(&self, bill: &Bill) -> f64 {
        self.fixed.input_units() + bill.input_units() * self.scale.factor()
    }

    /// The same in US dollars, where the prices are known.
    pub(super) fn dollars(&self, bill: &Bill) -> Option<f64> {
        Some(self.fixed.dollars()? + bill.dollars()? * self.scale.factor())
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
        let total = tokens(self.unmanaged - self.mask.masked.min(self.unmanaged));
        let shared = match self.mask.shared.take() {
            Some(shared) => tokens(shared),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bills_are_in_the_tokens_of_the_provider() {
        let mut bills = Bills::new(Prices::RATIO);
        bills.overhead = Tokens(1_000);
        // The provider finds nine tokens where we count ten; a native
        // compaction in between teaches nothing.
        let answers = [
            (10_000, 10_000),
            (20_000, 19_000),
            (21_000, 5_000),
            (31_000, 14_000),
        ];
        for (counted, reported) in answers {
            bills.scale.learn(counted, Tokens(reported));
        }
        bills
            .fixed
            .charge(Tokens(1_000), Tokens(1_000), Since::Never);
        bills
            .longhaul
            .charge(Tokens::ZERO, Tokens(10_000), Since::Never);
        let units = bills.units(&bills.longhaul);
        assert!((units - 1.25 * (1_000.0 + 9_000.0)).abs() < 1e-6, "{units}");
    }
}
