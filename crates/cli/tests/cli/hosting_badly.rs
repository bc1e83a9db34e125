//! `longhaul rpc` when something is wrong: input, files, a kill, a full disk.

use std::fs;
use std::time::Duration;

use longhaul_testkit::content::{texts, turn};
use serde_json::{Value, json};

use crate::hosting::{S, assemble, commit, kept, mirror, refs};
use crate::hosting_client::Client;
use crate::machine::Machine;

#[test]
fn lines_that_are_no_requests_are_answered_and_the_connection_goes_on() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    for (line, code) in [
        ("this is not JSON", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":9,", -32700),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]",
            -32600,
        ),
        ("42", -32600),
        ("{\"id\":null}", -32600),
    ] {
        client.line(line);
        let answer = client.hear();
        assert_eq!(answer["error"]["code"], code, "{line}");
        assert_eq!(answer["id"], Value::Null, "{line}");
    }
    client.line("");
    for params in [
        json!({}),
        json!({ "sessionId": 7, "messages": [] }),
        json!({ "sessionId": "", "messages": [] }),
        json!({ "sessionId": S }),
        json!({ "sessionId": S, "messages": 5 }),
        json!([1, 2]),
    ] {
        let (code, _) = client.fail("assemble", params.clone());
        assert_eq!(code, -32602, "{params}");
    }
    assert_eq!(client.ask("ping", json!({})), json!({}));
}

#[test]
fn strange_messages_and_budgets_never_break_a_turn() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list = turn(0);
    list.push(json!({ "role": "hologram", "beam": [1, 2], "timestamp": 5 }));
    list.push(json!({ "content": 7 }));
    list.push(json!({ "role": "toolResult", "toolCallId": "nobody", "content": [] }));
    list.extend(turn(1));
    for budget in [
        Value::Null,
        json!(0),
        json!(-5),
        json!(1e300),
        json!("many"),
        json!(3.7),
    ] {
        let params = json!({
            "sessionId": S, "messages": list, "tokenBudget": budget, "refs": true,
        });
        let answer = client.ask("assemble", params);
        assert!(answer["degraded"].is_string(), "{budget}: {answer}");
        let shown = refs(&answer);
        for at in [0, 1, 2, 5, 6] {
            assert!(shown.contains(&at), "{budget}: {shown:?}");
        }
        assert!(!shown.contains(&4), "{shown:?}");
    }
    for (budget, named) in [(json!("8000"), "\"8000\""), (json!(true), "true")] {
        let params = json!({ "sessionId": S, "messages": list, "tokenBudget": budget });
        let answer = client.ask("assemble", params.clone());
        let degraded = answer["degraded"].as_str().unwrap();
        assert!(degraded.contains(named), "{degraded}");
        assert!(!degraded.contains("NaN"), "{degraded}");
        client.told.clear();
        client.ask("compact", params);
        assert!(warned(&client, named), "{:?}", client.told);
    }
}

/// Whether a warning with these words was told.
fn warned(client: &Client, words: &str) -> bool {
    client.told.iter().any(|told| {
        let said = told["params"]["message"].as_str().unwrap_or_default();
        told["params"]["level"] == "warn" && said.contains(words)
    })
}

#[test]
fn what_is_no_message_takes_nothing_else_of_its_list_with_it() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let mut list = turn(0);
    list.extend([json!("a string"), json!(5), Value::Null, json!([1])]);
    list.extend(turn(1));
    assert_eq!(commit(&mut client, "t0", &list), "committed");
    assert!(warned(&client, "no object"), "{:?}", client.told);
    assert_eq!(commit(&mut client, "t0", &list), "duplicate");
    let said = kept(&machine).join("\n");
    for words in ["question 0", "answer 0", "question 1", "answer 1"] {
        assert!(said.contains(words), "{said}");
    }
    let answer = assemble(&mut client, &list);
    assert_eq!(refs(&answer), (0..8).collect::<Vec<i64>>());
    assert!(answer.get("degraded").is_none(), "{answer}");
    // Written out, they are what they were, also where they are not sent again.
    let params = json!({
        "sessionId": S, "tokenBudget": 200_000,
        "history": { "base": answer["base"], "keep": 8, "tail": [null] },
    });
    let answer = client.ask("assemble", params);
    let shown = answer["messages"].as_array().unwrap();
    list.push(Value::Null);
    assert_eq!(shown, &list);
    client.ask("ingest", json!({ "sessionId": "other", "message": "text" }));
    let params = json!({ "sessionId": S, "messages": list });
    let after = client.ask("afterTurn", params);
    assert!(after.get("degraded").is_none(), "{after}");
}

