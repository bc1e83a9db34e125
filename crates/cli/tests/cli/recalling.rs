//! `recall`: what left the context, by id, range, text and path.

use serde_json::{Value, json};

use crate::machine::{Machine, Ran};
use crate::talk::{Talk, compacted, long};

fn machine() -> Machine {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    machine
}

fn recall(machine: &Machine, args: &[&str]) -> Ran {
    let fixed = ["recall", "--session", "s"];
    machine.run(fixed.iter().chain(args))
}

/// The ids that were found.
fn found(machine: &Machine, args: &[&str]) -> Vec<String> {
    let ran = recall(machine, &[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
    let answer = ran.json();
    let hits = answer["hits"].as_array().unwrap();
    hits.iter()
        .map(|hit| hit["entry"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn an_id_brings_the_whole_entry_back() {
    let machine = machine();
    let before = machine.files();
    let ran = recall(&machine, &["e01"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (
            0,
            "── recalled e01 · user · 2026-03-01T10:01:00.000Z ──\n\
             Why does the build fail?\n\
             ── end of e01 ──\n"
        )
    );
    let answer = recall(&machine, &["e02", "--json"]).json();
    let hit = &answer["hits"][0];
    assert_eq!(
        [&hit["entry"], &hit["parentId"], &hit["kind"]],
        ["e02", "e01", "assistant"]
    );
    let raw: Value = serde_json::from_str(hit["raw"].as_str().unwrap()).unwrap();
    assert_eq!(raw["id"], "e02");
    assert!(machine.files() == before);
}

#[test]
fn a_range_comes_in_order_and_whole() {
    let machine = machine();
    let all = ["e01", "e02", "e03", "e04", "e05", "e06", "e07", "e08"];
    assert_eq!(found(&machine, &["e01..e08"]), all);
    assert_eq!(found(&machine, &["e03..e03"]), ["e03"]);
    for range in ["e04..e01", "e01..nowhere", "nowhere..e01"] {
        let ran = recall(&machine, &[range]);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{range}: {ran:?}");
        assert!(
            ran.err.contains("\nhelp: `longhaul session show --all`"),
            "{ran:?}"
        );
    }
}

#[test]
fn text_is_found_whatever_its_case_and_spacing() {
    let machine = machine();
    for words in ["missing header", "MISSING   Header", "missing\n\theader"] {
        assert_eq!(found(&machine, &["--text", words]), ["e03"], "{words:?}");
        assert_eq!(found(&machine, &[words])[0], "e03", "{words:?}");
    }
    // The shorter text says it more plainly.
    assert_eq!(found(&machine, &["--text", "HEADER"]), ["e03", "e04"]);
    assert_eq!(found(&machine, &["header"])[..2], ["e03", "e04"]);
    // The arguments of a call are text too.
    assert_eq!(found(&machine, &["--text", "make all"]), ["e02"]);
    assert_eq!(found(&machine, &["--text", "header", "-n", "1"]), ["e03"]);
}

#[test]
fn a_file_is_found_by_part_of_its_path() {
    let machine = Machine::new();
    let talk = Talk::new("s", "/w")
        .user("Look at src/parse.rs, please.")
        .call("read", json!({ "path": "/w/src/parse.rs" }))
        .result("read", "fn parse() {}")
        .call("edit", json!({ "path": "/w/src/lexer.rs" }))
        .result("edit", "done")
        .assistant("Both read.");
    machine.put_pi("s", talk.text(), 1);
    let path = |path: &str| found(&machine, &["--path", path]);
    // The call that read it comes before those who speak of it.
    assert_eq!(path("src/parse.rs"), ["e02", "e01"]);
    assert_eq!(path("/w/src/parse.rs"), ["e02", "e01"]);
    assert_eq!(path("lexer"), ["e04"]);
    assert_eq!(path("exer.rs"), ["e04"]);
}

#[test]
fn an_id_that_another_one_starts_with_is_that_entry_alone() {
    let machine = Machine::new();
    let text = Talk::new("s", "/w").user("one").assistant("two").text();
    let text = text.replace("\"e02\"", "\"e01b\"");
    machine.put_pi("s", text, 1);
    assert_eq!(found(&machine, &["e01"]), ["e01"]);
    assert_eq!(found(&machine, &["e0"]), ["e01", "e01b"]);
}

#[test]
fn entries_that_say_the_same_are_one_hit_that_names_them() {
    let machine = Machine::new();
    let updated = "The file a.rs has been updated successfully.";
    let mut talk = Talk::new("s", "/w").user("go");
    for _ in 0..7 {
        talk = talk
            .call("edit", json!({ "path": "a.rs" }))
            .result("edit", updated);
    }
    let talk = talk
        .call("edit", json!({ "path": "b.rs" }))
        .result("edit", &format!("12 lines\n{updated}\nAll is well."))
        .assistant("I said: the file a.rs has been updated, seven times.");
    machine.put_pi("s", talk.text(), 1);
    let ran = recall(&machine, &["file a.rs has been updated", "--json"]);
    let answer = ran.json();
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 2, "{ran:?}");
    // What was said once comes before what was said all the time.
    assert_eq!(hits[0]["entry"], "e18");
    let none = json!({ "count": 0, "same": "text", "entries": [] });
    assert_eq!(hits[0]["alsoIn"], none);
    assert_eq!(hits[1]["entry"], "e17");
    let others = json!({
        "count": 7,
        "same": "passage",
        "entries": ["e03", "e05", "e07", "e09", "e11", "e13", "e15"],
    });
    assert_eq!(hits[1]["alsoIn"], others);
    let ran = recall(&machine, &["file a.rs has been updated"]);
    let also = "\nand the same passage in 7 more entries: e03, e05, e07, e09, e11, e13, e15\n── end of e17 ──";
    assert!(ran.out.contains(also), "{ran:?}");
}

#[test]
fn whole_words_and_the_same_case_come_first() {
    let machine = Machine::new();
    let talk = Talk::new("s", "/w")
        .user("Unparsed headers")
        .assistant("PARSED HEADER, at last")
        .user("The parsed header, whatever the length of what is said about it")
        .assistant("parsed headerless files");
    machine.put_pi("s", talk.text(), 1);
    let words = ["--text", "parsed header"];
    assert_eq!(found(&machine, &words), ["e03", "e02", "e01", "e04"]);
}

#[test]
fn nothing_found_says_what_to_try() {
    let machine = machine();
    for (args, help) in [
        (&["--text", "zzz"][..], "fewer words find more"),
        (&["no such words"], "other words may find it; --scope all"),
        (
            &["no such words", "--scope", "all"],
            "other words may find it; `longhaul memory search`",
        ),
        (&["--path", "zzz.rs"], "part of the path is enough"),
    ] {
        let ran = recall(&machine, args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        assert!(
            ran.err
                .starts_with(&format!("error: nothing was found\nhelp: {help}")),
            "{args:?}: {ran:?}"
        );
    }
    let ran = recall(&machine, &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("a range FROM..TO"), "{ran:?}");
}

#[test]
fn what_is_still_in_the_context_is_not_said_to_be_nowhere() {
    let machine = Machine::new();
    let cwd = machine.work().to_string_lossy().into_owned();
    let talk = Talk::new("s", &cwd)
        .user("Our staging database listens on port 5433.")
        .assistant("Noted.");
    machine.put_pi("s", talk.text(), 1);
    for scope in ["session", "family", "all"] {
        let args = ["database port staging", "--scope", scope];
        let ran = recall(&machine, &args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
        for told in [
            "error: nothing was found outside the context of the session",
            "is still in it: e01\n",
            "`longhaul recall --session s e01` shows it",
        ] {
            assert!(ran.err.contains(told), "{scope}: {ran:?}");
        }
        assert!(!ran.err.contains("other words"), "{ran:?}");
        let ran = recall(&machine, &[&args[..], &["--json"]].concat());
        assert_eq!(ran.code, 1, "{ran:?}");
        let answer: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(answer["hits"], serde_json::json!([]));
        let note = answer["notes"][0].as_str().unwrap();
        assert!(
            note.starts_with("nothing was found outside the context of session s; what has ")
                && note.ends_with(" is still in it: e01"),
            "{note}"
        );
    }
    // What is nowhere is not said to be there.
    let ran = recall(&machine, &["narwhals in zanzibar"]);
    assert!(ran.err.contains("other words may find it"), "{ran:?}");
}

#[test]
fn the_archive_is_searched_too() {
    for packing in ["", "--zstd"] {
        let machine = machine();
        let ran = machine.run_line(&format!("session archive s --yes {packing}"));
        assert_eq!(ran.code, 0, "{ran:?}");
        let archived = machine.files();
        assert_eq!(found(&machine, &["e01"]), ["e01"]);
        assert_eq!(found(&machine, &["--text", "missing HEADER"]), ["e03"]);
        assert_eq!(found(&machine, &["e03..e06"]), ["e03", "e04", "e05", "e06"]);
        assert!(machine.files() == archived);
    }
}

/// The audit says that all that left can be recalled; this asks for each.
#[test]
fn what_a_compaction_calls_recallable_can_be_recalled() {
    let machine = Machine::new();
    machine.put_pi("s", long(8), 1);
    let answer = machine
        .run_line("compact s --yes --window 10k --json")
        .json();
    let diff = machine.run_line("context diff --session s --json").json();
    let left = diff["left"].as_array().unwrap();
    let recallable = &answer["fidelity"]["recallable"];
    assert!(left.len() > 10, "{left:?}");
    assert_eq!(recallable["total"], left.len());
    assert_eq!(recallable["kept"], left.len());
    assert_eq!(machine.run_line("session archive s --yes").code, 0);
    for gone in left {
        let entry = gone["entry"].as_str().unwrap();
        assert_eq!(found(&machine, &[entry]), [entry]);
    }
}

#[test]
fn an_empty_question_is_a_mistake() {
    let machine = machine();
    for args in [&[""][..], &["  "], &["--text", ""], &["--path", " "], &[]] {
        let ran = recall(&machine, args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.err.contains("say what to recall"), "{ran:?}");
    }
}

/// A session that was compacted, in the workspace of the machine.
fn in_workspace(machine: &Machine, id: &str) -> std::path::PathBuf {
    let cwd = machine.work().to_string_lossy().into_owned();
    machine.put_pi(id, compacted(id, &cwd).text(), 1)
}

#[test]
fn words_in_another_order_are_found_after_those_that_stand_there() {
    let machine = Machine::new();
    in_workspace(&machine, "s");
    let about = &["--query", "header missing", "--json"];
    assert_eq!(recall(&machine, &["--text", "header missing"]).code, 1);
    let answer = recall(&machine, about).json();
    let hits = answer["hits"].as_array().unwrap();
    assert_eq!([&hits[0]["entry"], &hits[1]["entry"]], ["e04", "e03"]);
    assert_eq!(hits[1]["why"]["found"], "meaning");
    assert_eq!(hits[1]["why"]["terms"], json!(["header", "missing"]));
    assert_eq!(answer["model"], json!(null));
    let both = recall(&machine, &["missing header", "--json"]).json();
    let hits = both["hits"].as_array().unwrap();
    let how: Vec<&str> = hits
        .iter()
        .map(|hit| hit["why"]["found"].as_str().unwrap())
        .collect();
    assert_eq!(how[0], "words", "{both:#}");
    assert!(how[1..].iter().all(|how| *how == "meaning"), "{both:#}");
    // The words stand in the fence, why they are a hit beside it.
    let shown = recall(&machine, &["--query", "header missing", "-n", "1"]);
    assert!(
        shown
            .out
            .starts_with("── recalled e04 · assistant · 2026-03-01T10:04:00.000Z ──\n"),
        "{shown:?}"
    );
    assert!(
        shown.out.contains("── end of e04 ──\nwhy: score "),
        "{shown:?}"
    );
}

#[test]
fn other_sessions_are_looked_through_only_when_asked_for() {
    let machine = Machine::new();
    in_workspace(&machine, "s");
    let cwd = machine.work().to_string_lossy().into_owned();
    let parent = in_workspace(&machine, "kin");
    let child = Talk::new("s", &cwd).user("Where were we?").text();
    let child = child.replacen(
        "\"cwd\"",
        &format!("\"parentSession\":{},\"cwd\"", json!(parent)),
        1,
    );
    machine.put_pi("s", child, 1);
    let stranger = Talk::new("far", &cwd)
        .user("The lighthouse keeper wants a quarterly tide table.")
        .assistant("Noted.");
    machine.put_pi("far", stranger.text(), 1);
    let ask = |scope: &str, words: &str| {
        let ran = recall(&machine, &["--query", words, "--scope", scope, "--json"]);
        match ran.code {
            0 => ran.json()["hits"][0]["session"]
                .as_str()
                .unwrap()
                .to_owned(),
            _ => String::new(),
        }
    };
    // Word for word, and in another order.
    for words in ["missing header", "header missing"] {
        assert_eq!(ask("session", words), "", "{words}");
        assert_eq!(ask("family", words), "kin", "{words}");
        assert_eq!(ask("all", words), "kin", "{words}");
    }
    for words in ["quarterly tide table", "table of quarterly tides"] {
        assert_eq!(ask("family", words), "", "{words}");
        assert_eq!(ask("all", words), "far", "{words}");
    }
    let shown = recall(&machine, &["tide table", "--scope", "all"]);
    assert!(
        shown
            .out
            .starts_with("── recalled e01 · session far · user · "),
        "{shown:?}"
    );
}

#[test]
fn without_a_usable_index_words_are_found_as_they_stand() {
    let machine = Machine::new();
    in_workspace(&machine, "s");
    // A file where the folder of the index should be.
    machine.put(".longhaul/memory", "", 1);
    let ran = recall(&machine, &["missing header"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("── recalled e03 "), "{ran:?}");
    assert!(
        ran.err.contains("only what stands there word for word"),
        "{ran:?}"
    );
    let ran = recall(&machine, &["header missing"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
}

#[test]
fn words_are_found_whatever_stands_between_them() {
    let machine = Machine::new();
    let said = "Bring the purple ticket, before midnight, otherwise the gate is shut.";
    machine.put_pi("s", Talk::new("s", "/w").user(said).text(), 1);
    let words = ["--text", "purple ticket before midnight otherwise"];
    assert_eq!(found(&machine, &words), ["e01"]);
}

#[test]
fn what_looked_back_is_found_neither_by_words_nor_by_meaning() {
    let machine = Machine::new();
    let cwd = machine.work().to_string_lossy().into_owned();
    let asked = json!({ "query": "narwhal config folder" });
    let quoted = "entry e01: The narwhal keeps its config folder below /etc.";
    let mut talk = Talk::new("s", &cwd).user("The narwhal keeps its config folder below /etc.");
    for tool in ["recall", "mcp__longhaul__recall", "memory_search"] {
        talk = talk.call(tool, asked.clone()).result(tool, quoted);
    }
    let talk = talk.assistant("Noted.").user("What is next?");
    let talk = talk.compaction("e09", "The narwhal was spoken of.");
    machine.put_pi("s", talk.text(), 1);
    for args in [
        &["--query", "config folder narwhal", "-n", "9"][..],
        &["--query", "narwhal config folder", "-n", "9"],
        &["--text", "config folder", "-n", "9"],
    ] {
        let found = found(&machine, args);
        assert_eq!(found[0], "e01", "{args:?}");
        let repeats = ["e02", "e03", "e04", "e05", "e06", "e07"];
        assert!(
            found.iter().all(|id| !repeats.contains(&id.as_str())),
            "{args:?}: {found:?}"
        );
    }
    assert_eq!(found(&machine, &["e03"]), ["e03"]);
}

#[test]
fn a_single_word_that_is_no_id_is_looked_for() {
    let machine = Machine::new();
    let talk = Talk::new("s", "/w")
        .user("Where is isProtectedPath() defined?")
        .assistant("In the rewind module.")
        .user("请用中文回答我的问题。")
        .assistant("The commit is 0badc0de1.");
    machine.put_pi("s", talk.text(), 1);
    for (word, entry) in [
        ("isProtectedPath", "e01"),
        ("isProtectedPath()", "e01"),
        ("rewind", "e02"),
        ("用中文回答我的问题", "e03"),
    ] {
        assert_eq!(found(&machine, &[word]), [entry], "{word}");
        assert_eq!(recall(&machine, &[word]).err, "", "{word}");
    }
    // An id comes before a word.
    assert_eq!(found(&machine, &["e02"]), ["e02"]);
    // What looks like an id and is none is said to be none.
    let ran = recall(&machine, &["0badc0de1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("── recalled e04 "), "{ran:?}");
    let told = "note: no entry's id begins with \"0badc0de1\"; looked for as words";
    assert!(ran.err.contains(told), "{ran:?}");
    let ran = recall(&machine, &["zanzibar"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    let told = "no entry's id begins with \"zanzibar\", and none has it as words";
    assert!(ran.err.contains(told), "{ran:?}");
    assert!(ran.err.contains("other words may find it"), "{ran:?}");
}

#[test]
fn an_id_is_known_as_a_summary_prints_it_and_in_any_case() {
    let machine = Machine::new();
    let text = Talk::new("s", "/w").user("one").assistant("two").text();
    let text = text
        .replace("\"e01\"", "\"01a1e124-29f0-7c3d\"")
        .replace("\"e02\"", "\"01b2e124-29f0-7c3d\"");
    machine.put_pi("s", text, 1);
    let first = "01a1e124-29f0-7c3d";
    for name in [
        "·01a1e124-29f0-7c3d",
        "01A1E124-29F0-7C3D",
        "·01a1e124",
        "01A1E",
        "`01a1e124…`",
        "·01a1e124..·01A1E124",
    ] {
        assert_eq!(found(&machine, &[name]), [first], "{name}");
        assert_eq!(recall(&machine, &[name]).err, "", "{name}");
    }
    let both = ["01a1e124-29f0-7c3d", "01b2e124-29f0-7c3d"];
    assert_eq!(found(&machine, &["·01A1E124..·01b2e124"]), both);
    assert_eq!(recall(&machine, &["·"]).code, 1);
}

#[test]
fn the_beginning_of_many_ids_says_how_many_more_there_are() {
    let machine = Machine::new();
    let mut talk = Talk::new("s", "/w");
    for nth in 0..9 {
        talk = talk.user(&format!("message {nth}"));
    }
    machine.put_pi("s", talk.text(), 1);
    let answer = recall(&machine, &["e0", "--json"]).json();
    let hits = answer["hits"].as_array().unwrap();
    let ids: Vec<&Value> = hits.iter().map(|hit| &hit["entry"]).collect();
    assert_eq!(ids, ["e05", "e06", "e07", "e08", "e09"]);
    let others = json!({
        "count": 4, "same": "beginning", "entries": ["e04", "e03", "e02", "e01"],
    });
    assert_eq!(hits[4]["alsoIn"], others);
    let ran = recall(&machine, &["e0"]);
    let also = "\nand 4 more entries whose ids begin so: e04, e03, e02, e01\n── end of e09 ──";
    assert!(ran.out.contains(also), "{ran:?}");
    let all = recall(&machine, &["e0", "-n", "9"]);
    assert!(!all.out.contains("begin so"), "{all:?}");
}

#[test]
fn what_has_none_of_the_words_is_left_out_where_they_are_found() {
    let machine = Machine::new();
    let cwd = machine.work().to_string_lossy().into_owned();
    let talk = Talk::new("s", &cwd)
        .user("Always name functions in snake_case, please.")
        .assistant("Understood. ok")
        .user("And now?")
        .assistant("Now we wait.")
        .compaction("e03", "Names were spoken of.");
    machine.put_pi("s", talk.text(), 1);
    for args in [
        &["snake_case", "-n", "9"][..],
        &["--query", "snake_case", "-n", "9"],
        &["--query", "functions please name", "-n", "9"],
    ] {
        assert_eq!(found(&machine, args), ["e01"], "{args:?}");
    }
}

#[test]
fn words_need_no_quotes_and_a_key_of_a_search_is_an_entry() {
    let machine = Machine::new();
    let cwd = machine.work().to_string_lossy().into_owned();
    let talk = Talk::new("far", &cwd)
        .user("The tide table of the lighthouse.")
        .assistant("It is C# and issue#12.")
        .user("And now?")
        .compaction("e03", "Tides.");
    let path = machine.put_pi("far", talk.text(), 9);
    in_workspace(&machine, "s");
    assert_eq!(recall(&machine, &["missing", "header"]).code, 0);
    assert_eq!(found(&machine, &["missing", "header"])[0], "e03");
    // The key names its session.
    let file = path.canonicalize().unwrap();
    let file = file.to_string_lossy();
    for key in [
        format!("{file}#e01"),
        format!("{file}#e01:1-1"),
        "far#e01".to_owned(),
    ] {
        let ran = machine.run(["recall", &key, "--json"]);
        assert_eq!(ran.code, 0, "{key}: {ran:?}");
        let hit = &ran.json()["hits"][0];
        assert_eq!([&hit["session"], &hit["entry"]], ["far", "e01"], "{key}");
    }
    // What only looks like one is words.
    let ran = machine.run(["recall", "--session", "far", "issue#12", "--json"]);
    assert_eq!(ran.json()["hits"][0]["entry"], "e02", "{ran:?}");
}

#[test]
fn a_range_with_one_end_is_a_mistake() {
    let machine = machine();
    for range in ["01a1e124..", "..01a1e124", "·01a1e124 .."] {
        let ran = recall(&machine, &[range]);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{range}: {ran:?}");
        assert!(ran.err.contains("FROM..TO"), "{range}: {ran:?}");
    }
}

#[test]
fn what_is_not_found_is_repeated_only_in_part() {
    let machine = machine();
    let long = "(".repeat(100_000);
    let name = "walrus".repeat(20_000);
    for args in [
        &["recall", "--session", "s", &long][..],
        &["recall", "--session", "s", &name],
        &["recall", "--session", &name, "e01"],
        &["memory", "get", &name],
        &["session", "show", &name],
        &["memory", "model", "remove", &name],
    ] {
        let ran = machine.run(args);
        let what = &args[..2];
        assert_ne!(ran.code, 0, "{what:?}");
        let size = ran.err.len() + ran.out.len();
        assert!(size < 1_000, "{what:?}: {size} bytes");
    }
    let ran = recall(&machine, &["zzz"]);
    assert!(
        ran.err.contains("no entry's id begins with \"zzz\""),
        "{ran:?}"
    );
}

#[test]
fn an_index_that_was_emptied_since_is_filled_again() {
    let machine = machine();
    let ask = ["--query", "fail the build does"];
    let before = found(&machine, &ask);
    assert!(before.contains(&"e01".to_owned()), "{before:?}");
    let folder = machine.home().join(".longhaul/memory");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "sqlite") {
            // The same file, without anything in it.
            std::fs::write(&path, "").unwrap();
        }
    }
    assert_eq!(found(&machine, &ask), before);
}
