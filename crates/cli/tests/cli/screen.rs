//! Colours, pipes and quiet.

use std::io::Read;
use std::process::Stdio;

use crate::machine::Machine;
use crate::talk::{Talk, small};

fn machine() -> Machine {
    let machine = Machine::new();
    machine.put_pi("s", small("s", "/w").text(), 1);
    machine
}

/// A text without its colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut parts = text.split('\u{1b}');
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        plain.push_str(part.split_once('m').unwrap_or_default().1);
    }
    plain
}

#[test]
fn a_pipe_gets_no_colours() {
    for line in [
        "session list",
        "context status s",
        "context inspect s",
        "session show s",
        "doctor",
    ] {
        let ran = machine().run_line(line);
        assert!(
            !ran.out.contains('\u{1b}') && !ran.err.contains('\u{1b}'),
            "{ran:?}"
        );
    }
}

#[test]
fn colours_on_request_change_nothing_else() {
    let machine = machine();
    for line in [
        "session list",
        "context status s",
        "context inspect s",
        "session show s",
        "doctor",
    ] {
        let coloured = machine.run_line(&format!("{line} --color always"));
        assert!(coloured.out.contains('\u{1b}'), "{line}");
        let expected = machine.run_line(&format!("{line} --color never")).out;
        // A coloured cell at a line's end may be followed by nothing more.
        assert_eq!(plain(&coloured.out), expected, "{line}");
    }
}

#[test]
fn no_color_is_below_the_flag() {
    let machine = machine();
    let run = |args: &[&str]| {
        machine
            .finish(machine.command().env("NO_COLOR", "1").args(args))
            .out
    };
    assert!(!run(&["doctor"]).contains('\u{1b}'));
    assert!(run(&["doctor", "--color", "always"]).contains('\u{1b}'));
}

#[test]
fn quiet_leaves_only_results() {
    let machine = machine();
    for line in [
        "context status -q",
        "context show s -q",
        "context inspect s -q",
        "session list -n 0 -q",
    ] {
        let ran = machine.run_line(line);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}");
    }
    let ran = machine.run_line("context status zzz --quiet");
    assert!(ran.err.starts_with("error: "), "{ran:?}");
}

#[test]
fn a_reader_that_stops_is_no_panic() {
    let machine = Machine::new();
    let mut talk = Talk::new("s", "/w");
    for _ in 0..2_000 {
        talk = talk.user("a line that fills the pipe sooner or later, over and over again");
    }
    machine.put_pi("s", talk.text(), 1);
    for line in [
        "session show s",
        "context show s",
        "context show s --json",
        "session show s --json",
    ] {
        let mut child = machine
            .command()
            .args(line.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut start = [0; 16];
        child.stdout.take().unwrap().read_exact(&mut start).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(141), "{line}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let machine = machine();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let ran = machine.finish(machine.command().arg("doctor").stdout(full));
    assert_eq!(ran.code, 1);
    assert!(
        ran.err.starts_with("error: cannot write the output"),
        "{ran:?}"
    );
}

#[test]
fn what_a_session_holds_reaches_a_pipe_untouched() {
    let machine = Machine::new();
    machine.put_pi(
        "s",
        Talk::new("s", "/w").user("\u{1b}[31mred\u{7}").text(),
        1,
    );
    assert!(
        machine
            .run_line("context show s")
            .out
            .contains("\u{1b}[31mred\u{7}")
    );
    // One line for each entry, though: there the text is only a hint.
    assert!(!machine.run_line("session show s").out.contains('\u{1b}'));
    assert!(!machine.run_line("session list").out.contains('\u{1b}'));
}

#[test]
fn completions_for_the_common_shells() {
    let machine = Machine::new();
    for (shell, mark) in [
        ("bash", "complete -F _longhaul"),
        ("zsh", "#compdef longhaul"),
        ("fish", "complete -c longhaul"),
    ] {
        let ran = machine.run_line(&format!("completions {shell}"));
        assert_eq!(ran.code, 0);
        assert!(
            ran.out.contains(mark) && ran.out.contains("inspect"),
            "{shell}"
        );
    }
    assert_eq!(machine.run_line("completions tcsh").code, 2);
}

#[test]
fn a_manual_page_for_every_command_in_the_words_of_its_help() {
    let machine = Machine::new();
    let page = machine.run_line("man");
    assert_eq!(page.code, 0);
    assert!(page.out.contains(".TH longhaul 1"), "{}", page.out);
    let folder = machine.home().join("man");
    let ran = machine.run(["man", "--dir", &folder.to_string_lossy()]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let chat = std::fs::read_to_string(folder.join("longhaul-chat.1")).unwrap();
    assert!(chat.contains("Talk to an agent in the terminal"), "{chat}");
    assert!(folder.join("longhaul-context-status.1").exists());
}
