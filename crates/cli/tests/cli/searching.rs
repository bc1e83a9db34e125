//! `memory search` and `get`: what is found, and how it is asked for.

use std::fs;

use serde_json::json;

use crate::machine::Machine;
use crate::searching_kept::{index_file, records};
use crate::talk::{Talk, compacted};

/// A workspace with memory, and a session in it that was compacted.
pub(crate) fn machine() -> Machine {
    let machine = Machine::new();
    let work = machine.work();
    fs::create_dir_all(work.join("memories")).unwrap();
    fs::write(
        work.join("memories/errors.md"),
        "# Errors\n\nThe deploy fails without TIDE-6943.\n",
    )
    .unwrap();
    let session = compacted("s", &work.to_string_lossy());
    machine.put_pi("s", session.text(), 1);
    machine
}

#[test]
fn what_was_written_down_is_found_and_got() {
    let machine = machine();
    let ran = machine.run_line("memory index --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["model"], json!(null));
    let ran = machine.run(["memory", "search", "why do deployments fail?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out
            .starts_with("── found memories/errors.md:1-3 · memory · 20"),
        "{}",
        ran.out
    );
    // The key can be got as it is printed.
    let whole = machine.run_line("memory get memories/errors.md");
    assert_eq!(machine.run_line("memory get memories/errors.md:1-3"), whole);
    let ran = machine.run_line("memory get memories/errors.md:9-12");
    assert!(ran.err.contains("line 9 is none of them"), "{ran:?}");
    let ran = machine.run_line("memory get memories/errors.md --lines 3-3");
    let (head, rest) = ran.out.split_once('\n').unwrap();
    assert!(
        head.starts_with("── memories/errors.md:3-3 of 3 lines · memory · 20"),
        "{head}"
    );
    assert_eq!(
        rest,
        "The deploy fails without TIDE-6943.\n── end of memories/errors.md ──\n"
    );
}

#[test]
fn what_left_the_context_is_found_with_its_entry() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    let ran = machine.run_line("memory search build --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    let answer = ran.json();
    let hits = answer["hits"].as_array().unwrap();
    assert!(
        hits.iter()
            .any(|hit| hit["kind"] == "transcript" && hit["entry"] == "e01"),
        "{answer:#}"
    );
    // Paths are shown as those of another machine in tests.
    let session = machine.put_pi(
        "s",
        compacted("s", &machine.work().to_string_lossy()).text(),
        1,
    );
    let key = format!("{}#e01", session.canonicalize().unwrap().display());
    let ran = machine.run(["memory", "get", &key]);
    let (head, _) = ran.out.split_once('\n').unwrap();
    let standing = " · user · 2026-03-01T10:01:00.000Z ──";
    assert!(head.ends_with(standing), "{head}");
}

#[test]
fn bad_input_is_told() {
    let ran = Machine::new().run_line("memory search nothing");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("the index is empty"), "{ran:?}");
    let machine = machine();
    let ran = machine.run_line("memory search nothing");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("other words may find it"), "{ran:?}");
    let ran = machine.run_line("memory get nowhere.md");
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = machine.run_line("memory search x -k 0");
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("0 is not in 1.."), "{ran:?}");
    let ran = machine.run_line("memory search x --since yesterday");
    assert_eq!(ran.code, 2, "{ran:?}");
    // A month is not longer than it is, leap years included.
    for (time, is_day) in [
        ("2026-02-29", false),
        ("2026-02-30T10:00:00Z", false),
        ("2026-04-31T23:30:00+02:00", false),
        ("2024-02-29", true),
        ("2024-02-29T23:30:00-05:00", true),
        ("2024-02", true),
    ] {
        let ran = machine.run(["memory", "search", "deploy", "--since", time]);
        assert_eq!(ran.code != 2, is_day, "{time}: {ran:?}");
        let told = ran.err.contains("there is no such day");
        assert_eq!(!told, is_day, "{time}: {ran:?}");
    }
    let ran = machine.run_line("memory search x --since 2026-03-02 --until 2026-03-01");
    assert_eq!(ran.code, 2, "{ran:?}");
    for line in ["memory index", "memory search x", "memory get MEMORY.md"] {
        let args = ["--workspace", "/nowhere/at/all"];
        let ran = machine.run(args.into_iter().chain(line.split(' ')));
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(
            ran.err.contains("/nowhere/at/all is not a folder"),
            "{line}: {ran:?}"
        );
    }
    let ran = machine.run_line("memory model add nowhere");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err
            .starts_with("error: there is no model at nowhere\nhelp: name the folder"),
        "{ran:?}"
    );
    let ran = machine.run_line("memory search deploy --role boss");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("user, assistant, toolResult"), "{ran:?}");
    // A folder that somebody put there is named, and not touched.
    let index = index_file(&machine);
    fs::remove_file(&index).unwrap();
    fs::create_dir(&index).unwrap();
    for line in [
        "memory search deploy",
        "memory index",
        "memory index --rebuild",
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.err.contains("it is a folder"), "{line}: {ran:?}");
        assert!(
            ran.err.contains("help: move it out of the way"),
            "{line}: {ran:?}"
        );
    }
    let ran = machine.run_line("memory status");
    assert!(ran.out.contains("it is a folder"), "{ran:?}");
    fs::remove_dir(&index).unwrap();
    let ran = machine.run_line("memory model remove nothing");
    assert_eq!(ran.code, 1, "{ran:?}");
    let ran = machine.run_line("memory model list");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (0, "no model is installed: searches go by words alone\n")
    );
}

