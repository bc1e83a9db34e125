//! Commands that read: what they print, and that they change nothing.

use insta::assert_snapshot;
use longhaul_testkit::loopback::Said;
use rusqlite::{Connection, params};
use serde_json::json;

use crate::machine::Machine;
use crate::talk::{Talk, claude, codex, compacted, small};

/// Sessions of every agent, in their standard places.
fn full() -> Machine {
    let machine = Machine::new();
    machine.put_pi(
        "0195aaaa-1111",
        small("0195aaaa-1111", "/home/ada/app").text(),
        1,
    );
    machine.put_pi(
        "0195aaaa-2222",
        compacted("0195aaaa-2222", "/home/ada/app").text(),
        30,
    );
    let id = "11111111-2222-4333-8444-555555555555";
    machine.put(
        &format!(".claude/projects/-home-ada-app/{id}.jsonl"),
        claude(id, "/home/ada/app"),
        2,
    );
    let sidechain = ".claude/projects/-home-ada-app/agent-1.jsonl";
    machine.put(sidechain, claude("side", "/home/ada/app"), 2);
    let id = "99999999-2222-4333-8444-555555555555";
    let rollout = format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
    machine.put(&rollout, codex(id, "/home/ada/site"), 3);
    let store = json!({ "telegram:ada": { "sessionId": "5e55", "updatedAt": 1, "sessionFile": "5e55.jsonl" } });
    machine.put(
        ".openclaw/agents/old/sessions/sessions.json",
        store.to_string(),
        4,
    );
    machine.put(
        ".openclaw/agents/old/sessions/5e55.jsonl",
        small("5e55", "/home/ada/claw").text(),
        50,
    );
    database(&machine);
    machine.put_pi("0195bbbb-3333", "", 5);
    machine
}

/// A database whose session is older than its file.
fn database(machine: &Machine) {
    let path = machine.put(".openclaw/agents/main/agent/openclaw-agent.sqlite", "", 0);
    let database = Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE session_nodes (session_key TEXT PRIMARY KEY, current_session_id TEXT,
                 entry_json TEXT, updated_at INTEGER);
             CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT,
                 created_at INTEGER, event_zstd BLOB, event_utf8_bytes INTEGER,
                 PRIMARY KEY (session_id, seq));
             INSERT INTO session_nodes VALUES ('agent:main:main', 'db-session', '{}', 1772700000000);",
        )
        .unwrap();
    for (seq, line) in small("db-session", "/home/ada/claw")
        .text()
        .lines()
        .enumerate()
    {
        database
            .execute(
                "INSERT INTO transcript_events VALUES ('db-session', ?1, ?2, 0, NULL, NULL)",
                params![seq as i64, line],
            )
            .unwrap();
    }
    drop(database);
    crate::machine::age(&path, 0);
}

#[test]
fn lists_sessions_of_all_agents_newest_first() {
    assert_snapshot!("list", full().run_line("session list").shown());
}

#[test]
fn lists_narrowly_on_a_narrow_terminal() {
    let machine = full();
    let ran = machine.finish(
        machine
            .command()
            .env("COLUMNS", "80")
            .args(["session", "list"]),
    );
    assert!(
        ran.out.lines().all(|line| console_width(line) <= 80),
        "{}",
        ran.out
    );
    assert_snapshot!("list-80", ran.shown());
}

fn console_width(line: &str) -> usize {
    line.chars().count()
}

#[test]
fn lists_as_json() {
    assert_snapshot!("list-json", full().run_line("session list --json").shown());
}

#[test]
fn lists_fewer_on_request() {
    let machine = full();
    let ran = machine.run_line("session list -n 1");
    assert_eq!((ran.code, ran.out.lines().count()), (0, 2));
    assert_eq!(ran.err, "6 more; --all shows them\n");
    let ran = machine.run_line("session list --agent claude-code --json");
    assert_eq!(ran.json()["total"], 1);
    let ran = machine.run_line("session list --here --workspace /home/ada/app --json");
    assert_eq!(ran.json()["total"], 3);
    let ran = machine.run_line("session list --agent nobody");
    assert_snapshot!("list-unknown-agent", ran.shown());
}

#[test]
fn an_empty_machine_has_no_sessions_and_says_where_it_looked() {
    let ran = Machine::new().run_line("session list");
    assert_snapshot!("list-empty", ran.shown());
}

