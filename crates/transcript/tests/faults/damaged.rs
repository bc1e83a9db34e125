//! Bytes that no agent would write on purpose, and very many of them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use longhaul_transcript::{
    Conversation, Durability, FaultKind, Role, Session, Writer, torn_path, verify,
};

use crate::{context, empty, ids, long, session, stamp, user};

#[test]
fn a_byte_that_is_not_utf8_loses_at_most_its_own_entry() {
    let (folder, path) = session(3, "caf\u{e9}");
    let bytes = fs::read(&path).unwrap();
    let all = ids(&path);
    let part = folder.path().join("part.jsonl");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] = 0xff;
        fs::write(&part, &damaged).unwrap();
        let session = Session::open(&part).unwrap();
        let report = verify(&session).unwrap();
        // A newline lost joins two lines; both are recovered or told.
        let lost = all.len() as u64 - report.entries.min(all.len() as u64);
        assert!(lost <= 1, "byte {at}: {lost} lost");
        assert!(!report.is_sound(), "byte {at}: nothing is reported");
        assert_eq!(
            fs::read(&part).unwrap(),
            damaged,
            "byte {at}: reading changed it"
        );
        if session.header().version == 3 {
            let mut writer = Writer::open(&part, Durability::Os).unwrap();
            writer.append(&user("next"), stamp("next")).unwrap();
            assert_eq!(ids(&part).len() as u64, report.entries + 1, "byte {at}");
            let _ = fs::remove_file(torn_path(&part));
        }
    }
}

#[test]
fn lines_joined_anywhere_lose_nothing() {
    let (folder, path) = session(8, "text");
    let bytes = fs::read(&path).unwrap();
    let (all, built) = (ids(&path), context(&path));
    let part = folder.path().join("part.jsonl");
    let newlines: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at] == b'\n').collect();
    for at in &newlines {
        let mut joined = bytes.clone();
        joined.remove(*at);
        fs::write(&part, joined).unwrap();
        assert_eq!(ids(&part), all, "byte {at}");
        assert_eq!(context(&part), built, "byte {at}");
    }
    // All of them on one line.
    let one: Vec<u8> = bytes
        .iter()
        .copied()
        .filter(|byte| *byte != b'\n')
        .collect();
    fs::write(&part, one).unwrap();
    assert_eq!(ids(&part), all);
    assert_eq!(context(&part), built);
    let mut writer = Writer::open(&part, Durability::Os).unwrap();
    writer.append(&user("next"), stamp("next")).unwrap();
    assert_eq!(ids(&part).len(), all.len() + 1);
    assert!(!torn_path(&part).exists());
}

/// The last line has no newline but can be read: it is an entry, not a torn
/// half of one.
#[test]
fn a_last_line_that_can_be_read_is_never_set_aside() {
    let (folder, path) = session(4, "text");
    let bytes = fs::read(&path).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let (last, earlier) = lines.split_last().unwrap();
    let line = last.trim_ascii_end();
    let not_utf8: Vec<u8> = line
        .iter()
        .map(|byte| if *byte == b'x' { 0xff } else { *byte })
        .collect();
    let torn_before = [b"{\"type\":\"mess".as_slice(), line].concat();
    let part = folder.path().join("part.jsonl");
    for tail in [line.to_vec(), not_utf8, torn_before] {
        let mut text = earlier.concat();
        text.extend_from_slice(&tail);
        fs::write(&part, &text).unwrap();
        let before = ids(&part);
        assert_eq!(before.len(), 5);
        let mut writer = Writer::open(&part, Durability::Os).unwrap();
        writer.append(&user("next"), stamp("next")).unwrap();
        assert_eq!(ids(&part)[..5], before[..]);
        assert!(!torn_path(&part).exists());
        assert!(fs::read(&part).unwrap().starts_with(&text));
    }
}

/// An entry without an id gets one from its place; what follows it must find
/// it from both ends of the file.
#[test]
fn what_follows_an_entry_without_an_id_keeps_the_path() {
    let (_folder, path) = session(4, "text");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let line = "{\"type\":\"message\",\"parentId\":\"e3\",\"message\":{\"role\":\"user\",\"content\":\"no id\"}}\n";
    file.write_all(line.as_bytes()).unwrap();
    let before = context(&path);
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.append(&user("next"), stamp("next")).unwrap();
    assert!(context(&path).starts_with(&before[..before.len() - 1]));
}

