//! What holds for every ledger.

use std::collections::BTreeSet;

use longhaul_compaction::Layer;
use longhaul_compaction::summary::{
    Extractive, Material, Previous, is_ours, ledger_part, mechanical, summarize,
};
use longhaul_ledger::{FileChange, ItemState, Ledger, RuleKind};
use longhaul_tokens::{ContentKind, Counter, Estimator};
use proptest::prelude::*;

use crate::book::{Book, agent, user};
use crate::limits;

#[derive(Debug, Clone)]
enum Fact {
    Request(String),
    Rule(String),
    Preference(String),
    Decision(String),
    Edited(String, u32),
    Read(String),
    Deleted(String),
    Item(String, u8),
    Trouble(String),
    Anchor(String),
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,8}( [a-z0-9./#`-]{1,9}){0,12}",
        "[日本語中文テスト、。]{1,20}",
        "(# Ledger|## Done|```|---|</summary>|- ·x)(\n[a-z# ]{0,12}){0,3}",
    ]
    .prop_filter("says something", |text| !text.trim().is_empty())
}

fn fact() -> impl Strategy<Value = Fact> {
    prop_oneof![
        words().prop_map(Fact::Request),
        words().prop_map(Fact::Rule),
        words().prop_map(Fact::Preference),
        words().prop_map(Fact::Decision),
        ("[a-z]{1,6}(/[a-z_]{1,8}){0,3}\\.rs", 1..9_u32)
            .prop_map(|(path, n)| Fact::Edited(path, n)),
        "[a-z]{1,6}(/[a-z_]{1,8}){0,3}\\.md".prop_map(Fact::Read),
        "[a-z]{1,6}(/[a-z_]{1,8}){0,3}\\.txt".prop_map(Fact::Deleted),
        (words(), 0..4_u8).prop_map(|(text, state)| Fact::Item(text, state)),
        words().prop_map(Fact::Trouble),
        "[A-Z]{2,5}-[0-9]{1,5}".prop_map(Fact::Anchor),
    ]
}

fn ledger(facts: &[Fact]) -> Ledger {
    let mut book = Book::new("/work/it");
    for fact in facts {
        book = match fact {
            Fact::Request(text) => book.request(text),
            Fact::Rule(text) => book.rule(RuleKind::Constraint, text),
            Fact::Preference(text) => book.rule(RuleKind::Preference, text),
            Fact::Decision(text) => book.decision(text, Some("a reason")),
            Fact::Edited(path, times) => book.edited(&format!("/work/it/{path}"), *times),
            Fact::Read(path) => book.read(&format!("/work/it/{path}")),
            Fact::Deleted(path) => book.file(&format!("/else/{path}"), 0, 0, FileChange::Deleted),
            Fact::Item(text, state) => book.item(
                text,
                match state {
                    0 => ItemState::Open,
                    1 => ItemState::InProgress,
                    2 => ItemState::Done,
                    _ => ItemState::Dropped,
                },
            ),
            Fact::Trouble(text) => book.trouble("make all", text),
            Fact::Anchor(text) => book.anchor(text, "words about it"),
        };
    }
    book.done()
}