#[test]
fn a_path_is_found_however_it_is_written() {
    let machine = machine();
    records(&machine);
    let work = machine.work();
    let whole = work.join("memories/errors.md");
    let found = |path: &str| -> Vec<String> {
        let ran = machine.run(["memory", "search", "deploy", "--json", "--path", path]);
        assert_eq!(ran.code, 0, "{path}: {ran:?}");
        let hits = ran.json()["hits"].as_array().unwrap().clone();
        let sources = hits.iter().map(|hit| hit["source"].as_str().unwrap());
        sources.map(str::to_owned).collect()
    };
    for path in [
        "memories/errors.md",
        "./memories/errors.md",
        "memories/./errors.md",
        "memories/../memories//errors.md",
        "./memories/",
        "memories",
        whole.to_str().unwrap(),
        &format!("{}/./memories/../memories", work.display()),
        ".",
        work.to_str().unwrap(),
    ] {
        assert_eq!(found(path), ["memories/errors.md"], "{path}");
    }
    #[cfg(unix)]
    {
        let link = machine.home().join("link");
        std::os::unix::fs::symlink(&work, &link).unwrap();
        let by_link = link.join("memories/errors.md");
        assert_eq!(found(by_link.to_str().unwrap()), ["memories/errors.md"]);
    }
    // From a folder further in, and by way of one.
    let mut command = machine.command();
    command
        .current_dir(work.join("memories"))
        .args(["memory", "search", "deploy", "--workspace", "..", "--json"])
        .args(["--path", "errors.md"]);
    let ran = machine.finish(&mut command);
    assert_eq!(
        ran.json()["hits"][0]["source"],
        "memories/errors.md",
        "{ran:?}"
    );
}

#[test]
fn a_memory_file_that_is_too_large_is_left_out_and_told() {
    let machine = machine();
    let large = machine.work().join("memories/large.md");
    // Mostly a hole: it has the size, not the blocks.
    fs::File::create(&large)
        .unwrap()
        .set_len(200 << 20)
        .unwrap();
    let ran = machine.run_line("memory index");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.err.contains("memories/large.md"), "{ran:?}");
    let ran = machine.run(["memory", "search", "why do deployments fail?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for line in ["memory status", "memory lint"] {
        let ran = machine.run_line(line);
        assert!(ran.code == 0 || !ran.err.is_empty(), "{line}: {ran:?}");
        assert!(!ran.err.contains("panicked"), "{line}: {ran:?}");
    }
}

#[test]
fn a_query_is_words_whatever_it_looks_like_and_however_long_it_is() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    for query in [
        "deploy AND NOT (fails OR",
        "\"deploy",
        "deploy* NEAR(fails, 2) ^col : {a b} -x",
        "'; DROP TABLE records; -- deploy",
        "deploy \u{0} \u{202e}",
        "NOT deploy",
    ] {
        // No argument holds a NUL; the rest of the line does.
        let query = query.replace('\u{0}', " ");
        let ran = machine.run(["memory", "search", "--", &query]);
        assert_eq!(ran.code, 0, "{query}: {ran:?}");
        assert!(ran.out.contains("TIDE-6943"), "{query}: {ran:?}");
        let ran = machine.run([
            "recall",
            "--session",
            "s",
            "--query",
            &format!("header {query}"),
        ]);
        assert_eq!(ran.code, 0, "{query}: {ran:?}");
    }
    let long = format!("deploy fails {}", "and AND \"then\" ".repeat(7_000));
    assert!(long.len() > 100_000);
    let ran = machine.run(["memory", "search", &long]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains("its first 20000 were used"), "{}", ran.err);
    let ran = machine.run(["recall", "--session", "s", "--query", &long]);
    assert!(matches!(ran.code, 0 | 1), "{}", ran.err);
    assert!(!ran.err.contains("panicked"), "{}", ran.err);
}

