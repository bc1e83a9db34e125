//! Search: what fits a question best, and why.
//!
//! Every text has a score for its words, for what stands beside it and for its
//! session as a whole; with a model also for its meaning. None depends on what else
//! is found, and a text found by one side only keeps what it has.
//! Age takes a little, repetition a little more. Nothing is dropped by a
//! threshold: the best `k` come back, and each tells why.

mod feedback;
mod order;
mod passage;
mod quoted;
mod standing;
mod unknown;
mod words;

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;

use longhaul_transcript::Millis;

use self::words::{Asked, Words};
use crate::embed::Encoder;
use crate::error::IndexError;
use crate::record::{Filters, Fusion, Hit, Hits, Kept, Mode, Query, RecordKind, Why};
use crate::settings::SearchSettings;
use crate::store::{Matrix, NOTHING, Shape, SqliteIndex};
use crate::text::{self, Language, Term};

/// More of a query than this is not looked at.
const LONGEST_QUERY: usize = 20_000;

/// A unit and the parts of its score.
struct Candidate {
    unit: u32,
    slot: u32,
    score: f32,
    why: Why,
}

/// A unit and its score.
struct Scored {
    unit: u32,
    score: f32,
    /// What the other half of its exchange added.
    raised: f32,
}

/// What of an index fits a question best.
pub(crate) fn find(index: &mut SqliteIndex, query: &Query) -> Result<Hits, IndexError> {
    in_one_view(index, |index| index.find_within(query))
}

/// Reads one view of the file from the first row to the last text.
fn in_one_view<T>(
    index: &mut SqliteIndex,
    read: impl FnOnce(&mut SqliteIndex) -> Result<T, IndexError>,
) -> Result<T, IndexError> {
    let begun = index.connection.execute_batch("BEGIN");
    begun.map_err(index.sqlite())?;
    let found = read(index);
    // Nothing was written; a failure to end is seen by the next begin.
    let _ = index.connection.execute_batch("COMMIT");
    found
}

impl SqliteIndex {
    fn find_within(&mut self, query: &Query) -> Result<Hits, IndexError> {
        let shape = self.shape_now()?;
        let mut hits = Hits {
            hits: Vec::new(),
            model: None,
            unknown: unknown::unknown(&shape, &query.filters),
            notes: Vec::new(),
        };
        let text = &query.text[..query.text.floor_char_boundary(LONGEST_QUERY)];
        if text.len() < query.text.len() {
            hits.notes.push(format!(
                "the query has {} bytes; its first {LONGEST_QUERY} were used",
                query.text.len()
            ));
        }
        if text.trim().is_empty() || shape.units.is_empty() {
            return Ok(hits);
        }
        if !text.contains(char::is_alphanumeric) {
            hits.notes.push(String::from(
                "the query has no letter and no digit; signs alone are not indexed",
            ));
        }
        let within = allowed(&shape, &query.filters);
        let quoting = self.quoting(&shape)?;
        let mut allowed = within.clone();
        quoting.leave_out(&mut allowed);
        let terms = self.terms(text)?;
        let asked = Asked {
            terms: &terms,
            quote: text::quote(text, &mut self.stems),
            asking: text::questions(text),
        };
        let mut candidates = self.candidates(query, text, &asked, &shape, &allowed, &mut hits)?;
        let settings = self.settings.search;
        age(&mut candidates, &shape, query.now, &settings);
        self.drop_quoting(&mut candidates, &shape, &within, &terms)?;
        candidates.retain(|candidate| candidate.score > 0.0);
        let wanted = query.k.max(1);
        let pool = settings.pool(wanted);
        order::keep_best(&mut candidates, pool, |one| (one.score, one.unit));
        let matrix = if hits.model.is_some() {
            self.matrix(&shape)?
        } else {
            None
        };
        let chosen = order::diverse(
            candidates,
            &|slot| self.text_of(&shape, slot),
            matrix.as_deref(),
            wanted,
            settings.lambda,
        )?;
        for (candidate, text) in chosen {
            let kept = quoting.kept(candidate.slot);
            let passage = passage::best(&text, &terms, &mut self.stems);
            hits.hits.push(hit(&shape, candidate, text, passage, kept));
        }
        Ok(hits)
    }

