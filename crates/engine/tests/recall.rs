//! Recall: what is found, in which order, and what a hit stands for.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::PathBuf;

use longhaul_engine::recall::{Hit, Query, Same, recall};
use longhaul_transcript::{EntryId, Session};
use serde_json::json;

/// A session of user messages with these ids and texts.
fn session(said: &[(String, String)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let mut text = json!({ "type": "session", "version": 3, "id": "s", "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w" }).to_string();
    let mut parent = None;
    for (id, said) in said {
        let message = json!({ "role": "user", "content": said, "timestamp": 1 });
        let entry = json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z", "message": message });
        write!(text, "\n{entry}").unwrap();
        parent = Some(id.clone());
    }
    text.push('\n');
    std::fs::write(&path, text).unwrap();
    (folder, path)
}

fn find(said: &[(&str, &str)], words: &str) -> Vec<Hit> {
    let said: Vec<_> = said
        .iter()
        .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()))
        .collect();
    let (_folder, path) = session(&said);
    let session = Session::open(&path).unwrap();
    recall(&session, &Query::Text(words.to_owned()), 5).unwrap()
}

fn ids(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.entry.id.as_str()).collect()
}

#[test]
fn a_passage_is_the_same_whatever_the_numbers_of_its_lines() {
    let said = [
        ("a", "   12→let mut total = sum of all;\n   13→x"),
        ("b", "   47→let mut total = sum of all;\n   48→y"),
        ("c", "let mut total = sum of all; // but not here"),
    ];
    let hits = find(&said, "mut total = sum of");
    assert_eq!(ids(&hits), ["c", "b"]);
    assert!(hits[1].names(&EntryId::from("a")));
    assert_eq!(hits[1].others.same, Same::Passage);
}

#[test]
fn words_of_any_script_and_any_bytes_are_found() {
    let said = [
        ("a", "Straße nach KÖLN gesperrt"),
        ("b", "文件已经更新完毕"),
        ("c", "a \u{212a}elvin sign and İstanbul"),
        ("d", "tab\there and \"quotes\" \\ too"),
    ];
    for (words, id) in [
        ("straße NACH köln", "a"),
        ("已经更新", "b"),
        ("KELVIN sign", "c"),
        ("HERE and \"QUOTES\" \\", "d"),
        ("\u{212a}elvin", "c"),
    ] {
        assert_eq!(ids(&find(&said, words)), [id], "{words}");
    }
    assert!(find(&said, " ").is_empty());
}

/// A program may write any letter as an escape.
#[test]
fn letters_stored_as_escapes_are_found() {
    let (_folder, path) = session(&[("a".into(), "unremarkable words".into())]);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("words", "w\\u006frds")).unwrap();
    let session = Session::open(&path).unwrap();
    let hits = recall(&session, &Query::Text("words".into()), 5).unwrap();
    assert_eq!(ids(&hits), ["a"]);
}

#[test]
fn a_group_names_two_hundred_and_counts_the_rest() {
    let mut said: Vec<(String, String)> = (0..300)
        .map(|at| (format!("e{at:03}"), "the very same words again".to_owned()))
        .collect();
    // Thousands of places that differ do not displace a better one.
    said.extend((0..9_000).map(|at| (format!("f{at}"), format!("{at} the very same wordsmith"))));
    let (_folder, path) = session(&said);
    let session = Session::open(&path).unwrap();
    let hits = recall(&session, &Query::Text("the very same words".into()), 3).unwrap();
    assert_eq!(hits.len(), 3);
    assert_eq!(hits[0].entry.id.as_str(), "e299");
    assert_eq!((hits[0].others.count, hits[0].others.ids.len()), (299, 200));
    assert_eq!(hits[0].others.same, Same::Text);
    // What found no place among the hits is named or counted by the last one.
    let last = &hits[2].others;
    assert_eq!(last.same, Same::Words);
    assert_eq!((last.count, last.ids.len()), (8_998, 200));
}

#[test]
fn many_ids_come_at_once_in_the_order_asked_for() {
    let said = ["a", "ab", "abc"].map(|id| (id.to_owned(), format!("text of {id}")));
    let (_folder, path) = session(&said);
    let session = Session::open(&path).unwrap();
    let wanted = ["abc", "nowhere", "a"].map(EntryId::from).to_vec();
    let hits = recall(&session, &Query::Ids(wanted), 1).unwrap();
    assert_eq!(ids(&hits), ["abc", "a"]);
}
