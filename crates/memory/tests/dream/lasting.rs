//! Locks, crashes and damage.

use std::fs;
use std::path::PathBuf;

use longhaul_memory::Error;
use longhaul_memory::dream::Status;
use longhaul_memory::files::AgentsFile;

use crate::{Place, TODAY, day, settings};

#[test]
fn one_dream_at_a_time() {
    let place = Place::new();
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let error = place.dreams().lock().unwrap_err();
    assert!(matches!(error, Error::Dreaming { .. }), "{error}");
    drop(lock);
    place.dreams().lock().unwrap();
}

#[test]
fn a_promotion_that_was_killed_after_any_write_is_completed() {
    let place = Place::new();
    place
        .memory
        .init(TODAY.at(8, 0, 0, 0), "Tides", AgentsFile::Unwanted)
        .unwrap();
    place.rule(day(2), "Never push on Fridays.");
    place.dream(&settings());
    let before = place.files();
    place.promote("Never push");
    let after = place.files();
    let order = [
        "changes/000001.json",
        "project.md",
        "MEMORY.md",
        "state.json",
        "DREAMS.md",
    ];
    let written: Vec<&PathBuf> = order
        .iter()
        .map(|name| after.keys().find(|path| path.ends_with(name)).unwrap())
        .collect();
    let changed = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes));
    assert_eq!(changed.count(), order.len());
    for done in 1..=order.len() {
        for (at, path) in written.iter().enumerate() {
            match (at < done, before.get(*path)) {
                (true, _) => fs::write(path, &after[*path]).unwrap(),
                (false, Some(old)) => fs::write(path, old).unwrap(),
                (false, None) => fs::remove_file(path).unwrap(),
            }
        }
        place.dream(&settings());
        assert_eq!(place.files(), after, "after {done} writes");
    }
}

#[test]
fn a_killed_promotion_gives_way_to_what_a_person_wrote_since() {
    let place = Place::new();
    place
        .memory
        .init(TODAY.at(8, 0, 0, 0), "Tides", AgentsFile::Unwanted)
        .unwrap();
    place.rule(day(2), "Never push on Fridays.");
    place.dream(&settings());
    let before = place.files();
    let project = place.read("memories/project.md");
    place.promote("Never push");
    for (path, bytes) in &before {
        if path.ends_with("state.json") || path.ends_with("MEMORY.md") {
            fs::write(path, bytes).unwrap();
        }
    }
    place.write("MEMORY.md", "a person's\n");
    place.dream(&settings());
    assert_eq!(place.read("MEMORY.md"), "a person's\n");
    assert_eq!(place.read("memories/project.md"), project);
    assert_eq!(place.find("Never push").status, Status::Staged);
    place.promote("Never push");
}

#[test]
fn a_damaged_state_is_named_with_its_line_and_never_replaced() {
    let place = Place::new();
    place.rule(day(2), "Never push on Fridays.");
    place.dream(&settings());
    let state = place
        .files()
        .into_keys()
        .find(|path| path.ends_with("state.json"))
        .unwrap();
    fs::write(&state, "{\n\"candidates\": oops").unwrap();
    let error = place.dreams().lock().unwrap_err();
    assert!(error.to_string().contains("line 2"), "{error}");
    assert_eq!(
        fs::read_to_string(&state).unwrap(),
        "{\n\"candidates\": oops"
    );
}
