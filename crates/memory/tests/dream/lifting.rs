//! Rules lifted and choices changed in a later session.

use jiff::civil::date;
use longhaul_memory::Source;
use longhaul_memory::dream::{Status, waiting};

use crate::{Place, backfill, day, now, policy, said_on, settings};

const LIFTED: &[(&str, &str)] = &[
    (
        "Never push to main on Fridays.",
        "You may push to main on Fridays from now on.",
    ),
    (
        "Never push to main on Fridays.",
        "From now on you can push to main on Fridays.",
    ),
    (
        "Do not touch src/legacy until I say so.",
        "You can touch src/legacy now.",
    ),
    (
        "No emojis in commit messages.",
        "Emojis in commit messages are fine now.",
    ),
    ("永远不要在周五推送。", "现在周五可以推送了。"),
    (
        "N'utilise jamais de tabulations.",
        "Tu peux utiliser des tabulations maintenant.",
    ),
    (
        "Niemals am Freitag ausliefern.",
        "Am Freitag darfst du jetzt ausliefern.",
    ),
];

const TAKEN_BACK: &[(&str, &str)] = &[
    (
        "Never push to main on Fridays.",
        "The rule about not pushing on Fridays no longer applies.",
    ),
    (
        "Never push to main on Fridays.",
        "Forget the Friday rule, we deploy every day.",
    ),
    (
        "Always run the slow tests before a commit.",
        "You no longer need to run the slow tests before a commit.",
    ),
];

#[test]
fn a_permission_of_a_later_session_takes_the_place_of_the_rule_that_it_lifts() {
    for (rule, leave) in LIFTED {
        // In whatever order they are read.
        for order in [[0, 1], [1, 0]] {
            let place = Place::new();
            let sessions = [
                said_on(&place, "2026-10-01", &[rule, "Never log passwords."]),
                said_on(&place, "2026-10-08", &[leave]),
            ];
            for at in order {
                backfill(&place, &sessions[at..=at]);
            }
            let old = place.find(rule);
            let new = place.find(leave);
            assert!(matches!(old.status, Status::Superseded { .. }), "{old:#?}");
            assert_eq!(old.valid_until, Some(date(2026, 10, 8)));
            assert_eq!(new.status, Status::Staged);
            assert_eq!(new.replaces, std::slice::from_ref(&old.id));
            assert_eq!(new.evidence[0].quote, *leave);
            assert!(!new.may_go_unseen());
            assert_eq!(place.find("passwords").status, Status::Staged);
            let all = place.candidates();
            let waits: Vec<&str> = waiting(&all).iter().map(|one| one.text.as_str()).collect();
            assert_eq!(waits.len(), 2, "{waits:?}");
        }
    }
}

#[test]
fn a_rule_that_is_kept_is_lifted_only_by_a_person() {
    let sure = policy();
    for (rule, leave) in LIFTED.iter().chain(TAKEN_BACK) {
        let place = Place::new();
        place.rule(day(3), rule);
        place.dream(&sure);
        assert!(place.find(rule).status.is_kept());
        place.change(day(1), leave);
        let report = place.dream(&sure);
        assert_eq!(report.promoted, Vec::<String>::new(), "{leave}");
        assert!(place.read("MEMORY.md").contains(rule));
        let all = place.candidates();
        let waits = waiting(&all);
        assert_eq!(waits.len(), 1, "{leave}: {waits:#?}");
        assert_eq!(waits[0].replaces, std::slice::from_ref(&all[0].id));
        let id = waits[0].id.clone();
        let dreams = place.dreams();
        let lock = dreams.lock().unwrap();
        dreams.promote(&lock, &id, &now(), &settings()).unwrap();
        assert!(!place.read("MEMORY.md").contains(rule), "{leave}");
        drop(lock);
        place.undo().unwrap();
        assert!(place.read("MEMORY.md").contains(rule), "{leave}");
        // Another look at the same logs finds nothing new.
        let again = place.dream(&settings());
        assert_eq!(again.consolidated.found, 0);
    }
}

