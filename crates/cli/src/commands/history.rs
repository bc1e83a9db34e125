//! `context history`: every compaction of a session.

use longhaul_engine::survey::Survey;
use longhaul_server::dashboard::views::Compactions;
use longhaul_transcript::Millis;

use super::measured::heading;
use crate::args::Which;
use crate::prelude::*;

pub(super) fn history(app: &App, which: &Which) -> Result {
    let session = resolve::session(app, which.name())?;
    let view = Compactions::of(&app.subject(&session))?;
    if app.json {
        return out::json(&view);
    }
    let rows = &view.compactions;
    say!("{}", heading(app, &session))?;
    if rows.is_empty() {
        return say!("Never compacted.");
    }
    let own: Vec<String> = rows.iter().map(|row| row.entry.clone()).collect();
    let survey = Survey::of(&session, &app.keep(&session))?;
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
    for (row, id) in rows.iter().zip(starts) {
        let tokens = |count: Option<u64>| count.map_or_else(|| "-".into(), paint::number);
        let word = |text: &Option<String>| paint::gist(text.as_deref().unwrap_or("-"), 16);
        // The user's words that stand whole in the context, and what was lost.
        let audit = row.fidelity.as_ref();
        let [kept, lost] = audit.map_or(["-".into(), "-".into()], |audit| {
            let said = &audit.user_text;
            [
                format!("{}/{}", said.whole, said.total),
                audit.losses().to_string(),
            ]
        });
        let time = row.time.as_deref().and_then(Millis::parse_iso);
        let when = time.map(|time| paint::ago(app.now(), time));
        table.row([
            row.epoch.to_string(),
            when.unwrap_or_default(),
            word(&row.layer),
            word(&row.trigger),
            tokens(row.tokens_before),
            tokens(row.tokens_after),
            kept,
            lost,
            word(&row.summarizer),
            row.checkpoint.clone().unwrap_or_else(|| "-".into()),
            paint::bytes(row.summary_bytes as u64),
            id,
            paint::gist(&row.summary, 60),
        ]);
    }
    table.print(app.columns())
}
