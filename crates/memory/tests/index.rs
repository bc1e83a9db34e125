//! The index at its public seam.

#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use longhaul_memory::{
    Budget, Encoder, EncoderKind, Filters, IndexError, IndexSettings, Indexer, Indexing,
    MemoryIndex, Mode, Query, Record, RecordKind, RemoteEncoder, SearchSettings, SqliteIndex,
    WorkspaceFiles,
};
use longhaul_transcript::Millis;
use proptest::prelude::*;
use tempfile::TempDir;

fn said(session: &str, entry: &str, position: u64, text: &str) -> Record {
    Record {
        kind: RecordKind::Transcript,
        source: session.into(),
        entry: entry.into(),
        role: Some(String::from("user")),
        time: Some(Millis(position as i64 * 60_000)),
        position,
        text: text.into(),
    }
}

fn fill(index: &mut SqliteIndex, records: &[Record]) {
    index
        .update(&mut records.iter().cloned(), Budget::default(), &mut |_| {})
        .unwrap();
}

fn memory() -> SqliteIndex {
    SqliteIndex::in_memory(IndexSettings::default()).unwrap()
}

fn keys(index: &mut SqliteIndex, query: &Query) -> Vec<String> {
    let hits = index.search(query).unwrap().hits;
    hits.iter().map(longhaul_memory::Hit::key).collect()
}

fn on_disk(folder: &TempDir) -> SqliteIndex {
    SqliteIndex::open(&folder.path().join("main.sqlite"), IndexSettings::default()).unwrap()
}

#[test]
fn words_are_found_in_other_forms_and_styles() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "We retried the connections to the cluster"),
            said("s", "b", 100, "rename userSegmentTags please"),
            said("t", "c", 1, "我的上司是银行的行长。"),
            said(
                "u",
                "d",
                1,
                "Wir haben uns gegen die Datenbanken entschieden und das ist gut so",
            ),
        ],
    );
    assert_eq!(keys(&mut index, &Query::new("connection retry"))[0], "s#a");
    assert_eq!(keys(&mut index, &Query::new("user_segment_tags"))[0], "s#b");
    assert_eq!(keys(&mut index, &Query::new("银行"))[0], "t#c");
    assert_eq!(keys(&mut index, &Query::new("Datenbank"))[0], "u#d");
}

#[test]
fn versions_names_and_spellings_are_found_as_people_write_them() {
    let mut index = memory();
    let texts = [
        ("number", "number 2 of the list, then 4 and 1 again"),
        ("version", "the fix is in v2.4.1 since May"),
        ("tags", "read userSegmentTags first"),
        ("joined", "the tidalwavecounters come later"),
        ("street", "Die Wohnung in der Straße ist klein"),
        ("tree", "Ёлка стоит в углу"),
        ("node", "it runs on node.js only"),
        ("plain", "the nextjs pages are old"),
    ];
    fill(
        &mut index,
        &texts.map(|(name, text)| said(name, "a", 1, text)),
    );
    for (query, name) in [
        ("2.4.1", "version"),
        ("v2.4.1", "version"),
        ("usersegmenttags", "tags"),
        ("userSegmentTags", "tags"),
        ("tidalWaveCounters", "joined"),
        ("strasse", "street"),
        ("STRASSE", "street"),
        ("елка", "tree"),
        ("ёлки", "tree"),
        ("nodejs", "node"),
        ("node.js", "node"),
        ("Next.js", "plain"),
    ] {
        let found = keys(&mut index, &Query::new(query));
        assert_eq!(
            found.first().map(String::as_str),
            Some(&*format!("{name}#a")),
            "{query}"
        );
    }
}

#[test]
fn a_hit_tells_where_it_is_and_why() {
    let mut index = memory();
    fill(
        &mut index,
        &[Record::file(
            RecordKind::Memory,
            "memories/errors.md",
            "# Errors\n\nthe deploy fails without TIDE-6943\n",
        )],
    );
    let hits = index
        .search(&Query::new("why does the deploy fail?"))
        .unwrap();
    let hit = &hits.hits[0];
    assert_eq!(
        (hit.source.as_str(), hit.lines),
        ("memories/errors.md", (1, 3))
    );
    assert_eq!(hit.why.terms, ["deploy", "fail"]);
    assert_eq!(hit.why.vector, None);
    assert_eq!(hits.model, None);
}

#[test]
fn an_answer_is_found_by_the_question_before_it() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "q", 1, "Which port does the staging proxy listen on?"),
            said("s", "a", 2, "It is 8443."),
            said("s", "x", 3000, "Lunch at noon."),
        ],
    );
    assert_eq!(
        keys(&mut index, &Query::new("staging proxy port")),
        ["s#q", "s#a"]
    );
}

#[test]
fn a_text_without_a_word_of_the_query_comes_behind_what_it_stands_beside() {
    let answered = |entry: &str, at, text: &str| Record {
        role: Some(String::from("assistant")),
        ..said("s", entry, at, text)
    };
    let records = [
        answered(
            "first",
            1,
            "The worker needs the purple ticket before midnight.",
        ),
        said("s", "ok", 2, "ok"),
        answered("again", 3, "To repeat: a purple ticket, before midnight."),
        said("s", "thanks", 4, "thanks"),
    ];
    let scores = scores(&records, "purple ticket", SearchSettings::default());
    let order: Vec<&str> = scores.iter().map(|(entry, _)| entry.as_str()).collect();
    assert_eq!(order[..2], ["again", "first"]);
    assert!(score_of(&scores, "ok") < score_of(&scores, "first"));
}

