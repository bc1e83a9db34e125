//! Facts of two halves, and facts about people whose names are little words.

use longhaul_memory::dream::Status;

use crate::{Place, day, settings};

#[test]
fn another_value_of_one_half_is_asked_about_and_closes_nothing() {
    for (older, newer) in [
        (
            "Rosa sits in Porto and owns the mailer.",
            "Ben owns the mailer now.",
        ),
        (
            "Rosa owns the mailer and sits in Porto.",
            "Omar owns the mailer now.",
        ),
        (
            "Rosa sits in Porto and works on the mailer.",
            "Rosa sits in Lisbon now.",
        ),
        (
            "The build takes 5 minutes and needs Docker.",
            "The build takes 9 minutes now.",
        ),
        (
            "Tom is the plumber and costs 80 euros an hour.",
            "Uwe is the plumber now.",
        ),
        (
            "Rosa sitzt in Porto und leitet das Lager.",
            "Omar leitet jetzt das Lager.",
        ),
        (
            "Rosa habite à Porto et dirige le dépôt.",
            "Omar dirige maintenant le dépôt.",
        ),
        (
            "Rosa vive en Porto y lidera el equipo.",
            "Omar lidera ahora el equipo.",
        ),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [old.id], "{older} / {newer}");
    }
}

#[test]
fn another_value_of_one_sentence_of_a_line_closes_no_other() {
    for (older, newer) in [
        (
            "The rent is 900 euros, the electricity is 80 euros.",
            "The rent is 950 euros now.",
        ),
        (
            "The rent is 900 euros and the electricity is 80 euros.",
            "The rent is 950 euros now.",
        ),
        (
            "Staging runs on Hetzner, production runs on AWS.",
            "Production runs on GCP now.",
        ),
        (
            "Staging is on Hetzner; production is on AWS.",
            "Production is on GCP now.",
        ),
        (
            "Lena owns billing, Omar owns search.",
            "Petra owns search now.",
        ),
        (
            "The API is in Rust. The UI is in Svelte.",
            "The UI is in React now.",
        ),
        (
            "The batch size is 32, the learning rate is 1e-3.",
            "The learning rate is 1e-4 now.",
        ),
        (
            "The API listens on port 8080, the metrics are on port 9100.",
            "The API listens on port 8081 now.",
        ),
        (
            "Unsere Datenbank ist Postgres, unser Cache ist Redis.",
            "Unser Cache ist jetzt Valkey.",
        ),
        (
            "Passwords expire after 30 days, tokens expire after 7 days.",
            "Tokens expire after 14 days now.",
        ),
        (
            "We deploy with Helm and test with pytest.",
            "We deploy with Ansible now.",
        ),
        (
            "Rosa sitzt in Porto, Omar leitet das Lager.",
            "Petra leitet jetzt das Lager.",
        ),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [old.id], "{older} / {newer}");
    }
}

#[test]
fn a_rule_in_place_of_one_half_of_another_is_asked_about() {
    for (older, newer) in [
        (
            "Antworte auf Deutsch, Code-Kommentare auf Englisch.",
            "Antworte ab jetzt auf Englisch.",
        ),
        (
            "Reply in German, write code comments in English.",
            "Reply in English from now on.",
        ),
        (
            "Always lint and test before pushing.",
            "No longer lint before pushing.",
        ),
    ] {
        let place = Place::dreamt(&[older]);
        place.rule(day(1), newer);
        place.dream(&settings());
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [old.id], "{older} / {newer}");
    }
}

#[test]
fn another_value_of_a_list_or_of_all_that_was_said_still_takes_the_place() {
    for (older, newer) in [
        ("Rosa owns the mailer.", "Omar owns the mailer now."),
        (
            "The demo is on Monday and Thursday.",
            "The demo is on Friday now.",
        ),
        (
            "The server is called heron and runs on port 80.",
            "The server is called heron and runs on port 90 now.",
        ),
        (
            "The API listens on port 8080, as always.",
            "The API listens on port 8081 now.",
        ),
        (
            "The API listens on port 8080, 8081.",
            "The API listens on port 9090 now.",
        ),
        ("Our dentist is Dr. Weber.", "Our dentist is Dr. Klein now."),
        ("The rent is 900,50 euros.", "The rent is 950 euros now."),
        (
            "The rent is 900 euros, due on the 1st.",
            "The rent is 950 euros now.",
        ),
        (
            "The office is in Kiel, Germany.",
            "The office is in Ulm, Germany now.",
        ),
        (
            "The demo is on March 3, 2027.",
            "The demo is on March 9, 2027 now.",
        ),
    ] {
        Place::told(older, newer).has_replaced(older, newer);
    }
}

#[test]
fn another_who_has_a_part_is_noticed_by_a_name_that_is_a_little_word() {
    for (older, newer) in [
        ("Ben is on call.", "Mia is on call now."),
        ("Rosa owns the mailer.", "Ben owns the mailer now."),
        ("Ben maintains the docs.", "Mia maintains the docs now."),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        let noticed = new.contradicts.contains(&old.id) || new.replaces.contains(&old.id);
        assert!(noticed, "{older} / {newer}: {new:#?}");
    }
    for (older, newer) in [
        ("Ben lives in Bonn.", "Mia moved to Köln."),
        ("Ben is allergic to nuts.", "Mia is allergic to eggs now."),
    ] {
        let place = Place::told(older, newer);
        let (old, new) = (place.find(older), place.find(newer));
        assert_eq!(old.status, Status::Staged, "{older} / {newer}");
        assert_eq!(new.contradicts, [""; 0], "{older} / {newer}");
    }
}
