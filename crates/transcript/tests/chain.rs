//! What is changed in a session before a mark of ours is found, wherever it is.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use longhaul_transcript::{
    Draft, Durability, EntryId, Fault, FaultKind, Header, Millis, NewSession, Packing, Report,
    Session, Stamp, Writer, archive, fork, import, restore, verify,
};
use proptest::prelude::*;

fn stamp(n: usize) -> Stamp {
    Stamp {
        id: EntryId::new(format!("{n:08x}")),
        time: Millis(1_700_000_000_000 + n as i64),
    }
}

fn mark() -> Draft {
    Draft::Custom {
        custom_type: "longhaul:turn".into(),
        data: "{\"proof\":null}".into(),
    }
}

fn compaction(kept: usize) -> Draft {
    Draft::Compaction {
        summary: "what was".into(),
        first_kept: Some(stamp(kept).id),
        tokens_before: 10,
        details: Some("{\"epoch\":1}".into()),
    }
}

/// Turns of three messages, each with its mark; every third is a compaction.
fn session(folder: &Path, turns: usize) -> PathBuf {
    let path = folder.join("session.jsonl");
    let header = Header {
        id: "one".into(),
        version: 3,
        time: Some(Millis(1_700_000_000_000)),
        ..Header::default()
    };
    drop(Writer::create(&path, &header, Durability::Os).unwrap());
    let mut n = 0;
    for turn in 0..turns {
        // Another process each time: it knows only what the file says.
        let mut writer = Writer::open(&path, Durability::Os).unwrap();
        for _ in 0..3 {
            let draft = Draft::user(&format!("message {n}"), Millis(n as i64));
            writer.append(&draft, stamp(n)).unwrap();
            n += 1;
        }
        let mark = if turn % 3 == 2 {
            compaction(n - 1)
        } else {
            mark()
        };
        writer.append(&mark, stamp(n)).unwrap();
        n += 1;
    }
    path
}

fn check(path: &Path) -> Report {
    verify(&Session::open(path).unwrap()).unwrap()
}

fn altered(report: &Report) -> Vec<(u64, u64)> {
    let faults = report.faults.iter();
    let altered = faults.filter_map(|fault| match &fault.kind {
        FaultKind::Altered { mark_line, .. } => Some((fault.line, *mark_line)),
        _ => None,
    });
    altered.collect()
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn write(path: &Path, lines: &[String]) {
    std::fs::write(path, lines.join("\n") + "\n").unwrap();
}

#[test]
fn an_untouched_session_is_proven() {
    let folder = tempfile::tempdir().unwrap();
    let report = check(&session(folder.path(), 7));
    assert_eq!(report.faults, []);
    assert_eq!(report.proven, 7);
}

#[test]
fn archive_restore_fork_import_and_a_mark_after_them_stay_sound() {
    for packing in [Packing::Plain, Packing::Zstd] {
        let folder = tempfile::tempdir().unwrap();
        let path = session(folder.path(), 7);
        let new = |name: &str| NewSession {
            id: name.into(),
            time: Millis(1),
        };
        let forked = folder.path().join("forked.jsonl");
        let opened = Session::open(&path).unwrap();
        fork(&opened, Some(&stamp(14).id), &forked, &new("forked")).unwrap();
        assert_eq!((check(&forked).faults, check(&forked).proven), (vec![], 3));
        let imported = folder.path().join("imported.jsonl");
        import(&opened, &imported, &new("imported")).unwrap();
        assert_eq!(check(&imported).proven, 7);

        let whole = std::fs::read(&path).unwrap();
        archive(&path, packing).unwrap().unwrap();
        let report = check(&path);
        assert_eq!((report.faults, report.proven), (vec![], 7));
        restore(&path).unwrap().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        archive(&path, packing).unwrap().unwrap();
        let mut writer = Writer::open(&path, Durability::Os).unwrap();
        writer.append(&mark(), stamp(100)).unwrap();
        drop(writer);
        assert_eq!(check(&path).proven, 8);
        restore(&path).unwrap().unwrap();
        let report = check(&path);
        assert_eq!((report.faults, report.proven), (vec![], 8));
    }
}

#[test]
fn an_entry_written_again_on_a_branch_is_proven_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 2);
    let again = lines(&path).pop().unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.branch(Some(stamp(2).id));
    let again = Draft::Again {
        raw: again,
        target: None,
    };
    writer
        .append_all(&[(again, stamp(50)), (mark(), stamp(51))])
        .unwrap();
    let report = check(&path);
    assert_eq!((report.faults, report.proven), (vec![], 4));
}

