//! What the user's own words come to, and what is passed over.

use longhaul_memory::Source;
use longhaul_memory::dream::{Topic, waiting};
use longhaul_memory::files::{Body, Origin};

use crate::{Place, backfill, day, policy, said_on};

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
fn what_the_user_said_is_staged_as_it_was_said_and_waits_for_a_person() {
    for said in [
        "the design doc lives in docs/design.md",
        "My timezone is Europe/Berlin",
        "我们的数据库是 PostgreSQL。",
        "Never use Redis.",
        "Use pnpm, not npm.",
        "No longer: use pnpm for the shop.",
    ] {
        let expected = vec![(Topic::Preference, Source::User, said.to_owned())];
        assert_eq!(staged(&[said]), expected, "{said}");
        // In a log, too, however often and whatever the policy.
        let place = Place::new();
        for back in 1..4 {
            place.log(day(back), "What the user said", said, Source::User);
        }
        let report = place.dream(&policy());
        assert_eq!((report.promoted.len(), report.waiting), (0, 1), "{said}");
        assert!(!place.candidates()[0].may_go_unseen());
        place.dream(&policy());
        assert_eq!(place.candidates()[0].text, said);
    }
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
