//! Changes of mind, over days and under a policy.

use std::fs;

use jiff::civil::Date;
use longhaul_memory::Source;
use longhaul_memory::dream::{Status, waiting};
use serde_json::{Value, json};

use crate::{Place, backfill, day, policy, said_on, settings};

/// Two statements on two days, as a flush logs them.
fn two(section: &str, older: &str, newer: &str) -> Place {
    let place = Place::new();
    place.log(day(4), section, older, Source::User);
    place.log(day(1), section, newer, Source::User);
    place
}

#[test]
fn an_older_statement_is_closed_with_its_days_and_named_by_the_newer_one() {
    for (older, newer) in [
        (
            "The message broker is RabbitMQ.",
            "The message broker is now NATS.",
        ),
        (
            "Lena is the release manager.",
            "Lena left; Tariq is the release manager.",
        ),
        ("默认分支是 master。", "默认分支改成 trunk。"),
    ] {
        let place = two("Facts", older, newer);
        let report = place.dream(&settings());
        assert_eq!((report.waiting, report.consolidated.superseded), (1, 1));
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!((old.valid_from, old.valid_until), (day(4), Some(day(1))));
        assert_eq!(
            old.status,
            Status::Superseded {
                on: day(1),
                by: Some(new.id.clone())
            }
        );
        assert_eq!(new.replaces, std::slice::from_ref(&old.id));
        let row = format!("In place of: {} “{older}” (valid from", old.id);
        let page = place.read("DREAMS.md");
        assert!(page.contains(&row), "{page}");
        let files = place.files();
        place.dream(&settings());
        assert_eq!(place.files(), files);
    }
}

#[test]
fn what_gave_way_to_a_rejected_statement_waits_again() {
    let (older, newer) = (
        "The message broker is RabbitMQ.",
        "The message broker is now NATS.",
    );
    let place = two("Facts", older, newer);
    place.dream(&settings());
    {
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams.reject(&lock, &place.id(newer), day(0)).unwrap();
    }
    // As sure at once as the next dream finds it.
    let sure = place.find(older).confidence;
    assert!(sure > 0.5, "{sure}");
    let report = place.dream(&settings());
    assert_eq!(report.waiting, 1);
    let files = place.files();
    place.dream(&settings());
    assert_eq!(place.files(), files);
    let old = place.find(older);
    assert_eq!(old.confidence, sure);
    assert_eq!((old.status, old.valid_until), (Status::Staged, None));
}

/// What has become of each candidate.
fn standings(place: &Place) -> Vec<(String, Status, Option<Date>, Vec<String>)> {
    let all = place.candidates().into_iter();
    all.map(|one| (one.text, one.status, one.valid_until, one.replaces))
        .collect()
}

#[test]
fn what_waits_after_an_undo_gives_way_to_its_change_as_if_it_had_never_been_promoted() {
    for (older, newer) in [
        ("Answer in German.", "Answer in English from now on."),
        (
            "Never merge into the release branch directly.",
            "You may merge into the release branch directly from now on.",
        ),
        ("Answer in German.", "No longer answer in German."),
    ] {
        let place = Place::new();
        let sessions = [
            said_on(&place, "2026-11-03", &[older]),
            said_on(&place, "2026-11-07", &[newer]),
        ];
        backfill(&place, &sessions[..1]);
        let old = place.promote(older);
        backfill(&place, &sessions[1..]);
        place.undo().unwrap();
        let other = Place::new();
        backfill(&other, &[said_on(&other, "2026-11-03", &[older])]);
        backfill(&other, &[said_on(&other, "2026-11-07", &[newer])]);
        assert_eq!(standings(&place), standings(&other), "{newer}");
        let waiting: Vec<String> = waiting(&place.candidates())
            .iter()
            .map(|one| one.id.clone())
            .collect();
        assert!(!waiting.contains(&old), "{newer}");
        let files = place.files();
        place.dream(&settings());
        assert_eq!(place.files(), files, "{newer}");
    }
}

