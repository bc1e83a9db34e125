//! What waits for a decision, and what was decided: what `dream review` and
//! `dream undo --list` print.

use std::path::Path;

use jiff::Zoned;
use jiff::civil::Date;
use longhaul_engine::config::Config;
use longhaul_memory::dream::{
    Candidate, Change, DiffLine, Dreams, Evidence, Left, PageChange, Review, Topic, Undoing,
    Verdict, diff, waiting,
};
use longhaul_memory::{Error, MemoryFolder, Result, Source};
use longhaul_redact::Redactor;
use longhaul_transcript::Millis;
use schemars::JsonSchema;
use serde::Serialize;

/// What is looked at for it.
pub struct Dreaming<'a> {
    /// The memory of the workspace.
    pub memory: &'a MemoryFolder,
    /// The settings.
    pub config: &'a Config,
    /// Our own folder.
    pub state_dir: &'a Path,
}

/// A candidate that may contradict another.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Beside {
    /// Its id.
    pub id: String,
    /// What it says.
    pub text: String,
    /// What has become of it.
    pub status: String,
    /// Since when it holds.
    #[schemars(with = "String")]
    pub valid_from: Date,
    /// When it was last said.
    #[schemars(with = "String")]
    pub last_said: Date,
}

/// What a candidate takes the place of.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Replaced {
    /// Its id.
    pub id: String,
    /// What it says.
    pub text: String,
    /// Since when it held.
    #[schemars(with = "String")]
    pub valid_from: Date,
    /// Until when, if it does no more.
    #[schemars(with = "Option<String>")]
    pub valid_until: Option<Date>,
}

/// What becomes of a file, as a patch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FilePatch {
    /// The file, in the workspace.
    pub file: String,
    /// Its lines: ` ` the same, `-` gone, `+` new, `@@` where others are left out.
    pub diff: String,
}

/// Why something cannot be done.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Why {
    /// The reason.
    pub message: String,
    /// What to do.
    pub remedy: Option<String>,
}

/// What a promotion would change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Planned {
    /// It can be done.
    Possible {
        /// What becomes of the files.
        files: Vec<FilePatch>,
        /// Candidates whose pointers leave to make room.
        demotes: Vec<String>,
    },
    /// It cannot.
    Refused {
        /// Why.
        refused: Why,
    },
}

/// Something that might become long-term memory.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CandidateRow {
    /// Its id.
    pub id: String,
    /// What kind of thing it is.
    #[schemars(with = "String")]
    pub topic: Topic,
    /// What it says, as it was said.
    pub text: String,
    /// A better wording, where somebody gave one.
    pub wording: Option<String>,
    /// Who said it.
    #[schemars(with = "String")]
    pub source: Source,
    /// How sure its place in the order is.
    pub confidence: f64,
    /// How often it was said.
    pub mentions: usize,
    /// What a model found of it.
    #[schemars(with = "Option<String>")]
    pub verdict: Option<Verdict>,
    /// On which days it was said.
    #[schemars(with = "Vec<String>")]
    pub days: Vec<Date>,
    /// Since when it holds.
    #[schemars(with = "String")]
    pub valid_from: Date,
    /// Candidates that it takes the place of.
    pub replaces: Vec<String>,
    /// What they say.
    pub in_place_of: Vec<Replaced>,
    /// What may say something else: candidates, or lines of the memory.
    pub contradicts: Vec<String>,
    /// What those candidates say.
    pub beside: Vec<Beside>,
    /// Whether it was found in old transcripts and in no log.
    pub backfilled: bool,
    /// Whether no policy may promote it.
    pub needs_review: bool,
    /// Why, where it is neither its source nor a contradiction.
    #[schemars(with = "Option<String>")]
    pub review: Option<Review>,
    /// Where it was said.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub evidence: Vec<Evidence>,
    /// What a promotion would change.
    pub change: Planned,
}

/// What waits for a decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DreamsView {
    /// The workspace.
    pub workspace: String,
    /// In the order in which a review shows them.
    pub candidates: Vec<CandidateRow>,
    /// What a crash left half done.
    pub unfinished: Option<String>,
}

/// A promotion that was made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Promotion {
    /// The number of the change.
    pub change: u32,
    /// When.
    pub at: String,
    /// What was promoted.
    pub candidate: String,
    /// What it says.
    pub text: Option<String>,
    /// Whether it can be taken back.
    pub possible: bool,
    /// The change that took it back.
    pub undone_by: Option<u32>,
    /// Lines that were edited since and would stay.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub left: Vec<Left>,
    /// Why it cannot be taken back.
    pub refused: Option<Why>,
}

/// The promotions that were made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Promotions {
    /// The workspace.
    pub workspace: String,
    /// The latest first.
    pub changes: Vec<Promotion>,
    /// What a crash left half done.
    pub unfinished: Option<String>,
}

