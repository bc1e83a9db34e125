//! What is denied: a rule with *without* and its opposite, and a value that a
//! rule said no to and that comes back.

use crate::{Place, day, settings};

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
