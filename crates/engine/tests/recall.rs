//! Recall: what is found, in which order, and what a hit stands for.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::fmt::Write;
use std::path::PathBuf;

use longhaul_engine::recall::{Hit, Query, Quoting, Same, fenced, full_text, recall};
use longhaul_engine::survey::Keep;
use longhaul_redact::Redactor;
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
    recall(
        &session,
        &Keep::nowhere(),
        &Query::Text(words.to_owned()),
        5,
    )
    .unwrap()
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
fn a_letter_and_its_mark_are_found_in_one_character_or_two() {
    let said = [
        ("a", "the re\u{301}sume\u{301} is in the folder"),
        ("b", "the résumé is in the drawer"),
        ("c", "the resume is nowhere"),
    ];
    for words in ["the résumé is in", "THE RE\u{301}SUME\u{301} is in"] {
        assert_eq!(ids(&find(&said, words)), ["b", "a"], "{words}");
    }
}

#[test]
fn a_summary_is_found_by_its_words_behind_whoever_said_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    let time = "2026-03-01T10:00:00.000Z";
    let message = |id: &str, parent: Option<&str>, text: &str| {
        let message = json!({ "role": "user", "content": text, "timestamp": 1 });
        json!({ "type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message })
    };
    let summary = "The owner wants purple walrus icons. Never push on Fridays.";
    let lines = [
        json!({ "type": "session", "version": 3, "id": "s", "timestamp": time, "cwd": "/w" }),
        message("a", None, "never push on fridays, please"),
        message("b", Some("a"), "go on"),
        json!({ "type": "compaction", "id": "c", "parentId": "b", "timestamp": time,
                "summary": summary, "firstKeptEntryId": "b", "tokensBefore": 10 }),
        message("d", Some("c"), "last request"),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, text).unwrap();
    let session = Session::open(&path).unwrap();
    let find = |words: &str| {
        recall(
            &session,
            &Keep::nowhere(),
            &Query::Text(words.to_owned()),
            5,
        )
        .unwrap()
    };
    assert_eq!(ids(&find("owner wants purple walrus icons")), ["c"]);
    assert_eq!(ids(&find("Never push on Fridays")), ["a", "c"]);
}

#[test]
fn letters_stored_as_escapes_are_found() {
    let (_folder, path) = session(&[("a".into(), "unremarkable words".into())]);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("words", "w\\u006frds")).unwrap();
    let session = Session::open(&path).unwrap();
    let hits = recall(&session, &Keep::nowhere(), &Query::Text("words".into()), 5).unwrap();
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
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Text("the very same words".into()),
        3,
    )
    .unwrap();
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
    let hits = recall(&session, &Keep::nowhere(), &Query::Ids(wanted), 1).unwrap();
    assert_eq!(ids(&hits), ["abc", "a"]);
}

#[test]
fn words_are_found_whatever_their_punctuation_and_as_given_first() {
    let said = [
        (
            "a",
            "Hand in the purple ticket, before midnight, otherwise it lapses.",
        ),
        ("b", "purple ticket before midnight otherwise"),
        ("c", "purple «ticket» before\nmidnight: otherwise!"),
        ("d", "purple tickets before midnight otherwise"),
        ("e", "purple + ticket before midnight otherwise"),
    ];
    let hits = find(&said, "Purple ticket before midnight otherwise");
    assert_eq!(ids(&hits), ["b", "c", "a"]);
    assert!(hits[2].excerpt.contains("ticket, before"), "{hits:?}");
    // The other way round.
    let hits = find(&said, "ticket, before (midnight) \u{2014} otherwise");
    assert_eq!(ids(&hits), ["b", "e", "c", "a"]);
    // Signs are not punctuation, and what is left of `C#` is nothing to look for.
    let said = [
        ("a", "written in C++"),
        ("b", "written in C"),
        ("c", "a C# word"),
    ];
    assert_eq!(ids(&find(&said, "in C++")), ["a"]);
    assert_eq!(ids(&find(&said, "C#")), ["c"]);
    let said = [
        ("a", "| speed | 12 ms |\n| size | 4 kB |"),
        ("b", "│ speed │ 13 ms │"),
        ("c", "speed || 12 ms"),
    ];
    assert_eq!(ids(&find(&said, "speed 12 ms size")), ["a"]);
    assert_eq!(ids(&find(&said, "speed 13 ms")), ["b"]);
    let said = [("a", "文件，已经更新。"), ("b", "文件已经")];
    assert_eq!(ids(&find(&said, "文件、已经更新")), ["a"]);
}

