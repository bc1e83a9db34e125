//! The sections, in the order of the prompt.

use serde::Serialize;

use super::{Mode, PromptSource, Section};
use crate::fence::{close, neutral, one_line, open};
use crate::workspace::{BootstrapFile, FileKind};
use crate::{PartName, skills};

const FRAME: &str = include_str!("text/frame.md");
const MEMORY: &str = include_str!("text/memory.md");
const SKILLS: &str = include_str!("text/skills.md");

/// What the list of tools says of each; the definitions say the rest.
const TOOL_CHARS: usize = 160;

/// Where and on what the agent runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    /// The agent's id.
    pub agent: Option<String>,
    /// The machine.
    pub host: String,
    /// Its operating system.
    pub os: String,
    /// Its processor.
    pub arch: String,
    /// The model.
    pub model: String,
    /// Who serves it.
    pub provider: Option<String>,
    /// Through what the user talks.
    pub channel: Option<String>,
    /// What that channel can do.
    pub capabilities: Vec<String>,
    /// What a sandbox forbids, if there is one.
    pub sandbox: Option<String>,
}

/// How to behave. Each is a text of the caller's, or nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// The thinking level.
    pub thinking: Option<String>,
    /// The tag in which reasoning is to be wrapped.
    pub reasoning_tag: Option<String>,
    /// How to write for a voice.
    pub tts: Option<String>,
    /// What to do on a heartbeat.
    pub heartbeat: Option<String>,
    /// What to begin unasked.
    pub proactive: Option<String>,
}

pub(super) fn all(source: &PromptSource<'_>) -> Vec<Section> {
    let section = |name, part, body: String| Section { name, part, body };
    let minimal = matches!(source.mode, Mode::Minimal(_));
    let files: Vec<&BootstrapFile> = source
        .workspace
        .files()
        .iter()
        .filter(|file| !minimal || matches!(file.kind, FileKind::Rules | FileKind::Extra))
        .collect();

    let mut sections = vec![section("frame", PartName::Prompt, FRAME.to_owned())];
    if let Mode::Minimal(subagent) = source.mode {
        sections.push(section("subagent", PartName::Prompt, subagent.text()));
    }
    sections.push(section("runtime", PartName::Prompt, runtime(source)));
    if !files.is_empty() {
        sections.push(section("files", PartName::Files, workspace(&files)));
    }
    if !source.skills.available.is_empty() {
        let list = skills::listing(source.skills);
        sections.push(section(
            "skills",
            PartName::Skills,
            format!("{SKILLS}{list}"),
        ));
    }
    if !source.tools.all().is_empty() {
        sections.push(section("tools", PartName::Prompt, tools(source)));
    }
    let hints = hints(source, minimal);
    if !hints.is_empty() {
        sections.push(section(
            "hints",
            PartName::Prompt,
            format!("## Hints\n\n{hints}"),
        ));
    }
    sections.push(section("memory", PartName::Prompt, MEMORY.to_owned()));
    if let Some(extra) = source.extra.filter(|extra| !extra.trim().is_empty()) {
        sections.push(section(
            "extra",
            PartName::Prompt,
            neutral(extra).into_owned(),
        ));
    }
    sections
}

fn runtime(source: &PromptSource<'_>) -> String {
    let runtime = source.runtime;
    let root = source.workspace.root().to_string_lossy();
    let capabilities = runtime.capabilities.join(", ");
    let today = source.today.to_string();
    let mut text = String::from("## Runtime\n\n");
    let rows = [
        ("Agent", runtime.agent.as_deref().unwrap_or_default()),
        ("Host", &runtime.host),
        ("OS", &runtime.os),
        ("Architecture", &runtime.arch),
        ("Model", &runtime.model),
        ("Provider", runtime.provider.as_deref().unwrap_or_default()),
        ("Channel", runtime.channel.as_deref().unwrap_or_default()),
        ("Capabilities", &capabilities),
        ("Sandbox", runtime.sandbox.as_deref().unwrap_or_default()),
        ("Workspace", &root),
        ("Date", &today),
        ("Time zone", source.time_zone),
    ];
    for (name, value) in rows {
        if !value.trim().is_empty() {
            text.push_str(&format!("- {name}: {}\n", one_line(value)));
        }
    }
    text
}

fn workspace(files: &[&BootstrapFile]) -> String {
    let mut text = String::from("## Workspace files\n\n");
    for file in files {
        open(&mut text, "file", &[("path", &file.name)]);
        // Made neutral when it was shortened; the mark in it is ours.
        text.push_str(&file.body);
        if !file.body.ends_with('\n') {
            text.push('\n');
        }
        close(&mut text, "file");
    }
    text
}

fn tools(source: &PromptSource<'_>) -> String {
    let mut text = String::from("## Tools\n\n");
    for tool in source.tools.all() {
        let (name, what) = (one_line(&tool.name), one_line(&tool.description));
        let what = match what.char_indices().nth(TOOL_CHARS) {
            Some((end, _)) => format!("{}…", &what[..end]),
            None => what,
        };
        text.push_str(&format!("- `{name}`: {what}\n"));
    }
    text
}

fn hints(source: &PromptSource<'_>, minimal: bool) -> String {
    let hints = source.hints;
    let mut text = String::new();
    if let Some(level) = &hints.thinking {
        text.push_str(&format!("- Thinking level: {}.\n", one_line(level)));
    }
    if let Some(tag) = &hints.reasoning_tag {
        let is_name = |c: &char| c.is_alphanumeric() || "-_".contains(*c);
        let tag: String = tag.chars().filter(is_name).collect();
        text.push_str(&format!(
            "- Put your reasoning between `<{tag}>` and `</{tag}>`; only what is outside is shown.\n"
        ));
    }
    if let Some(voice) = &hints.tts {
        text.push_str(&format!(
            "- Your answer is read aloud: {}\n",
            one_line(voice)
        ));
    }
    if !minimal {
        for (name, hint) in [
            ("Heartbeat", &hints.heartbeat),
            ("Unasked", &hints.proactive),
        ] {
            if let Some(hint) = hint {
                text.push_str(&format!("- {name}: {}\n", one_line(hint)));
            }
        }
    }
    text
}
