//! A session told turn by turn, with what each room makes of it.

use std::ops::ControlFlow;

use longhaul_compaction::audit::Source;
use longhaul_ledger::Ledger;
use longhaul_transcript::{Context, ContextMessage, Entry, Session};
use serde_json::{Value, json};

#[derive(Default)]
pub(crate) struct Story {
    lines: Vec<Value>,
    calls: usize,
}

pub(crate) struct Told {
    pub(crate) entries: Vec<Entry>,
    pub(crate) messages: Vec<ContextMessage>,
    pub(crate) ledger: Ledger,
    pub(crate) source: Source,
}

impl Story {
    pub(crate) fn message(mut self, message: Value) -> Story {
        let at = self.lines.len();
        let parent = at.checked_sub(1).map(id);
        let minute = format!("2026-01-01T{:02}:{:02}:00.000Z", at / 60 % 24, at % 60);
        self.lines.push(json!({"type":"message","id":id(at),"parentId":parent,"timestamp":minute,"message":message}));
        self
    }

    pub(crate) fn user(self, text: &str) -> Story {
        self.message(json!({"role":"user","content":text}))
    }

    pub(crate) fn typed(self, channel: &str, text: &str) -> Story {
        self.message(
            json!({"role":"user","content":text,"userText":[{"channel":channel,"text":text}]}),
        )
    }

    pub(crate) fn agent(self, text: &str) -> Story {
        self.message(
            json!({"role":"assistant","content":[{"type":"text","text":text}],"stopReason":"stop"}),
        )
    }

    /// A call and its result; `more` are further fields of the result.
    pub(crate) fn call(mut self, tool: &str, arguments: Value, output: &str, more: Value) -> Story {
        self.calls += 1;
        let call = format!("c{}", self.calls);
        let mut result = json!({"role":"toolResult","toolCallId":call,"toolName":tool,"content":[{"type":"text","text":output}],"isError":false});
        for (name, value) in more.as_object().into_iter().flatten() {
            result[name] = value.clone();
        }
        self.message(json!({"role":"assistant","content":[{"type":"toolCall","id":call,"name":tool,"arguments":arguments}],"stopReason":"toolUse"}))
            .message(result)
    }

    pub(crate) fn run(self, command: &str, code: i32, output: &str) -> Story {
        let output = format!("Exit code {code}\n{output}");
        self.call(
            "bash",
            json!({"command":command}),
            &output,
            json!({"isError":code != 0}),
        )
    }

    pub(crate) fn edit(self, path: &str) -> Story {
        self.call(
            "edit",
            json!({"path":path,"oldText":"a","newText":"b"}),
            "ok",
            json!({}),
        )
    }

    pub(crate) fn done(self) -> Told {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let mut text = String::from(
            "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"/w\"}\n",
        );
        for line in &self.lines {
            text.push_str(&format!("{line}\n"));
        }
        std::fs::write(&path, text).unwrap();
        let session = Session::open(&path).unwrap();
        let mut entries = Vec::new();
        session
            .each(&mut |entry| {
                entries.push(entry);
                ControlFlow::Continue(())
            })
            .unwrap();
        let mut ledger = Ledger::new(Some("/w".into()));
        ledger.observe_all(&entries);
        let mut source = Source::new(Some("/w".into()));
        entries.iter().for_each(|entry| source.observe(entry));
        let messages = Context::build(&session.load().unwrap()).messages;
        Told {
            entries,
            messages,
            ledger,
            source,
        }
    }
}

pub(crate) fn id(at: usize) -> String {
    format!("{:08x}", 0xa000_0000_u32 + at as u32)
}
