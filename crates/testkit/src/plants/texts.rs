//! Texts of our own that are planted into sessions.
//!
//! Wishes, facts and corrections in many wordings, languages and lengths. What
//! carries them is that they are the user's words; nothing here is recognised.

use std::sync::LazyLock;

use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct Texts {
    /// What somebody wants, however it is put.
    pub(super) wishes: Vec<String>,
    /// What somebody says is so: the statement and its exact part.
    pub(super) facts: Vec<(String, String)>,
    /// Said by nobody but a tool or the agent: found again by a search.
    pub(super) hidden: Vec<(String, String)>,
    /// A statement and the one that takes its place.
    pub(super) corrections: Vec<(String, String)>,
    /// Notes of the agent: kind and text.
    pub(super) notes: Vec<(String, String)>,
    /// Questions asked through a tool, their options, and what was chosen.
    pub(super) questions: Vec<(String, [String; 2], String)>,
    pub(super) plans: Vec<String>,
    /// Items of a to-do list: text, and whether it was finished on the way.
    pub(super) items: Vec<(String, bool)>,
}

pub(super) static TEXTS: LazyLock<Texts> = LazyLock::new(|| {
    serde_json::from_str(include_str!("texts.json")).expect("the file beside this one holds them")
});
