//! What was said, read or done before, found again: in a session, its family, or
//! everything.

use longhaul_engine::library::{Recollection, Scope};
use longhaul_engine::recall::{Found, Hit, Query, Quoting, Same};
use longhaul_redact::Redactor;
use longhaul_transcript::{EntryId, Session, SessionRef};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Shown;
use super::entry::kind;
use crate::desk::Desk;
use crate::http::Refusal;

/// Hits on a page.
const MOST: usize = 30;
/// Longer questions are none.
const WORDS_CHARS: usize = 4_000;

/// What is asked.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Question {
    /// The words, or an entry's id.
    pub q: String,
    /// The session that is looked through first; else the newest of the workspace.
    pub session: String,
    /// Where else.
    pub r#in: Where,
}

/// How far is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Where {
    /// That session.
    Session,
    /// It, those it was forked from and their other forks.
    Family,
    /// Every session of every agent.
    #[default]
    Everything,
}

/// One hit.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundRow {
    /// The session it is from.
    pub session: String,
    /// The entry.
    pub entry: String,
    /// Who said it.
    pub who: String,
    /// When.
    pub time: Option<String>,
    /// The passage, without secrets.
    pub excerpt: String,
    /// Why it is a hit.
    pub why: String,
    /// Whether it still stands in that session's context.
    pub in_context: bool,
    /// Other entries that say the same.
    pub others: usize,
}

/// What was found.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundView {
    /// The words.
    pub q: String,
    /// The session that was looked through first.
    pub session: String,
    /// The best first.
    pub hits: Vec<FoundRow>,
    /// What should be known of the search.
    pub notes: Vec<String>,
    /// Whether secrets were left out of what is shown.
    pub redacted: bool,
}

impl FoundView {
    /// Looks for it.
    pub fn of(desk: &Desk, question: &Question) -> Shown<FoundView> {
        let words = question.q.trim();
        if words.is_empty() {
            return Ok(FoundView::default());
        }
        if words.chars().count() > WORDS_CHARS {
            return Err(Refusal::failed(
                "The question is too long",
                Some(format!("ask with at most {WORDS_CHARS} characters")),
            ));
        }
        let name = Some(question.session.as_str()).filter(|name| !name.is_empty());
        let session = match desk.session(name) {
            Ok(session) => session,
            Err(_) if name.is_none() => {
                let catalog = desk.catalog();
                let newest = catalog.sessions.first().ok_or_else(|| {
                    Refusal::unknown("No agent has a session on this machine yet.")
                })?;
                Session::open_ref(&newest.reference)?
            }
            Err(error) => return Err(Refusal::unknown(error)),
        };
        let scope = match question.r#in {
            Where::Session => Scope::Session,
            Where::Family => Scope::Family,
            Where::Everything => Scope::All,
        };
        let mut past = Recollection::of(session.reference(), scope).with_surveys(desk.surveys());
        if scope == Scope::All {
            let others = desk.catalog().sessions.into_iter();
            let others: Vec<SessionRef> = others.map(|listed| listed.reference).collect();
            past = past.with_others(move || others.clone());
        }
        if let Some(library) = &desk.library {
            past = past.with_library(library.clone());
        }
        let failed = |error| Refusal::failed(error, None);
        let by_id = past.look(&Query::Id(words.to_owned()), MOST);
        let found = match by_id {
            Ok(found) if !found.hits.is_empty() && is_id(words, &found.hits) => found,
            _ => {
                let exact = past.look(&Query::Text(words.to_owned()), MOST);
                past.by_meaning(words, exact.map_err(failed)?, MOST)
                    .map_err(failed)?
            }
        };
        let redactor = Redactor::default();
        let mut quoting = Quoting::new(&redactor).with_surveys(desk.surveys());
        quoting.learn(&found.hits)?;
        let hits = found
            .hits
            .iter()
            .map(|hit| row(hit, &mut quoting))
            .collect();
        Ok(FoundView {
            q: words.to_owned(),
            session: longhaul_engine::catalog::id_of(session.reference()),
            hits,
            notes: found.notes.iter().map(|note| quoting.note(note)).collect(),
            redacted: quoting.has_left_out(),
        })
    }
}

/// Words that happen to begin an id are words; an id is all of its letters and
/// digits, or most of them.
fn is_id(words: &str, hits: &[Hit]) -> bool {
    let is_one = |hit: &Hit| hit.entry.id == EntryId::new(words);
    hits.iter().any(is_one) || words.len() >= 8 && !words.contains(' ')
}

fn row(hit: &Hit, quoting: &mut Quoting<'_>) -> FoundRow {
    let why = match &hit.why {
        Found::Id => "its id".to_owned(),
        Found::Words => "the words stand there".to_owned(),
        Found::File => "it reads, changes or names the file".to_owned(),
        Found::Meaning(meaning) => {
            let mut why = match meaning.terms.is_empty() {
                true => "about the same".to_owned(),
                false => format!("has {}", meaning.terms.join(", ")),
            };
            if let Some(vector) = meaning.vector {
                why.push_str(&format!(" · meaning {vector:.2}"));
            }
            why
        }
    };
    FoundRow {
        session: hit.session.clone(),
        entry: hit.entry.id.to_string(),
        who: match hit.who() {
            who if who.is_empty() => kind(&hit.entry),
            who => who,
        },
        time: hit.entry.time.map(|time| time.to_iso()),
        excerpt: quoting.excerpt(hit),
        why,
        in_context: hit.in_context,
        others: match hit.others.same {
            Same::Text | Same::Passage => hit.others.count,
            Same::Words | Same::Beginning => 0,
        },
    }
}
