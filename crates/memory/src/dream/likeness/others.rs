//! Lines that are told from each other by a little word alone.

use super::Relation;
use super::pairs::{Pairs, missed};

/// The same said of two.
const ALIKE: Pairs = &[
    (
        "Never delete user accounts.",
        "Never delete agent accounts.",
    ),
    ("Never delete team files.", "Never delete project files."),
    ("Never delete the team.", "Never delete the project."),
    ("Never invite Ben.", "Never invite Mia."),
    ("Never invite **Ben**.", "Never invite **Mia**."),
    (
        "Before a release, Ben reviews the plan.",
        "Before a release, Mia reviews the plan.",
    ),
    ("My birthday is on March 3.", "Her birthday is on March 3."),
    (
        "The user's birthday is on March 3.",
        "His birthday is on March 3.",
    ),
    ("I live in Kiel.", "Ben lives in Kiel."),
    (
        "The project meeting is on Monday.",
        "The team meeting is on Monday.",
    ),
    (
        "Show the date in the footer.",
        "Show the name in the footer.",
    ),
    ("Sort the table by date.", "Sort the table by name."),
    (
        "Always ask Ben before deploying.",
        "Always ask Mia before deploying.",
    ),
    ("Never show user names.", "Never show project names."),
    ("The date column is hidden.", "The name column is hidden."),
    (
        "The user table is in Postgres.",
        "The project table is in Postgres.",
    ),
    (
        "The start date is in column 3.",
        "The start time is in column 3.",
    ),
];

/// Another thing said of two.
const OTHERWISE: Pairs = &[
    ("I live in Berlin.", "Ben moved to Ulm."),
    (
        "Ben is allergic to nuts.",
        "Mia is no longer allergic to nuts.",
    ),
    (
        "My phone number is 0171 2345678.",
        "Her phone number is now 0172 9999999.",
    ),
    (
        "Our office is in Berlin.",
        "Their office is now in Hamburg.",
    ),
    (
        "The project budget is 5000 euros.",
        "The team budget is now 8000 euros.",
    ),
    (
        "The user API runs on port 8080.",
        "The project API runs on port 9090 now.",
    ),
    ("Never invite Ben.", "Always invite Mia."),
    (
        "Never share the project password.",
        "Always share the team password.",
    ),
    (
        "Mi oficina está en Madrid.",
        "Su oficina está ahora en Sevilla.",
    ),
    ("Mein Büro ist in Berlin.", "Sein Büro ist jetzt in Ulm."),
];

/// One thing, whoever or whatever is called by a little word on one side.
const ONE: Pairs = &[
    (
        "Never commit to the project without asking the user.",
        "Never commit to our project without asking me.",
    ),
    ("Ask the user before deploying.", "Ask me before deploying."),
    ("Never log user data.", "Never log our users' data."),
    (
        "We store our images in S3.",
        "The project images are stored in S3.",
    ),
    ("The user wants short answers.", "I want short answers."),
    ("My office is in Berlin.", "Our office is in Berlin."),
    (
        "The release day is Tuesday.",
        "The release date is Tuesday.",
    ),
    ("Never invite Ben.", "Ben must never be invited."),
];

/// What changed, with such words on both sides.
const CHANGED: Pairs = &[
    ("I live in Berlin.", "I moved to Ulm."),
    ("My office is in Berlin.", "Our office is now in Hamburg."),
    (
        "The project budget is 5000 euros.",
        "The project budget is now 8000 euros.",
    ),
    (
        "Ben is allergic to nuts.",
        "Ben is no longer allergic to nuts.",
    ),
    ("Never invite Ben.", "Always invite Ben."),
];

#[test]
fn the_same_said_of_two_is_not_one() {
    let missed = missed(ALIKE, &[Relation::None, Relation::Perhaps]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_is_said_of_one_closes_nothing_that_is_said_of_another() {
    let missed = missed(OTHERWISE, &[Relation::None, Relation::Perhaps]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn whose_and_of_which_part_it_is_sets_lines_apart_for_good() {
    let apart: Pairs = &[
        (
            "My phone number is 0171 2345678.",
            "Her phone number is now 0172 9999999.",
        ),
        (
            "The user API runs on port 8080.",
            "The project API runs on port 9090 now.",
        ),
        (
            "The project meeting is on Monday.",
            "The team meeting is on Monday.",
        ),
        ("I live in Berlin.", "Ben moved to Ulm."),
    ];
    let missed = missed(apart, &[Relation::None]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn another_name_for_who_has_a_part_is_noticed() {
    let turns: Pairs = &[
        (
            "Ben owns the search service.",
            "Mia owns the search service now.",
        ),
        (
            "The owner of the shop is Ben.",
            "The owner of the shop is now Mia.",
        ),
    ];
    let missed = missed(turns, &[Relation::Perhaps, Relation::Replaces]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_little_word_on_one_side_leaves_a_statement_one() {
    let missed = missed(ONE, &[Relation::Same]);
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_changed_is_noticed_beside_such_words() {
    let missed = missed(CHANGED, &[Relation::Replaces, Relation::Perhaps]);
    assert!(missed.is_empty(), "{missed:#?}");
}
