//! What is kept of a session is what one pass over its file finds.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use longhaul_engine::live::Live;
use longhaul_engine::survey::{Keep, Survey};
use longhaul_ledger::{Capture, Ledger};
use longhaul_transcript::{Body, EntryId, Session};
use proptest::prelude::*;
use serde_json::{Value, json};

/// What happens in a session.
#[derive(Debug, Clone)]
enum Happens {
    Said(u8),
    Worked(u8),
    /// Compacted, keeping so many entries.
    Compacted(u8),
    Labelled(u8),
    /// Goes on after the entry so far back.
    Branched(u8),
    Nonsense,
    Crlf,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        6 => any::<u8>().prop_map(Happens::Said),
        6 => any::<u8>().prop_map(Happens::Worked),
        2 => (0u8..6).prop_map(Happens::Compacted),
        1 => (0u8..9).prop_map(Happens::Labelled),
        1 => (1u8..12).prop_map(Happens::Branched),
        1 => Just(Happens::Nonsense),
        1 => Just(Happens::Crlf),
    ]
}

/// A session as it is written, line by line.
struct Script {
    path: PathBuf,
    ids: Vec<String>,
    leaf: Option<String>,
    end: &'static str,
}

impl Script {
    fn new(folder: &Path) -> Script {
        let path = folder.join("s.jsonl");
        fs::write(
            &path,
            "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-11-18T00:00:00Z\",\"cwd\":\"/w\"}\n",
        )
        .unwrap();
        Script {
            path,
            ids: Vec::new(),
            leaf: None,
            end: "\n",
        }
    }

