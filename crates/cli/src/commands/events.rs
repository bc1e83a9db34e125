//! Events, tool calls and their outcomes, in one line each.

use longhaul_compaction::ladder::Block;
use longhaul_engine::event::{CheckpointEvent, Event};

use crate::prelude::*;

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Note,
    /// It changes what the model sees, which somebody who sees nothing but the
    /// answer must know.
    Change,
    Warning,
}

/// What an event says to a person, if anything.
pub(crate) fn event(event: &Event) -> Option<(Weight, String)> {
    Some((weight(event), line(event)?))
}

fn weight(event: &Event) -> Weight {
    match event {
        Event::Pruned { .. }
        | Event::Flushed {
            fallback: Some(_), ..
        }
        | Event::Compacted(_)
        | Event::WindowLearnt { .. } => Weight::Change,
        Event::CheckpointTrouble { .. }
        | Event::SummaryFallback { .. }
        | Event::Blocked { .. }
        | Event::Failed { .. }
        | Event::BreakerOpened { .. }
        | Event::Overflowed { .. }
        | Event::ReadOnlyPressure { .. }
        | Event::Worn { .. }
        | Event::Trouble { .. } => Weight::Warning,
        _ => Weight::Note,
    }
}

fn line(event: &Event) -> Option<String> {
    let many = |count: usize, one: &str| paint::plural(count as u64, one);
    Some(match event {
        Event::Pruned {
            results,
            tokens_before,
            tokens_after,
            ..
        } => {
            let results = many(*results, "tool result");
            format!("pruned {results}: {tokens_before} → {tokens_after} tokens")
        }
        Event::CheckpointWritten(written) => {
            format!("checkpoint {}: {}", written.checkpoint, holds(written))
        }
        Event::CheckpointTrouble {
            reason,
            remedy: None,
        } => format!("checkpoint: {reason}"),
        Event::CheckpointTrouble {
            reason,
            remedy: Some(remedy),
        } => {
            format!("checkpoint: {reason} ({remedy})")
        }
        Event::CheckpointsRecovered { set_aside, .. } if !set_aside.is_empty() => {
            format!("after a crash, set aside: {}", set_aside.join("; "))
        }
        Event::SequenceResumed { after } => {
            format!("completing a compaction that was interrupted after \"{after}\"")
        }
        Event::SequenceSuperseded => {
            "a compaction that was interrupted is given up; nothing of it was written".into()
        }
        Event::Restored {
            fragments, tokens, ..
        } if !fragments.is_empty() => {
            format!(
                "put back {} ({tokens} tokens)",
                many(fragments.len(), "fragment")
            )
        }
        Event::CompactionDue { layer, tokens } => {
            format!("the context has {tokens} tokens; making room ({layer}) …")
        }
        Event::FlushBegan { .. } => "saving to memory …".into(),
        Event::Flushed {
            by,
            notes,
            texts,
            fallback,
            ..
        } => match fallback {
            Some(why) => format!("{} ({why})", saved(by, *notes, *texts)),
            None => saved(by, *notes, *texts),
        },
        Event::Compacted(compacted) => format!(
            "compacted ({}, by {}): {} → {} tokens, {} left the context and can be recalled",
            compacted.layer,
            compacted.summarizer,
            compacted.tokens_before,
            compacted.tokens_after,
            many(compacted.messages_compacted, "message"),
        ),
        Event::SummaryFallback { reason } => {
            format!("the model wrote no summary, it was extracted: {reason}")
        }
        Event::Blocked { block, tokens } => {
            format!("the context has {tokens} tokens: {}", blocked(*block))
        }
        Event::Failed { reason } => format!("compaction failed: {reason}"),
        Event::BreakerOpened { reasons } => {
            let (count, last) = (reasons.len(), reasons.last().map_or("", String::as_str));
            format!(
                "compaction is given up after {count} failures: {last}; `longhaul compact \
                 --reset-breaker` lets it be tried again"
            )
        }
        Event::Overflowed { message, .. } => format!("the provider calls it too long: {message}"),
        Event::WindowLearnt { model, window } => {
            format!("{model} has a window of {window} tokens; remembered")
        }
        Event::ReadOnlyPressure { tokens, .. } => {
            format!("the context has {tokens} tokens, and nothing may be compacted here")
        }
        Event::Worn { recommendation, .. } => recommendation.clone(),
        Event::Trouble { reason } => reason.clone(),
        _ => return None,
    })
}

