//! The system prompt: its sections, its two modes, what keeps it the same.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use common::{Folder, Parts, load, tool, tools};
use longhaul_assembly::{
    BootstrapLimits, Error, Hints, Mode, PartCounts, PartName, Problem, Subagent, SubagentLimits,
    ToolPolicy, Tools,
};
use longhaul_tokens::{Bpe, ContentKind, Counter, Heuristic, Tokens};

fn parts() -> Parts {
    let folder = Folder::new()
        .with("AGENTS.md", "Run the tests.\n")
        .with("SOUL.md", "Be kind.")
        .with("IDENTITY.md", "Ada.")
        .with("USER.md", "Bo.")
        .with("MEMORY.md", "- pointers");
    let mut parts = Parts::of(load(&folder.path(), &BootstrapLimits::default()).0);
    parts.hints = Hints {
        thinking: Some("high".to_owned()),
        reasoning_tag: Some("think".to_owned()),
        tts: Some("short sentences".to_owned()),
        heartbeat: Some("answer HEARTBEAT_OK".to_owned()),
        proactive: Some("look at the mail".to_owned()),
    };
    parts.extra = Some("Speak French.".to_owned());
    parts
}

fn sections(prompt: &str) -> Vec<&str> {
    let opening = "<longhaul:section name=\"";
    let names = prompt.lines().filter_map(|line| line.strip_prefix(opening));
    names.map(|rest| rest.trim_end_matches("\">")).collect()
}

#[test]
fn a_full_prompt_has_its_sections_in_order() {
    let prompt = parts().prompt();
    assert_eq!(
        sections(prompt.text()),
        [
            "frame", "runtime", "files", "tools", "hints", "memory", "extra"
        ]
    );
    for expected in [
        "- Model: claude-sonnet-5\n",
        "- Channel: terminal\n",
        "- Date: 2026-11-15\n- Time zone: Europe/Berlin\n",
        "<longhaul:file path=\"AGENTS.md\">\nRun the tests.\n</longhaul:file>\n",
        "<longhaul:file path=\"SOUL.md\">\nBe kind.\n</longhaul:file>\n",
        "- `read`: Reads a file.\n",
        "- Thinking level: high.\n",
        "`<think>`",
        "- Heartbeat: answer HEARTBEAT_OK\n- Unasked: look at the mail\n",
        "Memory is a hint, not the truth.",
        "\nSpeak French.\n",
    ] {
        assert!(prompt.text().contains(expected), "{expected}");
    }
}

#[test]
fn a_minimal_prompt_has_role_task_and_limits_and_no_identity() {
    let mut parts = parts();
    parts.mode = Mode::Minimal(Subagent {
        task: "Find the flaky test.".to_owned(),
        label: Some("flaky".to_owned()),
        requester: Some("agent:main:main".to_owned()),
        session: None,
        limits: SubagentLimits {
            tokens: Some(Tokens(50_000)),
            rounds: Some(20),
            seconds: None,
        },
    });
    let prompt = parts.prompt();
    let text = prompt.text();
    assert_eq!(
        sections(text),
        [
            "frame", "subagent", "runtime", "files", "tools", "hints", "memory", "extra"
        ]
    );
    assert!(text.contains("<longhaul:task>\nFind the flaky test.\n</longhaul:task>"));
    assert!(text.contains("- Limits: 50,000 tokens, 20 model calls\n"));
    assert!(text.contains("Run the tests.") && text.contains("Thinking level"));
    for absent in [
        "Be kind.",
        "Ada.",
        "Bo.",
        "- pointers",
        "Heartbeat:",
        "Unasked:",
    ] {
        assert!(!text.contains(absent), "{absent}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes_and_the_day_is_the_finest_time() {
    let mut parts = parts();
    let (one, two) = (parts.prompt(), parts.prompt());
    assert_eq!(
        (one.text(), one.fingerprint()),
        (two.text(), two.fingerprint())
    );
    parts.day = jiff::civil::date(2026, 11, 16);
    assert_ne!(parts.prompt().fingerprint(), one.fingerprint());
}

#[test]
fn the_order_of_registration_does_not_matter() {
    let mut parts = parts();
    parts.tools = tools(vec![tool("write", "w"), tool("bash", "b")]);
    let one = parts.prompt();
    parts.tools = tools(vec![tool("bash", "b"), tool("write", "w")]);
    assert_eq!(parts.prompt().fingerprint(), one.fingerprint());
}

#[test]
fn policies_choose_tools_by_glob_and_deny_wins() {
    let policy = |allow: &[&str], deny: &[&str]| {
        let own = |list: &[&str]| list.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        ToolPolicy::new(&own(allow), &own(deny))
    };
    let offered = ["Bash", "read", "mcp__git__log", "mcp__git__push"];
    let names = |policy: &ToolPolicy| {
        let (tools, _) = Tools::select(offered.map(|name| tool(name, "")), policy);
        tools
            .all()
            .iter()
            .map(|t| t.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        names(&policy(&["*"], &[]).unwrap()),
        ["Bash", "mcp__git__log", "mcp__git__push", "read"]
    );
    assert_eq!(
        names(&policy(&["*"], &["bash", "mcp__*__push"]).unwrap()),
        ["mcp__git__log", "read"]
    );
    assert_eq!(
        names(&policy(&["{read,bash}"], &["read"]).unwrap()),
        ["Bash"]
    );
    assert!(names(&policy(&[], &[]).unwrap()).is_empty());
    assert!(matches!(
        policy(&["*"], &["["]),
        Err(Error::Pattern {
            setting: "tools.deny",
            ..
        })
    ));
}

#[test]
fn tools_that_a_provider_would_refuse_are_told() {
    let mut broken = tool("broken", "");
    broken.parameters = "[1".to_owned();
    let all = ToolPolicy::new(&["*".to_owned()], &[]).unwrap();
    let offered = [tool("a", "first"), tool("a", "second"), broken];
    let (tools, problems) = Tools::select(offered, &all);
    assert_eq!(tools.all(), [tool("a", "first")]);
    assert_eq!(
        problems,
        [
            Problem::SameTool {
                name: "a".to_owned()
            },
            Problem::BrokenTool {
                name: "broken".to_owned()
            },
        ]
    );
}

#[test]
fn an_unchanged_section_is_counted_once() {
    let mut parts = parts();
    let mut counts = PartCounts::new();
    let first = parts.prompt_with(&Heuristic, &mut counts);
    let made = counts.made();
    let second = parts.prompt_with(&Heuristic, &mut counts);
    assert_eq!(counts.made(), made);
    assert_eq!(
        first.tokens(PartName::Files),
        second.tokens(PartName::Files)
    );
    parts.extra = Some("Speak Danish.".to_owned());
    parts.prompt_with(&Heuristic, &mut counts);
    assert_eq!(counts.made(), made + 1);
}

#[test]
fn parts_together_are_at_least_what_the_whole_costs() {
    let bpe = Bpe::o200k();
    for counter in [&Heuristic as &dyn Counter, &bpe] {
        let prompt = parts().prompt_by(counter);
        let sum: Tokens = PartName::ALL.iter().map(|part| prompt.tokens(*part)).sum();
        let whole = counter.count(prompt.text(), ContentKind::Prose)
            + counter.count(&prompt.tools().to_json(), ContentKind::Json);
        assert!(
            sum >= whole && sum <= whole + Tokens(40),
            "{}: {sum} {whole}",
            counter.name()
        );
    }
}
