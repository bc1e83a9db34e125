//! The facts that are looked for, and what counts as finding one.

use std::borrow::Cow;
use std::collections::HashMap;

use longhaul_ledger::{Category, Ledger};
use longhaul_transcript::EntryId;

use crate::summary::PathNames;
use crate::summary::requests::{SHORTEST_GIST, abbreviated};

/// What may stand around a text for it to count as found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    /// Anything.
    Any,
    /// No letter or digit that would make it part of another value.
    Word,
    /// Nor a part of a longer path.
    Path,
}

/// One way to find a fact: every text has to be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proof<'a> {
    pub(super) texts: Vec<Cow<'a, str>>,
    pub(super) edge: Edge,
}

/// Something that must not get lost, and how it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact<'a> {
    /// What kind.
    pub category: Category,
    /// The fact, exactly.
    pub text: &'a str,
    /// Entries that prove it.
    pub entries: Vec<EntryId>,
    pub(super) proofs: Vec<Proof<'a>>,
}

/// Every fact of a ledger that should still be known: what was revoked,
/// replaced, finished or resolved is not one.
pub fn facts(ledger: &Ledger) -> Vec<Fact<'_>> {
    let gists: HashMap<&str, &str> = ledger
        .requests
        .iter()
        .map(|request| (request.entry.as_str(), request.gist.as_str()))
        .collect();
    let names = PathNames::new(ledger);
    ledger
        .facts()
        .map(|fact| {
            let text = fact.text;
            let proofs = match fact.category {
                Category::FileModified | Category::FileRead => {
                    let short = names.relative(text).map(Cow::Borrowed);
                    let shown = Cow::Owned(names.show(text));
                    [Some(text.into()), short, Some(shown)]
                        .into_iter()
                        .flatten()
                        .map(|path| Proof::one(path, Edge::Path))
                        .collect()
                }
                Category::Identifier => vec![Proof::one(text.into(), Edge::Word)],
                Category::Request => {
                    let gist = fact.provenance.first().and_then(|entry| {
                        let (entry, gist) = gists.get_key_value(entry.as_str())?;
                        // Where room is short, so is a gist.
                        let end = gist.char_indices().nth(SHORTEST_GIST);
                        let gist = end.map_or(*gist, |(end, _)| &gist[..end]);
                        // One that was cut ends with an ellipsis of its own.
                        let gist = gist.trim_end_matches('…').trim_end();
                        Some(Proof {
                            texts: vec![gist.into(), abbreviated(entry).into()],
                            edge: Edge::Any,
                        })
                    });
                    let whole = Proof::one(text.into(), Edge::Any);
                    [whole].into_iter().chain(gist).collect()
                }
                Category::Constraint
                | Category::Decision
                | Category::OpenItem
                | Category::Error => vec![Proof::one(text.into(), Edge::Any)],
            };
            Fact {
                category: fact.category,
                text,
                entries: fact.provenance.entries.clone(),
                proofs,
            }
        })
        .collect()
}

impl<'a> Proof<'a> {
    fn one(text: Cow<'a, str>, edge: Edge) -> Proof<'a> {
        Proof {
            texts: vec![text],
            edge,
        }
    }
}

/// The name of a category in a list of counts.
pub(super) fn label(category: Category) -> &'static str {
    match category {
        Category::Constraint => "rules",
        Category::Decision => "decisions",
        Category::OpenItem => "open items",
        Category::FileModified => "files modified",
        Category::FileRead => "files read",
        Category::Error => "errors",
        Category::Identifier => "identifiers",
        Category::Request => "requests",
    }
}