#[test]
fn a_key_with_other_messages_is_told_and_an_empty_one_refused() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    assert_eq!(commit(&mut client, "t0", &turn(0)), "committed");
    assert_eq!(commit(&mut client, "t0", &turn(0)), "duplicate");
    assert!(!warned(&client, "other messages"));
    assert_eq!(commit(&mut client, "t0", &turn(1)), "duplicate");
    assert!(warned(&client, "other messages"), "{:?}", client.told);
    assert_eq!(kept(&machine), texts(&turn(0)));
    let params = json!({ "sessionId": S, "advancementKey": "", "messages": turn(2) });
    let (code, message) = client.fail("commitTurn", params);
    assert_eq!(code, -32602);
    assert!(message.contains("advancementKey"), "{message}");
}

#[test]
fn a_mirror_that_cannot_be_used_gives_the_hosts_messages_back_and_recovers() {
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    let list: Vec<Value> = (0..2).flat_map(turn).collect();
    assemble(&mut client, &list);
    let path = mirror(&machine, S);
    // A file where its folder was: it can be neither read nor written.
    let folder = path.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, "").unwrap();
    let answer = assemble(&mut client, &list);
    assert_eq!(refs(&answer), [0, 1, 2, 3]);
    assert!(answer["degraded"].is_string(), "{answer}");
    let params = json!({ "sessionId": S, "advancementKey": "k", "messages": turn(2) });
    let (code, message) = client.fail("commitTurn", params);
    assert_eq!(code, -32011, "{message}");
    let answer = client.ask("ingest", json!({ "sessionId": S, "message": turn(3)[0] }));
    assert_eq!(answer["ingested"], false);
    assert!(answer["degraded"].is_string());
    fs::remove_file(folder).unwrap();
    assert_eq!(refs(&assemble(&mut client, &list)), [0, 1, 2, 3]);
    assert_eq!(commit(&mut client, "k", &turn(2)), "committed");
    // Another file under its name, and one that is no session at all.
    fs::write(&path, "garbage\n").unwrap();
    let answer = assemble(&mut client, &list);
    assert_eq!(refs(&answer), [0, 1, 2, 3]);
    let beside: Vec<_> = fs::read_dir(path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(".damaged-"))
        .collect();
    assert_eq!(beside.len(), 1, "{beside:?}");
    assert!(client.end());
    assert_eq!(kept(&machine), texts(&list));
}

