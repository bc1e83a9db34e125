//! Taking a host's list in: what is new is kept, what was changed is changed.

use std::collections::HashMap;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, EntryId, MessageView, Role};

use super::align::{Alignment, Kept, Seen, align};
use super::list::{Base, Given, Item};
use super::mirror::{aside, branch_mark, change_mark, turn_mark};
use super::{Error, Hosted, Result};
use crate::session::Listener;

/// A list is brought together with the mirror in so many steps at most: each
/// branch is one, and it is looked at again after each.
const MOST_STEPS: usize = 6;

/// The texts that were given now, and where in the list they begin.
#[derive(Clone, Copy)]
struct Texts<'t> {
    from: usize,
    tail: &'t [&'t str],
}

impl<'t> Texts<'t> {
    fn at(&self, at: usize) -> &'t str {
        self.tail[at - self.from]
    }
}

impl Hosted {
    /// Takes a list in. The host's list is known under a new token afterwards.
    pub(super) fn take(&mut self, given: &Given<'_>, listener: &mut dyn Listener) -> Result<()> {
        let from = self.kept_of(given.base.as_ref())?;
        let texts = Texts {
            from,
            tail: given.tail,
        };
        let tail: Vec<Seen> = given.tail.iter().map(|text| Seen::of(text)).collect();
        // A list given whole mostly begins like the one before.
        let same = match given.base {
            Some(_) => from,
            None if self.list.level => {
                let items = self.list.items.iter();
                items.zip(&tail).take_while(|(a, b)| a.seen == **b).count()
            }
            None => 0,
        };
        self.list.items.truncate(same);
        let known: Vec<_> = self.list.items.iter().map(|item| item.place).collect();
        let new = tail[same - from..].iter();
        let new = new.map(|&seen| Item { seen, place: None });
        self.list.items.extend(new);
        self.list.renew();
        self.list.level = false;
        let together = self.bring_together(texts, &known);
        self.pass_on(listener);
        together?;
        self.list.level = true;
        self.keep_spares(texts);
        Ok(())
    }

    /// How much of the list before is kept of it, where it is a change of that.
    pub(super) fn kept_of(&self, base: Option<&Base<'_>>) -> Result<usize> {
        match base {
            Some(base) if !self.list.level || !self.list.knows(base) => Err(Error::UnknownList {
                token: base.token.to_owned(),
            }),
            base => Ok(base.map_or(0, |base| base.keep)),
        }
    }

    /// Holds on to messages of the list that have no place on the path: they are
    /// shown as long as the host lists them.
    fn keep_spares(&mut self, texts: Texts<'_>) {
        let mut spares = HashMap::new();
        let items = self.list.items.iter().enumerate();
        for (at, item) in items.filter(|(_, item)| item.place.is_none()) {
            let known = self.spares.remove(&item.seen.print);
            let spare = known.or_else(|| (at >= texts.from).then(|| texts.at(at).into()));
            spares.extend(spare.map(|spare| (item.seen.print, spare)));
        }
        self.spares = spares;
    }

    fn put(&mut self, at: usize, place: usize) {
        self.list.items[at].place = Some(place);
        self.mirror.messages[place].listed = Some(at);
    }

    /// Appends messages at the end of the path.
    pub(super) fn keep(&mut self, texts: impl Iterator<Item = String>) -> Result<()> {
        let drafts: Vec<Draft> = texts.map(Draft::Message).collect();
        if !drafts.is_empty() {
            self.write(&drafts)?;
            self.session.note_answer();
        }
        Ok(())
    }

    /// Appends entries, and takes the messages among them into the mirror.
    pub(super) fn write(&mut self, drafts: &[Draft]) -> Result<()> {
        let first = drafts.iter().find_map(|draft| match draft {
            Draft::Message(text) => Some(text),
            _ => None,
        });
        if let Some(first) = first
            && std::mem::take(&mut self.resumed)
            && !is_result(first)
        {
            let closings = self.session.close_interrupted()?;
            self.mirror.closings.extend(closings);
        }
        let mut parent = self.session.leaf();
        let ids = self.session.append(drafts)?;
        for (draft, id) in drafts.iter().zip(ids) {
            if let Draft::Message(text) = draft {
                self.mirror.place(id.clone(), parent.take(), Seen::of(text));
            }
            parent = Some(id);
        }
        Ok(())
    }

