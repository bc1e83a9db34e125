//! Taking a host's list in: what is new is kept, what was changed is changed.

use std::collections::HashMap;

use longhaul_transcript::json::Object;
use longhaul_transcript::{Body, Draft, EntryId, MessageView, Role};

use super::align::{Alignment, Kept, align};
use super::list::{Given, Item};
use super::mirror::{aside, branch_mark, edit_mark, removal_mark, turn_mark};
use super::print::Seen;
use super::{Error, Hosted, Result};
use crate::session::Listener;

/// A list is brought together with the mirror in so many steps at most: each
/// branch is one, and it is looked at again after each.
const MOST_STEPS: usize = 6;

impl Hosted {
    /// Takes a list in. The host's list is known under a new token afterwards.
    pub(super) fn take(&mut self, given: &Given<'_>, listener: &mut dyn Listener) -> Result<()> {
        let kept = match &given.base {
            Some(base) if !self.list.level || !self.list.knows(base) => {
                return Err(Error::UnknownList {
                    token: base.token.to_owned(),
                });
            }
            Some(base) => base.keep,
            None => 0,
        };
        let tail: Vec<Seen> = given.tail.iter().map(|text| Seen::of(text)).collect();
        // A list given whole mostly begins like the one before.
        let same = match given.base {
            Some(_) => kept,
            None if self.list.level => {
                let items = self.list.items.iter();
                items.zip(&tail).take_while(|(a, b)| a.seen == **b).count()
            }
            None => 0,
        };
        self.shorten(same);
        let new = tail[same - kept..].iter();
        self.list
            .items
            .extend(new.map(|&seen| Item { seen, place: None }));
        self.list.renew();
        let text = |at: usize| given.tail[at - kept];
        let level = std::mem::take(&mut self.list.level);
        if !(level && same > 0 && self.follow(same, &text, listener)?) {
            self.bring_together(kept, &text, listener)?;
        }
        self.list.level = true;
        self.keep_spares(kept, &text);
        Ok(())
    }

