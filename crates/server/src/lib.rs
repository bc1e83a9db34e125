//! The doors for other programs: they parse, they answer, they decide nothing.
//!
//! | module | who comes in |
//! |---|---|
//! | [`rpc`] | a host that runs the model itself: OpenClaw, pi |
//! | [`mcp`] | any client of the Model Context Protocol |

#![cfg_attr(test, allow(clippy::disallowed_methods, clippy::unwrap_used))]

pub mod mcp;
pub mod rpc;
