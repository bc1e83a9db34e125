//! OpenClaw's stores of several sessions: the SQLite database, and the
//! `sessions.json` it used before.

mod database;
mod rows;
mod store;

pub(super) use database::Databases;
pub(super) use store::Stores;
