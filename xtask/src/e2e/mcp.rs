//! `cargo xtask e2e mcp`: the official Python client against the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::install;
use crate::Result;
use crate::{paths, shell};

/// The session the client asks about.
const SESSION: [&str; 7] = [
    r#"{"type":"session","version":3,"id":"mine","timestamp":"2026-03-01T10:00:00.000Z","cwd":"WORK"}"#,
    r#"{"type":"message","id":"e01","parentId":null,"timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"Why does the build fail?"}}"#,
    r#"{"type":"message","id":"e02","parentId":"e01","timestamp":"2026-03-01T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"bash","arguments":{"command":"make all"}}],"provider":"anthropic","model":"claude-opus-4-5","stopReason":"toolUse"}}"#,
    r#"{"type":"message","id":"e03","parentId":"e02","timestamp":"2026-03-01T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"error: missing header"}],"isError":true}}"#,
    r#"{"type":"message","id":"e04","parentId":"e03","timestamp":"2026-03-01T10:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"The header is missing."}],"provider":"anthropic","model":"claude-opus-4-5","stopReason":"stop"}}"#,
    r###"{"type":"compaction","id":"e05","parentId":"e04","timestamp":"2026-03-01T10:00:05.000Z","summary":"## Goal\nMake the build pass.","firstKeptEntryId":"e04","tokensBefore":9000}"###,
    r#"{"type":"message","id":"e06","parentId":"e05","timestamp":"2026-03-01T10:00:06.000Z","message":{"role":"user","content":"Now the tests."}}"#,
];

pub(super) fn run() -> Result<()> {
    let python = install::mcp_client()?;
    let program = crate::shell::program()?;
    let folder = paths::scratch("e2e-mcp")?;
    let (home, work) = (folder.join("home"), folder.join("work"));
    prepare(&home, &work)?;
    shell::run(
        Command::new(python)
            .arg(paths::root().join("xtask/e2e/mcp_client.py"))
            .arg(program)
            .arg(&work)
            .arg(&home),
    )
}

fn prepare(home: &Path, work: &Path) -> Result<()> {
    let sessions: PathBuf = home.join(".pi/agent/sessions/--work--");
    fs::create_dir_all(&sessions)?;
    fs::create_dir_all(work)?;
    let text = SESSION.map(|line| format!("{line}\n")).concat();
    let text = text.replace("\"WORK\"", &serde_json::to_string(work)?);
    fs::write(sessions.join("2026-03-01T10-00-00-000Z_mine.jsonl"), text)?;
    fs::write(work.join("MEMORY.md"), "- The harbour master is Ada\n")?;
    Ok(())
}
