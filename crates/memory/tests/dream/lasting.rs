//! Locks, crashes and damage.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use longhaul_memory::Error;
use longhaul_memory::dream::Status;

use crate::{Place, TODAY, now, settings};

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
fn a_decision_waits_for_another_that_is_being_written() {
    let place = Place::dreamt(&["Never push on Fridays."]);
    let lock = place.dreams().lock().unwrap();
    let (place, id) = (&place, place.id("Never push"));
    std::thread::scope(|scope| {
        let (begun, has_begun) = std::sync::mpsc::channel();
        let waiting = scope.spawn(move || {
            begun.send(()).unwrap();
            let dreams = place.dreams();
            let lock = dreams.lock_patiently().unwrap();
            dreams.promote(&lock, &id, &now(), &settings()).unwrap();
        });
        has_begun.recv().unwrap();
        // Whoever wants the same is told at once.
        assert!(matches!(place.dreams().lock(), Err(Error::Dreaming { .. })));
        drop(lock);
        waiting.join().unwrap();
    });
    assert!(place.find("Never push").status.is_kept());
}

#[test]
fn a_promotion_that_was_killed_after_any_write_is_completed() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let before = place.files();
    let id = place.promote("Never push");
    let after = place.files();
    let begun = begun(&before, &after);
    // What each write puts where.
    let order = [
        ("state.json", &begun),
        ("state.copy.json", &begun),
        ("project.md", &after),
        ("MEMORY.md", &after),
        ("DREAMS.md", &after),
        ("state.json", &after),
        ("state.copy.json", &after),
    ];
    let writes = order.map(|(name, files)| {
        let mut files = files.iter();
        files.find(|(path, _)| path.ends_with(name)).unwrap()
    });
    let changed = after
        .iter()
        .filter(|(path, bytes)| before.get(*path) != Some(bytes));
    assert_eq!(changed.count(), order.len() - 2);
    for done in 1..=order.len() {
        for (path, bytes) in before.iter().chain(writes.iter().take(done).copied()) {
            fs::write(path, bytes).unwrap();
        }
        // Whoever only reads is told what is half done, and changes nothing.
        let seen = place.files();
        let half = place.dreams().unfinished().unwrap();
        let is_half = done < order.len() - 1;
        assert_eq!(half.is_some(), is_half, "after {done} writes: {half:?}");
        let says = |half: &String| half.contains(&id) && half.contains("`longhaul dream run`");
        assert!(half.as_ref().is_none_or(says), "{half:?}");
        assert_eq!(place.files(), seen);
        let report = place.dream(&settings());
        assert_eq!(place.files(), after, "after {done} writes");
        assert_eq!(place.dreams().unfinished().unwrap(), None);
        // Whoever was not told that it was done is told now. It is done when
        // the state says so; the copy of it is the last to be written.
        let told = report
            .problems
            .iter()
            .any(|told| told.contains("was completed"));
        assert_eq!(told, is_half, "{:?}", report.problems);
    }
}

#[test]
fn what_another_process_is_just_writing_is_not_half_done() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let before = place.files();
    place.promote("Never push");
    let lock = place.dreams().lock().unwrap();
    interrupt(&place, &before);
    assert_eq!(place.dreams().unfinished().unwrap(), None);
    drop(lock);
    assert!(place.dreams().unfinished().unwrap().is_some());
}

type Files = BTreeMap<PathBuf, String>;

/// The state between `before` and `after`: the change is written down, and nothing
/// has become of the candidates.
fn begun(before: &Files, after: &Files) -> Files {
    let states = after
        .iter()
        .filter(|(path, _)| path.ends_with("state.json") || path.ends_with("state.copy.json"));
    let parsed = |text: &String| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let begun = states.map(|(path, text)| {
        let mut state = parsed(text);
        state["candidates"] = parsed(&before[path])["candidates"].take();
        state["unfinished"] = true.into();
        (path.clone(), state.to_string())
    });
    begun.collect()
}