#[test]
fn what_another_program_wrote_is_covered_by_our_next_mark() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.jsonl");
    let mut theirs = lines(&session(folder.path(), 1));
    theirs.pop();
    // Their last line has no newline yet.
    std::fs::write(&path, theirs.join("\n")).unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.append(&mark(), stamp(70)).unwrap();
    drop(writer);
    assert_eq!(check(&path).proven, 1);
    let mut lines = lines(&path);
    lines[2] = lines[2].replace("message 1", "message 9");
    write(&path, &lines);
    assert_eq!(altered(&check(&path)), [(2, 5)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn any_change_before_a_mark_is_found_between_its_marks(
        turns in 2usize..6, at in 0usize..10_000, how in 0u8..4, byte in 0usize..10_000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = session(folder.path(), turns);
        let mut lines = lines(&path);
        // Not the header, and not the last mark, which no other one covers.
        let last = lines.len() - 1;
        let at = 1 + at % (last - 1);
        match how {
            0 => {
                let letters: Vec<usize> = lines[at]
                    .char_indices()
                    .filter(|(_, c)| c.is_ascii_digit())
                    .map(|(at, _)| at)
                    .collect();
                let letter = letters[byte % letters.len()];
                let old = lines[at].as_bytes()[letter];
                let new = if old == b'7' { "8" } else { "7" };
                lines[at].replace_range(letter..=letter, new);
            }
            1 => drop(lines.remove(at)),
            2 => {
                let line = lines[at].replace("\"id\":\"", "\"id\":\"f");
                lines.insert(at, line);
            }
            _ if at + 1 < last => lines.swap(at, at + 1),
            _ => lines.swap(at, at - usize::from(at > 1)),
        }
        if how == 3 && at + 1 >= last && at == 1 {
            return Ok(());
        }
        write(&path, &lines);
        let found = altered(&check(&path));
        prop_assert!(!found.is_empty(), "{how} at line {}", at + 1);
        let (first, mark) = found[0];
        let line = at as u64 + 1;
        prop_assert!(first <= line + 1 && line <= mark + 1, "{line} in {first}..{mark}");
    }
}

#[test]
fn programs_that_append_between_our_turns_leave_it_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1);
    let mut ours = Writer::open(&path, Durability::Os).unwrap();
    for turn in 0..4 {
        let theirs = format!(
            "{{\"type\":\"message\",\"id\":\"t{turn}\",\"parentId\":{},\"message\":{{\"role\":\"user\",\"content\":\"{turn}\"}}}}\n",
            longhaul_transcript::json::quote(ours.parent().unwrap().as_str()),
        );
        let mut file = std::fs::File::options().append(true).open(&path).unwrap();
        std::io::Write::write_all(&mut file, theirs.as_bytes()).unwrap();
        ours.append(&mark(), stamp(100 + turn)).unwrap();
    }
    let report = check(&path);
    assert_eq!(
        (report.faults, report.proven, report.uncovered),
        (vec![], 5, 1)
    );
    let mut lines = lines(&path);
    lines[7] = lines[7].replace("\"content\":\"1\"", "\"content\":\"2\"");
    write(&path, &lines);
    assert_eq!(altered(&check(&path)), [(7, 9)]);
}

#[test]
fn a_session_cut_off_at_its_end_is_one_as_it_was_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 3);
    let text = std::fs::read_to_string(&path).unwrap();
    // In the middle of the last mark: a torn tail, and the turn is not covered.
    std::fs::write(&path, &text[..text.len() - 5]).unwrap();
    let report = check(&path);
    assert!(matches!(
        report.faults[..],
        [Fault {
            kind: FaultKind::TornTail { .. },
            ..
        }]
    ));
    assert_eq!((report.proven, report.uncovered), (2, 5));
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.append(&mark(), stamp(60)).unwrap();
    let report = check(&path);
    assert_eq!(
        (report.faults, report.proven, report.uncovered),
        (vec![], 3, 1)
    );
}

#[test]
fn a_session_without_hashes_says_that_nothing_is_covered() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1);
    let mut lines = lines(&path);
    lines.pop();
    write(&path, &lines);
    let report = check(&path);
    assert_eq!(
        (report.faults, report.proven, report.uncovered),
        (vec![], 0, 3)
    );
}