fn read_in_every_way(path: &Path) -> String {
    let session = Session::open(path).unwrap();
    verify(&session).unwrap();
    let context = session.context().unwrap();
    let sent = context.for_model();
    let text: usize = sent.iter().map(|message| message.view().text().len()).sum();
    let pieces = Conversation::new(sent).pieces().len();
    assert!(text > 0 || pieces > 0);
    context.to_json()
}

#[test]
fn json_nested_a_hundred_thousand_deep_is_text_like_any_other() {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    for nested in [deep("[", "]"), deep("{\"a\":", "}")] {
        let (_folder, path) = empty();
        let mut writer = Writer::open(&path, Durability::Os).unwrap();
        let messages = [
            format!(
                "{{\"role\":\"user\",\"content\":[{nested},{{\"type\":\"text\",\"text\":\"x\"}}]}}"
            ),
            format!("{{\"role\":\"user\",\"content\":{nested}}}"),
            format!(
                "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"t\",\"arguments\":{{\"a\":{nested}}}}}]}}"
            ),
            format!(
                "{{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"toolName\":\"t\",\"content\":[],\"details\":{nested},\"isError\":false}}"
            ),
        ];
        for (n, message) in messages.iter().enumerate() {
            let draft = longhaul_transcript::Draft::Message(message.clone());
            writer.append(&draft, stamp(format!("d{n}"))).unwrap();
        }
        let built = read_in_every_way(&path);
        assert!(
            messages
                .iter()
                .all(|message| built.contains(message.as_str()))
        );
    }
}

#[test]
fn deep_json_in_other_agents_transcripts_does_no_harm() {
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let folder = tempfile::tempdir().unwrap();
    let claude = folder.path().join("claude.jsonl");
    fs::write(&claude, format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":\"go\"}},\"toolUseResult\":{deep}}}\n\
         {{\"type\":\"assistant\",\"uuid\":\"a\",\"parentUuid\":\"u\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m\",\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{{\"a\":{deep}}}}},{deep}]}}}}\n\
         {{\"type\":\"user\",\"uuid\":\"r\",\"parentUuid\":\"a\",\"sessionId\":\"s\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":{deep}}}]}}}}\n"
    )).unwrap();
    read_in_every_way(&claude);
    let codex = folder.path().join("rollout-1.jsonl");
    let item = |payload: String| {
        format!(
            "{{\"timestamp\":\"2026-01-22T16:00:00.000Z\",\"type\":\"response_item\",\"payload\":{payload}}}\n"
        )
    };
    let mut text = String::from(
        "{\"timestamp\":\"2026-01-22T16:00:00.000Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"s\",\"cwd\":\"/w\"}}\n",
    );
    text.push_str(&item("{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"go\"}]}".into()));
    text.push_str(&item(format!(
        "{{\"type\":\"message\",\"role\":\"user\",\"content\":{deep}}}"
    )));
    text.push_str(&item(format!(
        "{{\"type\":\"function_call\",\"name\":\"x\",\"call_id\":\"c\",\"arguments\":\"{deep}\"}}"
    )));
    text.push_str(&item(format!(
        "{{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":{deep}}}"
    )));
    fs::write(&codex, text).unwrap();
    read_in_every_way(&codex);
}

#[test]
fn a_line_of_a_hundred_megabytes_is_an_entry_like_any_other() {
    let (_folder, path) = empty();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    let huge = "h".repeat(100_000_000);
    writer.append(&user("before"), stamp("before")).unwrap();
    writer.append(&user(&huge), stamp("huge")).unwrap();
    writer.append(&user("after"), stamp("after")).unwrap();
    let started = Instant::now();
    let session = Session::open(&path).unwrap();
    let context = session.context().unwrap();
    let lengths: Vec<usize> = context
        .messages
        .iter()
        .map(|message| message.json().len())
        .collect();
    assert!(lengths[1] > huge.len() && lengths[2] < 100);
    assert_eq!(ids(&path), ["before", "huge", "after"]);
    eprintln!(
        "100 MB line: loaded and passed over in {:.1?}",
        started.elapsed()
    );
    // Torn in its middle it is healed by the next writer.
    let size = fs::metadata(&path).unwrap().len();
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(size / 2).unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    writer.append(&user("next"), stamp("next")).unwrap();
    assert_eq!(ids(&path), ["before", "next"]);
    assert_eq!(
        fs::metadata(torn_path(&path)).unwrap().len(),
        size / 2 - first_lines(&path, 2) + 1
    );
}

