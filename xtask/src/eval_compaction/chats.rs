//! Chats as sessions: BEAM's conversations, alone and joined.
//!
//! People who talk with an assistant type far more than people who let an agent
//! work: here the user's words outgrow their budget.

use std::path::Path;

use longhaul_testkit::plants::{self, Plant, says};
use longhaul_transcript::{Entry, Header, Millis};

use super::drive::Setup;
use super::source::{Kind, Source, from_native};
use crate::Result;
use crate::sets::{self, Group};

/// Which chats are joined for the large window, by number from 1. A conversation
/// is about 100,000 tokens.
const JOINED: [&[usize]; 3] = [&[4, 5, 6, 7], &[7, 8, 9, 10], &[10, 11, 12, 13]];
/// Which stand alone for the smaller ones.
const ALONE: [usize; 4] = [6, 8, 9, 13];
/// How much more user text than its budget a chat may have.
pub(super) const TIMES: u32 = 3;

/// Chats for these windows; `most` of each sort.
pub(super) fn chats(corpus: &Path, windows: &[u32], most: usize) -> Result<Vec<Source>> {
    let file = corpus.join("retrieval/beam100k_c1-13.jsonl.gz");
    if !file.is_file() {
        return Ok(Vec::new());
    }
    let chats = sets::load(&file)?;
    let mut sources = Vec::new();
    for size in windows {
        let setup = Setup::new(*size)?;
        let allowed = setup.words_budget() * TIMES;
        let groups: Vec<Vec<usize>> = match *size > 100_000 {
            true => JOINED.iter().map(|group| group.to_vec()).collect(),
            false => ALONE.iter().map(|chat| vec![*chat]).collect(),
        };
        for (number, group) in groups.into_iter().enumerate().take(most) {
            let joined = group.iter().filter_map(|at| chats.get(at - 1));
            let name: Vec<&str> = joined
                .clone()
                .map(|chat| chat.name.trim_start_matches("100K-"))
                .collect();
            let planted = planted_tokens(number, &setup);
            let entries = entries(joined, &setup, allowed.saturating_sub(planted));
            let header = Header {
                id: format!("chat-{}-{size}", name.join("-")),
                ..Header::default()
            };
            let name = format!("chat-{}", name.join("+"));
            let mut source = from_native(name, Kind::Chat, header, entries, number);
            source.windows = vec![*size];
            source.recorded_by_an_agent = false;
            sources.push(source);
        }
    }
    Ok(sources)
}

/// What the texts take that will be planted.
fn planted_tokens(number: usize, setup: &Setup) -> u32 {
    let mut counters = setup.counters();
    let (plants, _) = plants::for_chat(number);
    let said = plants.iter().filter_map(|plant| match plant {
        Plant::Said(_, words) => Some(words),
        _ => None,
    });
    said.map(|words| counters.item(words)).sum()
}

/// The messages of chats, one after the other, as long as the user's words are
/// within what is allowed.
fn entries<'c>(chats: impl Iterator<Item = &'c Group>, setup: &Setup, allowed: u32) -> Vec<Entry> {
    let mut counters = setup.counters();
    let mut typed = 0;
    let mut entries: Vec<Entry> = Vec::new();
    for record in chats.flat_map(|chat| &chat.records) {
        let role = record.role.as_deref().unwrap_or_default();
        if role == "user" {
            typed += counters.item(&record.text);
            if typed > allowed {
                break;
            }
        }
        let number = entries.len();
        let time = Millis(1_760_000_000_000 + number as i64 * 30_000);
        entries.push(says(&format!("chat-{number:05}"), time, role, &record.text));
    }
    entries
}
