//! `recall`: what left the context, brought back.

use longhaul_engine::recall::{Hit, Others, Query, full_text, recall};
use longhaul_transcript::EntryId;
use serde_json::{Value, json};

use super::answer;
use crate::app::App;
use crate::args::RecallArgs;
use crate::failure::Failure;
use crate::out::{self, say};
use crate::{paint, resolve};

/// Ids that are shown of those a hit stands for; `--json` has more.
const NAMED: usize = 20;

pub(crate) fn run(app: &App, args: &RecallArgs) -> Result<(), Failure> {
    let query = query(args)?;
    let session = resolve::session(app, args.on.name())?;
    let hits = recall(&session, &query, args.limit)?;
    if let (Query::Range(from, to), Some(last)) = (&query, hits.last())
        && !last.entry.id.as_str().starts_with(to.as_str())
    {
        return Err(
            Failure::new(format!("no entry {to:?} comes after {from:?}"))
                .help("`longhaul session show --all` lists every entry with its id"),
        );
    }
    if hits.is_empty() {
        return Err(Failure::new("nothing was found").help(match query {
            Query::Id(_) | Query::Ids(_) | Query::Range(..) => {
                "`longhaul session show --all` lists every entry with its id"
            }
            Query::Text(_) => "fewer words find more; case and spacing do not matter",
            Query::Path(_) => "part of the path is enough",
        }));
    }
    if app.json {
        return out::json(&json!({
            "session": answer::session(&session),
            "hits": hits.iter().map(hit_json).collect::<Vec<Value>>(),
        }));
    }
    let whole = matches!(query, Query::Id(_) | Query::Range(..)) || args.full;
    for hit in &hits {
        print(app, hit, whole)?;
    }
    Ok(())
}

fn query(args: &RecallArgs) -> Result<Query, Failure> {
    let said = [&args.text, &args.path, &args.what];
    if said
        .into_iter()
        .flatten()
        .all(|words| words.trim().is_empty())
    {
        return Err(Failure::usage("say what to recall")
            .help("an entry id, a range FROM..TO, --text WORDS or --path FILE"));
    }
    if let Some(text) = &args.text {
        return Ok(Query::Text(text.clone()));
    }
    if let Some(path) = &args.path {
        return Ok(Query::Path(path.clone()));
    }
    let what = args.what.as_deref().unwrap_or_default();
    Ok(match what.split_once("..") {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            Query::Range(from.to_owned(), to.to_owned())
        }
        _ if what.contains(char::is_whitespace) => Query::Text(what.to_owned()),
        _ => Query::Id(what.to_owned()),
    })
}

/// What comes back is quoted data: fenced, dated and attributed.
fn print(app: &App, hit: &Hit, whole: bool) -> Result<(), Failure> {
    let entry = &hit.entry;
    let who = entry
        .role()
        .map_or_else(|| entry.kind().as_str().to_owned(), |role| role.to_string());
    let when = entry.time.map(|time| time.to_iso()).unwrap_or_default();
    say!("── recalled {} · {who} · {when} ──", entry.id)?;
    let text = if whole {
        full_text(entry)
    } else {
        hit.excerpt.clone()
    };
    say!("{}", app.foreign(&text))?;
    if hit.others.count > 0 {
        say!("{}", also(&hit.others))?;
    }
    say!("── end of {} ──", entry.id)
}

/// The other entries that a hit stands for.
fn also(others: &Others) -> String {
    let more = match others.count {
        1 => "1 more entry".to_owned(),
        count => format!("{} more entries", paint::number(count as u64)),
    };
    let named: Vec<&str> = others.ids.iter().take(NAMED).map(EntryId::as_str).collect();
    let rest = if others.count > named.len() {
        ", …"
    } else {
        ""
    };
    let named = named.join(", ");
    format!(
        "and the same {} in {more}: {named}{rest}",
        others.same.as_str()
    )
}

fn hit_json(hit: &Hit) -> Value {
    json!({
        "entry": hit.entry.id.as_str(),
        "parentId": hit.entry.parent.as_ref().map(EntryId::as_str),
        "kind": hit.entry.role().map_or_else(|| hit.entry.kind().as_str().to_owned(), |role| role.to_string()),
        "time": hit.entry.time.map(|time| time.to_iso()),
        "excerpt": paint::gist(&hit.excerpt, 400),
        "alsoIn": {
            "count": hit.others.count,
            "same": hit.others.same.as_str(),
            "entries": hit.others.ids.iter().map(EntryId::as_str).collect::<Vec<_>>(),
        },
        "raw": hit.entry.raw(),
    })
}
