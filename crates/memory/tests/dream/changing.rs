//! What changes: newer for older, the opposite, another thing, a wrong clock.

use jiff::civil::{Date, date};
use longhaul_memory::dream::{Candidate, Cause, Consolidated, Settings, Status, waiting};
use longhaul_memory::files::{Body, Mention, Note, Origin, Section};
use longhaul_memory::{Error, Source};
use longhaul_transcript::EntryId;

use crate::{Place, TODAY, day, now, policy, settings};

#[test]
fn what_was_rejected_never_comes_back() {
    let place = Place::dreamt(&["Never push on Fridays."]);
    let id = place.id("Never push");
    {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams.reject(&lock, &id, TODAY).unwrap();
        assert!(matches!(
            dreams.reject(&lock, &id, TODAY),
            Err(Error::NotStaged { .. })
        ));
        assert!(matches!(
            dreams.promote(&lock, &id, &now(), &settings()),
            Err(Error::NotStaged { .. })
        ));
        assert!(matches!(
            dreams.reject(&lock, "d-nothing", TODAY),
            Err(Error::NoCandidate { .. })
        ));
    }
    place.rule(TODAY, "Never push on Fridays!");
    let report = place.dream(&settings());
    assert_eq!(
        (
            report.waiting,
            report.consolidated.rejected,
            place.candidates().len()
        ),
        (0, 1, 1)
    );
    assert!(!place.read("DREAMS.md").contains("push"));
}

#[test]
fn a_newer_value_takes_the_place_of_an_older_one_with_the_days_of_both() {
    let place = Place::new();
    place.log(
        day(5),
        "Facts",
        "JWT access tokens expire after 15 minutes",
        Source::User,
    );
    place.dream(&settings());
    let old = place.promote("15 minutes");
    place.log(
        day(1),
        "Facts",
        "JWT access tokens expire after 30 minutes",
        Source::User,
    );
    place.dream(&settings());
    assert_eq!(
        place.find("30 minutes").replaces,
        std::slice::from_ref(&old)
    );
    assert!(
        place
            .read("DREAMS.md")
            .contains(&format!("Put in the place of {old}"))
    );
    let new = place.promote("30 minutes");
    let (memory, project) = (place.read("MEMORY.md"), place.read("memories/project.md"));
    assert!(memory.contains(&new) && !memory.contains(&old), "{memory}");
    assert!(
        project.contains(&format!(
            "; valid from 2026-11-10 until 2026-11-14, replaced by {new}\n"
        )),
        "{project}"
    );
    let replaced = place.find("15 minutes");
    assert_eq!(replaced.valid_until, Some(day(1)));
    assert_eq!(
        replaced.status,
        Status::Superseded {
            on: day(1),
            by: Some(new)
        }
    );
    place.undo().unwrap();
    assert!(place.read("MEMORY.md").contains(&old));
    assert_eq!(place.find("15 minutes").valid_until, None);
}

/// A host hands over a session of last year today, and a flush notes what it says.
#[test]
fn what_was_said_on_an_earlier_day_than_its_log_replaces_nothing_newer() {
    let place = Place::new();
    let fact = |port: u32| format!("Our staging server runs on port {port}.");
    place.log(day(3), "Facts", &fact(6_000), Source::User);
    let note = Note {
        text: fact(5_433),
        source: Source::User,
        entry: Some(EntryId::new("e7")),
        said: Some(date(2025, 9, 1)),
        first: None,
    };
    let sections = vec![Section {
        title: "Facts".into(),
        notes: vec![note],
    }];
    let at = TODAY.at(9, 0, 0, 0);
    let body = Body::Sections(sections);
    place
        .memory
        .append_log(at, "Flush", Origin::default(), &body)
        .unwrap();
    for _ in 0..2 {
        place.dream(&settings());
        let old = place.find("5433");
        assert_eq!(old.valid_from, date(2025, 9, 1));
        assert_eq!(old.valid_until, Some(day(3)));
        assert_eq!(place.find("6000").valid_until, None);
    }
}

