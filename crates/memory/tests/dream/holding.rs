//! What is kept and said again after a change of it.

use longhaul_memory::Source;
use longhaul_memory::dream::{Candidate, Status};
use longhaul_memory::files::{Body, Note, Origin, Section};
use longhaul_transcript::EntryId;

use crate::{Place, day, policy, settings};

/// A place in which this is kept since five days ago.
fn keeping(section: &str, text: &str) -> Place {
    let place = Place::new();
    place.log(day(5), section, text, Source::User);
    place.dream(&policy());
    assert!(place.find(text).status.is_kept(), "{text}");
    place
}

/// The only one that says so, and is not what is kept.
fn change(place: &Place, kept: &str) -> Candidate {
    let all = place.candidates().into_iter();
    let mut others = all.filter(|one| one.text != kept || one.ends);
    others.next().unwrap()
}

const RULES: &str = "User Preferences";

/// What is kept, how it is changed, and the title under which both are logged.
const TURNS: [(&str, &str, &str); 6] = [
    (
        "Facts",
        "The API listens on port 8080.",
        "The API listens on port 9090 now.",
    ),
    (
        "Facts",
        "The build server is called heron.",
        "The build server is now called plover.",
    ),
    (
        RULES,
        "Always answer in German.",
        "From now on always answer in English.",
    ),
    (
        RULES,
        "Never push on Fridays.",
        "Change: You may push on Fridays from now on.",
    ),
    (
        RULES,
        "Never push on Fridays.",
        "No longer: Never push on Fridays.",
    ),
    (RULES, "Never use tabs.", "Always use tabs."),
];

#[test]
fn what_is_kept_and_said_again_after_a_change_that_waits_ends_that_change() {
    for (under, kept, said) in TURNS {
        let place = keeping(under, kept);
        let memory = place.read("MEMORY.md");
        place.log(day(3), under, said, Source::User);
        place.dream(&settings());
        let waiting = change(&place, kept);
        assert_eq!(waiting.status, Status::Staged, "{said}");
        assert_eq!(
            waiting.replaces,
            [place.candidates()[0].id.clone()],
            "{said}"
        );
        place.log(day(1), under, kept, Source::User);
        let report = place.dream(&settings());
        assert_eq!(
            (report.waiting, report.consolidated.superseded),
            (0, 1),
            "{said}"
        );
        let gone = change(&place, kept);
        let by = place.candidates()[0].id.clone();
        assert_eq!(
            gone.status,
            Status::Superseded {
                on: day(1),
                by: Some(by)
            }
        );
        assert_eq!(gone.valid_until, Some(day(1)));
        let page = place.read("DREAMS.md");
        let told = format!("(until 2026-11-14: memory/2026-11-14.md:6, “{kept}”)");
        assert!(page.contains("## Taken Back Before Review"), "{page}");
        assert!(page.contains(&told), "{page}");
        assert_eq!(place.read("MEMORY.md"), memory);
        let files = place.files();
        place.dream(&policy());
        assert_eq!(place.files(), files, "{said}");
    }
}

#[test]
fn a_policy_keeps_what_was_said_last_where_a_change_and_the_way_back_are_read_at_once() {
    for (under, kept, said) in TURNS {
        let place = keeping(under, kept);
        let memory = place.read("MEMORY.md");
        place.log(day(3), under, said, Source::User);
        place.log(day(1), under, kept, Source::User);
        let report = place.dream(&policy());
        assert_eq!((report.promoted.len(), report.waiting), (0, 0), "{said}");
        assert_eq!(place.read("MEMORY.md"), memory, "{said}");
    }
}

#[test]
fn a_change_that_is_said_once_more_after_the_way_back_waits_again() {
    for (under, kept, said) in TURNS {
        let place = keeping(under, kept);
        place.log(day(3), under, said, Source::User);
        place.log(day(2), under, kept, Source::User);
        place.dream(&settings());
        place.log(day(1), under, said, Source::User);
        assert_eq!(place.dream(&settings()).waiting, 1, "{said}");
        let all = place.candidates();
        let waiting: Vec<&Candidate> = all.iter().filter(|one| one.is_ripe()).collect();
        assert_eq!(waiting[0].valid_from, day(1), "{said}");
        assert_eq!(waiting[0].replaces, [all[0].id.clone()], "{said}");
    }
}

