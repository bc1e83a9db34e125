//! Scores by words: BM25 of each text, of what stands beside it, and of its
//! session or file as a whole.
//!
//! FTS5 is asked where each term stands. Its own sum of all terms is
//! final; from the parts we can weigh a repeated word, take the best of a
//! word's stems in several languages, keep words that stand in more than half
//! of a small index, and see which session has most of the question even
//! where no single message has.

use rusqlite::{Connection, params_from_iter};

use crate::settings::SearchSettings;
use crate::store::Shape;
use crate::text::{Quote, Term, begins_longer, begins_pairs, is_pair};

/// Rows that may be looked at for the terms of one query. The rarest terms
/// come first, so what is left out would hardly have changed the order.
const MOST_ROWS: usize = 40_000;

/// Terms that are scored, the rarest.
const MOST_SCORED: usize = 96;

/// Words that a note names.
const MOST_NAMED: usize = 12;

/// Further terms that are scored, and rows that one of them may have.
const MOST_FURTHER: usize = 20;
const MOST_FURTHER_ROWS: usize = 200;

/// What the texts beside a text count that are of another exchange.
const OTHER_EXCHANGE: f32 = 0.7;

/// What a text without a word of the query has at most of its best neighbour.
const BORROWED: f32 = 0.9;

/// The share of the best sentence where a query asks several things: each wants
/// an answer of its own.
const SEVERAL_QUESTIONS: f32 = 0.8;

/// What a question of several must have of the strongest one's score, so that
/// it is taken for one.
const A_QUESTION: f32 = 0.3;

/// The usual share of texts that have a word from beside, and for how many texts it
/// speaks.
const USUAL: f32 = 0.7;
const FEW: f32 = 4.0;

/// What the words of a query gave.
pub(super) struct Words {
    /// By unit: its own words.
    pub(super) own: Vec<f32>,
    /// By unit: the words beside it.
    pub(super) beside: Vec<f32>,
    /// By slot: the words of the query and of its best texts.
    by_slot: Vec<f32>,
    /// The weights of all words that were scored.
    asked: f32,
    /// Where a query asks several things: the scores by slot of each of them.
    questions: Vec<Vec<f32>>,
    /// By stretch.
    pub(super) stretches: Vec<f32>,
    /// The best slot of a unit.
    pub(super) slot: Vec<u32>,
    /// By term: the units that have it, in no order.
    pub(super) terms: Vec<(String, Vec<u32>)>,
    left_out: LeftOut,
    /// What a text of average length scores that has each word of the query once.
    pub(super) possible: f32,
    /// The same of a stretch.
    pub(super) possible_source: f32,
}

/// Makes the tables that tell where tokens stand.
pub(super) fn open(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.instance USING fts5vocab(main, words, instance);
         CREATE VIRTUAL TABLE IF NOT EXISTS temp.pair USING fts5vocab(main, pairs, instance)",
    )
}

/// The first `most` slots a token stands in, and how often. FTS5's own `bm25` looks up the
/// length of every row in a table; here lengths are in memory.
fn rows(
    connection: &Connection,
    shape: &Shape,
    token: &str,
    most: usize,
) -> rusqlite::Result<Vec<(u32, u32)>> {
    let table = if is_pair(token) { "pair" } else { "instance" };
    let beginning = begins_longer(token).or(begins_pairs(token).then_some(token));
    let (sql, asked) = if let Some(beginning) = beginning {
        let after = format!("{beginning}\u{10ffff}");
        let sql = format!("SELECT doc FROM temp.{table} WHERE term BETWEEN ?1 AND ?2");
        (sql, vec![beginning.to_owned(), after])
    } else if token.contains(' ') {
        let sql = String::from("SELECT rowid FROM words WHERE words MATCH ?1");
        (sql, vec![phrase(token)])
    } else {
        let sql = format!("SELECT doc FROM temp.{table} WHERE term = ?1");
        (sql, vec![token.to_owned()])
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(asked))?;
    let mut found: Vec<(u32, u32)> = Vec::new();
    let mut last = None;
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        let id: i64 = row.get(0)?;
        match found.last_mut() {
            Some((_, count)) if last == Some(id) => *count += 1,
            _ => {
                if let Some(slot) = shape.slot_of(id) {
                    found.push((slot, 1));
                    last = Some(id);
                }
            }
        }
    }
    if beginning.is_some() {
        // Of several terms the rows come one term after another.
        found.sort_unstable();
        found.dedup_by(|more, one| {
            let is_same = more.0 == one.0;
            one.1 += if is_same { more.1 } else { 0 };
            is_same
        });
    }
    Ok(found)
}