/// Logs what was said five days ago and once more on another day.
fn said_twice(place: &Place, text: &str, last: Date) {
    let body = Body::Sections(vec![Section {
        title: "Facts".into(),
        notes: vec![Note {
            text: text.into(),
            source: Source::User,
            entry: Some(EntryId::new("e9")),
            said: Some(last),
            first: Some(Mention {
                entry: EntryId::new("e2"),
                day: Some(day(5)),
            }),
        }],
    }]);
    let origin = Origin {
        session: Some("one"),
        epoch: None,
    };
    let memory = &place.memory;
    memory
        .append_log(TODAY.at(9, 0, 0, 0), "Flush", origin, &body)
        .unwrap();
}

#[test]
fn what_one_line_says_was_said_twice_holds_from_the_first_time_on() {
    for last in [day(1), TODAY] {
        let place = Place::new();
        said_twice(&place, "The API listens on port 8080.", last);
        for _ in 0..2 {
            place.dream(&settings());
            let one = place.find("8080");
            assert_eq!(one.valid_from, day(5));
            assert_eq!(one.days, [day(5), last]);
            assert_eq!(one.mentions(), 2);
        }
    }
}

#[test]
fn what_was_said_between_two_times_held_between_them() {
    let place = Place::new();
    let (port, other) = (
        "The API listens on port 8080.",
        "The API listens on port 9090 now.",
    );
    said_twice(&place, port, day(1));
    place.log(day(3), "Facts", other, Source::User);
    for _ in 0..2 {
        place.dream(&settings());
        let all = place.candidates();
        let held = |text: &str| -> Vec<_> {
            let of = all.iter().filter(|one| one.text == text);
            of.map(|one| (one.valid_from, one.valid_until)).collect()
        };
        assert_eq!(held(port), [(day(5), Some(day(3))), (day(1), None)]);
        assert_eq!(held(other), [(day(3), Some(day(1)))]);
    }
}

#[test]
fn the_order_of_the_days_counts_and_not_the_order_of_finding() {
    let forward = Place::new();
    let backward = Place::new();
    for place in [&forward, &backward] {
        let lines = [(day(5), "15 minutes"), (day(1), "30 minutes")];
        let order: Vec<_> = match std::ptr::eq(place, &forward) {
            true => lines.to_vec(),
            false => lines.iter().rev().copied().collect(),
        };
        for (day, value) in order {
            place.log(
                day,
                "Facts",
                &format!("JWT access tokens expire after {value}"),
                Source::User,
            );
            place.dream(&settings());
        }
        let waits: Vec<String> = waiting(&place.candidates())
            .iter()
            .map(|one| one.text.clone())
            .collect();
        assert_eq!(waits, ["JWT access tokens expire after 30 minutes"]);
        assert_eq!(place.find("15 minutes").valid_until, Some(day(1)));
    }
}

#[test]
fn what_is_taken_back_ends_and_may_come_again_later() {
    let place = Place::new();
    place.rule(day(5), "Never push on Fridays.");
    place.rule(day(5), "Always write tests first.");
    place.dream(&settings());
    let id = place.promote("Never push");
    for text in ["Never push on Fridays.", "Always write tests first."] {
        place.log(
            day(3),
            "User Preferences",
            &format!("No longer: {text}"),
            Source::User,
        );
    }
    place.dream(&settings());
    assert_eq!(
        place.find("Always write").status,
        Status::Superseded {
            on: day(3),
            by: None
        }
    );
    let waits = place.candidates();
    let waits = waiting(&waits);
    assert_eq!(waits.len(), 1);
    assert!(waits[0].ends && waits[0].replaces == [id.clone()]);
    place.promote("Never push");
    assert!(!place.read("MEMORY.md").contains(&id));
    assert!(
        place
            .read("memories/project.md")
            .contains("until 2026-11-12, taken back")
    );
    place.rule(day(1), "Always write tests first.");
    place.dream(&settings());
    let files = place.files();
    assert_eq!(place.find("Always write").status, Status::Staged);
    place.dream(&settings());
    assert_eq!(place.files(), files);
}

#[test]
fn what_only_may_contradict_waits_for_a_person() {
    let place = Place::new();
    place.log(
        day(5),
        "Facts",
        "Deploy the site on Monday mornings",
        Source::User,
    );
    place.log(
        day(1),
        "Facts",
        "Deploy the site on Friday mornings",
        Source::User,
    );
    let policy = Settings {
        promote_at: Some(0.1),
        ..settings()
    };
    let report = place.dream(&policy);
    assert_eq!((report.promoted.len(), report.waiting), (0, 2));
    assert!(place.read("DREAMS.md").contains("May contradict: d-"));
}

