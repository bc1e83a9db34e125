//! What matters before the latest compaction of another agent, whose entries do
//! not keep it as ours do: folded once, noted down, and gone on with.
//!
//! Folding a long transcript takes longer than a hook is given, so it is noted
//! every now and then how far it came; the next one goes on from there, and so
//! does the first one after another compaction.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use longhaul_ledger::{Capture, Ledger};
use longhaul_redact::rules_version;
use longhaul_transcript::{Body, EntryId, Epoch, Loaded, Result, Session};
use serde::{Deserialize, Serialize};

use super::Live;
use crate::checkpoints::{FileNotebook, Notebook};
use crate::config::Config;
use crate::hosted::Changes;

/// The note's name.
const NOTE: &str = "folded.json";
/// After so many bytes of entries it is noted how far it came.
const STRETCH: usize = 4 << 20;

/// What was folded of a session, without secrets.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Folded {
    /// What was taken for a secret then.
    rules: String,
    /// The compaction before which all is in it; none while some is not.
    boundary: Option<EntryId>,
    /// The last entry that is in it, if there is one.
    last: Option<EntryId>,
    /// Compactions so far.
    epoch: u32,
    ledger: Ledger,
    labels: HashMap<EntryId, String>,
}

/// What was noted, and where the next note goes.
#[derive(Default)]
pub(super) struct Folding<'a> {
    noted: Option<Folded>,
    notebook: Option<&'a FileNotebook>,
}

impl Folding<'_> {
    /// Keeps a note. It is on disk like all that we save, so no secret may be in
    /// it. Without it the next one takes longer, no more.
    fn keep(&self, live: &Live, folded: &Folded) {
        let Some(notebook) = self.notebook else {
            return;
        };
        if let Ok(text) = serde_json::to_string(folded) {
            let text = live.redactor().document().json(&text).into_owned();
            if serde_json::from_str::<Folded>(&text).is_ok() {
                let _ = notebook.write(NOTE, &text);
            }
        }
    }
}

impl Live {
    /// Opens a session at the cost of what it keeps and of what is new in it:
    /// where its compactions do not carry our ledger, what came before the latest
    /// one is folded once and noted down. A note that is damaged costs that time
    /// again, no more; where nothing may be written, none is.
    pub fn open_noted(session: &Session, config: &Config, notebook: &FileNotebook) -> Result<Live> {
        let text = notebook.read(NOTE).ok().flatten();
        let noted = text
            .as_ref()
            .and_then(|text| serde_json::from_str(text).ok());
        let folding = Folding {
            noted: noted.filter(|noted: &Folded| {
                *noted.rules == *rules_version() && noted.ledger.version == Ledger::VERSION
            }),
            notebook: Some(notebook).filter(|_| config.writes_checkpoints()),
        };
        let known = |live: Live| live.noting_secrets(config, notebook);
        let writes = folding.noted.is_some() && folding.notebook.is_some();
        let live = Live::open_as(session, None, config.state_capture(), &known, folding)?;
        if let Some(text) = text.filter(|_| writes) {
            live.take_out(notebook, &text);
        }
        Ok(live)
    }

    /// Takes out of the note what turned out to be a secret since it was written.
    fn take_out(&self, notebook: &FileNotebook, text: &str) {
        let redactor = self.redactor();
        let is_as_it_was = || notebook.read(NOTE).ok().flatten().as_deref() == Some(text);
        if let Cow::Owned(clean) = redactor.document().known(text)
            && is_as_it_was()
            && serde_json::from_str::<Folded>(&clean).is_ok()
        {
            let _ = notebook.write(NOTE, &clean);
        }
    }

    /// Folds the part of the path that no longer is in the context.
    pub(super) fn fold_before(
        &mut self,
        session: &Session,
        leaf: Option<&EntryId>,
        loaded: &Loaded,
        capture: Capture,
        mut folding: Folding<'_>,
    ) -> Result<()> {
        let boundary = loaded.compaction().map(|(entry, _)| entry.id.clone());
        if let Some(noted) = folding
            .noted
            .take_if(|noted| noted.boundary.is_some() && noted.boundary == boundary)
        {
            self.base = noted.ledger.capturing(capture);
            self.labels = noted.labels;
            self.loaded.epoch = Epoch::Exact(noted.epoch);
            return Ok(());
        }
        let tree = session.tree()?;
        let path = leaf.and_then(|leaf| tree.path_to(leaf));
        let kept: HashSet<&EntryId> = loaded.entries.iter().map(|entry| &entry.id).collect();
        let before: HashSet<EntryId> = path
            .unwrap_or_else(|| tree.path())
            .into_iter()
            .map(|at| tree.nodes()[at].id.clone())
            .filter(|id| !kept.contains(id))
            .collect();
        let compaction = |body: &Body| usize::from(matches!(body, Body::Compaction(_)));
        let mut compactions: usize = loaded.entries.iter().map(|e| compaction(&e.body)).sum();
        let changes = Changes::of(session)?;
        self.labels = tree.labels().clone();
        // What was folded is a beginning of this path if its last entry is in it.
        let begun = folding.noted.take();
        let is_in = |last: &EntryId| before.contains(last) && changes.is_empty();
        let begun = begun.filter(|noted| noted.last.as_ref().is_some_and(is_in));
        let mut last = None;
        if let Some(begun) = begun {
            self.base = begun.ledger.capturing(capture);
            last = begun.last;
        }
        let mut passed_over = last.clone();
        let mut new = 0;
        session.each(&mut |entry| {
            if !before.contains(&entry.id) {
                return ControlFlow::Continue(());
            }
            compactions += compaction(&entry.body);
            if let Some(known) = &passed_over {
                if *known == entry.id {
                    passed_over = None;
                }
                return ControlFlow::Continue(());
            }
            last = Some(entry.id.clone());
            new += entry.raw().len();
            self.base.observe(&changes.apply(entry));
            if new >= STRETCH {
                new = 0;
                self.note(&folding, None, last.clone());
            }
            ControlFlow::Continue(())
        })?;
        self.loaded.epoch = Epoch::Exact(u32::try_from(compactions).unwrap_or(u32::MAX));
        self.note(&folding, boundary, last);
        Ok(())
    }

    fn note(&self, folding: &Folding<'_>, boundary: Option<EntryId>, last: Option<EntryId>) {
        let folded = Folded {
            rules: rules_version().to_string(),
            boundary,
            last,
            epoch: self.epoch(),
            ledger: self.base.clone(),
            labels: self.labels.clone(),
        };
        folding.keep(self, &folded);
    }
}
