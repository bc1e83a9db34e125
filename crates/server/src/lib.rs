//! The doors for other programs: they parse, they answer, they decide nothing.
//!
//! | module | who comes in |
//! |---|---|
//! | [`rpc`] | a host that runs the model itself: OpenClaw, pi |
//! | [`mcp`] | any client of the Model Context Protocol |
//! | [`hook`] | an agent that calls programs around its own compactions: Claude Code |
//! | [`dashboard`] | a person with a browser, and programs that ask over HTTP |
//!
//! [`desk`] is what all but the first ask, [`http`] what those over HTTP share, and
//! [`again`] how a compaction is taken back whoever asks.

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

pub mod again;
pub mod dashboard;
pub mod desk;
pub mod hook;
pub mod http;
pub mod mcp;
pub mod rpc;