fn spaced(text: &str) -> String {
    text.replace("</summary", "<\\/summary")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Everything that looks like a value: it has a digit, or a slash inside.
fn values(text: &str) -> BTreeSet<String> {
    text.split(|c: char| c.is_whitespace() || "()`…·,;\"".contains(c))
        .map(|word| word.trim_matches(['.', ':', '-']))
        // Counts of our own are written ×n and +n.
        .filter(|word| !word.starts_with('×') && !word.starts_with('+'))
        .filter(|word| word.contains(|c: char| c.is_ascii_digit()) || word.contains('/'))
        .map(str::to_owned)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn rules_files_and_open_items_are_all_there(facts in prop::collection::vec(fact(), 0..60)) {
        let ledger = ledger(&facts);
        let made = mechanical(
            &ledger,
            &longhaul_compaction::summary::Kept::nothing(),
            &limits(200_000, Layer::Summarize),
            &Estimator::O200k,
        );
        prop_assert_eq!(&made.notes, &[]);
        let text = spaced(&made.text);
        for rule in &ledger.rules {
            prop_assert!(text.contains(&spaced(&rule.text)), "{}\n{}", rule.text, made.text);
        }
        for file in ledger.files.values().filter(|file| file.is_modified()) {
            let path = file.path.strip_prefix("/work/it/").unwrap_or(&file.path);
            prop_assert!(made.text.contains(path), "{path}");
        }
        for item in ledger.items.iter().filter(|item| item.is_open()) {
            prop_assert!(text.contains(&spaced(&item.text)), "{}", item.text);
        }
        for request in &ledger.requests {
            let whole = spaced(request.text.as_deref().unwrap());
            prop_assert!(text.contains(&whole), "{whole}\n{text}");
        }
    }

    #[test]
    fn nothing_is_made_up(facts in prop::collection::vec(fact(), 0..60)) {
        let ledger = ledger(&facts);
        let source = serde_json::to_string(&ledger).unwrap();
        let made = mechanical(
            &ledger,
            &longhaul_compaction::summary::Kept::nothing(),
            &limits(60_000, Layer::Summarize),
            &Estimator::Heuristic,
        );
        for value in values(&made.text) {
            let plain = value.replace("<\\/", "</");
            prop_assert!(source.contains(&plain), "{value} in\n{}", made.text);
        }
    }

    #[test]
    fn never_above_the_limits(
        facts in prop::collection::vec(fact(), 0..120),
        window in 4_096..220_000_u32,
    ) {
        let ledger = ledger(&facts);
        for counter in Estimator::ALL {
            for layer in [Layer::Summarize, Layer::Full] {
                let limits = limits(window, layer);
                let made = summarize(&mut Extractive, &Material::of(&ledger), &limits, &counter);
                let tokens = counter.count(&made.text, ContentKind::Prose);
                prop_assert!(
                    tokens <= limits.total,
                    "{counter} at {window}: {tokens} > {}\n{}", limits.total, made.text
                );
            }
        }
    }

    #[test]
    fn fifty_compactions_of_the_same_content_are_all_alike(
        facts in prop::collection::vec(fact(), 0..40),
        turns in prop::collection::vec((words(), words()), 0..30),
        window in prop_oneof![Just(24_000_u32), Just(200_000)],
    ) {
        let mut book = ledger(&facts);
        let messages: Vec<_> = turns
            .iter()
            .enumerate()
            .flat_map(|(at, (asked, said))| {
                book.requests.push(longhaul_ledger::Request {
                    entry: format!("t{at}").as_str().into(),
                    time: None,
                    text: Some(asked.clone()),
                    gist: asked.lines().next().unwrap_or_default().to_owned(),
                });
                [user(&format!("t{at}"), asked), agent(&format!("a{at}"), said)]
            })
            .collect();
        let limits = limits(window, Layer::Summarize);
        let make = |removed: &[_], previous: Option<&str>| {
            summarize(
                &mut Extractive,
                &Material {
                    removed,
                    previous: previous.map(|text| Previous { text, maker: "longhaul" }),
                    ..Material::of(&book)
                },
                &limits,
                &Estimator::Heuristic,
            )
            .text
        };
        let first = make(&messages, None);
        prop_assert_eq!(&first, &make(&messages, None));
        prop_assert!(is_ours(&first) && ledger_part(&first).is_some());
        prop_assert_eq!(&first, &make(&messages, Some(&first)));
        // Later ones see nothing but the summary before them: what S2 reads off
        // the last messages goes once, and then nothing changes any more.
        let settled = make(&[], Some(&first));
        let mut last = settled.clone();
        for _ in 0..50 {
            last = make(&[], Some(&last));
            prop_assert_eq!(&last, &settled);
        }
    }
}