#[test]
fn a_filter_that_fits_nothing_is_told_with_what_there_is() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    for (line, told) in [
        (
            "memory search header --role usr",
            "no text of the role \"usr\" is in the index; there are: user, assistant, toolResult",
        ),
        (
            "memory search header --session zz",
            "no text of the session \"zz\" is in the index; there are: /tmp/test/home/.pi/",
        ),
        (
            "memory search deploy --path memories/error.md",
            "no text of the path \"memories/error.md\" is in the index; there are: memories/errors.md",
        ),
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.err.contains(told), "{line}: {ran:?}");
        assert!(!ran.err.contains("other words"), "{line}: {ran:?}");
    }
    let ran = machine.run_line("memory search header --since 2099-01-01");
    assert!(
        ran.err
            .contains("no text of that time is in the index; the first is of 2026-03-01"),
        "{ran:?}"
    );
    let ran = machine.run_line("memory get memories/errors.md --lines 9-12");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("has 3 lines; line 9 is none of them"),
        "{ran:?}"
    );
    // One that fits beside one that does not.
    let ran = machine.run_line("memory search header --role usr --role toolResult --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.json()["notes"].to_string().contains("usr"), "{ran:?}");
    // A path may be written in other ways.
    let whole = machine.work().canonicalize().unwrap().join("memories");
    for path in [
        "./memories",
        "memories/",
        "memories/errors.md",
        whole.to_str().unwrap(),
    ] {
        let ran = machine.run(["memory", "search", "deploy", "--path", path]);
        assert_eq!(ran.code, 0, "{path}: {ran:?}");
    }
    let ran = machine.run_line("memory search nowhereatall --role user");
    assert!(ran.err.contains("other words may find it"), "{ran:?}");
}

#[test]
fn what_is_indexed_and_found_is_as_the_configuration_says() {
    let machine = machine();
    let work = machine.work();
    fs::create_dir_all(work.join("docs/notes")).unwrap();
    fs::write(work.join("docs/notes/a.md"), "The deploy of the tides.\n").unwrap();
    fs::write(work.join("DREAMS.md"), "The deploy of dreams.\n").unwrap();
    fs::write(work.join("../private.md"), "The deploy of secrets.\n").unwrap();
    let sources = |configuration: serde_json::Value| -> (Vec<String>, Vec<String>) {
        fs::create_dir_all(machine.home().join(".longhaul")).unwrap();
        let file = machine.home().join(".longhaul/longhaul.json5");
        fs::write(file, json!({ "memory": configuration }).to_string()).unwrap();
        let indexed = machine.run_line("memory index --rebuild --json").json();
        let ran = machine.run_line("memory search deploy header --json");
        let found = ran.json();
        let name = |hit: &serde_json::Value| hit["source"].as_str().unwrap().to_owned();
        let mut found: Vec<String> = found["hits"].as_array().unwrap().iter().map(name).collect();
        found.sort();
        found.dedup();
        let notes = indexed["notes"].as_array().unwrap().iter();
        (found, notes.map(|note| note.to_string()).collect())
    };
    let (plain, _) = sources(json!({}));
    assert!(
        plain.contains(&"memories/errors.md".to_owned()),
        "{plain:?}"
    );
    assert!(plain.len() > 1, "no session: {plain:?}");
    let (files, _) = sources(json!({ "index": { "transcripts": false } }));
    assert_eq!(files, ["memories/errors.md"]);
    let (more, notes) = sources(json!({ "index": {
        "transcripts": false, "dreams": true, "extraPaths": ["docs/notes", "../private.md"],
    } }));
    assert_eq!(more, ["DREAMS.md", "docs/notes/a.md", "memories/errors.md"]);
    assert!(
        notes
            .iter()
            .any(|note| note.contains("outside of the workspace")),
        "{notes:?}"
    );
    let (one, _) = sources(json!({
        "index": { "transcripts": false, "dreams": true, "extraPaths": ["docs/notes"] },
        "search": { "maxResults": 1 },
    }));
    assert_eq!(one.len(), 1, "{one:?}");
    let file = machine.home().join(".longhaul/longhaul.json5");
    fs::write(&file, r#"{ memory: { index: { enabled: false } } }"#).unwrap();
    for line in ["memory index", "memory search deploy"] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 4, "{ran:?}");
        assert!(ran.err.contains("memory.index.enabled"), "{ran:?}");
    }
}

