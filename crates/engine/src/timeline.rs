//! The timeline of a session: what filled each of its requests, and what was done
//! about it.
//!
//! Every answer on the path was a request once. What stood before it is counted by
//! part as the context grew; a compaction or a pruning changes what stands there, so
//! after one the context is built and counted anew. What a foreign agent did not
//! record, such as its system prompt, is the difference to what the provider
//! reported, and is told apart as unrecorded.
//!
//! A long session is read once: what was found is kept beside its state, and only
//! what was appended is read the next time.

use std::collections::HashSet;
use std::ops::ControlFlow;

use longhaul_model::{Usage, listed};
use longhaul_tokens::Tokens;
use longhaul_transcript::json::Object;
use longhaul_transcript::{
    Body, Context, ContextMessage, Entry, EntryId, Linked, Millis, Place, ProviderUsage, Result,
    Role, Session,
};
use serde::{Deserialize, Serialize};

use crate::marks::{FLUSH_USAGE, PRUNE_MARK};
use crate::measure::{Meter, Part, Parts, count};
use crate::survey::Keep;

/// The name under which it is kept.
const KEPT: &str = "timeline-2";
/// The name under which the sum of its cost is kept, for lists.
const COST: &str = "cost";

/// What fills a request, by whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filling {
    /// System messages in the session's own file.
    pub system: u32,
    /// Summaries of what was compacted.
    pub summary: u32,
    /// What stands in the user's place: words, pictures, documents.
    pub user: u32,
    /// What the agent said, thought and asked of tools.
    pub agent: u32,
    /// What tools and commands brought.
    pub tools: u32,
}

impl Filling {
    fn of(parts: &Parts, role: &Role) -> Filling {
        let media = parts.of(Part::Images) + parts.of(Part::Documents);
        let is_result = matches!(role, Role::ToolResult | Role::BashExecution);
        let of = |is_its: bool| if is_its { media } else { Tokens::ZERO };
        let agent = [Part::Assistant, Part::Thinking, Part::ToolCalls];
        Filling {
            system: parts.of(Part::System).0,
            summary: parts.of(Part::Summaries).0,
            user: (parts.of(Part::User) + of(!is_result)).0,
            agent: agent
                .map(|part| parts.of(part))
                .into_iter()
                .sum::<Tokens>()
                .0,
            tools: (parts.of(Part::ToolResults) + of(is_result)).0,
        }
    }

    fn add(&mut self, other: Filling) {
        let both = [
            (&mut self.system, other.system),
            (&mut self.summary, other.summary),
            (&mut self.user, other.user),
            (&mut self.agent, other.agent),
            (&mut self.tools, other.tools),
        ];
        for (sum, more) in both {
            *sum = sum.saturating_add(more);
        }
    }

    /// All of it.
    pub fn total(&self) -> u32 {
        let parts = [self.system, self.summary, self.user, self.agent, self.tools];
        parts.into_iter().fold(0, u32::saturating_add)
    }
}

/// One request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The answer to it.
    pub entry: EntryId,
    /// When it was answered.
    pub time: Option<Millis>,
    /// What stood in it, by our own count.
    #[serde(flatten)]
    pub filling: Filling,
    /// The whole prompt as the provider counted it.
    pub reported: Option<u32>,
    /// What it cost, where the session or the table of models tells.
    pub dollars: Option<f32>,
}

impl Request {
    /// What the provider counted beyond what the session's file has: prompts and
    /// tools that the agent did not record, and the error of our count.
    pub fn unrecorded(&self) -> Option<u32> {
        let reported = self.reported?;
        Some(reported.saturating_sub(self.filling.total()))
    }
}

/// Something that was done between two requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mark {
    /// How many requests came before.
    pub at: usize,
    /// What it was.
    pub kind: MarkKind,
    /// The entry that did it.
    pub entry: EntryId,
    /// When.
    pub time: Option<Millis>,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MarkKind {
    /// Older turns became a summary.
    Compaction,
    /// Tool output was hidden.
    Pruning,
    /// What must outlive the session was written down.
    Flush,
}

impl MarkKind {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            MarkKind::Compaction => "compaction",
            MarkKind::Pruning => "pruning",
            MarkKind::Flush => "flush",
        }
    }
}

/// What filled the requests of a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timeline {
    /// Every request, oldest first.
    pub requests: Vec<Request>,
    /// What was done between them.
    pub marks: Vec<Mark>,
    /// What stands in the context now.
    now: Filling,
    /// Whether the context has to be built before it is counted.
    is_stale: bool,
    leaf: Option<EntryId>,
    line: u64,
}

impl Timeline {
    /// The timeline of a session as its file is now.
    pub fn of(session: &Session, keep: &Keep, meter: &Meter) -> Result<Timeline> {
        if let Some(end) = session.lines_end()?
            && let Some(timeline) = Timeline::along_lines(session, keep, meter, end)?
        {
            return Ok(timeline);
        }
        Timeline::along_tree(session, meter)
    }

