//! Compacting a session: from a request to drafts that can be appended.

use std::collections::HashSet;

use longhaul_compaction::audit::{Audit, audit};
use longhaul_compaction::cost::{Prices, Since, Verdict, decide};
use longhaul_compaction::cut::{self, CurrentTurn, Cut, Keep};
use longhaul_compaction::prune::{Edit, PruneSettings, prune, worth_planning};
use longhaul_compaction::summary::{
    Extractive, Limits, Material, Previous, Sizes, Span, Split, Summarizer, summarize,
};
use longhaul_compaction::tail::{Shortened, shorten};
use longhaul_compaction::{
    Counted, EMERGENCY_TURNS, EmergencyStep, Layer, Trigger, emergency, pinned,
};
use longhaul_ledger::Ledger;
use longhaul_tokens::{ContentKind, Counter, Estimator, Tokens, Window};
use longhaul_transcript::{
    Body, ContextMessage, Conversation, Draft, Entry, EntryId, Piece, Role, unasked,
};
use serde_json::json;

use super::{Live, PRUNE_MARK, pack};
use crate::measure::{Meter, unasked_note};
use crate::recall::message_text;

/// What a compaction is asked to do.
#[derive(Clone, Copy)]
pub struct CompactionRequest<'a> {
    /// How deep.
    pub layer: Layer,
    /// Why.
    pub trigger: Trigger,
    /// What should be kept above all, in the user's words.
    pub focus: Option<&'a str>,
    /// The window and its thresholds.
    pub window: &'a Window,
    /// Tokens at the end that stay verbatim, already fitted to the window.
    pub protect: Tokens,
    /// Tokens of a request that are not in the transcript (system prompt,
    /// tools).
    pub overhead: Tokens,
    /// The context's size as it is known now.
    pub tokens_before: Tokens,
    /// How large its parts may be.
    pub rules: CompactionRules,
    /// Whether a message that is larger than the whole tail may be shortened.
    pub tail: Tail,
    /// Whether an entry can be recalled: it is in the file or its archive. The
    /// audit asks this of everything that is no longer in the context.
    pub is_stored: &'a dyn Fn(&EntryId) -> bool,
}

/// What becomes of a recent message that is larger than the tail that stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tail {
    /// It is shortened, and the others stay.
    #[default]
    Shortened,
    /// It leaves, since nobody could write down that it is shown otherwise.
    Whole,
}

/// What may be set about a single compaction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactionRules {
    /// How large the summary may be.
    pub summary: Sizes,
    /// Turns that leave in one step of an emergency.
    pub emergency_turns: u32,
}

impl Default for CompactionRules {
    fn default() -> CompactionRules {
        CompactionRules {
            summary: Sizes::default(),
            emergency_turns: EMERGENCY_TURNS,
        }
    }
}

/// A compaction, ready to be appended.
#[derive(Debug, Clone)]
pub struct Compacted {
    /// The compaction entry.
    pub draft: Draft,
    /// Edits that shorten what stays, to be appended behind it.
    pub edits: Vec<Draft>,
    /// Tokens in the context after it, as counted.
    pub tokens_after: Tokens,
    /// What was kept and what was not.
    pub fidelity: Audit,
    /// What left the context.
    pub removed: Removed,
    /// Messages that stay verbatim.
    pub kept_messages: usize,
    /// What wrote the summary.
    pub summarizer: String,
    /// Why it was not the one that was asked.
    pub fallback: Option<String>,
    /// Whether a turn was divided.
    pub splits_turn: bool,
    /// What should be known about it.
    pub notes: Vec<String>,
    /// What matters in everything that is no longer in the context, for
    /// [`Live::push_compaction`].
    pub base: Ledger,
}

/// What leaves the context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// Messages.
    pub messages: usize,
    /// Their tokens, as counted.
    pub tokens: Tokens,
    /// The first and last entry.
    pub span: Option<(EntryId, EntryId)>,
}

