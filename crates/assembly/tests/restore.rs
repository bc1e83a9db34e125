//! What is put back after a compaction.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

mod common;

use std::path::PathBuf;

use common::{Folder, later, load};
use longhaul_assembly::{BootstrapLimits, FileCache, KeyFile, Problem, Restore, RestoreLimits};
use longhaul_tokens::{Counter, Estimator, FragmentKind, Heuristic, Tokens};
use longhaul_transcript::Millis;

fn key(path: impl Into<PathBuf>, last_seen: Option<i64>) -> KeyFile {
    KeyFile {
        path: path.into(),
        last_seen: last_seen.map(Millis),
    }
}

#[test]
fn fragments_come_in_order_and_within_their_caps() {
    let folder = Folder::new()
        .with(
            "AGENTS.md",
            "# Rules\n## Session Startup\nRead X.\n## Other\nno\n## Red Lines\nNever.\n",
        )
        .with("MEMORY.md", "- pointer")
        .with("memories/context.md", "long ".repeat(5_000))
        .with("src/a.rs", "fn a() {}")
        .with("src/b.rs", "fn b() {}");
    let outside = Folder::new().with("c.rs", "fn c() {}");
    let (workspace, _) = load(&folder.path(), &BootstrapLimits::default());
    let key_files = [
        key("src/a.rs", Some(0)),
        key("src/gone.rs", None),
        key(outside.at("c.rs"), None),
        key(folder.at("src/b.rs"), Some(i64::MAX)),
        key("AGENTS.md", None),
    ];
    let limits = RestoreLimits {
        key_files: 2,
        ..RestoreLimits::default()
    };
    let restore = Restore {
        workspace: &workspace,
        checkpoint: Some("Working on: a.rs"),
        key_files: &key_files,
        limits: &limits,
    };
    let (fragments, problems) = restore.fragments(&Heuristic, later(), &mut FileCache::new());
    let shown: Vec<(FragmentKind, &str)> = fragments.iter().map(|f| (f.kind(), f.text())).collect();
    let b = format!(
        "[{}, as it is on disk now]\nfn b() {{}}",
        folder.at("src/b.rs").display()
    );
    assert_eq!(
        [&shown[..2], &shown[3..]].concat(),
        [
            (FragmentKind::Checkpoint, "Working on: a.rs"),
            (FragmentKind::Memory, "- pointer"),
            (
                FragmentKind::KeyFile,
                "[src/a.rs, as it is on disk now, changed since you last saw it]\nfn a() {}"
            ),
            (FragmentKind::KeyFile, b.as_str()),
            (FragmentKind::AgentsSection, "## Session Startup\nRead X.\n"),
            (FragmentKind::AgentsSection, "## Red Lines\nNever.\n"),
        ]
    );
    assert_eq!(fragments[2].kind(), FragmentKind::ContextNotes);
    assert!(fragments[2].is_truncated() && fragments[2].tokens() <= Tokens(1_000));
    assert_eq!(
        problems,
        [Problem::Outside {
            path: outside.at("c.rs"),
            target: outside.at("c.rs")
        }]
    );
}

#[test]
fn an_empty_workspace_restores_nothing() {
    let (workspace, _) = load(&Folder::new().path(), &BootstrapLimits::default());
    let restore = Restore {
        workspace: &workspace,
        checkpoint: None,
        key_files: &[],
        limits: &RestoreLimits::default(),
    };
    for estimator in Estimator::ALL {
        let restored = restore.fragments(&estimator, later(), &mut FileCache::new());
        assert_eq!(restored, (vec![], vec![]));
    }
}

#[test]
fn the_logs_of_two_days_are_given_without_marks_and_the_newest_lines_last() {
    let folder = Folder::new()
        .with("memory/2026-03-08.md", "# 2026-03-08\n- too old\n")
        .with(
            "memory/2026-03-09.md",
            "# 2026-03-09\n\n- Never push on Fridays. <!-- user 4f2a -->\n",
        )
        .with(
            "memory/2026-03-10.md",
            "# 2026-03-10\n<!-- longhaul by=agent bytes=3 -->\n- port 8080\n",
        );
    let (workspace, _) = load(&folder.path(), &BootstrapLimits::default());
    let given = |limit: u32| {
        let today = jiff::civil::date(2026, 3, 10);
        let limit = Tokens(limit);
        let (fragment, problems) =
            longhaul_assembly::daily_logs(&workspace, today, limit, &Heuristic);
        assert_eq!(problems, []);
        fragment.map(|fragment| fragment.text().to_owned())
    };
    let whole = "# 2026-03-09\n- Never push on Fridays.\n# 2026-03-10\n- port 8080";
    assert_eq!(given(2_000).as_deref(), Some(whole));
    let short = "[older lines are in memory/]\n# 2026-03-10\n- port 8080";
    assert_eq!(
        given(Heuristic.count(short, FragmentKind::DailyLogs.content()).0).as_deref(),
        Some(short)
    );
    assert_eq!(given(1), None);
}

#[test]
fn of_a_long_log_the_newest_lines_are_given_and_nothing_older_is_read() {
    let old = "- an older line of the day\n".repeat(60_000);
    let folder = Folder::new()
        .with("memory/2026-03-09.md", "- said yesterday\n")
        .with("memory/2026-03-10.md", format!("{old}- the newest\n"));
    let (workspace, _) = load(&folder.path(), &BootstrapLimits::default());
    let today = jiff::civil::date(2026, 3, 10);
    let (fragment, problems) =
        longhaul_assembly::daily_logs(&workspace, today, Tokens(100), &Heuristic);
    assert_eq!(problems, []);
    let fragment = fragment.unwrap();
    let lines: Vec<&str> = fragment.text().lines().collect();
    assert_eq!(lines.first(), Some(&"[older lines are in memory/]"));
    assert_eq!(lines.last(), Some(&"- the newest"));
    assert!(
        lines[1..lines.len() - 1]
            .iter()
            .all(|line| *line == "- an older line of the day")
    );
}
