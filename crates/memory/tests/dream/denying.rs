//! What is denied: a rule with *without* and its opposite, and a value that a
//! rule said no to and that comes back.

use crate::{Place, day, policy, settings};

#[test]
fn a_rule_without_something_and_its_opposite_are_a_change() {
    for (one, other) in [
        (
            "Always deploy without asking me.",
            "Never deploy without asking me.",
        ),
        (
            "Never deploy to production without approval.",
            "Always deploy to production without approval.",
        ),
        ("Do not commit without tests.", "Commit without tests."),
        ("Nie ohne Tests committen.", "Immer ohne Tests committen."),
        (
            "Jamais de commit sans tests.",
            "Toujours un commit sans tests.",
        ),
        (
            "Never reply with no greeting.",
            "Always reply with no greeting.",
        ),
    ] {
        for (older, newer) in [(one, other), (other, one)] {
            let place = Place::new();
            place.rule(day(3), older);
            place.dream(&settings());
            place.rule(day(1), newer);
            let report = place.dream(&settings());
            let done = (
                report.consolidated.repeated,
                report.consolidated.superseded,
                report.waiting,
            );
            assert_eq!(done, (0, 1, 1), "{older} / {newer}");
            assert_eq!(place.find(newer).replaces, [place.id(older)]);
        }
    }
}

#[test]
fn a_rule_never_to_be_without_something_is_counted_in_other_words() {
    for (older, newer) in [
        (
            "Never deploy without approval.",
            "Deploying without approval is forbidden.",
        ),
        (
            "Do not commit without tests.",
            "Never commit without tests.",
        ),
        (
            "Never reply with no greeting.",
            "Don't reply with no greeting.",
        ),
    ] {
        let place = Place::dreamt(&[older]);
        place.rule(day(1), newer);
        let report = place.dream(&settings());
        let done = (report.consolidated.repeated, report.waiting);
        assert_eq!(done, (1, 1), "{older} / {newer}");
    }
}

/// What the user said no to, and their asking for it.
const RETURNS: [(&str, &str); 17] = [
    ("Use tabs, not spaces.", "Use spaces."),
    ("We use PostgreSQL instead of MySQL.", "We use MySQL again."),
    ("Use yarn instead of npm.", "Always use npm."),
    ("Never use npm, use yarn.", "Use npm."),
    ("Prefer pytest over unittest.", "Use unittest."),
    (
        "Deploy with Kustomize instead of Helm.",
        "Always deploy with Helm.",
    ),
    ("Do not use emojis.", "Use emojis in commit messages."),
    ("Do not add comments.", "Add comments to public functions."),
    (
        "Never use force push.",
        "Use force push on feature branches.",
    ),
    (
        "Do not use TypeScript enums.",
        "Use TypeScript enums in the API package.",
    ),
    (
        "Please don't use print statements.",
        "Use print statements in scripts.",
    ),
    ("Nimm Yarn statt npm.", "Nimm immer npm."),
    ("Keep answers short, no emojis.", "Use emojis."),
    ("Utilise yarn au lieu de npm.", "Utilise toujours npm."),
    ("Usa pnpm en lugar de npm.", "Usa npm."),
    ("Используй yarn вместо npm.", "Используй npm."),
    ("用 PostgreSQL 而不是 MySQL。", "用 MySQL。"),
];

#[test]
fn what_a_rule_refused_by_name_may_contradict_it_when_it_comes_back() {
    for (older, newer) in RETURNS {
        let place = Place::new();
        place.rule(day(3), older);
        place.dream(&settings());
        place.rule(day(1), newer);
        place.dream(&settings());
        let (old, new) = (place.find(older), place.find(newer));
        let marked = new.contradicts.contains(&old.id) && old.contradicts.contains(&new.id);
        assert!(marked, "{older} / {newer}: {new:#?}");
        let report = place.dream(&policy());
        assert_eq!(report.promoted.len(), 0, "{older} / {newer}");
    }
}

#[test]
fn what_a_rule_refused_is_left_alone_where_it_is_said_of_something_else() {
    for (older, newer) in [
        ("Use tabs, not spaces.", "Use tabs for the Makefiles."),
        (
            "We use PostgreSQL instead of MySQL.",
            "The reports of the bank come from MySQL.",
        ),
        (
            "Use yarn instead of npm.",
            "Never publish to npm on Fridays.",
        ),
        ("Never use npm, use yarn.", "Always use yarn."),
        ("Prefer pytest over unittest.", "Use pytest."),
        ("Prefer pytest over unittest.", "Never use unittest."),
        (
            "Deploy with Kustomize instead of Helm.",
            "Keep the Helm charts of the partners up to date.",
        ),
        (
            "Do not use emojis.",
            "Escape emojis in the log of the parser.",
        ),
        ("Commit without tests.", "Run the tests before a commit."),
        (
            "Never deploy before noon, only in the evening.",
            "Deploy after noon.",
        ),
        ("No comments, except doc comments.", "Write doc comments."),
        ("Test on Linux, not only on macOS.", "Test on macOS."),
        (
            "Indent all code with spaces, no tabs, except in Makefiles.",
            "Use tabs in Makefiles.",
        ),
        ("Use yarn instead of npm.", "Avoid npm."),
        ("Use yarn instead of npm.", "Replace npm with yarn."),
        ("No emojis in code, keep it short.", "Use emojis in chat."),
        (
            "Never push to main, open a pull request.",
            "Keep main green.",
        ),
        ("Use spaces, never tabs.", "Close the tabs of the browser."),
        ("Never use var, use const.", "Use const and let."),
        ("Never push.", "Use push notifications."),
        ("Drink tea instead of coffee.", "Buy coffee for the guests."),
        (
            "Never use force push.",
            "Use force graphs on the dashboard.",
        ),
        ("Do not add comments.", "Add tests to public functions."),
    ] {
        let place = Place::new();
        place.rule(day(3), older);
        place.dream(&settings());
        place.rule(day(1), newer);
        place.dream(&settings());
        let marked = place.candidates().into_iter();
        let marked = marked.filter(|one| !one.contradicts.is_empty());
        assert_eq!(marked.count(), 0, "{older} / {newer}");
    }
}

#[test]
fn rules_that_ask_for_one_thing_more_stand_beside_each_other() {
    for (older, newer) in [
        (
            "Always ask before deleting files.",
            "Always ask before pushing.",
        ),
        (
            "Add a changelog entry for every feature.",
            "Add a test for every feature.",
        ),
        (
            "Update the README after every release.",
            "Update the changelog after every release.",
        ),
    ] {
        let place = Place::new();
        place.rule(day(3), older);
        place.dream(&settings());
        place.rule(day(1), newer);
        place.dream(&settings());
        for rule in [older, newer] {
            assert_eq!(place.find(rule).contradicts, [""; 0], "{older} / {newer}");
        }
    }
}