#[test]
fn what_changed_or_went_since_is_neither_found_nor_got_as_it_was() {
    let machine = machine();
    let notes = machine.work().join("memories");
    fs::write(notes.join("b2.md"), "The beacon is painted red.\n").unwrap();
    fs::write(notes.join("b3.md"), "The beacon keeper is Bo.\n").unwrap();
    assert_eq!(machine.run_line("memory index").code, 0);
    let index = || machine.run_line("memory status --json").json()["index"].clone();
    let before = index();
    assert_eq!(before["state"], "current", "{before:#}");
    assert_eq!(before["updated"], "2026-03-10T12:00:00.000Z");
    fs::write(notes.join("b2.md"), "The beacon is painted green.\n").unwrap();
    fs::remove_file(notes.join("b3.md")).unwrap();
    let behind = index();
    assert_eq!(behind["state"], "behind");
    assert_eq!(
        behind["behind"],
        json!({ "new": 0, "changed": 1, "gone": 1 })
    );
    let shown = machine.run_line("memory status").out;
    assert!(
        shown.contains("2 memory files changed since (0 new, 1 changed, 1 gone)"),
        "{shown}"
    );
    let ran = machine.run_line("memory search beacon");
    assert!(
        ran.out.contains("green") && !ran.out.contains("red") && !ran.out.contains("Bo"),
        "{ran:?}"
    );
    assert_eq!(index()["state"], "current");
    fs::write(notes.join("b2.md"), "The beacon is painted white.\n").unwrap();
    let ran = machine.run_line("memory get memories/b2.md");
    assert!(ran.out.contains("white"), "{ran:?}");
    assert_eq!(machine.run_line("memory get memories/b3.md").code, 1);
}

#[test]
fn what_a_search_finds_does_not_depend_on_how_far_a_recall_looked() {
    let machine = machine();
    let cwd = machine.work().to_string_lossy().into_owned();
    let far = Talk::new("far", &cwd)
        .user("Which of the protected folders does the rewind of a build leave alone?")
        .assistant("The build leaves the protected folders of the rewind alone.");
    machine.put_pi("far", far.text(), 1);
    assert_eq!(machine.run_line("memory index --rebuild").code, 0);
    let search = || {
        machine
            .run_line("memory search build folders --json")
            .json()
    };
    let before = search();
    assert!(before["hits"].as_array().unwrap().len() > 1, "{before:#}");
    let in_context = |hit: &serde_json::Value| hit["source"].as_str().unwrap().contains("far");
    let hits = before["hits"].as_array().unwrap();
    assert!(!hits.iter().any(in_context), "{before:#}");
    // Which entries of another session are found, though they are in its context.
    let recalled = machine
        .run([
            "recall",
            "--session",
            "s",
            "--scope",
            "all",
            "--query",
            "folders that rewinding protects",
            "--json",
        ])
        .json();
    assert_eq!(recalled["hits"][0]["session"], "far", "{recalled:#}");
    assert_eq!(search()["hits"], before["hits"]);
    let again = machine.run_line("memory index --json").json();
    assert_eq!(
        (&again["written"], &again["removed"]),
        (&json!(0), &json!(0))
    );
    assert_eq!(search()["hits"], before["hits"]);
    let rebuilt = machine.run_line("memory index --rebuild --json").json();
    assert_eq!(rebuilt["records"], again["records"]);
    assert_eq!(search()["hits"], before["hits"]);
}

#[test]
fn a_search_without_a_hit_is_an_object_with_none_for_programs() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    let ran = machine.run_line("memory search zeppelin --json");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains("nothing was found"), "{ran:?}");
    let answer = ran.json();
    assert_eq!(answer["hits"], json!([]), "{answer:#}");
    assert_eq!(answer["model"], json!(null), "{answer:#}");
    assert_eq!(machine.run_line("memory search zeppelin").out, "");
}

