//! Pairs of lines about one thing: what is of another sort leaves the older one
//! alone, and what is of the same sort takes its place.

use super::pairs::Pairs;
use super::{Features, Relation};

/// Something else that is so of it now.
const ANOTHER_SORT: Pairs = &[
    ("Max hat eine Nussallergie.", "Max hat jetzt ein Fahrrad."),
    (
        "Max ist Diabetiker.",
        "Max ist jetzt Kapitän der Mannschaft.",
    ),
    ("Eva ist Vegetarierin.", "Eva ist jetzt Klassensprecherin."),
    (
        "Meine Tochter ist Vegetarierin.",
        "Meine Tochter ist jetzt Klassensprecherin.",
    ),
    ("Oma hat Diabetes.", "Oma hat jetzt ein Hörgerät."),
    ("Tom hat zwei Kinder.", "Tom hat jetzt einen Hund."),
    ("Die API hat ein Rate-Limit.", "Die API hat jetzt Webhooks."),
    ("Grandma is in Leeds.", "Grandma is now on Warfarin."),
    (
        "The repo is on GitHub.",
        "The repo is now licensed under MIT.",
    ),
    (
        "The repo is on GitHub.",
        "The repo is now maintained by Ana.",
    ),
    (
        "The database is in Frankfurt.",
        "The database is now on Postgres 17.",
    ),
    (
        "The database is in Frankfurt.",
        "The database now uses Postgres.",
    ),
    (
        "The database is Postgres.",
        "The database moved to Frankfurt.",
    ),
    (
        "The database is on db1.",
        "The database is now backed up to S3.",
    ),
    ("Eva is in Madrid.", "Eva is now married to Tom."),
    (
        "The server is in Frankfurt.",
        "The server is now monitored with Prometheus.",
    ),
    (
        "The server is in Frankfurt.",
        "The server is now behind a VPN.",
    ),
    (
        "The docs are in docs/src.",
        "The docs are now built with mdBook.",
    ),
    (
        "The frontend uses React.",
        "The frontend now uses TypeScript.",
    ),
    (
        "Das Frontend nutzt React.",
        "Das Frontend nutzt jetzt TypeScript.",
    ),
    (
        "Le frontend utilise React.",
        "Le frontend utilise désormais TypeScript.",
    ),
    (
        "El frontend usa React.",
        "El frontend ahora usa TypeScript.",
    ),
    ("前端用 React。", "前端现在用 TypeScript。"),
    ("前端使用React。", "前端现在使用TypeScript。"),
    (
        "フロントエンドはReactを使っています。",
        "フロントエンドは今TypeScriptを使っています。",
    ),
    (
        "フロントエンドはReactを使用しています。",
        "フロントエンドは今はTypeScriptを使用しています。",
    ),
    ("The CI uses GitHub Actions.", "The CI now uses Codecov."),
    ("Eva is Catholic.", "Eva is now CTO."),
    (
        "We publish the fonts on GitHub.",
        "We publish the fonts under MIT now.",
    ),
    (
        "The product is called Lumen.",
        "The product is now Open Source.",
    ),
];

/// Another value of the same sort.
const SAME_SORT: Pairs = &[
    (
        "The database is in Frankfurt.",
        "The database is now in Dublin.",
    ),
    ("Grandma is in Leeds.", "Grandma is now in York."),
    ("Grandma is in Leeds.", "Grandma moved to York."),
    ("Eva is the team lead.", "Tom is now the team lead."),
    (
        "We use Jenkins for the builds.",
        "We use GitHub Actions instead of Jenkins for the builds.",
    ),
    (
        "We use Jenkins for the nightly builds.",
        "We use Buildkite for the nightly builds now.",
    ),
    ("The cache uses Redis.", "The cache switched to Memcached."),
    ("Our channel is Slack.", "Our channel is now Zulip."),
    (
        "Unser Zahnarzt ist Herr Klein.",
        "Unser Zahnarzt ist jetzt Frau Groß.",
    ),
    (
        "The repo is licensed under GPL.",
        "The repo is now licensed under MIT.",
    ),
    (
        "The repo is maintained by Tom.",
        "The repo is now maintained by Ana.",
    ),
    (
        "The docs are built with Sphinx.",
        "The docs are now built with mdBook.",
    ),
    ("The cluster has 3 nodes.", "The cluster now has 5 nodes."),
];

/// Another language of replies, said in whatever language.
const REPLIES: Pairs = &[
    (
        "Antworte immer auf Deutsch.",
        "From now on, answer in English.",
    ),
    (
        "Antworte immer auf Deutsch.",
        "Réponds désormais en français.",
    ),
    (
        "Réponds toujours en français.",
        "Ab jetzt bitte auf Deutsch antworten.",
    ),
    (
        "Always answer in English.",
        "Antworte ab jetzt auf Deutsch.",
    ),
    (
        "Responde siempre en español.",
        "From now on, reply in English.",
    ),
    ("请用中文回答。", "From now on, answer in English."),
    (
        "日本語で答えてください。",
        "From now on, answer in English.",
    ),
    (
        "Antworte immer auf Deutsch.",
        "Ab jetzt bitte auf Englisch.",
    ),
    ("日本語で答えてください。", "今後は英語でお願いします。"),
    (
        "回答は日本語でお願いします。",
        "今後は英語で答えてください。",
    ),
];

