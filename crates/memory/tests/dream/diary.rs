//! A month of ordinary diaries: what changed in a household, in research, in code.

use longhaul_memory::dream::Status;

use crate::Place;

#[test]
fn what_changed_takes_the_place_of_what_was() {
    for (older, newer) in [
        (
            "Die Abgabe ist am 12. Juni.",
            "Die Abgabe wurde auf den 19. Juni verlängert.",
        ),
        (
            "Die Abgabe ist am 12. Juni.",
            "Die Abgabe verschiebt sich auf den 19. Juni.",
        ),
        (
            "Our supervisor is Prof. Lang.",
            "Our supervisor is Prof. Kern now.",
        ),
        (
            "Lena owns the billing service.",
            "Omar took over the billing service from Lena.",
        ),
        ("Lena leitet das Lager.", "Omar übernimmt das Lager."),
        (
            "Lena ist für das Lager zuständig.",
            "Omar ist jetzt für das Lager zuständig.",
        ),
        (
            "Lena kümmert sich um das Lager.",
            "Omar kümmert sich jetzt um das Lager.",
        ),
        (
            "The release is on Friday.",
            "The release slipped to Monday.",
        ),
        (
            "The release is on Friday.",
            "The release was rescheduled for Monday.",
        ),
        (
            "Max takes 5 mg in the morning.",
            "Max takes 10 mg in the morning now.",
        ),
    ] {
        Place::told(older, newer).has_replaced(older, newer);
    }
}

#[test]
fn what_may_have_changed_is_asked_about() {
    for (older, newer) in [
        ("Betreuer ist Prof. Lang.", "Betreuer ist jetzt Prof. Kern."),
        (
            "Eva arbeitet bei Siemens.",
            "Eva hat bei Siemens gekündigt.",
        ),
        ("Lea speaks French.", "Lea speaks Spanish now."),
        ("Lea lernt Französisch.", "Lea lernt jetzt Spanisch."),
        (
            "Max takes 5 mg in the morning.",
            "Max takes 10 mg in the evening now.",
        ),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [old.id], "{older} / {newer}");
    }
}

#[test]
fn what_is_said_of_something_else_changes_nothing() {
    for (older, newer) in [
        (
            "The orders table has 12 columns.",
            "The users table has 9 columns now.",
        ),
        (
            "Lena owns the billing service.",
            "Omar took over the search service.",
        ),
        (
            "Lena ist für das Lager zuständig.",
            "Omar ist jetzt für den Versand zuständig.",
        ),
        (
            "Lena kümmert sich um das Lager.",
            "Omar kümmert sich jetzt um den Garten.",
        ),
        ("The demo is on Friday.", "The release slipped to Monday."),
        ("Eva wohnt in Bonn.", "Eva hat bei Siemens gekündigt."),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [""; 0], "{older} / {newer}");
    }
}
