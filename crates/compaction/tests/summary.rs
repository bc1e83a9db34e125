//! What a summary says, section by section, and how large it may be.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, missing_docs)]

#[path = "summary/audit.rs"]
mod audit;
#[path = "summary/staged.rs"]
mod staged;
#[path = "summary/story.rs"]
mod story;
#[path = "summary/words.rs"]
mod words;

use longhaul_compaction::Layer;
use longhaul_compaction::summary::{
    Extractive, Limits, Material, Sizes, Summary, heading, summarize,
};
use longhaul_tokens::{Bpe, Tokens, Window, WindowSettings};
use serde_json::json;
use story::{Story, Told};

fn limits(window: u32) -> Limits {
    let window = Window::new(&WindowSettings::of(Tokens(window))).unwrap();
    Limits::new(&window, Layer::Summarize, &Sizes::default())
}

/// All of it compacted, the last `kept` messages staying.
fn compacted(told: &Told, kept: usize, window: u32) -> Summary {
    let (removed, kept) = told.messages.split_at(told.messages.len() - kept);
    let material = Material {
        removed,
        kept,
        ..Material::of(&told.ledger)
    };
    summarize(&mut Extractive, &material, &limits(window), &Bpe::o200k())
}

/// The lines below a heading.
fn section<'t>(text: &'t str, heading: &str) -> Vec<&'t str> {
    let mut lines = text.lines().skip_while(|line| *line != heading);
    lines.next();
    lines
        .take_while(|line| !line.starts_with("## ") && *line != "---")
        .collect()
}

/// The headings of a summary, in order.
fn headings(summary: &str) -> Vec<&str> {
    let lines = summary.lines();
    lines.filter(|line| line.starts_with("## ")).collect()
}

#[test]
fn the_sections_are_those_of_the_specification_in_their_order_and_none_repeats_another() {
    let told = Story::default()
        .user("Port the parser.\nKeep the API as it is.")
        .call("read", json!({"path":"src/old.rs"}), "fn old() {}", json!({}))
        .edit("src/parser.rs")
        .run("cargo test", 101, "src/parser.rs:3:1: expected `;`")
        .call("note", json!({"kind":"decision","text":"pest over nom"}), "noted", json!({}))
        .call("todowrite", json!({"todos":[{"content":"write docs","status":"pending"},{"content":"port it","status":"completed"}]}), "ok", json!({}))
        .agent("The tests fail.\nNext: mend the grammar.")
        .user("Go on.")
        .edit("src/grammar.rs")
        .message(json!({"role":"assistant","content":[{"type":"text","text":"Now the lexer."}],"stopReason":"toolUse"}))
        .done();
    let made = compacted(&told, 0, 200_000);
    assert_eq!(
        headings(&made.text),
        [
            heading::WORDS,
            heading::AGREED,
            heading::TURNS,
            heading::CHANGED,
            heading::READ,
            heading::FAILING,
            heading::OPEN,
            heading::PENDING,
            heading::STANDS,
        ]
    );
    insta::assert_snapshot!(made.text);
    let bullets: Vec<&str> = made
        .text
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    for (at, line) in bullets.iter().enumerate() {
        let is_id = line
            .strip_prefix("- ·")
            .is_some_and(|rest| !rest.contains(' '));
        assert!(!is_id, "only an id: {line}");
        assert!(!bullets[..at].contains(line), "twice: {line}");
    }
}

#[test]
fn a_section_that_is_empty_is_left_out_and_a_session_without_a_user_has_no_words() {
    let told = Story::default().edit("src/a.rs").agent("Done.").done();
    let made = compacted(&told, 0, 200_000);
    assert_eq!(
        headings(&made.text),
        [heading::TURNS, heading::CHANGED, heading::STANDS]
    );
}

#[test]
fn failing_now_is_the_latest_run_of_a_command_and_nothing_that_was_made_moot() {
    let told = Story::default()
        .user("Make it pass.")
        .run("cargo build", 101, "error[E0425]")
        .run("cargo build", 0, "ok")
        .run("cd /w && cargo clippy 2>&1 | tail -3", 1, "warning: unused")
        .run("cargo clippy", 0, "fine")
        .run("grep -rn foo src", 1, "")
        .run("ls /nowhere", 2, "ls: cannot access '/nowhere'")
        .run("python scratch.py", 1, "NameError")
        .run("rm scratch.py", 0, "")
        .call(
            "bash",
            json!({"command":"git push"}),
            "The user doesn't want to proceed",
            json!({"isError":true,"rejected":true}),
        )
        .call(
            "read",
            json!({"path":"guess.rs"}),
            "File does not exist.",
            json!({"isError":true}),
        )
        .run(
            "cargo test -p shop",
            101,
            "running 3 tests\nsrc/tax.rs:9:5: assertion failed",
        )
        .done();
    let made = compacted(&told, 0, 200_000);
    let failing = section(&made.text, heading::FAILING);
    assert_eq!(failing.len(), 2, "{failing:?}");
    assert!(
        failing[1].starts_with(
            "- `cargo test -p shop` exit 101: src/tax.rs:9:5: assertion failed (#1) ·"
        ),
        "{failing:?}"
    );
}