#[test]
fn the_memory_of_a_person_is_known_and_contradictions_with_it_are_shown() {
    let place = Place::new();
    place.write(
        "MEMORY.md",
        "# Memory\n- Never push on Fridays\n- The staging port is 8080 on the build server\n",
    );
    place.rule(day(1), "Never push on Fridays.");
    place.log(
        day(1),
        "Facts",
        "The staging port is 9090 on the build server",
        Source::User,
    );
    let report = place.dream(&settings());
    assert_eq!((report.consolidated.known, report.waiting), (1, 1));
    assert_eq!(place.find("9090").contradicts, ["MEMORY.md:3"]);
}

#[test]
fn what_is_turned_round_is_not_swallowed_and_takes_the_place() {
    for (before, after) in [
        ("I prefer tabs over spaces.", "I prefer spaces over tabs."),
        (
            "Always deploy from staging to production.",
            "Always deploy from production to staging.",
        ),
        (
            "Always run the tests before committing, not after.",
            "Always run the tests after committing, not before.",
        ),
    ] {
        let place = Place::new();
        place.rule(day(3), before);
        place.dream(&policy());
        assert!(place.find(before).status.is_kept(), "{before}");
        place.rule(day(2), before);
        place.rule(day(1), after);
        let report = place.dream(&policy());
        assert_eq!(report.consolidated.repeated, 1, "{before}");
        assert_eq!(place.find(before).evidence.len(), 2);
        let (old, new) = (place.find(before), place.find(after));
        assert_eq!(
            old.status,
            Status::Superseded {
                on: day(1),
                by: Some(new.id)
            }
        );
        assert_eq!(old.valid_until, Some(day(1)));
        let memory = place.read("MEMORY.md");
        assert!(
            memory.contains(after) && !memory.contains(before),
            "{memory}"
        );
    }
}

#[test]
fn what_is_said_of_one_thing_replaces_nothing_said_of_another() {
    let place = Place::new();
    for (back, line) in [
        (4, "Worker 1 of the pipeline listens on port 7001."),
        (3, "Worker 2 of the pipeline listens on port 7002."),
        (4, "The server web-01 has 16 GB of memory."),
        (3, "The server web-02 has 32 GB of memory."),
        (4, "The bucket in eu-west-1 keeps backups for 30 days."),
        (3, "The bucket in us-east-1 keeps backups for 90 days."),
        (4, "Service A of the shop listens on port 7001."),
        (3, "Service B of the shop listens on port 7002."),
    ] {
        place.log(day(back), "Facts", line, Source::User);
    }
    let done = place.dream(&policy()).consolidated;
    assert_eq!(
        (done.found, done.superseded, done.contradictions),
        (8, 0, 0)
    );
}

#[test]
fn nothing_is_replaced_in_one_breath_without_a_word_of_change() {
    let place = Place::new();
    for line in [
        "The staging gateway listens on port 8443",
        "The staging gateway listens on port 9555",
    ] {
        place.log(day(1), "Facts", line, Source::User);
    }
    let done = place.dream(&policy()).consolidated;
    assert_eq!(
        (done.found, done.superseded, done.contradictions),
        (2, 0, 1)
    );
    place.log(
        TODAY,
        "Facts",
        "The job queue of the shop listens on port 7001",
        Source::User,
    );
    place.log(
        TODAY,
        "Facts",
        "The job queue of the shop listens on port 7002 instead",
        Source::User,
    );
    assert_eq!(place.dream(&policy()).consolidated.superseded, 1);
}

#[test]
fn what_a_wrong_clock_wrote_gives_way_to_what_was_said_by_now() {
    let place = Place::new();
    let at = |day: Date| {
        day.at(20, 0, 0, 0)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .unwrap()
    };
    let dream = |day: Date| {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams
            .run(&lock, &at(day), Cause::Manual, &policy_of_nothing(), None)
            .unwrap()
    };
    let fact = |day: Date, port: &str| {
        let line = format!("The staging gateway listens on port {port}");
        place.log(day, "Facts", &line, Source::User);
    };
    let wrong = date(2099, 1, 1);
    fact(wrong, "8443");
    dream(wrong);
    assert_eq!(place.find("8443").valid_from, wrong);
    fact(TODAY, "9555");
    dream(TODAY);
    let (old, new) = (place.find("8443"), place.find("9555"));
    assert_eq!(new.status, Status::Staged);
    assert_eq!(
        old.status,
        Status::Superseded {
            on: TODAY,
            by: Some(new.id)
        }
    );
}