#[test]
fn marks_that_another_program_copied_prove_nothing_in_its_copy() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 2);
    let mut lines = lines(&path);
    lines[0] = lines[0].replace("\"id\":\"one\"", "\"id\":\"two\"");
    lines.remove(6);
    lines[6] = lines[6].replace(stamp(5).id.as_str(), stamp(4).id.as_str());
    let copied = folder.path().join("copied.jsonl");
    write(&copied, &lines);
    let report = check(&copied);
    assert_eq!((altered(&report), report.proven), (vec![], 0));
    let mut writer = Writer::open(&copied, Durability::Os).unwrap();
    writer.append(&mark(), stamp(60)).unwrap();
    assert_eq!(check(&copied).proven, 1);
}

#[test]
fn a_version_that_pi_writes_anew_gets_no_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1);
    let mut lines = lines(&path);
    lines.pop();
    lines[0] = lines[0].replace("\"version\":3", "\"version\":2");
    write(&path, &lines);
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.append(&mark(), stamp(60)).unwrap();
    writer.append(&compaction(1), stamp(61)).unwrap();
    let report = check(&path);
    assert_eq!((report.faults, report.proven), (vec![], 0));
}

#[test]
fn a_field_of_that_name_that_is_not_ours_is_copied_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1);
    let theirs = "{\"type\":\"compaction\",\"id\":\"c\",\"parentId\":\"00000003\",\
        \"summary\":\"s\",\"firstKeptEntryId\":\"00000002\",\"tokensBefore\":1,\
        \"details\":{\"proof\":{\"of\":\"theirs\"}}}";
    let mut all = lines(&path);
    all.push(theirs.into());
    write(&path, &all);
    let copied = folder.path().join("copied.jsonl");
    let new = NewSession {
        id: "copied".into(),
        time: Millis(1),
    };
    import(&Session::open(&path).unwrap(), &copied, &new).unwrap();
    let last = lines(&copied).pop().unwrap();
    assert!(last.contains("{\"proof\":{\"of\":\"theirs\"}}"), "{last}");
}

#[test]
fn writers_at_the_same_time_leave_it_sound() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 1);
    std::thread::scope(|scope| {
        for thread in 1..5usize {
            let path = &path;
            scope.spawn(move || {
                let mut writer = Writer::open(path, Durability::Os).unwrap();
                for n in 0..20 {
                    let said = Draft::user("said", Millis(n as i64));
                    let at = 1000 * thread + 2 * n;
                    writer.append(&said, stamp(at)).unwrap();
                    writer.append(&mark(), stamp(at + 1)).unwrap();
                }
            });
        }
    });
    let report = check(&path);
    assert_eq!((report.faults, report.proven), (vec![], 81));
}

/// Not one byte before the last mark can be another one, no line be missing,
/// doubled or elsewhere, compactions and marks among them.
#[test]
fn every_byte_and_every_line_before_the_last_mark_counts() {
    let folder = tempfile::tempdir().unwrap();
    let path = session(folder.path(), 4);
    let whole = lines(&path);
    assert!(whole.iter().any(|line| line.contains("\"compaction\"")));
    let last = whole.len() - 1;
    let is_found = |changed: &[u8], what: &str| {
        std::fs::write(&path, changed).unwrap();
        assert!(!altered(&check(&path)).is_empty(), "{what}");
    };
    let joined = |lines: &[String]| lines.join("\n") + "\n";
    for at in 1..last {
        for byte in 0..whole[at].len() {
            let mut lines: Vec<Vec<u8>> = whole.iter().map(|line| line.clone().into()).collect();
            lines[at][byte] ^= 1;
            let mut changed = lines.join(&b'\n');
            changed.push(b'\n');
            is_found(&changed, &format!("byte {byte} of line {}", at + 1));
        }
        let mut missing = whole.clone();
        missing.remove(at);
        is_found(
            joined(&missing).as_bytes(),
            &format!("without line {}", at + 1),
        );
        let mut doubled = whole.clone();
        doubled.insert(at, whole[at].clone());
        is_found(
            joined(&doubled).as_bytes(),
            &format!("line {} twice", at + 1),
        );
        for to in (1..last).filter(|to| *to != at) {
            let mut moved = whole.clone();
            let line = moved.remove(at);
            moved.insert(to, line);
            is_found(
                joined(&moved).as_bytes(),
                &format!("line {} at {}", at + 1, to + 1),
            );
        }
    }
}