/// A pruning, ready to be appended.
#[derive(Debug, Clone)]
pub struct Pruned {
    /// The edits, and a mark that records them.
    pub drafts: Vec<Draft>,
    /// How many results are hidden.
    pub results: usize,
    /// What comes free.
    pub freed: Tokens,
    /// What is rewritten behind the first edit.
    pub suffix: Tokens,
}

/// What decides whether a rewrite of the prompt pays.
#[derive(Debug, Clone, Copy)]
pub struct CacheTerms {
    /// What tokens cost.
    pub prices: Prices,
    /// How long ago the last request was.
    pub since: Since,
    /// Requests still to come.
    pub expected_turns: u32,
}

/// Numbers of a session before anything is decided.
#[derive(Debug, Clone)]
pub struct Explained {
    /// Our count of every message of the context.
    pub counted: Vec<Counted>,
    /// All of them.
    pub total: Tokens,
    /// How much of it is tool output.
    pub tool_output: Tokens,
}

/// Why a compaction did not come about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompactionFailure {
    /// Everything in the context is protected.
    #[error("there is nothing to compact: the whole context is protected")]
    NothingToDo,
    /// Pinned entries leave no room.
    #[error("pinned entries take {pinned} of the {room} tokens that a compacted context may have; unpin some of: {}", largest.join(", "))]
    PinsTooLarge {
        /// Their size.
        pinned: Tokens,
        /// What there is.
        room: Tokens,
        /// The largest of them.
        largest: Vec<String>,
    },
    /// It could not be carried out.
    #[error("{0}")]
    Failed(String),
    /// The current turn alone is too large for the window.
    #[error("the current turn alone has {kept} tokens, more than fit into the window")]
    TurnTooLarge {
        /// Its size.
        kept: Tokens,
    },
}

impl Live {
    /// Counts the context.
    pub fn explain(&self, meter: &mut Meter) -> Explained {
        explain(self.messages(), meter)
    }

    /// Layer 1: hides tool output for good, if that frees enough.
    pub fn prune(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        overhead: Tokens,
    ) -> Option<Pruned> {
        if !self.worth_planning(meter, settings, &|freed, _| freed >= settings.minimum) {
            return None;
        }
        let explained = self.explain(meter);
        let counter = meter.estimator().counter();
        let pruning = prune(&explained.counted, &self.pins(), settings, &|tool, text| {
            counter.tool_result(tool, text)
        });
        let edits = pruning.durable(settings)?;
        Some(self.pruned(edits, explained.total + overhead))
    }

    /// Hides tool output where the prompt cache makes that cheaper than
    /// leaving it: at once when the cache is cold, else when it pays back.
    pub fn prune_if_cheaper(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        terms: &CacheTerms,
        overhead: Tokens,
    ) -> Option<(Pruned, Verdict)> {
        let CacheTerms {
            prices,
            since,
            expected_turns,
        } = *terms;
        let pays = |freed, suffix| decide(freed, suffix, &prices, since, expected_turns).now;
        if !self.worth_planning(meter, settings, &pays) {
            return None;
        }
        let explained = self.explain(meter);
        let counter = meter.estimator().counter();
        let pruning = prune(&explained.counted, &self.pins(), settings, &|tool, text| {
            counter.tool_result(tool, text)
        });
        let (chosen, verdict) = pruning.cheapest(&prices, since, expected_turns);
        let edits: Vec<Edit> = chosen.edits.into_iter().filter(Edit::is_durable).collect();
        if !verdict.now || edits.is_empty() {
            return None;
        }
        Some((self.pruned(edits, explained.total + overhead), verdict))
    }

    /// Whether a plan could come to anything, by the sizes of the messages.
    fn worth_planning(
        &self,
        meter: &mut Meter,
        settings: &PruneSettings,
        pays: &dyn Fn(Tokens, Tokens) -> bool,
    ) -> bool {
        let sizes: Vec<(Tokens, bool)> = self
            .messages()
            .iter()
            .map(|message| {
                let result = matches!(message.role, Role::ToolResult | Role::BashExecution);
                (meter.message(message), result && !message.edited)
            })
            .collect();
        worth_planning(sizes.into_iter(), settings, pays)
    }