/// Tokens that stand one behind the other, as FTS5 is asked for them. They have
/// letters and digits only; in quotes they are a string to it, never an operator. Of
/// `2024-03-14T12:34:56Z` the last number of the date and that of the time have a
/// letter.
fn phrase(tokens: &str) -> String {
    match tokens.ends_with(|c: char| c.is_ascii_digit()) {
        true => format!("\"{tokens}\" OR \"{tokens}t\" * OR \"{tokens}z\""),
        false => format!("\"{tokens}\""),
    }
}

/// How much a word tells that so many of all have.
fn rarity(all: usize, having: usize) -> f32 {
    let (all, having) = (all as f32, having as f32);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// What it counts that a word stands so often in a text of this length.
fn frequent(shape: &Shape, slot: u32, often: u32, settings: &SearchSettings) -> f32 {
    let long = shape.slots[slot as usize].words as f32 / shape.average;
    let norm = settings.k1 * (1.0 - settings.b + settings.b * long);
    let often = often as f32;
    often * (settings.k1 + 1.0) / (often + norm)
}

/// The share of the texts with a word that have it from the text beside them. What a
/// conversation is about stands in several in a row; a word by which people ask or
/// tell stands anywhere. Of a word that few texts have little can be known.
fn topical(shape: &Shape, units: &[u32], settings: &SearchSettings) -> f32 {
    let goes_on = |pair: &[u32]| pair[0] + 1 == pair[1] && shape.goes_on(pair[0], settings.pause);
    let with_next: Vec<bool> = units.windows(2).map(goes_on).collect();
    let next = with_next.iter().chain([&false]);
    let before = [&false].into_iter().chain(&with_next);
    let beside = next.zip(before).filter(|(next, before)| **next || **before);
    (beside.count() as f32 + USUAL * FEW) / (units.len() as f32 + FEW)
}

/// The slots that have what a quotation has.
fn quoted(connection: &Connection, shape: &Shape, quote: &Quote) -> rusqlite::Result<Vec<u32>> {
    let phrases = quote.phrases.iter().map(|phrase| format!("\"{phrase}\""));
    let pairs = quote.pairs.iter().map(|pair| match begins_pairs(pair) {
        true => format!("\"{pair}\" *"),
        false => format!("\"{pair}\""),
    });
    let all = [
        (
            "SELECT rowid FROM words WHERE words MATCH ?1",
            phrases.collect::<Vec<_>>().join(" AND "),
        ),
        (
            "SELECT rowid FROM pairs WHERE pairs MATCH ?1",
            pairs.collect::<Vec<_>>().join(" AND "),
        ),
    ];
    let mut found: Option<Vec<u32>> = None;
    for (sql, asked) in all.iter().filter(|(_, asked)| !asked.is_empty()) {
        let mut slots = Vec::new();
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([asked])?;
        while let Some(row) = rows.next()? {
            slots.extend(shape.slot_of(row.get(0)?));
        }
        slots.sort_unstable();
        if let Some(others) = found {
            slots.retain(|slot| others.binary_search(slot).is_ok());
        }
        found = Some(slots);
    }
    Ok(found.unwrap_or_default())
}

/// A term of the query with where each of its tokens stands.
struct Found<'a> {
    term: &'a Term,
    rows: Vec<Vec<(u32, u32)>>,
}

impl Found<'_> {
    fn count(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }
}