#[test]
fn of_two_questions_each_leads_to_what_is_said_elsewhere_of_its_matter() {
    let hours_apart = |entry: &str, at: u64, text: &str| said("s", entry, at * 600, text);
    let mut records = vec![
        hours_apart("age", 1, "Marguerite turned 36 in spring"),
        hours_apart("law", 2, "Marguerite studied law in Lyon"),
    ];
    let lanterns = (0..8).map(|number| {
        let text = format!(
            "the autumn lantern festival with music and boats at pier {number} costs nothing"
        );
        hours_apart(&format!("pier {number}"), 10 + number, &text)
    });
    records.extend(lanterns);
    let others = (0..60).map(|number| {
        let text = "a note about paint";
        hours_apart(&format!("note {number}"), 30 + number, text)
    });
    records.extend(others);
    let mut index = memory();
    fill(&mut index, &records);
    let query = Query {
        k: 20,
        ..Query::new(
            "What does the autumn lantern festival with music and boats at the pier cost? Who turned 36?",
        )
    };
    let found = keys(&mut index, &query);
    assert!(found.contains(&String::from("s#law")), "{found:?}");
}

/// The score of each entry that a search finds.
fn scores(records: &[Record], query: &str, search: SearchSettings) -> Vec<(String, f32)> {
    let mut index = memory();
    index.use_search(search);
    fill(&mut index, records);
    let hits = index.search(&Query::new(query)).unwrap().hits;
    hits.into_iter().map(|hit| (hit.entry, hit.score)).collect()
}

fn score_of(scores: &[(String, f32)], entry: &str) -> f32 {
    scores.iter().find(|(name, _)| name == entry).unwrap().1
}

#[test]
fn the_answer_comes_not_far_behind_its_question_and_what_others_said_does() {
    let mut answer = said("s", "answer", 2, "Thirty, since the upgrade.");
    answer.role = Some(String::from("assistant"));
    let records = [
        said("s", "before", 0, "Good morning to all."),
        said("s", "question", 1, "How many lanterns hang in the harbour?"),
        answer,
        said("s", "after", 3, "Thank you."),
    ];
    let with = |exchange| SearchSettings {
        beside: 0.1,
        feedback: 0.0,
        exchange,
        ..SearchSettings::default()
    };
    let query = "lanterns in the harbour";
    let ratio = |exchange, entry| {
        let scores = scores(&records, query, with(exchange));
        score_of(&scores, entry) / score_of(&scores, "question")
    };
    assert!(ratio(0.0, "answer") < 0.2);
    assert!((ratio(0.6, "answer") - 0.6).abs() < 1e-3);
    assert!(ratio(0.6, "before") < 0.2);
}

#[test]
fn a_text_with_more_of_the_query_gains_on_one_that_repeats_a_word() {
    let records = [
        said("a", "repeats", 1, "harbour harbour harbour harbour harbour"),
        said("b", "has both", 1, "the harbour has lanterns and boats"),
        said("c", "neither", 1, "something about the weather"),
    ];
    let with = |coverage| SearchSettings {
        coverage,
        ..SearchSettings::default()
    };
    let lead = |coverage| {
        let scores = scores(&records, "harbour lanterns", with(coverage));
        score_of(&scores, "has both") / score_of(&scores, "repeats")
    };
    assert!(lead(0.4) > lead(0.0));
}

#[test]
fn what_is_said_elsewhere_of_the_same_thing_is_found_by_its_name() {
    let hours_apart = |entry: &str, at: u64, text: &str| said("s", entry, at * 600, text);
    let mut index = memory();
    fill(
        &mut index,
        &[
            hours_apart("a", 1, "Marguerite turned 36 in spring"),
            hours_apart("b", 2, "the printer is out of toner"),
            hours_apart("c", 3, "Marguerite studied law in Lyon"),
            hours_apart("d", 4, "lunch is at noon on Fridays"),
            hours_apart("e", 5, "the roof was mended"),
            hours_apart("f", 6, "parking is free on Sundays"),
        ],
    );
    let query = Query::new("who turned 36?");
    assert_eq!(keys(&mut index, &query), ["s#a", "s#c"]);
    let mut hits = index.search(&query).unwrap().hits;
    assert!(hits[1].score < hits[0].score / 2.0);
    assert!(hits.remove(1).why.terms.is_empty());
}

#[test]
fn filters_leave_out_what_does_not_pass() {
    let mut index = memory();
    let mut assistant = said("s", "b", 2, "the cache is cold");
    assistant.role = Some(String::from("assistant"));
    fill(
        &mut index,
        &[
            said("s", "a", 1, "the cache is warm"),
            assistant,
            said("t", "c", 500, "the cache is broken"),
            Record::file(RecordKind::Memory, "memories/context.md", "cache"),
            Record::file(RecordKind::Dream, "DREAMS.md", "cache"),
        ],
    );
    let mut find = |filters: Filters| {
        let mut keys = keys(
            &mut index,
            &Query {
                filters,
                ..Query::new("cache")
            },
        );
        keys.sort();
        keys
    };
    let none = Filters::default();
    assert_eq!(
        find(none.clone()),
        ["memories/context.md", "s#a", "s#b", "t#c"]
    );
    assert_eq!(
        find(Filters {
            sessions: vec!["t".into()],
            ..none.clone()
        }),
        ["t#c"]
    );
    assert_eq!(
        find(Filters {
            roles: vec!["Assistant".into()],
            ..none.clone()
        }),
        ["s#b"]
    );
    assert_eq!(
        find(Filters {
            paths: vec!["memories".into()],
            ..none.clone()
        }),
        ["memories/context.md"]
    );
    assert_eq!(
        find(Filters {
            paths: vec!["memo".into()],
            ..none.clone()
        }),
        [""; 0]
    );
    assert_eq!(
        find(Filters {
            kinds: vec![RecordKind::Dream],
            ..none.clone()
        }),
        ["DREAMS.md"]
    );
    assert_eq!(
        find(Filters {
            since: Some(Millis(120_000)),
            until: Some(Millis(600_000)),
            ..none
        }),
        ["s#b"]
    );
}