    /// The drafts of a pruning.
    fn pruned(&self, mut edits: Vec<Edit>, tokens: Tokens) -> Pruned {
        edits.sort_by_key(|edit| edit.at);
        let freed: Tokens = edits.iter().map(Edit::freed).sum();
        let mark = json!({
            "targets": edits.iter().map(|edit| edit.entry.as_str()).collect::<Vec<_>>(),
            "freed": freed,
            "tokensBefore": tokens,
            "tokensAfter": tokens - freed,
            "epoch": self.epoch(),
        });
        let mut drafts: Vec<Draft> = edits
            .iter()
            .map(|edit| Draft::ContextEdit {
                target: edit.entry.clone(),
                content: Some(edit.content.clone()),
            })
            .collect();
        drafts.push(Draft::Custom {
            custom_type: PRUNE_MARK.into(),
            data: mark.to_string(),
        });
        Pruned {
            results: edits.len(),
            suffix: edits
                .first()
                .map_or(Tokens::ZERO, |edit| edit.behind - freed),
            freed,
            drafts,
        }
    }

    /// Layers 2, 3 and emergency: replaces the older part by a summary whose
    /// prose is extracted.
    pub fn compact(
        &self,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        self.compact_with(&mut Extractive, meter, request)
    }

    /// The same, with prose by another summarizer.
    pub fn compact_with(
        &self,
        summarizer: &mut dyn Summarizer,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
    ) -> Result<Compacted, CompactionFailure> {
        let counter = meter.estimator().counter();
        let limits = Limits::new(request.window, request.layer, &request.rules.summary);
        let room = room(request, limits.total, meter.estimator());
        let shortened = match request.tail {
            Tail::Shortened => {
                let tail = request.protect.min(room);
                let mut size = |message: &ContextMessage| meter.message(message);
                shorten(self.messages(), tail, counter, &mut size)
            }
            Tail::Whole => Vec::new(),
        };
        let divided = self.divided(meter, request, room, &shortened);
        let (divided, shortened) = match divided {
            // All of it is recent, and too much even so: less of it stays.
            Err(CompactionFailure::NothingToDo) if !shortened.is_empty() => {
                let less = [2, 4, 8].into_iter().find_map(|share| {
                    let protect = Tokens(request.protect.0 / share);
                    let request = CompactionRequest {
                        protect,
                        ..*request
                    };
                    self.divided(meter, &request, room, &shortened).ok()
                });
                match less {
                    Some(divided) => (divided, shortened),
                    None => (self.divided(meter, request, room, &[])?, Vec::new()),
                }
            }
            divided => (divided?, shortened),
        };
        let (conversation, cut, mut notes) = divided;
        let orphans = conversation.orphans().len();
        notes.extend((orphans > 0).then(|| unasked_note(orphans)));

        let (removed, kept) = conversation.pieces().split_at(cut.first_kept);
        let removed: Vec<ContextMessage> = flatten(removed);
        let kept: Vec<ContextMessage> = flatten(kept);
        let first_kept = kept.first().map(|message| message.entry.clone());
        let pins = self.pins_to_carry(&kept);
        let pinned = pinned_text(pins.clone(), counter, room)?;
        let staying: HashSet<&EntryId> = kept.iter().map(|message| &message.entry).collect();
        let from = self.messages().iter();
        let from = from
            .map(|message| &message.entry)
            .position(|entry| Some(entry) == first_kept.as_ref());
        let edits: Vec<Draft> = shortened
            .iter()
            .filter(|short| from.is_some_and(|from| short.at >= from))
            .map(|short| Draft::ContextEdit {
                target: short.entry.clone(),
                content: short.content.clone(),
            })
            .collect();
        let previous = previous(&self.loaded.entries, self.loaded.boundary);
        let ids: Vec<&EntryId> = removed
            .iter()
            .filter(|message| message.role != Role::CompactionSummary)
            .map(|message| &message.entry)
            .collect();
        // The span names everything that has left so far, this time included.
        let start = self.full.utterances.first().map(|said| &said.entry);
        let before = if self.epoch() > 0 {
            self.base.entries
        } else {
            0
        };
        let span = match (start.or(ids.first().copied()), ids.last()) {
            (Some(first), Some(last)) => Some(Span {
                first,
                last,
                count: before + ids.len() as u64,
            }),
            _ => None,
        };
        let request_entry = split_request(&removed, &cut);
        let material = Material {
            ledger: &self.full,
            removed: &removed,
            kept: &kept,
            previous: previous
                .as_ref()
                .map(|(text, maker)| Previous { text, maker }),
            focus: request.focus,
            span,
            split: match &request_entry {
                Some(request) => Split::InsideTurn { request },
                None => Split::BetweenTurns,
            },
            epoch: self.epoch() + 1,
        };
        let written = summarize(summarizer, &material, &limits, counter);
        notes.extend(written.notes.iter().map(ToString::to_string));
        notes.extend(written.outcome.fallback.clone());
        let fallback = written.outcome.fallback;
        let summarizer = written.outcome.summarizer;
        let mut text = written.text;
        text.push_str(&pinned);

        let summary_tokens = counter.count(&text, ContentKind::Prose) + counter.message_overhead();
        let tokens_after = request.overhead + summary_tokens + cut.kept;
        let base = self.base_after(first_kept.as_ref());
        let is_kept = |id: &EntryId| staying.contains(id);
        let context = context_text(&text, &kept);
        let fidelity = audit(&self.source, &context, &is_kept, &pins, request.is_stored);
        let details = self.details(
            request,
            &base,
            &fidelity,
            Numbers {
                shortened: &edits,
                messages: ids.len(),
                last_removed: ids.last().copied(),
                summarizer: &summarizer,
            },
        );
        Ok(Compacted {
            removed: Removed {
                messages: ids.len(),
                tokens: cut.removed,
                span: match (ids.first(), ids.last()) {
                    (Some(first), Some(last)) => Some(((*first).clone(), (*last).clone())),
                    _ => None,
                },
            },
            kept_messages: kept.len(),
            draft: Draft::Compaction {
                summary: text,
                first_kept,
                tokens_before: u64::from(request.tokens_before.0),
                details: Some(details),
            },
            edits,
            tokens_after,
            fidelity,
            summarizer,
            fallback,
            splits_turn: cut.splits_turn,
            notes,
            base,
        })
    }

