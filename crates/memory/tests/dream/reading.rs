//! What is read of logs, and what is not.

use std::collections::BTreeMap;
use std::fs;

use jiff::civil::date;
use longhaul_memory::Source;
use serde_json::json;

use crate::{Place, TODAY, backfill, day, session_of, settings};

#[test]
fn what_was_logged_is_staged_with_its_evidence_and_a_second_dream_changes_nothing() {
    let place = Place::new();
    place.rule(day(2), "Never push on Fridays.");
    place.log(
        day(1),
        "Important Decisions",
        "RS256 for tokens because services only need the public key",
        Source::Agent,
    );
    place.log(
        day(1),
        "Task Progress",
        "Completed: the login form for the shop",
        Source::Agent,
    );
    place.rule(TODAY, "never push on Fridays");
    let report = place.dream(&settings());
    assert_eq!(
        (
            report.logs,
            report.consolidated.found,
            report.consolidated.repeated,
            report.waiting
        ),
        (3, 2, 1, 2)
    );
    let dreams = place.read("DREAMS.md");
    let id = place.id("Never push");
    assert!(
        dreams.contains(&format!(
            "### {id} · preference · user · 0.68\nFinding: Never push on Fridays.\n"
        )),
        "{dreams}"
    );
    assert!(
        dreams.contains("> memory/2026-11-13.md:6 (user): “Never push on Fridays.”"),
        "{dreams}"
    );
    assert!(
        dreams.contains("> memory/2026-11-15.md:6 (user)"),
        "{dreams}"
    );
    assert!(!dreams.contains("login form"), "progress is of a day");
    assert!(!place.memory.root().join("MEMORY.md").exists());
    let before = place.files();
    let again = place.dream(&settings());
    assert_eq!(place.files(), before);
    assert_eq!(again.consolidated.found + again.consolidated.repeated, 0);
}

#[test]
fn only_the_last_days_are_read() {
    let place = Place::new();
    place.rule(day(7), "Never push on Fridays.");
    place.rule(day(6), "Always write tests first.");
    place.dream(&settings());
    let texts: Vec<String> = place.candidates().into_iter().map(|one| one.text).collect();
    assert_eq!(texts, ["Always write tests first."]);
}

#[test]
fn a_log_that_is_no_diary_or_no_text_is_told_and_the_others_are_read() {
    let place = Place::new();
    let many: String = (0..10_500)
        .map(|n| format!("- thing{n} stands in room{n}\n"))
        .collect();
    place.write("memory/2026-11-13.md", &many);
    fs::create_dir_all(place.memory.root().join("memory/2026-11-12.md")).unwrap();
    let path = place.memory.root().join("memory/2026-11-14.md");
    fs::write(path, b"- the caf\xe9 of the team is in the cellar\n").unwrap();
    place.rule(TODAY, "Never push on Fridays.");
    let report = place.dream(&settings());
    assert_eq!(report.problems.len(), 2, "{:?}", report.problems);
    assert!(
        report
            .problems
            .iter()
            .any(|one| one.contains("the newest 10000 were taken, and 500 are left for the next"))
    );
    assert!(
        report
            .problems
            .iter()
            .any(|one| one.contains("2026-11-12.md: it is a folder"))
    );
    assert_eq!(report.consolidated.found, 10_002);
    assert_eq!(place.find("cellar").source, Source::Unknown);
    let has = |text: &str| place.candidates().iter().any(|one| one.text == text);
    let (first, last) = ("thing0 stands in room0", "thing10499 stands in room10499");
    assert!(has(last) && !has(first), "the newest first");
    let report = place.dream(&settings());
    assert_eq!(report.consolidated.found, 500);
    assert!(has(first));
    let candidates = place.candidates();
    place.dream(&settings());
    assert_eq!(place.candidates(), candidates);
}

#[test]
fn titles_that_a_person_writes_over_a_list_say_what_it_is_about() {
    let place = Place::new();
    place.write(
        "memory/2026-11-14.md",
        "# Saturday\n\n## Decisions\n- SQLite, because no server is needed\n\n## Next steps\n- call the \
         harbour about the tide tables\n\n## 10:00 — Flush\n- the mailer keeps its queue in Valkey\n",
    );
    place.dream(&settings());
    let found = place.dreams().candidates().unwrap();
    let found: BTreeMap<String, String> = found
        .iter()
        .map(|one| (one.text.clone(), one.topic.to_string()))
        .collect();
    let expected = [
        ("SQLite, because no server is needed", "decision"),
        ("call the harbour about the tide tables", "note"),
        ("the mailer keeps its queue in Valkey", "note"),
    ];
    let expected = expected.map(|(text, topic)| (text.to_owned(), topic.to_owned()));
    assert_eq!(found, BTreeMap::from(expected));
}