#[test]
fn short_ids_of_the_list_name_their_sessions() {
    let machine = full();
    let list = machine.run_line("session list --json").json();
    for session in list["sessions"].as_array().unwrap() {
        let short = session["short"].as_str().unwrap();
        let ran = machine.run(["session", "verify", "--json", short]);
        match session.get("error") {
            Some(_) => assert_eq!(ran.code, 1, "{short}"),
            None => assert_eq!(ran.json()["session"]["id"], session["id"], "{short}"),
        }
    }
}

#[test]
fn shows_entries_with_ids_calls_and_labels() {
    let machine = Machine::new();
    let talk = small("s", "/w")
        .label("e04", "cause")
        .back_to("e03")
        .user("日本語のテキスト");
    machine.put_pi("s", talk.text(), 1);
    assert_snapshot!("show", machine.run_line("session show s").shown());
    assert_snapshot!("show-all", machine.run_line("session show s --all").shown());
    assert_snapshot!(
        "show-json",
        machine.run_line("session show s --json").shown()
    );
    assert_snapshot!(
        "show-entry",
        machine.run_line("session show s --entry cause").shown()
    );
}

#[test]
fn verifies_a_sound_session() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    assert_snapshot!("verify", machine.run_line("session verify s").shown());
    assert_snapshot!(
        "verify-json",
        machine.run_line("session verify s --json").shown()
    );
}

#[test]
fn status_says_how_full_how_worn_and_what_next() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/home/ada/app").text(), 1);
    assert_snapshot!("status", machine.run_line("context status s").shown());
    assert_snapshot!(
        "status-json",
        machine.run_line("context status s --json").shown()
    );
}

#[test]
fn from_outside_a_configured_model_has_the_window_and_prices_that_a_session_has() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/home/ada/app").text(), 1);
    machine.put_pi("long", crate::talk::long(60), 2);
    let dry = || {
        let ran = machine.run_line("compact long --window 20k --dry-run --json");
        ran.json()["paysAfterTurns"].clone()
    };
    let before = dry();
    let status = || machine.run_line("context status s --json").json();
    let plain = status();
    assert_eq!(plain["window"], 200_000);
    let source = plain["windowSource"].as_str().unwrap();
    assert!(source.starts_with("from the table of models"), "{source}");
    std::fs::create_dir_all(machine.home().join(".longhaul")).unwrap();
    std::fs::write(
        machine.home().join(".longhaul/longhaul.yaml"),
        "models:\n  - match: \"*\"\n    \
         prices: { input: 1, output: 1, cacheRead: 0.9, cacheWrite: 9 }\n  \
         - match: anthropic/claude-sonnet-4-5\n    contextWindow: 77000\n",
    )
    .unwrap();
    let given = status();
    assert_eq!(
        (&given["window"], &given["windowFrom"]),
        (&77_000.into(), &"config".into())
    );
    let shown = machine.run_line("context status s");
    assert!(shown.out.contains("Window           set by "), "{shown:?}");
    assert_eq!(
        machine.run_line("context inspect s --json").json()["window"],
        77_000
    );
    // Another provider's model of the same name is another one.
    let other = machine.run_line("context status s --json --model openrouter/claude-sonnet-4-5");
    assert_eq!(other.json()["window"], 200_000);
    assert_ne!(dry(), before);
}

