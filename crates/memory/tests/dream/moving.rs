//! What is put off or moved, in the words of several languages.

use longhaul_memory::dream::Status;

use crate::Place;

#[test]
fn what_is_put_off_or_moved_takes_the_place_of_what_was_planned() {
    for (older, newer) in [
        (
            "Die Sitzung ist am Montag.",
            "Die Sitzung wurde gestern auf Dienstag verschoben.",
        ),
        (
            "Die Sitzung ist am Montag.",
            "Die Sitzung ist auf Dienstag verschoben.",
        ),
        (
            "Die Sitzung ist am Montag.",
            "Die Sitzung wird auf Dienstag verschoben.",
        ),
        ("Die Sitzung ist im Juni.", "Die Sitzung ist jetzt im Mai."),
        ("La réunion est lundi.", "La réunion est reportée à mardi."),
        (
            "La réunion est lundi.",
            "La réunion a été déplacée à mardi.",
        ),
        (
            "La réunion est le 3 mai.",
            "La réunion est reportée au 5 mai.",
        ),
        ("La reunión es el lunes.", "La reunión se aplazó al martes."),
        ("La reunión es el lunes.", "La reunión se movió al martes."),
        (
            "La reunión es el lunes.",
            "La reunión se pospuso para el martes.",
        ),
        ("会議が月曜日です", "会議は火曜日に変更されました"),
    ] {
        Place::told(older, newer).has_replaced(older, newer);
    }
}

#[test]
fn a_home_that_is_told_with_another_particle_is_noticed_when_it_changes() {
    for (older, newer) in [
        ("太郎が東京に住んでいる", "太郎は大阪に引っ越しました"),
        ("太郎は東京に住んでいます", "太郎は大阪に引っ越した"),
    ] {
        let place = Place::told(older, newer);
        let new = place.find(newer);
        assert_eq!(new.contradicts, [place.id(older)], "{older} / {newer}");
    }
}

#[test]
fn what_is_put_off_moves_nothing_else() {
    for (older, newer) in [
        (
            "Die Sitzung ist am Montag.",
            "Die Probe wurde gestern auf Dienstag verschoben.",
        ),
        ("La réunion est lundi.", "La fête est reportée à mardi."),
        ("La reunión es el lunes.", "La cena se aplazó al martes."),
        ("太郎が東京に住んでいる", "花子は大阪に引っ越しました"),
        ("太郎がコーヒーを飲みます", "花子は火曜日に来ます"),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [""; 0], "{older} / {newer}");
    }
}