/// The process that starts it is killed: nobody closes anything by hand.
#[cfg(target_os = "linux")]
#[test]
fn it_ends_when_its_parent_is_killed() {
    use std::io::BufRead;
    use std::process::{Command, Stdio};
    let machine = Machine::new();
    let binary = assert_cmd::cargo::cargo_bin!("longhaul");
    // The shell holds the other end of its input.
    let script = format!(
        "exec 3<>fifo; '{}' rpc <fifo 3<&- & echo $!; exec 4>fifo 3<&-; read forever",
        binary.display()
    );
    assert!(
        Command::new("mkfifo")
            .arg(machine.work().join("fifo"))
            .status()
            .unwrap()
            .success()
    );
    let mut shell = machine.command();
    let mut shell = Command::new("sh")
        .args(["-c", &script])
        .env_clear()
        .envs(
            shell
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", "/usr/bin:/bin")
        .current_dir(machine.work())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .inspect(|_| {
            shell.arg("rpc");
        })
        .unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(shell.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let child: u32 = line.trim().parse().unwrap();
    let runs = || {
        let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    };
    assert!(runs());
    shell.kill().unwrap();
    shell.wait().unwrap();
    for _ in 0..1_200 {
        if !runs() {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it still runs");
}

/// Runs it under `strace` with some lines as input; what it answered. `None`
/// where the machine has no strace, or does not let a process be traced.
#[cfg(target_os = "linux")]
fn traced(machine: &Machine, inject: &str, lines: &[Value]) -> Option<(bool, Vec<Value>)> {
    use std::process::{Command, Stdio};
    let longhaul = machine.command();
    let input = machine.work().join("input");
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&input, text.join("\n")).unwrap();
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", "/dev/null", "-P"])
        .arg(mirror(machine, S))
        .args(["-e", inject])
        .arg(longhaul.get_program())
        .arg("rpc")
        .env_clear()
        .current_dir(machine.work())
        .stdin(Stdio::from(fs::File::open(&input).unwrap()))
        .stderr(Stdio::null());
    for (name, value) in longhaul.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let output = command.output().ok()?;
    let answers = String::from_utf8_lossy(&output.stdout);
    let answers = answers
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Some((output.status.success(), answers.collect()))
}

#[cfg(target_os = "linux")]
fn can_trace() -> bool {
    let traced = std::process::Command::new("strace")
        .args(["-qq", "-o", "/dev/null", "true"])
        .status();
    traced.is_ok_and(|status| status.success())
}

#[cfg(target_os = "linux")]
fn three_turns() -> Vec<Value> {
    let mut lines = vec![json!({
        "id": 0, "method": "initialize",
        "params": { "protocol": 1, "host": { "name": "test" } },
    })];
    lines.extend((1..=3).map(|number| {
        json!({
            "id": number, "method": "commitTurn",
            "params": {
                "sessionId": S, "advancementKey": format!("k{number}"), "messages": turn(number),
            },
        })
    }));
    lines
}

#[cfg(target_os = "linux")]
#[test]
fn turns_killed_at_any_write_are_there_once_when_they_are_committed_again() {
    if !can_trace() {
        return;
    }
    let list: Vec<Value> = (1..=3).flat_map(turn).collect();
    let mut kills = 0;
    for call in ["write", "fdatasync", "fsync"] {
        for nth in 1.. {
            let machine = Machine::new();
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let Some((survived, answers)) = traced(&machine, &inject, &three_turns()) else {
                return;
            };
            if survived {
                break;
            }
            kills += 1;
            let at = format!("killed at {call} {nth}");
            let mut client = Client::ready(&machine);
            for number in 1..=3i64 {
                let done = answers.iter().any(|answer| {
                    answer["id"] == number && answer["result"]["status"] == "committed"
                });
                let status = commit(&mut client, &format!("k{number}"), &turn(number));
                assert!(!done || status == "duplicate", "{at}: {number} is lost");
            }
            assert_eq!(
                refs(&assemble(&mut client, &list)),
                [0, 1, 2, 3, 4, 5],
                "{at}"
            );
            assert!(client.end());
            assert_eq!(kept(&machine), texts(&list), "{at}");
        }
    }
    assert!(kills >= 6, "only {kills} places to die at");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_the_turn_can_be_committed_later() {
    if !can_trace() {
        return;
    }
    let machine = Machine::new();
    let mut client = Client::ready(&machine);
    assert_eq!(commit(&mut client, "k1", &turn(1)), "committed");
    assert!(client.end());
    let inject = "inject=write:error=ENOSPC:when=1+";
    let Some((_, answers)) = traced(&machine, inject, &three_turns()) else {
        return;
    };
    let of = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(of(1)["result"]["status"], "duplicate", "{answers:?}");
    for id in [2, 3] {
        assert_eq!(of(id)["error"]["code"], -32011, "{answers:?}");
        let message = of(id)["error"]["message"].as_str().unwrap();
        assert!(message.contains(S), "{message}");
    }
    let mut client = Client::ready(&machine);
    for (number, expected) in [(1, "duplicate"), (2, "committed"), (3, "committed")] {
        let status = commit(&mut client, &format!("k{number}"), &turn(number));
        assert_eq!(status, expected);
    }
    assert!(client.end());
    let list: Vec<Value> = (1..=3).flat_map(turn).collect();
    assert_eq!(kept(&machine), texts(&list));
}
