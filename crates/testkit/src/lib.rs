//! What the tests of several crates share. Nothing of the product depends on it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`loopback`] | a server that answers as the providers of models do |
//! | [`plants`] | texts of our own for sessions, with what of them must be kept |
//! | [`sample`] | generated sessions of any size, with the truth about them |
//! | [`recorded`] | the recorded sessions that may lie beside the project |
//! | [`content`] | messages as hosts hand them over |
//! | [`encoder`] | a static model of a few words |
//!
//! Helpers panic where a test would.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

pub mod content;
pub mod encoder;
pub mod loopback;
pub mod plants;
pub mod recorded;
pub mod sample;