    fn candidates(
        &mut self,
        query: &Query,
        text: &str,
        asked: &Asked<'_>,
        shape: &Arc<Shape>,
        allowed: &[bool],
        hits: &mut Hits,
    ) -> Result<Vec<Candidate>, IndexError> {
        let settings = self.settings.search;
        let meaning = match query.mode {
            Mode::Words => None,
            Mode::Hybrid | Mode::Vectors => self.meaning(shape, &mut hits.notes)?,
        };
        let near = |meaning: &Meaning| meaning.near(text, shape, allowed);
        let (words, vectors) = match (query.mode, &meaning) {
            (Mode::Vectors, None) => return Ok(Vec::new()),
            (Mode::Vectors, Some(meaning)) => (None, Some(near(meaning))),
            (_, None) => (Some(self.words(asked, shape, allowed)?), None),
            // Neither waits for the other: to encode a question takes some models as
            // long as all the rest.
            (_, Some(meaning)) => thread::scope(|scope| {
                let vectors = scope.spawn(|| near(meaning));
                let words = self.words(asked, shape, allowed);
                let vectors = vectors.join().unwrap_or_else(|panic| resume_unwind(panic));
                words.map(|words| (Some(words), Some(vectors)))
            })?,
        };
        hits.notes.extend(words.iter().flat_map(Words::notes));
        let vectors = match vectors {
            Some(Err(note)) => {
                hits.notes.push(note);
                None
            }
            Some(Ok(vectors)) => meaning.map(|meaning| {
                hits.notes.extend(meaning.missing(shape));
                hits.model = Some(meaning.encoder.id().to_owned());
                (vectors, settings.share(meaning.encoder.kind()))
            }),
            None => None,
        };
        let share = match (&words, &vectors) {
            (None, None) => return Ok(Vec::new()),
            (None, Some(_)) => 1.0,
            (Some(_), None) => 0.0,
            (Some(_), Some((_, share))) => *share,
        };
        let by_words = words.as_ref().map(|words| scaled(shape, words, &settings));
        let near = |unit: usize| vectors.as_ref().and_then(|(vectors, _)| vectors[unit]);
        let parts = |unit: usize| {
            by_words.as_ref().map_or((0.0, 0.0, 0.0, 0.0), |scores| {
                scores.of(unit, shape.units[unit].stretch)
            })
        };
        // Nearly every text has a word of a long query, and few are looked at
        // further: what is kept of each until then is small.
        let mut scored: Vec<Scored> = Vec::new();
        for unit in (0..shape.units.len()).filter(|unit| allowed[*unit]) {
            let total = parts(unit).3;
            let score = match near(unit) {
                // Without a vector the words speak for both sides.
                None => total,
                Some((near, _)) => (1.0 - share) * total + share * near,
            };
            if score > 0.0 {
                scored.push(Scored {
                    unit: unit as u32,
                    score,
                    raised: 0.0,
                });
            }
        }
        if settings.fusion == Fusion::Ranks && words.is_some() && vectors.is_some() {
            let by_words = |unit: u32| parts(unit as usize).3;
            let by_vector = |unit: u32| near(unit as usize).map(|(near, _)| near);
            order::fuse_ranks(&mut scored, &by_words, &by_vector, share);
        }
        let is_tool = |role: &String| {
            let mut tools = ["toolResult", "toolCall", "thinking"].into_iter();
            tools.any(|tool| role.eq_ignore_ascii_case(tool))
        };
        let tools: Vec<bool> = shape.roles.iter().map(is_tool).collect();
        for one in &mut scored {
            let unit = one.unit as usize;
            // What only stands beside a hit is not preferred for who said it.
            if shape.is_user(one.unit) && (parts(unit).0 > 0.0 || near(unit).is_some()) {
                one.score *= 1.0 + settings.user;
            } else if tools.get(shape.units[unit].role as usize) == Some(&true) {
                one.score *= settings.tools;
            }
        }
        share_exchanges(&mut scored, shape, &settings);
        let kept = (query.k.max(1) * 8).max(200);
        let kept = kept.max(settings.pool(query.k));
        order::keep_best(&mut scored, kept, |one| (one.score, one.unit));
        let candidates = scored.into_iter().map(
            |Scored {
                 unit,
                 score,
                 raised,
             }| {
                let at = unit as usize;
                let (own, beside, source, _) = parts(at);
                let vector = near(at);
                let slot = match (&words, vector) {
                    (Some(words), _) if own > 0.0 => words.slot[at],
                    (_, Some((_, slot))) => slot,
                    (Some(words), None) => words.slot[at],
                    (None, None) => shape.units[at].slots.start,
                };
                let terms = words.iter().flat_map(|words| &words.terms);
                let terms = terms.filter(|(_, units)| units.binary_search(&unit).is_ok());
                Candidate {
                    unit,
                    slot,
                    score,
                    why: Why {
                        words: own,
                        beside: beside + raised,
                        source,
                        vector: vector.map(|(near, _)| near),
                        decay: 1.0,
                        repeats: 0.0,
                        terms: terms.map(|(word, _)| word.clone()).collect(),
                    },
                }
            },
        );
        Ok(candidates.collect())
    }