    fn write(&mut self, text: &str) {
        let mut file = OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn add(&mut self, mut entry: Value) -> String {
        let id = format!(
            "{:04x}e{}",
            (self.ids.len() * 40_503) % 65_536,
            self.ids.len()
        );
        entry["id"] = json!(id);
        entry["parentId"] = json!(self.leaf);
        entry["timestamp"] = json!("2026-11-18T00:00:01Z");
        let line = format!("{entry}{}", self.end);
        self.write(&line);
        self.ids.push(id.clone());
        self.leaf = Some(id.clone());
        id
    }

    fn said(&mut self, text: &str) {
        let message = json!({"role": "user", "content": text, "timestamp": 1});
        self.add(json!({"type": "message", "message": message}));
    }

    fn worked(&mut self, file: u8) {
        let call = json!({"type": "toolCall", "id": format!("c{}", self.ids.len()), "name": "write",
            "arguments": {"path": format!("src/{file}.rs"), "content": "x"}});
        let id = call["id"].clone();
        self.add(
            json!({"type": "message", "message": {"role": "assistant", "content": [call],
            "stopReason": "toolUse", "timestamp": 1}}),
        );
        self.add(
            json!({"type": "message", "message": {"role": "toolResult", "toolCallId": id,
            "toolName": "write", "content": [{"type": "text", "text": "ok"}], "isError": false,
            "timestamp": 1}}),
        );
    }

    fn back(&self, count: u8) -> Option<String> {
        let at = self.ids.len().checked_sub(1 + usize::from(count))?;
        Some(self.ids[at].clone())
    }

    fn happen(&mut self, what: &Happens) {
        match what {
            Happens::Said(n) => self.said(&format!("please do {n}")),
            Happens::Worked(n) => self.worked(n % 7),
            Happens::Compacted(kept) => {
                let first = self.back(*kept);
                self.add(
                    json!({"type": "compaction", "summary": "so far", "tokensBefore": 9,
                    "firstKeptEntryId": first}),
                );
            }
            Happens::Labelled(back) => {
                let target = self.back(*back);
                self.add(json!({"type": "label", "targetId": target, "label": "pin"}));
            }
            Happens::Branched(back) => self.leaf = self.back(*back),
            Happens::Nonsense => self.write("not json at all\n\n"),
            Happens::Crlf => self.end = "\r\n",
        }
    }
}

/// What is known of a session, by way of a survey.
fn known(path: &Path, keep: &Keep) -> Value {
    let session = Session::open(path).unwrap();
    let survey = Survey::of(&session, keep).unwrap();
    let live = Live::open_with(&session, Capture::default(), keep).unwrap();
    let labels: BTreeMap<String, String> = survey
        .labels()
        .into_iter()
        .map(|(id, label)| (id.to_string(), label))
        .collect();
    let compactions: Vec<String> = survey
        .compactions(&session)
        .unwrap()
        .iter()
        .map(|entry| entry.id.to_string())
        .collect();
    json!({
        "compactions": compactions,
        "entries": survey.entries(),
        "labels": labels,
        "wear": survey.wear(),
        "base": live.base(),
        "ledger": live.ledger(),
        "source": live.audit_source(),
        "epoch": live.epoch(),
    })
}

/// The same from the tree and the entries, without a survey.
fn told(path: &Path) -> Value {
    let session = Session::open(path).unwrap();
    let tree = session.tree().unwrap();
    let path: HashSet<EntryId> = tree
        .path()
        .into_iter()
        .map(|at| tree.nodes()[at].id.clone())
        .collect();
    let kept: HashSet<EntryId> = session
        .load()
        .unwrap()
        .entries
        .iter()
        .map(|entry| entry.id.clone())
        .collect();
    let mut compactions = Vec::new();
    let mut base = Ledger::new(Some("/w".into()));
    session
        .each(&mut |entry| {
            if path.contains(&entry.id) {
                if matches!(entry.body, Body::Compaction(_)) {
                    compactions.push(entry.id.to_string());
                }
                if !kept.contains(&entry.id) {
                    base.observe(&entry);
                }
            }
            ControlFlow::Continue(())
        })
        .unwrap();
    json!({ "compactions": compactions, "base": base, "entries": tree.nodes().len() })
}

fn agree(path: &Path, keep: &Keep) -> Result<(), TestCaseError> {
    let kept = known(path, keep);
    prop_assert_eq!(&kept, &known(path, &Keep::nowhere()));
    let told = told(path);
    for key in ["compactions", "base", "entries"] {
        prop_assert_eq!(&kept[key], &told[key], "{}", key);
    }
    Ok(())
}

fn kept_in(folder: &Path) -> Keep {
    Keep::at(folder.join("survey.sqlite")).whatever_size()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_is_what_a_fresh_pass_finds(
        parts in prop::collection::vec(prop::collection::vec(happens(), 1..12), 1..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let keep = kept_in(folder.path());
        let mut script = Script::new(folder.path());
        for part in &parts {
            part.iter().for_each(|what| script.happen(what));
            agree(&script.path, &keep)?;
        }
    }

    #[test]
    fn a_file_that_was_cut_short_or_written_anew_is_read_anew(
        before in prop::collection::vec(happens(), 4..20),
        after in prop::collection::vec(happens(), 1..9),
        cut in 0.0f64..1.0,
        change in 0.0f64..1.0,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let keep = kept_in(folder.path());
        let mut script = Script::new(folder.path());
        before.iter().for_each(|what| script.happen(what));
        agree(&script.path, &keep)?;
        // A word in the last 64 KB is another one of the same length.
        let mut text = fs::read_to_string(&script.path).unwrap();
        let words: Vec<usize> = text.match_indices("please").map(|(at, _)| at).collect();
        if let Some(at) = words.get((words.len() as f64 * change) as usize) {
            text.replace_range(*at..at + 6, "do not");
            fs::write(&script.path, &text).unwrap();
            agree(&script.path, &keep)?;
        }
        // Another file of the same length takes its place.
        let other = folder.path().join("other");
        fs::write(&other, text.replace("so far", "by now")).unwrap();
        fs::rename(&other, &script.path).unwrap();
        agree(&script.path, &keep)?;
        // It ends in the middle of a line, and goes on.
        let header = text.find('\n').unwrap() + 1;
        let at = header + ((text.len() - header) as f64 * cut) as usize;
        let file = OpenOptions::new().write(true).open(&script.path).unwrap();
        file.set_len(at as u64).unwrap();
        agree(&script.path, &keep)?;
        script.write("\n");
        after.iter().for_each(|what| script.happen(what));
        agree(&script.path, &keep)?;
    }
}

fn session(folder: &Path) -> Script {
    let mut script = Script::new(folder);
    for n in 0..30u8 {
        script.said(&format!("please do {n}"));
        script.worked(n);
        if n % 7 == 6 {
            script.happen(&Happens::Compacted(4));
        }
    }
    script
}

#[test]
fn a_survey_that_is_damaged_or_of_another_session_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let script = session(folder.path());
    let expected = known(&script.path, &Keep::nowhere());
    let file = folder.path().join("survey.sqlite");
    let keep = kept_in(folder.path());
    let other = tempfile::tempdir().unwrap();
    let foreign = session(other.path());
    known(&foreign.path, &kept_in(other.path()));
    let foreign = fs::read(other.path().join("survey.sqlite")).unwrap();
    let own = || {
        fs::remove_file(&file).ok();
        known(&script.path, &keep);
        fs::read(&file).unwrap()
    };
    let whole = own();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        bytes
    };
    let mut damaged = vec![
        Vec::new(),
        b"no database".to_vec(),
        whole[..whole.len() / 2].to_vec(),
        foreign,
    ];
    damaged.extend((0..whole.len()).step_by(whole.len() / 60).map(flipped));
    for bytes in damaged {
        fs::write(&file, &bytes).unwrap();
        assert_eq!(known(&script.path, &keep), expected);
        assert_eq!(known(&script.path, &keep), expected);
    }
}

