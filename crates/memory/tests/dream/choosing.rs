//! Short rules that choose one of a few: tabs or spaces, npm or pnpm.

use crate::{Place, day, policy, settings};

/// What a dream of two days makes of two rules: whether each is marked as one that the
/// other may contradict.
fn are_asked_about(older: &str, newer: &str) -> bool {
    let place = Place::new();
    place.rule(day(3), older);
    place.dream(&settings());
    place.rule(day(1), newer);
    let report = place.dream(&settings());
    assert_eq!(report.waiting, 2, "{older} / {newer}: both wait");
    let (old, new) = (place.find(older), place.find(newer));
    let marked = new.contradicts.contains(&old.id) && old.contradicts.contains(&new.id);
    let unseen = place.dream(&policy()).promoted.len();
    assert!(!marked || unseen == 0, "{older} / {newer}");
    marked
}

#[test]
fn short_rules_that_choose_otherwise_are_asked_about() {
    for (older, newer) in [
        ("Use tabs.", "Use spaces."),
        ("Always use tabs.", "Please use spaces from now on."),
        ("Indent with tabs", "Indent with spaces"),
        ("Indent with 2 spaces", "Indent with tabs"),
        ("Use tabs for indentation", "Use spaces for indentation"),
        ("Indentation: tabs", "Indentation: spaces"),
        ("Always use npm", "Always use pnpm"),
        ("Use `npm`.", "Use `yarn`."),
        ("Install with npm", "Install with yarn"),
        ("Use double quotes", "Use single quotes"),
        ("Write docs in English", "Write docs in German"),
        ("Reply briefly", "Reply in detail"),
        ("Use light mode", "Use dark mode"),
        ("Prefer REST", "Prefer GraphQL"),
        ("I prefer vim.", "I prefer emacs."),
        ("Test with jest", "Test with vitest"),
        ("Use camelCase", "Use snake_case"),
        ("Merge with squash", "Merge with rebase"),
        ("Pay in cash", "Pay by card"),
        ("Benutze Tabs", "Benutze Leerzeichen"),
        ("Nutze immer npm.", "Nutze immer pnpm."),
        (
            "Verwende einfache Anführungszeichen",
            "Verwende doppelte Anführungszeichen",
        ),
        ("Sag du zu mir", "Sag Sie zu mir"),
        ("Sprich mich mit du an", "Sprich mich mit Sie an"),
        ("Utilise des tabulations", "Utilise des espaces"),
        ("Usa tabuladores", "Usa espacios"),
    ] {
        assert!(are_asked_about(older, newer), "{older} / {newer}");
        assert!(are_asked_about(newer, older), "{newer} / {older}");
    }
}

#[test]
fn rules_that_choose_for_another_purpose_or_one_more_stand_beside_each_other() {
    for (older, newer) in [
        ("Use Postgres for orders", "Use SQLite for tests"),
        ("Use tabs in Makefiles", "Use spaces in Python"),
        ("Use npm to publish", "Use pnpm to install"),
        ("Use markdown for notes", "Use LaTeX for papers"),
        ("Use UTC in logs", "Use local time in dialogs"),
        ("Use tabs", "Use yarn"),
        ("Use tabs", "Use spaces too"),
        ("Never use tabs", "Never use spaces"),
        ("Learn vim", "Learn emacs"),
        ("Support npm", "Support yarn"),
        ("Contact Ida by mail", "Contact Omar by phone"),
    ] {
        assert!(!are_asked_about(older, newer), "{older} / {newer}");
        assert!(!are_asked_about(newer, older), "{newer} / {older}");
    }
}
