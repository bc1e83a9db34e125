//! The second reading of a Claude Code file: records become entries.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::ControlFlow;

use super::convert::{Answer, Command, Compacted, Origin, attachment, queued, user};
use super::plan::{Fate, Plan};
use super::record::{Kind, Link, Shell};
use crate::entry::EntryId;
use crate::import::lineup::{Emit, Imported, Lineup, Parent, made_id};
use crate::json::{Object, ObjectWriter};
use crate::lines::Record;

/// An entry that needs more records.
enum Open {
    Answer(Answer),
    Compacted(Compacted),
    Command(Command),
}

/// Entries in order; an open one holds back what follows it.
enum Item {
    Ready(Vec<Imported>, Spot),
    Waiting { first: usize, spot: Spot },
}

/// Where an item goes.
#[derive(Debug, Clone)]
enum Spot {
    Path,
    Beside(Parent),
}

/// Turns records into entries, in the order of the file.
pub(super) struct Emitter<'p> {
    links: &'p [Link],
    plan: &'p Plan,
    session: &'p str,
    at: usize,
    open: HashMap<usize, Open>,
    queue: VecDeque<Item>,
    /// Typed texts that wait for their place.
    typed: HashMap<usize, Imported>,
    waiting: HashSet<usize>,
    lineup: Lineup,
    /// What a child of a record hangs on, by the record's uuid.
    hooks: HashMap<&'p str, EntryId>,
    named: bool,
    /// The time of the last record that had one.
    clock: Option<Box<str>>,
}

impl<'p> Emitter<'p> {
    pub(super) fn new(links: &'p [Link], plan: &'p Plan, session: &'p str, named: bool) -> Self {
        Emitter {
            links,
            plan,
            session,
            at: 0,
            open: HashMap::new(),
            queue: VecDeque::new(),
            typed: HashMap::new(),
            waiting: plan.queued.values().flatten().copied().collect(),
            lineup: Lineup::default(),
            hooks: HashMap::new(),
            named,
            clock: None,
        }
    }

    /// The next record.
    pub(super) fn take(&mut self, record: &Record<'_>, emit: &mut Emit<'_>) -> ControlFlow<()> {
        let at = self.at;
        self.at += 1;
        let (Some(link), Some(&fate)) = (self.links.get(at), self.plan.fates.get(at)) else {
            return ControlFlow::Break(());
        };
        if let Some(time) = record
            .object
            .raw("timestamp")
            .filter(|raw| raw.starts_with('"'))
        {
            self.clock = Some(time.into());
        }
        match fate {
            Fate::Copy => {}
            Fate::Aside if self.waiting.contains(&at) => {
                let draft = queued(&record.object, &self.origin(at, record));
                self.typed.insert(at, draft);
            }
            Fate::Aside => self.aside(at, link, record),
            Fate::Path | Fate::Branch | Fate::Sidechain => self.spoken(at, link, fate, record),
        }
        for item in self.plan.queued.get(&at).into_iter().flatten() {
            if let Some(draft) = self.typed.remove(item) {
                let spot = self.spot_behind(at);
                self.queue.push_back(Item::Ready(vec![draft], spot));
            }
        }
        self.flush(emit)
    }

    /// On the path, unless the message before is on a branch that was left.
    fn spot_behind(&self, at: usize) -> Spot {
        let before = (0..=at)
            .rev()
            .find(|&at| matches!(self.plan.fates[at], Fate::Path | Fate::Branch));
        match before {
            Some(at) if self.plan.fates[at] == Fate::Branch => {
                Spot::Beside(Parent::Of(self.id(self.plan.first[at])))
            }
            _ => Spot::Path,
        }
    }

    /// Emits what is left.
    pub(super) fn finish(mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        self.flush(emit)?;
        self.lineup.finish(emit)
    }

    fn origin(&self, at: usize, record: &Record<'_>) -> Origin {
        Origin {
            id: self.id(at),
            timestamp: self.clock.clone(),
            place: record.place,
        }
    }

    fn id(&self, at: usize) -> EntryId {
        let link = &self.links[at];
        match &link.uuid {
            Some(uuid) => EntryId::new(uuid.clone()),
            None => {
                // Two records can stand on one damaged line.
                let ordinal = self.links[..at]
                    .iter()
                    .rev()
                    .take_while(|before| before.offset == link.offset)
                    .count();
                let place = crate::entry::Place {
                    line: link.line,
                    offset: link.offset,
                };
                made_id(self.session, place, ordinal)
            }
        }
    }

    /// The entry that a record's parent became.
    fn hook(&self, link: &Link) -> Option<EntryId> {
        self.hooks.get(link.parent.as_deref()?).cloned()
    }

    fn hang(&mut self, link: &'p Link, on: Option<EntryId>) {
        if let (Some(uuid), Some(on)) = (link.uuid.as_deref(), on) {
            self.hooks.insert(uuid, on);
        }
    }

    fn aside(&mut self, at: usize, link: &'p Link, record: &Record<'_>) {
        let on = self.hook(link);
        let draft = aside(&self.origin(at, record), record, self.named, |uuid| {
            self.hooks.contains_key(uuid)
        });
        let parent = on.clone().map_or(Parent::Tip, Parent::Of);
        self.hang(link, on);
        self.queue
            .push_back(Item::Ready(vec![draft], Spot::Beside(parent)));
    }

