//! What search finds beside what was promoted.

use std::fs;

use longhaul_index::{
    Budget, Filters, Hit, IndexSettings, Kept, MemoryIndex, Query, RecordKind, Redaction,
    SqliteIndex, WorkspaceFiles,
};

use crate::{Place, day, settings};

/// What a search of the workspace finds.
fn search(place: &Place, query: &str, filters: Filters) -> Vec<Hit> {
    let mut index = SqliteIndex::in_memory(IndexSettings::new(Redaction::none())).unwrap();
    let files = WorkspaceFiles::new(place.memory.root());
    files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    let query = Query {
        k: 10,
        filters,
        ..Query::new(query)
    };
    index.search(&query).unwrap().hits
}

fn sources(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.source.as_str()).collect()
}

#[test]
fn what_is_kept_and_where_it_was_said_are_one_hit() {
    let place = Place::new();
    place.rule(day(2), "Never push releases on Fridays.");
    place.rule(day(1), "Never rename the zebra branches.");
    let before = search(&place, "releases on Fridays", Filters::default());
    place.dream(&settings());
    let id = place.promote("Fridays");
    place.promote("zebra");
    let log = "memory/2026-11-13.md";
    let after = search(&place, "releases on Fridays", Filters::default());
    assert_eq!(sources(&after), sources(&before));
    assert_eq!(after[0].source, log);
    assert_eq!(
        after[0].kept,
        [Kept {
            source: "memories/project.md".into(),
            lines: (3, 7),
            id,
            text: "Never push releases on Fridays.".into(),
            standing: "preference, said by the user; valid from 2026-11-13".into(),
        }]
    );
    // Where the log is not searched, the page is found.
    let pages = Filters {
        kinds: vec![RecordKind::Memory],
        ..Filters::default()
    };
    let hits = search(&place, "releases on Fridays", pages);
    assert_eq!(sources(&hits), ["memories/project.md"], "{hits:#?}");
    assert!(!hits[0].text.contains("zebra"), "{}", hits[0].text);
    let index = Filters {
        paths: vec!["MEMORY.md".into()],
        ..Filters::default()
    };
    let hits = search(&place, "releases on Fridays", index);
    assert_eq!(sources(&hits), ["MEMORY.md"]);
    // A log that no longer says it, or is gone, is no reason to find nothing.
    let text = place.read(log);
    place.write(log, &text.replace("Fridays", "holidays"));
    let hits = search(&place, "releases on Fridays", Filters::default());
    assert_eq!(hits[0].source, "memories/project.md", "{hits:#?}");
    fs::remove_file(place.memory.root().join(log)).unwrap();
    let hits = search(&place, "releases on Fridays", Filters::default());
    assert_eq!(hits[0].source, "memories/project.md", "{hits:#?}");
}

#[test]
fn a_page_is_found_by_its_headings() {
    let place = Place::dreamt(&["Never push releases on Fridays."]);
    place.promote("Fridays");
    let project = place.read("memories/project.md");
    place.write(
        "memories/project.md",
        &format!("{project}\n## Ship from Ulaanbaatar\n\n## Never on Mondays\n"),
    );
    place.write(
        "memories/decisions.md",
        "# Decisions\n\n## Payment gateway\n\nWe chose Adyen in March.\n",
    );
    let memory = place.read("MEMORY.md");
    place.write(
        "MEMORY.md",
        &format!("{memory}\n## Kubernetes cluster\n- prod runs in eu-west-1\n"),
    );
    let first = |query: &str| {
        let hits = search(&place, query, Filters::default());
        hits.first().map(|hit| hit.source.clone())
    };
    assert_eq!(
        first("payment gateway").as_deref(),
        Some("memories/decisions.md")
    );
    assert_eq!(first("Ulaanbaatar").as_deref(), Some("memories/project.md"));
    assert_eq!(first("kubernetes").as_deref(), Some("MEMORY.md"));
    assert_eq!(first("eu-west-1").as_deref(), Some("MEMORY.md"));
}

#[test]
fn a_page_is_found_for_what_a_person_wrote_or_worded_anew() {
    let place = Place::dreamt(&["Never push releases on Fridays."]);
    let id = place.promote("Fridays");
    let memory = place.read("MEMORY.md");
    place.write(
        "MEMORY.md",
        &format!("{memory}- The kiosk password is in the safe.\n"),
    );
    let project = place.read("memories/project.md");
    place.write(
        "memories/project.md",
        &format!("{project}\n## Mine\nReleases need a blue ribbon.\n"),
    );
    let found = |query: &str| {
        let hits = search(&place, query, Filters::default());
        let sources = hits.iter().map(|hit| hit.source.clone());
        sources.collect::<Vec<String>>()
    };
    assert_eq!(found("kiosk")[0], "MEMORY.md");
    assert_eq!(found("ribbon")[0], "memories/project.md");
    assert_eq!(found("Fridays")[0], "memory/2026-11-13.md");
    assert!(!found("Fridays").contains(&"MEMORY.md".into()));
    let both = found("releases");
    assert!(both.contains(&"memory/2026-11-13.md".into()), "{both:?}");
    assert!(both.contains(&"memories/project.md".into()), "{both:?}");
    assert!(!both.contains(&"MEMORY.md".into()), "{both:?}");
    // Worded anew, it has words that the log does not have.
    let project = place.read("memories/project.md");
    let said = format!("### {id}\nNever push releases on Fridays.");
    assert!(project.contains(&said), "{project}");
    place.write(
        "memories/project.md",
        &project.replace(&said, &format!("### {id}\nNo weekend shipping.")),
    );
    assert_eq!(found("weekend shipping")[0], "memories/project.md");
}
