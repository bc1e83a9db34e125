//! Pruning: hiding tool output that has done its work.
//!
//! A request shows less, the transcript keeps everything: a pruned result stays
//! a result of its call, only its content becomes one line that says what was
//! there and how to get it back. [`prune`] proposes [`Edit`]s, [`apply`] makes
//! the view, [`Pruning::durable`] says whether they are worth writing as
//! `context_edit` entries, [`Pruning::cheapest`] whether the cache is worth
//! giving up for them.
//!
//! Order of precedence: reads that were superseded, results that came again,
//! results that are old, results that are long. Never touched: the protected
//! tail, what the model has not read yet, the most recent records, pins, what
//! was edited before, and anything a placeholder would hardly shorten.
//!
//! **Sticky.** An applied edit marks its message as edited, and an edited
//! message is left alone for ever: the same bytes go out in every later request.
//! Whoever prunes in memory keeps the edits it has applied and applies them
//! again before it asks for more:
//!
//! ```text
//! view = apply(messages, kept) → count → prune(view) → is it worth it? → kept += edits
//! ```

mod edit;
mod placeholder;
mod plan;
mod record;
mod settings;
mod target;
mod trim;

pub use edit::{Edit, Reason, Surface, apply};
pub use plan::{Kept, Pruning, prune, worth_planning};
pub use settings::{ArrivalTrim, PruneSettings};
