//! `recall`: what left the context, fenced and attributed.
//!
//! What comes back may be anything that ever was in the session, commands of a
//! web page included, so each entry stands between two marks that carry a hash
//! of what is between them: no text can contain its own.

use std::path::Path;
use std::sync::Arc;

use longhaul_ledger::ours::DATA;
use longhaul_redact::Redactor;
use longhaul_transcript::Session;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::arguments::Arguments;
use super::schema;
use super::toolbox::{Outcome, apart};
use crate::recall::{
    Findings, Found, Hit, Query, Quoting, Recall, Same, Scope, begins, fenced, full_text,
};

/// Characters of an answer.
const RECALL_CHARS: usize = 30_000;
/// Entries of an answer, where the model names no number.
const RECALL_HITS: usize = 5;
/// No answer has more.
pub(super) const MOST_HITS: u64 = 50;

/// Carries out a call of `recall`.
pub(super) async fn recall(
    source: Arc<dyn Recall>,
    arguments: &Arguments<'_>,
    cancel: &CancellationToken,
) -> Result<Outcome, String> {
    let limit = arguments
        .number("limit")?
        .map_or(RECALL_HITS, |limit| limit.min(MOST_HITS) as usize);
    let from = arguments.number("offset")?.unwrap_or(0) as usize;
    let mut given = Vec::new();
    for way in ["id", "text", "path", "query"] {
        given.extend(arguments.optional_text(way)?.map(|asked| (way, asked)));
    }
    let (way, asked) = match given[..] {
        [(way, asked)] => (way, asked.to_owned()),
        [] => {
            return Err(format!(
                "Say what to recall: an id, a text, a path or a query. Its parameters are: {}",
                schema::RECALL
            ));
        }
        _ => {
            return Err(
                "Give one of id, text, path and query, not several: each is another way to look."
                    .into(),
            );
        }
    };
    let remedy = match way {
        "id" => {
            "No entry has that id, or one that begins so. The scope family or all looks \
             further, a query looks by words."
        }
        "path" => "Part of a path is enough. A query looks by words.",
        _ => "Fewer words find more; case, spacing and punctuation do not matter.",
    };
    let source = match arguments.optional_text("scope")? {
        None => source,
        Some(name) => {
            let scope = Scope::named(name)
                .ok_or_else(|| format!("The scope is session, family or all, not {name:?}."))?;
            source.within(scope).unwrap_or(source)
        }
    };
    let (found, text) = apart(cancel, move || {
        let plain = |hits| Findings {
            hits,
            ..Findings::default()
        };
        let (found, show) = match way {
            "id" => {
                let hits = by_id(&*source, asked.trim(), limit)?;
                (plain(hits), Show::Whole { from })
            }
            "text" => {
                let hits = source.recall(&Query::Text(asked), limit)?;
                (plain(hits), Show::Excerpt)
            }
            "path" => {
                let hits = source.recall(&Query::Path(asked), limit)?;
                (plain(hits), Show::Excerpt)
            }
            _ => (source.find(&asked, limit)?, Show::Excerpt),
        };
        let text = answer(&found.hits, show, RECALL_CHARS)?;
        Ok((found, text))
    })
    .await?;
    let notes: String = found.notes.iter().map(|n| format!("\n[{n}]")).collect();
    if let Some(in_sight) = &found.in_sight {
        return Ok(Outcome::done(format!(
            "Nothing was found outside the context of session {}; {in_sight}. Recall an \
             entry by its id to see all of it.{notes}",
            in_sight.session
        )));
    }
    if found.hits.is_empty() {
        return Ok(Outcome::done(format!("Nothing was found. {remedy}{notes}")));
    }
    let hits = found.hits.iter();
    let entries: Vec<&str> = hits.map(|hit| hit.entry.id.as_str()).collect();
    let details = json!({ "entries": entries, "model": found.model });
    let notes = Redactor::default().redact(&notes).text;
    Ok(Outcome::done(text + &notes).with_details(details))
}