    /// The conversation with what is shortened in it, and where it is divided.
    fn divided(
        &self,
        meter: &mut Meter,
        request: &CompactionRequest<'_>,
        room: Tokens,
        shortened: &[Shortened],
    ) -> Result<(Conversation, Cut, Vec<String>), CompactionFailure> {
        let mut messages: Vec<Option<ContextMessage>> =
            self.messages().iter().cloned().map(Some).collect();
        for short in shortened {
            messages[short.at] = short.message.clone();
        }
        let messages = messages.into_iter().flatten().collect();
        let conversation = Conversation::new(messages);
        let sizes: Vec<Tokens> = conversation
            .pieces()
            .iter()
            .map(|piece| piece.messages().iter().map(|m| meter.message(m)).sum())
            .collect();
        match self.cut(&conversation, &sizes, request, room) {
            // All of it is recent: what is shortened is what becomes smaller.
            Err(CompactionFailure::NothingToDo) if !shortened.is_empty() => {
                let is_summary = |piece: &Piece| {
                    let mut messages = piece.messages().iter();
                    messages.all(|message| message.role == Role::CompactionSummary)
                };
                let pieces = conversation.pieces().iter();
                let first_kept = pieces.take_while(|piece| is_summary(piece)).count();
                let kept: Tokens = sizes[first_kept..].iter().copied().sum();
                if kept > room {
                    return Err(CompactionFailure::NothingToDo);
                }
                let cut = Cut {
                    first_kept,
                    splits_turn: false,
                    removed: sizes[..first_kept].iter().copied().sum(),
                    kept,
                };
                Ok((conversation, cut, Vec::new()))
            }
            divided => divided.map(|(cut, notes)| (conversation, cut, notes)),
        }
    }

