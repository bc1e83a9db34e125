//! Exceptions to a ban that are put with a condition.

use crate::{Place, day, policy, settings};

#[test]
fn an_exception_with_a_condition_is_asked_about_and_replaces_nothing() {
    for (ban, exception) in [
        ("Never use sudo.", "Use sudo only for apt."),
        ("Never use sudo.", "Only use sudo for apt."),
        ("Never use sudo.", "sudo is only for apt."),
        ("Never use sudo.", "sudo is fine for apt."),
        ("Never use sudo.", "You may use sudo for apt."),
        ("Never use sudo.", "Use sudo when installing packages."),
        ("Don't use sudo.", "Use sudo after asking me."),
        (
            "Never push to main.",
            "Pushing to main is okay for hotfixes.",
        ),
        ("Never push to main.", "Push to main only for hotfixes."),
        (
            "Never run the slow tests.",
            "Run the slow tests before a release.",
        ),
        (
            "Never commit to main.",
            "Docs changes can be committed to main.",
        ),
        (
            "Never commit to main.",
            "Docs changes may be committed to main.",
        ),
        (
            "Never push to main.",
            "Push documentation fixes to main directly.",
        ),
        (
            "Never write to the production database.",
            "Write test orders to the production database.",
        ),
        ("Do not commit.", "Commit only when I ask for it."),
        ("No emojis.", "Emojis only in chat."),
        ("Nie sudo benutzen.", "sudo nur für apt benutzen."),
        ("Nie sudo benutzen.", "sudo ist für apt erlaubt."),
        ("Benutze nie sudo.", "Benutze sudo nur für apt."),
        ("Ruf nie vor 9 Uhr an.", "Ruf nur im Notfall vor 9 Uhr an."),
        ("Gieß nie den Kaktus.", "Gieß den Kaktus nur im Sommer."),
        ("N'utilise jamais sudo.", "sudo est permis pour apt."),
        ("N'utilise jamais sudo.", "Utilise sudo seulement pour apt."),
        ("Nunca uses sudo.", "sudo se permite para apt."),
        ("Nunca uses sudo.", "Usa sudo solo para apt."),
    ] {
        let place = Place::new();
        place.rule(day(3), ban);
        place.dream(&settings());
        place.rule(day(1), exception);
        let report = place.dream(&settings());
        assert_eq!(report.waiting, 2, "{ban} / {exception}");
        let (old, new) = (place.find(ban), place.find(exception));
        let marked = new.contradicts.contains(&old.id) && old.contradicts.contains(&new.id);
        assert!(marked && new.replaces.is_empty(), "{ban} / {exception}");
        let report = place.dream(&policy());
        assert_eq!(report.promoted.len(), 0, "{ban} / {exception}");
    }
}

#[test]
fn a_condition_of_something_else_is_no_exception() {
    for (ban, other) in [
        ("Never use sudo.", "Use doas only for apt."),
        ("Never use sudo.", "Use apt only for packages."),
        ("Never push to main.", "Push to staging only after tests."),
        ("Never push to main.", "Push only to feature branches."),
        (
            "Never push to main.",
            "Push documentation fixes to staging.",
        ),
        ("Never push to main.", "Push the button to open main."),
        (
            "Never commit to main.",
            "Changes to main are reviewed by Omar.",
        ),
        ("Never commit secrets.", "Commit lock files."),
        ("Never use Redis.", "Redis runs only in staging."),
        ("Never touch prod.", "Prod is only in Frankfurt."),
        ("No emojis.", "Emojis in commit messages break the parser."),
        (
            "Never run the slow tests.",
            "Run the unit tests after every change.",
        ),
        (
            "Never commit without tests.",
            "Commit fixtures only after review.",
        ),
        (
            "Never feed the cat chicken.",
            "Feed the cat only once a day.",
        ),
        ("Gieß nie den Kaktus.", "Gieß die Palme nur im Sommer."),
    ] {
        let place = Place::new();
        place.rule(day(3), ban);
        place.dream(&settings());
        place.rule(day(1), other);
        place.dream(&settings());
        let marked = place.candidates().into_iter();
        let marked = marked.filter(|one| !one.contradicts.is_empty());
        assert_eq!(marked.count(), 0, "{ban} / {other}");
    }
}
