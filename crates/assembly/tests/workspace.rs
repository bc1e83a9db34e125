//! Bootstrap files: which, how much of them, and what is told about the rest.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use common::{Folder, Parts, later, load, window};
use longhaul_assembly::{BootstrapLimits, Error, FileCache, Problem, Workspace, WorkspaceSources};

fn names(workspace: &Workspace) -> Vec<&str> {
    workspace.files().iter().map(|f| f.name.as_str()).collect()
}

fn shown(workspace: Workspace) -> String {
    Parts::of(workspace).prompt().text().to_owned()
}

#[test]
fn files_come_in_their_order_and_claude_only_without_agents() {
    let folder = Folder::new()
        .with("MEMORY.md", "m")
        .with("USER.md", "u")
        .with("SOUL.md", "s")
        .with("IDENTITY.md", "i")
        .with("CLAUDE.md", "c");
    let (workspace, problems) = load(&folder.path(), &BootstrapLimits::default());
    let expected = [
        "CLAUDE.md",
        "SOUL.md",
        "IDENTITY.md",
        "USER.md",
        "MEMORY.md",
    ];
    assert_eq!((names(&workspace), problems), (expected.to_vec(), vec![]));

    let folder = folder.with("AGENTS.md", "a");
    let (workspace, _) = load(&folder.path(), &BootstrapLimits::default());
    assert_eq!(names(&workspace)[..2], ["AGENTS.md", "SOUL.md"]);
}

#[test]
fn an_empty_folder_is_no_problem() {
    let (workspace, problems) = load(&Folder::new().path(), &BootstrapLimits::default());
    assert!(workspace.files().is_empty() && problems.is_empty());
}

#[test]
fn a_long_file_keeps_its_ends_and_says_what_is_missing() {
    let text = format!("BEGIN\n{}END\n", "a line of rules\n".repeat(2_000));
    let folder = Folder::new().with("AGENTS.md", &text);
    let (workspace, problems) = load(&folder.path(), &BootstrapLimits::default());
    let left_out = workspace.files()[0].left_out;
    assert_eq!(
        problems,
        [Problem::Shortened {
            path: folder.at("AGENTS.md"),
            chars: text.len() as u64,
            left_out,
        }]
    );
    let prompt = shown(workspace);
    assert!(prompt.contains("BEGIN\n") && prompt.contains("END\n"));
    let mark = format!("<longhaul:cut file=\"AGENTS.md\" characters=\"{left_out}\"/>");
    assert!(prompt.contains(&mark));
    let kept = text.len() as u64 - left_out;
    assert!((17_500..=18_000).contains(&kept), "{kept}");
}

#[test]
fn all_files_together_have_a_limit() {
    let folder = [
        "AGENTS.md",
        "SOUL.md",
        "IDENTITY.md",
        "USER.md",
        "MEMORY.md",
    ]
    .iter()
    .fold(Folder::new(), |folder, name| {
        folder.with(name, "x".repeat(19_990))
    });
    let (workspace, problems) = load(&folder.path(), &BootstrapLimits::default());
    assert_eq!(names(&workspace), ["AGENTS.md", "SOUL.md", "IDENTITY.md"]);
    let no_room = |name| Problem::NoRoomLeft {
        path: folder.at(name),
    };
    assert_eq!(problems, [no_room("USER.md"), no_room("MEMORY.md")]);
    assert!(shown(workspace).len() < 64_000);
}

#[test]
fn limits_shrink_with_the_window() {
    let limits = BootstrapLimits::default().scaled_to(&window(20_000));
    assert_eq!((limits.max_chars, limits.total_max_chars), (2_000, 6_000));
    let limits = BootstrapLimits::default().scaled_to(&window(1_000_000));
    assert_eq!(limits, BootstrapLimits::default());
}

