//! Texts of our own, planted into sessions, with what of them must be kept.

mod planting;
mod texts;

pub use planting::{Ending, Plant, Planted, for_agent, for_chat, into_claude, into_native, says};