#[test]
fn what_has_not_changed_is_not_written_again() {
    let folder = TempDir::new().unwrap();
    let mut index = on_disk(&folder);
    let records = [said("s", "a", 1, "one"), said("s", "b", 2, "two")];
    fill(&mut index, &records);
    let mut changed = records.clone();
    changed[1].text = String::from("three");
    let done = index
        .update(&mut changed.iter().cloned(), Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!((done.written, done.unchanged), (1, 1));
    assert!(
        keys(
            &mut index,
            &Query {
                mode: Mode::Words,
                ..Query::new("two")
            }
        )
        .is_empty()
    );
    assert_eq!(index.get("s#b", None).unwrap().unwrap().text, "three");
    assert_eq!(index.remove("s").unwrap(), 2);
    assert_eq!(index.status().unwrap().chunks, 0);
}

#[test]
fn an_update_rests_at_its_budget_and_goes_on() {
    let mut index = memory();
    let records: Vec<Record> = (0..10)
        .map(|at| said("s", &at.to_string(), at, &format!("text number {at}")))
        .collect();
    let mut rounds = 0;
    loop {
        let done = index
            .update(
                &mut records.iter().cloned(),
                Budget { bytes: 30 },
                &mut |_| {},
            )
            .unwrap();
        rounds += 1;
        if !done.exhausted {
            break;
        }
    }
    assert_eq!((rounds > 2, index.status().unwrap().records), (true, 10));
}

#[test]
fn an_update_of_several_transactions_takes_all_in_and_tells_of_each() {
    const RECORDS: u64 = 9_001;
    let records: Vec<Record> = (0..RECORDS)
        .map(|at| said("s", &format!("e{at}"), at, &format!("ticket number{at}")))
        .collect();
    let mut index = memory();
    let mut told = Vec::new();
    let done = index
        .update(
            &mut records.iter().cloned(),
            Budget::default(),
            &mut |progress| told.push(progress.written),
        )
        .unwrap();
    assert_eq!((done.seen, done.written), (RECORDS, RECORDS));
    assert!(told.len() > 2 && told.is_sorted(), "{told:?}");
    assert_eq!(told.last(), Some(&RECORDS));
    for at in [0, 4_000, 8_000, 9_000] {
        let query = Query::new(format!("number{at}"));
        assert_eq!(keys(&mut index, &query)[0], format!("s#e{at}"));
    }
}

#[test]
fn what_was_taken_out_is_not_found_and_what_came_after_is() {
    let mut index = memory();
    fill(&mut index, &[said("s", "a", 1, "the walrus sleeps")]);
    fill(&mut index, &[said("t", "b", 1, "the walrus swims")]);
    assert_eq!(index.remove("s").unwrap(), 1);
    fill(&mut index, &[said("u", "c", 1, "the walrus, the walrus")]);
    assert_eq!(keys(&mut index, &Query::new("walrus")), ["u#c", "t#b"]);
}

#[test]
fn lines_are_got_of_a_text_of_many_pieces() {
    let mut index = memory();
    let text: String = (1..=20_000)
        .map(|number| format!("line {number} of the log\n"))
        .collect();
    fill(
        &mut index,
        &[Record::file(
            RecordKind::Memory,
            "memories/log.md",
            text.as_str(),
        )],
    );
    let passage = index
        .get("memories/log.md", Some((12_345, 12_346)))
        .unwrap()
        .unwrap();
    assert_eq!(
        passage.text,
        "line 12345 of the log\nline 12346 of the log\n"
    );
    assert_eq!((passage.lines, passage.of), ((12_345, 12_346), 20_000));
    assert_eq!(
        index.get("memories/log.md", None).unwrap().unwrap().text,
        text
    );
    let hits = index.search(&Query::new("line 17777")).unwrap();
    assert!(hits.hits[0].text.contains("line 17777 of"));
    assert_eq!(index.get("nothing", None).unwrap(), None);
}

#[test]
fn secrets_do_not_reach_the_file() {
    let folder = TempDir::new().unwrap();
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2));
    let mut index = on_disk(&folder);
    fill(
        &mut index,
        &[said("s", "a", 1, &format!("push with {token}"))],
    );
    assert!(
        index
            .get("s#a", None)
            .unwrap()
            .unwrap()
            .text
            .contains("[redacted:")
    );
    drop(index);
    for file in fs::read_dir(folder.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        let lower = token.to_lowercase();
        for needle in [token.as_bytes(), lower.as_bytes()] {
            assert!(!bytes.windows(needle.len()).any(|window| window == needle));
        }
    }
}

#[test]
fn a_chinese_character_is_found_in_every_pair_and_a_quotation_comes_first() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "我的上司是银行的行长。"),
            said("t", "b", 1, "火车十点出发"),
            said("u", "c", 1, "长桥在行人路的另一边"),
            said("v", "d", 1, "Rust 好的书"),
        ],
    );
    for (query, wanted) in [
        ("行", vec!["s#a", "u#c"]),
        ("桥", vec!["u#c"]),
        ("发", vec!["t#b"]),
    ] {
        // Others have words of the best ones, not of the query.
        let hits = index.search(&Query::new(query)).unwrap().hits;
        let having = hits.iter().filter(|hit| !hit.why.terms.is_empty());
        let mut found: Vec<String> = having.map(longhaul_memory::Hit::key).collect();
        found.sort();
        assert_eq!(found, wanted, "{query}");
    }
    assert_eq!(keys(&mut index, &Query::new("银行的行长"))[0], "s#a");
    assert_eq!(keys(&mut index, &Query::new("rust 好"))[0], "v#d");
    // Taken out, its pairs are gone too.
    assert_eq!(index.remove("t").unwrap(), 1);
    assert_eq!(keys(&mut index, &Query::new("火车")), Vec::<String>::new());
}

#[test]
fn among_more_candidates_a_hit_that_repeats_none_is_found() {
    let mut index = memory();
    let mut texts: Vec<Record> = (0..12)
        .map(|at| {
            let text = format!("the harbour pilot boards ships at dawn, copy {at}");
            Record::file(RecordKind::Memory, format!("copies/{at:02}.md"), text)
        })
        .collect();
    texts.push(Record::file(
        RecordKind::Memory,
        "other.md",
        "every harbour pilot of the eastern coast was asked to leave ships alone in the fog, \
         which nobody had foreseen when the charts were drawn and the lights were set",
    ));
    fill(&mut index, &texts);
    let query = Query {
        k: 2,
        ..Query::new("harbour pilot ships")
    };
    let mut found = |candidates: u32| {
        index.use_search(SearchSettings {
            candidates,
            ..SearchSettings::default()
        });
        keys(&mut index, &query).contains(&"other.md".to_owned())
    };
    assert_eq!([found(1), found(4)], [false, true]);
}

