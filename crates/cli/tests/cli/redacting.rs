//! Secrets: what was pasted into a session, or quoted by a provider, leaves by
//! no way out.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

use longhaul_testkit::loopback::Reply;
use serde_json::{Value, json};

use crate::chatting::Ground;
use crate::hosting_client::Client;
use crate::machine::Machine;
use crate::talk::Talk;

/// A key as a provider would draw it. It stands in no file as such, so that
/// other scanners leave this one alone.
fn key() -> String {
    format!("ghp_{}", "a7Bq2Zx9Lm4Tn8Vw".repeat(3).split_at(36).0)
}

/// The lines of a private key.
fn armour() -> (String, String) {
    let line = "MIIEow8fQ2xLm4Tn8VwZa7Bq9Rk3Sj5Ud1Yp6";
    let lines = [line, &line.replace('8', "5"), &line.replace('2', "4")].join("\n");
    let word = "PRIVATE KEY";
    let whole = format!("-----BEGIN RSA {word}-----\n{lines}\n-----END RSA {word}-----");
    (whole, line.replace('8', "5"))
}

/// A session in which secrets were said, shown by a tool and given to one.
fn machine() -> Machine {
    let (key, (armour, _)) = (key(), armour());
    let machine = Machine::new();
    let talk = Talk::new("s", "/w")
        .user(&format!("Deploy with {key} today, the narwhal way."))
        .call(
            "bash",
            json!({ "command": "cat id_rsa", "password": "swordfish" }),
        )
        .result(
            "bash",
            &format!("before the walrus\n{armour}\nbehind the walrus\n"),
        )
        .assistant("Deployed.");
    machine.put_pi("s", talk.text(), 1);
    machine
}

#[test]
fn recall_leaves_secrets_out_however_it_is_asked() {
    let machine = machine();
    let before = machine.files();
    let (key, (_, line)) = (key(), armour());
    for args in [
        "e01",
        "e02",
        "e03",
        "e01..e04",
        "--text narwhal",
        "--text narwhal --full",
        "--text walrus",
        "--text walrus --full",
        "--path id_rsa",
        "--query narwhal",
    ] {
        for end in ["", " --json"] {
            let ran = machine.run_line(&format!("recall --session s {args}{end}"));
            assert_eq!(ran.code, 0, "{args}: {ran:?}");
            let all = format!("{}{}", ran.out, ran.err);
            for secret in [&key, &line, "swordfish"] {
                assert!(!all.contains(secret), "{args}{end}: {ran:?}");
            }
        }
    }
    let ran = machine.run_line("recall --session s e01");
    assert!(
        ran.out
            .contains("Deploy with [redacted:github-token#1] today"),
        "{ran:?}"
    );
    assert!(
        ran.err
            .contains("secrets are left out; --no-redact shows them"),
        "{ran:?}"
    );
    let ran = machine.run_line("recall --session s e04");
    assert_eq!(ran.err, "", "{ran:?}");
    // The search may take in the session, but it does not change it.
    let sessions = |files: BTreeMap<PathBuf, (Vec<u8>, SystemTime)>| -> Vec<_> {
        let is_session = |path: &PathBuf| path.to_string_lossy().ends_with("_s.jsonl");
        files
            .into_iter()
            .filter(|(path, _)| is_session(path))
            .collect()
    };
    assert!(sessions(machine.files()) == sessions(before));
}

#[test]
fn recall_gives_the_bytes_that_are_stored_where_that_is_asked_for() {
    let machine = machine();
    let ran = machine.run_line("recall --session s e01 --no-redact");
    assert!(ran.out.contains(&key()), "{ran:?}");
    assert!(ran.err.contains("secrets were left in"), "{ran:?}");
    let ran = machine.run_line("recall --session s e01..e04 --no-redact --json");
    let answer = ran.json();
    assert_eq!(answer["redacted"], Value::Null);
    let stored = machine.files();
    let (_, (stored, _)) = stored
        .iter()
        .find(|(path, _)| path.to_string_lossy().contains("_s.jsonl"))
        .unwrap();
    let stored = String::from_utf8(stored.clone()).unwrap();
    let lines: Vec<&str> = stored.lines().skip(1).collect();
    let hits = answer["hits"].as_array().unwrap();
    let raw: Vec<&str> = hits
        .iter()
        .map(|hit| hit["raw"].as_str().unwrap())
        .collect();
    assert_eq!(raw, lines);
    let answer = machine.run_line("recall --session s e01 --json").json();
    assert_eq!(answer["redacted"], true);
    let answer = machine.run_line("recall --session s e04 --json").json();
    assert_eq!(answer["redacted"], false);
    assert_eq!(answer["hits"][0]["raw"].as_str().unwrap(), lines[3]);
}

