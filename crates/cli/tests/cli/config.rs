//! `config …`, and what a wrong configuration does to the other commands.

use insta::assert_snapshot;

use crate::machine::Machine;

#[test]
fn shows_each_value_with_its_origin() {
    let machine = Machine::new();
    machine.put(
        ".longhaul/longhaul.yaml",
        "compaction:\n  warnAtCompaction: 4\n",
        1,
    );
    let ran = machine.finish(
        machine
            .command()
            .env("LONGHAUL_COMPACTION_MAX_AUTO_COMPACTIONS", "7")
            .args([
                "config",
                "show",
                "--origin",
                "compaction.",
                "--window",
                "100k",
            ]),
    );
    assert_snapshot!("config-origin", ran.shown());
    let ran = machine.run_line("config show compaction.warnAtCompaction --json");
    assert_eq!(ran.json()["compaction.warnAtCompaction"], 4);
    let ran = machine.run_line("config show compaction.warnAtCompaction --json --origin");
    assert_snapshot!("config-origin-json", ran.shown());
    assert_snapshot!(
        "config-unknown-key",
        machine.run_line("config show nonsense").shown()
    );
}

#[test]
fn says_which_file_counts() {
    let machine = Machine::new();
    assert_snapshot!("config-path-none", machine.run_line("config path").shown());
    machine.put(".longhaul/longhaul.yaml", "", 1);
    assert_eq!(
        machine.run_line("config path").out,
        "/tmp/test/home/.longhaul/longhaul.yaml\n"
    );
    assert_eq!(machine.run_line("config path --config x.yaml").code, 0);
}

#[test]
fn the_schema_is_json() {
    let schema = Machine::new().run_line("config schema").json();
    assert!(schema["properties"]["compaction"].is_object());
}

#[test]
fn an_unknown_variable_is_an_error_in_every_command() {
    let machine = Machine::new();
    machine.put_pi("s", crate::talk::compacted("s", "/work").text(), 30);
    let run = |line: &str| {
        let mut command = machine.command();
        command.env("LONGHAUL_COMPACTION_AUTO_ENABLE", "false");
        machine.finish(command.args(line.split_whitespace()))
    };
    for line in [
        "chat -p hello",
        "replay s",
        "compact s",
        "context status s",
        "context show s",
        "session list",
        "session verify s",
        "checkpoint list",
        "memory status",
        "recall header",
        "dream status",
        "config show",
        "config schema",
        "config path",
        "man",
        "completions bash",
        "redact",
        "sample x.jsonl",
        "rpc",
        "mcp",
        "hook install --claude-code",
    ] {
        let ran = run(line);
        assert_eq!(ran.code, 2, "{line}: {ran:?}");
        assert!(
            ran.err.contains("LONGHAUL_COMPACTION_AUTO_ENABLED"),
            "{line}: {ran:?}"
        );
    }
    let doctor = run("doctor");
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.out.contains("LONGHAUL_COMPACTION_AUTO_ENABLED"));
    // A hook must not stop its agent.
    let hook = run("hook stop");
    assert_eq!(hook.code, 0, "{hook:?}");
}

#[test]
fn an_unknown_key_is_an_error_with_a_suggestion() {
    let machine = Machine::new();
    machine.put(
        ".longhaul/longhaul.yaml",
        "compaction:\n  contextWindw: 100000\n",
        1,
    );
    assert_snapshot!("config-typo", machine.run_line("session list").shown());
}

#[test]
fn what_helps_to_mend_a_configuration_works_without_one() {
    let machine = Machine::new();
    machine.put(".longhaul/longhaul.yaml", "compaction: [\n", 1);
    assert_eq!(machine.run_line("context status").code, 2);
    assert_eq!(machine.run_line("config schema").code, 0);
    assert_eq!(machine.run_line("config path").code, 0);
    let ran = machine.run_line("doctor --json");
    assert_eq!((ran.code, &ran.json()["sound"]), (1, &false.into()));
}

#[test]
fn a_stopped_clock_must_show_a_time() {
    let machine = Machine::new();
    let ran = machine.finish(machine.command().env("LONGHAUL_NOW", "noon").arg("doctor"));
    assert_snapshot!("bad-now", ran.shown());
}
