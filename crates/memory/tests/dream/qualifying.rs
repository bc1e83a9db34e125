//! Lines that end, deny or narrow in a word or two what was said before.

use longhaul_memory::Source;
use longhaul_memory::dream::Status;

use crate::{Place, day, settings};

#[test]
fn what_ends_or_narrows_a_statement_waits_beside_it_and_lends_it_nothing() {
    for (older, newer) in [
        (
            "The bike is locked in the cellar.",
            "The bike locked in the cellar was stolen.",
        ),
        (
            "Lena owns the billing service.",
            "Lena used to own the billing service.",
        ),
        (
            "The plan is to sell the car.",
            "The plan to sell the car is off.",
        ),
        (
            "Lena owns the billing service.",
            "Lena owned the billing service.",
        ),
        ("The office is in Kiel.", "The office was in Kiel."),
        ("Max isst Fleisch.", "Max isst selten Fleisch."),
        (
            "The tests run on Linux.",
            "The tests run on Linux and Windows.",
        ),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        let noticed = new.contradicts.contains(&old.id) || new.replaces.contains(&old.id);
        assert!(noticed, "{older} / {newer}: {new:#?}");
        assert_eq!(old.mentions(), 1, "{older} / {newer}");
    }
}

#[test]
fn what_is_taken_back_with_a_word_less_is_still_found() {
    let rule = "Never push the release branch on Fridays.";
    let place = Place::dreamt(&[rule]);
    let end = "No longer: Never push the release on Fridays.";
    place.log(day(1), "User Preferences", end, Source::User);
    place.dream(&settings());
    let found = place.find(rule);
    assert!(
        matches!(found.status, Status::Superseded { by: None, .. }),
        "{found:#?}"
    );
}