    fn words(
        &mut self,
        asked: &Asked<'_>,
        shape: &Shape,
        allowed: &[bool],
    ) -> Result<Words, IndexError> {
        let settings = self.settings.search;
        words::open(&self.connection).map_err(self.sqlite())?;
        let words = Words::score(&self.connection, shape, allowed, asked, &settings);
        let mut words = words.map_err(self.sqlite())?;
        if settings.feedback > 0.0 {
            self.feed_back(&mut words, asked.terms, shape, allowed)?;
        }
        Ok(words)
    }

    /// The words of a query.
    fn terms(&mut self, text: &str) -> Result<Vec<Term>, IndexError> {
        let languages = self.languages()?;
        Ok(text::terms(text, &languages, &mut self.stems))
    }

    /// The model and its vectors; none where words have to do.
    fn meaning(
        &mut self,
        shape: &Shape,
        notes: &mut Vec<String>,
    ) -> Result<Option<Meaning>, IndexError> {
        let Some(encoder) = self.encoder.clone() else {
            return Ok(None);
        };
        let Some(matrix) = self.matrix(shape)? else {
            return Ok(None);
        };
        if matrix.known == 0 {
            notes.push(format!(
                "no chunk has a vector of {} yet: words alone",
                encoder.id()
            ));
            return Ok(None);
        }
        Ok(Some(Meaning { encoder, matrix }))
    }

    fn languages(&self) -> Result<Vec<Language>, IndexError> {
        let bits: i64 = self
            .connection
            .prepare_cached("SELECT value FROM meta WHERE name = 'languages'")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(self.sqlite())?;
        let is_used = |language: &Language| bits >> *language as u8 & 1 == 1;
        Ok(Language::all().filter(is_used).collect())
    }
}

/// By unit: how near its best chunk is to a question, from 0 to 1, and which chunk
/// it is.
type Near = Vec<Option<(f32, u32)>>;

/// A model and the vectors it made.
struct Meaning {
    encoder: Arc<dyn Encoder>,
    matrix: Arc<Matrix>,
}

impl Meaning {
    /// How near each text is to a question; in words why that cannot be said.
    fn near(&self, text: &str, shape: &Shape, allowed: &[bool]) -> Result<Near, String> {
        let encoder = &self.encoder;
        let encoded = encoder
            .encode_question(text)
            .map_err(|error| format!("{error}: words alone"))?;
        let vector = encoded
            .filter(|vector| vector.len() == encoder.dimensions())
            .ok_or_else(|| format!("{} gave no usable vector: words alone", encoder.id()))?;
        let mut best: Near = vec![None; shape.units.len()];
        for (slot, cosine) in self.matrix.cosines(&vector).into_iter().enumerate() {
            let unit = shape.slots[slot].unit as usize;
            // What points the other way is as far as what has nothing to do with it.
            let cosine = cosine.map(|cosine| cosine.clamp(0.0, 1.0));
            if let Some(cosine) = cosine.filter(|_| allowed[unit])
                && best[unit].is_none_or(|(known, _)| cosine > known)
            {
                best[unit] = Some((cosine, slot as u32));
            }
        }
        Ok(best)
    }

    /// What is said where not all chunks have a vector.
    fn missing(&self, shape: &Shape) -> Option<String> {
        let (known, all) = (self.matrix.known, shape.slots.len());
        (known + self.matrix.refused < all)
            .then(|| format!("{known} of {all} chunks have a vector so far"))
    }
}

/// Scores of words on a scale on which 1 is a text of average length that has each
/// word of the query once, whatever the others have.
struct Scaled<'a> {
    words: &'a Words,
    source_share: f32,
}

impl Scaled<'_> {
    /// Own, beside, source, and all of it together.
    fn of(&self, unit: usize, stretch: u32) -> (f32, f32, f32, f32) {
        let possible = self.words.possible.max(1e-6);
        let own = self.words.own[unit] / possible;
        let beside = self.words.beside[unit] / possible;
        match self.words.stretches.get(stretch as usize) {
            Some(score) if self.source_share > 0.0 => {
                let source = score / self.words.possible_source.max(1e-6);
                let total = own + beside + self.source_share * source;
                (own, beside, source, total / (1.0 + self.source_share))
            }
            _ => (own, beside, 0.0, own + beside),
        }
    }
}