    fn cut(
        &self,
        conversation: &Conversation,
        sizes: &[Tokens],
        request: &CompactionRequest<'_>,
        room: Tokens,
    ) -> Result<(Cut, Vec<String>), CompactionFailure> {
        if request.layer == Layer::Emergency {
            return match emergency(conversation, sizes, request.rules.emergency_turns) {
                EmergencyStep::KeepFrom { first_kept, kept } => Ok((
                    Cut {
                        first_kept,
                        splits_turn: false,
                        removed: sizes[..first_kept].iter().copied().sum(),
                        kept,
                    },
                    vec![
                        "the oldest turns were dropped because the context did not fit otherwise"
                            .into(),
                    ],
                )),
                EmergencyStep::Exhausted => Err(CompactionFailure::TurnTooLarge {
                    kept: sizes.iter().copied().sum(),
                }),
            };
        }
        let keep = Keep {
            protect: request.protect,
            at_most: room,
            current_turn: match request.layer {
                Layer::Full => CurrentTurn::Whole,
                _ => CurrentTurn::Ordinary,
            },
        };
        let cut = cut::find(conversation, sizes, keep).ok_or(CompactionFailure::NothingToDo)?;
        Ok((cut, Vec::new()))
    }

    /// The ledger of everything before the new boundary.
    fn base_after(&self, first_kept: Option<&EntryId>) -> Ledger {
        let mut base = self.base.clone();
        for entry in &self.loaded.entries {
            if Some(&entry.id) == first_kept {
                break;
            }
            base.observe(entry);
        }
        base
    }

    /// Pinned entries that do not stay by themselves, word for word.
    fn pins_to_carry(&self, kept: &[ContextMessage]) -> Vec<(EntryId, String)> {
        let staying: HashSet<&EntryId> = kept.iter().map(|message| &message.entry).collect();
        let pins = self.pins();
        let mut carried: Vec<(EntryId, String)> =
            carried_pins(&self.loaded.entries, self.loaded.boundary);
        let pinned = |id: &EntryId| pins.contains(id) && !staying.contains(id);
        carried.retain(|(id, _)| pinned(id));
        for entry in self.loaded.entries.iter().filter(|entry| pinned(&entry.id)) {
            if let Some(message) = entry.message() {
                carried.push((entry.id.clone(), message_text(&message)));
            }
        }
        carried
    }

    fn details(
        &self,
        request: &CompactionRequest<'_>,
        base: &Ledger,
        fidelity: &Audit,
        numbers: Numbers<'_>,
    ) -> String {
        let files = |modified: bool| -> Vec<&str> {
            self.full
                .files
                .values()
                .filter(|file| file.is_modified() == modified)
                .map(|file| file.path.as_str())
                .collect()
        };
        json!({
            "epoch": self.epoch() + 1,
            "layer": request.layer,
            "trigger": request.trigger,
            "messagesCompacted": numbers.messages,
            "boundaryMessageId": numbers.last_removed.map(EntryId::as_str),
            "customInstruction": request.focus,
            "readFiles": files(false),
            "modifiedFiles": files(true),
            "summarizer": numbers.summarizer,
            "fidelity": fidelity,
            "shortened": targets(numbers.shortened),
            "wear": self.wear.after(Some(fidelity)),
            "schemaVersion": 1,
            "pins": sorted_pins(&self.pins()),
            "ledger": pack(base),
        })
        .to_string()
    }
}

/// The entries that edits change.
fn targets(edits: &[Draft]) -> Vec<&str> {
    let targets = edits.iter().filter_map(|edit| match edit {
        Draft::ContextEdit { target, .. } => Some(target.as_str()),
        _ => None,
    });
    targets.collect()
}

/// Pins in a fixed order: the same session gives the same bytes.
fn sorted_pins(pins: &HashSet<EntryId>) -> Vec<&str> {
    let mut ids: Vec<&str> = pins.iter().map(EntryId::as_str).collect();
    ids.sort_unstable();
    ids
}