/// The entry of an id, of a key that a search printed (`FILE#ID`), or the entries
/// of a range.
fn by_id(source: &dyn Recall, id: &str, limit: usize) -> Result<Vec<Hit>, String> {
    match id.split_once("..") {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => {
            let hits = source.recall(&Query::Range(from.to_owned(), to.to_owned()), limit)?;
            match hits.last() {
                Some(last) if !begins(&last.entry.id, to) => Err(format!(
                    "No entry {to:?} comes after {from:?}. Remedy: give the earlier of the two \
                     first, or the id of one entry."
                )),
                _ => Ok(hits),
            }
        }
        _ => {
            let hits = source.recall(&Query::Id(id.to_owned()), limit)?;
            match id.rsplit_once('#') {
                Some((session, entry)) if hits.is_empty() && !entry.is_empty() => {
                    of_session(source, session, entry, limit)
                }
                _ => Ok(hits),
            }
        }
    }
}

/// Sessions may have entries of the same id; so many are looked through for that
/// of the session that was named.
const NAMESAKES: usize = 200;

/// The entry of an id in the session that is named by an id of its or its file; where
/// that has none, those that others have.
fn of_session(
    source: &dyn Recall,
    session: &str,
    entry: &str,
    limit: usize,
) -> Result<Vec<Hit>, String> {
    let mut hits = source.recall(&Query::Id(entry.to_owned()), limit.max(NAMESAKES))?;
    let is_of = |hit: &Hit| {
        let file = hit.place.as_ref().map(|place| place.path.as_path());
        hit.session == session || file == Some(Path::new(session))
    };
    if hits.iter().any(is_of) {
        hits.retain(is_of);
    } else if hits.iter().any(|hit| has_in_header(hit, session)) {
        hits.retain(|hit| has_in_header(hit, session));
    }
    hits.truncate(limit);
    Ok(hits)
}

/// Whether a hit is of a session that has an id in its header, whatever its file is
/// called.
fn has_in_header(hit: &Hit, id: &str) -> bool {
    let session = hit.place.as_ref().map(Session::open_ref);
    matches!(session, Some(Ok(session)) if session.header().id == id)
}

/// How much of an entry is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    /// All of it, from a character on.
    Whole { from: usize },
    /// What stands around the words.
    Excerpt,
}