/// Leaves the last change as a kill before it was done leaves it.
fn interrupt(place: &Place, before: &Files) {
    for (path, bytes) in begun(before, &place.files()) {
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn a_killed_promotion_is_completed_beside_what_a_person_wrote_since() {
    for file in ["MEMORY.md", "memories/project.md"] {
        for done in 0..3 {
            let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
            let (before, root) = (place.files(), place.memory.root());
            let id = place.promote("Never push");
            let after = place.files();
            interrupt(&place, &before);
            for name in ["memories/project.md", "MEMORY.md"].iter().skip(done) {
                place.write(name, &before[&root.join(name)]);
            }
            let own = |text: &str| text.replacen('\n', "\n\na person's\n", 1);
            place.write(file, &own(&place.read(file)));
            let report = place.dream(&settings());
            let named = format!("the promotion of {id}, which had been interrupted, was completed");
            assert_eq!(report.problems, [named]);
            for name in ["MEMORY.md", "memories/project.md"] {
                let all = &after[&root.join(name)];
                let expected = if name == file { own(all) } else { all.clone() };
                assert_eq!(place.read(name), expected, "{name}, {done} written");
            }
            assert!(place.find("Never push").status.is_kept());
            // An undo leaves nothing of it, and all of the person's.
            place.undo().unwrap();
            for name in ["MEMORY.md", "memories/project.md"] {
                let all = &before[&root.join(name)];
                let expected = if name == file { own(all) } else { all.clone() };
                assert_eq!(place.read(name), expected, "{name}, {done} written");
            }
        }
    }
}

#[test]
fn a_killed_promotion_is_completed_in_a_file_that_a_person_put_in_the_place_of_ours() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let before = place.files();
    let id = place.promote("Never push");
    interrupt(&place, &before);
    place.write("MEMORY.md", "a person's\n");
    place.dream(&settings());
    assert_eq!(
        place.read("MEMORY.md"),
        format!(
            "a person's\n\n## Key Constraints\n- Never push on Fridays. | Details → \
             memories/project.md#{id}\n"
        )
    );
}

#[test]
fn a_line_of_a_killed_promotion_that_a_person_edited_stays_and_is_not_written_again() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
    let before = place.files();
    let id = place.promote("Never push");
    interrupt(&place, &before);
    let own = "- Never push on Fridays or later.";
    let memory = place.read("MEMORY.md");
    place.write(
        "MEMORY.md",
        &memory.replace("- Never push on Fridays.", own),
    );
    place.dream(&settings());
    let memory = place.read("MEMORY.md");
    assert!(memory.contains(own), "{memory}");
    assert_eq!(memory.matches(&id).count(), 1, "{memory}");
}

#[test]
fn a_killed_undo_is_completed_beside_what_a_person_wrote_since() {
    for file in ["MEMORY.md", "memories/project.md"] {
        for done in 0..3 {
            let place = Place::begun_and_dreamt(&["Never push on Fridays."]);
            let root = place.memory.root();
            let first = place.files();
            let id = place.promote("Never push");
            let before = place.files();
            place.undo().unwrap();
            interrupt(&place, &before);
            for name in ["memories/project.md", "MEMORY.md"].iter().skip(done) {
                place.write(name, &before[&root.join(name)]);
            }
            let own = |text: &str| text.replacen('\n', "\n\na person's\n", 1);
            place.write(file, &own(&place.read(file)));
            let report = place.dream(&settings());
            let named = format!("the undoing of {id}, which had been interrupted, was completed");
            assert_eq!(report.problems, [named]);
            for name in ["MEMORY.md", "memories/project.md"] {
                let was = &first[&root.join(name)];
                let expected = if name == file { own(was) } else { was.clone() };
                assert_eq!(place.read(name), expected, "{name} after an edit of {file}");
            }
            assert_eq!(place.find("Never push").status, Status::Staged);
            assert!(matches!(place.undo(), Err(Error::NothingToUndo)));
        }
    }
}