/// Settings that read far back and promote nothing.
fn policy_of_nothing() -> Settings<'static> {
    Settings {
        lookback_days: 30_000,
        ..settings()
    }
}

#[test]
fn what_something_of_a_day_to_come_replaced_holds_again() {
    let place = Place::new();
    let at = |day: Date| {
        day.at(20, 0, 0, 0)
            .to_zoned(jiff::tz::TimeZone::UTC)
            .unwrap()
    };
    let dreams = place.dreams();
    let fact = |day: Date, port: &str| {
        let line = format!("The staging gateway listens on port {port}");
        place.log(day, "Facts", &line, Source::User);
    };
    fact(day(1), "9555");
    let wrong = date(2099, 1, 1);
    fact(wrong, "8443");
    let lock = dreams.lock().unwrap();
    let run = |day: Date| {
        dreams
            .run(&lock, &at(day), Cause::Manual, &policy_of_nothing(), None)
            .unwrap()
    };
    run(wrong);
    assert_eq!(place.find("9555").valid_until, Some(wrong));
    run(TODAY);
    let (old, new) = (place.find("8443"), place.find("9555"));
    assert_eq!((new.status, new.valid_until), (Status::Staged, None));
    assert_eq!(
        old.status,
        Status::Superseded {
            on: day(1),
            by: Some(new.id)
        }
    );
    let files = place.files();
    run(TODAY);
    assert_eq!(place.files(), files);
}

#[test]
fn several_are_rejected_or_none_of_them() {
    let place = Place::dreamt(&["Never push on Fridays.", "Always sign the tags."]);
    let ids = ["Never push", "Always sign"].map(|text| place.id(text));
    place.promote("Always sign");
    let before = place.files();
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let error = dreams.reject_all(&lock, &ids, TODAY).unwrap_err();
    assert!(matches!(error, Error::NotStaged { .. }), "{error}");
    assert_eq!(place.files(), before);
    dreams.reject_all(&lock, &ids[..1], TODAY).unwrap();
    let rejected = Status::Rejected { on: TODAY };
    assert_eq!(place.find("Never push").status, rejected);
}

#[test]
fn a_note_counts_once_wherever_it_moves_in_its_log() {
    let place = Place::new();
    let log = "memory/2026-11-13.md";
    let notes = "- The API spec lives in /docs/api-spec.yaml\n\n- The CFO is Dana Reyes\n";
    place.write(log, notes);
    place.dream(&settings());
    let before = ["API spec", "Dana Reyes"].map(|text| place.find(text));
    for above in ["hello\n", "hello\n\nworld\n", ""] {
        place.write(log, &format!("{above}{notes}"));
        let report = place.dream(&settings());
        assert_eq!(report.consolidated, Consolidated::default(), "{above:?}");
        let moved = above.lines().count();
        for before in &before {
            let now = place.find(&before.text);
            assert_eq!(now.mentions(), 1, "{above:?}");
            let lines = |one: &Candidate| one.evidence.iter().map(|one| one.line).collect();
            let was: Vec<Option<usize>> = lines(before);
            let was: Vec<_> = was
                .iter()
                .map(|line| line.map(|line| line + moved))
                .collect();
            let now: Vec<Option<usize>> = lines(&now);
            assert_eq!(now, was, "{above:?}");
        }
        let files = place.files();
        place.dream(&settings());
        assert_eq!(place.files(), files, "{above:?}");
    }
}

#[test]
fn notes_of_the_same_words_keep_their_order_when_they_move() {
    let notes =
        "- The API runs on port 8080\n- The API runs on port 9090\n- The API runs on port 8080\n";
    let log = "memory/2026-11-13.md";
    let standing = |place: &Place| -> Vec<(String, Status, usize)> {
        let all = place.candidates().into_iter();
        all.map(|one| (one.text.clone(), one.status.clone(), one.mentions()))
            .collect()
    };
    let place = Place::new();
    place.write(log, notes);
    place.dream(&settings());
    let before = standing(&place);
    place.write(log, &format!("hello\n\n{notes}"));
    let report = place.dream(&settings());
    assert_eq!(report.consolidated, Consolidated::default());
    assert_eq!(standing(&place), before);
    // What is written once more was said once more.
    place.write(
        log,
        &format!("hello\n\n{notes}- The API runs on port 9090\n"),
    );
    assert_ne!(
        place.dream(&settings()).consolidated,
        Consolidated::default()
    );
}