/// A session of these messages; their ids are `e0`, `e1` and so on.
fn talk(messages: &[serde_json::Value]) -> (tempfile::TempDir, Session) {
    let (folder, path) = session(&[]);
    let mut text = std::fs::read_to_string(&path).unwrap();
    let mut parent = None;
    for (at, message) in messages.iter().enumerate() {
        let id = format!("e{at}");
        let entry = json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-01T10:00:00.000Z", "message": message });
        writeln!(text, "{entry}").unwrap();
        parent = Some(id);
    }
    std::fs::write(&path, text).unwrap();
    let session = Session::open(&path).unwrap();
    (folder, session)
}

fn asks(id: &str, says: &str, tool: &str, arguments: serde_json::Value) -> serde_json::Value {
    json!({ "role": "assistant", "timestamp": 1, "content": [
        { "type": "text", "text": says },
        { "type": "toolCall", "id": id, "name": tool, "arguments": arguments },
    ] })
}

fn brings(id: &str, tool: Option<&str>, text: &str) -> serde_json::Value {
    let mut message = json!({ "role": "toolResult", "toolCallId": id, "isError": false, "timestamp": 1,
        "content": [{ "type": "text", "text": text }] });
    if let Some(tool) = tool {
        message["toolName"] = tool.into();
    }
    message
}

#[test]
fn who_looks_back_does_not_find_the_looking() {
    let words = "narwhal config lives in /etc/narwhal";
    let asked = json!({ "text": words });
    let at = format!("{words}/config.toml");
    let quoted = format!("Quoted.\n{}", fenced("recalled", "entry e0", words));
    let messages = [
        json!({ "role": "user", "content": words, "timestamp": 1 }),
        asks("1", "Let me see.", "recall", asked.clone()),
        brings("1", Some("recall"), words),
        asks("2", "Once more.", "mcp__longhaul__recall", asked.clone()),
        brings("2", Some("mcp__longhaul__recall"), words),
        asks("3", words, "memory_search", json!({ "query": words })),
        // Not every program names the tool beside its result.
        brings("3", None, words),
        asks(
            "4",
            "Another server's.",
            "mcp__other__recall",
            asked.clone(),
        ),
        brings("4", Some("mcp__other__recall"), words),
        asks(
            "5",
            "And a file.",
            "recall",
            json!({ "path": "etc/narwhal/config.toml" }),
        ),
        brings("5", Some("recall"), &at),
        // Ours under a name that somebody chose: its marks tell.
        asks(
            "6",
            "By another name.",
            "mcp__notes__memory_search",
            json!({ "query": words }),
        ),
        brings("6", Some("mcp__notes__memory_search"), &quoted),
        asks("7", "And again.", "notes.recall", asked.clone()),
        brings("7", None, &quoted),
    ];
    let (_folder, session) = talk(&messages);
    let by = |query: Query| {
        let hits = recall(&session, &Keep::nowhere(), &query, 20).unwrap();
        let mut ids: Vec<String> = hits
            .iter()
            .flat_map(|hit| std::iter::once(&hit.entry.id).chain(&hit.others.ids))
            .map(ToString::to_string)
            .collect();
        ids.sort();
        ids
    };
    // What an agent says besides is found, and what others brought.
    let text = Query::Text(words.into());
    assert_eq!(by(text), ["e0", "e5", "e8"]);
    assert_eq!(by(Query::Text("Once more".into())), ["e3"]);
    assert_eq!(by(Query::Text("By another name".into())), ["e11"]);
    assert!(by(Query::Path("etc/narwhal/config.toml".into())).is_empty());
    // By its id everything is had.
    assert_eq!(by(Query::Id("e2".into())), ["e2"]);
}

