//! What is decided about dreams: on what was shown, and on nothing else.

use std::fs;
use std::io::{Read, Write};
use std::process::Command;
use std::time::Duration;

use jiff::civil::date;
use longhaul_memory::dream::{Dreams, Recalled};
use longhaul_memory::{MemoryFolder, Source};

use crate::dreaming::{id, ids, interrupt, log, machine, read, states};
use crate::machine::Machine;
use crate::talk::small;

const KEYS: &str = "[l]ater  [b]ack  [q]uit";

/// Does something as another process would.
fn beside(machine: &Machine, act: impl FnOnce(&Dreams<'_>)) {
    let memory = MemoryFolder::open(&machine.work(), None).unwrap();
    act(&Dreams::new(&machine.home().join(".longhaul"), &memory));
}

/// Runs a review on a terminal of its own. Whenever it asks for a key, for the
/// first, the second, … time, `answer` gives what is typed.
fn reviewed(machine: &Machine, answer: &mut dyn FnMut(usize) -> String) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: no script(1) to make a terminal with");
        return None;
    }
    let program = assert_cmd::cargo::cargo_bin!("longhaul");
    let inner = format!("{} dream review --color never", program.display());
    let mut child = machine.in_terminal(&inner);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (mut bytes, mut asked) = (Vec::new(), 0);
    let mut part = [0; 4096];
    while let Ok(count @ 1..) = stdout.read(&mut part) {
        bytes.extend_from_slice(&part[..count]);
        let shown = String::from_utf8_lossy(&bytes);
        if shown.matches(KEYS).count() > asked {
            asked += 1;
            for key in answer(asked).chars() {
                // A key that is typed before anybody listens is lost.
                std::thread::sleep(Duration::from_millis(300));
                stdin.write_all(key.to_string().as_bytes()).unwrap();
                stdin.flush().unwrap();
            }
        }
    }
    child.wait().unwrap();
    Some(String::from_utf8_lossy(&bytes).replace('\r', ""))
}

#[test]
fn what_another_process_changed_meanwhile_is_shown_again_before_it_is_decided() {
    for keys in ["k", "d", "e!\n"] {
        let machine = machine();
        machine.run_line("dream run");
        let before = read(&machine, "MEMORY.md");
        let id = id(&machine, "push");
        let shown = reviewed(&machine, &mut |asked| {
            if asked > 1 {
                return "q".to_owned();
            }
            beside(&machine, |dreams| {
                let lock = dreams.lock_patiently().unwrap();
                dreams.reword(&lock, &id, "Push on Mondays.").unwrap();
            });
            keys.to_owned()
        });
        let Some(shown) = shown else {
            return;
        };
        let (first, again) = shown
            .split_once("It was changed while it was shown, so nothing was done")
            .unwrap_or_else(|| panic!("{keys:?}: {shown}"));
        assert!(!first.contains("Push on Mondays."), "{shown}");
        assert!(again.contains(&format!("1 of 3  {id}")), "{shown}");
        assert!(again.contains("  Push on Mondays.\n"), "{shown}");
        assert!(again.contains("0 kept, 0 merged, 0 dropped"), "{shown}");
        let kept = "What you wrote was: Never push on Fridays.!";
        assert_eq!(again.contains(kept), keys.starts_with('e'), "{shown}");
        assert_eq!(read(&machine, "MEMORY.md"), before);
        let listed = machine.run_line("dream review --json").json();
        assert_eq!(listed["candidates"][0]["id"], *id);
        assert_eq!(listed["candidates"][0]["wording"], "Push on Mondays.");
    }
}

#[test]
fn what_another_process_decided_meanwhile_is_told_and_the_review_goes_on() {
    let machine = machine();
    machine.run_line("dream run");
    let id = id(&machine, "push");
    let shown = reviewed(&machine, &mut |asked| {
        if asked > 1 {
            return "q".to_owned();
        }
        beside(&machine, |dreams| {
            let lock = dreams.lock_patiently().unwrap();
            dreams.reject(&lock, &id, date(2026, 3, 10)).unwrap();
        });
        "d".to_owned()
    });
    let Some(shown) = shown else {
        return;
    };
    let (_, after) = shown
        .split_once(" became rejected while it was shown, so nothing was done.")
        .unwrap_or_else(|| panic!("{shown}"));
    assert!(after.contains("2 of 3  d-"), "{shown}");
    assert!(after.contains("0 kept, 0 merged, 0 dropped"), "{shown}");
}