    /// Brings the mirror to say what the list says. Of a list that goes on like
    /// the one before, the places so far are known.
    fn bring_together(&mut self, texts: Texts<'_>, known: &[Option<usize>]) -> Result<()> {
        let mut known = known;
        for _ in 0..MOST_STEPS {
            if self.step(texts, known)? {
                return Ok(());
            }
            known = &[];
        }
        Err(Error::Unaligned {
            path: self.session.path().to_owned(),
        })
    }

    /// One step; whether it was the last.
    fn step(&mut self, texts: Texts<'_>, known: &[Option<usize>]) -> Result<bool> {
        let mirror: Vec<Kept> = self.mirror.messages.iter().map(|m| m.kept).collect();
        let list: Vec<Seen> = self.list.items.iter().map(|item| item.seen).collect();
        let aligned = align(&mirror, &list, known);
        // Only what was given now can be written.
        let writes = aligned.edits.iter().map(|edit| edit.0);
        let writes = writes.chain(aligned.inserted.iter().map(|inserted| inserted.0));
        let unknown = writes
            .filter(|&at| !self.mirror.asides.contains(&list[at].print))
            .chain((aligned.appended < list.len()).then_some(aligned.appended))
            .any(|at| at < texts.from);
        if unknown {
            return Err(Error::UnknownList {
                token: self.list.token(),
            });
        }
        let new = (aligned.appended..list.len()).map(|at| texts.at(at).to_owned());
        if let Some(beyond) = aligned.beyond
            && (new.len() > 0 || (!list.is_empty() && self.hides_all(beyond)))
        {
            // What the list no longer has is left, and it goes on from there.
            self.leave(beyond, new.map(Draft::Message).collect())?;
            return Ok(false);
        }
        if self.insert(&aligned, texts)? {
            return Ok(false);
        }
        self.change(&aligned, texts)?;
        for placed in &mut self.mirror.messages {
            placed.listed = None;
        }
        for at in 0..aligned.appended {
            match aligned.places[at] {
                Some(place) => self.put(at, place),
                None => self.list.items[at].place = None,
            }
        }
        self.beyond = aligned.beyond;
        let end = self.mirror.messages.len();
        self.keep(new)?;
        for at in aligned.appended..list.len() {
            self.put(at, end + at - aligned.appended);
        }
        Ok(true)
    }

    /// Whether a list that ends before this message shows nothing but a summary
    /// of what it does not have.
    fn hides_all(&self, beyond: usize) -> bool {
        if self.session.live().loaded().boundary.is_none() {
            return false;
        }
        let mut entries = self.session.live().entries().iter();
        let first = entries.find(|entry| matches!(entry.body, Body::Message(_)));
        first.is_none_or(|first| {
            let mut placed = self.mirror.messages.iter();
            let place = placed.rposition(|placed| placed.entry == first.id);
            place.is_some_and(|place| beyond <= place)
        })
    }

    /// Goes on before a message of the mirror, on a branch of its own.
    pub(super) fn leave(&mut self, beyond: usize, drafts: Vec<Draft>) -> Result<()> {
        let mark = branch_mark(self.session.leaf(), None);
        let behind = self.mirror.messages[beyond].parent.clone();
        let drafts: Vec<Draft> = std::iter::once(mark).chain(drafts).collect();
        self.session.branch(behind, &drafts, &mut self.heard)?;
        self.reread()
    }

