//! `context history`: every compaction of a session.

use longhaul_engine::checkpoints::named_checkpoint;
use longhaul_engine::marks::fidelity;
use longhaul_engine::survey::Survey;
use longhaul_transcript::{Body, Compaction, Entry};

use super::measured::heading;
use crate::args::Which;
use crate::prelude::*;

pub(super) fn history(app: &App, which: &Which) -> Result {
    let session = resolve::session(app, which.name())?;
    let survey = Survey::of(&session, &app.keep(&session))?;
    let entries = survey.compactions(&session)?;
    let rows: Vec<(u32, &Entry, &Compaction)> = entries
        .iter()
        .zip(1..)
        .filter_map(|(entry, nth)| match &entry.body {
            Body::Compaction(compaction) => {
                Some((compaction.epoch.unwrap_or(nth), entry, compaction))
            }
            _ => None,
        })
        .collect();
    if app.json {
        return out::json(&json!({
            "session": answer::session(app, &session),
            "compactions": rows.iter().map(row_json).collect::<Vec<Value>>(),
        }));
    }
    say!("{}", heading(app, &session))?;
    if rows.is_empty() {
        return say!("Never compacted.");
    }
    let own = rows.iter().map(|(_, entry, _)| entry.id.to_string());
    let own: Vec<String> = own.collect();
    let starts = resolve::id_starts(&session, &survey, &own)?;
    let mut table = Table::new([
        right("#"),
        left("WHEN"),
        left("LAYER").drop_rank(2),
        left("TRIGGER").drop_rank(3),
        right("BEFORE"),
        right("AFTER"),
        right("WORDS").drop_rank(4),
        right("LOST").drop_rank(1),
        left("BY").drop_rank(5),
        left("CHECKPOINT").drop_rank(8),
        right("SUMMARY").drop_rank(6),
        left("ENTRY"),
        left("STARTS WITH").cut_to(16).drop_rank(7),
    ]);
    for ((epoch, entry, compaction), id) in rows.iter().zip(starts) {
        let tokens = |count: Option<u64>| count.map_or_else(|| "-".into(), paint::number);
        let word = |text: &Option<String>| paint::gist(text.as_deref().unwrap_or("-"), 16);
        // The user's words that stand whole in the context, and what was lost.
        let audit = fidelity(entry);
        let [kept, lost] = audit.map_or(["-".into(), "-".into()], |audit| {
            let said = &audit.user_text;
            [
                format!("{}/{}", said.whole, said.total),
                audit.losses().to_string(),
            ]
        });
        let when = entry.time.map(|time| paint::ago(app.now(), time));
        table.row([
            epoch.to_string(),
            when.unwrap_or_default(),
            word(&compaction.layer),
            word(&compaction.trigger),
            tokens(compaction.tokens_before),
            tokens(compaction.tokens_after),
            kept,
            lost,
            word(&compaction.summarizer),
            checkpoint(entry).unwrap_or_else(|| "-".into()),
            paint::bytes(compaction.summary.len() as u64),
            id,
            paint::gist(&compaction.summary, 60),
        ]);
    }
    table.print(app.columns())
}

fn row_json((epoch, entry, compaction): &(u32, &Entry, &Compaction)) -> Value {
    json!({
        "epoch": epoch,
        "entry": entry.id.as_str(),
        "line": entry.place.line,
        "time": entry.time.map(|time| time.to_iso()),
        "layer": compaction.layer,
        "trigger": compaction.trigger,
        "tokensBefore": compaction.tokens_before,
        "tokensAfter": compaction.tokens_after,
        "messagesCompacted": compaction.messages_compacted,
        "summarizer": compaction.summarizer,
        "checkpoint": checkpoint(entry),
        "fidelity": fidelity(entry),
        "summaryBytes": compaction.summary.len(),
        "summary": compaction.summary,
    })
}

/// The checkpoint that holds the work as it was before.
fn checkpoint(entry: &Entry) -> Option<String> {
    named_checkpoint(entry.raw()).map(|id| id.to_string())
}