#[test]
fn a_damaged_index_is_set_aside_and_made_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    fs::write(
        &path,
        b"this is no database, but it is long enough to be looked at as one",
    )
    .unwrap();
    let mut index = on_disk(&folder);
    let aside = index.set_aside().unwrap().to_owned();
    assert!(aside.ends_with("main.sqlite.corrupt-1"));
    assert!(fs::read(aside).unwrap().starts_with(b"this is no"));
    fill(&mut index, &[said("s", "a", 1, "one")]);
    assert_eq!(keys(&mut index, &Query::new("one")), ["s#a"]);
}

/// Texts that do not repeat each other, some 400 bytes each.
fn many(count: u64) -> Vec<Record> {
    let text = |at: u64| {
        let word = |n: u64| format!("w{:x}", (at * 64 + n).wrapping_mul(0x9e37_79b9) >> 12);
        let words: Vec<String> = (0..48).map(word).collect();
        format!("text number {at} says {}", words.join(" "))
    };
    (0..count)
        .map(|at| said("s", &at.to_string(), at, &text(at)))
        .collect()
}

#[test]
fn pages_overwritten_are_met_once_and_the_index_is_made_anew() {
    let folder = TempDir::new().unwrap();
    let whole = folder.path().join("whole.sqlite");
    let records = many(1_000);
    let mut index = SqliteIndex::open(&whole, IndexSettings::default()).unwrap();
    fill(&mut index, &records);
    drop(index);
    let whole = fs::read(&whole).unwrap();
    assert!(whole.len() > 600_000, "{}", whole.len());
    let mut mended = 0;
    for at in (50_000..whole.len() - 96_000).step_by(90_000) {
        let path = folder.path().join(format!("{at}.sqlite"));
        let mut bytes = whole.clone();
        for (n, byte) in bytes[at..at + 96_000].iter_mut().enumerate() {
            *byte = (n * 31 % 251) as u8;
        }
        fs::write(&path, bytes).unwrap();
        let mut index = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
        let hits = index.search(&Query::new("text number 700 says")).unwrap();
        let told = hits.notes.iter().any(|note| note.contains("was damaged"));
        let mut update =
            || index.update(&mut records.iter().cloned(), Budget::default(), &mut |_| {});
        match update() {
            Err(IndexError::Replaced { aside, .. }) => {
                assert!(aside.is_some_and(|aside| aside.exists()));
                update().unwrap();
            }
            done => drop(done.unwrap()),
        }
        if let Some(aside) = index.set_aside() {
            mended += 1;
            assert!(aside.ends_with(format!("{at}.sqlite.corrupt-1")), "{at}");
            assert_eq!(index.status().unwrap().records, 1_000, "{at}");
            let found = keys(&mut index, &Query::new(&records[700].text[..60]));
            assert_eq!(found[0], "s#700", "{at}");
        } else {
            assert!(!told, "{at}");
        }
        drop(index);
        let second = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
        assert_eq!(second.set_aside(), None, "{at}");
    }
    assert!(mended > 3, "{mended}");
}

#[test]
fn files_are_indexed_in_one_go_where_the_index_turns_out_damaged() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let root = folder.path().join("workspace");
    for (at, record) in many(600).iter().enumerate() {
        write(&root, &format!("memory/{at}.md"), &record.text);
    }
    let files = WorkspaceFiles::new(&root);
    let mut index = on_disk(&folder);
    files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    // Every page but the first, under an index that is open.
    let other = rusqlite::Connection::open(&path).unwrap();
    other
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    drop((other, index));
    let mut index = on_disk(&folder);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        .unwrap();
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!(synced.progress.written, 600);
    assert!(synced.notes[0].contains("was damaged"), "{synced:?}");
    assert!(index.set_aside().unwrap().exists());
    assert_eq!(index.status().unwrap().records, 600);
}

#[test]
fn a_damaged_index_that_two_use_is_set_aside_once_and_both_go_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let records = many(300);
    let mut one = on_disk(&folder);
    fill(&mut one, &records);
    drop(one);
    let mut one = on_disk(&folder);
    let mut two = on_disk(&folder);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, &bytes))
        .unwrap();
    let hits = one.search(&Query::new("text")).unwrap();
    assert!(hits.notes[0].contains("was damaged"), "{hits:?}");
    fill(&mut one, &records);
    let found = keys(&mut two, &Query::new("text number 17 says"));
    assert_eq!(found.len(), 6);
    fill(&mut two, &[said("t", "new", 1, "a pelican")]);
    assert_eq!(keys(&mut one, &Query::new("pelican"))[0], "t#new");
    assert!(!folder.path().join("main.sqlite.corrupt-2").exists());
}

#[test]
fn a_newer_layout_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    drop(on_disk(&folder));
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let error = SqliteIndex::open(&path, IndexSettings::default())
        .err()
        .unwrap();
    assert!(
        matches!(error, IndexError::Newer { found: 99, .. }),
        "{error}"
    );
    assert!(path.exists());
}

#[test]
fn a_locked_index_is_told_and_still_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let settings = IndexSettings {
        patience: Duration::from_millis(50),
        ..IndexSettings::default()
    };
    let mut index = SqliteIndex::open(&path, settings).unwrap();
    fill(&mut index, &[said("s", "a", 1, "one")]);
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refused = index.update(
        &mut [said("s", "b", 2, "two")].into_iter(),
        Budget::default(),
        &mut |_| {},
    );
    assert!(matches!(refused, Err(IndexError::Busy { .. })));
    assert_eq!(keys(&mut index, &Query::new("one")), ["s#a"]);
    other.execute_batch("ROLLBACK").unwrap();
    fill(&mut index, &[said("s", "b", 2, "two")]);
    assert_eq!(keys(&mut index, &Query::new("two"))[0], "s#b");
}

