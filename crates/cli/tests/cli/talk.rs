//! Small sessions, written by hand.

use longhaul_testkit::sample::{Plan, Size, generate};
use serde_json::{Value, json};

/// A session in pi's format, entry by entry. Ids are `e01`, `e02`, ….
pub(crate) struct Talk {
    lines: Vec<String>,
    leaf: Option<String>,
    count: usize,
}

impl Talk {
    pub(crate) fn new(id: &str, cwd: &str) -> Talk {
        let header = json!({
            "type": "session", "version": 3, "id": id,
            "timestamp": "2026-03-01T10:00:00.000Z", "cwd": cwd,
        });
        Talk {
            lines: vec![header.to_string()],
            leaf: None,
            count: 0,
        }
    }

    /// Continues from an earlier entry.
    pub(crate) fn back_to(mut self, id: &str) -> Talk {
        self.leaf = Some(id.to_owned());
        self
    }

    pub(crate) fn entry(mut self, fields: Value) -> Talk {
        self.count += 1;
        let id = format!("e{:02}", self.count);
        let mut entry = json!({
            "type": fields["type"], "id": id, "parentId": self.leaf,
            "timestamp": format!("2026-03-01T10:{:02}:00.000Z", self.count % 60),
        });
        entry
            .as_object_mut()
            .unwrap()
            .extend(fields.as_object().unwrap().clone());
        self.lines.push(entry.to_string());
        self.leaf = Some(id);
        self
    }

    fn message(self, message: Value) -> Talk {
        self.entry(json!({ "type": "message", "message": message }))
    }

    pub(crate) fn user(self, text: &str) -> Talk {
        self.message(json!({ "role": "user", "content": [{ "type": "text", "text": text }] }))
    }

    pub(crate) fn assistant(self, text: &str) -> Talk {
        self.answer(json!([{ "type": "text", "text": text }]), 0)
    }

    /// An answer that reports how large the context was.
    pub(crate) fn assistant_at(self, text: &str, tokens: u64) -> Talk {
        self.answer(json!([{ "type": "text", "text": text }]), tokens)
    }

    fn answer(self, content: Value, tokens: u64) -> Talk {
        self.message(json!({
            "role": "assistant", "provider": "anthropic", "model": "claude-sonnet-4-5",
            "stopReason": "stop", "content": content,
            "usage": { "input": tokens, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": tokens },
        }))
    }

    pub(crate) fn call(self, tool: &str, arguments: Value) -> Talk {
        let call =
            json!({ "type": "toolCall", "id": "call-1", "name": tool, "arguments": arguments });
        self.answer(json!([call]), 0)
    }

    pub(crate) fn result(self, tool: &str, text: &str) -> Talk {
        self.message(json!({
            "role": "toolResult", "toolCallId": "call-1", "toolName": tool, "isError": false,
            "content": [{ "type": "text", "text": text }],
        }))
    }

    pub(crate) fn compaction(self, first_kept: &str, summary: &str) -> Talk {
        self.entry(json!({
            "type": "compaction", "summary": summary, "firstKeptEntryId": first_kept,
            "tokensBefore": 150_000,
        }))
    }

    pub(crate) fn label(self, target: &str, label: &str) -> Talk {
        self.entry(json!({ "type": "label", "targetId": target, "label": label }))
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}

/// A conversation with a tool call, as most tests need one.
pub(crate) fn small(id: &str, cwd: &str) -> Talk {
    Talk::new(id, cwd)
        .user("Why does the build fail?")
        .call("bash", json!({ "command": "make all" }))
        .result("bash", "error: missing header")
        .assistant_at("The header is missing.", 12_000)
}

/// One that was compacted once.
pub(crate) fn compacted(id: &str, cwd: &str) -> Talk {
    small(id, cwd)
        .user("Add it.")
        .assistant("Added.")
        .compaction("e05", "## Goal\nMake the build pass.")
        .user("Now the tests.")
        .assistant_at("They pass.", 3_000)
}

/// A long piece of work: a generated session of so many turns, about 8,000
/// tokens each.
pub(crate) fn long(turns: u32) -> Vec<u8> {
    let mut text = Vec::new();
    let plan = Plan {
        size: Size::Turns(turns),
        ..Plan::default()
    };
    generate(&plan, &mut text).unwrap();
    text
}

/// A Claude Code session of so many turns, about 600 tokens each.
pub(crate) fn long_claude(id: &str, cwd: &str, turns: usize) -> String {
    let words = "The parser reads one record at a time and keeps its place. ".repeat(20);
    let mut text = String::new();
    let mut parent = Value::Null;
    for turn in 1..=turns {
        for role in ["user", "assistant"] {
            let uuid = format!("{role}-{turn}");
            let mut message = json!({
                "role": role,
                "content": [{ "type": "text", "text": format!("Step {turn}. {words}") }],
            });
            if role == "assistant" {
                message["model"] = json!("claude-opus-4-5");
                message["stop_reason"] = json!("end_turn");
            }
            let line = json!({
                "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": cwd,
                "timestamp": format!("2026-03-01T10:{:02}:00.000Z", turn % 60),
                "isSidechain": false, "userType": "external", "message": message,
            });
            text += &format!("{line}\n");
            parent = json!(uuid);
        }
    }
    text
}

pub(crate) fn claude(id: &str, cwd: &str) -> String {
    let base = |uuid: &str, parent: Value| {
        json!({
            "uuid": uuid, "parentUuid": parent, "sessionId": id, "cwd": cwd,
            "timestamp": "2026-03-01T10:00:00.000Z", "isSidechain": false, "userType": "external",
        })
    };
    let mut user = base("u-1", Value::Null);
    user["type"] = json!("user");
    user["message"] = json!({ "role": "user", "content": "Rename the module." });
    let mut answer = base("a-1", json!("u-1"));
    answer["type"] = json!("assistant");
    answer["message"] = json!({
        "id": "msg-1", "type": "message", "role": "assistant", "model": "claude-opus-4-5",
        "content": [{ "type": "text", "text": "Renamed." }], "stop_reason": "end_turn",
        "usage": { "input_tokens": 20_000, "output_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0 },
    });
    format!("{user}\n{answer}\n")
}

pub(crate) fn codex(id: &str, cwd: &str) -> String {
    let line = |kind: &str, payload: Value| json!({ "timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload });
    let meta = json!({ "id": id, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": cwd, "originator": "codex_cli_rs", "cli_version": "0.50.0" });
    let said = |role: &str, kind: &str, text: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] });
    format!(
        "{}\n{}\n{}\n",
        line("session_meta", meta),
        line(
            "response_item",
            said("user", "input_text", "Write the release notes.")
        ),
        line(
            "response_item",
            said("assistant", "output_text", "Written.")
        ),
    )
}