fn scaled<'a>(shape: &Shape, words: &'a Words, settings: &SearchSettings) -> Scaled<'a> {
    Scaled {
        words,
        // One stretch cannot be told from another.
        source_share: if shape.stretches.len() > 1 {
            settings.source
        } else {
            0.0
        },
    }
}

/// Which units a search may find.
fn allowed(shape: &Shape, filters: &Filters) -> Vec<bool> {
    let source: Vec<bool> = shape
        .sources
        .iter()
        .map(|source| {
            let session = filters.sessions.is_empty() || filters.sessions.contains(&source.name);
            let path = filters.paths.is_empty()
                || filters
                    .paths
                    .iter()
                    .any(|path| unknown::is_in(&source.name, path));
            session && path
        })
        .collect();
    shape
        .units
        .iter()
        .map(|unit| {
            let kind = RecordKind::from_number(unit.kind);
            let kinds = if filters.kinds.is_empty() {
                let asked_for = [RecordKind::Dream, RecordKind::Present, RecordKind::Summary];
                !asked_for.contains(&kind)
            } else {
                filters.kinds.contains(&kind)
            };
            let role = filters.roles.is_empty()
                || (unit.role != NOTHING
                    && filters
                        .roles
                        .iter()
                        .any(|role| role.eq_ignore_ascii_case(&shape.roles[unit.role as usize])));
            let at = unit.source as usize;
            let time = !filters.ask_for_a_time()
                || filters
                    .time_of(&shape.sources[at].name, unit.time)
                    .is_some_and(|time| filters.take_in(time));
            source[at] && kinds && role && time
        })
        .collect()
}

/// A question is of little use without its answer, and an answer without its
/// question: neither half of an exchange comes far behind the other, however
/// few words of the query it has. The scores are in the order of units.
fn share_exchanges(scored: &mut [Scored], shape: &Shape, settings: &SearchSettings) {
    for at in 1..scored.len() {
        let (asked, answered) = (scored[at - 1].unit, scored[at].unit);
        if asked + 1 != answered
            || !shape.is_user(asked)
            || shape.is_user(answered)
            || !shape.goes_on(asked, settings.pause)
        {
            continue;
        }
        let (strong, weak) = if scored[at - 1].score > scored[at].score {
            (at - 1, at)
        } else {
            (at, at - 1)
        };
        let least = settings.exchange * scored[strong].score;
        let weak = &mut scored[weak];
        if weak.score < least {
            weak.raised = least - weak.score;
            weak.score = least;
        }
    }
}

/// Takes from each score what its age costs. A clock that went backwards
/// makes nothing younger than now.
fn age(
    candidates: &mut [Candidate],
    shape: &Shape,
    now: Option<Millis>,
    settings: &SearchSettings,
) {
    const DAY: f32 = 86_400_000.0;
    let Some(Millis(now)) = now else { return };
    for candidate in candidates {
        let unit = &shape.units[candidate.unit as usize];
        let part = match RecordKind::from_number(unit.kind) {
            RecordKind::Daily => settings.ages,
            RecordKind::Transcript | RecordKind::Present | RecordKind::Summary => {
                settings.entry_ages
            }
            // What was written down to last does not age.
            RecordKind::Memory | RecordKind::Dream => 0.0,
        };
        if let Some(time) = unit.time {
            let days = now.saturating_sub(time).max(0) as f32 / DAY;
            candidate.why.decay =
                1.0 - part + part * (-days / settings.half_life_days.max(0.01)).exp2();
            candidate.score *= candidate.why.decay;
        }
    }
}

fn hit(
    shape: &Shape,
    candidate: Candidate,
    text: String,
    passage: Range<usize>,
    kept: Vec<Kept>,
) -> Hit {
    let unit = &shape.units[candidate.unit as usize];
    let extent = &shape.extents[candidate.slot as usize];
    Hit {
        kind: RecordKind::from_number(unit.kind),
        source: shape.sources[unit.source as usize].name.clone(),
        entry: unit.entry.clone(),
        role: shape.roles.get(unit.role as usize).cloned(),
        time: unit.time.map(Millis),
        lines: extent.lines,
        text,
        passage,
        score: candidate.score,
        why: candidate.why,
        kept,
    }
}
