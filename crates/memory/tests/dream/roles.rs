//! Parts that a man or a woman has, where their words differ.

use crate::Place;

#[test]
fn another_who_has_a_part_is_noticed_whether_a_man_or_a_woman_has_it() {
    for (older, newer) in [
        (
            "Anna ist unsere Projektleiterin.",
            "Jonas ist jetzt unser Projektleiter.",
        ),
        (
            "Unsere Hausärztin ist Dr. Weber.",
            "Unser Hausarzt ist jetzt Dr. Klein.",
        ),
        ("Mein Chef ist Karl.", "Meine Chefin ist jetzt Eva."),
        (
            "Unsere Ansprechpartnerin ist Frau Roth.",
            "Unser Ansprechpartner ist jetzt Herr Blum.",
        ),
        (
            "Meine Zahnärztin ist Dr. Weber.",
            "Mein Zahnarzt ist jetzt Dr. Klein.",
        ),
        (
            "Unser Vermieter ist Herr Roth.",
            "Unsere Vermieterin ist jetzt Frau Blum.",
        ),
        (
            "Eva ist die Teamleiterin.",
            "Karl ist jetzt der Teamleiter.",
        ),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        let noticed = new.contradicts.contains(&old.id) || new.replaces.contains(&old.id);
        assert!(noticed, "{older} / {newer}: {new:#?}");
    }
}