#[test]
fn nothing_that_was_said_can_be_read_from_a_survey_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = session(folder.path());
    script.said("the password is correct-horse-battery");
    script.happen(&Happens::Compacted(0));
    known(&script.path, &kept_in(folder.path()));
    let bytes = fs::read(folder.path().join("survey.sqlite")).unwrap();
    for said in ["correct-horse", "please do", "src/3.rs"] {
        assert_eq!(memchr::memmem::find(&bytes, said.as_bytes()), None);
    }
}

#[cfg(unix)]
#[test]
fn where_nothing_can_be_written_the_answer_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let script = session(folder.path());
    let expected = known(&script.path, &Keep::nowhere());
    // A folder stands where the file would, and nothing can be made in a file.
    fs::create_dir(folder.path().join("survey.sqlite")).unwrap();
    assert_eq!(known(&script.path, &kept_in(folder.path())), expected);
    let nowhere = Keep::at(script.path.join("survey.sqlite")).whatever_size();
    assert_eq!(known(&script.path, &nowhere), expected);
}

#[test]
fn the_shortest_start_of_an_id_is_that_of_all_entries() {
    let folder = tempfile::tempdir().unwrap();
    let script = session(folder.path());
    let session = Session::open(&script.path).unwrap();
    let survey = Survey::of(&session, &kept_in(folder.path())).unwrap();
    let starts = survey.starts(&script.ids, 2).unwrap();
    for (id, start) in script.ids.iter().zip(&starts) {
        let same = script.ids.iter().filter(|other| other.starts_with(start));
        assert_eq!(same.collect::<Vec<_>>(), [id]);
        let shorter = &start[..start.len() - 1];
        let others = script.ids.iter().filter(|other| other.starts_with(shorter));
        assert!(start.len() == 2 || others.count() > 1, "{start}");
    }
}

#[test]
fn what_is_appended_after_a_session_was_opened_takes_no_entry_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut script = session(folder.path());
    let session = Session::open(&script.path).unwrap();
    script.said("please go on");
    let survey = Survey::of(&session, &kept_in(folder.path())).unwrap();
    assert!(survey.is_placed());
    assert!(survey.has(&EntryId::from(script.ids[0].as_str())));
}