#[test]
fn open_is_what_to_do_tools_and_questions_say_and_never_a_tick_box_out_of_prose() {
    let told = Story::default()
        .user("Plan it.\n- [ ] not an item\nTODO: nor this")
        .agent("- [ ] write tests\n- [x] done")
        .user("Do it.")
        .call("taskcreate", json!({"subject":"ship it"}), "Task #1 created successfully: ship it", json!({}))
        .call("taskcreate", json!({"subject":"test it"}), "Task #2 created successfully: test it", json!({}))
        .call("taskupdate", json!({"taskId":"2","status":"completed"}), "ok", json!({}))
        .message(json!({"role":"assistant","content":[{"type":"toolCall","id":"q","name":"AskUserQuestion","arguments":{"questions":[{"question":"Which port?","options":[{"label":"80"}]}]}}],"stopReason":"toolUse"}))
        .done();
    let made = compacted(&told, 0, 200_000);
    let open = section(&made.text, heading::OPEN);
    assert_eq!(open[0], "- ship it");
    assert!(
        open[1].starts_with("- question to the user: Which port? ·"),
        "{open:?}"
    );
    assert_eq!(open[2..], ["- request #2 of the user"]);
}

#[test]
fn what_was_agreed_is_the_text_of_the_option_the_plan_and_the_notes() {
    let asked = json!({"questions":[{"question":"Which timing model?","options":[{"label":"A","description":"wall clock"},{"label":"B","description":"ticks"}]}]});
    let told = Story::default()
        .user("Design it.")
        .call("AskUserQuestion", asked, "User has answered", json!({"userText":[{"channel":"answer","question":"Which timing model?","text":"B"}]}))
        .call("ExitPlanMode", json!({"plan":"1. Count ticks.\n2. Test."}), "User has approved your plan", json!({}))
        .call("ExitPlanMode", json!({"plan":"Rewrite it all."}), "rejected", json!({"isError":true,"rejected":true,"userText":[{"channel":"plan","text":"too much"}]}))
        .call("ExitPlanMode", json!({"plan":"Rewrite half."}), "rejected", json!({"isError":true,"rejected":true,"userText":[{"channel":"plan","text":"still too much"}]}))
        .call("mcp__longhaul__note", json!({"kind":"fact","text":"a tick is 20 ms"}), "noted", json!({}))
        .agent("Planned.")
        .done();
    let made = compacted(&told, 0, 200_000);
    let agreed = section(&made.text, heading::AGREED).join("\n");
    assert!(
        agreed.contains("“Which timing model?” → “B” (B: ticks)"),
        "{agreed}"
    );
    assert!(agreed.contains("1. Count ticks.\n2. Test."), "{agreed}");
    assert!(agreed.contains("- fact: a tick is 20 ms"), "{agreed}");
    assert!(!made.text.contains("Rewrite"), "{}", made.text);
    let words = section(&made.text, heading::WORDS).join("\n");
    assert!(
        words.contains("plan]") && words.contains("too much") && words.contains("still too much")
    );
    // The answer stands with its question, and not a second time.
    assert!(!words.contains("answer]"), "{words}");
}

#[test]
fn every_changed_file_stands_there_and_read_ones_by_folder_past_forty() {
    let mut story = Story::default().user("Look around.");
    for at in 0..90 {
        story = story.call(
            "read",
            json!({"path":format!("src/m{}/f{at}.rs", at % 3)}),
            "x",
            json!({}),
        );
    }
    for at in 0..60 {
        story = story.edit(&format!("lib/g{at}.rs"));
    }
    let told = story.agent("Looked.").done();
    for window in [200_000, 60_000, 24_000] {
        let made = compacted(&told, 0, window);
        let changed = section(&made.text, heading::CHANGED);
        for at in 0..60 {
            let path = format!("- lib/g{at}.rs");
            assert!(
                changed.iter().any(|line| line.starts_with(&path)),
                "{path} at {window}"
            );
        }
        assert!(made.tokens <= limits(window).total);
    }
    let made = compacted(&told, 0, 200_000);
    let read = section(&made.text, heading::READ);
    assert_eq!(read.iter().filter(|line| line.ends_with(".rs")).count(), 40);
    let by_folder: usize = read
        .iter()
        .filter_map(|line| line.split_once("/ +")?.1.parse::<usize>().ok())
        .sum();
    assert_eq!(by_folder, 50, "{read:?}");
}

#[test]
fn compacting_the_same_again_changes_nothing() {
    let told = Story::default()
        .user("Fix it.")
        .edit("src/a.rs")
        .run("make", 2, "src/a.rs:1: no")
        .agent("It fails.")
        .user("And now?")
        .agent("Mended.")
        .done();
    let once = compacted(&told, 2, 24_000);
    assert_eq!(once, compacted(&told, 2, 24_000));
    // What is kept word for word is not said again.
    assert!(!once.text.contains("And now?") && once.text.contains("Fix it."));
}
