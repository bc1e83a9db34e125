//! Lines that end, deny or narrow in a word or two what was said before.

use crate::Place;

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
