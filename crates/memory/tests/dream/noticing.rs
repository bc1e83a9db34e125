//! What the user's own words come to, and what is passed over.

use std::fs;

use longhaul_memory::Source;
use longhaul_memory::dream::{Topic, waiting};
use longhaul_memory::files::{Body, Origin};
use serde_json::json;

use crate::{Place, backfill, day, pi_session, policy, said_on};

/// What one session says, as it is staged.
fn staged(texts: &[&str]) -> Vec<(Topic, Source, String)> {
    let place = Place::new();
    let session = said_on(&place, "2026-10-01", texts);
    backfill(&place, &[session]);
    let all = place.candidates();
    let each = waiting(&all).into_iter();
    each.map(|one| (one.topic, one.source, one.text.clone()))
        .collect()
}

#[test]
fn what_the_user_says_is_so_and_short_rules_are_staged() {
    for (said, topic) in [
        (
            "Our team has an API spec document at /docs/api-spec.yaml.",
            Topic::Fact,
        ),
        ("the design doc lives in docs/design.md", Topic::Fact),
        ("My timezone is Europe/Berlin", Topic::Fact),
        ("Our CI runs on Jenkins, not GitHub Actions", Topic::Fact),
        ("The production database is called tides_prod", Topic::Fact),
        ("My manager is Ada Lovelace.", Topic::Fact),
        ("我们的数据库是 PostgreSQL。", Topic::Fact),
        ("I dislike emoji in code comments.", Topic::Preference),
        ("I hate emojis in code comments", Topic::Preference),
        ("Ich mag keine Emojis in Kommentaren.", Topic::Preference),
        ("Never use Redis.", Topic::Constraint),
        ("No emojis.", Topic::Constraint),
        ("Use pnpm, not npm.", Topic::Constraint),
        ("Do not commit.", Topic::Constraint),
    ] {
        let expected = vec![(topic, Source::User, said.to_owned())];
        assert_eq!(staged(&[said]), expected, "{said}");
    }
}

#[test]
fn what_passes_and_what_is_asked_for_is_not_staged() {
    for said in [
        "My build is failing.",
        "I hate this bug.",
        "Don't worry.",
        "Never mind.",
        "No problem!",
        "Fix the parser in src/a.rs.",
        "The bug lives in src/parser.rs.",
    ] {
        assert_eq!(staged(&[said]), [], "{said}");
    }
}

#[test]
fn a_reply_is_a_decision_only_if_it_agrees_or_chooses() {
    let answer = |last: &str| format!("{} {last}", "We could cut the parser in two. ".repeat(20));
    let fold = |reply: &str, last: &str| -> Vec<String> {
        let place = Place::new();
        let path = place.folder.path().join("r.jsonl");
        let time = "2026-10-01T10:00:00.000Z";
        let lines = [
            json!({"type": "session", "version": 3, "id": "r", "timestamp": time, "cwd": "/w"}),
            json!({"type": "message", "id": "a1", "parentId": null, "timestamp": time, "message": {"role": "user", "content": "How?"}}),
            json!({"type": "message", "id": "a2", "parentId": "a1", "timestamp": time, "message": {"role": "assistant", "stopReason": "stop", "content": [{"type": "text", "text": answer(last)}]}}),
            json!({"type": "message", "id": "a3", "parentId": "a2", "timestamp": time, "message": {"role": "user", "content": reply}}),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&path, text).unwrap();
        let session = pi_session(path);
        backfill(&place, &[session]);
        let all = place.candidates().into_iter();
        all.filter(|one| one.topic == Topic::Decision && one.text.contains('←'))
            .map(|one| one.text)
            .collect()
    };
    for reply in [
        "yes, cut the parser at the lexer",
        "let's cut it at the lexer border",
        "option 2 with the lexer border",
        "ja, den Parser am Lexer teilen",
        "好的，就这样拆分解析器",
    ] {
        assert_eq!(fold(reply, "").len(), 1, "{reply}");
    }
    for reply in [
        "sorry I messed up, can you do it again",
        "mise run build is failing",
        "\", exit claude and run\"",
        "the squash in GitHub keeps trailers",
        "I think by file is to much",
        "next please go on",
    ] {
        assert_eq!(fold(reply, ""), Vec::<String>::new(), "{reply}");
    }
}

