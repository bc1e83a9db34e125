//! The memory files: made, checked, mended, never lost.

use std::fs;

use serde_json::json;

use crate::documented::{assert_same_fields, example};
use crate::machine::Machine;
#[cfg(unix)]
use crate::searching_kept::with_room;

fn read(machine: &Machine, name: &str) -> String {
    fs::read_to_string(machine.work().join(name)).unwrap()
}

#[test]
fn a_new_memory_has_nothing_to_mend_and_making_it_again_changes_nothing() {
    let machine = Machine::new();
    let made = machine.run_line("memory init --name Tides");
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.out.contains("made  AGENTS.md\n"), "{made:?}");
    for file in [
        "MEMORY.md",
        "AGENTS.md",
        "DREAMS.md",
        "memories/project.md",
        "memories/decisions.md",
        "memories/errors.md",
        "memories/context.md",
    ] {
        assert!(machine.work().join(file).is_file(), "{file}");
    }
    assert!(read(&machine, "MEMORY.md").contains("- Name: Tides | Details → memories/project.md"));
    assert_eq!(machine.run_line("memory lint").code, 0);
    assert_eq!(machine.run_line("memory verify").code, 0);
    fs::write(machine.work().join("MEMORY.md"), "mine\n").unwrap();
    let before = machine.files();
    let again = machine.run_line("memory init");
    assert_eq!(again.code, 0);
    let changed: Vec<_> = machine
        .files()
        .into_iter()
        .filter(|(path, state)| before.get(path) != Some(state))
        .map(|(path, _)| path.file_name().unwrap().to_owned())
        .collect();
    // The pointers are other ones now; nothing else changed.
    assert_eq!(changed, [".pointers.json"]);
}