#[test]
fn extra_files_are_globs_in_the_workspace() {
    let folder = Folder::new()
        .with("AGENTS.md", "a")
        .with("docs/b.md", "b")
        .with("docs/a.md", "a2")
        .with("docs/deep/c.md", "c")
        .with("docs/a.txt", "t")
        .with("node_modules/x/d.md", "no");
    let limits = |patterns: &[&str]| BootstrapLimits {
        extra_files: patterns.iter().map(|p| (*p).to_owned()).collect(),
        ..BootstrapLimits::default()
    };
    let (workspace, problems) = load(&folder.path(), &limits(&["docs/*.md"]));
    let expected = ["AGENTS.md", "docs/a.md", "docs/b.md"];
    assert_eq!((names(&workspace), problems), (expected.to_vec(), vec![]));

    let (workspace, problems) = load(&folder.path(), &limits(&["**/*.md"]));
    let expected = ["AGENTS.md", "docs/a.md", "docs/b.md", "docs/deep/c.md"];
    assert_eq!((names(&workspace), problems), (expected.to_vec(), vec![]));

    let (workspace, problems) = load(&folder.path(), &limits(&["../x.md", "[", "gone.md"]));
    assert_eq!(names(&workspace), ["AGENTS.md"]);
    assert!(matches!(
        problems[..],
        [Problem::Outside { .. }, Problem::BadPattern { .. }]
    ));
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_refused_and_told() {
    let secret = Folder::new().with("secret.md", "the secret");
    let folder = Folder::new().with("real.md", "inside");
    let link = |from: &Path, to: &str| std::os::unix::fs::symlink(from, folder.at(to)).unwrap();
    link(&secret.at("secret.md"), "AGENTS.md");
    link(Path::new("real.md"), "SOUL.md");
    link(Path::new("nowhere.md"), "USER.md");
    link(Path::new("MEMORY.md"), "MEMORY.md");
    let (workspace, problems) = load(&folder.path(), &BootstrapLimits::default());
    assert_eq!(names(&workspace), ["SOUL.md"]);
    assert_eq!(
        problems[0],
        Problem::Outside {
            path: folder.at("AGENTS.md"),
            target: secret.at("secret.md"),
        }
    );
    assert!(matches!(
        problems[1..],
        [Problem::Unreadable { .. }, Problem::Unreadable { .. }]
    ));
    assert!(!shown(workspace).contains("the secret"));
}

#[cfg(unix)]
#[test]
fn what_is_no_text_file_is_told_and_never_waited_for() {
    let folder = Folder::new()
        .with("SOUL.md", b"caf\xe9")
        .with("USER.md", b"a\0b")
        .with("IDENTITY.md/x", "a folder");
    let made = std::process::Command::new("mkfifo")
        .arg(folder.at("AGENTS.md"))
        .status();
    assert!(made.unwrap().success());
    let (workspace, problems) = load(&folder.path(), &BootstrapLimits::default());
    let at = |name| folder.at(name);
    assert_eq!(
        problems,
        [
            Problem::NotAFile {
                path: at("AGENTS.md")
            },
            Problem::NotUtf8 {
                path: at("SOUL.md")
            },
            Problem::NotAFile {
                path: at("IDENTITY.md")
            },
            Problem::NotText {
                path: at("USER.md"),
                bytes: 3,
            },
        ]
    );
    assert!(shown(workspace).contains("caf\u{FFFD}"));
}

#[test]
fn a_file_of_nothing_but_zeros_is_told_with_its_size() {
    let folder = Folder::new().with("MEMORY.md", "");
    let file = fs::OpenOptions::new()
        .write(true)
        .open(folder.at("MEMORY.md"));
    file.unwrap().set_len(500 << 20).unwrap();
    let (_, problems) = load(&folder.path(), &BootstrapLimits::default());
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let path = folder.at("MEMORY.md");
    assert_eq!(
        told,
        [format!(
            "{} is not text; it has 524288000 bytes",
            path.display()
        )]
    );
}

#[test]
fn an_enormous_file_is_read_by_its_ends() {
    for (size, counted) in [(3 << 20, true), (65 << 20, false)] {
        let folder = Folder::new().with("AGENTS.md", "BEGIN é\n");
        let file = fs::OpenOptions::new()
            .append(true)
            .open(folder.at("AGENTS.md"));
        let mut file = file.unwrap();
        let line = "日本語 and some more text in a line\n".repeat(1 << 10);
        let mut written = 0;
        while written < size {
            std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
            written += line.len();
        }
        std::io::Write::write_all(&mut file, "é END\n".as_bytes()).unwrap();
        let (workspace, problems) = load(&folder.path(), &BootstrapLimits::default());
        match &problems[..] {
            [Problem::Shortened { .. }] if counted => {}
            [Problem::Enormous { .. }] if !counted => {}
            other => panic!("{other:?}"),
        }
        let prompt = shown(workspace);
        assert!(prompt.contains("BEGIN é\n") && prompt.contains("é END\n"));
        assert!(!prompt.contains('\u{FFFD}') && prompt.chars().count() < 25_000);
        assert_eq!(prompt.contains(" characters=\""), counted);
    }
}

#[test]
fn an_unchanged_file_is_read_once_and_a_changed_one_again() {
    let folder = Folder::new()
        .with("AGENTS.md", "one")
        .with("SOUL.md", "two");
    let limits = BootstrapLimits::default();
    let mut cache = FileCache::new();
    let mut text = |now| {
        let (workspace, _) = Workspace::load(&folder.path(), &limits, now, &mut cache).unwrap();
        (shown(workspace), cache.reads())
    };
    let (first, reads) = text(later());
    assert_eq!(reads, 2);
    assert_eq!(text(later()), (first, 2));
    fs::write(folder.at("AGENTS.md"), "new").unwrap();
    let (changed, reads) = text(later());
    assert!(changed.contains("new\n") && reads == 3);
}

#[test]
fn a_file_just_written_is_not_trusted_by_its_time_stamp() {
    let folder = Folder::new().with("AGENTS.md", "one");
    let mut cache = FileCache::new();
    for _ in 0..2 {
        let now = SystemTime::now() + Duration::from_millis(1);
        Workspace::load(&folder.path(), &BootstrapLimits::default(), now, &mut cache).unwrap();
    }
    assert_eq!(cache.reads(), 2);
}

#[test]
fn flag_session_and_configuration_name_the_workspace_in_this_order() {
    let (flag, session, config) = (Folder::new(), Folder::new(), Folder::new());
    let (f, s, c) = (flag.path(), session.path(), config.path());
    let gone = c.join("gone");
    let choose = |flag: Option<&Path>, session: Option<&Path>, config: Option<&Path>| {
        WorkspaceSources {
            flag,
            session,
            config,
        }
        .choose()
    };
    assert_eq!(
        choose(Some(&f), Some(&s), Some(&c)),
        Ok((f.clone(), vec![]))
    );
    assert_eq!(choose(None, Some(&s), Some(&c)), Ok((s, vec![])));
    let told = vec![Problem::FolderGone { path: gone.clone() }];
    assert_eq!(choose(None, Some(&gone), Some(&c)), Ok((c.clone(), told)));
    assert_eq!(choose(None, None, None), Err(Error::WorkspaceUnknown));
    let missing = |result| matches!(result, Err(Error::NoWorkspace { .. }));
    assert!(missing(choose(Some(&gone), None, Some(&c))));
    assert!(missing(choose(None, Some(&gone), None)));
}
