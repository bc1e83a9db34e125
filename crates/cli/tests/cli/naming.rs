//! How a session is named, and which one is meant when none is.

use insta::assert_snapshot;

use crate::machine::Machine;
use crate::talk::small;

fn id(machine: &Machine, name: &str) -> String {
    let ran = machine.run(["context", "status", "--json", "--session", name]);
    let value = ran.json();
    value["session"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn by_id_prefix_header_label_name_and_path() {
    let machine = Machine::new();
    machine.put_pi(
        "0195aaaa-1111",
        small("0195aaaa-1111", "/w").label("e01", "start").text(),
        1,
    );
    let named = small("other-header", "/w");
    let named = named.entry(serde_json::json!({ "type": "session_info", "name": "the big one" }));
    let path = machine.put_pi("0195bbbb-2222", named.text(), 2);
    assert_eq!(id(&machine, "0195aaaa-1111"), "0195aaaa-1111");
    assert_eq!(id(&machine, "0195a"), "0195aaaa-1111");
    assert_eq!(id(&machine, "start"), "0195aaaa-1111");
    assert_eq!(id(&machine, "the big one"), "0195bbbb-2222");
    assert_eq!(id(&machine, "other-header"), "0195bbbb-2222");
    assert_eq!(id(&machine, path.to_str().unwrap()), "0195bbbb-2222");
    let below_home = path.strip_prefix(machine.home()).unwrap();
    assert_eq!(
        id(&machine, &format!("~/{}", below_home.display())),
        "0195bbbb-2222"
    );
}

#[test]
fn a_key_that_several_sessions_share_means_the_newest_with_a_note() {
    let machine = Machine::new();
    let put = |time: &str, text: &str, hours| {
        let name = format!(".longhaul/sessions/{time}_work.jsonl");
        machine.put(&name, small("work", "/w").user(text).text(), hours)
    };
    put("2026-03-10T01-00-00-000Z", "the first", 9);
    put("2026-03-10T02-00-00-000Z", "the second", 5);
    for line in [
        "context status --json --session work",
        "context history --json --session work",
        "session show --json work",
        "compact --dry-run --window 8k --session work",
    ] {
        let ran = machine.run_line(line);
        assert!(ran.err.contains("2 sessions are called"), "{line}: {ran:?}");
        assert!(!ran.err.contains("could be any"), "{line}: {ran:?}");
    }
    let status = machine.run_line("context status --json --session work");
    let path = status.json()["session"]["path"].to_string();
    assert!(path.contains("T02-00-00"), "{path}");
}

#[test]
fn a_name_can_stand_without_its_option() {
    let machine = Machine::new();
    machine.put_pi("s", small("s", "/w").text(), 1);
    assert_eq!(
        machine.run_line("context status s"),
        machine.run_line("context status --session s")
    );
    assert_eq!(machine.run_line("context status s --session s").code, 2);
}

#[test]
fn without_a_name_the_newest_of_the_workspace_is_taken_and_named() {
    let machine = Machine::new();
    let work = machine.work();
    let here = work.to_str().unwrap();
    machine.put_pi("elsewhere", small("elsewhere", "/w").text(), 1);
    machine.put_pi("newer", small("newer", here).text(), 2);
    machine.put_pi("older", small("older", here).text(), 3);
    let ran = machine.run_line("context history");
    assert_eq!(ran.err, "session newer (pi)\n");
    let ran = machine.run_line("context status --quiet --json");
    assert_eq!(
        (ran.err.as_str(), &ran.json()["session"]["id"]),
        ("", &"newer".into())
    );
    let ran = machine.run_line("context status --workspace /w --json");
    assert_eq!(ran.json()["session"]["id"], "elsewhere");
}

#[test]
fn another_workspace_serves_for_reading_but_not_for_writing() {
    let machine = Machine::new();
    machine.put_pi("elsewhere", small("elsewhere", "/w").text(), 1);
    let ran = machine.run_line("context history");
    assert_eq!(
        (ran.code, ran.out.lines().last()),
        (0, Some("Never compacted."))
    );
    assert_eq!(
        ran.err,
        "no session of /tmp/test/work yet; taking the newest of all\nsession elsewhere (pi)\n"
    );
    let before = machine.files();
    for line in [
        "session pin e01",
        "session archive --yes",
        "session branch e01",
    ] {
        assert_snapshot!("write-elsewhere", machine.run_line(line).shown());
    }
    assert!(machine.files() == before);
}