#[test]
fn what_is_still_in_a_context_is_said_to_be_and_can_be_recalled_so() {
    let machine = machine();
    let cwd = machine.work().to_string_lossy().into_owned();
    let talk = Talk::new("open", &cwd)
        .user("The narwhal sleeps in dock forty-one.")
        .assistant("Noted.");
    machine.put_pi("open", talk.text(), 1);
    assert_eq!(machine.run_line("memory index").code, 0);
    let ran = machine.run_line("memory search dock narwhal");
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    let told = "it is still in the context of session open\n\
                help: `longhaul recall --session open e01` shows it";
    assert!(ran.err.contains(told), "{ran:?}");
    assert!(!ran.err.contains("`longhaul memory index`"), "{ran:?}");
    let ran = machine.run_line("recall --session open e01");
    assert!(ran.out.contains("dock forty-one"), "{ran:?}");
    // What is nowhere, and what was asked for in files alone, is not said to be.
    for line in [
        "memory search zanzibar",
        "memory search narwhal --path memory",
    ] {
        let ran = machine.run_line(line);
        assert!(!ran.err.contains("still in the context"), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn links_that_are_left_out_are_told_where_what_is_asked_for_may_be_behind_them() {
    let machine = machine();
    let work = machine.work();
    fs::create_dir_all(work.join("memory")).unwrap();
    for name in ["a.md", "b.md", "c.md"] {
        std::os::unix::fs::symlink("/etc/hostname", work.join("memory").join(name)).unwrap();
    }
    let ran = machine.run_line("memory index");
    assert_eq!(ran.err.matches("is a link").count(), 3, "{ran:?}");
    // Neither is asked for.
    for line in ["memory search deploy", "memory get memories/errors.md"] {
        let ran = machine.run_line(line);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}: {ran:?}");
    }
    let ran = machine.run_line("memory search zanzibar");
    let told = "3 links among the memory files lead out of memory, or to folders, and were left \
                out; `longhaul memory lint` names them";
    assert_eq!(ran.err.matches("link").count(), 1, "{ran:?}");
    assert!(ran.err.contains(told), "{ran:?}");
    let ran = machine.run_line("memory get memory/b.md");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.err.contains("memory/b.md is a link that leads out"),
        "{ran:?}"
    );
    assert!(!ran.err.contains("memory/a.md"), "{ran:?}");
}

#[test]
fn a_session_and_a_file_are_named_as_they_are_everywhere() {
    let machine = machine();
    assert_eq!(machine.run_line("memory index").code, 0);
    let ran = machine.run_line("memory search --session s build --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["hits"][0]["entry"], "e01", "{ran:?}");
    let ran = machine.run_line("memory search --session nobody build");
    let told = "no text of the session \"nobody\" is in the index";
    assert!(ran.err.contains(told), "{ran:?}");
    let plain = machine.run_line("memory get memories/errors.md");
    assert_eq!(plain.code, 0, "{plain:?}");
    let path = machine.work().join("memories/errors.md");
    for name in [
        "./memories/errors.md",
        "memories/../memories/errors.md",
        "./memories/errors.md:1-3",
        &path.to_string_lossy(),
    ] {
        assert_eq!(machine.run(["memory", "get", name]), plain, "{name}");
    }
    let ran = machine.run_line("memory get e01");
    assert!(
        ran.err.contains("`longhaul recall` takes the id"),
        "{ran:?}"
    );
    // Files outside of memory stay outside.
    fs::write(machine.work().join("secret.txt"), "walrus\n").unwrap();
    assert_eq!(machine.run_line("memory get ./secret.txt").code, 1);
}

#[test]
fn a_hit_of_a_renamed_session_names_it_as_lists_do() {
    let machine = machine();
    let renamed = Talk::new("lighthouse", &machine.work().to_string_lossy())
        .user("The keeper wants a quarterly tide table.")
        .assistant("Noted.");
    machine.put_pi("harbour", renamed.text(), 2);
    let ran = machine.run_line("recall --session s --scope all tide table --json");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["hits"][0]["session"], "harbour", "{ran:?}");
    assert_eq!(machine.run_line("recall --session harb e01").code, 0);
    assert_eq!(machine.run_line("memory index").code, 0);
    let ran = machine.run_line("memory get harbour#e01");
    assert!(ran.out.contains("quarterly tide table"), "{ran:?}");
    // The id in its header names it as well.
    assert_eq!(machine.run_line("recall --session lighthouse e01").code, 0);
}