#[test]
fn what_became_of_an_interrupted_change_is_told_once() {
    let machine = machine();
    machine.run_line("dream run");
    let id = id(&machine, "push");
    let before = states(&machine);
    machine.put_pi("small", small("small", "/w").text(), 2);
    for line in ["dream run", "dream backfill --all"] {
        machine.run_line(&format!("dream promote {id} --yes"));
        interrupt(&machine, &before);
        let mine = read(&machine, "MEMORY.md") + "a line of mine\n";
        fs::write(machine.work().join("MEMORY.md"), mine).unwrap();
        let ran = machine.run_line(line);
        assert_eq!(
            ran.err.matches("was completed").count(),
            1,
            "{line}: {ran:?}"
        );
        let memory = read(&machine, "MEMORY.md");
        assert_eq!(memory.matches(&id).count(), 1, "{line}: {memory}");
        assert!(memory.contains("a line of mine\n"), "{line}: {memory}");
        machine.run_line("dream undo --yes");
    }
}

#[test]
fn several_names_are_rejected_or_none() {
    let machine = machine();
    machine.run_line("dream run");
    let (push, tokens) = (id(&machine, "push"), id(&machine, "RS256"));
    machine.run_line(&format!("dream promote {tokens} --yes"));
    let refused = machine.run_line(&format!("dream reject {push} {tokens}"));
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.err.contains(&tokens), "{refused:?}");
    let help = "`longhaul dream review --json` lists those that wait";
    assert!(refused.err.contains(help), "{refused:?}");
    assert!(ids(&machine).iter().any(|(id, _)| *id == push));
}

/// A workspace with two that may contradict each other.
fn moved() -> Machine {
    let machine = Machine::new();
    machine.run_line("memory init --name Tides");
    let fact = |day, text| log(&machine, day, "Key Facts", text, Source::User);
    fact(
        date(2026, 3, 7),
        "The database of the shop is in Frankfurt.",
    );
    fact(
        date(2026, 3, 9),
        "The database of the shop is in Dublin now.",
    );
    machine.run_line("dream run");
    machine
}

#[test]
fn two_that_may_contradict_stand_side_by_side_and_the_newer_one_takes_the_place_of_the_older() {
    let machine = moved();
    let Some(shown) = reviewed(&machine, &mut |asked| match asked {
        1 => "m".to_owned(),
        _ => "q".to_owned(),
    }) else {
        return;
    };
    // Side by side, the older one on the left, each with its day.
    let beside = |left: &str, right: &str| {
        let mut lines = shown.lines().filter_map(|line| line.split_once(" │ "));
        lines.any(|(a, b)| a.contains(left) && b.contains(right))
    };
    assert!(beside("2026-03-07", "2026-03-09"), "{shown}");
    assert!(beside("database of the", "database of the"), "{shown}");
    assert!(shown.contains("[m]erge: the newer one stays"), "{shown}");
    assert!(shown.contains(" stays in the place of d-"), "{shown}");
    assert!(shown.contains("0 kept, 1 merged, 0 dropped"), "{shown}");
    let id = id(&machine, "Dublin");
    let told =
        "“The database of the shop is in Frankfurt.” (valid from 2026-03-07 until 2026-03-09)";
    let asked = machine.run_line(&format!("dream promote {id}"));
    assert!(
        asked.out.contains(&format!("{id}, in place of d-")) && asked.out.contains(told),
        "{asked:?}"
    );
    let listed = machine.run_line("dream review --json").json();
    let replaced = &listed["candidates"][0]["inPlaceOf"][0];
    assert_eq!(
        replaced["text"],
        "The database of the shop is in Frankfurt."
    );
    assert_eq!(replaced["validFrom"], "2026-03-07");
    assert_eq!(replaced["validUntil"], "2026-03-09");
    let Some(shown) = reviewed(&machine, &mut |_| "q".to_owned()) else {
        return;
    };
    let line = shown
        .lines()
        .find(|line| line.starts_with("  in place of d-"));
    assert!(line.is_some_and(|line| line.ends_with(told)), "{shown}");
}

/// What a review shows first, as a terminal leaves it on the screen.
fn first_screen(machine: &Machine) -> Option<String> {
    let shown = reviewed(machine, &mut |_| "q".to_owned())?;
    let (screen, _) = shown.split_once(KEYS)?;
    let lines = screen.lines().map(str::trim_end);
    Some(lines.collect::<Vec<_>>().join("\n") + KEYS)
}

#[test]
fn a_screen_has_one_decision_with_its_evidence_and_its_keys() {
    for (name, machine) in [("one", machine()), ("pair", moved())] {
        machine.run_line("dream run");
        if let Some(screen) = first_screen(&machine) {
            insta::assert_snapshot!(format!("review-{name}"), screen);
        }
    }
}