#[test]
fn a_change_closes_what_still_waits_and_an_undo_opens_nothing() {
    let place = Place::told(
        "The message broker is RabbitMQ.",
        "The message broker is now NATS.",
    );
    // As an undo leaves it that could not come to its end.
    let mut paths = place.files().into_keys();
    let state = paths.find(|path| path.ends_with("state.json")).unwrap();
    let mut all: Value = serde_json::from_str(&fs::read_to_string(&state).unwrap()).unwrap();
    let old = &mut all["candidates"][0];
    old["status"] = json!({"is": "staged"});
    old["validUntil"] = Value::Null;
    fs::write(&state, all.to_string()).unwrap();
    assert_eq!(place.find("RabbitMQ").status, Status::Staged);
    place.promote("NATS");
    let closed = |place: &Place| {
        let (old, new) = (place.find("RabbitMQ"), place.find("NATS"));
        let by = Some(new.id);
        assert_eq!(old.status, Status::Superseded { on: day(1), by });
        assert_eq!(old.valid_until, Some(day(1)));
    };
    closed(&place);
    place.undo().unwrap();
    closed(&place);
}

#[test]
fn a_policy_keeps_at_most_one_side_of_a_change() {
    for (older, newer, promoted) in [
        (
            "The message broker is RabbitMQ.",
            "The message broker is now NATS.",
            1,
        ),
        (
            "We host the handbook on Confluence.",
            "We moved the handbook to Notion.",
            0,
        ),
        ("Marek is the scrum master.", "Yuki is the scrum master.", 0),
        ("注释必须用日语写。", "注释可以用英语写了。", 0),
    ] {
        let place = two("Facts", older, newer);
        place.dream(&policy());
        let memory = place.read("MEMORY.md");
        assert!(!memory.contains(older), "{memory}");
        assert_eq!(
            usize::from(memory.contains(newer)),
            promoted,
            "{newer}: {memory}"
        );
    }
}

#[test]
fn what_was_promoted_stays_until_a_person_has_seen_what_may_contradict_it() {
    let place = Place::new();
    place.log(
        day(4),
        "Facts",
        "We host the handbook on Confluence.",
        Source::User,
    );
    place.dream(&policy());
    place.log(
        day(1),
        "Facts",
        "We moved the handbook to Notion.",
        Source::User,
    );
    let report = place.dream(&policy());
    assert_eq!((report.promoted.len(), report.waiting), (0, 1));
    let old = place.id("Confluence");
    assert_eq!(place.find("Notion").contradicts, [old]);
}

#[test]
fn one_rule_in_other_words_is_kept_once() {
    for (a, b) in [
        ("keep replies brief", "Brief replies please."),
        ("永远不要在周末发布", "周末不要发布"),
        (
            "No jargon in release notes.",
            "Please do not use jargon in the release notes.",
        ),
    ] {
        let place = Place::new();
        place.rule(day(4), a);
        place.rule(day(1), b);
        let report = place.dream(&settings());
        assert_eq!(
            (report.waiting, report.consolidated.repeated),
            (1, 1),
            "{a}"
        );
    }
    for (a, b) in [
        ("Lint before you commit.", "Lint after you commit."),
        (
            "Boris must review code by Anna.",
            "Anna must review code by Boris.",
        ),
        ("Copy from staging to test.", "Copy from test to staging."),
        ("Never keep logs.", "Keep logs."),
        ("测试环境不要连生产数据库", "生产环境不要连测试数据库"),
    ] {
        let place = Place::new();
        place.rule(day(4), a);
        place.rule(day(1), b);
        let report = place.dream(&settings());
        assert_eq!(report.consolidated.repeated, 0, "{a} / {b}");
    }
}

#[test]
fn a_change_of_one_thing_leaves_others_with_the_same_value_alone() {
    let place = Place::new();
    let things = ["Heron audit trail", "Plover price list", "Dunlin map tiles"];
    for (at, thing) in things.iter().enumerate() {
        let (first, second) = (5 - at as i8, 2 - at as i8);
        let keep = format!("We keep the {thing} history of the gateway in Postgres");
        place.log(day(first), "Decisions", &format!("{keep}."), Source::User);
        place.dream(&policy());
        assert!(place.find(thing).status.is_kept());
        if at == things.len() - 1 {
            for thing in things {
                let keep = format!("We keep the {thing} history of the gateway in SQLite");
                let text = format!("{keep} instead of Postgres.");
                place.log(day(second), "Decisions", &text, Source::User);
            }
        }
    }
    let report = place.dream(&policy());
    assert_eq!(report.promoted.len(), things.len());
    let memory = place.read("MEMORY.md");
    assert!(!memory.contains("in Postgres"), "{memory}");
}