#[test]
fn rules_with_another_number_and_no_word_of_change_wait_for_a_person() {
    for (older, newer) in [
        (
            "Keep functions under 80 lines in Python.",
            "Keep functions under 60 lines.",
        ),
        (
            "Keep pull requests under 300 lines.",
            "Keep pull requests under 500 lines in Go.",
        ),
        (
            "Use 2 spaces for indentation.",
            "Use 4 spaces for indentation.",
        ),
        (
            "Wait 5 seconds between requests to the staging API.",
            "Wait 10 seconds between requests to the API.",
        ),
        (
            "Write subject lines of at most 72 characters.",
            "Write subject lines of at most 50 characters.",
        ),
        (
            "I prefer 2 spaces for indentation.",
            "I prefer 4 spaces for indentation.",
        ),
    ] {
        let place = Place::new();
        place.log(day(4), "User Preferences", older, Source::User);
        place.log(day(1), "User Preferences", newer, Source::User);
        let report = place.dream(&policy());
        assert_eq!((report.promoted.len(), report.waiting), (0, 2), "{newer}");
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(new.contradicts, std::slice::from_ref(&old.id), "{newer}");
        assert_eq!(old.contradicts, [new.id], "{newer}");
    }
    let place = Place::new();
    let said = [
        "Use 2 spaces for indentation.",
        "Use 4 spaces for indentation from now on.",
    ];
    place.log(day(4), "User Preferences", said[0], Source::User);
    place.log(day(1), "User Preferences", said[1], Source::User);
    assert_eq!(place.dream(&settings()).consolidated.superseded, 1);
}

#[test]
fn a_rule_for_go_is_told_from_one_for_another_language() {
    for (older, newer) in [
        (
            "Keep functions under 40 lines in Rust.",
            "Keep functions under 40 lines in Go.",
        ),
        (
            "Keep functions under 40 lines in Go.",
            "Keep functions under 80 lines in Python.",
        ),
    ] {
        let place = Place::new();
        place.log(day(4), "User Preferences", older, Source::User);
        place.log(day(1), "User Preferences", newer, Source::User);
        let done = place.dream(&settings()).consolidated;
        assert_eq!((done.found, done.superseded), (2, 0), "{newer}");
    }
}

#[test]
fn no_rule_of_three_scopes_is_lost_under_a_policy() {
    let place = Place::new();
    for (back, rule) in [
        (4, "Keep functions under 40 lines in Rust."),
        (3, "Keep functions under 80 lines in Python."),
        (2, "Keep functions under 60 lines."),
    ] {
        place.log(day(back), "User Preferences", rule, Source::User);
        place.dream(&policy());
    }
    let memory = place.read("MEMORY.md");
    assert!(memory.contains("40 lines in Rust"), "{memory}");
    assert!(memory.contains("80 lines in Python"), "{memory}");
    assert!(!place.find("60 lines").contradicts.is_empty());
}

#[test]
fn what_is_told_apart_by_a_little_word_waits_as_two_and_closes_nothing() {
    let stays = |place: &Place, older: &str, newer: &str| {
        place.dream(&settings());
        let staged: Vec<bool> = place
            .candidates()
            .iter()
            .map(|one| one.status == Status::Staged && one.contradicts.is_empty())
            .collect();
        assert_eq!(staged, [true, true], "{older} {newer}");
    };
    for (older, newer) in [
        ("Never invite Ben.", "Never invite Mia."),
        (
            "Never delete user accounts.",
            "Never delete agent accounts.",
        ),
        (
            "Never share the project password.",
            "Always share the team password.",
        ),
    ] {
        let place = Place::new();
        place.rule(day(5), older);
        place.rule(day(1), newer);
        stays(&place, older, newer);
    }
    for (older, newer) in [
        ("My birthday is on March 3.", "Her birthday is on March 3."),
        (
            "Our office is in Berlin.",
            "Their office is now in Hamburg.",
        ),
        ("I live in Berlin.", "Ben moved to Ulm."),
    ] {
        let place = Place::new();
        place.log(day(5), "Facts", older, Source::User);
        place.log(day(1), "Facts", newer, Source::User);
        stays(&place, older, newer);
    }
}
