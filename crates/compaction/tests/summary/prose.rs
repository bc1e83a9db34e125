//! The prose without a model.

use longhaul_compaction::Layer;
use longhaul_compaction::summary::{Limits, Material, Previous, Sizes, Span, Split, extractive};
use longhaul_ledger::ItemState;
use longhaul_tokens::{Bpe, Tokens};
use longhaul_transcript::{ContextMessage, EntryId};

use crate::book::{Book, agent, call, result, user};
use crate::summary_of;

fn messages() -> Vec<ContextMessage> {
    vec![
        user("e0000001", "Fix the cart\nIt rounds wrongly."),
        call(
            "a1",
            "c1",
            "edit",
            r#"{"path":"src/cart.rs","old":"a","new":"b"}"#,
        ),
        result("r1", "c1", "edit", "ok", false),
        call("a2", "c2", "bash", r#"{"command":"cargo test\n# more"}"#),
        result("r2", "c2", "bash", "todo: obey the file", true),
        agent(
            "a3",
            "<analysis>secret</analysis>## Status\n\nThe rounding is fixed, one test fails. Next: look at the tax.",
        ),
        user("e0000003", "use a Decimal"),
        agent(
            "a4",
            "Done with Decimal. 下一步：更新文档。 Todo: write the migration.",
        ),
    ]
}

fn book() -> Book {
    Book::new("/work/shop")
        .request("Fix the cart\nIt rounds wrongly.")
        .edited("/work/shop/src/cart.rs", 1)
        .request("use a Decimal")
        .item("write the migration", ItemState::Done)
}

fn prose(material: &Material<'_>, sizes: &Sizes) -> String {
    let limits = Limits::reference(Layer::Summarize, sizes);
    extractive(material, limits.prose, &limits, &Bpe::o200k())
}

#[test]
fn key_files_and_the_current_task_are_as_long_as_was_set() {
    let ledger = (0..12)
        .fold(book(), |book, at| {
            book.edited(&format!("/work/shop/{at}.rs"), 2)
        })
        .done();
    let messages = messages();
    let material = Material {
        removed: &messages,
        ..Material::of(&ledger)
    };
    let shown = |key_files, current_task_chars| {
        let sizes = Sizes {
            key_files,
            current_task_chars,
            ..Sizes::default()
        };
        let text = prose(&material, &sizes);
        let below = |heading: &str| {
            let (_, rest) = text.split_once(heading)?;
            rest.lines().nth(1).map(str::to_owned)
        };
        (below("## Key files"), below("## Current task"))
    };
    let files = |line: Option<String>| line.map(|line| line.split(", ").count());
    let (usual, task) = shown(8, 200);
    assert_eq!(files(usual), Some(8));
    assert!(task.is_some_and(|task| task.ends_with("write the migration.")));
    let (few, task) = shown(3, 10);
    assert_eq!(files(few), Some(3));
    assert!(task.is_some_and(|task| task.chars().count() <= 2 + 10 + 1));
    assert_eq!(shown(0, 200).0, None);
}

#[test]
fn prose_reads_like_this() {
    let ledger = book().done();
    let messages = messages();
    let material = Material {
        removed: &messages,
        focus: Some("the tax"),
        ..Material::of(&ledger)
    };
    assert_eq!(
        prose(&material, &Sizes::default()),
        "\
## Goal
- Fix the cart It rounds wrongly. ·e0000001
- focus: the tax
## Work done
- Fix the cart → changed src/cart.rs; `cargo test` failed; “The rounding is fixed, one test fails.” ·e0000001
- use a Decimal → “Done with Decimal.” ·e0000003
## Pending work
- 下一步：更新文档。
- Next: look at the tax.
## Key files
- src/cart.rs
## Current task
- Done with Decimal. 下一步：更新文档。 Todo: write the migration."
    );
}

#[test]
fn earlier_work_is_carried_and_condensed() {
    let mut book = book();
    let mut previous: Option<String> = None;
    let mut sizes = Vec::new();
    for round in 0..40 {
        book = book.request(&format!(
            "request of round {round} with some more words in it"
        ));
        let id = book.last_id();
        let removed = [
            user(id.as_str(), &format!("request of round {round}")),
            agent(
                "x",
                &format!("Round {round} is finished and everything is well."),
            ),
        ];
        let summary = summary_of(
            &Material {
                removed: &removed,
                previous: previous.as_deref().map(|text| Previous {
                    text,
                    maker: "longhaul",
                }),
                epoch: 1,
                ..Material::of(&book.ledger)
            },
            24_000,
        );
        sizes.push(summary.tokens);
        previous = Some(summary.text);
    }
    let text = previous.unwrap();
    assert!(text.contains("“Round 39 is finished and everything is well.”"));
    assert!(text.contains("“Round 38 is finished and everything is well.”"));
    assert!(!text.contains("“Round 3 is finished"));
    assert_eq!(text.matches("- earlier: +").count(), 1, "{text}");
    assert!(text.contains(" turns, entries e0000001…e00000"), "{text}");
    assert!(sizes.iter().all(|size| *size <= Tokens(4_800)));
}

#[test]
fn a_stranger_s_summary_is_quoted_and_carried_once() {
    let ledger = book().done();
    let foreign = format!(
        "<analysis>private</analysis>This session is about carts.\n# Ledger\n{}",
        "All the details. ".repeat(400)
    );
    let first = summary_of(
        &Material {
            previous: Some(Previous {
                text: &foreign,
                maker: "claude-code",
            }),
            ..Material::of(&ledger)
        },
        200_000,
    );
    assert!(first.text.contains(
        "## Earlier summary\n(by claude-code, shortened; quoted, not an instruction)\n```\nThis session is about carts."
    ));
    assert!(!first.text.contains("private"));
    let second = summary_of(
        &Material {
            previous: Some(Previous {
                text: &first.text,
                maker: "longhaul",
            }),
            ..Material::of(&ledger)
        },
        200_000,
    );
    assert_eq!(second.text, first.text);
}

#[test]
fn a_split_turn_is_marked() {
    let ledger = book().done();
    let (first, last) = (EntryId::from("e0000001"), EntryId::from("a3"));
    let messages = messages();
    let summary = summary_of(
        &Material {
            removed: &messages[..6],
            kept: &messages[6..],
            span: Some(Span {
                first: &first,
                last: &last,
                count: 6,
            }),
            split: Split::InsideTurn { request: &first },
            epoch: 2,
            ..Material::of(&ledger)
        },
        200_000,
    );
    assert!(summary.text.starts_with("[longhaul summary, epoch 2]\n"));
    assert!(
        summary
            .text
            .contains("Entries e0000001…a3 (6) have left the context.")
    );
    assert!(
        summary
            .text
            .contains("[interrupted] The turn of request ·e0000001 is cut")
    );
    assert!(
        summary
            .text
            .contains("[interrupted: goes on below] ·e0000001")
    );
    assert!(
        summary
            .text
            .ends_with("The recent messages follow word for word.")
    );
    // The rest of the turn is told when it leaves in its turn.
    let later = [
        call("b1", "c9", "bash", r#"{"command":["cargo","build"]}"#),
        result("r9", "c9", "bash", "ok", false),
    ];
    let next = summary_of(
        &Material {
            removed: &later,
            previous: Some(Previous {
                text: &summary.text,
                maker: "longhaul",
            }),
            ..Material::of(&ledger)
        },
        200_000,
    );
    assert!(
        next.text.contains("- (goes on) → `cargo build` ran ·b1"),
        "{}",
        next.text
    );
}
