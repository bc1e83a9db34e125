//! A workspace on disk, a prompt from it, and histories to go with it.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::disallowed_methods,
    clippy::unwrap_used
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use longhaul_assembly::{
    BootstrapLimits, Budget, FileCache, Hints, Host, Mode, PartCounts, Problem, PromptSource,
    Reserves, Runtime, SkillSources, Skills, SystemPrompt, Tool, ToolPolicy, Tools, Workspace,
};
use longhaul_tokens::{Counter, Heuristic, Tokens, Window, WindowSettings};
use longhaul_transcript::{ContextMessage, EntryId};

/// Far enough ahead that every file just written counts as settled.
pub fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(60)
}

pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn with(self, name: &str, text: impl AsRef<[u8]>) -> Folder {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn with_skill(self, folder: &str, front: &str) -> Folder {
        self.with(
            &format!("{folder}/SKILL.md"),
            format!("---\n{front}\n---\n"),
        )
    }

    pub fn path(&self) -> PathBuf {
        fs::canonicalize(self.0.path()).unwrap()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}

pub fn load(root: &Path, limits: &BootstrapLimits) -> (Workspace, Vec<Problem>) {
    Workspace::load(root, limits, later(), &mut FileCache::new()).unwrap()
}

pub fn skills(sources: &SkillSources, host: &Host) -> (Skills, Vec<Problem>) {
    Skills::load(sources, host, later(), &mut FileCache::new())
}

pub fn tools(offered: Vec<Tool>) -> Tools {
    let all = ToolPolicy::new(&["*".to_owned()], &[]).unwrap();
    Tools::select(offered, &all).0
}

pub fn tool(name: &str, description: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: r#"{"type":"object","properties":{}}"#.to_owned(),
    }
}

pub struct Parts {
    pub mode: Mode,
    pub runtime: Runtime,
    pub day: jiff::civil::Date,
    pub workspace: Workspace,
    pub skills: Skills,
    pub tools: Tools,
    pub hints: Hints,
    pub extra: Option<String>,
}

impl Parts {
    pub fn of(workspace: Workspace) -> Parts {
        Parts {
            mode: Mode::Full,
            runtime: Runtime {
                host: "alder".to_owned(),
                os: "linux".to_owned(),
                arch: "x86_64".to_owned(),
                model: "claude-sonnet-5".to_owned(),
                provider: Some("anthropic".to_owned()),
                channel: Some("terminal".to_owned()),
                ..Runtime::default()
            },
            day: jiff::civil::date(2026, 11, 15),
            workspace,
            skills: Skills::default(),
            tools: tools(vec![tool("read", "Reads a file.")]),
            hints: Hints::default(),
            extra: None,
        }
    }

    pub fn prompt(&self) -> SystemPrompt {
        self.prompt_by(&Heuristic)
    }

    pub fn prompt_by(&self, counter: &dyn Counter) -> SystemPrompt {
        self.prompt_with(counter, &mut PartCounts::new())
    }

    pub fn prompt_with(&self, counter: &dyn Counter, counts: &mut PartCounts) -> SystemPrompt {
        let source = PromptSource {
            mode: &self.mode,
            runtime: &self.runtime,
            today: self.day,
            time_zone: "Europe/Berlin",
            workspace: &self.workspace,
            skills: &self.skills,
            tools: &self.tools,
            hints: &self.hints,
            extra: self.extra.as_deref(),
        };
        SystemPrompt::build(&source, counter, counts)
    }
}

pub fn window(size: u32) -> Window {
    Window::new(&WindowSettings::of(Tokens(size))).unwrap()
}

pub fn budget(size: u32) -> Budget {
    Budget::new(&window(size), Reserves::default()).unwrap()
}

pub fn message(id: usize, role: &str, text: &str) -> ContextMessage {
    let content = serde_json::json!([{"type": "text", "text": text}]);
    let json = match role {
        "compactionSummary" => serde_json::json!({"role": role, "summary": text}),
        "toolResult" => serde_json::json!({
            "role": role, "toolCallId": "c", "toolName": "bash", "content": content,
        }),
        _ => serde_json::json!({"role": role, "content": content}),
    };
    ContextMessage::new(EntryId::from(format!("e{id}").as_str()), json.to_string())
}
