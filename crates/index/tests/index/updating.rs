//! What comes into an index and leaves it.

use longhaul_index::{IndexSettings, Mode, Redaction, SqliteIndex};
use proptest::prelude::*;

use super::*;

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
fn an_entry_is_had_by_the_id_of_its_session_too() {
    let mut index = memory();
    let id = "0199aaaa-0000-7000-8000-000000000001";
    let file = format!("/home/ada/.pi/sessions/2026-11-15T10-00-00-000Z_{id}.jsonl");
    let other = "/home/ada/.claude/projects/app/0199aaaa-0000-7000-8000-000000000002.jsonl";
    fill(
        &mut index,
        &[
            said(&file, "a1", 1, "the lantern"),
            said(other, "a1", 1, "the anchor"),
        ],
    );
    let mut text = |key: &str| index.get(key, None).unwrap().map(|passage| passage.text);
    assert_eq!(text(&format!("{id}#a1")).as_deref(), Some("the lantern"));
    assert_eq!(text(&format!("{file}#a1")).as_deref(), Some("the lantern"));
    let id = "0199aaaa-0000-7000-8000-000000000002";
    assert_eq!(text(&format!("{id}#a1")).as_deref(), Some("the anchor"));
    for unknown in [&format!("{id}#a2"), "000000000002#a", "99aaaa#a1", "#a1"] {
        assert_eq!(text(unknown), None, "{unknown}");
    }
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
    let secret = token.clone();
    let redaction = Redaction::new("one", move |text| {
        (
            text.replace(&secret, "[redacted]"),
            text.matches(&secret).count() as u64,
        )
    });
    let path = folder.path().join("main.sqlite");
    let mut index = SqliteIndex::open(&path, IndexSettings::new(redaction)).unwrap();
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
            .contains("[redacted]")
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
fn what_is_known_of_a_text_changes_without_the_text() {
    let mut index = memory();
    let mut records: Vec<Record> = (0..50)
        .map(|at| {
            said(
                "s",
                &at.to_string(),
                at,
                &format!("number {at} of the marmots"),
            )
        })
        .collect();
    for record in &mut records {
        record.kind = RecordKind::Present;
    }
    fill(&mut index, &records);
    assert_eq!(keys(&mut index, &Query::new("marmots")), [""; 0]);
    for record in &mut records[..20] {
        record.kind = RecordKind::Transcript;
        record.role = Some(String::from("assistant"));
        record.time = Some(Millis(7));
    }
    let mut progress = |records: &[Record]| {
        index
            .update(&mut records.iter().cloned(), Budget::default(), &mut |_| {})
            .unwrap()
    };
    let done = progress(&records);
    assert_eq!((done.written, done.unchanged, done.bytes), (20, 30, 0));
    assert_eq!(progress(&records).unchanged, 50);
    let query = Query {
        k: 50,
        ..Query::new("marmots")
    };
    let hits = index.search(&query).unwrap().hits;
    assert_eq!(hits.len(), 20);
    for hit in hits {
        let known = (hit.kind, hit.role.as_deref(), hit.time);
        let now = (RecordKind::Transcript, Some("assistant"), Some(Millis(7)));
        assert_eq!(known, now);
    }
    assert_eq!(index.sources(&[RecordKind::Present]).unwrap(), ["s"]);
}