#[test]
fn announcements_and_rules_of_the_moment_are_not_staged() {
    for said in [
        "I like Option 1, from a enabling perspective:",
        "This should not be changed, only the flag should.",
        "Don't fix anything, but just validate that it works.",
        "For now, never run the slow tests.",
        "- 30-second timeout",
        "Hook from settings.local.json fired at Mon Feb 9 09:39:51 CET 2026",
    ] {
        assert_eq!(staged(&[said]), [], "{said}");
    }
    let numbered = staged(&["Rules:\n1. Never push to main.\n2. Always run the tests."]);
    let texts: Vec<&str> = numbered.iter().map(|(.., text)| text.as_str()).collect();
    assert_eq!(texts, ["Never push to main.", "Always run the tests."]);
}

#[test]
fn what_was_chosen_in_passing_is_staged_for_a_person_and_others_words_are_not_the_users() {
    let said = "no, drop the welcome banner, people will take it for an ad";
    let place = Place::new();
    backfill(&place, &[said_on(&place, "2026-10-01", &[said])]);
    let one = place.find("welcome banner");
    assert_eq!((one.topic, one.source), (Topic::Decision, Source::User));
    assert!(one.is_ripe() && !one.may_go_unseen());
    assert!(place.read("DREAMS.md").contains("for the moment only"));
    let place = Place::new();
    let told = "Bob on the call: we should drop the welcome banner everywhere";
    backfill(&place, &[said_on(&place, "2026-10-01", &[told])]);
    let all = place.candidates();
    assert!(all.iter().all(|one| one.source != Source::User), "{all:#?}");
}

#[test]
fn a_backfill_tells_what_waits_from_what_was_seen_only_once() {
    let place = Place::new();
    let session = said_on(
        &place,
        "2026-10-01",
        &["Never log passwords.", "I'd prefer one binary over three."],
    );
    let dreams = place.dreams();
    let lock = dreams.lock().unwrap();
    let mut go_on = |_: longhaul_memory::dream::Progress<'_>| std::ops::ControlFlow::Continue(());
    let report = dreams
        .backfill(
            &lock,
            &[session],
            &crate::now(),
            &crate::settings(),
            &mut go_on,
        )
        .unwrap();
    let waits = waiting(&place.candidates()).len();
    assert_eq!((report.staged, report.once), (waits, 0));
    assert_eq!(waits, 2);
}

#[test]
fn sentences_that_an_agent_wrote_as_prose_are_candidates_of_the_agent() {
    let place = Place::new();
    let body = Body::Text {
        source: Source::Agent,
        text: "The user prefers dark themes and terse replies. We settled on Axum because of \
               Tower.\nThe preview port is 6006. Fixed the parser and ran the tests."
            .into(),
    };
    let origin = Origin {
        session: Some("s1"),
        epoch: None,
    };
    let at = day(1).at(10, 0, 0, 0);
    place
        .memory
        .append_log(at, "Memory flush", origin, &body)
        .unwrap();
    // A person's own prose is no list of facts.
    place.write(
        "memory/2026-11-13.md",
        "# Log\n\nThe port is 9000, I think. We use Elm.\n",
    );
    let report = place.dream(&policy());
    assert_eq!((report.waiting, report.promoted.len()), (3, 0));
    for (text, topic) in [
        ("dark themes", Topic::Preference),
        ("Axum", Topic::Decision),
        ("6006", Topic::Fact),
    ] {
        let one = place.find(text);
        assert_eq!((one.topic, one.source), (topic, Source::Agent), "{text}");
        assert!(one.evidence[0].line.is_some());
    }
    let files = place.files();
    place.dream(&policy());
    assert_eq!(place.files(), files);
}
