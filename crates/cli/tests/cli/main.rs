//! The command as people and scripts use it: run, exit code, both outputs.
#![allow(clippy::unwrap_used, missing_docs)]

mod bad_input;
mod carrying;
mod changing;
mod chatting;
mod chatting_again;
mod chatting_badly;
mod chatting_terminal;
mod checkpointing;
mod compacting;
mod config;
mod corpus;
mod documented;
mod dreaming;
mod in_use;
mod machine;
mod naming;
mod poisoning;
mod reading;
mod recalling;
mod remembering;
mod replaying;
mod screen;
mod searching;
mod settings;
mod talk;