#[test]
fn a_damaged_state_is_set_aside_and_its_copy_takes_its_place() {
    let place = Place::dreamt(&["Never push on Fridays.", "Always sign the tags."]);
    let id = place.find("Always sign").id;
    let lock = place.dreams().lock().unwrap();
    assert!(lock.notes().is_empty());
    place.dreams().reject(&lock, &id, TODAY).unwrap();
    drop(lock);
    let state = place
        .files()
        .into_keys()
        .find(|path| path.ends_with("state.json"))
        .unwrap();
    let whole = fs::read(&state).unwrap();
    fs::write(&state, "{\n\"candidates\": oops").unwrap();
    // Who only reads changes nothing.
    assert_eq!(place.dreams().candidates().unwrap().len(), 2);
    let lock = place.dreams().lock().unwrap();
    let [told] = lock.notes() else {
        panic!("one note")
    };
    assert!(told.contains("line 2"), "{told}");
    assert!(told.contains("nothing is forgotten"), "{told}");
    drop(lock);
    let aside = state.with_file_name("state.json.damaged-1");
    assert_eq!(
        fs::read_to_string(&aside).unwrap(),
        "{\n\"candidates\": oops"
    );
    assert_eq!(fs::read(&state).unwrap(), whole);
    place.dream(&settings());
    assert!(matches!(
        place.find("Always sign").status,
        Status::Rejected { .. }
    ));
}

#[test]
fn a_state_that_is_no_text_or_no_file_is_mended_from_its_copy() {
    let damage: [fn(&Path); 2] = [
        |path| fs::write(path, [0xff, 0x00, 0xfe]).unwrap(),
        |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        },
    ];
    for spoil in damage {
        let place = Place::dreamt(&["Never push on Fridays."]);
        let files = place.files().into_keys();
        let mut states = files.filter(|path| path.ends_with("state.json"));
        let state = states.next().unwrap();
        let whole = fs::read(&state).unwrap();
        spoil(&state);
        let lock = place.dreams().lock().unwrap();
        let [told] = lock.notes() else {
            panic!("one note")
        };
        assert!(told.contains("state.json.damaged-1"), "{told}");
        assert!(told.contains("nothing is forgotten"), "{told}");
        assert_eq!(fs::read(&state).unwrap(), whole);
    }
}

#[test]
fn a_state_that_is_lost_with_its_copy_takes_no_promotion_back() {
    let place = Place::begun_and_dreamt(&["Never push on Fridays.", "Always sign the tags."]);
    place.promote("Never push");
    place.promote("Always sign");
    let memory = place.read("MEMORY.md");
    let project = place.read("memories/project.md");
    let of = |name: &str| {
        let files = place.files().into_keys();
        let mut files = files.filter(|path| path.ends_with(name));
        files.next().unwrap()
    };
    let (state, copy) = (of("state.json"), of("state.copy.json"));
    // As a person may do it, and as damage does.
    fs::remove_file(&state).unwrap();
    fs::remove_file(&copy).unwrap();
    assert!(place.dreams().lock().unwrap().notes().is_empty());
    assert_eq!(place.read("MEMORY.md"), memory);
    fs::write(&state, "oops").unwrap();
    let lock = place.dreams().lock().unwrap();
    let [told] = lock.notes() else {
        panic!("one note")
    };
    assert!(told.contains("what was rejected is forgotten"), "{told}");
    drop(lock);
    assert_eq!(place.read("MEMORY.md"), memory);
    assert_eq!(place.read("memories/project.md"), project);
    // What stands there is known, and is not staged a second time.
    let report = place.dream(&settings());
    assert_eq!(
        (report.consolidated.found, report.consolidated.known),
        (0, 2)
    );
    assert_eq!(place.read("MEMORY.md"), memory);
}

/// Leaves `DREAMS.md` such that nothing can be shown in it, as a person may.
fn spoil(place: &Place) -> String {
    let page = place.read("DREAMS.md");
    place.write(
        "DREAMS.md",
        &page.replace("<!-- longhaul dreams end -->", ""),
    );
    page
}

#[test]
fn a_promotion_or_rejection_that_failed_has_not_happened() {
    let place = Place::dreamt(&["Never push on Fridays."]);
    let id = place.id("Never push");
    let page = spoil(&place);
    let before = place.files();
    {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams.promote(&lock, &id, &now(), &settings()).unwrap_err();
        dreams.reject(&lock, &id, TODAY).unwrap_err();
    }
    assert_eq!(place.files(), before);
    place.write("DREAMS.md", &page);
    let report = place.dream(&settings());
    assert_eq!((report.waiting, report.problems), (1, Vec::new()));
    assert_eq!(place.find("Never push").status, Status::Staged);
    assert_eq!(place.read("MEMORY.md"), "");
}
