//! Sample sessions: seeded, of any size, with the truth beside them.
//!
//! A sample is a pi session file as a long piece of work would leave it: a user
//! with a goal, standing rules in several languages, files read and changed,
//! commands that fail and later pass, to-do lists, decisions and changes of
//! mind. [`generate`] writes the file and returns a [`Truth`] that names what
//! a context must not lose, with the line it stands on. The same [`Plan`] gives
//! the same bytes on every machine; nothing is read from the clock or the
//! environment.
//!
//! ```
//! use longhaul_testkit::sample::{Plan, Size, generate};
//!
//! let mut file = Vec::new();
//! let truth = generate(&Plan { size: Size::Turns(6), ..Plan::default() }, &mut file)?;
//! assert_eq!(truth.user_prompts.len(), 6);
//! # Ok::<(), std::io::Error>(())
//! ```

mod alike;
mod close;
mod code;
mod compact;
mod failure;
mod fill;
mod output;
mod picture;
mod plan;
mod planted;
mod project;
mod prose;
mod record;
mod rng;
mod rules;
mod step;
mod story;
mod tasks;
mod truth;
mod turn;
mod window;
mod words;

pub use alike::alike;
pub use plan::{Compactions, Plan, Size};
pub use story::generate;
pub use truth::{CompactionAt, ErrorAt, InFlight, LastError, TextAt, Truth};