    /// Where each entry follows the one before it; none where one does not.
    fn along_lines(
        session: &Session,
        keep: &Keep,
        meter: &Meter,
        end: u64,
    ) -> Result<Option<Timeline>> {
        let (offset, mut timeline) = keep
            .kept(session, KEPT)
            .filter(|(upto, _)| *upto <= end)
            .unwrap_or((
                0,
                Timeline {
                    line: 1,
                    ..Timeline::default()
                },
            ));
        if offset == end && end > 0 {
            return Ok(Some(timeline));
        }
        let from = Place {
            line: timeline.line,
            offset,
        };
        let (mut is_straight, mut failed) = (true, None);
        let at = session.stretch(from, end, &mut |entry, linked| {
            is_straight &= linked == Linked::ByParent && timeline.follows(&entry);
            if !is_straight {
                return ControlFlow::Break(());
            }
            match timeline.take(session, meter, &entry) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        if !is_straight {
            return Ok(None);
        }
        timeline.line = at.line;
        keep.put(session, KEPT, end, &timeline);
        keep.put(session, COST, end, &timeline.cost().0);
        Ok(Some(timeline))
    }

    /// Where the path goes back and forth, or stands in a database: its entries are
    /// known only when all was read.
    fn along_tree(session: &Session, meter: &Meter) -> Result<Timeline> {
        let tree = session.tree()?;
        let nodes = tree.nodes();
        let path: HashSet<&EntryId> = tree.path().into_iter().map(|at| &nodes[at].id).collect();
        let mut timeline = Timeline::default();
        let mut failed = None;
        session.each(&mut |entry| {
            if !path.contains(&entry.id) {
                return ControlFlow::Continue(());
            }
            match timeline.take(session, meter, &entry) {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        failed.map_or(Ok(timeline), Err)
    }

    fn follows(&self, entry: &Entry) -> bool {
        self.leaf.is_none() || entry.parent.is_none() || entry.parent == self.leaf
    }

    fn take(&mut self, session: &Session, meter: &Meter, entry: &Entry) -> Result<()> {
        match &entry.body {
            Body::Compaction(_) => self.mark(MarkKind::Compaction, entry),
            Body::Custom { custom_type } if custom_type == PRUNE_MARK => {
                self.mark(MarkKind::Pruning, entry);
            }
            Body::Usage if is_flush(entry) => self.mark(MarkKind::Flush, entry),
            Body::ContextEdit(_) | Body::Reset { .. } => self.is_stale = true,
            _ if entry.role() == Some(&Role::Assistant) => self.request(session, meter, entry)?,
            _ => {}
        }
        if !self.is_stale {
            let messages = Context::of_entry(entry);
            self.now.add(filling(meter, &messages));
        }
        self.leaf = Some(entry.id.clone());
        Ok(())
    }

    fn mark(&mut self, kind: MarkKind, entry: &Entry) {
        self.is_stale |= kind != MarkKind::Flush;
        self.marks.push(Mark {
            at: self.requests.len(),
            kind,
            entry: entry.id.clone(),
            time: entry.time,
        });
    }

    fn request(&mut self, session: &Session, meter: &Meter, entry: &Entry) -> Result<()> {
        if self.is_stale {
            // What stands before this answer: the context of the entry it answers.
            let before = match &self.leaf {
                Some(leaf) => Context::build(&session.load_at(leaf)?),
                None => Context::default(),
            };
            self.now = filling(meter, &before.messages);
            self.is_stale = false;
        }
        let message = entry.message();
        let usage = message.as_ref().and_then(|message| message.usage());
        let model = message.as_ref().and_then(|message| message.model());
        self.requests.push(Request {
            entry: entry.id.clone(),
            time: entry.time,
            filling: self.now,
            reported: usage.map(|usage| prompt_tokens(&usage)),
            dollars: usage
                .zip(model)
                .and_then(|(usage, model)| dollars(&usage, &model)),
        });
        Ok(())
    }

    /// What all requests cost together, and how many have no price.
    pub fn cost(&self) -> (f64, usize) {
        let priced = self.requests.iter().filter_map(|request| request.dollars);
        let sum = priced.map(f64::from).sum();
        let unpriced = self
            .requests
            .iter()
            .filter(|request| request.dollars.is_none());
        (sum, unpriced.count())
    }
}

/// What the requests of a session cost, as far as a timeline was made of them.
pub fn known_cost(session: &Session, keep: &Keep) -> Option<f64> {
    keep.kept(session, COST).map(|(_, dollars)| dollars)
}

fn filling(meter: &Meter, messages: &[ContextMessage]) -> Filling {
    let mut sum = Filling::default();
    for message in messages {
        let parts = count(message, meter.estimator().counter());
        sum.add(Filling::of(&parts, &message.role));
    }
    sum
}

/// Whether an entry says what a silent turn took in which notes were written.
fn is_flush(entry: &Entry) -> bool {
    let object = Object::parse(entry.raw()).unwrap_or_default();
    object.str("kind").as_deref() == Some(FLUSH_USAGE)
}

fn prompt_tokens(usage: &ProviderUsage) -> u32 {
    let all = usage.input + usage.cache_read + usage.cache_write;
    u32::try_from(all).unwrap_or(u32::MAX)
}

/// What a request cost by the table of models.
fn dollars(usage: &ProviderUsage, model: &str) -> Option<f32> {
    let usage = Usage {
        input: usage.input,
        output: usage.output,
        cache_read: usage.cache_read,
        cache_write: usage.cache_write,
    };
    Some(listed(model)?.prices?.cost(&usage) as f32)
}