#[test]
fn what_is_taken_back_before_its_review_is_shown_with_what_took_it_back() {
    for (rule, end) in TAKEN_BACK {
        let place = Place::new();
        let sessions = [
            said_on(&place, "2026-10-01", &[rule]),
            said_on(&place, "2026-10-08", &[end]),
        ];
        backfill(&place, &sessions);
        assert_eq!(waiting(&place.candidates()).len(), 0, "{end}");
        let old = place.find(rule);
        assert_eq!(old.ended.unwrap().quote, *end);
        let dreams = place.read("DREAMS.md");
        assert!(dreams.contains("## Taken Back Before Review"), "{dreams}");
        assert!(dreams.contains(rule) && dreams.contains(end), "{dreams}");
    }
}

#[test]
fn a_permission_lifts_nothing_that_it_does_not_speak_of() {
    for leave in [
        "You can run the tests now.",
        "You can push now.",
        "You may use the staging server from now on.",
    ] {
        let place = Place::new();
        let sessions = [
            said_on(&place, "2026-10-01", &["Never push to main on Fridays."]),
            said_on(&place, "2026-10-08", &[leave]),
        ];
        backfill(&place, &sessions);
        let all = place.candidates();
        let waits: Vec<&str> = waiting(&all).iter().map(|one| one.text.as_str()).collect();
        assert_eq!(waits, ["Never push to main on Fridays."], "{leave}");
    }
    // A tool's word and the agent's lift no rule of the user's.
    for source in [Source::Unknown, Source::Agent] {
        let place = Place::new();
        place.rule(day(3), "Never push to main on Fridays.");
        place.dream(&settings());
        let leave = "Change: You may push to main on Fridays from now on.";
        place.log(day(1), "User Preferences", leave, source);
        place.dream(&settings());
        let old = place.find("Never push");
        assert_eq!(old.status, Status::Staged, "{source}");
        assert_eq!(place.find("You may push").replaces, Vec::<String>::new());
    }
}

#[test]
fn a_change_of_what_is_used_is_noticed_in_a_later_session() {
    for (old, new) in [
        (
            "We use MySQL for billing.",
            "We switched to PostgreSQL for billing instead of MySQL.",
        ),
        (
            "We use MySQL for billing.",
            "We moved billing from MySQL to PostgreSQL.",
        ),
        (
            "We use MySQL for billing.",
            "Billing runs on PostgreSQL now.",
        ),
        (
            "We use MySQL for billing.",
            "We migrated billing from MySQL to PostgreSQL last week.",
        ),
        (
            "Wir nutzen MySQL für die Abrechnung.",
            "Die Abrechnung läuft jetzt auf PostgreSQL statt MySQL.",
        ),
        (
            "On utilise MySQL pour la facturation.",
            "La facturation utilise maintenant PostgreSQL au lieu de MySQL.",
        ),
        (
            "我们用 MySQL 做计费系统。",
            "计费系统从 MySQL 迁移到 PostgreSQL 了。",
        ),
    ] {
        let place = Place::new();
        let sessions = [
            said_on(&place, "2026-10-01", &[old]),
            said_on(&place, "2026-10-08", &[new]),
        ];
        backfill(&place, &sessions);
        let (was, is) = (place.find(old), place.find(new));
        assert_eq!(is.status, Status::Staged, "{new}");
        let replaced = matches!(was.status, Status::Superseded { .. });
        assert!(
            replaced || was.contradicts.contains(&is.id),
            "{new}: {was:#?}"
        );
    }
}

/// Leave for a part of what is forbidden.
const IN_PART: &[(&str, &str)] = &[
    (
        "Never deploy on Fridays.",
        "You may deploy documentation on Fridays from now on.",
    ),
    (
        "Niemals am Wochenende deployen.",
        "Du darfst Hotfixes am Wochenende ab jetzt deployen.",
    ),
    (
        "Ne jamais fusionner sans revue.",
        "Tu peux désormais fusionner les corrections de typos sans revue.",
    ),
    (
        "Nunca borres tablas.",
        "A partir de ahora puedes borrar tablas temporales.",
    ),
    (
        "Никогда не удаляй файлы.",
        "Теперь можно удалять временные файлы.",
    ),
    ("不要在周五部署。", "现在周五可以部署文档了。"),
];