/// How long the first lines of a file are together.
fn first_lines(path: &Path, lines: usize) -> u64 {
    let text = fs::read_to_string(path).unwrap();
    text.split_inclusive('\n')
        .take(lines)
        .map(str::len)
        .sum::<usize>() as u64
}

#[test]
fn a_million_entries_are_read_in_one_pass_and_from_the_end() {
    const ENTRIES: usize = 1_000_000;
    let (_folder, path) = empty();
    let mut out =
        BufWriter::with_capacity(1 << 20, File::options().append(true).open(&path).unwrap());
    let mut parent = String::from("null");
    for n in 0..ENTRIES {
        writeln!(out, "{{\"type\":\"message\",\"id\":\"m{n}\",\"parentId\":{parent},\"message\":{{\"role\":\"user\",\"content\":\"{n}\"}}}}").unwrap();
        parent = format!("\"m{n}\"");
    }
    out.flush().unwrap();
    let mut writer = Writer::open(&path, Durability::Os).unwrap();
    let started = Instant::now();
    let kept = longhaul_transcript::EntryId::new(format!("m{}", ENTRIES - 1));
    writer
        .append(&crate::compaction(Some(kept)), stamp("compaction"))
        .unwrap();
    writer.append(&user("after"), stamp("after")).unwrap();
    let appended = started.elapsed();
    let session = Session::open(&path).unwrap();
    let started = Instant::now();
    let context = session.context().unwrap();
    let built = started.elapsed();
    let roles: Vec<&Role> = context
        .messages
        .iter()
        .map(|message| &message.role)
        .collect();
    assert_eq!(roles, [&Role::CompactionSummary, &Role::User, &Role::User]);
    let started = Instant::now();
    let mut last = None;
    let mut entries = 0;
    let faults = session
        .each(&mut |entry| {
            assert_eq!(entry.parent, last);
            last = Some(entry.id);
            entries += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((entries, faults), (ENTRIES + 2, Vec::new()));
    eprintln!(
        "{ENTRIES} entries: appended in {appended:.1?}, context in {built:.1?}, pass in {:.1?}, {}",
        started.elapsed(),
        memory()
    );
    if long() {
        let started = Instant::now();
        let tree = session.tree().unwrap();
        assert_eq!(tree.path().len(), ENTRIES + 2);
        assert_eq!(tree.faults(), []);
        eprintln!("tree in {:.1?}, {}", started.elapsed(), memory());
    }
}

/// The most memory this process has held, where the system tells.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or_else(|| "memory unknown".into(), |line| line.replace('\t', " "))
}

#[test]
fn blocks_are_not_mistaken_for_records_in_a_damaged_line() {
    let (_folder, path) = session(4, "text");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    // Half an entry whose content quotes another entry's line.
    let quoted = "{\\\"type\\\":\\\"message\\\",\\\"id\\\":\\\"quoted\\\",\\\"parentId\\\":null}";
    let line = format!(
        "{{\"type\":\"message\",\"id\":\"half\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":\"{quoted}\"}}\n"
    );
    file.write_all(line.as_bytes()).unwrap();
    let session = Session::open(&path).unwrap();
    let report = verify(&session).unwrap();
    assert_eq!(report.entries, 5);
    let kinds: Vec<&FaultKind> = report.faults.iter().map(|fault| &fault.kind).collect();
    assert!(
        matches!(kinds[..], [FaultKind::Malformed { .. }]),
        "{kinds:?}"
    );
}

#[test]
fn a_second_header_hides_nothing_before_it() {
    for version in [3, 4] {
        let (_folder, path) = session(4, "text");
        let mut lines: Vec<String> = fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| line.replace("\"version\":3", &format!("\"version\":{version}")))
            .collect();
        fs::write(&path, lines.join("\n")).unwrap();
        let built = context(&path);
        lines.insert(lines.len() - 1, lines[0].clone());
        fs::write(&path, lines.join("\n")).unwrap();
        assert_eq!(context(&path), built, "version {version}");
    }
}