    /// Holds on to messages of the list that have no place on the path: they are
    /// shown as long as the host lists them.
    fn keep_spares<'t>(&mut self, kept: usize, text: &dyn Fn(usize) -> &'t str) {
        let mut spares = HashMap::new();
        for (at, item) in self.list.items.iter().enumerate() {
            if item.place.is_some() {
                continue;
            }
            let known = self.spares.remove(&item.seen.print);
            let spare = known.or_else(|| (at >= kept).then(|| text(at).into()));
            spares.extend(spare.map(|spare| (item.seen.print, spare)));
        }
        self.spares = spares;
    }

    fn shorten(&mut self, keep: usize) {
        for item in self.list.items.drain(keep..) {
            if let Some(place) = item.place {
                self.mirror.messages[place].listed = None;
            }
        }
    }

    fn put(&mut self, at: usize, place: usize) {
        self.list.items[at].place = Some(place);
        self.mirror.messages[place].listed = Some(at);
    }

    /// The ordinary case: the list goes on, and the mirror with it or behind it.
    fn follow<'t>(
        &mut self,
        from: usize,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<bool> {
        let before = self.list.items[..from].iter().rev();
        let last = before.into_iter().find_map(|item| item.place);
        let mut next = last.map_or(0, |place| place + 1);
        let end = self.mirror.messages.len();
        let mut found = Vec::new();
        for at in from..self.list.items.len() {
            while next < end && self.passes(next, at) {
                next += 1;
            }
            if next == end {
                break;
            }
            let placed = &self.mirror.messages[next].kept;
            if placed.seen.print != self.list.items[at].seen.print || placed.removed {
                return Ok(false);
            }
            found.push((at, next));
            next += 1;
        }
        let beyond = self.mirror.messages[next..]
            .iter()
            .position(|placed| !placed.kept.removed)
            .map(|at| at + next);
        let appended = from + found.len();
        if beyond.is_some_and(|beyond| self.hides_all(beyond)) {
            return Ok(false);
        }
        for (at, place) in found {
            self.put(at, place);
        }
        self.beyond = beyond;
        self.extend(appended, text, listener)?;
        Ok(true)
    }

    /// Whether a message that was taken out is passed over for one of the list.
    fn passes(&self, place: usize, at: usize) -> bool {
        let kept = &self.mirror.messages[place].kept;
        kept.removed && kept.seen.print != self.list.items[at].seen.print
    }

    /// Appends the rest of the list.
    fn extend<'t>(
        &mut self,
        from: usize,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let texts: Vec<&str> = (from..self.list.items.len()).map(text).collect();
        let place = self.mirror.messages.len();
        self.keep(&texts, listener)?;
        for at in 0..texts.len() {
            self.put(from + at, place + at);
        }
        Ok(())
    }

    /// Appends messages at the end of the path.
    pub(super) fn keep(&mut self, texts: &[&str], _: &mut dyn Listener) -> Result<()> {
        if texts.is_empty() {
            return Ok(());
        }
        let drafts: Vec<Draft> = texts
            .iter()
            .map(|text| Draft::Message((*text).to_owned()))
            .collect();
        self.write(&drafts)?;
        self.session.note_answer();
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
        let mut parent = self
            .session
            .live()
            .entries()
            .last()
            .map(|entry| entry.id.clone());
        let ids = self.session.append_all(drafts)?;
        for (draft, id) in drafts.iter().zip(ids) {
            if let Draft::Message(text) = draft {
                self.mirror.place(id.clone(), parent.take(), Seen::of(text));
            }
            parent = Some(id);
        }
        Ok(())
    }

    /// Everything else: looks at all of the list and all of the mirror.
    fn bring_together<'t>(
        &mut self,
        kept: usize,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        for _ in 0..MOST_STEPS {
            if self.step(kept, text, listener)? {
                return Ok(());
            }
        }
        Err(Error::Unaligned {
            path: self.session.path().to_owned(),
        })
    }

    /// One step; whether it was the last.
    fn step<'t>(
        &mut self,
        kept: usize,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<bool> {
        let mirror: Vec<Kept> = self.mirror.messages.iter().map(|m| m.kept).collect();
        let list: Vec<Seen> = self.list.items.iter().map(|item| item.seen).collect();
        let aligned = align(&mirror, &list);
        // Only what was given now can be written.
        let writes = aligned.edits.iter().map(|edit| edit.0);
        let writes = writes.chain(aligned.inserted.iter().map(|inserted| inserted.0));
        let unknown = writes
            .filter(|&at| !self.mirror.asides.contains(&list[at].print))
            .chain((aligned.appended < list.len()).then_some(aligned.appended))
            .any(|at| at < kept);
        if unknown {
            return Err(Error::UnknownList {
                token: self.list.token(),
            });
        }
        if let Some(beyond) = aligned.beyond {
            let goes_on = aligned.appended < list.len();
            if goes_on || (!list.is_empty() && self.hides_all(beyond)) {
                self.go_back(beyond, &aligned, text, listener)?;
                return Ok(false);
            }
        }
        if self.insert(&aligned, text, listener)? {
            return Ok(false);
        }
        self.change(&aligned, text, listener)?;
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
        self.extend(aligned.appended, text, listener)?;
        Ok(true)
    }

    /// Whether a list that ends before this message shows nothing but a summary
    /// of what it does not have.
    fn hides_all(&self, beyond: usize) -> bool {
        let entries = self.session.live().entries();
        if self.session.live().loaded().boundary.is_none() {
            return false;
        }
        let first = entries
            .iter()
            .find(|entry| matches!(entry.body, Body::Message(_)));
        match first {
            Some(first) => {
                let placed = self.mirror.messages.iter();
                placed
                    .rev()
                    .position(|placed| placed.entry == first.id)
                    .is_some_and(|back| beyond <= self.mirror.messages.len() - 1 - back)
            }
            None => true,
        }
    }

    /// Leaves what the list no longer has, and goes on from there.
    fn go_back<'t>(
        &mut self,
        beyond: usize,
        aligned: &Alignment,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let texts = (aligned.appended..self.list.items.len()).map(text);
        let messages = texts.map(|text| Draft::Message(text.to_owned()));
        self.leave(beyond, messages.collect(), listener)
    }

    /// Goes on before a message of the mirror, on a branch of its own.
    pub(super) fn leave(
        &mut self,
        beyond: usize,
        drafts: Vec<Draft>,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let leaf = self.session.live().entries().last();
        let mark = branch_mark(leaf.map(|entry| &entry.id), None);
        let behind = self.mirror.messages[beyond].parent.clone();
        let drafts: Vec<Draft> = std::iter::once(mark).chain(drafts).collect();
        self.session.branch(behind, &drafts, listener)?;
        self.reread()
    }

    /// New messages in front of others. In the part that is still in the context
    /// the path is written again with them in it; elsewhere they are kept beside
    /// it. Says whether the path has changed.
    fn insert<'t>(
        &mut self,
        aligned: &Alignment,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<bool> {
        let new: Vec<(usize, usize)> = aligned
            .inserted
            .iter()
            .copied()
            .filter(|(at, _)| {
                !self
                    .mirror
                    .asides
                    .contains(&self.list.items[*at].seen.print)
            })
            .collect();
        if new.is_empty() {
            return Ok(false);
        }
        // A host may put one message or another in front with every request: its
        // own summary, say, or what it remembers.
        let begins = aligned.places.iter().position(Option::is_some);
        let (front, between): (Vec<_>, Vec<_>) = new
            .iter()
            .copied()
            .partition(|(at, _)| begins.is_none_or(|begins| *at < begins));
        let (front, between) = match front.len() {
            0 | 1 => (front, between),
            _ => (Vec::new(), new),
        };
        self.put_aside(&front, text)?;
        let new = between;
        let Some(&(_, first)) = new.first() else {
            return Ok(false);
        };
        let raws: HashMap<&EntryId, &str> = self
            .session
            .live()
            .entries()
            .iter()
            .filter(|entry| matches!(entry.body, Body::Message(_)))
            .map(|entry| (&entry.id, entry.raw()))
            .collect();
        let later = &self.mirror.messages[first..];
        let all_here = later.iter().all(|placed| raws.contains_key(&placed.entry));
        if !all_here {
            self.put_aside(&new, text)?;
            return Ok(false);
        }
        let mut drafts = Vec::new();
        for (back, placed) in later.iter().enumerate() {
            let place = first + back;
            let here = new.iter().filter(|(_, before)| *before == place);
            drafts.extend(here.map(|&(at, _)| Draft::Message(text(at).to_owned())));
            drafts.push(Draft::Again {
                raw: raws[&placed.entry].to_owned(),
                target: None,
            });
        }
        let claimed = match self.mirror.claimed > first {
            true => self.mirror.claimed + new.len(),
            false => self.mirror.claimed,
        };
        drafts.push(turn_mark(None, &[], claimed));
        self.leave(first, drafts, listener)?;
        Ok(true)
    }

    /// Keeps messages beside the path.
    fn put_aside<'t>(
        &mut self,
        new: &[(usize, usize)],
        text: &dyn Fn(usize) -> &'t str,
    ) -> Result<()> {
        let mut drafts = Vec::new();
        for &(at, before) in new {
            let print = self.list.items[at].seen.print;
            drafts.push(aside(text(at), print, &self.mirror.messages[before].entry));
            self.mirror.asides.insert(print);
        }
        match drafts.is_empty() {
            true => Ok(()),
            false => self.write(&drafts),
        }
    }

    /// Writes down what the host rewrote and took out.
    fn change<'t>(
        &mut self,
        aligned: &Alignment,
        text: &dyn Fn(usize) -> &'t str,
        listener: &mut dyn Listener,
    ) -> Result<()> {
        let mut drafts = Vec::new();
        let places = aligned.edits.iter().map(|edit| edit.1);
        let places = places.chain(aligned.removed.iter().chain(&aligned.returned).copied());
        let changed: Vec<EntryId> = places
            .map(|place| self.mirror.messages[place].entry.clone())
            .collect();
        for &(at, place) in &aligned.edits {
            let seen = self.list.items[at].seen;
            let entry = self.mirror.messages[place].entry.clone();
            drafts.extend(edit(text(at), &entry));
            drafts.push(edit_mark(&entry, seen.print));
            let kept = &mut self.mirror.messages[place].kept;
            kept.seen = seen;
            kept.removed = false;
        }
        for &place in &aligned.removed {
            let entry = self.mirror.messages[place].entry.clone();
            drafts.push(Draft::ContextEdit {
                target: entry.clone(),
                content: None,
            });
            drafts.push(removal_mark(&entry));
            self.mirror.messages[place].kept.removed = true;
        }
        let back: HashMap<usize, usize> = aligned
            .places
            .iter()
            .enumerate()
            .filter_map(|(at, place)| Some(((*place)?, at)))
            .collect();
        for &place in &aligned.returned {
            let entry = self.mirror.messages[place].entry.clone();
            let print = self.mirror.messages[place].kept.seen.print;
            drafts.extend(back.get(&place).and_then(|&at| edit(text(at), &entry)));
            drafts.push(edit_mark(&entry, print));
            self.mirror.messages[place].kept.removed = false;
        }
        if !drafts.is_empty() {
            self.write(&drafts)?;
            self.session.make_durable()?;
            self.session.reread(&changed, listener)?;
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
