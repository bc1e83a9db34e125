//! Hand-offs: made from a checkpoint, checked on receipt.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use common::example;
use longhaul_checkpoint::{
    AGENTS_TEMPLATE, Assignment, HANDOFF_SCHEMA, Handoff, HandoffFile, MAX_HANDOFF_BYTES, Status,
};
use longhaul_tokens::Tokens;
use proptest::prelude::*;

fn assignment() -> Assignment {
    Assignment {
        to: "worker".into(),
        task: "Find out about visa requirements".into(),
        constraints: vec!["Never book anything".into()],
        budget: Tokens(50_000),
    }
}

fn handoff() -> Handoff {
    let mut checkpoint = example();
    checkpoint.resources.files_modified = vec!["plan.md".into()];
    checkpoint.resources.files_read = vec!["notes & more.md".into()];
    Handoff::of(&checkpoint, &assignment())
}

#[test]
fn a_hand_off_says_what_the_checkpoint_says() {
    let handoff = handoff();
    assert_eq!(handoff.from.checkpoint, common::id(3));
    assert_eq!(handoff.status, Status::InProgress);
    assert_eq!(handoff.topic, "Helping user plan a trip to Japan");
    assert_eq!(handoff.decisions.len(), 2);
    assert_eq!(
        handoff.files,
        [
            HandoffFile::Modified("plan.md".into()),
            HandoffFile::Read("notes & more.md".into())
        ]
    );
    let xml = handoff.to_xml();
    assert!(
        xml.contains("<file access=\"read\">notes &amp; more.md</file>"),
        "{xml}"
    );
    assert_eq!(Handoff::from_xml(&xml), Ok(handoff));
}

#[test]
fn the_template_shows_a_hand_off_that_is_accepted() {
    let start = AGENTS_TEMPLATE.find("<?xml").unwrap();
    let end = AGENTS_TEMPLATE.find("</handoff>").unwrap() + "</handoff>".len();
    let handoff = Handoff::from_xml(&AGENTS_TEMPLATE[start..end]).unwrap();
    assert_eq!(handoff.budget, Tokens(50_000));
    for heading in [
        "## Roles",
        "## Session Startup",
        "## Red Lines",
        "## Hand-off",
    ] {
        assert!(AGENTS_TEMPLATE.contains(heading));
    }
}

#[test]
fn what_is_no_hand_off_is_refused_with_the_reason() {
    let good = handoff().to_xml();
    let changed = |from: &str, to: &str| {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        Handoff::from_xml(&text).unwrap_err().to_string()
    };
    let entity = |declared: &str| {
        changed(
            "<handoff version",
            &format!("<!DOCTYPE handoff [{declared}]>\n<handoff version"),
        )
    };
    let refusals = [
        (
            entity("<!ENTITY x SYSTEM \"file:///etc/passwd\">"),
            "document type is refused",
        ),
        (
            entity("<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">"),
            "document type is refused",
        ),
        (changed("Find out", "&xxe; Find"), "&xxe; is refused"),
        (
            changed("Find out", "&#0; Find"),
            "reference to no character",
        ),
        (changed("agent=\"worker\"", "agent=\"&xxe;\""), "xxe"),
        (
            changed("<handoff version", "<?php x ?><handoff version"),
            "processing instruction",
        ),
        (changed("version=\"1\">", "version=\"2\">"), "version \"2\""),
        (
            changed("encoding=\"UTF-8\"", "encoding=\"UTF-16\""),
            "encoding",
        ),
        (
            changed("<to agent=\"worker\"/>", ""),
            "<task> where <to> belongs",
        ),
        (changed("<task>", "<task x=\"1\">"), "no attribute x"),
        (changed("<summary>", "<summary><b/>"), "more elements"),
        (changed("<task>", "<task><b/>"), "<b> in <task>"),
        (
            changed("tokens=\"50000\"", "tokens=\"-1\""),
            "not a number of tokens",
        ),
        (
            changed("tokens=\"50000\"", "tokens=\"lots\""),
            "not a number of tokens",
        ),
        (
            changed("access=\"read\"", "access=\"run\""),
            "not `modified` or `read`",
        ),
        (
            changed("status=\"in_progress\"", "status=\"busy\""),
            "not a status",
        ),
        (
            changed("checkpoint=\"cp_003\"", "checkpoint=\"../x\""),
            "name of a checkpoint",
        ),
        (
            changed("</handoff>", "</handoff><handoff/>"),
            "second document",
        ),
        (changed("</handoff>", "</handoff>text"), "text outside"),
        (changed("</handoff>", ""), "not closed"),
        (changed("</decisions>", "</decision>"), "not well-formed"),
        (
            changed("<open-items>", "<open-items>x"),
            "text in <open-items>",
        ),
        (
            Handoff::from_xml("").unwrap_err().to_string(),
            "no <handoff>",
        ),
        (
            Handoff::from_xml("{\"a\":1}").unwrap_err().to_string(),
            "text outside",
        ),
        (
            Handoff::from_xml(&" ".repeat(MAX_HANDOFF_BYTES + 1))
                .unwrap_err()
                .to_string(),
            "at most 2097152",
        ),
        (
            Handoff::from_xml(&"<a>".repeat(100_000))
                .unwrap_err()
                .to_string(),
            "more elements",
        ),
    ];
    for (refusal, expected) in refusals {
        println!("{refusal}");
        assert!(refusal.contains(expected), "{refusal} ({expected})");
    }
}

#[test]
fn the_largest_hand_off_is_below_the_limit() {
    let mut checkpoint = example();
    let long = "𝕏<&".repeat(2_000);
    checkpoint.decisions = vec![checkpoint.decisions[0].clone(); 50];
    for decision in &mut checkpoint.decisions {
        decision.what = long.clone();
    }
    checkpoint.open_items = vec![long.clone(); 100];
    checkpoint.resources.files_modified = vec![long.clone(); 100];
    let xml = Handoff::of(&checkpoint, &assignment()).to_xml();
    assert!(xml.len() < MAX_HANDOFF_BYTES, "{}", xml.len());
    assert!(Handoff::from_xml(&xml).is_ok());
}

#[test]
fn the_schema_names_every_element_and_attribute() {
    let xml = handoff().to_xml();
    for (at, _) in xml.match_indices('<') {
        let name: String = xml[at + 1..]
            .chars()
            .take_while(|c| c.is_ascii_lowercase() || *c == '-')
            .collect();
        let declared = format!("name=\"{name}\"");
        assert!(
            name.is_empty() || HANDOFF_SCHEMA.contains(&declared),
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn every_text_comes_through(text in "(?s)([a-z<>&'\"\\]\\[;#\t\r\n日🙂]|.){1,40}") {
        let mut checkpoint = example();
        checkpoint.working.next_action = text.clone();
        checkpoint.open_items = vec![text.clone()];
        checkpoint.meta.agent_id = format!("a{text}b");
        let handoff = Handoff::of(&checkpoint, &assignment());
        prop_assert_eq!(Handoff::from_xml(&handoff.to_xml()), Ok(handoff));
    }

    #[test]
    fn nonsense_is_refused_without_harm(text in "(?s)(<|>|&|/|!|\\?|handoff|[a-z\"= ]|.){0,60}") {
        prop_assert!(Handoff::from_xml(&text).is_err());
    }
}