#[test]
fn leave_for_a_part_lifts_no_rule_and_waits_for_a_person() {
    for (rule, leave) in IN_PART {
        // Said before the rule is read, or after; as a change, or as a rule.
        for (first, label) in [(true, "Change"), (true, "Constraint"), (false, "Change")] {
            let place = Place::begun();
            if first {
                place.rule(day(3), rule);
                place.dream(&settings());
            }
            let text = format!("{label}: {leave}");
            place.log(day(1), "User Preferences", &text, Source::User);
            place.dream(&settings());
            if !first {
                place.rule(day(3), rule);
                place.dream(&settings());
            }
            let (old, new) = (place.find(rule), place.find(leave));
            assert_eq!(old.status, Status::Staged, "{label} {leave}: {old:#?}");
            assert_eq!(new.status, Status::Staged, "{label} {leave}: {new:#?}");
            assert!(
                new.contradicts.contains(&old.id),
                "{label} {leave}: {new:#?}"
            );
            assert_eq!(new.replaces, Vec::<String>::new(), "{label} {leave}");
            assert!(
                !new.may_go_unseen() && new.is_ripe(),
                "{label} {leave}: {new:#?}"
            );
        }
    }
}

#[test]
fn no_policy_takes_a_kept_rule_out_for_leave_or_a_fact() {
    let kept = [
        ("Never deploy on Fridays.", "You may deploy on Fridays now."),
        (
            "Never change the database schema.",
            "You may change the database schema of the sandbox from now on.",
        ),
        (
            "Always sign the release tarballs.",
            "We no longer need to sign the release tarballs.",
        ),
        ("Never use Redis.", "We use Redis now."),
    ];
    for (rule, later) in kept.iter().chain(IN_PART) {
        for (section, label) in [
            ("User Preferences", "Change: "),
            ("User Preferences", "Constraint: "),
            ("Decisions", ""),
        ] {
            let place = Place::begun();
            place.rule(day(3), rule);
            place.dream(&policy());
            assert!(place.find(rule).status.is_kept());
            place.log(day(1), section, &format!("{label}{later}"), Source::User);
            place.dream(&policy());
            let memory = place.read("MEMORY.md");
            assert!(memory.contains(rule), "{section} {label}{later}: {memory}");
        }
    }
}

#[test]
fn a_rule_that_was_kept_in_two_wordings_is_lifted_in_both() {
    for (one, other, leave) in [
        (
            "Never commit generated code.",
            "generated code must never be committed",
            "you may commit generated code from now on",
        ),
        (
            "Never touch the CI config.",
            "the CI config is off limits",
            "you may touch the CI config from now on",
        ),
        (
            "Lösche nie das Archiv.",
            "Das Archiv darf nie gelöscht werden.",
            "Du darfst das Archiv ab jetzt löschen.",
        ),
    ] {
        let place = Place::begun();
        place.rule(day(4), one);
        place.rule(day(3), other);
        place.dream(&settings());
        let all = place.candidates();
        assert_eq!(all.len(), 1, "{other}: {all:#?}");
        assert_eq!(all[0].mentions(), 2);
        place.promote(one);
        place.change(day(1), leave);
        place.dream(&settings());
        place.promote(leave);
        let memory = place.read("MEMORY.md");
        assert!(!memory.contains(one) && !memory.contains(other), "{memory}");
        assert!(memory.contains(leave), "{memory}");
    }
}

