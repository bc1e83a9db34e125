//! Old tool output is hidden, where a summary would not make more room.

use longhaul_testkit::content::text;
use serde_json::Value;

use super::host::{Home, Pi};
use super::model::Scripted;
use super::{Run, STEPS, WIDE, file, marked};
use crate::{Result, paths};

impl Run {
    /// The same program and the same pi, with a model of a larger window and a
    /// session of its own.
    pub(super) fn in_a_wide_window(self) -> Result<Run> {
        let model = Scripted::start(WIDE)?;
        let home = Home::new(paths::scratch("e2e-pi-wide")?, &model.url(), WIDE)?;
        Ok(Run {
            model,
            home,
            ..self
        })
    }

    /// Before the first summary nobody knows how short it will be, and most of what
    /// is in the context has been read: hiding that is as good.
    pub(super) fn hides_old_output(&mut self) -> Result<()> {
        let mut pi = Pi::start(&self.home, &self.peers, &self.program)?;
        let mut entries = Vec::new();
        let mut step = 0;
        while step < STEPS && !is_smaller(&entries) {
            self.step(&mut pi, step)?;
            entries = file::entries(&self.home.session()?)?;
            step += 1;
        }
        let edits = file::of_type(&entries, "context_edit");
        let marks = marked(&entries, "custom", "longhaul:prune");
        let compactions = file::of_type(&entries, "compaction").len();
        let hidden = edits.len();
        self.findings.check(
            "pruned results are context edits in pi's file",
            hidden > 0 && marks.len() == 1 && compactions == 0,
            format!(
                "{hidden} in {} prunings before {compactions} compactions",
                marks.len()
            ),
        );
        let told = pi.notices.iter().find(|told| told.contains("longhaul hid"));
        self.findings.check(
            "the user is told how much was hidden",
            told.is_some_and(|told| told.contains(&format!("{hidden} old tool results"))),
            told.cloned().unwrap_or_default(),
        );
        self.step(&mut pi, step)?;
        self.shows_what_edits_say(&entries);
        self.recalls_what_left(&mut pi, &entries)?;
        let errors = pi.errors.join("; ");
        self.findings
            .check("the extension made no error", errors.is_empty(), &errors);
        let ended = pi.end()?;
        self.findings.check("pi ends by itself", ended, ended);

        let file = self.home.session()?;
        self.says(&["session", "verify", "--session"], &file)?;
        let shown = self.says(&["context", "show", "--session"], &file)?;
        let lines = shown.matches("[pruned: read part-").count();
        self.findings.check(
            "and it shows what is hidden as the model sees it",
            lines == hidden,
            lines,
        );
        Ok(())
    }

    /// The model is sent what the edits put in the place of results, each where the
    /// result was; all else is sent as before.
    fn shows_what_edits_say(&mut self, entries: &[Value]) {
        let requests = self.model.requests();
        let last = requests.last().cloned().unwrap_or_default();
        let sent = last["messages"].as_array().into_iter().flatten();
        let results = sent.filter(|message| message["role"] == "tool");
        let results: Vec<String> = results.map(text).collect();
        let edits = file::of_type(entries, "context_edit");
        let shown = edits.iter().filter(|edit| {
            let words = text(&edit["replacement"]);
            words.starts_with("[pruned: ") && results.contains(&words)
        });
        let shown = shown.count();
        self.findings.check(
            "the model is sent a line for each of them",
            shown == edits.len(),
            format!("{shown} of {} results", results.len()),
        );
        let orphans: usize = requests.iter().map(file::orphans).sum();
        let rewrites = file::rewrites(&requests);
        self.findings.check(
            "every call keeps its result, and the rest of a request its bytes",
            orphans == 0 && rewrites == 1,
            format!("{orphans} orphans, {rewrites} rewrites"),
        );
    }
}

/// Whether something has made the context smaller.
fn is_smaller(entries: &[Value]) -> bool {
    ["context_edit", "compaction"]
        .iter()
        .any(|kind| !file::of_type(entries, kind).is_empty())
}