#[test]
fn a_call_that_runs_is_not_found_with_whatever_is_said_beside_it() {
    let words = "the narwhal config lives in /etc/narwhal";
    let round = [
        asks("1", words, "recall", json!({ "text": words })),
        brings("other", Some("bash"), "a result of the same round"),
        brings("1", Some("recall"), "Nothing was found."),
    ];
    let found = |messages: &[serde_json::Value]| {
        let (_folder, session) = talk(messages);
        let hits = recall(&session, &Keep::nowhere(), &Query::Text(words.into()), 5).unwrap();
        hits.len()
    };
    assert_eq!(found(&round[..1]), 0);
    assert_eq!(found(&round[..2]), 0);
    assert_eq!(found(&round), 1);
    // A round that was broken off is over when somebody speaks again.
    let user = json!({ "role": "user", "content": "Go on.", "timestamp": 1 });
    assert_eq!(found(&[round[0].clone(), user]), 1);
}

#[test]
fn entries_come_back_to_the_byte_and_are_shown_without_their_secrets() {
    let key = format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0);
    let far = "words between. ".repeat(60);
    let said = format!("token {key}\n{far}the narwhal gate\n{far}and {key} again");
    let (_folder, path) = session(&[("a".into(), said.clone()), ("b".into(), key.clone())]);
    let session = Session::open(&path).unwrap();
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Range("a".into(), "b".into()),
        5,
    )
    .unwrap();
    assert_eq!(full_text(&hits[0].entry), said);
    let redactor = Redactor::default();
    let mut quoting = Quoting::new(&redactor);
    let hidden = |text: &str| text.replace(&key, "[redacted:github-token#1]");
    for hit in &hits {
        assert_eq!(quoting.text(&hit.entry), hidden(&full_text(&hit.entry)));
        assert_eq!(quoting.excerpt(hit), hidden(&hit.excerpt));
        assert_eq!(quoting.raw(&hit.entry), hidden(hit.entry.raw()));
    }
    assert!(quoting.has_left_out());
    // Nothing of it is in what stands around other words.
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Text("narwhal gate".into()),
        5,
    )
    .unwrap();
    let mut quoting = Quoting::new(&redactor);
    assert_eq!(quoting.excerpt(&hits[0]), hits[0].excerpt);
    assert!(!quoting.has_left_out());
}

#[test]
fn an_excerpt_that_cuts_through_a_secret_shows_nothing_of_it() {
    let line = |n: usize| format!("MIIEow{n}fQ2xLm4Tn8VwZa7Bq9Rk3Sj5Ud1Yp6");
    let lines: Vec<String> = (100..140).map(line).collect();
    let word = "PRIVATE KEY";
    let armour = lines.join("\n");
    let said =
        format!("-----BEGIN RSA {word}-----\n{armour}\n-----END RSA {word}-----\nthe narwhal key");
    let (_folder, path) = session(&[("a".into(), said)]);
    let session = Session::open(&path).unwrap();
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Text("narwhal key".into()),
        5,
    )
    .unwrap();
    assert!(hits[0].excerpt.contains("MIIEow139"), "{}", hits[0].excerpt);
    let redactor = Redactor::default();
    let shown = Quoting::new(&redactor).excerpt(&hits[0]);
    assert!(shown.contains("the narwhal key"), "{shown}");
    assert!(!shown.contains("Lm4Tn8VwZa7Bq9"), "{shown}");
}

