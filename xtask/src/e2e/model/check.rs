//! What must hold for a chat, whatever the model said in it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Cell;
use super::chat::Chat;
use super::heard::{Heard, prompt};
use crate::Result;
use crate::shell;

/// What does not hold.
#[derive(Debug, Default)]
pub(super) struct Findings(pub(super) Vec<String>);

impl Findings {
    fn expect(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.0.push(otherwise());
        }
    }
}

/// A chat at the true window.
pub(super) fn long(cell: &Cell<'_>, chat: &Chat, findings: &mut Findings) -> Result<()> {
    let heard = &chat.heard;
    every_chat(cell, chat, findings)?;
    findings.expect(heard.compactions.len() >= 3, || {
        format!("only {} compactions", heard.compactions.len())
    });
    findings.expect(heard.refused.is_empty(), || {
        format!("the server refused a request: {:?}", heard.refused)
    });
    stays_below_hard(heard, cell.window, findings);
    let extracted = |name: &str| name.starts_with("extractive");
    let names: Vec<&str> = heard
        .compactions
        .iter()
        .map(|compacted| compacted.summarizer.as_str())
        .collect();
    let by_model = names.iter().any(|name| !extracted(name));
    findings.expect(by_model || !heard.fallbacks.is_empty(), || {
        format!("no summary by the model, and nothing says why: {names:?}")
    });
    findings.expect(names.last().is_some_and(|name| extracted(name)), || {
        format!("without a model for summaries the last one is not extracted: {names:?}")
    });
    let flushed: BTreeSet<u64> = heard.flushes.iter().map(|flushed| flushed.epoch).collect();
    for (at, compacted) in heard.compactions.iter().enumerate() {
        // A compaction ends the epoch before its own number. Of two in one climb the
        // second finds nothing new to ask about.
        let epoch = compacted.epoch - 1;
        let same_climb = at > 0 && heard.compactions[at - 1].after == compacted.after;
        findings.expect(flushed.contains(&epoch) || same_climb, || {
            format!("epoch {epoch} ended without a flush")
        });
    }
    Ok(())
}

/// A chat that was told too large a window.
pub(super) fn surprised(cell: &Cell<'_>, chat: &Chat, findings: &mut Findings) -> Result<()> {
    let heard = &chat.heard;
    every_chat(cell, chat, findings)?;
    let Some(refused) = heard.refused.first() else {
        findings.expect(false, || "no overflow was recognised".into());
        return Ok(());
    };
    let window = u64::from(cell.window);
    findings.expect(refused.limit == Some(window), || {
        format!("the window was not read from {:?}", refused.message)
    });
    findings.expect(refused.requested.is_some_and(|size| size > window), || {
        format!("the size was not read from {:?}", refused.message)
    });
    findings.expect(heard.learnt.len() == 1, || {
        format!("the window was learnt {} times", heard.learnt.len())
    });
    findings.expect(chat.window.0 == cell.window, || {
        format!("the engine believes in a window of {}", chat.window)
    });
    let remembered = fs::read_to_string(chat.state.join("windows.json")).unwrap_or_default();
    findings.expect(remembered.contains(&cell.window.to_string()), || {
        format!("the window is not remembered: {remembered:?}")
    });
    findings.expect(!heard.compactions.is_empty(), || {
        "an overflow led to no compaction".into()
    });
    Ok(())
}

/// What holds for both.
fn every_chat(cell: &Cell<'_>, chat: &Chat, findings: &mut Findings) -> Result<()> {
    let heard = &chat.heard;
    for (at, turn) in heard.turns.iter().enumerate() {
        let answered = matches!(turn.outcome.as_str(), "stop" | "length");
        findings.expect(answered, || {
            let error = turn.error.as_deref().unwrap_or_default();
            format!("turn {at} ended with {}: {error}", turn.outcome)
        });
        // One token may come in one piece.
        findings.expect(!answered || turn.output < 3 || turn.pieces > 1, || {
            format!(
                "turn {at} has {} tokens of answer that came in {} pieces",
                turn.output, turn.pieces
            )
        });
    }
    let epochs: BTreeSet<u64> = heard.flushes.iter().map(|flushed| flushed.epoch).collect();
    findings.expect(epochs.len() == heard.flushes.len(), || {
        format!("flushed more than once in an epoch: {:?}", heard.flushes)
    });
    findings.expect(heard.notes() == 0 || has_notes(&chat.workspace), || {
        format!(
            "{} notes were written and are in no daily log",
            heard.notes()
        )
    });
    for compacted in &heard.compactions {
        findings.expect(compacted.lost == 0, || {
            format!(
                "compaction {} lost {} facts for good",
                compacted.epoch, compacted.lost
            )
        });
    }
    findings.expect(heard.strange.is_empty(), || {
        format!("events that cannot be understood: {:?}", heard.strange)
    });
    findings.expect(heard.troubles.is_empty(), || {
        format!("the engine had trouble: {:?}", heard.troubles)
    });
    recorded_usage(&chat.session, findings)?;
    let mut verify = Command::new(cell.program);
    verify
        .args(["session", "verify", "--session"])
        .arg(&chat.session)
        .arg("--state-dir")
        .arg(&chat.state);
    if let Err(error) = shell::output(&mut verify) {
        findings.expect(false, || format!("{error}"));
    }
    Ok(())
}

/// No request leaves above the hard threshold. By our count that is exact. By
/// the provider's it cannot be: what it has not seen yet is counted with another
/// tokenizer, and SmolLM2 makes a token of every digit. But what is wrong must
/// not eat up the room for the answer.
fn stays_below_hard(heard: &Heard, window: u32, findings: &mut Findings) {
    let margin = u64::from(window) / 10;
    for (at, asked) in heard.asked.iter().enumerate() {
        let hard = asked.hard;
        findings.expect(asked.at_most <= hard, || {
            format!("request {at} has up to {} tokens of {hard}", asked.at_most)
        });
        let reported = asked.reported.unwrap_or(0);
        findings.expect(reported <= hard + margin, || {
            format!("request {at} had {reported} tokens of {hard}")
        });
    }
    let hard = heard.asked.first().map_or(0, |asked| asked.hard);
    for (on, spent) in &heard.silent {
        let size = prompt(spent);
        findings.expect(size <= hard + margin, || {
            format!("a silent request ({on}) had {size} tokens of {hard}")
        });
    }
}

/// Every answer in the session's file says what it took.
fn recorded_usage(session: &Path, findings: &mut Findings) -> Result<()> {
    let text = fs::read_to_string(session)?;
    for (at, line) in text.lines().enumerate() {
        let entry: Value = serde_json::from_str(line)?;
        let message = &entry["message"];
        let whole = matches!(
            message["stopReason"].as_str(),
            Some("stop" | "length" | "toolUse")
        );
        if message["role"] != "assistant" || !whole {
            continue;
        }
        let tokens = |key: &str| message["usage"][key].as_u64().unwrap_or(0);
        let prompt = tokens("input") + tokens("cacheRead") + tokens("cacheWrite");
        findings.expect(prompt > 0 && tokens("output") > 0, || {
            format!(
                "line {} has an answer without usage: {}",
                at + 1,
                message["usage"]
            )
        });
    }
    Ok(())
}

/// Whether there is a daily log with something in it.
fn has_notes(workspace: &Path) -> bool {
    let Ok(files) = fs::read_dir(workspace.join("memory")) else {
        return false;
    };
    files
        .flatten()
        .filter(|file| file.path().extension().is_some_and(|end| end == "md"))
        .any(|file| file.metadata().is_ok_and(|meta| meta.len() > 0))
}
