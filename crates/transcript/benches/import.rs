//! Reading another agent's transcript: a file shaped like Claude Code's.
#![allow(clippy::disallowed_methods)]

mod common;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use common::MB;
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use longhaul_transcript::{Block, Entry, Format, Millis, NewSession, Role, Session, import};
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const SIZES_MB: [u64; 2] = [1, 100];

fn with_file(bencher: Bencher<'_, '_>, megabytes: u64, read: impl Fn(&Session) -> u64 + Sync) {
    let Some(path) = transcript(megabytes) else {
        return;
    };
    let bytes = fs::metadata(&path).map_or(0, |meta| meta.len());
    bencher.counter(BytesCount::new(bytes)).bench(|| {
        let session = Session::open(&path).expect("the file is a transcript");
        assert_eq!(session.format(), Format::ClaudeCode);
        read(&session)
    });
}

/// The whole transcript as native entries.
#[divan::bench(args = SIZES_MB, sample_count = 5)]
fn each(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, |session| {
        let mut entries = 0;
        session
            .each(&mut |entry| {
                black_box(entry);
                entries += 1;
                ControlFlow::Continue(())
            })
            .expect("it reads to its end");
        entries
    });
}

/// Its context.
#[divan::bench(args = SIZES_MB, sample_count = 5)]
fn context(bencher: Bencher<'_, '_>, megabytes: u64) {
    with_file(bencher, megabytes, |session| {
        session.context().expect("it has a context").messages.len() as u64
    });
}

/// A native copy of it.
#[divan::bench(args = SIZES_MB, sample_count = 3)]
fn copy(bencher: Bencher<'_, '_>, megabytes: u64) {
    let target = common::folder()
        .expect("the build folder is writable")
        .join("imported.jsonl");
    with_file(bencher, megabytes, |session| {
        let _ = fs::remove_file(&target);
        let new = NewSession {
            id: "copy".into(),
            time: Millis(1),
        };
        import(session, &target, &new).expect("it is copied");
        fs::metadata(&target).map_or(0, |meta| meta.len())
    });
    let _ = fs::remove_file(&target);
}

/// The sample of this size as Claude Code would have stored it.
fn transcript(megabytes: u64) -> Option<PathBuf> {
    let native = common::session(megabytes * MB)?;
    let path = native.with_file_name(format!("claude-code-{megabytes}mb.jsonl"));
    if !path.exists() {
        let partial = path.with_extension("partial");
        let written = convert(&native, &partial).and_then(|()| fs::rename(&partial, &path));
        if let Err(error) = written {
            eprintln!("skipped: {error}");
            return None;
        }
    }
    Some(path)
}

fn convert(native: &Path, target: &Path) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(target)?);
    let mut parent: Option<String> = None;
    let mut failed = Ok(());
    let session = Session::open(native).map_err(io::Error::other)?;
    let read = session.each(&mut |entry| {
        let Some(message) = claude_message(&entry) else {
            return ControlFlow::Continue(());
        };
        let kind = if message["role"] == "assistant" {
            "assistant"
        } else {
            "user"
        };
        let record = json!({
            "parentUuid": parent.take(), "isSidechain": false, "userType": "external",
            "cwd": "/home/ada/work/project", "sessionId": "bench", "version": "2.0.14",
            "type": kind, "message": message, "uuid": entry.id.as_str(),
            "timestamp": entry.time.unwrap_or_default().to_iso(),
        });
        failed = writeln!(out, "{record}");
        parent = Some(entry.id.to_string());
        if failed.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    read.map_err(io::Error::other)?;
    failed?;
    out.flush()
}

fn claude_message(entry: &Entry) -> Option<Value> {
    let message = entry.message()?;
    let blocks = message.blocks();
    Some(match message.role {
        Role::User => json!({"role": "user", "content": message.text()}),
        Role::Assistant => {
            let content: Vec<Value> = blocks.iter().filter_map(claude_block).collect();
            let usage = message.usage().unwrap_or_default();
            json!({
                "id": format!("msg_{}", entry.id), "type": "message", "role": "assistant",
                "model": message.model(), "content": content, "stop_reason": "end_turn",
                "usage": {
                    "input_tokens": usage.input, "output_tokens": usage.output,
                    "cache_read_input_tokens": usage.cache_read,
                    "cache_creation_input_tokens": usage.cache_write,
                },
            })
        }
        Role::ToolResult => json!({
            "role": "user",
            "content": [{
                "type": "tool_result", "tool_use_id": message.tool_call_id(),
                "content": message.text(), "is_error": message.is_error(),
            }],
        }),
        _ => return None,
    })
}

fn claude_block(block: &Block<'_>) -> Option<Value> {
    Some(match block {
        Block::Text(text) => json!({"type": "text", "text": text}),
        Block::Thinking { text, signature } => {
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Block::ToolCall(call) => {
            let input: Value = serde_json::from_str(call.arguments).unwrap_or_default();
            json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
        }
        Block::Image { .. } | Block::Document { .. } | Block::Other(_) => return None,
    })
}
