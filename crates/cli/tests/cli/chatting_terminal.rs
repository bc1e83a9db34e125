//! `chat` in a real terminal: tmux types and looks at the screen.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use longhaul_model::Usage;
use longhaul_testkit::content;
use longhaul_testkit::loopback::{Ending, Recorded, Said};
use serde_json::json;

use crate::chatting::{Ground, MODEL};

/// A terminal of its own, and the chat in it.
struct Terminal {
    socket: String,
}

impl Terminal {
    /// Starts a chat; nothing where there is no tmux.
    fn start(ground: &Ground, args: &str) -> Option<Terminal> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("SKIPPED: tmux is not installed, so nothing was tested in a terminal");
            return None;
        }
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let nth = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Terminal {
            socket: format!("longhaul-test-{}-{nth}", std::process::id()),
        };
        terminal.open(ground, args);
        Some(terminal)
    }

    fn open(&self, ground: &Ground, args: &str) {
        let command = format!(
            "env -i HOME='{}' PATH='{}' TERM=screen LANG=C.UTF-8 ANTHROPIC_API_KEY=sk-test-0123456789 \
             '{}' chat --model {MODEL} --base-url {} {args}; echo \"left with $?\"; exec cat",
            ground.machine.home().display(),
            std::env::var("PATH").unwrap(),
            assert_cmd::cargo::cargo_bin!("longhaul").display(),
            ground.server.url(),
        );
        let work = ground.machine.work();
        let started = self.tmux(&[
            "-f",
            "/dev/null",
            "-u",
            "new-session",
            "-d",
            "-x",
            "100",
            "-y",
            "40",
            "-c",
            work.to_str().unwrap(),
            &command,
        ]);
        assert!(started.status.success(), "{started:?}");
    }

    fn tmux(&self, args: &[&str]) -> Output {
        Command::new("tmux")
            .env_remove("TMUX")
            .args(["-L", &self.socket])
            .args(args)
            .output()
            .unwrap()
    }

    /// Keys as tmux names them.
    fn press(&self, keys: &[&str]) {
        let mut args = vec!["send-keys"];
        args.extend(keys);
        assert!(self.tmux(&args).status.success());
    }

    fn type_line(&self, text: &str) {
        assert!(self.tmux(&["send-keys", "-l", text]).status.success());
        self.press(&["Enter"]);
    }

    fn screen(&self) -> String {
        let output = self.tmux(&["capture-pane", "-p", "-J", "-S", "-200"]);
        String::from_utf8(output.stdout).unwrap()
    }

    /// Waits until the screen shows something.
    fn shows(&self, text: &str) -> String {
        self.until(text, |screen| screen.contains(text))
    }

    /// Waits for the prompt, empty, as the last thing on the screen.
    fn prompts(&self) -> String {
        self.until("a prompt", |screen| {
            screen.trim_end().lines().next_back() == Some("›")
        })
    }

    fn until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        // Patience for a machine that has much else to do.
        for _ in 0..1200 {
            let screen = self.screen();
            if holds(&screen) {
                return screen;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the screen never showed {what:?}:\n{}", self.screen());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn asked(request: &Recorded) -> String {
    let messages = request.json()["messages"].clone();
    messages.as_array().unwrap().last().unwrap().to_string()
}

#[test]
fn a_conversation_with_its_gauge_its_commands_and_its_end() {
    let usage = Usage {
        input: 20_000,
        output: 100,
        ..Usage::default()
    };
    let ground = Ground::saying(vec![
        Said::text("你好，世界 — hello").usage(Some(usage)),
        Said::text("twice").usage(Some(usage)),
    ]);
    let Some(terminal) = Terminal::start(&ground, "--session talk") else {
        return;
    };
    let screen = terminal.prompts();
    assert!(
        screen.contains("session talk · anthropic/claude-sonnet-4-5"),
        "{screen}"
    );
    assert!(screen.contains("[Context: "), "{screen}");
    terminal.type_line("問いは日本語です");
    terminal.shows("你好，世界 — hello");
    let screen = terminal.shows("[Context: 10% | 20k/200k tokens] $0.06");
    assert!(screen.contains("› 問いは日本語です"), "{screen}");
    terminal.type_line("/status");
    terminal.shows("Cost: session");
    terminal.type_line("/statsu");
    terminal.shows("did you mean /status?");
    terminal.type_line("/context");
    terminal.shows("user");
    // Ctrl-C at the prompt clears the line, and twice leaves.
    terminal.press(&["h", "a", "l", "f"]);
    terminal.shows("› half");
    terminal.press(&["C-c"]);
    terminal.shows("Ctrl-C again, or Ctrl-D, leaves");
    terminal.prompts();
    terminal.press(&["C-c"]);
    terminal.shows("left with 0");
    let messages = ground.messages();
    assert_eq!(content::text(&messages[0]), "問いは日本語です");
    assert_eq!(messages.len(), 2);
    let history = ground.machine.home().join(".longhaul/chat-history");
    let text = fs::read_to_string(&history).unwrap();
    assert!(text.contains("問いは日本語です"), "{text}");
    let mode = fs::metadata(&history).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn ctrl_c_stops_the_answer_and_not_the_program() {
    let ground = Ground::new(|request| match asked(request).contains("go on") {
        true => Said::text("All right.").reply(request),
        false => Said::text("It begins well and")
            .reply(request)
            .only_to("event: content_block_stop", Ending::Hang),
    });
    let Some(terminal) = Terminal::start(&ground, "") else {
        return;
    };
    terminal.prompts();
    terminal.type_line("go slowly");
    terminal.shows("It begins well and");
    terminal.press(&["C-c"]);
    terminal.shows("stopped");
    terminal.prompts();
    terminal.type_line("go on");
    terminal.shows("All right.");
    terminal.prompts();
    terminal.press(&["C-d"]);
    terminal.shows("left with 0");
    let messages = ground.messages();
    assert_eq!(messages[1]["stopReason"], "aborted");
    assert_eq!(content::text(&messages[1]), "It begins well and");
    assert_eq!(content::text(&messages[3]), "All right.");
}

#[test]
fn what_changes_something_is_asked_for_first() {
    let bash = |command: &str| json!({ "command": command }).to_string();
    let ground = Ground::saying(vec![
        Said::call("c1", "bash", &bash("echo yes > allowed")),
        Said::call("c2", "bash", &bash("echo no > denied")),
        Said::text("That was it."),
    ]);
    let Some(terminal) = Terminal::start(&ground, "") else {
        return;
    };
    terminal.prompts();
    terminal.type_line("do it");
    let screen = terminal.shows("allow it? [y]es, [a]lways (this very command), [n]o:");
    assert!(screen.contains("echo yes > allowed"), "{screen}");
    assert!(screen.contains("not confined to the workspace"), "{screen}");
    terminal.press(&["y"]);
    terminal.shows("echo no > denied");
    terminal.until("a second question", |screen| {
        screen.matches("[n]o:").count() == 2
    });
    terminal.press(&["n"]);
    terminal.shows("That was it.");
    terminal.prompts();
    assert!(ground.machine.work().join("allowed").exists());
    assert!(!ground.machine.work().join("denied").exists());
    let messages = ground.messages();
    assert_eq!(messages[4]["isError"], true);
    assert!(
        content::text(&messages[4]).contains("they said no"),
        "{}",
        messages[4]
    );
}

#[test]
fn ctrl_c_takes_a_question_back() {
    let bash = json!({ "command": "echo > made" }).to_string();
    let ground = Ground::saying(vec![Said::call("c1", "bash", &bash), Said::text("Fine.")]);
    let Some(terminal) = Terminal::start(&ground, "") else {
        return;
    };
    terminal.prompts();
    terminal.type_line("do it");
    terminal.shows("[n]o:");
    terminal.press(&["C-c"]);
    terminal.shows("stopped");
    terminal.prompts();
    // What is typed next goes to the prompt and nowhere else.
    terminal.type_line("hello");
    terminal.shows("Fine.");
    assert!(!ground.machine.work().join("made").exists());
    let messages = ground.messages();
    assert_eq!(messages[2]["role"], "toolResult");
    let said: Vec<String> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(content::text)
        .collect();
    assert_eq!(said, ["do it", "hello"]);
}

#[test]
fn a_running_command_ends_with_ctrl_c() {
    let bash = json!({ "command": "echo started; sleep 1000; echo > made" }).to_string();
    let ground = Ground::saying(vec![Said::call("c1", "bash", &bash), Said::text("Fine.")]);
    let Some(terminal) = Terminal::start(&ground, "--yes") else {
        return;
    };
    terminal.prompts();
    terminal.type_line("do it");
    terminal.shows("• bash echo started");
    terminal.press(&["C-c"]);
    terminal.shows("stopped");
    terminal.prompts();
    let messages = ground.messages();
    assert!(
        content::text(&messages[2]).contains("cancelled"),
        "{}",
        messages[2]
    );
    assert!(!ground.machine.work().join("made").exists());
}

#[test]
fn a_paste_of_several_lines_is_one_message() {
    let ground = Ground::saying(vec![Said::text("Got it.")]);
    let Some(terminal) = Terminal::start(&ground, "") else {
        return;
    };
    terminal.prompts();
    terminal.tmux(&["set-buffer", "fn main() {\n    println!();\n}"]);
    terminal.tmux(&["paste-buffer", "-p"]);
    terminal.shows("println!();");
    terminal.press(&["Enter"]);
    terminal.shows("Got it.");
    let messages = ground.messages();
    assert_eq!(
        content::text(&messages[0]),
        "fn main() {\n    println!();\n}"
    );
}