/// Languages of something else, or no other one.
const NO_REPLIES: Pairs = &[
    (
        "Antworte immer auf Deutsch.",
        "Write the changelog in English.",
    ),
    ("Antworte immer auf Deutsch.", "I speak English."),
    ("Always answer in English.", "Die Tests sind auf Deutsch."),
    (
        "日本語で答えてください。",
        "コメントは英語で書いてください。",
    ),
];

/// Something came to its end, or is done by another.
const ENDED: Pairs = &[
    (
        "Dad takes metformin 500 mg twice daily.",
        "Dad no longer takes metformin.",
    ),
    (
        "The cat takes Vidalta twice a day.",
        "The cat no longer takes Vidalta.",
    ),
    (
        "Opa nimmt zwei Tabletten Ramipril am Tag.",
        "Opa nimmt kein Ramipril mehr.",
    ),
    (
        "Papi prend du Kardégic le matin.",
        "Papi ne prend plus de Kardégic.",
    ),
    (
        "We have a subscription to Netflix.",
        "We cancelled the Netflix subscription.",
    ),
    (
        "Die Heizung wird von Firma Krause gewartet.",
        "Die Heizung wird jetzt von Firma Becker gewartet.",
    ),
    (
        "Oma wird von Dr. Weber behandelt.",
        "Oma wird jetzt von Dr. Klein behandelt.",
    ),
    (
        "Das Projekt wird von Anna geleitet.",
        "Das Projekt wird jetzt von Omar geleitet.",
    ),
    (
        "Le projet est dirigé par Anna.",
        "Le projet est désormais dirigé par Omar.",
    ),
    (
        "My name is Judith and I live in Bremen.",
        "I live in Lyon now.",
    ),
    (
        "The product is called Lumen.",
        "Lumen is now called Aurora.",
    ),
];

/// Something else came to its end, or is done by another.
const GOES_ON: Pairs = &[
    (
        "Dad takes metformin twice daily.",
        "Mum no longer takes aspirin.",
    ),
    (
        "Dad takes metformin twice daily.",
        "Dad no longer takes the bus.",
    ),
    (
        "Die Heizung wird von Firma Krause gewartet.",
        "Das Dach wird jetzt von Firma Becker repariert.",
    ),
    (
        "Opa nimmt zwei Tabletten Ramipril am Tag.",
        "Opa nimmt keine Gäste mehr auf.",
    ),
];

fn found(pairs: Pairs, allowed: &[Relation]) -> Vec<String> {
    let related = pairs.iter().map(|(older, newer)| {
        let relation = Features::of(older).relation(&Features::of(newer));
        (relation, older, newer)
    });
    let wrong = related.filter(|(relation, ..)| !allowed.contains(relation));
    wrong
        .map(|(relation, older, newer)| format!("{relation:?}: {older} / {newer}"))
        .collect()
}

#[test]
fn what_is_of_another_sort_replaces_nothing() {
    let closed = found(ANOTHER_SORT, &[Relation::None, Relation::Perhaps]);
    assert!(closed.is_empty(), "{closed:#?}");
}

#[test]
fn another_value_of_the_same_sort_takes_the_place() {
    let kept = found(SAME_SORT, &[Relation::Replaces]);
    assert!(kept.is_empty(), "{kept:#?}");
}

#[test]
fn another_language_of_replies_is_noticed_in_whatever_language_it_is_asked_for() {
    let unseen = found(REPLIES, &[Relation::Replaces, Relation::Perhaps]);
    assert!(unseen.is_empty(), "{unseen:#?}");
    let shares = |(older, newer): &&(&str, &str)| {
        let (older, newer) = (Features::of(older), Features::of(newer));
        older.keys().is_disjoint(&newer.keys())
    };
    let lost: Vec<_> = REPLIES.iter().filter(shares).collect();
    assert!(lost.is_empty(), "{lost:#?}");
}

#[test]
fn the_language_of_something_else_is_none_of_replies() {
    let asked = found(NO_REPLIES, &[Relation::None]);
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn what_came_to_its_end_or_is_done_by_another_is_noticed() {
    let unseen = found(ENDED, &[Relation::Replaces, Relation::Perhaps]);
    assert!(unseen.is_empty(), "{unseen:#?}");
    let asked = found(GOES_ON, &[Relation::None]);
    assert!(asked.is_empty(), "{asked:#?}");
}

#[test]
fn the_end_of_one_of_two_leaves_the_other() {
    let pairs: Pairs = &[
        (
            "Dad takes metformin and aspirin in the morning.",
            "Dad no longer takes metformin.",
        ),
        (
            "My name is Judith and I live in Bremen.",
            "I live in Lyon now.",
        ),
    ];
    assert_eq!(found(pairs, &[Relation::Perhaps]), Vec::<String>::new());
}
