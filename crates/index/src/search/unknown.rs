//! Filters that fit nothing: said as such, with what there is.
//!
//! A search that finds nothing because of a mistyped role looks like one whose
//! words stand nowhere.

use std::collections::BTreeSet;

use longhaul_transcript::Millis;

use crate::record::{Filters, RecordKind};
use crate::store::{NOTHING, Shape};

/// So many names are given.
const MOST: usize = 5;

/// What filters name that is not in the index, in words.
pub(super) fn unknown(shape: &Shape, filters: &Filters) -> Vec<String> {
    let mut told = Vec::new();
    if !filters.roles.is_empty() {
        let used = shape.units.iter().filter(|unit| unit.role != NOTHING);
        let numbers: BTreeSet<u32> = used.map(|unit| unit.role).collect();
        let roles: Vec<&str> = numbers
            .iter()
            .filter_map(|number| shape.roles.get(*number as usize))
            .map(String::as_str)
            .collect();
        for role in &filters.roles {
            if !roles.iter().any(|known| known.eq_ignore_ascii_case(role)) {
                let there = nearest(role, &roles);
                told.push(format!(
                    "no text of the role {role:?} is in the index; {there}"
                ));
            }
        }
    }
    let names = |is_wanted: fn(RecordKind) -> bool| -> Vec<&str> {
        let wanted = shape.sources.iter().filter(|source| {
            let first = shape.units.get(source.units.start as usize);
            first.is_some_and(|unit| is_wanted(RecordKind::from_number(unit.kind)))
        });
        wanted.map(|source| source.name.as_str()).collect()
    };
    if !filters.sessions.is_empty() {
        let sessions = names(RecordKind::is_of_session);
        for session in &filters.sessions {
            if !shape.sources.iter().any(|one| one.name == *session) {
                let there = nearest(session, &sessions);
                told.push(format!(
                    "no text of the session {session:?} is in the index; {there}"
                ));
            }
        }
    }
    if filters.ask_for_a_time() {
        let times = || {
            shape.units.iter().filter_map(|unit| {
                let source = shape.sources.get(unit.source as usize)?;
                filters.time_of(&source.name, unit.time)
            })
        };
        if !times().any(|time| filters.take_in(time)) {
            told.push(match (times().min(), times().max()) {
                (Some(first), Some(last)) => format!(
                    "no text of that time is in the index; the first is of {}, the last of {}",
                    Millis(first).to_iso(),
                    Millis(last).to_iso()
                ),
                _ => "no text with a time is in the index".to_owned(),
            });
        }
    }
    for path in &filters.paths {
        if !shape.sources.iter().any(|one| is_in(&one.name, path)) {
            let there = nearest(path, &names(|kind| !kind.is_of_session()));
            told.push(format!(
                "no text of the path {path:?} is in the index; {there}"
            ));
        }
    }
    told
}

/// Whether a source has this name, or lies in the folder of this name.
pub(super) fn is_in(name: &str, path: &str) -> bool {
    let path = path.trim_end_matches('/');
    name == path
        || name
            .strip_prefix(path)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// The names that are most like the one that was given.
fn nearest(given: &str, names: &[&str]) -> String {
    let given = given.to_lowercase();
    let mut ranked: Vec<(bool, f64, &str)> = names
        .iter()
        .map(|name| {
            let lower = name.to_lowercase();
            // A part of a name is what people remember of it.
            let last = lower.rsplit('/').next().unwrap_or(&lower);
            let like = strsim::jaro_winkler(&given, &lower);
            let like = like.max(strsim::jaro_winkler(&given, last));
            (lower.contains(&given), like, *name)
        })
        .collect();
    ranked.sort_by(|a, b| {
        let (apart, like) = (b.0.cmp(&a.0), b.1.total_cmp(&a.1));
        apart.then(like).then(a.2.cmp(b.2))
    });
    let shown: Vec<&str> = ranked.iter().take(MOST).map(|(_, _, name)| *name).collect();
    match names.len() {
        0 => "there is none of its kind".to_owned(),
        some if some <= MOST => format!("there are: {}", shown.join(", ")),
        some => format!("of {some} the nearest are: {}", shown.join(", ")),
    }
}