#[test]
fn the_index_has_no_argument_of_a_call_whose_name_tells_of_a_secret() {
    let machine = Machine::new();
    let cwd = machine.work().to_string_lossy().into_owned();
    let given = json!({ "user": "walrus", "password": "swordfish", "token": "k3Jx9Qz2Lm7Tn4Vw8B" });
    let talk = Talk::new("s", &cwd)
        .call("login", given)
        .result("login", "welcome")
        .assistant("Done.")
        .user("What is next?")
        .compaction("e04", "The login was made.");
    machine.put_pi("s", talk.text(), 1);
    let ran = machine.run_line("memory index");
    assert_eq!(ran.code, 0, "{ran:?}");
    let ran = machine.run_line("recall --session s --query walrus --json");
    assert_eq!(ran.json()["hits"][0]["entry"], "e01", "{ran:?}");
    let files = machine.files();
    let index: Vec<_> = files
        .iter()
        .filter(|(path, _)| path.to_string_lossy().contains(".longhaul/memory"))
        .collect();
    assert!(!index.is_empty());
    for (path, (bytes, _)) in index {
        for secret in ["swordfish", "k3Jx9Qz2Lm7Tn4Vw8B"] {
            let found = bytes.windows(secret.len()).any(|w| w == secret.as_bytes());
            assert!(!found, "{secret} in {}", path.display());
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_among_the_memory_files_to_what_is_no_memory_is_told_and_not_read() {
    let machine = Machine::new();
    assert_eq!(machine.run_line("memory init").code, 0);
    let work = machine.work();
    std::fs::write(work.join(".env"), "the walrus is here\n").unwrap();
    std::fs::create_dir_all(work.join("memory")).unwrap();
    std::os::unix::fs::symlink("../.env", work.join("memory/env.md")).unwrap();
    let ran = machine.run_line("memory index");
    assert!(
        ran.err
            .contains("memory/env.md is a link that leads out of memory"),
        "{ran:?}"
    );
    let answer = machine.run_line("memory index --json").json();
    assert_eq!(answer["linksLeftOut"], 1);
    let ran = machine.run_line("memory lint");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out
            .contains("memory/env.md cannot be read: it is a link that leads out of memory"),
        "{ran:?}"
    );
    for line in ["memory search walrus", "memory get memory/env.md"] {
        let ran = machine.run_line(line);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(!all.contains("the walrus is here"), "{line}: {ran:?}");
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
    }
}

#[test]
fn a_failure_says_nothing_of_a_secret_in_its_message_details_or_help() {
    let key = key();
    let machine = machine();
    let name = format!("recall --session {key} e01");
    // The message quotes what was asked for; the details quote the file.
    let quoted = "compaction:\n  reserveTokens: ";
    machine.put(".longhaul/longhaul.yaml", format!("{quoted}{key}\n"), 1);
    let details = machine.run_line("config show");
    std::fs::remove_file(machine.home().join(".longhaul/longhaul.yaml")).unwrap();
    for (what, ran) in [
        ("details", details),
        ("message", machine.run_line(&name)),
        ("message", machine.run_line(&format!("{name} --json"))),
        (
            "message",
            machine.run_line(&format!("recall --session s e01..{key}")),
        ),
    ] {
        assert_ne!(ran.code, 0, "{what}: {ran:?}");
        assert!(!ran.err.contains(&key), "{what}: {ran:?}");
        assert!(!ran.out.contains(&key), "{what}: {ran:?}");
        assert!(ran.err.starts_with("error: "), "{what}: {ran:?}");
    }
    let ran = machine.run_line(&name);
    assert!(ran.err.contains("[redacted:github-token#1]"), "{ran:?}");
    // The help names the file that is to be mended.
    #[cfg(unix)]
    {
        let folder = machine.work().join(&key);
        std::fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink("/etc", folder.join("memories")).unwrap();
        let ran = machine.run_line(&format!("memory init --workspace {key}"));
        let (_, help) = ran.err.split_once("\nhelp: ").unwrap();
        assert!(
            help.contains("[redacted:github-token#1]/memories"),
            "{ran:?}"
        );
        assert!(!ran.err.contains(&key), "{ran:?}");
    }
}

#[test]
fn a_note_beside_the_result_says_nothing_of_a_secret() {
    let key = key();
    let machine = Machine::new();
    let folder = machine.work().join("memory");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join(format!("{key}.md")), b"not \xff text").unwrap();
    let ran = machine.run_line("memory index");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err
            .contains("memory/[redacted:github-token#1].md is not UTF-8"),
        "{ran:?}"
    );
    assert!(!ran.err.contains(&key), "{ran:?}");
}