#[test]
fn a_secret_that_another_entry_gives_away_is_not_shown() {
    let secret = "Tr0ub4dor&DLvKKL";
    let used = format!("I logged in with {secret} before breakfast.");
    let told = format!("The password for the shop is {secret}");
    let (_folder, path) = session(&[("a".into(), used.clone()), ("b".into(), told)]);
    let session = Session::open(&path).unwrap();
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Text("before breakfast".into()),
        5,
    )
    .unwrap();
    assert_eq!(ids(&hits), ["a"]);
    let redactor = Redactor::default();
    let mut quoting = Quoting::new(&redactor);
    quoting.learn(&hits).unwrap();
    let hidden = |text: &str| text.replace(secret, "[redacted:password#1]");
    assert_eq!(quoting.excerpt(&hits[0]), hidden(&hits[0].excerpt));
    assert_eq!(quoting.text(&hits[0].entry), hidden(&used));
    assert_eq!(quoting.raw(&hits[0].entry), hidden(hits[0].entry.raw()));
    assert!(quoting.has_left_out());
}

#[test]
fn what_the_model_thought_is_had_back_by_id_and_by_its_words() {
    let long = "and so on ".repeat(60);
    let thought = "The worker holds the advisory lock while it waits for the ack.";
    let thought = format!("{long}{thought}");
    let messages = [
        json!({ "role": "user", "timestamp": 1, "content": "Why does the queue stall?" }),
        json!({ "role": "assistant", "timestamp": 1, "content": [
            { "type": "thinking", "thinking": thought, "thinkingSignature": "sig" },
        ] }),
        json!({ "role": "assistant", "timestamp": 1, "content": [
            { "type": "thinking", "thinking": "Say it. GITHUB_TOKEN=ghp_u8mxQ1TLEij4d8xI6DAbCdEfGh12345678XyZw" },
            { "type": "text", "text": "Two workers wait for the ack of each other." },
        ] }),
    ];
    let (_folder, session) = talk(&messages);
    let find =
        |words: &str| recall(&session, &Keep::nowhere(), &Query::Text(words.into()), 5).unwrap();
    let hits = find("while it waits for the ack");
    assert_eq!(ids(&hits), ["e1"]);
    let excerpt = &hits[0].excerpt;
    assert!(excerpt.starts_with("[thinking]\n"), "{excerpt}");
    assert!(
        excerpt.ends_with("lock while it waits for the ack."),
        "{excerpt}"
    );
    assert!(
        find("wait for the ack of each other")[0]
            .excerpt
            .starts_with("Two workers")
    );
    // As it is shown, it can be quoted.
    assert_eq!(ids(&find("of each other. [thinking] Say it.")), ["e2"]);
    let redactor = Redactor::default();
    let mut quoting = Quoting::new(&redactor);
    let text = |id: &str| {
        recall(&session, &Keep::nowhere(), &Query::Id(id.into()), 1)
            .unwrap()
            .remove(0)
    };
    assert_eq!(
        quoting.text(&text("e1").entry),
        format!("[thinking]\n{thought}")
    );
    let both = quoting.text(&text("e2").entry);
    assert_eq!(
        both,
        "Two workers wait for the ack of each other.\n\n\
         [thinking]\nSay it. GITHUB_TOKEN=[redacted:github-token#1]"
    );
}

#[test]
fn a_file_is_found_in_what_tools_brought_behind_all_else_that_names_it() {
    let messages = [
        brings("1", Some("bash"), "M src/tides.rs\nM src/other.rs"),
        json!({ "role": "user", "timestamp": 1, "content": "Look at src/tides.rs, please." }),
        asks("2", "", "read", json!({ "path": "src/tides.rs" })),
        brings("2", Some("read"), "fn main() {}"),
        asks("3", "", "recall", json!({ "path": "src/tides.rs" })),
        brings("3", Some("recall"), "what was said of src/tides.rs"),
        brings("4", Some("grep"), "old/src/tides.rs.bak:3"),
    ];
    let (_folder, session) = talk(&messages);
    let hits = recall(
        &session,
        &Keep::nowhere(),
        &Query::Path("src/tides.rs".into()),
        9,
    )
    .unwrap();
    assert_eq!(ids(&hits), ["e2", "e1", "e6", "e0"]);
    let one = recall(
        &session,
        &Keep::nowhere(),
        &Query::Path("src/tides.rs".into()),
        1,
    )
    .unwrap();
    assert_eq!(ids(&one), ["e2"]);
}
