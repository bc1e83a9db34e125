//! How long a context of 200,000 tokens takes: from the disk to the request.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Zoned;
use longhaul_assembly::{
    BootstrapLimits, Budget, Counted, Event, FileCache, Hints, Host, Mode, PartCounts,
    PromptSource, Request, Reserves, Runtime, SkillSources, Skills, SystemPrompt, Tool, ToolPolicy,
    Tools, Workspace, assemble, notes,
};
use longhaul_testkit::sample::{Plan, Size, generate};
use longhaul_tokens::{
    Bpe, CheckpointNote, ContentKind, Counter, Fragment, FragmentKind, Tokens, Window,
    WindowSettings,
};
use longhaul_transcript::{Context, ContextMessage, Millis, Session};

fn main() {
    divan::main();
}

/// Files of 60,000 characters, 50 skills, 30 tools, a history that fills what
/// is left of 190,000 tokens.
struct Scene {
    folder: tempfile::TempDir,
    history: Vec<(ContextMessage, Tokens)>,
    tools: Tools,
    window: Window,
    counter: Bpe,
    now: Zoned,
}

struct Caches {
    files: FileCache,
    counts: PartCounts,
}

impl Caches {
    fn new() -> Caches {
        Caches {
            files: FileCache::new(),
            counts: PartCounts::new(),
        }
    }
}

impl Scene {
    fn new() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let rules = "- Run the tests before every commit, and say what they print.\n".repeat(400);
        for name in ["AGENTS.md", "SOUL.md", "USER.md"] {
            fs::write(at(name), &rules[..19_900]).unwrap();
        }
        for n in 0..50 {
            let skill = at(&format!("skills/skill-{n}"));
            fs::create_dir_all(&skill).unwrap();
            let front = format!(
                "---\nname: skill-{n}\ndescription: Does one kind of work well, number {n}; use it \
                 when that work is asked for.\nmetadata: {{\"openclaw\": {{\"requires\": \
                 {{\"bins\": [\"git\"]}}}}}}\n---\n"
            );
            fs::write(
                skill.join("SKILL.md"),
                front + &"Instructions.\n".repeat(500),
            )
            .unwrap();
        }
        let all = ToolPolicy::new(&["*".to_owned()], &[]).unwrap();
        let offered = (0..30).map(|n| Tool {
            name: format!("tool_{n}"),
            description: "Reads, writes or runs something and says what came of it.".to_owned(),
            parameters: r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.to_owned(),
        });
        let counter = Bpe::o200k();
        let history = history(&folder.path().join("s.jsonl"), &counter);
        Scene {
            tools: Tools::select(offered, &all).0,
            window: Window::new(&WindowSettings::of(Tokens(200_000))).unwrap(),
            now: "2026-11-15T07:44:05+01:00[Europe/Berlin]".parse().unwrap(),
            folder,
            history,
            counter,
        }
    }

    /// Everything between the user's message and the request, tokens in all.
    fn request(&self, caches: &mut Caches) -> (Tokens, usize) {
        let counter = &self.counter;
        let at = SystemTime::now() + Duration::from_secs(60);
        let root = self.folder.path();
        let (workspace, _) =
            Workspace::load(root, &BootstrapLimits::default(), at, &mut caches.files).unwrap();
        let host = Host {
            os: "linux".to_owned(),
            binaries: ["git".to_owned()].into(),
            ..Host::default()
        };
        let sources = SkillSources {
            workspace: Some(PathBuf::from(root)),
            ..SkillSources::default()
        };
        let (skills, _) = Skills::load(&sources, &host, at, &mut caches.files);
        let source = PromptSource {
            mode: &Mode::Full,
            runtime: &Runtime::default(),
            today: self.now.date(),
            time_zone: "Europe/Berlin",
            workspace: &workspace,
            skills: &skills,
            tools: &self.tools,
            hints: &Hints::default(),
            extra: None,
        };
        let prompt = SystemPrompt::build(&source, counter, &mut caches.counts);
        self.lay_out(&prompt)
    }

    fn lay_out(&self, prompt: &SystemPrompt) -> (Tokens, usize) {
        let counter = &self.counter;
        let budget = Budget::new(&self.window, Reserves::default()).unwrap();
        let counted = self.history.iter().map(|(message, tokens)| Counted {
            message,
            tokens: *tokens,
        });
        let history: Vec<Counted<'_>> = counted.collect();
        let used = Tokens(180_000);
        let request = Request {
            prompt,
            restored: &[Fragment::new(
                FragmentKind::Checkpoint,
                "Working on it.",
                counter,
            )],
            history: &history,
            event: Some(&Event::new("Go on with the next test, please.", Millis(0))),
            dynamic: &notes(used, &self.window, CheckpointNote::Saved, counter),
            now: Some(&self.now),
        };
        let context = assemble(&request, &budget, counter).unwrap();
        (context.breakdown().total, context.messages().len())
    }
}

/// Messages of a generated session, as many as fit with everything else.
fn history(path: &Path, counter: &dyn Counter) -> Vec<(ContextMessage, Tokens)> {
    let mut file = fs::File::create(path).unwrap();
    let plan = Plan {
        size: Size::AtLeastBytes(1_200_000),
        ..Plan::default()
    };
    generate(&plan, &mut file).unwrap();
    let loaded = Session::open(path).unwrap().load().unwrap();
    let mut left = Tokens(165_000);
    let mut history = Vec::new();
    for message in Context::build(&loaded).messages {
        let tokens = counter.count(message.json(), ContentKind::Json);
        if tokens > left {
            break;
        }
        left -= tokens;
        history.push((message, tokens));
    }
    history
}

#[divan::bench]
fn warm_from_the_disk(bencher: divan::Bencher<'_, '_>) {
    let scene = Scene::new();
    let mut caches = Caches::new();
    let (tokens, messages) = scene.request(&mut caches);
    eprintln!("{tokens} tokens in {messages} messages");
    bencher.bench_local(|| scene.request(&mut caches));
}

#[divan::bench]
fn warm_layout_only(bencher: divan::Bencher<'_, '_>) {
    let scene = Scene::new();
    let workspace = Workspace::load(
        scene.folder.path(),
        &BootstrapLimits::default(),
        SystemTime::now(),
        &mut FileCache::new(),
    );
    let source = PromptSource {
        mode: &Mode::Full,
        runtime: &Runtime::default(),
        today: scene.now.date(),
        time_zone: "UTC",
        workspace: &workspace.unwrap().0,
        skills: &Skills::default(),
        tools: &scene.tools,
        hints: &Hints::default(),
        extra: None,
    };
    let prompt = SystemPrompt::build(&source, &scene.counter, &mut PartCounts::new());
    bencher.bench_local(|| scene.lay_out(&prompt));
}

#[divan::bench]
fn cold_from_the_disk(bencher: divan::Bencher<'_, '_>) {
    let scene = Scene::new();
    bencher.bench_local(|| scene.request(&mut Caches::new()));
}

/// Cold, and every message of the history counted anew.
#[divan::bench(sample_count = 20)]
fn cold_with_counting(bencher: divan::Bencher<'_, '_>) {
    let scene = Scene::new();
    bencher.bench_local(|| {
        let messages = scene.history.iter();
        let counted: Tokens = messages
            .map(|(message, _)| scene.counter.count(message.json(), ContentKind::Json))
            .sum();
        (counted, scene.request(&mut Caches::new()))
    });
}
