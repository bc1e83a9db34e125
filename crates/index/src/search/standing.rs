//! Which entries may have words as they stand there: those with all of them.

use std::collections::BTreeSet;

use super::in_one_view;
use crate::error::IndexError;
use crate::store::SqliteIndex;
use crate::text::{Term, begins_longer, is_pair, is_single};

/// Where a word is not known, no more entries than this may have all the others.
const FEW: usize = 200;

/// Words that are looked for. More of them need not stand in one chunk.
const MOST_WORDS: usize = 24;

impl SqliteIndex {
    /// The entries of a session in which every word of a text stands that any text
    /// has, or the beginning of one, the newest last: no other has the text word for
    /// word. A word that was cut through, or is a secret, may stand nowhere; where too
    /// little is left of the text then, the index cannot tell.
    pub fn may_say(
        &mut self,
        text: &str,
        session: &str,
    ) -> Result<Option<Vec<String>>, IndexError> {
        self.mending(|index| in_one_view(index, |index| index.entries_with(text, session)))
    }

    fn entries_with(
        &mut self,
        text: &str,
        session: &str,
    ) -> Result<Option<Vec<String>>, IndexError> {
        let shape = self.shape_now()?;
        let Some(source) = shape.sources.iter().find(|one| one.name == session) else {
            return Ok(None);
        };
        let terms = self.terms(text)?;
        let failed = self.sqlite();
        let mut units: Option<BTreeSet<u32>> = None;
        let mut unknown = false;
        for table in [Table::Words, Table::Pairs] {
            let is_known =
                |asked: &String| self.connection.prepare_cached(table.sql())?.exists([asked]);
            let mut all = Vec::new();
            for term in terms.iter().take(MOST_WORDS) {
                let asked = [table.asked(term, ""), table.asked(term, " *")];
                let asked: Vec<String> = asked.into_iter().flatten().collect();
                let mut known = asked.iter();
                let known = known.find_map(|asked| match is_known(asked) {
                    Ok(true) => Some(Ok(asked.clone())),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                });
                unknown |= known.is_none() && !asked.is_empty();
                all.extend(known.transpose().map_err(&failed)?);
            }
            if all.is_empty() {
                continue;
            }
            let rows = || -> rusqlite::Result<BTreeSet<u32>> {
                let mut statement = self.connection.prepare_cached(table.sql())?;
                let rows = statement.query_map([all.join(" AND ")], |row| row.get(0))?;
                let slots = rows.map(|id| Ok(shape.slot_of(id?)));
                let slots: Vec<Option<u32>> = slots.collect::<rusqlite::Result<_>>()?;
                let slots = slots.into_iter().flatten();
                let units = slots.map(|slot| shape.slots[slot as usize].unit);
                Ok(units.filter(|unit| source.units.contains(unit)).collect())
            };
            let found = rows().map_err(&failed)?;
            units = Some(match units {
                Some(known) => &known & &found,
                None => found,
            });
        }
        let few = |units: &BTreeSet<u32>| !unknown || units.len() <= FEW;
        let units = units.filter(few).map(|units| {
            let mut units: Vec<u32> = units.into_iter().collect();
            units.sort_by_key(|unit| shape.units[*unit as usize].time);
            let units = units.into_iter();
            units
                .map(|unit| shape.units[unit as usize].entry.clone())
                .collect()
        });
        Ok(units)
    }
}

/// Where tokens stand.
#[derive(Clone, Copy)]
enum Table {
    Words,
    Pairs,
}

impl Table {
    /// The forms of a word that are in this table, as it is asked for any of them,
    /// with what stands behind each.
    fn asked(self, term: &Term, behind: &str) -> Option<String> {
        // Words that a sign joins are words of the query as well, and a character
        // without spaces is in a pair.
        let tokens = term.tokens.iter().filter(|token| {
            let is_whole = !token.contains(' ') && !is_single(token);
            is_whole && is_pair(token) == matches!(self, Table::Pairs)
        });
        let asked: Vec<String> = tokens
            .map(|token| match begins_longer(token) {
                Some(beginning) => format!("\"{beginning}\" *"),
                None => format!("\"{token}\"{behind}"),
            })
            .collect();
        (!asked.is_empty()).then(|| format!("({})", asked.join(" OR ")))
    }

    fn sql(self) -> &'static str {
        match self {
            Table::Words => "SELECT rowid FROM words WHERE words MATCH ?1",
            Table::Pairs => "SELECT rowid FROM pairs WHERE pairs MATCH ?1",
        }
    }
}