/// A query as it is looked up.
pub(super) struct Asked<'a> {
    pub(super) terms: &'a [Term],
    pub(super) quote: Option<Quote>,
    /// Which of its sentences are questions, a bit each.
    pub(super) asking: u8,
}

/// Words of a query that are in the index and were not scored.
#[derive(Default)]
struct LeftOut {
    /// Those that too many texts have.
    frequent: Vec<String>,
    /// How many a long query had beside its rarest.
    beyond: usize,
}

/// Looks terms up and keeps the rarest, which together stand in at most
/// [`MOST_ROWS`] chunks.
fn look_up<'a>(
    connection: &Connection,
    shape: &Shape,
    asked: &Asked<'a>,
    left_out: &mut LeftOut,
) -> rusqlite::Result<Vec<Found<'a>>> {
    let mut found: Vec<Found<'a>> = Vec::new();
    let mut held = 0;
    // What stands in more than all may be looked at is left out anyway.
    let mut most = MOST_ROWS;
    let rows = |token: &str, most: usize| rows(connection, shape, token, most);
    for term in asked.terms {
        let tokens = term.tokens.iter();
        let rows = tokens.map(|token| rows(token, most + 1));
        let one = Found {
            term,
            rows: rows.collect::<rusqlite::Result<_>>()?,
        };
        if one.count() > 0 {
            held += one.count();
            found.push(one);
        }
        // A query of a whole page would hold many times what it may look at, and of
        // what is more frequent than all that is kept nothing need be known.
        if held > 4 * MOST_ROWS || found.len() > 2 * MOST_SCORED {
            leave_out(&mut found, left_out);
            held = found.iter().map(Found::count).sum();
            if found.len() == MOST_SCORED {
                most = found.last().map_or(most, Found::count).min(most);
            }
        }
    }
    leave_out(&mut found, left_out);
    if let [only] = &mut found[..]
        && only.rows.iter().any(|rows| rows.len() > MOST_ROWS)
    {
        // The one word there is counts wherever it stands.
        for (token, all) in only.term.tokens.iter().zip(&mut only.rows) {
            *all = rows(token, usize::MAX)?;
        }
    }
    Ok(found)
}

fn leave_out(found: &mut Vec<Found<'_>>, left_out: &mut LeftOut) {
    found.sort_by_key(Found::count);
    let mut spent = 0;
    let within = |one: &Found<'_>| {
        spent += one.count();
        spent <= MOST_ROWS
    };
    let kept = found.iter().map(within).take_while(|fits| *fits).count();
    if kept >= MOST_SCORED {
        left_out.beyond += found.drain(MOST_SCORED..).count();
        return;
    }
    let kept = kept.max(1).min(found.len());
    let rest = found.drain(kept..);
    let words = rest.map(|one| one.term.word.clone());
    left_out.frequent.extend(words);
}