#[test]
fn a_window_that_was_learnt_is_told_and_can_be_forgotten() {
    let ground = crate::chatting::Ground::saying(vec![Said::text("Good.")]);
    let machine = &ground.machine;
    assert_eq!(machine.run_line("context windows").code, 3);
    let server = ground.server.url().trim_end_matches('/').to_owned();
    let learnt = serde_json::json!({ "windows": [
        { "provider": "anthropic", "endpoint": server, "model": "claude-sonnet-4-5", "window": 60_000 },
        { "provider": "vllm", "endpoint": "http://127.0.0.1:1", "model": "qwen", "window": 3_000 },
    ]});
    std::fs::create_dir_all(machine.home().join(".longhaul")).unwrap();
    let file = machine.home().join(".longhaul/windows.json");
    std::fs::write(&file, learnt.to_string()).unwrap();
    let ran = ground.piped(&["--session", "s"], "Hello.\n/status\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out
            .contains("Window           learnt from an error of anthropic/"),
        "{ran:?}"
    );
    let status = || machine.run_line("context status s --json").json();
    assert_eq!(status()["window"], 60_000);
    let source = status()["windowSource"].as_str().unwrap().to_owned();
    assert!(source.contains("context windows --forget"), "{source}");
    let listed = machine.run_line("context windows --json").json();
    crate::documented::assert_same_fields(
        &crate::documented::example("context windows"),
        &listed,
        "context windows",
    );
    assert_eq!(listed["windows"], learnt["windows"]);
    assert_eq!(
        machine
            .run_line("context windows claude-opus --forget")
            .code,
        3
    );
    let forgotten = machine.run_line("context windows anthropic/claude-sonnet-4-5 --forget");
    assert_eq!(forgotten.code, 0, "{forgotten:?}");
    assert_eq!(status()["window"], 200_000);
    let left = machine.run_line("context windows");
    assert!(
        left.out
            .contains("vllm/qwen at http://127.0.0.1:1: 3,000 tokens"),
        "{left:?}"
    );
    assert!(!left.out.contains("anthropic"), "{left:?}");
}

#[test]
fn a_full_window_is_the_first_advice() {
    let machine = Machine::new();
    machine.put_pi(
        "s",
        Talk::new("s", "/w")
            .user("go")
            .assistant_at("done", 185_000)
            .text(),
        1,
    );
    let ran = machine.run_line("context status s --json").json();
    assert_eq!(ran["level"], "hard");
    assert_eq!(
        ran["recommendation"],
        "compact before the next request; it would not fit"
    );
    // The smallest window that anybody states is the one that counts.
    let ran = machine
        .run_line("context status s --json --window 1m")
        .json();
    assert_eq!(ran["window"], 200_000);
    let ran = machine
        .run_line("context status s --json --window 190k")
        .json();
    assert_eq!(ran["level"], "full");
}

#[test]
fn shows_what_the_model_would_be_sent() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    assert_snapshot!("context-show", machine.run_line("context show s").shown());
    assert_snapshot!(
        "context-show-json",
        machine.run_line("context show s --json").shown()
    );
    let earlier = machine.run_line("context show s --json --at e04").json();
    assert_eq!(earlier["entries"], json!(["e01", "e02", "e03", "e04"]));
}

#[test]
fn inspects_part_by_part() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    let ran = machine.run_line("context inspect s --top 3");
    assert_snapshot!("inspect", without_prompt(&ran.shown()));
    let mut value = machine.run_line("context inspect s --top 1 --json").json();
    // The prompt names the workspace, whose temporary name is never the same.
    let request = value["request"].as_object_mut().unwrap();
    for name in ["total", "free", "parts", "fingerprint"] {
        request[name] = json!("[varies]");
    }
    assert_snapshot!(
        "inspect-json",
        serde_json::to_string_pretty(&value).unwrap()
    );
}

/// The table of parts without its numbers: the prompt names the workspace,
/// whose temporary name is never the same.
fn without_prompt(shown: &str) -> String {
    let line = |line: &str| match line.contains(" %") && line.starts_with(|c: char| !c.is_ascii()) {
        true => line
            .chars()
            .take(20)
            .collect::<String>()
            .trim_end()
            .to_owned(),
        false => line.to_owned(),
    };
    let lines: Vec<String> = shown.lines().map(line).collect();
    lines.join("\n")
}

#[test]
fn tells_the_history_of_compactions() {
    let machine = Machine::new();
    machine.put_pi("s", compacted("s", "/w").text(), 1);
    machine.put_pi("fresh", small("fresh", "/w").text(), 1);
    assert_snapshot!("history", machine.run_line("context history s").shown());
    assert_snapshot!(
        "history-json",
        machine.run_line("context history s --json").shown()
    );
    assert_snapshot!(
        "history-none",
        machine.run_line("context history fresh").shown()
    );
}

#[test]
fn doctor_looks_at_everything() {
    assert_snapshot!("doctor", full().run_line("doctor").shown());
    let ran = Machine::new().run_line("doctor --json");
    assert_eq!((ran.code, &ran.json()["sound"]), (0, &json!(true)));
}