/// What a checkpoint holds.
pub(super) fn holds(written: &CheckpointEvent) -> String {
    let decisions = paint::plural(written.decisions as u64, "decision");
    let files = paint::plural((written.files_modified + written.files_read) as u64, "file");
    let open = paint::plural(written.open_items as u64, "open item");
    format!("{decisions}, {files}, {open}")
}

fn saved(by: &str, notes: usize, texts: usize) -> String {
    let noted = paint::plural(notes as u64, "note");
    let kept = paint::plural(texts as u64, "message");
    match (notes, texts) {
        (_, 0) => format!("saved {noted} to memory, by the {by}"),
        (0, _) => format!("saved {kept} of yours to memory; the {by} had nothing to add"),
        _ => format!("saved {noted} to memory, by the {by}, and {kept} of yours"),
    }
}

fn blocked(block: Block) -> &'static str {
    match block {
        Block::Off => {
            "automatic compaction is off; /compact in a chat or `longhaul compact` makes room"
        }
        Block::ReadOnly => "nothing may be written",
        Block::Breaker => {
            "compaction was given up; `longhaul compact --reset-breaker` lets it be tried again"
        }
        Block::Layers => "the layers that `compaction.layers` leaves cannot make room",
        Block::Guard => "after so many compactions a fresh session is better",
    }
}

const CALL_COLUMNS: usize = 100;
const OUTCOME_COLUMNS: usize = 80;

/// A call: the tool, and what it is about.
pub(super) fn call(tool: &str, arguments: &str) -> String {
    let about = match serde_json::from_str::<Value>(arguments) {
        Ok(Value::Object(fields)) => {
            let first = ["command", "path", "query", "text", "id"]
                .iter()
                .find_map(|name| fields.get(*name)?.as_str());
            match first {
                Some(text) => text.to_owned(),
                None => arguments.to_owned(),
            }
        }
        _ => arguments.to_owned(),
    };
    format!("{tool} {}", paint::gist(&about, CALL_COLUMNS))
}

/// What came of it: how much, or what went wrong.
pub(super) fn outcome(is_error: bool, text: &str) -> String {
    match is_error {
        true => {
            // A command's last line says more than its first.
            let first = text.lines().next().unwrap_or_default();
            let last = text.lines().next_back().unwrap_or_default();
            let line = match last.starts_with("Command ") {
                true => last,
                false => first,
            };
            format!("✗ {}", paint::gist(line, OUTCOME_COLUMNS))
        }
        false => match text.lines().count() {
            0 => "✓".into(),
            1 => format!("✓ {}", paint::gist(text, OUTCOME_COLUMNS)),
            lines => format!("✓ {}", paint::plural(lines as u64, "line")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_line_whatever_its_arguments() {
        assert_eq!(
            call("bash", r#"{"timeout":3,"command":"cargo test\n-p x"}"#),
            "bash cargo test -p x"
        );
        assert_eq!(call("read", "{\"path\": \"half"), "read {\"path\": \"half");
        assert!(call("write", &format!("{{\"path\":\"{}\"}}", "x".repeat(500))).len() < 120);
    }

    #[test]
    fn an_outcome_says_how_much_or_what_went_wrong() {
        assert_eq!(outcome(false, "a\nb"), "✓ 2 lines");
        assert_eq!(outcome(false, "wrote it"), "✓ wrote it");
        assert_eq!(
            outcome(true, "lots\n\nCommand exited with code 1"),
            "✗ Command exited with code 1"
        );
        assert_eq!(
            outcome(true, "\"x\" does not exist.\nmore"),
            "✗ \"x\" does not exist."
        );
    }

    #[test]
    fn a_flush_says_what_was_written_though_the_agent_noted_nothing() {
        for (notes, texts, told) in [
            (2, 0, "saved 2 notes to memory, by the agent"),
            (
                1,
                2,
                "saved 1 note to memory, by the agent, and 2 messages of yours",
            ),
            (
                0,
                2,
                "saved 2 messages of yours to memory; the agent had nothing to add",
            ),
            (0, 0, "saved 0 notes to memory, by the agent"),
        ] {
            assert_eq!(saved("agent", notes, texts), told);
        }
    }

    #[test]
    fn what_the_user_must_act_on_is_a_warning() {
        let line = event(&Event::BreakerOpened {
            reasons: vec!["one".into(), "two".into()],
        });
        let (weight, line) = line.unwrap();
        assert_eq!(weight, Weight::Warning);
        assert!(line.contains("--reset-breaker"), "{line}");
    }
}