#[test]
fn a_session_that_cannot_be_read_is_told_without_the_secret_it_has() {
    let key = key();
    let machine = Machine::new();
    machine.put_pi(&key, "{\"type\":\"session\",\"version\":\"x\"\n", 1);
    let ran = machine.run_line("session list --all --json");
    let listed = ran.json();
    let error = listed["sessions"][0]["error"].as_str().unwrap();
    assert!(error.contains("[redacted:github-token#1]"), "{error}");
    assert!(!error.contains(&key), "{error}");
}

#[test]
fn a_hook_says_nothing_of_a_secret() {
    let key = key();
    let machine = Machine::new();
    let ran = machine.run_line(&format!("hook {key}"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.err
            .contains("nothing is done on \"[redacted:github-token#1]\""),
        "{ran:?}"
    );
    assert!(!ran.err.contains(&key), "{ran:?}");
}

#[test]
fn a_host_is_told_of_troubles_without_the_secrets_in_them() {
    let key = key();
    let machine = Machine::new();
    // A file where the folder of the host's mirrors should be.
    let state = machine.home().join(&key);
    std::fs::create_dir(&state).unwrap();
    std::fs::write(state.join("sessions"), "").unwrap();
    let mut client = Client::ready_with(&machine, json!({ "stateDir": state }));
    let (_, message) = client.fail(&key, json!({}));
    assert!(message.contains("[redacted:github-token#1]"), "{message}");
    let message = json!({ "role": "user", "content": "hello", "timestamp": 1 });
    let answers = [
        client.ask("ingest", json!({ "sessionId": "s", "message": message })),
        client.ask("bootstrap", json!({ "sessionId": "s" })),
        client.ask("maintain", json!({ "sessionId": "s" })),
        client.ask(
            "tools/call",
            json!({ "sessionId": "s", "name": "recall", "arguments": { "id": "a" } }),
        ),
        client.ask("tools/call", json!({ "sessionId": "s", "name": key })),
    ];
    for answer in answers {
        let told = answer.to_string();
        assert!(told.contains("[redacted:github-token#1]"), "{told}");
        assert!(!told.contains(&key), "{told}");
    }
    let (_, message) = client.fail(
        "commitTurn",
        json!({ "sessionId": "s", "advancementKey": "k", "messages": [message] }),
    );
    assert!(!message.contains(&key), "{message}");
    client.notify(&key, json!({}));
    client.ask("ping", json!({}));
    let logs: Vec<String> = client
        .told
        .iter()
        .filter(|told| told["method"] == "log")
        .map(Value::to_string)
        .collect();
    assert!(!logs.is_empty());
    for log in logs {
        assert!(!log.contains(&key), "{log}");
    }
    assert!(client.end());
}

/// A provider that quotes a key in whatever it says.
fn quoting(status: u16, kind: &'static str) -> Ground {
    let key = key();
    Ground::new(move |_| {
        let message = format!("the key {key} of this account is wrong");
        let error = json!({ "type": kind, "message": message });
        Reply::json(status, &json!({ "type": "error", "error": error }))
    })
}

#[test]
fn what_a_provider_quotes_is_in_no_error_of_a_chat() {
    let key = key();
    let ground = quoting(401, "authentication_error");
    for (args, input) in [
        (&["--session", "s", "-p", "hello"][..], ""),
        (&["--session", "s"], "hello\n/status\n"),
        (&["--session", "s", "--json", "-p", "hello"], ""),
        (&["--session", "s", "--json"], "hello\n"),
    ] {
        let ran = ground.piped(args, input);
        let all = format!("{}{}", ran.out, ran.err);
        assert!(
            all.contains("the key [redacted:github-token#1] of this account"),
            "{args:?}: {ran:?}"
        );
        assert!(!all.contains(&key), "{args:?}: {ran:?}");
    }
    let ran = ground.piped(&["--session", "s", "--json", "-p", "hello"], "");
    let last: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    let message = last["error"]["message"].as_str().unwrap();
    assert!(message.contains("[redacted:github-token#1]"), "{message}");
}

#[test]
fn what_a_provider_quotes_is_in_no_word_about_trying_again() {
    let key = key();
    let ground = quoting(500, "api_error");
    for args in [
        &["--session", "s", "-p", "hello"][..],
        &["--session", "s", "--json", "-p", "hello"],
    ] {
        let ran = ground.piped(args, "");
        let all = format!("{}{}", ran.out, ran.err);
        assert!(
            all.contains("[redacted:github-token#1]"),
            "{args:?}: {ran:?}"
        );
        assert!(!all.contains(&key), "{args:?}: {ran:?}");
    }
}

#[test]
fn an_argument_that_is_refused_is_not_repeated_with_its_secret() {
    let machine = Machine::new();
    let key = key();
    for args in [
        &["context", "status", "--window", &key][..],
        &["memory", "search", "--since", &key, "x"],
        &["recall", "x", "--scope", &key],
        &[&key],
        &["recall", "--limit", &key, "x"],
        &["context", "status", "s", &key],
    ] {
        let ran = machine.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(!ran.err.contains(&key), "{args:?}: {ran:?}");
        assert!(ran.err.contains("[redacted:github-token#1]"), "{ran:?}");
        assert!(ran.err.starts_with("error: "), "{ran:?}");
    }
    let ran = machine.run(["context", "status", "--window", "many"]);
    assert!(ran.err.contains("'many'"), "{ran:?}");
    assert_eq!(machine.run(["--version"]).code, 0);
}

#[test]
fn a_search_does_not_repeat_a_secret_that_is_looked_for() {
    let machine = crate::searching::machine();
    let words = format!("deploy {}", key());
    let ran = machine.run(["memory", "search", &words, "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["query"], "deploy [redacted:github-token#1]");
    assert!(!format!("{ran:?}").contains(&key()), "{ran:?}");
}

#[test]
fn a_secret_that_another_entry_gives_away_is_found_nowhere() {
    let secret = "Tr0ub4dor&DLvKKL";
    let machine = Machine::new();
    let work = machine.work();
    let talk = Talk::new("s", &work.to_string_lossy())
        .user(&format!("I logged in with {secret} before breakfast."))
        .assistant("Good.")
        .user(&format!("The password for the shop is {secret}"))
        .assistant("Noted.");
    machine.put_pi("s", talk.text(), 1);
    for line in [
        "recall --session s --query breakfast",
        "recall --session s --text breakfast --json",
        "recall --session s e01",
        "memory index",
    ] {
        let ran = machine.run_line(line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
        assert!(!format!("{ran:?}").contains(secret), "{line}: {ran:?}");
        if line.starts_with("recall") {
            assert!(
                ran.out.contains("with [redacted:password#1] before"),
                "{ran:?}"
            );
        }
    }
}

#[test]
fn the_checkpoints_that_a_replay_keeps_have_no_secrets() {
    let machine = Machine::new();
    let key = key();
    let mut talk = Talk::new("s", "/w").user(&format!("Always deploy with {key}, never another."));
    for at in 0..60 {
        let chapter = format!("chapter {at} of the book, line by line, as it stands. ").repeat(60);
        talk = talk.assistant("Read.").user(&chapter);
    }
    machine.put_pi("s", talk.text(), 1);
    let ran = machine.run_line("replay s --window 30k --output kept.jsonl");
    assert_eq!(ran.code, 0, "{ran:?}");
    let folder = machine.work().join("kept.jsonl.checkpoints");
    let kept: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    assert!(kept.iter().any(|text| text.contains("Always deploy with")));
    for text in kept {
        assert!(!text.contains(&key[..16]), "{text}");
    }
}