#[test]
fn leave_that_was_given_before_a_wider_rule_gives_way_to_it_or_is_asked_about() {
    for (leave, rule) in [
        (
            "You may lend the saw to Ida.",
            "Never lend the saw to anybody.",
        ),
        (
            "You may deploy documentation on Fridays.",
            "Never deploy anything on Fridays.",
        ),
        (
            "Du darfst Hotfixes am Wochenende deployen.",
            "Am Wochenende niemals deployen.",
        ),
        ("You may push on Fridays.", "Never push on Fridays."),
        ("你可以在周末发布补丁", "永远不要在周末发布"),
    ] {
        let said = [
            (format!("Change: {leave}"), "as a change"),
            (format!("Preference: {leave}"), "as a wish"),
        ];
        for (said, how) in said {
            let place = Place::new();
            place.log(day(5), "User Preferences", &said, Source::User);
            place.rule(day(2), rule);
            let report = place.dream(&policy());
            let (before, after) = (place.find(leave), place.find(rule));
            let replaced = after.replaces.contains(&before.id)
                && before.valid_until == Some(day(2))
                && !before.status.is_kept();
            let asked = after.contradicts.contains(&before.id)
                && before.contradicts.contains(&after.id)
                && report.promoted.is_empty();
            assert!(replaced || asked, "{leave} {how}: {before:#?} {after:#?}");
            assert!(
                asked == (before.is_ripe() && after.is_ripe()),
                "{leave} {how}"
            );
        }
    }
    // Leave for something else has nothing to do with it.
    let place = Place::new();
    place.change(day(5), "You may lend the ladder to Ida.");
    place.rule(day(2), "Never push on Fridays.");
    place.dream(&settings());
    assert_eq!(place.find("push").contradicts, Vec::<String>::new());
}

#[test]
fn kept_leave_is_asked_about_when_a_wider_rule_comes() {
    let place = Place::new();
    place.log(
        day(5),
        "User Preferences",
        "Preference: You may lend the saw to Ida.",
        Source::User,
    );
    place.dream(&settings());
    let leave = place.promote("Ida");
    place.rule(day(2), "Never lend the saw to anybody.");
    let report = place.dream(&policy());
    assert_eq!(report.promoted, Vec::<String>::new());
    assert!(place.find("Ida").status.is_kept());
    assert_eq!(place.find("anybody").contradicts, [leave]);
}

#[test]
fn no_policy_keeps_a_rule_beside_its_denial() {
    for (rule, later) in [
        ("Always squash commits.", "Don't squash commits any more."),
        ("Never use var.", "Use var again from now on."),
        ("Always add semicolons.", "No semicolons."),
        ("Be brief.", "Be verbose."),
        ("Siempre firma los commits.", "Ya no firmes los commits."),
        ("总是写测试。", "不要再写测试了。"),
    ] {
        let place = Place::begun();
        place.rule(day(3), rule);
        place.rule(day(1), later);
        place.dream(&policy());
        let memory = place.read("MEMORY.md");
        let both = memory.contains(rule) && memory.contains(later);
        assert!(!both, "{rule} / {later}: {memory}");
    }
}

#[test]
fn what_takes_the_place_of_a_rule_is_not_said_to_contradict_it_too() {
    let place = Place::new();
    let (rule, leave) = LIFTED[0];
    let sessions = [
        said_on(&place, "2026-10-01", &[rule]),
        said_on(&place, "2026-10-08", &[leave]),
    ];
    backfill(&place, &sessions);
    let (rule, leave) = (place.id("Never push"), place.find("You may push"));
    assert!(leave.replaces.contains(&rule), "{leave:#?}");
    let page = place.read("DREAMS.md");
    assert!(page.contains(&format!("In place of: {rule} ")), "{page}");
    assert!(!page.contains("May contradict: "), "{page}");
    // A person has to see it all the same.
    place.dream(&policy());
    assert_eq!(place.find("You may push").status, Status::Staged);
}

#[test]
fn leave_for_one_lifts_no_rule_about_another() {
    for (rule, leave) in [
        (
            "Never invite Ben to the retro.",
            "You may invite Mia to the retro from now on.",
        ),
        (
            "Never delete user accounts.",
            "From now on you can delete agent accounts.",
        ),
        ("Never open my mail.", "You may open her mail from now on."),
    ] {
        let place = Place::new();
        let sessions = [
            said_on(&place, "2026-10-01", &[rule]),
            said_on(&place, "2026-10-08", &[leave]),
        ];
        backfill(&place, &sessions);
        let all = place.candidates();
        let kept = all.iter().find(|one| one.text == *rule).unwrap();
        assert_eq!(kept.status, Status::Staged, "{rule} {leave}");
    }
}