struct Numbers<'a> {
    shortened: &'a [Draft],
    messages: usize,
    last_removed: Option<&'a EntryId>,
    summarizer: &'a str,
}

/// What the kept messages may take, so that the context ends well below the
/// threshold it started from.
fn room(request: &CompactionRequest<'_>, summary: Tokens, estimator: Estimator) -> Tokens {
    let target = request.window.hysteresis_target();
    let room = target - request.overhead - summary;
    let room = room - allowance(request.window, estimator, room);
    // A window too small for its own reserves still keeps something.
    room.max(Tokens(request.window.size().0 / 10))
}

/// What a count may be short of the truth beyond the margin that the window
/// keeps in front of its hard threshold.
pub(crate) fn allowance(window: &Window, estimator: Estimator, counted: Tokens) -> Tokens {
    estimator.uncertainty(counted) - (window.hard() - window.activation())
}

/// Counts a context, message by message.
pub(crate) fn explain(messages: &[ContextMessage], meter: &mut Meter) -> Explained {
    let unasked = unasked(messages);
    let counted: Vec<Counted> = messages
        .iter()
        .enumerate()
        .map(|(at, message)| Counted {
            tokens: match unasked.contains(&at) {
                true => Tokens::ZERO,
                false => meter.message(message),
            },
            message: message.clone(),
        })
        .collect();
    let sum = |wanted: &dyn Fn(&Role) -> bool| -> Tokens {
        counted
            .iter()
            .filter(|counted| wanted(&counted.message.role))
            .map(|counted| counted.tokens)
            .sum()
    };
    Explained {
        total: sum(&|_| true),
        tool_output: sum(&|role| matches!(role, Role::ToolResult | Role::BashExecution)),
        counted,
    }
}

fn flatten(pieces: &[Piece]) -> Vec<ContextMessage> {
    pieces
        .iter()
        .flat_map(|piece| piece.messages().iter().cloned())
        .collect()
}

/// The request of the turn that a cut divides.
fn split_request(removed: &[ContextMessage], cut: &Cut) -> Option<EntryId> {
    if !cut.splits_turn {
        return None;
    }
    removed
        .iter()
        .rev()
        .find(|message| message.role == Role::User)
        .map(|message| message.entry.clone())
}

/// The summary in force, and who wrote it.
fn previous(entries: &[Entry], boundary: Option<usize>) -> Option<(String, String)> {
    match &entries.get(boundary?)?.body {
        Body::Compaction(compaction) => Some((
            compaction.summary.clone(),
            match &compaction.summarizer {
                Some(_) => "longhaul".to_owned(),
                None => "the agent".to_owned(),
            },
        )),
        _ => None,
    }
}

/// Pinned texts that the summary in force carries.
fn carried_pins(entries: &[Entry], boundary: Option<usize>) -> Vec<(EntryId, String)> {
    match previous(entries, boundary) {
        Some((text, _)) => pinned::read(&text),
        None => Vec::new(),
    }
}

/// A context as the model reads it.
fn context_text(summary: &str, kept: &[ContextMessage]) -> String {
    let mut text = summary.to_owned();
    for message in kept {
        text.push('\n');
        text.push_str(&message_text(&message.view()));
    }
    text
}

/// Pinned entries as a section of a summary, if they leave room for the rest.
fn pinned_text(
    mut carried: Vec<(EntryId, String)>,
    counter: &dyn Counter,
    room: Tokens,
) -> Result<String, CompactionFailure> {
    if carried.is_empty() {
        return Ok(String::new());
    }
    let text = pinned::render(&carried);
    let size = counter.count(&text, ContentKind::Prose);
    if size <= room {
        return Ok(text);
    }
    carried.sort_by_key(|(_, text)| std::cmp::Reverse(text.len()));
    let largest = carried.iter().take(3).map(|(id, _)| id.to_string());
    Err(CompactionFailure::PinsTooLarge {
        pinned: size,
        room,
        largest: largest.collect(),
    })
}
