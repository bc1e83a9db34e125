//! Two that may contradict each other, and what becomes of them.

use longhaul_memory::Source;
use longhaul_memory::dream::{Status, waiting};

use crate::{Place, day, settings};

/// One where the relay moved from one port to another.
fn moved() -> Place {
    let place = Place::new();
    let fact = |back, text| place.log(day(back), "Facts", text, Source::Agent);
    fact(3, "The relay of the shop listens on port 8100");
    fact(2, "Petra looks after the price tables");
    fact(1, "The relay of the shop listens on port 9100");
    place.dream(&settings());
    place
}

#[test]
fn what_may_contradict_waits_side_by_side_with_its_days() {
    let place = moved();
    let (old, new) = (place.find("8100"), place.find("9100"));
    assert_eq!(
        (&old.contradicts, &new.contradicts),
        (&vec![new.id.clone()], &vec![old.id.clone()])
    );
    assert_eq!(
        (&old.status, &new.status),
        (&Status::Staged, &Status::Staged)
    );
    let all = place.candidates();
    let order: Vec<&str> = waiting(&all).iter().map(|one| one.id.as_str()).collect();
    let at = |id: &str| order.iter().position(|one| *one == id).unwrap();
    assert_eq!(at(&old.id).abs_diff(at(&new.id)), 1, "{order:?}");
    let dreams = place.read("DREAMS.md");
    let beside = format!(
        "May contradict: {} “The relay of the shop listens on port 8100” (valid from {})",
        old.id,
        day(3)
    );
    assert!(dreams.contains(&beside), "{dreams}");
}

#[test]
fn of_two_that_are_merged_the_newer_one_stays_and_a_dream_changes_nothing_of_it() {
    let place = moved();
    place.merge("8100", "9100");
    let (old, new) = (place.find("8100"), place.find("9100"));
    let (on, by) = (day(1), new.id.clone());
    assert_eq!(
        old.status,
        Status::Superseded {
            on,
            until: day(1),
            by
        }
    );
    assert_eq!(new.replaces, std::slice::from_ref(&old.id));
    assert!(new.contradicts.is_empty() && old.contradicts.is_empty());
    let files = place.files();
    place.dream(&settings());
    assert_eq!(place.files(), files);
    // Said again later, it holds once more and is set against what replaced it.
    place.log(day(0), "Facts", &old.text, Source::Agent);
    place.dream(&settings());
    let again = place.find("8100");
    assert_ne!(again.id, old.id);
    assert_eq!(again.contradicts, [new.id]);
}

#[test]
fn what_gave_way_waits_again_when_what_took_its_place_is_dropped() {
    let place = moved();
    place.merge("9100", "8100");
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    dreams.reject(&lock, &place.id("9100"), day(0)).unwrap();
    assert_eq!(place.find("8100").status, Status::Staged);
    // What is rejected does not come back.
    drop(lock);
    place.log(
        day(0),
        "Facts",
        "The relay of the shop listens on port 9100!",
        Source::Agent,
    );
    let report = place.dream(&settings());
    assert_eq!((report.consolidated.rejected, report.waiting), (1, 2));
}

#[test]
fn what_a_person_wrote_into_the_memory_is_known_and_its_contradictions_are_shown() {
    let place = Place::new();
    place.write(
        "MEMORY.md",
        "# Memory Index\n- Never push to main on Fridays\n",
    );
    place.rule(day(2), "Never push to main on Fridays.");
    place.rule(day(1), "Push to main on Fridays.");
    let report = place.dream(&settings());
    assert_eq!(report.consolidated.known, 1);
    assert_eq!(place.find("Push to main").contradicts, ["MEMORY.md:2"]);
}