#[test]
fn the_agent_does_not_go_back_for_the_user() {
    let (kept, said) = (TURNS[0].1, TURNS[0].2);
    let place = keeping("Facts", kept);
    let memory = place.read("MEMORY.md");
    place.log(day(3), "Facts", said, Source::User);
    place.log(day(1), "Facts", kept, Source::Agent);
    let report = place.dream(&policy());
    assert_eq!((report.promoted.len(), report.waiting), (0, 1));
    assert_eq!(place.read("MEMORY.md"), memory);
    let (kept, change) = (place.find(kept), place.find(said));
    assert_eq!(change.contradicts, [kept.id]);
    assert_eq!(change.replaces, [""; 0]);
}

#[test]
fn a_log_that_quotes_an_entry_once_more_says_nothing_again() {
    let (kept, said) = (
        "The API listens on port 8080.",
        "The API listens on port 9090 now.",
    );
    let place = Place::new();
    let quote = |back: i8| {
        let note = Note {
            text: kept.into(),
            source: Source::User,
            entry: Some(EntryId::new("0b8f5a52-7f3e-4a43")),
            said: None,
            first: None,
        };
        let body = Body::Sections(vec![Section {
            title: "Facts".into(),
            notes: vec![note],
        }]);
        let origin = Origin {
            session: Some("one"),
            epoch: None,
        };
        let time = day(back).at(10, 0, 0, 0);
        place
            .memory
            .append_log(time, "Flush", origin, &body)
            .unwrap();
    };
    quote(5);
    place.dream(&policy());
    place.log(day(3), "Facts", said, Source::User);
    quote(1);
    place.dream(&settings());
    let change = place.find(said);
    assert_eq!(change.status, Status::Staged);
    assert_eq!(change.replaces, [place.id(kept)]);
}

#[test]
fn what_is_taken_back_twice_ends_once_and_as_often_as_it_was_said_between() {
    let (kept, end) = (TURNS[4].1, TURNS[4].2);
    let place = keeping(RULES, kept);
    place.log(day(4), RULES, end, Source::User);
    place.log(day(1), RULES, end, Source::User);
    assert_eq!(place.dream(&settings()).waiting, 1);
    assert_eq!(change(&place, kept).days, [day(4), day(1)]);
    // Read late: the second time took back what had been said again.
    place.log(day(3), RULES, kept, Source::User);
    assert_eq!(place.dream(&settings()).waiting, 1);
    let all = place.candidates();
    let waiting: Vec<&Candidate> = all.iter().filter(|one| one.is_ripe()).collect();
    assert_eq!(waiting[0].days, [day(1)]);
}

#[test]
fn a_rule_that_is_kept_is_not_listed_as_taken_back_when_its_end_is_over() {
    let place = keeping(RULES, "Never use npm.");
    place.log(day(2), RULES, "No longer: Never use npm.", Source::User);
    place.dream(&settings());
    assert!(
        place
            .read("DREAMS.md")
            .contains("Finding: no longer: Never use npm.")
    );
    place.log(day(1), RULES, "Never use npm.", Source::User);
    place.dream(&settings());
    let page = place.read("DREAMS.md");
    assert!(
        page.contains("\n- no longer: Never use npm. (until 2026-11-14: "),
        "{page}"
    );
    assert!(!page.contains("\n- Never use npm."), "{page}");
}

#[test]
fn a_change_that_is_read_after_the_way_back_is_as_if_it_was_read_before() {
    for (under, kept, said) in TURNS {
        let in_order = keeping(under, kept);
        in_order.log(day(3), under, said, Source::User);
        in_order.dream(&settings());
        in_order.log(day(1), under, kept, Source::User);
        in_order.dream(&settings());
        let late = keeping(under, kept);
        late.log(day(1), under, kept, Source::User);
        late.dream(&settings());
        late.log(day(3), under, said, Source::User);
        late.dream(&settings());
        // What never waited was not weighed.
        let unweighed = |place: &Place| -> Vec<Candidate> {
            let mut all = place.candidates();
            all.iter_mut().for_each(|one| one.confidence = 0.0);
            all
        };
        assert_eq!(unweighed(&late), unweighed(&in_order), "{said}");
        assert_eq!(late.candidates()[0].days, [day(5), day(1)], "{said}");
        assert_eq!(late.read("DREAMS.md"), in_order.read("DREAMS.md"), "{said}");
    }
}