impl Dreaming<'_> {
    fn workspace(&self) -> String {
        self.memory.root().to_string_lossy().into_owned()
    }

    /// What waits, with what a promotion of each would change now.
    pub fn waiting(&self, now: &Zoned) -> Result<DreamsView> {
        let dreams = Dreams::new(self.state_dir, self.memory);
        let all = dreams.candidates()?;
        let recalls = dreams.recalls()?;
        let recalls = |candidate: &Candidate| recalls.of(candidate);
        let settings = self.config.dream_settings(&recalls);
        let rows = waiting(&all).into_iter().map(|one| {
            let change = match dreams.plan(&one.id, now, &settings) {
                Ok(planned) => Planned::Possible {
                    files: FilePatch::of(&planned),
                    demotes: planned.demoted().map(str::to_owned).collect(),
                },
                Err(error) => Planned::Refused {
                    refused: Why::of(&error),
                },
            };
            CandidateRow::of(one, &all, change)
        });
        Ok(DreamsView {
            workspace: self.workspace(),
            candidates: rows.collect(),
            unfinished: dreams.unfinished()?,
        })
    }

    /// What was promoted, and whether it can be taken back.
    pub fn promotions(&self) -> Result<Promotions> {
        let dreams = Dreams::new(self.state_dir, self.memory);
        let all = dreams.candidates()?;
        let recalls = dreams.recalls()?;
        let recalls = |candidate: &Candidate| recalls.of(candidate);
        let past = dreams.past(&self.config.dream_settings(&recalls))?;
        let changes = past.into_iter().map(|one| {
            let said = all.iter().find(|said| said.id == one.change.candidate);
            let possible = matches!(one.undoing, Undoing::Possible(_));
            let (undone_by, left, refused) = match one.undoing {
                Undoing::Possible(left) => (None, left, None),
                Undoing::Done(by) => (Some(by), Vec::new(), None),
                Undoing::Refused(error) => (None, Vec::new(), Some(Why::of(&error))),
            };
            Promotion {
                change: one.change.number,
                at: Millis(one.change.at.as_millisecond()).to_iso(),
                candidate: one.change.candidate,
                text: said.map(|said| said.wording().to_owned()),
                possible,
                undone_by,
                left: without_secrets(left),
                refused,
            }
        });
        Ok(Promotions {
            workspace: self.workspace(),
            changes: changes.collect(),
            unfinished: dreams.unfinished()?,
        })
    }
}

/// Lines of the memory as they are shown: without secrets.
pub fn without_secrets(left: Vec<Left>) -> Vec<Left> {
    let redactor = Redactor::default();
    let lines = left.into_iter().map(|line| Left {
        text: redactor.redact(&line.text).text,
        ..line
    });
    lines.collect()
}

impl Why {
    /// Why something of a memory cannot be done.
    pub fn of(error: &Error) -> Why {
        Why {
            message: Redactor::default().redact(&error.to_string()).text,
            remedy: error.remedy(),
        }
    }
}

impl FilePatch {
    /// What a change makes of each file.
    pub fn of(change: &Change) -> Vec<FilePatch> {
        let pages = change.pages.iter().map(|page| FilePatch {
            file: page.file.clone(),
            diff: patch(page),
        });
        pages.collect()
    }
}

fn patch(page: &PageChange) -> String {
    let (before, after) = page.shown();
    let lines = diff(&before, &after).into_iter().map(|line| {
        let (sign, text) = match line {
            DiffLine::Same(text) => (' ', text),
            DiffLine::Removed(text) => ('-', text),
            DiffLine::Added(text) => ('+', text),
            DiffLine::Gap => ('@', "@"),
        };
        format!("{sign}{}\n", text.trim_end_matches('\n'))
    });
    lines.collect()
}

impl CandidateRow {
    /// A mark of all that is shown of it.
    pub fn seen(&self) -> String {
        let shown = serde_json::to_string(self).unwrap_or_default();
        blake3::hash(shown.as_bytes()).to_hex()[..16].to_owned()
    }

    fn of(one: &Candidate, all: &[Candidate], change: Planned) -> CandidateRow {
        let replaced = one.in_place_of(all).into_iter().map(|old| Replaced {
            id: old.id.clone(),
            text: old.wording().to_owned(),
            valid_from: old.valid_from,
            valid_until: old.valid_until(),
        });
        let others = one.may_contradict().into_iter();
        let others = others.filter_map(|id| all.iter().find(|other| other.id == id));
        let beside = others.map(|other| Beside {
            id: other.id.clone(),
            text: other.wording().to_owned(),
            status: other.status.to_string(),
            valid_from: other.valid_from,
            last_said: other.last_day(),
        });
        CandidateRow {
            id: one.id.clone(),
            topic: one.topic,
            text: one.text.clone(),
            wording: one.wording.clone(),
            source: one.source,
            confidence: one.confidence,
            mentions: one.mentions(),
            verdict: one.verdict,
            days: one.days.clone(),
            valid_from: one.valid_from,
            replaces: one.replaces.clone(),
            in_place_of: replaced.collect(),
            contradicts: one.contradicts.clone(),
            beside: beside.collect(),
            backfilled: one.backfilled,
            needs_review: !one.may_go_unseen(),
            review: one.review,
            evidence: one.evidence.clone(),
            change,
        }
    }
}