    /// New messages in front of others. In the part that is still in the context
    /// the path is written again with them in it; elsewhere they are kept beside
    /// it. Says whether the path has changed.
    fn insert(&mut self, aligned: &Alignment, texts: Texts<'_>) -> Result<bool> {
        let print = |at: usize| self.list.items[at].seen.print;
        let mut new = aligned.inserted.clone();
        new.retain(|(at, _)| !self.mirror.asides.contains(&print(*at)));
        // A host may put one message or another in front with every request: its
        // own summary, say, or what it remembers.
        let begins = aligned.places.iter().position(Option::is_some);
        let is_front = |at: usize| begins.is_none_or(|begins| at < begins);
        if new.iter().filter(|(at, _)| is_front(*at)).count() == 1 {
            let (front, between): (Vec<_>, Vec<_>) = new.into_iter().partition(|it| is_front(it.0));
            self.put_aside(&front, texts)?;
            new = between;
        }
        let Some(&(_, first)) = new.first() else {
            return Ok(false);
        };
        let entries = self.session.live().entries().iter();
        let entries = entries.filter(|entry| matches!(entry.body, Body::Message(_)));
        let raws: HashMap<&EntryId, &str> = entries.map(|entry| (&entry.id, entry.raw())).collect();
        let mut drafts = Vec::new();
        for (place, placed) in self.mirror.messages.iter().enumerate().skip(first) {
            let Some(raw) = raws.get(&placed.entry) else {
                self.put_aside(&new, texts)?;
                return Ok(false);
            };
            let here = new.iter().filter(|(_, before)| *before == place);
            drafts.extend(here.map(|&(at, _)| Draft::Message(texts.at(at).to_owned())));
            drafts.push(Draft::Again {
                raw: (*raw).to_owned(),
                target: None,
            });
        }
        let claimed = match self.mirror.claimed > first {
            true => self.mirror.claimed + new.len(),
            false => self.mirror.claimed,
        };
        drafts.push(turn_mark(None, &[], claimed));
        self.leave(first, drafts)?;
        Ok(true)
    }

    /// Keeps messages beside the path.
    fn put_aside(&mut self, new: &[(usize, usize)], texts: Texts<'_>) -> Result<()> {
        let mut drafts = Vec::new();
        for &(at, before) in new {
            let print = self.list.items[at].seen.print;
            let before = &self.mirror.messages[before].entry;
            drafts.push(aside(texts.at(at), print, before));
            self.mirror.asides.insert(print);
        }
        match drafts.is_empty() {
            true => Ok(()),
            false => self.write(&drafts),
        }
    }

    /// Writes down what the host rewrote and took out.
    fn change(&mut self, aligned: &Alignment, texts: Texts<'_>) -> Result<()> {
        let mut drafts = Vec::new();
        let mut changed = Vec::new();
        let messages = &mut self.mirror.messages;
        for &(at, place) in &aligned.edits {
            let seen = self.list.items[at].seen;
            let entry = &messages[place].entry;
            drafts.extend(edit(texts.at(at), entry));
            drafts.push(change_mark(entry, Some(seen.print)));
            changed.push(entry.clone());
            messages[place].kept = Kept {
                seen,
                removed: false,
            };
        }
        for &place in &aligned.removed {
            let entry = &messages[place].entry;
            drafts.push(Draft::ContextEdit {
                target: entry.clone(),
                content: None,
            });
            drafts.push(change_mark(entry, None));
            changed.push(entry.clone());
            messages[place].kept.removed = true;
        }
        for &place in &aligned.returned {
            let entry = &messages[place].entry;
            let at = aligned.places.iter().position(|at| *at == Some(place));
            let given = at.filter(|at| *at >= texts.from);
            drafts.extend(given.and_then(|at| edit(texts.at(at), entry)));
            drafts.push(change_mark(entry, Some(messages[place].kept.seen.print)));
            changed.push(entry.clone());
            messages[place].kept.removed = false;
        }
        if !drafts.is_empty() {
            self.write(&drafts)?;
            self.session.make_durable()?;
            self.session.reread(&changed, &mut self.heard)?;
        }
        Ok(())
    }
}

/// The entry that shows what a message says now. Of some roles a context can
/// show nothing else; the host's own message is sent for these anyway.
fn edit(text: &str, entry: &EntryId) -> Option<Draft> {
    let view = MessageView::parse(text);
    let editable = matches!(
        view.role,
        Role::User | Role::Assistant | Role::ToolResult | Role::Custom
    );
    editable.then(|| Draft::ContextEdit {
        target: entry.clone(),
        content: Some(view.object().raw("content").unwrap_or("[]").to_owned()),
    })
}

fn is_result(message: &str) -> bool {
    Object::parse(message).is_ok_and(|message| message.str("role").as_deref() == Some("toolResult"))
}