    fn spoken(&mut self, at: usize, link: &'p Link, fate: Fate, record: &Record<'_>) {
        let first = self.plan.first[at];
        if first != at {
            self.hang(link, Some(self.id(first)));
            self.add(first, record);
            self.close(first, at);
            return;
        }
        let origin = self.origin(at, record);
        let spot = match fate {
            Fate::Path => Spot::Path,
            _ => Spot::Beside(self.branch(link, fate, &origin, record)),
        };
        let drafts = match link.kind {
            Kind::Prompt if link.shell != Shell::Command => self.said(record, &origin),
            Kind::Answer | Kind::Boundary | Kind::Summary | Kind::Prompt => {
                let open = match link.kind {
                    Kind::Prompt => Open::Command(Command::begin(origin.clone())),
                    Kind::Answer => Open::Answer(Answer::begin(origin.clone())),
                    _ => {
                        let kept = self.plan.kept.get(&at);
                        let kept = kept.map(|&head| self.id(self.plan.first[head]));
                        Open::Compacted(Compacted::begin(origin.clone(), kept, &record.object))
                    }
                };
                self.hang(link, Some(origin.id));
                self.open.insert(at, open);
                self.queue.push_back(Item::Waiting { first: at, spot });
                self.add(at, record);
                self.close(at, at);
                return;
            }
            _ => self.said(record, &origin),
        };
        self.hang(link, drafts.last().map(|draft| draft.id.clone()));
        self.queue.push_back(Item::Ready(drafts, spot));
    }

    fn said(&self, record: &Record<'_>, origin: &Origin) -> Vec<Imported> {
        if record.object.has("attachment") {
            attachment(record, origin)
        } else {
            user(record, origin, &self.plan.tools)
        }
    }

    /// What a record beside the path hangs on. A subagent's conversation has
    /// a root of its own, marked, because the model of this one never saw it.
    fn branch(&mut self, link: &Link, fate: Fate, origin: &Origin, record: &Record<'_>) -> Parent {
        if let Some(on) = self.hook(link) {
            return Parent::Of(on);
        }
        if fate != Fate::Sidechain {
            return Parent::Root;
        }
        let marker = Origin {
            id: EntryId::new(format!("{}:sidechain", origin.id)),
            ..origin.clone()
        };
        let data = ObjectWriter::new()
            .raw_opt("agentId", record.object.raw("agentId"))
            .str("root", origin.id.as_str())
            .finish();
        let draft = marker.custom("claude-code:sidechain", &data);
        self.queue
            .push_back(Item::Ready(vec![draft], Spot::Beside(Parent::Root)));
        Parent::Of(marker.id)
    }

    fn add(&mut self, first: usize, record: &Record<'_>) {
        match self.open.get_mut(&first) {
            Some(Open::Answer(answer)) => answer.add(&record.object),
            Some(Open::Command(command)) => command.add(&record.object),
            Some(Open::Compacted(compacted)) if record.object.has("message") => {
                compacted.summarise(&record.object);
            }
            _ => {}
        }
    }

    /// Finishes an entry with its last record.
    fn close(&mut self, first: usize, at: usize) {
        if self.plan.last[first] != at {
            return;
        }
        let draft = match self.open.remove(&first) {
            Some(Open::Answer(answer)) => answer.finish(),
            Some(Open::Command(command)) => command.finish(),
            Some(Open::Compacted(compacted)) => compacted.finish(),
            None => return,
        };
        for item in &mut self.queue {
            if let Item::Waiting { first: waits, spot } = item
                && *waits == first
            {
                *item = Item::Ready(vec![draft], spot.clone());
                return;
            }
        }
    }

    fn flush(&mut self, emit: &mut Emit<'_>) -> ControlFlow<()> {
        while let Some(Item::Ready(..)) = self.queue.front() {
            let Some(Item::Ready(drafts, spot)) = self.queue.pop_front() else {
                break;
            };
            match spot {
                Spot::Path => {
                    for draft in drafts {
                        self.lineup.follow(draft, emit)?;
                    }
                }
                Spot::Beside(mut parent) => {
                    for draft in drafts {
                        let next = Parent::Of(draft.id.clone());
                        self.lineup.beside(draft, parent, emit)?;
                        parent = next;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// A record that the model never sees: a title becomes the session's name,
/// everything else is kept whole.
fn aside(
    origin: &Origin,
    record: &Record<'_>,
    named: bool,
    known: impl Fn(&str) -> bool,
) -> Imported {
    let kind = record.object.str("type").unwrap_or_default();
    match title(&kind, &record.object, named, known) {
        Some(name) => Imported::new(
            "session_info",
            origin.id.clone(),
            origin.timestamp.as_deref(),
            origin.place,
            ObjectWriter::new().raw("name", name),
        ),
        None => origin.custom(&format!("claude-code:{kind}"), record.text),
    }
}

/// The raw JSON string of a title. Claude Code also writes other sessions'
/// summaries into a file; those name a leaf that is not in it. A name that
/// the user gave is not replaced by a made one.
fn title<'a>(
    kind: &str,
    object: &Object<'a>,
    named: bool,
    known: impl Fn(&str) -> bool,
) -> Option<&'a str> {
    let raw = match kind {
        "custom-title" => object.raw("customTitle"),
        "ai-title" if !named => object.raw("aiTitle"),
        "summary" if !named && object.str("leafUuid").is_some_and(|leaf| known(&leaf)) => {
            object.raw("summary")
        }
        _ => None,
    }?;
    raw.starts_with('"').then_some(raw)
}