/// Words with a comma between, not more of them than anybody reads.
fn named(words: &[String]) -> String {
    let named = words[..words.len().min(MOST_NAMED)].join(", ");
    match words.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

impl Words {
    /// What was not looked for, or not everywhere.
    pub(super) fn notes(&self) -> Vec<String> {
        let LeftOut { frequent, beyond } = &self.left_out;
        let mut notes = Vec::new();
        if !frequent.is_empty() {
            let named = named(frequent);
            notes.push(format!(
                "too frequent to tell texts apart, and left out: {named}"
            ));
        }
        if *beyond > 0 {
            notes.push(format!(
                "of {} words of the query that are in the index, the {MOST_SCORED} rarest were \
                 looked for",
                beyond + MOST_SCORED
            ));
        }
        notes
    }

    pub(super) fn score(
        connection: &Connection,
        shape: &Shape,
        allowed: &[bool],
        asked: &Asked<'_>,
        settings: &SearchSettings,
    ) -> rusqlite::Result<Words> {
        let mut words = Words {
            own: vec![0.0; shape.units.len()],
            beside: vec![0.0; shape.units.len()],
            by_slot: Vec::new(),
            asked: 0.0,
            questions: Vec::new(),
            stretches: vec![0.0; shape.stretches.len()],
            slot: shape.units.iter().map(|unit| unit.slots.start).collect(),
            terms: Vec::new(),
            left_out: LeftOut::default(),
            possible: 0.0,
            possible_source: 0.0,
        };
        let mut by_slot = vec![0f32; shape.slots.len()];
        let mut parts: Vec<(u8, Vec<(u32, f32)>)> = Vec::new();
        let mut sums = vec![0f32; shape.stretches.len()];
        // By slot: how much of the query it has, and how much there is to have.
        let mut has = vec![0f32; shape.slots.len()];
        let mut all = 0f32;
        let found = look_up(connection, shape, asked, &mut words.left_out)?;
        // What stands nowhere is missing from every text.
        let known: f32 = found.iter().map(|one| one.term.weight).sum();
        let unknown = (asked.terms.iter().map(|term| term.weight).sum::<f32>() - known).max(0.0);
        words.possible = unknown * rarity(shape.slots.len(), 0);
        words.possible_source = unknown * rarity(shape.stretches.len(), 0);
        for Found { term, rows } in found {
            let (weight, rows) = words.add(shape, allowed, term, rows, settings, &mut sums);
            let tells = weight * rarity(shape.slots.len(), rows.len());
            all += tells;
            words.possible += tells;
            for (slot, score) in &rows {
                by_slot[*slot as usize] += score;
                has[*slot as usize] += tells;
            }
            parts.push((term.sentences, rows));
            words.asked += weight;
        }
        for (score, has) in by_slot.iter_mut().zip(has) {
            *score *= 1.0 - settings.coverage + settings.coverage * has / all.max(1e-6);
        }
        words.questions = by_sentence(&parts, &mut by_slot, settings.sentences, asked.asking);
        if let Some(quote) = &asked.quote {
            // Words in their order are more than the same words anywhere.
            for slot in quoted(connection, shape, quote)? {
                if allowed[shape.slots[slot as usize].unit as usize] {
                    by_slot[slot as usize] += words.possible;
                }
            }
        }
        words.by_slot = by_slot;
        words.gather(shape, settings);
        Ok(words)
    }

    /// From the scores of slots to those of units and what is beside them.
    fn gather(&mut self, shape: &Shape, settings: &SearchSettings) {
        self.own.fill(0.0);
        self.beside.fill(0.0);
        // Most texts have no word of the query, and are not looked at.
        let scored = (0u32..).zip(&self.by_slot);
        for (slot, score) in scored.filter(|(_, score)| **score > 0.0) {
            let unit = shape.slots[slot as usize].unit as usize;
            if *score > self.own[unit] {
                self.own[unit] = *score;
                self.slot[unit] = slot;
            }
        }
        self.look_beside(shape, settings);
    }

    /// The slots whose words lead further, each with its score: the best, or
    /// the best of each question where there are several.
    pub(super) fn leading(&self, count: usize, shape: &Shape) -> Vec<(u32, f32)> {
        let first = self.first(count);
        if self.questions.len() < 2 {
            return first;
        }
        let top = first.first().map_or(1.0, |(_, score)| *score);
        let unit = |slot: u32| shape.slots[slot as usize].unit;
        let mut leading: Vec<(u32, f32)> = Vec::new();
        for scores in &self.questions {
            let best = first_of(scores.iter().copied().zip(0..), count / 2);
            let most = best.first().map_or(1.0, |(_, score)| *score);
            for (slot, score) in best {
                if leading.iter().all(|(known, _)| unit(*known) != unit(slot)) {
                    leading.push((slot, top * score / most));
                }
            }
        }
        leading
    }

    /// The slots of the best units so far, each with its score, the best first.
    fn first(&self, count: usize) -> Vec<(u32, f32)> {
        let scores = self.own.iter().zip(&self.beside).map(|(own, beside)| {
            // Words lead further only where there are some.
            if *own > 0.0 { own + beside } else { 0.0 }
        });
        first_of(scores.zip(self.slot.iter().copied()), count)
    }

    /// Searches for further tokens, each with its part of what they count
    /// together.
    pub(super) fn expand(
        &mut self,
        connection: &Connection,
        shape: &Shape,
        allowed: &[bool],
        tokens: &[(String, f32)],
        settings: &SearchSettings,
    ) -> rusqlite::Result<()> {
        let total = shape.slots.len();
        let most = (total / 2).clamp(4, MOST_FURTHER_ROWS);
        let mut found = Vec::new();
        for (token, part) in tokens {
            let rows = rows(connection, shape, token, most + 1)?;
            // A word of one text leads nowhere, one of many everywhere.
            if (2..=most).contains(&rows.len()) {
                found.push((part * rarity(total, rows.len()), rows));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        found.truncate(MOST_FURTHER);
        let parts: f32 = found.iter().map(|(part, _)| part).sum::<f32>().max(1e-6);
        for (part, rows) in found {
            let weight = settings.feedback * self.asked * part / parts;
            let rare = rarity(total, rows.len());
            for (slot, often) in rows {
                if allowed[shape.slots[slot as usize].unit as usize] {
                    self.by_slot[slot as usize] +=
                        weight * rare * frequent(shape, slot, often, settings);
                }
            }
        }
        self.gather(shape, settings);
        Ok(())
    }

    /// Scores one term: by slot, and by stretch in place. Says what it counts.
    fn add(
        &mut self,
        shape: &Shape,
        allowed: &[bool],
        term: &Term,
        rows: Vec<Vec<(u32, u32)>>,
        settings: &SearchSettings,
        sums: &mut [f32],
    ) -> (f32, Vec<(u32, f32)>) {
        // The best of the word's forms counts, not their sum.
        let mut best: Vec<(u32, f32)> = Vec::new();
        for found in rows {
            let rare = rarity(shape.slots.len(), found.len());
            for (slot, often) in found {
                if allowed[shape.slots[slot as usize].unit as usize] {
                    best.push((slot, rare * frequent(shape, slot, often, settings)));
                }
            }
        }
        best.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        best.dedup_by_key(|(slot, _)| *slot);
        // In a stretch a word counts by how many texts say it.
        let slots = best.iter().map(|(slot, _)| *slot as usize);
        let mut units: Vec<u32> = slots.map(|slot| shape.slots[slot].unit).collect();
        units.dedup();
        let weight =
            term.weight * (1.0 - settings.topics * (1.0 - topical(shape, &units, settings)));
        best.iter_mut().for_each(|(_, score)| *score *= weight);
        let mut touched: Vec<u32> = Vec::new();
        for slot in best.iter().map(|(slot, _)| *slot) {
            let unit = shape.slots[slot as usize].unit;
            let stretch = shape.units[unit as usize].stretch;
            if let Some(sum) = sums.get_mut(stretch as usize) {
                if *sum == 0.0 {
                    touched.push(stretch);
                }
                *sum += 1.0;
            }
        }
        let all = shape.stretches.len() as f32;
        let bytes = shape.stretches.iter().map(|stretch| stretch.bytes);
        let bytes = bytes.fold(0u64, u64::saturating_add);
        let average = (bytes as f32 / all.max(1.0)).max(1.0);
        let rare = rarity(shape.stretches.len(), touched.len());
        self.possible_source += weight * rare;
        for stretch in touched {
            let count = std::mem::take(&mut sums[stretch as usize]);
            let long = shape.stretches[stretch as usize].bytes as f32 / average;
            let norm = 1.2 * (0.25 + 0.75 * long);
            self.stretches[stretch as usize] += weight * rare * count * 2.2 / (count + norm);
        }
        self.terms.push((term.word.clone(), units));
        (weight, best)
    }

    /// An answer stands beside its question, and often only the question has
    /// the words. Texts beside each other in one conversation share what they
    /// have, less where the user begins anew; a long pause between them ends it.
    fn look_beside(&mut self, shape: &Shape, settings: &SearchSettings) {
        let mut most = vec![0f32; self.own.len()];
        let goes_on = |unit: usize| shape.goes_on(unit as u32, settings.pause);
        for unit in (0..self.own.len()).filter(|unit| self.own[*unit] > 0.0) {
            let own = self.own[unit];
            let before = unit.checked_sub(1).map(|before| (before, before));
            let all = before.into_iter().chain([(unit, unit + 1)]);
            for (first, other) in all.filter(|(first, _)| goes_on(*first)) {
                let begins = shape.is_user(first as u32 + 1) && !shape.is_user(first as u32);
                let part = if begins { OTHER_EXCHANGE } else { 1.0 };
                self.beside[other] += part * settings.beside * own;
                most[other] = most[other].max(own);
            }
        }
        // Two neighbours together must not lift "ok" above both of them.
        for (unit, most) in most.into_iter().enumerate() {
            if self.own[unit] <= 0.0 && most > 0.0 {
                let place = &shape.units[unit].slots;
                let slots = &shape.slots[place.start as usize..place.end as usize];
                let words: u32 = slots.iter().map(|slot| slot.words).sum();
                let says = words as f32 / (words as f32 + 1.0);
                self.beside[unit] = says * self.beside[unit].min(BORROWED * most);
            }
        }
    }
}

/// The `count` highest scores above nothing, the highest first.
fn first_of(scores: impl Iterator<Item = (f32, u32)>, count: usize) -> Vec<(u32, f32)> {
    let mut best: Vec<(u32, f32)> = Vec::with_capacity(count + 1);
    for (score, slot) in scores {
        if score > 0.0 && (best.len() < count || score > best[count - 1].1) {
            let at = best.partition_point(|(_, known)| *known >= score);
            best.insert(at, (slot, score));
            best.truncate(count);
        }
    }
    best
}

/// What one sentence of a query gave.
struct Sentence {
    bit: u8,
    best: f32,
    scores: Vec<f32>,
}

/// Gives a part of each score to the best sentence of the query, so that the
/// shorter of two questions is answered too. Sentences of little matter, such
/// as thanks, count little. Gives back the scores of those that ask (their bits
/// are `asking`).
fn by_sentence(
    parts: &[(u8, Vec<(u32, f32)>)],
    by_slot: &mut [f32],
    share: f32,
    asking: u8,
) -> Vec<Vec<f32>> {
    let sentences = parts.iter().fold(0, |all, (bits, _)| all | bits);
    let best_of = |scores: &[f32]| scores.iter().copied().fold(0f32, f32::max);
    let whole = best_of(by_slot);
    if sentences.count_ones() < 2 || share <= 0.0 || whole <= 0.0 {
        return Vec::new();
    }
    let share = match (asking & sentences).count_ones() {
        0 | 1 => share,
        _ => share.max(SEVERAL_QUESTIONS),
    };
    let mut found: Vec<Sentence> = Vec::new();
    for bit in (0..8)
        .map(|number| 1u8 << number)
        .filter(|bit| sentences & bit != 0)
    {
        let mut scores = vec![0f32; by_slot.len()];
        for (_, rows) in parts.iter().filter(|(bits, _)| bits & bit != 0) {
            for (slot, score) in rows {
                scores[*slot as usize] += score;
            }
        }
        let best = best_of(&scores);
        found.push(Sentence { bit, best, scores });
    }
    let most = found
        .iter()
        .fold(0f32, |most, sentence| most.max(sentence.best))
        .max(1e-6);
    for (slot, score) in by_slot.iter_mut().enumerate() {
        let best = found.iter().fold(0f32, |known, one| {
            known.max(one.scores[slot] / one.best.max(1e-6) * (one.best / most).sqrt())
        });
        *score = (1.0 - share) * *score + share * whole * best;
    }
    let asks = |one: &Sentence| asking & one.bit != 0 && one.best >= A_QUESTION * most;
    let asked = found.into_iter().filter(asks);
    asked.map(|sentence| sentence.scores).collect()
}