#[test]
fn reading_changes_nothing() {
    let machine = full();
    let before = machine.files();
    for line in [
        "session list",
        "session list --all --json",
        "doctor",
        "config show",
        "config path",
    ] {
        machine.run_line(line);
    }
    for session in [
        "0195aaaa-1111",
        "0195aaaa-2222",
        "11111111",
        "99999999",
        "5e55",
        "db-session",
    ] {
        for line in [
            "session show",
            "session verify",
            "context status",
            "context show",
            "context inspect",
            "context history",
        ] {
            let ran = machine.run_line(&format!("{line} {session}"));
            assert_eq!(ran.code, 0, "{line} {session}: {ran:?}");
            machine.run_line(&format!("{line} {session} --json"));
        }
    }
    assert!(machine.files() == before);
}

#[test]
fn a_glance_leaves_other_branches_out() {
    let machine = Machine::new();
    let talk = small("s", "/w")
        .user("a long way round")
        .user("and further")
        .back_to("e04")
        .user("straight on");
    machine.put_pi("s", talk.text(), 1);
    let listed = machine.run_line("session list --json").json()["sessions"][0].clone();
    assert_eq!(listed["turns"], json!({ "certainty": "exact", "count": 2 }));
    let status = machine.run_line("context status s --json").json();
    assert_eq!(listed["tokens"], status["tokens"]);
}

#[test]
fn a_report_that_is_far_too_low_does_not_make_a_full_context_look_healthy() {
    let machine = Machine::new();
    let words = "seven hundred and forty-one numbers of tide tables ".repeat(300);
    let mut talk = Talk::new("s", "/w");
    for _ in 0..6 {
        talk = talk.user(&words).assistant_at("Noted.", 10);
    }
    machine.put_pi("s", talk.text(), 1);
    let status = machine
        .run_line("context status s --json --window 32k")
        .json();
    let own = Talk::new("t", "/w");
    let own = (0..6).fold(own, |talk, _| talk.user(&words).assistant("Noted."));
    machine.put_pi("t", own.text(), 1);
    let counted = machine
        .run_line("context status t --json --window 32k")
        .json();
    let (seen, counted) = (&status["tokens"], counted["tokens"].as_u64().unwrap());
    assert!(counted > 10_000, "{counted}");
    assert_eq!(seen.as_u64().unwrap(), counted / 2);
    assert_eq!(status["tokensFrom"], "provider usage + estimate");
}

/// What a deployment needs is there once the memory was begun, and what we wrote
/// ourselves is not taken for pi's.
#[test]
fn doctor_checks_the_workspace_and_tells_our_sessions_from_pi_s() {
    let machine = Machine::new();
    let put = |place: &str, id: &str| {
        let path = format!("{place}/2026-03-01T10-00-00-000Z_{id}.jsonl");
        machine.put(&path, small(id, "/w").text(), 1);
    };
    put(".longhaul/sessions", "ours");
    put(".longhaul/sessions", "ours-too");
    put(".pi/agent/sessions/--w--", "theirs");
    std::fs::create_dir(machine.work().join(".git")).unwrap();
    let checks = || {
        let report = machine.run_line("doctor --json").json();
        let checks = report["checks"].as_array().unwrap().clone();
        move |name: &str| {
            let check = checks.iter().find(|check| check["name"] == name);
            let check = check.unwrap_or_else(|| panic!("{name}: {checks:?}"));
            let found = check["found"].as_str().unwrap().to_owned();
            (check["state"].as_str().unwrap().to_owned(), found)
        }
    };
    let check = checks();
    assert!(check("longhaul").1.starts_with("2 sessions"));
    assert!(check("pi").1.starts_with("1 session,"));
    for name in ["MEMORY.md", "memory files", "hand-offs"] {
        assert_eq!(check(name).0, "note", "{name}: {:?}", check(name));
    }
    assert_eq!(machine.run_line("memory init").code, 0);
    assert_eq!(machine.run_line("memory lint --fix --yes").code, 0);
    let check = checks();
    for name in [
        "MEMORY.md",
        "memory files",
        "git",
        "hand-offs",
        "system prompt",
        "compaction",
    ] {
        assert_eq!(check(name).0, "good", "{name}: {:?}", check(name));
    }
}
