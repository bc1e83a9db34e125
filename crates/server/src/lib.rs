//! The doors for other programs: they parse, they answer, they decide nothing.
//!
//! | module | who comes in |
//! |---|---|
//! | [`rpc`] | a host that runs the model itself: OpenClaw, pi |
//! | [`mcp`] | any client of the Model Context Protocol |
//! | [`hook`] | an agent that calls programs around its own compactions: Claude Code |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

pub mod hook;
pub mod mcp;
pub mod rpc;