#[test]
fn in_a_pipe_two_are_merged_and_one_is_put_into_other_words() {
    let machine = moved();
    let (old, new) = (id(&machine, "Frankfurt"), id(&machine, "Dublin"));
    let merged = machine.run_line(&format!("dream merge {old} {new} --json"));
    assert_eq!(merged.code, 0, "{merged:?}");
    let merged = merged.json();
    let merged = ["stays", "leaves"].map(|name| merged[name].as_str().unwrap());
    assert_eq!(merged, [new.as_str(), old.as_str()]);
    let edited = machine.run([
        "dream",
        "edit",
        &new,
        "The shop's database: Dublin.",
        "--json",
    ]);
    assert_eq!(edited.code, 0, "{edited:?}");
    assert_eq!(edited.json()["wording"], "The shop's database: Dublin.");
    let listed = machine.run_line("dream review --json").json();
    let all = listed["candidates"].as_array().unwrap();
    let fields = ["id", "wording", "review"].map(|name| all[0][name].as_str().unwrap());
    assert_eq!(all.len(), 1, "{listed:#}");
    assert_eq!(
        fields,
        [new.as_str(), "The shop's database: Dublin.", "edited"]
    );
    // What left can be neither merged nor edited.
    for line in [
        format!("dream merge {old} {new}"),
        format!("dream edit {old} x"),
    ] {
        let refused = machine.run_line(&line);
        assert_ne!(refused.code, 0, "{line}: {refused:?}");
        assert!(
            refused.err.contains("does not wait for review"),
            "{refused:?}"
        );
    }
}

#[test]
fn programs_are_told_what_may_contradict_with_its_days() {
    let machine = moved();
    let listed = machine.run_line("dream review --json").json();
    let first = &listed["candidates"][0]["beside"][0];
    let fields = ["status", "validFrom", "lastSaid"].map(|name| first[name].as_str().unwrap());
    let text = first["text"].as_str().unwrap();
    let days = match text.contains("Frankfurt") {
        true => "2026-03-07",
        false => "2026-03-09",
    };
    assert_eq!(fields, ["staged", days, days]);
}

#[test]
fn what_was_recalled_often_stays_in_sight_and_as_sure_as_it_was() {
    let machine = machine();
    let yesterday = date(2026, 3, 9);
    let facts = [
        "The harbour has nine gates",
        "The lighthouse keeper is Ines",
    ];
    for fact in facts {
        log(&machine, yesterday, "Key Facts", fact, Source::User);
    }
    machine.run_line("dream run");
    let facts = facts.map(|fact| (id(&machine, fact), fact));
    // The one that would leave first if nobody had asked for it.
    let [asked_for, other] = match facts[0].0 < facts[1].0 {
        true => [&facts[0], &facts[1]],
        false => [&facts[1], &facts[0]],
    };
    beside(&machine, |dreams| {
        for _ in 0..5 {
            let line = Recalled::Line(asked_for.1.to_owned());
            dreams.note_recalled([line]).unwrap();
        }
    });
    let sure = |machine: &Machine| {
        machine.run_line("dream review --json").json()["candidates"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == *asked_for.0)
            .and_then(|one| one["confidence"].as_f64())
    };
    machine.run_line("dream run");
    let before = sure(&machine);
    machine.put_pi("small", small("small", "/w").text(), 2);
    machine.run_line("dream backfill --all");
    assert_eq!(sure(&machine), before);
    for (id, _) in &facts {
        machine.run_line(&format!("dream promote {id} --yes"));
    }
    // Room for what is there, and for nothing else.
    let status = machine.run_line("memory status --json").json();
    assert_eq!(status["files"][0]["file"], "MEMORY.md");
    let tokens = status["files"][0]["tokens"].as_u64().unwrap();
    let config = format!("memory:\n  files:\n    maxTokens: {}\n", tokens + 5);
    fs::write(machine.home().join(".longhaul/longhaul.yaml"), config).unwrap();
    let push = id(&machine, "push");
    let change = machine.run_line("dream review --json").json();
    let planned = change["candidates"].as_array().unwrap().iter();
    let mut planned = planned.filter(|one| one["id"] == *push);
    let demoted = planned.next().unwrap()["change"]["demotes"].clone();
    assert_eq!(demoted, serde_json::json!([other.0]));
    let ran = machine.run_line(&format!("dream promote {push} --yes"));
    assert_eq!(ran.code, 0, "{ran:?}");
    let memory = read(&machine, "MEMORY.md");
    assert!(memory.contains(&asked_for.0), "{memory}");
    assert!(!memory.contains(&other.0), "{memory}");
}
