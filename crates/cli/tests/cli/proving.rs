//! `session verify` proves that a session is what was written, also after a
//! process was killed.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use longhaul_testkit::content;
use longhaul_testkit::loopback::Said;
use serde_json::{Value, json};

use crate::chatting::Ground;
use crate::hosting::{S, assemble, commit, kept, mirror, refs};
use crate::hosting_client::Client;
use crate::machine::{Machine, Ran};

fn verify(machine: &Machine, path: &Path) -> Ran {
    machine.run(["session", "verify", path.to_str().unwrap()])
}

#[test]
fn what_was_changed_behind_the_back_of_a_chat_is_found() {
    let ground = Ground::saying(vec![Said::text("noted")]);
    for message in ["the pier is 40 m long", "the crane is red", "good night"] {
        let ran = ground.chat(&["--session", "s", "-p", message]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let path = ground.sessions().remove(0);
    let sound = verify(&ground.machine, &path);
    assert_eq!(sound.code, 0, "{sound:?}");
    assert!(
        sound.out.contains("3 marks as written; 1 line "),
        "{sound:?}"
    );

    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let said = lines
        .iter()
        .position(|line| line.contains("crane is red"))
        .unwrap();
    let altered = lines[said].replace("red", "blue");
    let inserted = lines[said].replacen("\"id\":\"", "\"id\":\"0", 1);
    for instead in [
        vec![altered.as_str(), lines[said + 1]],
        vec![lines[said + 1]],
        vec![lines[said], &inserted, lines[said + 1]],
        vec![lines[said + 1], lines[said]],
    ] {
        let changed = [&lines[..said], &instead, &lines[said + 2..]].concat();
        fs::write(&path, changed.join("\n") + "\n").unwrap();
        let found = verify(&ground.machine, &path);
        assert_eq!(found.code, 1, "{found:?}");
        assert!(
            found.out.contains("altered, removed, inserted or moved"),
            "{found:?}"
        );
        assert!(found.out.contains("2 marks as written"), "{found:?}");
    }

    let unmarked: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !line.contains("\"proof\""))
        .collect();
    fs::write(&path, unmarked[..3].join("\n") + "\n").unwrap();
    let old = verify(&ground.machine, &path);
    assert_eq!(old.code, 0, "{old:?}");
    assert!(
        old.out.contains("none; changed entries cannot be found"),
        "{old:?}"
    );
}

#[test]
fn a_chat_killed_while_a_tool_ran_is_closed_by_the_next_turn() {
    let command = json!({ "command": "touch started; sleep 30" }).to_string();
    let ground = Ground::saying(vec![
        Said::call("c1", "bash", &command),
        Said::text("I see."),
    ]);
    let mut child = ground
        .command(&["--yes", "--session", "s", "-p", "wait for it"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !ground.machine.work().join("started").exists() {
        assert!(child.try_wait().unwrap().is_none());
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = ground.chat(&["--session", "s", "-p", "what happened?"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // Looks at `session verify` too.
    let messages = ground.messages();
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(
        roles,
        ["user", "assistant", "toolResult", "user", "assistant"]
    );
    assert_eq!(messages[2]["toolCallId"], "c1");
    assert_eq!(messages[2]["isError"], true);
    assert!(
        content::text(&messages[2]).starts_with("interrupted: "),
        "{messages:?}"
    );
}

/// A host whose longhaul was killed while its tool ran comes back without the
/// result, or with it.
#[test]
fn a_host_killed_while_a_tool_ran_goes_on_with_a_sound_session() {
    let said = |text: &str, at: u64| json!({ "role": "user", "content": text, "timestamp": at });
    let answer = |content: Value, stop: &str, at: u64| {
        json!({
            "role": "assistant", "content": content, "provider": "anthropic",
            "model": "claude-sonnet-4-5", "stopReason": stop, "timestamp": at,
            "usage": { "input": 9, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10 },
        })
    };
    let call = json!([{ "type": "toolCall", "id": "c1", "name": "bash", "arguments": { "command": "make" } }]);
    let text = json!([{ "type": "text", "text": "I see." }]);
    let result = json!({
        "role": "toolResult", "toolCallId": "c1", "toolName": "bash", "isError": false,
        "content": [{ "type": "text", "text": "made" }], "timestamp": 3,
    });
    for came_back in [false, true] {
        let machine = Machine::new();
        let mut list = vec![said("build it", 1), answer(call.clone(), "toolUse", 2)];
        let mut client = Client::ready(&machine);
        assemble(&mut client, &list);
        client.kill();
        if came_back {
            list.push(result.clone());
        }
        list.push(said("what happened?", 4));
        for round in 0..2 {
            let mut client = Client::ready(&machine);
            let shown = refs(&assemble(&mut client, &list));
            let wanted: Vec<i64> = (0..list.len() as i64).collect();
            let listed: Vec<i64> = shown.iter().copied().filter(|at| *at >= 0).collect();
            assert_eq!(listed, wanted, "{shown:?}");
            assert_eq!(
                shown.len() - listed.len(),
                usize::from(!came_back),
                "{shown:?}"
            );
            list.push(answer(text.clone(), "stop", 5 + 2 * round));
            let turn = &list[list.len() - 2..];
            assert_eq!(commit(&mut client, &format!("k{round}"), turn), "committed");
            list.push(said("go on", 6 + 2 * round));
            client.kill();
        }
        let verified = verify(&machine, &mirror(&machine, S));
        assert_eq!(verified.code, 0, "{verified:?}");
        let texts = kept(&machine).join("|");
        assert_eq!(texts.contains("interrupted: "), !came_back, "{texts}");
    }
}
