//! The audit of a context.

use std::time::Instant;

use longhaul_compaction::audit::{Audit, Category, Tally, audit, facts};
use longhaul_compaction::summary::Material;
use longhaul_ledger::{FileChange, ItemState};
use longhaul_transcript::EntryId;

use crate::book::Book;
use crate::{session, summary_of};

#[test]
fn a_summary_of_a_small_session_loses_nothing() {
    let ledger = session().done();
    let text = summary_of(&Material::of(&ledger), 200_000).text;
    let audit = audit(&facts(&ledger), &text, &|_| true);
    assert_eq!(
        audit.to_string(),
        "rules 4/4 · decisions 1/1 · open items 2/2 · files modified 4/4 · files read 1/1 · \
         errors 2/2 · identifiers 1/1 · requests 2/2 · nowhere 0"
    );
    assert_eq!(audit.loss_percent(), 0);
}

#[test]
fn each_fact_is_in_the_context_or_recallable_or_nowhere() {
    let ledger = Book::new("/w")
        .decision("use\n  Postgres", None)
        .decision("use Redis", None)
        .decision("use Kafka", None)
        .item("finished", ItemState::Done)
        .edited("/w/src/a.rs", 1)
        .file("/w/b.rs", 1, 0, FileChange::Read)
        .done();
    let lost = EntryId::from("e0000003");
    let found = audit(
        &facts(&ledger),
        "We use Postgres, and src/a.rs; not src/b.rs",
        &|entry| *entry != lost,
    );
    let tally = |total, in_context, recallable, nowhere| Tally {
        total,
        in_context,
        recallable,
        nowhere,
    };
    assert_eq!(found.categories[&Category::Decision], tally(3, 1, 1, 1));
    assert_eq!(found.categories[&Category::FileModified], tally(1, 1, 0, 0));
    assert_eq!(found.categories[&Category::FileRead], tally(1, 0, 1, 0));
    assert_eq!(found.nowhere[0].text, "use Kafka");
    assert_eq!(found.recallable[0].entry, Some(EntryId::from("e0000002")));
    assert_eq!(found.loss_percent(), 60);
    assert_eq!(
        serde_json::to_value(&found).unwrap(),
        serde_json::json!({
            "categories": {
                "decision": {"total": 3, "inContext": 1, "recallable": 1, "nowhere": 1},
                "fileModified": {"total": 1, "inContext": 1, "recallable": 0, "nowhere": 0},
                "fileRead": {"total": 1, "inContext": 0, "recallable": 1, "nowhere": 0},
            },
            "recallable": [
                {"category": "decision", "text": "use Redis", "entry": "e0000002"},
                {"category": "fileRead", "text": "/w/b.rs", "entry": "e0000006"},
            ],
            "recallableUnlisted": 0,
            "nowhere": [{"category": "decision", "text": "use Kafka"}],
        })
    );
    let back: Audit = serde_json::from_value(serde_json::to_value(&found).unwrap()).unwrap();
    assert_eq!(back, found);
}

#[test]
fn a_request_counts_as_kept_by_its_gist_and_id() {
    let ledger = Book::new("/w").request("first line\nand much more").done();
    let share = |context: &str| audit(&facts(&ledger), context, &|_| true).loss_percent();
    assert_eq!(share("- first line ·e0000001"), 0);
    assert_eq!(share("- first line ·other"), 100);
    assert_eq!(share("```\nfirst line\nand much more\n```"), 0);
}

#[test]
fn the_list_of_recallable_facts_is_capped() {
    let mut book = Book::new("/w");
    for at in 0..80 {
        book = book.decision(&format!("decision number {at}"), None);
    }
    let ledger = book.done();
    let found = audit(&facts(&ledger), "", &|_| true);
    assert_eq!(
        (found.recallable.len(), found.recallable_unlisted),
        (50, 30)
    );
    let found = audit(&facts(&ledger), "", &|_| false);
    assert_eq!(found.nowhere.len(), 80);
}

#[test]
fn thousands_of_facts_take_milliseconds() {
    let mut book = Book::new("/w");
    for at in 0..1_500 {
        book = book
            .decision(&format!("decision number {at} for a long reason"), None)
            .anchor(&format!("ID-{at}"), "about it");
    }
    let ledger = book.done();
    let context = "lorem ipsum dolor sit amet, 8080 and src/main.rs\n".repeat(8_000);
    let facts = facts(&ledger);
    let start = Instant::now();
    let found = audit(&facts, &context, &|_| true);
    let taken = start.elapsed();
    assert_eq!(found.total().total, 3_000);
    // Milliseconds in a release build; the bound leaves room for a debug build
    // on a busy machine, but not for a search that is quadratic.
    assert!(taken.as_millis() < 2_000, "{taken:?}");
    println!("{taken:?}");
}
