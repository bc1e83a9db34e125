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
        assert_eq!(found(&machine, &[words]), ["e03"], "{words:?}");
    }
    // One word is an id, unless it is said to be text. The shorter text says
    // it more plainly.
    assert_eq!(found(&machine, &["--text", "HEADER"]), ["e03", "e04"]);
    assert_eq!(recall(&machine, &["header"]).code, 1);
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
        (
            &["zzz"][..],
            "`longhaul session show --all` lists every entry",
        ),
        (&["--text", "zzz"], "fewer words find more"),
        (&["no such words"], "fewer words find more"),
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

/// The audit says what can be recalled; this asks for each.
#[test]
fn what_a_compaction_calls_recallable_can_be_recalled() {
    let machine = Machine::new();
    machine.put_pi("s", long(8), 1);
    let answer = machine
        .run_line("compact s --yes --window 10k --json")
        .json();
    assert_eq!(machine.run_line("session archive s --yes").code, 0);
    let facts = answer["fidelity"]["recallable"].as_array().unwrap();
    assert!(facts.len() > 10, "{facts:?}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for fact in facts {
        let entry = fact["entry"].as_str().unwrap();
        let ran = recall(&machine, &[entry]);
        assert_eq!(ran.code, 0, "{fact}: {ran:?}");
        // A file that was read is proved by what was read, not by its name.
        if fact["category"] == "fileRead" {
            assert!(ran.out.contains(" · toolResult · "), "{fact}: {ran:?}");
            continue;
        }
        let text = words(fact["text"].as_str().unwrap());
        assert!(words(&ran.out).contains(&text), "{fact}: {ran:?}");
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