#[test]
fn what_was_said_once_counts_once_however_often_it_is_quoted() {
    let place = Place::new();
    // A rule and a fact at once, and a copy of the session.
    let said = json!({"role": "user", "content": "Never deploy the gateway to port 8443."});
    let sessions = [
        session_of(&place, "one", said.clone()),
        session_of(&place, "copy", said),
    ];
    backfill(&place, &sessions[..1]);
    let alone = place.find("8443");
    assert_eq!(place.candidates().len(), 1, "{:#?}", place.candidates());
    assert_eq!((alone.mentions(), alone.sessions.len()), (1, 1));
    backfill(&place, &sessions);
    let found = place.find("8443");
    assert_eq!((found.mentions(), found.sessions.len()), (1, 1));
    assert_eq!(found.evidence, alone.evidence);
    assert_eq!(found.confidence, alone.confidence);
    // Said again, in words of its own.
    place.rule(TODAY, "Never deploy the gateway to port 8443.");
    place.dream(&settings());
    let found = place.find("8443");
    assert_eq!((found.mentions(), found.sessions.len()), (2, 2));
}

#[test]
fn two_lines_of_a_log_that_quote_one_entry_are_one_mention() {
    let place = Place::new();
    place.rule(day(2), "Never push on Fridays.");
    place.log(day(2), "Facts", "Never push on Fridays.", Source::User);
    let report = place.dream(&settings());
    assert_eq!(
        (report.consolidated.found, report.consolidated.repeated),
        (1, 0)
    );
    assert_eq!(place.find("Never push").mentions(), 1);
}

#[test]
fn a_log_of_a_day_to_come_is_left_out_and_weighs_on_nothing() {
    let place = Place::new();
    place.rule(day(1), "Never push on Fridays.");
    place.dream(&settings());
    let before = place.find("Never push").confidence;
    place.log(
        date(2099, 1, 1),
        "Facts",
        "The staging gateway listens on port 8443",
        Source::User,
    );
    place.log(
        TODAY,
        "Facts",
        "The staging gateway listens on port 9555",
        Source::User,
    );
    let report = place.dream(&settings());
    assert_eq!(
        report.problems,
        [
            "memory/2099-01-01.md is of a day to come and was left out; was it written with a wrong clock?"
        ]
    );
    let texts: Vec<String> = place.candidates().into_iter().map(|one| one.text).collect();
    assert_eq!(
        texts,
        [
            "Never push on Fridays.",
            "The staging gateway listens on port 9555"
        ]
    );
    let after = place.find("Never push").confidence;
    assert!((before - after).abs() < 0.02, "{before} {after}");
}

#[cfg(unix)]
#[test]
fn a_folder_of_logs_that_is_a_link_is_told_with_where_it_leads() {
    use std::os::unix::fs::symlink;
    for (to, logs, told) in [
        (
            "notes",
            1,
            "memory is a link to the folder notes: what is in it is written and dreamt of",
        ),
        (
            "../elsewhere",
            0,
            "no logs were read from memory: it is a link that leads out of the workspace",
        ),
        (
            "gone",
            0,
            "no logs were read from memory: it is a link to gone, which is not there",
        ),
        (
            "memory",
            0,
            "no logs were read from memory: it is a link that cannot be followed (",
        ),
    ] {
        let place = Place::new();
        let root = place.memory.root();
        for folder in ["notes", "../elsewhere"] {
            fs::create_dir(root.join(folder)).unwrap();
            let log = "## Decisions\n- We decided on port 8443 for the gateway\n";
            fs::write(root.join(folder).join("2026-11-14.md"), log).unwrap();
        }
        symlink(to, root.join("memory")).unwrap();
        let report = place.dream(&settings());
        assert_eq!(report.logs, logs, "{to}");
        assert_eq!(report.problems.len(), 1, "{to}: {:?}", report.problems);
        assert!(
            report.problems[0].starts_with(told),
            "{:?}",
            report.problems
        );
    }
    // A file is no folder either.
    let place = Place::new();
    fs::write(place.memory.root().join("memory"), "x").unwrap();
    let report = place.dream(&settings());
    assert!(
        report.problems[0].contains("it is not a folder"),
        "{:?}",
        report.problems
    );
}

#[test]
fn what_is_too_short_too_long_or_part_of_a_paragraph_stays_in_its_log() {
    let place = Place::new();
    let long = "the archive of the shop lies in the cellar ".repeat(12);
    let log = format!(
        "# 2026-11-14\n\n## Later\n- ok\n- {long}\n- The call is next Monday at three.\n\n\
         The relay was never meant\nto be reached from outside.\n\nThe mailer has a queue of its own.\n"
    );
    place.write("memory/2026-11-14.md", &log);
    let report = place.dream(&settings());
    assert_eq!(report.left_out, 4);
    let texts: Vec<String> = place.candidates().into_iter().map(|one| one.text).collect();
    assert_eq!(
        texts,
        [
            "The call is next Monday at three.",
            "The mailer has a queue of its own."
        ]
    );
}