#[test]
fn two_writers_lose_nothing_and_a_reader_sees_both() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let mut reader = on_disk(&folder);
    std::thread::scope(|scope| {
        for session in ["left", "right"] {
            let path = &path;
            scope.spawn(move || {
                let mut index = SqliteIndex::open(path, IndexSettings::default()).unwrap();
                for at in 0..40 {
                    fill(
                        &mut index,
                        &[said(
                            session,
                            &at.to_string(),
                            at,
                            &format!("{session} says {at}"),
                        )],
                    );
                }
            });
        }
    });
    assert_eq!(reader.status().unwrap().records, 80);
    assert_eq!(keys(&mut reader, &Query::new("left 17"))[0], "left#17");
    assert_eq!(keys(&mut reader, &Query::new("right 39"))[0], "right#39");
}

#[test]
fn who_has_an_index_open_sees_it_made_anew() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let mut open = on_disk(&folder);
    fill(&mut open, &[said("s", "a", 1, "one")]);
    assert_eq!(keys(&mut open, &Query::new("one")), ["s#a"]);
    let mut fresh = SqliteIndex::rebuild(&path, IndexSettings::default()).unwrap();
    assert_eq!(fresh.set_aside(), None);
    fill(&mut fresh, &[said("t", "b", 1, "two")]);
    assert!(keys(&mut open, &Query::new("one")).is_empty());
    assert_eq!(keys(&mut open, &Query::new("two")), ["t#b"]);
    fill(&mut open, &[said("s", "c", 2, "three")]);
    assert_eq!(keys(&mut fresh, &Query::new("three")), ["s#c"]);
}

#[test]
fn what_is_taken_out_or_rebuilt_gives_its_room_back() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let free = || -> (i64, i64) {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let number = |pragma: &str| {
            connection
                .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
                .unwrap()
        };
        (number("freelist_count"), number("page_count"))
    };
    let records = many(600);
    let mut index = on_disk(&folder);
    fill(&mut index, &records);
    let mut half = records.clone();
    for record in &mut half[..400] {
        record.source = String::from("t");
    }
    fill(&mut index, &half[..400]);
    let (_, full) = free();
    index.remove("s").unwrap();
    let (unused, left) = free();
    assert!(unused * 5 <= left && left < full, "{unused} {left} {full}");
    let found = keys(&mut index, &Query::new(&records[17].text[..60]));
    assert_eq!(found[0], "t#17");
    drop(SqliteIndex::rebuild(&path, IndexSettings::default()).unwrap());
    let (unused, left) = free();
    assert!(unused * 5 <= left.max(64) && left < 64, "{unused} {left}");
}

#[test]
fn rebuilds_beside_writers_leave_one_whole_index() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    drop(on_disk(&folder));
    std::thread::scope(|scope| {
        for session in ["left", "right"] {
            let path = &path;
            scope.spawn(move || {
                for at in 0..10 {
                    drop(SqliteIndex::rebuild(path, IndexSettings::default()).unwrap());
                    let mut index = SqliteIndex::open(path, IndexSettings::default()).unwrap();
                    fill(&mut index, &[said(session, "a", at, "something said")]);
                    index.search(&Query::new("said")).unwrap();
                }
            });
        }
    });
    let mut index = on_disk(&folder);
    fill(&mut index, &[said("last", "a", 1, "the last word")]);
    assert_eq!(keys(&mut index, &Query::new("last word"))[0], "last#a");
    let checked: String = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(checked, "ok");
    let names = fs::read_dir(folder.path()).unwrap();
    let aside = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().contains("corrupt")
    });
    assert_eq!(aside.count(), 0);
}

