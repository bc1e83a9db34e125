//! Changes of mind that are planted, so that it is known what must be left.

/// What a user said first and later, about the same thing.
pub(super) struct Change {
    pub(super) before: String,
    pub(super) after: String,
    /// A part of each that tells them apart.
    pub(super) old: String,
    pub(super) new: String,
}

/// Names and things that have nothing in common, so that no two changes are
/// about the same.
const PROJECTS: [(&str, &str, &str, &str); 6] = [
    ("Heron", "deploy", "gateway", "job queue"),
    ("Kestrel", "restart", "search index", "audit trail"),
    ("Osprey", "migrate", "mail relay", "price list"),
    ("Plover", "reindex", "photo archive", "session store"),
    ("Dunlin", "rotate", "print server", "map tiles"),
    ("Avocet", "rebuild", "ticket desk", "voice notes"),
];
const WEEKDAYS: [&str; 6] = [
    "Mondays",
    "Tuesdays",
    "Wednesdays",
    "Thursdays",
    "Saturdays",
    "Sundays",
];

/// One change of each kind for each project.
pub(super) fn changes() -> Vec<Change> {
    let mut all = Vec::new();
    for (at, (name, verb, thing, store)) in PROJECTS.iter().enumerate() {
        let (port, other, day) = (8100 + at, 9100 + at, WEEKDAYS[at]);
        all.push(Change {
            before: format!("Never {verb} the {name} {thing} on {day}."),
            after: format!("Always {verb} the {name} {thing} on {day}."),
            old: format!("Never {verb} the {name}"),
            new: format!("Always {verb} the {name}"),
        });
        all.push(Change {
            before: format!("We decided that the {name} {store} listens on port {port}."),
            after: format!("We decided that the {name} {store} listens on port {other}."),
            old: format!("on port {port}"),
            new: format!("on port {other}"),
        });
        all.push(Change {
            before: format!("We decided to keep the {name} {verb} history of the {thing} in Postgres."),
            after: format!(
                "We decided to keep the {name} {verb} history of the {thing} in SQLite instead of Postgres."
            ),
            old: format!("history of the {thing} in Postgres"),
            new: format!("history of the {thing} in SQLite"),
        });
    }
    all
}