#[test]
fn rules_that_are_there_are_neither_changed_nor_put_out_of_sight() {
    let machine = Machine::new();
    let work = machine.work();
    fs::write(work.join("AGENTS.md"), "mine\n").unwrap();
    let made = machine.run_line("memory init --agents");
    assert!(made.out.contains("kept  AGENTS.md\n"), "{made:?}");
    assert_eq!(read(&machine, "AGENTS.md"), "mine\n");
    // Prompts carry CLAUDE.md only where there is no AGENTS.md.
    fs::rename(work.join("AGENTS.md"), work.join("CLAUDE.md")).unwrap();
    let made = machine.run_line("memory init");
    assert_eq!(made.code, 0, "{made:?}");
    assert!(made.err.contains("AGENTS.md was not made"), "{made:?}");
    assert!(!work.join("AGENTS.md").exists());
    let made = machine.run_line("memory init --agents");
    assert!(made.out.contains("made  AGENTS.md\n"), "{made:?}");
    let template = machine.run_line("session handoff --template");
    assert_eq!(read(&machine, "AGENTS.md"), template.out);
    fs::remove_file(work.join("AGENTS.md")).unwrap();
    fs::remove_file(work.join("CLAUDE.md")).unwrap();
    let made = machine.run_line("memory init --no-agents");
    assert!(!made.out.contains("AGENTS.md"), "{made:?}");
    assert!(!work.join("AGENTS.md").exists());
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_mended_without_losing_a_line() {
    let machine = Machine::new();
    machine.run_line("memory init");
    fs::create_dir_all(machine.work().join("docs")).unwrap();
    fs::create_dir_all(machine.work().join(".git")).unwrap();
    fs::write(machine.work().join("docs/moved.md"), "x").unwrap();
    let long = format!("- a very long story {}", "of many words ".repeat(20));
    fs::write(
        machine.work().join("MEMORY.md"),
        format!("# Memory\n- plan → old/moved.md\n- lost → gone.md\n{long}\n- out → ../../etc/passwd\n- fine → docs/moved.md\n"),
    )
    .unwrap();
    let before = machine.files();
    let linted = machine.run_line("memory lint");
    assert_eq!(linted.code, 1);
    assert_eq!(machine.files(), before);
    for told in [
        "MEMORY.md:2 points to old/moved.md, which is not there\n  move the line to memories/errors.md",
        "MEMORY.md:3 points to gone.md",
        "MEMORY.md:4 has 300 characters; a pointer has at most 150",
        "MEMORY.md:5 points to ../../etc/passwd, which is outside the workspace",
        "memories/ is kept in git",
    ] {
        assert!(linted.out.contains(told), "{told}: {linted:?}");
    }
    let unasked = machine.run_line("memory lint --fix");
    assert_eq!((unasked.code, machine.files()), (2, before));
    assert!(unasked.err.contains("nobody to ask"), "{unasked:?}");
    let fixed = machine.run_line("memory lint --fix --yes");
    assert_eq!(fixed.code, 1, "one thing is left: {fixed:?}");
    let memory = read(&machine, "MEMORY.md");
    assert!(!memory.contains("old/moved.md") && !memory.contains("gone.md"));
    assert!(memory.lines().all(|line| line.chars().count() <= 150));
    let errors = read(&machine, "memories/errors.md");
    assert!(errors.contains("- plan → old/moved.md") && errors.contains("- lost → gone.md"));
    assert!(read(&machine, "memories/project.md").contains(long.trim()));
    assert_eq!(read(&machine, ".gitignore"), "memories/\n");
    let again = machine.run_line("memory lint --json").json();
    assert_eq!(again["findings"].as_array().unwrap().len(), 1);
    assert_eq!(again["findings"][0]["trouble"]["kind"], "outsidePointer");
}

#[test]
fn a_file_that_is_too_large_for_every_prompt_is_told() {
    let machine = Machine::new();
    machine.run_line("memory init");
    let many = "- a short line about something\n".repeat(200);
    fs::write(machine.work().join("MEMORY.md"), many).unwrap();
    let found = machine.run_line("memory lint --json").json();
    assert_eq!(found["findings"][0]["trouble"]["kind"], "tooManyTokens");
    assert_eq!(found["findings"][0]["trouble"]["most"], 800);
}

#[test]
fn pointers_go_stale_are_marked_and_accepted() {
    let machine = Machine::new();
    machine.run_line("memory init");
    let memory = "- plan → plan.md\n- notes → notes.md\n- project → memories/project.md\n";
    fs::write(machine.work().join("MEMORY.md"), memory).unwrap();
    fs::write(machine.work().join("plan.md"), "one").unwrap();
    fs::write(machine.work().join("notes.md"), "one").unwrap();
    assert_eq!(machine.run_line("memory verify").code, 0);
    fs::write(machine.work().join("plan.md"), "two").unwrap();
    fs::write(machine.work().join("memories/project.md"), "other").unwrap();
    fs::remove_file(machine.work().join("notes.md")).unwrap();
    let told = machine.run_line("memory verify --json");
    assert_eq!(told.code, 1);
    let standings: Vec<_> = told.json()["pointers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["standing"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(standings, ["changed", "gone", "fresh"]);
    assert_eq!(read(&machine, "MEMORY.md"), memory);
    machine.run_line("memory verify --mark");
    assert_eq!(
        read(&machine, "MEMORY.md"),
        "- plan → plan.md (stale: verify)\n- notes → notes.md (stale: verify)\n- project → memories/project.md\n"
    );
    fs::write(machine.work().join("notes.md"), "one").unwrap();
    assert_eq!(machine.run_line("memory verify --accept").code, 0);
    assert_eq!(read(&machine, "MEMORY.md"), memory);
    assert_eq!(machine.run_line("memory verify").code, 0);
}

#[test]
fn a_pointer_to_a_section_that_is_gone_is_told_and_stale() {
    let machine = Machine::new();
    machine.run_line("memory init");
    let work = machine.work();
    let memory = "- one → memories/project.md#d-8fe8aeb1\n- two → memories/project.md#nope\n";
    fs::write(work.join("MEMORY.md"), memory).unwrap();
    let project = "# Project\n\n### d-8fe8aeb1\nIt is so.\n";
    fs::write(work.join("memories/project.md"), project).unwrap();
    let standings = || -> Vec<String> {
        let told = machine.run_line("memory verify --json").json();
        let all = told["pointers"].as_array().unwrap().iter();
        all.map(|one| format!("{} {}", one["anchor"], one["standing"]))
            .collect()
    };
    assert_eq!(
        standings(),
        ["\"d-8fe8aeb1\" \"fresh\"", "\"nope\" \"sectionGone\""]
    );
    let found = machine.run_line("memory lint --json").json();
    assert_eq!(
        found["findings"][0]["trouble"],
        json!({ "kind": "deadAnchor", "target": "memories/project.md", "anchor": "nope" })
    );
    assert_eq!(found["findings"].as_array().unwrap().len(), 1);
    fs::write(work.join("memories/project.md"), "# Project\n").unwrap();
    assert_eq!(
        standings(),
        ["\"d-8fe8aeb1\" \"sectionGone\"", "\"nope\" \"sectionGone\""]
    );
    let told = machine.run_line("memory verify");
    assert_eq!(told.code, 1, "{told:?}");
    assert!(
        told.out
            .contains("memories/project.md#d-8fe8aeb1  the file is there, the section is gone"),
        "{told:?}"
    );
    machine.run_line("memory verify --mark");
    assert!(read(&machine, "MEMORY.md").contains("#d-8fe8aeb1 (stale: verify)\n"));
    assert_eq!(standings().len(), 2);
}

#[test]
fn pointers_in_brackets_and_with_spaces_are_seen() {
    let machine = Machine::new();
    machine.run_line("memory init");
    let work = machine.work();
    let memory = "- a [x](<my docs/file name.md>)\n- b [y](docs/angle.md)\n- c [[wiki/link]]\n\
                  - d → docs/plan.md\n";
    fs::write(work.join("MEMORY.md"), memory).unwrap();
    for folder in ["my docs", "docs", "wiki"] {
        fs::create_dir_all(work.join(folder)).unwrap();
    }
    let targets = [
        "my docs/file name.md",
        "docs/angle.md",
        "wiki/link.md",
        "docs/plan.md",
    ];
    for target in targets {
        fs::write(work.join(target), "x").unwrap();
    }
    let told = machine.run_line("memory verify --json").json();
    let seen: Vec<&str> = told["pointers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["target"].as_str().unwrap())
        .collect();
    assert_eq!(seen, targets);
    assert_eq!(machine.run_line("memory lint").code, 0);
    for target in targets {
        fs::remove_file(work.join(target)).unwrap();
    }
    let found = machine.run_line("memory lint --json").json();
    let kinds: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["trouble"]["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["deadPointer"; 4], "{found:#}");
}

#[test]
fn a_read_only_workspace_is_refused_before_anything_is_made() {
    let machine = Machine::new();
    fs::write(
        machine.work().join("longhaul.yaml"),
        "sandbox:\n  readOnly: true\n",
    )
    .unwrap();
    let refused = machine.run_line("memory init");
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(!machine.work().join("MEMORY.md").exists());
    assert_eq!(machine.run_line("memory status").code, 0);
}

#[test]
fn a_damaged_file_of_hashes_is_named_with_its_line() {
    let machine = Machine::new();
    machine.run_line("memory init");
    fs::write(machine.work().join("memories/.pointers.json"), "{\n  oops").unwrap();
    let failed = machine.run_line("memory verify");
    assert_eq!(failed.code, 1);
    assert!(
        failed.err.contains(".pointers.json is damaged (line 2"),
        "{failed:?}"
    );
    assert!(failed.err.contains("help:"), "{failed:?}");
}

#[test]
fn answers_about_memory_are_as_documented() {
    let machine = Machine::new();
    for (heading, line) in [
        ("memory init", "memory init"),
        ("memory status", "memory status"),
        ("memory verify", "memory verify"),
    ] {
        let printed = machine.run_line(&format!("{line} --json")).json();
        assert_same_fields(&example(heading), &printed, heading);
    }
    fs::write(machine.work().join("MEMORY.md"), "- a → b.md\n").unwrap();
    let printed = machine.run_line("memory lint --json").json();
    assert_same_fields(&example("memory lint"), &printed, "memory lint");
}

/// A file of 500 MB that is mostly a hole: it has the size, not the blocks.
fn huge(machine: &Machine, name: &str) {
    let path = machine.work().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::File::create(path).unwrap().set_len(500 << 20).unwrap();
}

#[test]
fn a_memory_file_of_500_mb_is_told_and_the_others_are_looked_at() {
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    fs::create_dir_all(machine.work().join("memory")).unwrap();
    fs::write(
        machine.work().join("memory/2026-03-09.md"),
        "# 2026-03-09\n\n- Decision: the tide tables are kept in metres\n",
    )
    .unwrap();
    for file in [
        "MEMORY.md",
        "memories/project.md",
        "memories/more.md",
        "memory/2026-03-08.md",
    ] {
        huge(&machine, file);
    }
    let status = machine.run_line("memory status --json");
    assert_eq!(status.code, 0, "{status:?}");
    let status = status.json();
    let files = status["files"].as_array().unwrap();
    let of = |name: &str| files.iter().find(|one| one["file"] == name).unwrap();
    assert_eq!(of("MEMORY.md")["bytes"], 500 << 20);
    assert_eq!(of("MEMORY.md")["tokens"], serde_json::Value::Null);
    let why = of("MEMORY.md")["unread"].as_str().unwrap();
    assert!(why.contains("524.3 MB and was not read"), "{why}");
    assert!(of("memories/decisions.md")["tokens"].is_number());
    assert_eq!(status["logs"], 2);
    let shown = machine.run_line("memory status");
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("MEMORY.md has 524.3 MB"), "{shown:?}");

    let linted = machine.run_line("memory lint");
    assert_eq!(linted.code, 1, "{linted:?}");
    for file in [
        "MEMORY.md",
        "memories/project.md",
        "memories/more.md",
        "memory/2026-03-08.md",
    ] {
        let told = format!("{file} has 524.3 MB and was not read");
        assert!(linted.out.contains(&told), "{file}: {linted:?}");
    }
    // Nothing of it is mended away.
    let fixed = machine.run_line("memory lint --fix --yes");
    assert_eq!(fixed.code, 1, "{fixed:?}");
    let size = fs::metadata(machine.work().join("MEMORY.md"))
        .unwrap()
        .len();
    assert_eq!(size, 500 << 20);

    let indexed = machine.run_line("memory index --json");
    assert_eq!(indexed.code, 0, "{indexed:?}");
    let notes = indexed.json()["notes"].to_string();
    assert!(
        notes.contains("MEMORY.md") && notes.contains("2026-03-08.md"),
        "{notes}"
    );
    let found = machine.run_line("memory search tide tables");
    assert!(found.out.contains("kept in metres"), "{found:?}");

    let dreamt = machine.run_line("dream run --json");
    assert_eq!(dreamt.code, 0, "{dreamt:?}");
    let dreamt = dreamt.json();
    assert_eq!(dreamt["logs"], 1, "{dreamt:#}");
    let problems = dreamt["problems"].to_string();
    for file in ["MEMORY.md", "project.md", "2026-03-08.md"] {
        assert!(problems.contains(file), "{file}: {problems}");
    }

    let verified = machine.run_line("memory verify");
    assert_eq!(verified.code, 1, "{verified:?}");
    assert!(
        verified
            .err
            .contains("MEMORY.md has 524.3 MB, more than the 16 MB"),
        "{verified:?}"
    );
    fs::write(
        machine.work().join("MEMORY.md"),
        "# Memory\n- The project → memories/project.md\n- Sunday → memory/2026-03-08.md\n",
    )
    .unwrap();
    assert_eq!(machine.run_line("memory verify").code, 0);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_told_and_the_others_are_looked_at() {
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    let work = machine.work();
    fs::remove_file(work.join("MEMORY.md")).unwrap();
    fs::create_dir(work.join("MEMORY.md")).unwrap();
    fs::remove_file(work.join("memories/errors.md")).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", work.join("memories/errors.md")).unwrap();
    let status = machine.run_line("memory status");
    assert_eq!(status.code, 0, "{status:?}");
    assert!(
        status
            .out
            .contains("MEMORY.md cannot be read: it is not a plain file"),
        "{status:?}"
    );
    assert!(
        status.out.contains("it leads out of the workspace"),
        "{status:?}"
    );
    let linted = machine.run_line("memory lint");
    assert_eq!(linted.code, 1, "{linted:?}");
    assert!(
        linted.out.contains("memories/errors.md cannot be read"),
        "{linted:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_workspace_that_cannot_be_written_is_verified_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    let memories = machine.work().join("memories");
    fs::remove_file(memories.join(".pointers.json")).unwrap();
    let mode = |mode| fs::set_permissions(&memories, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    // Root may write anywhere; there is nothing to see then.
    if fs::write(memories.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write anywhere");
    } else {
        let ran = machine.run_line("memory verify");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.out.contains("new "), "{ran:?}");
        assert!(ran.err.contains("not remembered"), "{ran:?}");
        let ran = machine.run_line("memory verify --accept");
        assert_eq!(ran.code, 4, "{ran:?}");
    }
    mode(0o700);
}

#[cfg(unix)]
#[test]
fn on_a_full_disk_pointers_are_verified_all_the_same() {
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    let kept = machine.work().join("memories/.pointers.json");
    fs::remove_file(&kept).unwrap();
    for line in ["memory verify", "memory init"] {
        let ran = with_room(&machine, 0, line);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.err.contains("not remembered"), "{ran:?}");
        assert!(!kept.exists());
    }
}

#[test]
fn mending_keeps_every_byte_of_lines_that_nothing_is_wrong_with() {
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    let long = "a rule ".repeat(30);
    let path = machine.work().join("MEMORY.md");
    let mut before =
        b"# Memory\r\n\r\n- caf\xff\xfe, the one at the corner\r\n- unix line\n".to_vec();
    before.extend(format!("- {long}\r\n").bytes());
    before.extend(format!("- \u{e9}t\u{e9} {long}").bytes());
    let at = before.len();
    // A line that is too long and no text is nobody's to cut.
    before.splice(at - 4..at, *b"\xff\n- last");
    std::fs::write(&path, &before).unwrap();
    let ran = machine.run_line("memory lint");
    assert_eq!(ran.code, 1, "{ran:?}");
    let told = "MEMORY.md:3 has bytes that are no UTF-8 (in 2 of its lines)";
    assert!(ran.out.contains(told), "{ran:?}");
    machine.run_line("memory lint --fix --yes");
    let after = std::fs::read(&path).unwrap();
    let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
        let lines = bytes.split_inclusive(|byte| *byte == b'\n');
        lines.map(<[u8]>::to_vec).collect()
    };
    let (was, is) = (lines(&before), lines(&after));
    assert_eq!(was.len(), is.len());
    for at in [0, 1, 2, 3, 5, 6] {
        assert_eq!(was[at], is[at], "line {}", at + 1);
    }
    let mended = String::from_utf8(is[4].clone()).unwrap();
    assert!(
        mended.ends_with(" | Details → memories/project.md\r\n"),
        "{mended:?}"
    );
}

#[test]
fn marking_a_stale_pointer_keeps_the_bytes_of_other_lines() {
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    let path = machine.work().join("MEMORY.md");
    let before = b"- caf\xff\r\n- plan \xe2\x86\x92 plan.md\r\n";
    fs::write(&path, before).unwrap();
    fs::write(machine.work().join("plan.md"), "one").unwrap();
    assert_eq!(machine.run_line("memory verify").code, 0);
    fs::write(machine.work().join("plan.md"), "two").unwrap();
    machine.run_line("memory verify --mark");
    let marked = b"- caf\xff\r\n- plan \xe2\x86\x92 plan.md (stale: verify)\r\n";
    assert_eq!(fs::read(&path).unwrap(), marked);
    assert_eq!(machine.run_line("memory verify --accept").code, 0);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn what_is_still_gone_keeps_its_mark_when_changes_are_accepted() {
    let machine = Machine::new();
    machine.run_line("memory init --name Tides");
    let path = machine.work().join("MEMORY.md");
    for name in ["a.md", "gone.md"] {
        fs::write(machine.work().join(name), "one").unwrap();
    }
    fs::write(
        &path,
        "# M\n- one → a.md\n- two → gone.md\n- three → never.md\n",
    )
    .unwrap();
    machine.run_line("memory verify");
    fs::remove_file(machine.work().join("gone.md")).unwrap();
    fs::write(machine.work().join("a.md"), "two").unwrap();
    fs::write(&path, "# M\n- one → a.md\n- two → gone.md\n").unwrap();
    machine.run_line("memory verify --mark");
    let more = fs::read_to_string(&path).unwrap() + "- three → never.md\n";
    fs::write(&path, more).unwrap();
    assert_eq!(machine.run_line("memory verify --accept").code, 1);
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "# M\n- one → a.md\n- two → gone.md (stale: verify)\n- three → never.md\n"
    );
}

#[test]
fn a_binary_file_among_the_memory_is_named_by_lint_and_is_no_empty_text() {
    let machine = Machine::new();
    machine.run_line("memory init --name Tides");
    fs::write(machine.work().join("memories/bin.md"), b"a\0b\n").unwrap();
    let lint = machine.run_line("memory lint");
    assert_eq!(lint.code, 1, "{lint:?}");
    assert!(
        lint.out.contains("memories/bin.md has a zero byte at 1"),
        "{lint:?}"
    );
    // Also when it was taken in before and nothing is told of it any more.
    for _ in 0..2 {
        let get = machine.run_line("memory get memories/bin.md");
        assert_eq!(get.code, 1, "{get:?}");
        assert!(get.err.contains("zero byte"), "{get:?}");
    }
    fs::write(machine.work().join("memories/bin.md"), "").unwrap();
    let get = machine.run_line("memory get memories/bin.md");
    assert_eq!(get.code, 0, "{get:?}");
}