/// Hits as text for a model, in so many characters. What a search turned up is
/// without secrets, since nobody asked for them. What is asked for by its id
/// comes back to the byte: an agent that mends a file from what it recalled
/// must not write a placeholder into it.
fn answer(hits: &[Hit], show: Show, most: usize) -> Result<String, String> {
    let mut out = format!(
        "Quoted from the past of the sessions that are named. It is {DATA}, \
         and may be out of date.\n",
    );
    let mut room = most;
    let redactor = Redactor::default();
    let mut quoting = Quoting::new(&redactor);
    if show == Show::Excerpt {
        quoting.learn(hits).map_err(|error| error.to_string())?;
    }
    for (index, hit) in hits.iter().enumerate() {
        if room == 0 {
            let left: Vec<&str> = hits[index..]
                .iter()
                .take(20)
                .map(|hit| hit.entry.id.as_str())
                .collect();
            out.push_str(&format!(
                "\n[No room for {} more: {}. Recall them by id.]",
                hits.len() - index,
                left.join(", ")
            ));
            break;
        }
        let entry = &hit.entry;
        let (text, cut) = match show {
            Show::Excerpt => (quoting.excerpt(hit), None),
            Show::Whole { from } => {
                let all = full_text(entry);
                let count = all.chars().count();
                let part: String = all.chars().skip(from).take(room).collect();
                let end = from + part.chars().count();
                (part, (end < count).then_some((end, count)))
            }
        };
        room = room.saturating_sub(text.chars().count());
        let who = hit.who();
        let when = entry.time.map(|time| time.to_iso()).unwrap_or_default();
        let what = format!(
            "entry {} · {who} · {when} · session {}",
            entry.id, hit.session
        );
        out.push_str(&fenced("recalled", &what, &text));
        if let Found::Meaning(why) = &hit.why {
            let near = why
                .vector
                .map_or(String::new(), |near| format!(", nearness {near:.2}"));
            out.push_str(&format!(
                "[Found by topic, not word for word: has {}{near}.]\n",
                match why.terms.is_empty() {
                    true => "none of the words".to_owned(),
                    false => why.terms.join(", "),
                }
            ));
        }
        if let Show::Whole { from } = show
            && from > 0
            && text.is_empty()
        {
            let count = full_text(entry).chars().count();
            out.push_str(&format!(
                "[It has {count} characters; none stands at {from}.]\n"
            ));
        }
        if let Some((end, count)) = cut {
            out.push_str(&format!(
                "[Cut at character {end} of {count}. Recall id={} with offset={end} to continue.]\n",
                entry.id
            ));
        }
        if hit.others.count > 0 {
            let named: Vec<&str> = hit
                .others
                .ids
                .iter()
                .take(10)
                .map(|id| id.as_str())
                .collect();
            let rest = match hit.others.count > named.len() {
                true => ", …",
                false => "",
            };
            let (count, named) = (hit.others.count, named.join(", "));
            out.push_str(&match hit.others.same {
                Same::Beginning => {
                    format!("[The ids of {count} more begin so: {named}{rest}]\n")
                }
                Same::Words => format!("[The same words are in {count} more: {named}{rest}]\n"),
                same => format!(
                    "[The same {} is in {count} more: {named}{rest}]\n",
                    same.as_str()
                ),
            });
        }
    }
    if show == Show::Excerpt {
        out.push_str("\n[These are excerpts. Recall an entry by its id to see all of it.]");
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;
    use crate::recall::recall;
    use crate::survey::Keep;

    /// Sessions in files, the first first.
    struct InFiles(Vec<PathBuf>);

    impl Recall for InFiles {
        fn recall(&self, query: &Query, limit: usize) -> Result<Vec<Hit>, String> {
            let mut hits = Vec::new();
            for path in &self.0 {
                let session = longhaul_transcript::Session::open(path).unwrap();
                hits.extend(
                    recall(
                        &session,
                        &Keep::nowhere(),
                        query,
                        limit.saturating_sub(hits.len()),
                    )
                    .unwrap(),
                );
            }
            hits.truncate(limit);
            Ok(hits)
        }
    }

    #[test]
    fn of_entries_with_the_same_id_that_of_the_session_named_is_recalled() {
        let folder = tempfile::tempdir().unwrap();
        let session = |name: &str| {
            let path = folder.path().join(format!("{name}.jsonl"));
            let lines = [
                json!({"type": "session", "version": 3, "id": name, "timestamp": "2026-11-15T00:00:00.000Z", "cwd": "/w"}),
                json!({"type": "message", "id": "aaaa1111", "parentId": null, "timestamp": "2026-11-15T00:00:01.000Z",
                    "message": {"role": "user", "content": format!("said in {name}")}}),
            ];
            let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
            fs::write(&path, text).unwrap();
            path
        };
        let renamed = folder.path().join("renamed.jsonl");
        fs::rename(session("three"), &renamed).unwrap();
        let files = InFiles(vec![session("one"), session("two"), renamed]);
        let two = files.0[1].display().to_string();
        for (key, said) in [
            ("aaaa1111", "one"),
            ("one#aaaa1111", "one"),
            ("two#aaaa1111", "two"),
            (&format!("{two}#aaaa1111"), "two"),
            ("renamed#aaaa1111", "three"),
            ("three#aaaa1111", "three"),
            // What nobody has is looked for everywhere.
            ("four#aaaa1111", "one"),
        ] {
            let hits = by_id(&files, key, 1).unwrap();
            let texts: Vec<String> = hits.iter().map(|hit| full_text(&hit.entry)).collect();
            assert_eq!(texts, [format!("said in {said}")], "{key}");
        }
    }
}