/// A model that knows three things.
struct Toy(&'static str);

impl Encoder for Toy {
    fn id(&self) -> &str {
        self.0
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        3
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let about =
            |text: &str, words: &[&str]| f32::from(words.iter().any(|word| text.contains(word)));
        let vector = |text: &&str| {
            vec![
                about(text, &["dog", "puppy"]),
                about(text, &["car", "engine"]),
                0.1,
            ]
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn meaning_finds_what_words_do_not_and_models_are_not_mixed() {
    let mut index = memory();
    fill(
        &mut index,
        &[
            said("s", "a", 1, "the puppy sleeps"),
            said("t", "b", 1, "the engine hums"),
            said("u", "c", 1, "the rain falls"),
        ],
    );
    assert!(keys(&mut index, &Query::new("dog")).is_empty());
    index.use_encoder(Some(Arc::new(Toy("toy@1"))));
    let hits = index.search(&Query::new("dog")).unwrap();
    assert_eq!(hits.model, None);
    assert_eq!(
        hits.notes,
        ["no chunk has a vector of toy@1 yet: words alone"]
    );
    assert_eq!(index.embed(1, &mut |_, _| {}).unwrap(), 2);
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    let hits = index.search(&Query::new("dog")).unwrap();
    assert_eq!(
        (hits.hits[0].key().as_str(), hits.model.as_deref()),
        ("s#a", Some("toy@1"))
    );
    assert_eq!(hits.hits[0].why.vector, Some(1.0));
    index.use_encoder(Some(Arc::new(Toy("toy@2"))));
    assert_eq!(index.status().unwrap().vectors, 0);
    assert_eq!(index.search(&Query::new("dog")).unwrap().model, None);
}

/// The vector of a text.
type Vector = fn(&str) -> Vec<f32>;

/// An endpoint that answers each text with the vector that `of` gives.
fn remote(of: Vector) -> Result<RemoteEncoder, IndexError> {
    let embed = move |texts: &[&str]| Ok(texts.iter().map(|text| of(text)).collect());
    RemoteEncoder::connect("http://there", "toy", Box::new(embed))
}

#[test]
fn vectors_of_another_length_under_the_same_name_are_made_anew() {
    let mut index = memory();
    let texts = ["one", "two", "three"];
    fill(&mut index, &texts.map(|text| said(text, "a", 1, text)));
    index.use_encoder(Some(Arc::new(remote(|_| vec![0.5; 8]).unwrap())));
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    index.use_encoder(Some(Arc::new(remote(|_| vec![0.5; 4]).unwrap())));
    assert_eq!(index.status().unwrap().vectors, 0);
    assert_eq!(index.embed(1, &mut |_, _| {}).unwrap(), 2);
    assert_eq!(index.embed(u64::MAX, &mut |_, _| {}).unwrap(), 0);
    assert_eq!(index.status().unwrap().vectors, 3);
    let hits = index.search(&Query::new("one")).unwrap();
    assert_eq!(hits.notes, [""; 0]);
    assert_eq!(hits.model.as_deref(), Some("toy@http://there"));
}

#[test]
fn vectors_without_a_direction_are_refused_from_an_endpoint() {
    let refused = |of: Vector| match remote(of) {
        Err(error) => error.to_string(),
        Ok(encoder) => {
            let mut index = memory();
            fill(&mut index, &[said("s", "a", 1, "the rain falls")]);
            index.use_encoder(Some(Arc::new(encoder)));
            let error = index.embed(u64::MAX, &mut |_, _| {}).unwrap_err();
            assert_eq!(index.status().unwrap().vectors, 0);
            error.to_string()
        }
    };
    let cases: [(Vector, &str); 4] = [
        (|_| vec![0.0, 0.0], "all zeros"),
        (|_| vec![1.0, f32::NAN], "no number"),
        (|_| vec![3e38, 3e38], "too large"),
        (
            |text| match text.contains("rain") {
                true => vec![0.0, 0.0],
                false => vec![1.0, 0.0],
            },
            "all zeros",
        ),
    ];
    for (of, why) in cases {
        let said = refused(of);
        assert!(
            said.starts_with("the model toy@http://there failed: "),
            "{said}"
        );
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn as_many_hits_come_as_are_wanted_and_none_at_all_for_none() {
    let mut index = memory();
    fill(
        &mut index,
        &[said("s", "a", 1, "one two"), said("t", "b", 1, "one three")],
    );
    for (wanted, found) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
        let query = Query {
            k: wanted,
            ..Query::new("one")
        };
        assert_eq!(keys(&mut index, &query).len(), found, "{wanted}");
    }
}

/// A model to which one text is as good as none more than the next.
struct Faint;

impl Encoder for Faint {
    fn id(&self) -> &str {
        "faint@1"
    }

    fn kind(&self) -> EncoderKind {
        EncoderKind::Transformer
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn encode(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, IndexError> {
        let vector = |text: &&str| match *text {
            "the query" | "the answer" => vec![1.0, 0.0],
            // Two steps of a byte apart in direction, which is nothing in
            // what they have of the query.
            "something" => vec![-1.0, 0.008],
            _ => vec![-1.0, 0.024],
        };
        Ok(texts.iter().map(vector).collect())
    }
}

#[test]
fn a_hit_that_has_nothing_is_left_out() {
    let mut index = memory();
    index.use_encoder(Some(Arc::new(Faint)));
    let texts = ["the answer", "something", "anything"];
    let records = texts.map(|text| said(text, "a", 1, text));
    fill(&mut index, &records);
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    let query = Query {
        mode: Mode::Vectors,
        ..Query::new("the query")
    };
    assert_eq!(keys(&mut index, &query), ["the answer#a"]);
}

#[test]
fn the_same_text_is_encoded_once() {
    let mut index = memory();
    index.use_encoder(Some(Arc::new(Toy("toy@1"))));
    fill(&mut index, &[said("s", "a", 1, "the puppy sleeps")]);
    index.embed(u64::MAX, &mut |_, _| {}).unwrap();
    fill(&mut index, &[said("t", "b", 1, "the puppy sleeps")]);
    let mut of = None;
    index
        .embed(u64::MAX, &mut |_, total| of = Some(total))
        .unwrap();
    assert_eq!((of, index.status().unwrap().vectors), (Some(0), 2));
}

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn the_files_of_a_workspace_come_and_go() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    write(root, "MEMORY.md", "- pointers");
    write(root, "memory/2026-03-01.md", "chose sqlite");
    write(root, "memories/errors.md", b"broken \xff byte");
    write(root, "memories/huge.md", "x".repeat(3 << 20));
    write(root, "src/main.rs", "not memory");
    let mut index = memory();
    let files = WorkspaceFiles {
        max_bytes: 1 << 20,
        ..WorkspaceFiles::new(root)
    };
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!(synced.progress.written, 3);
    assert_eq!(synced.notes.len(), 2, "{:?}", synced.notes);
    let hits = index.search(&Query::new("sqlite")).unwrap();
    assert_eq!(hits.hits[0].kind, RecordKind::Daily);
    assert_eq!(
        hits.hits[0].time.unwrap().to_iso(),
        "2026-03-01T00:00:00.000Z"
    );
    fs::remove_file(root.join("memory/2026-03-01.md")).unwrap();
    let synced = files
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!((synced.progress.written, synced.progress.removed), (0, 1));
    assert!(keys(&mut index, &Query::new("sqlite")).is_empty());
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_followed() {
    let folder = TempDir::new().unwrap();
    let elsewhere = TempDir::new().unwrap();
    write(elsewhere.path(), "secret.md", "elsewhere");
    write(folder.path(), "memories/a.md", "here");
    std::os::unix::fs::symlink(
        elsewhere.path().join("secret.md"),
        folder.path().join("memories/b.md"),
    )
    .unwrap();
    let mut index = memory();
    let synced = WorkspaceFiles::new(folder.path())
        .sync(&mut index, Budget::default(), &mut |_| {})
        .unwrap();
    assert_eq!((synced.progress.written, synced.notes.len()), (1, 1));
}

#[test]
fn a_thread_indexes_what_it_is_given_and_what_changes() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root, "memories/errors.md", "old trouble");
    let path = root.join("index/main.sqlite");
    let index = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
    let (send, told) = channel();
    let tell = Box::new(move |told: Indexing| {
        let _ = send.send(matches!(told, Indexing::Idle));
    });
    let mut indexer = Indexer::start(Box::new(index), tell).unwrap();
    let files = WorkspaceFiles::new(&root);
    indexer.watch(&files).unwrap();
    indexer.files(&files);
    indexer
        .records(vec![said("s", "a", 1, "left the context")])
        .unwrap();
    let mut reader = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
    let mut until_found = |query: &str, key: &str| {
        while keys(&mut reader, &Query::new(query))
            .first()
            .map(String::as_str)
            != Some(key)
        {
            told.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    };
    until_found("trouble", "memories/errors.md");
    until_found("context", "s#a");
    write(&root, "memories/errors.md", "brand new surprise");
    until_found("surprise", "memories/errors.md");
    indexer.stop();
}

#[test]
fn folders_that_are_made_later_or_anew_are_noticed() {
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let path = root.join("index/main.sqlite");
    let index = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
    let (send, told) = channel();
    let tell = Box::new(move |_| {
        let _ = send.send(());
    });
    let mut indexer = Indexer::start(Box::new(index), tell).unwrap();
    let mut files = WorkspaceFiles::new(&root);
    files.extra.push("docs/notes".into());
    indexer.watch(&files).unwrap();
    let mut reader = SqliteIndex::open(&path, IndexSettings::default()).unwrap();
    let mut until = |query: &str, key: Option<&str>| {
        while keys(&mut reader, &Query::new(query))
            .first()
            .map(String::as_str)
            != key
        {
            told.recv_timeout(Duration::from_secs(60)).unwrap();
        }
    };
    // The first file of a folder comes with it; the second one tells whether
    // the folder is watched.
    for (name, word) in [
        ("memories/errors.md", "first"),
        ("memories/project.md", "second"),
        ("memory/2026/03/a.md", "third"),
        ("memory/2026/03/b.md", "fourth"),
        ("docs/notes/deep/a.md", "fifth"),
        ("docs/notes/deep/b.md", "sixth"),
    ] {
        write(&root, name, format!("the {word} surprise"));
        until(word, Some(name));
    }
    std::fs::remove_dir_all(root.join("memories")).unwrap();
    until("first", None);
    write(&root, "memories/errors.md", "seventh");
    until("seventh", Some("memories/errors.md"));
    write(&root, "memories/errors.md", "eighth");
    until("eighth", Some("memories/errors.md"));
    indexer.stop();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_query_is_safe(text in "\\PC{0,80}|([\"'*()^:-]|AND|OR|NOT|NEAR| ){0,40}") {
        let mut index = memory();
        fill(&mut index, &[said("s", "a", 1, "AND OR NOT NEAR something \"quoted\" here")]);
        index.search(&Query::new(text)).unwrap();
    }

    #[test]
    fn updating_step_by_step_equals_indexing_at_once(
        steps in prop::collection::vec((0u64..6, "[a-d]{1,3}( [a-d]{1,3}){0,6}"), 1..20)
    ) {
        let mut stepwise = memory();
        let mut last = std::collections::BTreeMap::new();
        for (entry, text) in &steps {
            let record = said("s", &entry.to_string(), *entry, text);
            fill(&mut stepwise, std::slice::from_ref(&record));
            last.insert(*entry, record);
        }
        let mut at_once = memory();
        fill(&mut at_once, &last.into_values().collect::<Vec<_>>());
        for query in ["a", "ab", "b c d", "abc dab"] {
            let query = Query { k: 20, ..Query::new(query) };
            let rounded = |index: &mut SqliteIndex| -> Vec<(String, i64)> {
                let hits = index.search(&query).unwrap().hits;
                hits.iter().map(|hit| (hit.key(), (hit.score * 1e4).round() as i64)).collect()
            };
            prop_assert_eq!(rounded(&mut stepwise), rounded(&mut at_once));
        }
    }
}

#[test]
fn a_query_of_100_kb_is_answered_from_its_start() {
    let mut index = memory();
    fill(&mut index, &[said("s", "a", 1, "needle in a haystack")]);
    let hits = index
        .search(&Query::new(format!(
            "needle {}",
            "hay stack ".repeat(10_000)
        )))
        .unwrap();
    assert_eq!(hits.hits[0].key(), "s#a");
    assert_eq!(hits.notes.len(), 1);
}

#[test]
fn a_five_word_quote_is_among_the_first_hits() {
    let mut index = memory();
    let words = [
        "river", "stone", "cloud", "ember", "north", "glass", "quiet", "maple", "orbit", "salt",
    ];
    let mut state = 7usize;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        words[(state >> 33) % words.len()]
    };
    let records: Vec<Record> = (0..300)
        .map(|at| {
            let text: Vec<&str> = (0..12).map(|_| next()).collect();
            said("s", &at.to_string(), at * 1_000, &text.join(" "))
        })
        .collect();
    fill(&mut index, &records);
    let mut found = 0;
    for record in records.iter().step_by(10) {
        let quote: Vec<&str> = record.text.split(' ').skip(3).take(5).collect();
        let keys = keys(
            &mut index,
            &Query {
                k: 5,
                ..Query::new(quote.join(" "))
            },
        );
        found += usize::from(keys.contains(&record.key()));
    }
    assert_eq!(found, 30);
}

#[test]
fn what_is_kept_of_an_entry_and_the_entry_are_one_hit() {
    let mut index = memory();
    let page = "# Project\n\n### d-7c2f7d5f\nNever push releases on Fridays.\n\n- constraint, \
        said by the user; valid from 2026-03-09\n- evidence: one.jsonl entry 4f2a91c0 (user): \
        “Never push releases on Fridays.”\n";
    let spoken = "Thanks. Never push releases on Fridays. Go on.";
    fill(
        &mut index,
        &[
            said("s", "4f2a91c0", 1, spoken),
            Record::file(RecordKind::Memory, "memories/project.md", page),
        ],
    );
    let query = Query::new("releases on Fridays");
    let hits = index.search(&query).unwrap().hits;
    let found: Vec<(String, usize)> = hits.iter().map(|hit| (hit.key(), hit.kept.len())).collect();
    assert_eq!(found, [("s#4f2a91c0".to_owned(), 1)]);
    // Another entry of that name says something else.
    fill(&mut index, &[said("s", "4f2a91c0", 1, "releases, no.")]);
    assert_eq!(keys(&mut index, &query)[0], "memories/project.md");
}

const NOON: Millis = Millis(1_773_144_000_000);

fn on_disk_for_files(folder: &TempDir) -> (SqliteIndex, WorkspaceFiles) {
    let root = folder.path().join("workspace");
    write(&root, "memories/a.md", "the lantern is red\n");
    write(&root, "memories/b.md", "the anchor is rusty\n");
    write(&root, "memories/c.md", "the whistle is loud\n");
    (on_disk(folder), WorkspaceFiles::new(root))
}

#[test]
fn a_search_knows_the_files_as_they_are_and_tells_what_it_left() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    let root = files.root.clone();
    let mut search = |words: &str, bytes: u64| {
        let found = index
            .search_current(&Query::new(words), &files, Budget { bytes }, NOON)
            .unwrap();
        let texts = found
            .hits
            .into_iter()
            .map(|hit| hit.text)
            .collect::<String>();
        (texts, found.notes)
    };
    assert_eq!(search("lantern", 1 << 20).0, "the lantern is red\n");
    write(&root, "memories/a.md", "the lantern is green\n");
    fs::remove_file(root.join("memories/b.md")).unwrap();
    assert_eq!(
        search("lantern anchor", 1 << 20),
        (String::from("the lantern is green\n"), Vec::new())
    );
    write(&root, "memories/a.md", "the lantern is blue\n");
    write(&root, "memories/d.md", "the lantern is broken\n");
    let (_, notes) = search("lantern", 1);
    assert!(notes[0].contains("`longhaul memory index`"), "{notes:?}");
}

#[test]
fn an_index_that_another_writes_to_is_searched_as_it_is_and_that_is_told() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    assert_eq!(index.bring_up(&files, Budget::default(), NOON).len(), 0);
    let other = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    write(&files.root, "memories/a.md", "the lantern is green\n");
    let found = index
        .search_current(&Query::new("lantern"), &files, Budget::default(), NOON)
        .unwrap();
    assert_eq!(found.hits[0].text, "the lantern is red\n");
    assert!(found.notes[0].contains("is locked"), "{:?}", found.notes);
    other.execute_batch("ROLLBACK").unwrap();
}

#[test]
fn a_search_that_finds_the_index_damaged_finds_the_files_all_the_same() {
    let folder = TempDir::new().unwrap();
    let (mut index, files) = on_disk_for_files(&folder);
    index.bring_up(&files, Budget::default(), NOON);
    // What only a search reads.
    let other = rusqlite::Connection::open(folder.path().join("main.sqlite")).unwrap();
    let spoil = "UPDATE words_data SET block = x'ffffffffffff' WHERE id = 10";
    other.execute_batch(spoil).unwrap();
    drop(other);
    let found = index
        .search_current(&Query::new("anchor"), &files, Budget::default(), NOON)
        .unwrap();
    assert_eq!(found.hits[0].source, "memories/b.md");
    assert!(found.notes[0].contains("was damaged"), "{:?}", found.notes);
    assert!(index.set_aside().unwrap().exists());
}

#[test]
fn how_an_index_stands_is_seen_without_a_change() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("main.sqlite");
    let look =
        |files: &WorkspaceFiles| SqliteIndex::condition(&path, IndexSettings::default(), files);
    let nothing = WorkspaceFiles::new(folder.path());
    assert_eq!(look(&nothing).unwrap(), None);
    assert!(!path.exists());

    let (mut index, files) = on_disk_for_files(&folder);
    let stands = look(&files).unwrap().unwrap();
    assert_eq!((stands.current, stands.behind.new), (None, 3));
    index.bring_up(&files, Budget::default(), NOON);
    let stands = look(&files).unwrap().unwrap();
    assert_eq!((stands.current, stands.behind.total()), (Some(NOON), 0));
    assert_eq!(stands.status, index.status().unwrap());

    write(&files.root, "memories/a.md", "the lantern is green\n");
    write(&files.root, "memories/d.md", "the lamp is new\n");
    fs::remove_file(files.root.join("memories/b.md")).unwrap();
    let stands = look(&files).unwrap().unwrap();
    let behind = longhaul_memory::Behind {
        new: 1,
        changed: 1,
        gone: 1,
    };
    assert_eq!(stands.behind, behind);

    drop(index);
    let spoilt = "this is no database, and was one a moment ago";
    fs::write(&path, spoilt).unwrap();
    let damaged = look(&files);
    assert!(
        matches!(damaged, Err(IndexError::Damaged { .. })),
        "{damaged:?}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), spoilt);
}

#[test]
fn only_memory_is_a_file_of_the_memory() {
    let folder = TempDir::new().unwrap();
    let (_, files) = on_disk_for_files(&folder);
    let root = files.root.clone();
    for name in [
        ".env",
        "src/a.rs",
        "docs/b.md",
        "memory/.hidden",
        "memory/2026-03-01.md",
    ] {
        write(&root, name, "x");
    }
    let files = WorkspaceFiles {
        extra: vec!["docs".into()],
        ..files
    };
    for name in ["memories/a.md", "docs/b.md", "memory/2026-03-01.md"] {
        assert!(files.has(name), "{name}");
        assert!(files.date_of(name).is_some(), "{name}");
    }
    let day = files.date_of("memory/2026-03-01.md").unwrap();
    assert_eq!(day.to_iso(), "2026-03-01T00:00:00.000Z");
    for name in [
        ".env",
        "src/a.rs",
        "memory/.hidden",
        "memory/../.env",
        "memories/../src/a.rs",
        "/etc/passwd",
        "memories",
        "",
    ] {
        assert!(!files.has(name), "{name}");
    }
}
