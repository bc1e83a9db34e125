//! Writing an export.

use std::borrow::Cow;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use longhaul_checkpoint::{Checkpoint, CheckpointId, CheckpointStore, Policy, Trigger, Turn};
use longhaul_memory::Seal;
use longhaul_redact::{Document, Redactor, Tally};
use longhaul_tokens::{Tokens, Window};
use longhaul_transcript::json::Object;
use longhaul_transcript::{Millis, Session, each_line_of_path};
use serde_json::{Value, json};

use super::{Result, SCHEMA, SEALED, VERSION};
use crate::checkpoints::{Occasion, Whose, draft};
use crate::config::Config;
use crate::live::{Live, redacted};
use crate::measure::Meter;
use crate::survey::Keep;

/// What the user's words take in a hand-off.
const CONSTRAINTS: Tokens = Tokens(2_000);

/// What the caller knows and a session does not.
#[derive(Debug, Clone)]
pub struct At<'a> {
    /// The time now.
    pub time: Millis,
    /// The window it is measured against.
    pub window: &'a Window,
    /// Tokens in its context.
    pub tokens: Tokens,
    /// The model, where it is known.
    pub model: Option<String>,
    /// What is configured.
    pub config: &'a Config,
    /// Where our own files lie.
    pub state_dir: &'a Path,
}

/// Whether secrets are taken out.
#[derive(Debug, Clone, Copy)]
pub enum Secrets<'a> {
    /// They are replaced.
    Redact(&'a Redactor),
    /// They stay.
    Keep,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Entries of the path.
    pub entries: u64,
    /// Summaries of compactions on it.
    pub summaries: u64,
    /// Bytes of the document.
    pub bytes: u64,
    /// The checkpoint: stored, or made for this.
    pub checkpoint: CheckpointId,
    /// Whether it was stored.
    pub stored: bool,
    /// What was taken out; nothing where secrets were kept.
    pub redacted: Option<Tally>,
    /// Damaged places of the session that are not in it.
    pub faults: u64,
}

/// A session, ready to be exported or handed over.
pub struct Source<'a> {
    session: &'a Session,
    live: Live,
    /// The state of the work.
    pub checkpoint: Checkpoint,
    /// Whether a store had it; else it was made now.
    pub stored: bool,
    /// Newer checkpoints that are damaged.
    pub passed_over: Vec<longhaul_checkpoint::Error>,
    summary: String,
    constraints: Vec<String>,
    at: At<'a>,
    seal: Option<Seal>,
}

impl<'a> Source<'a> {
    /// The same, sealed when it is written, so that this installation knows it
    /// again.
    #[must_use]
    pub fn sealed(self, seal: Option<Seal>) -> Source<'a> {
        Source { seal, ..self }
    }

    /// Reads what is needed: the ledger, the newest checkpoint or, if that does
    /// not say what the work is now, one that does, and a summary of all that
    /// the context holds.
    pub fn gather(
        session: &'a Session,
        store: &dyn CheckpointStore,
        meter: &Meter,
        at: At<'a>,
    ) -> Result<Source<'a>> {
        let (config, keep) = (at.config, Keep::of(session, at.config, at.state_dir));
        let live = Live::open_with(session, config.state_capture(), &keep)?;
        let whose = Whose {
            channel: String::new(),
            agent: session.format().agent().to_owned(),
            ..Whose::of(session)
        };
        let latest = store.latest(&whose.key)?;
        let occasion = Occasion {
            at: at.time,
            trigger: Trigger::Manual,
            tokens: at.tokens,
            window: at.window.size(),
            turn: Turn::Whole,
        };
        let now = draft(&live, &whose, &occasion);
        // Whether the context has grown does not matter, only what the work is.
        let any_size = Policy {
            minimum_change_percent: 1e12,
            ..Policy::default()
        };
        // A session goes on after its newest checkpoint.
        let current = latest.checkpoint.as_ref().is_some_and(|last| {
            last.meta.session_file == now.session_file() && now.repeats(last, &any_size)
        });
        let (checkpoint, stored) = match latest.checkpoint {
            Some(last) if current => (last, true),
            Some(last) => {
                let id = last.meta.checkpoint_id;
                (now.numbered(id.next(), Some(id)), false)
            }
            None => (now.numbered(CheckpointId::FIRST, None), false),
        };
        let pins = live.pins();
        let work = live.work(&pins, meter.estimator());
        let summary = work.summary_of_all(at.window, &config.compaction.summary);
        let counter = meter.estimator().counter();
        Ok(Source {
            constraints: longhaul_checkpoint::constraints(live.ledger(), CONSTRAINTS, counter),
            session,
            live,
            checkpoint,
            stored,
            passed_over: latest.passed_over,
            summary,
            at,
            seal: None,
        })
    }

    /// The user's words within a cap, behind those that came with the work.
    pub fn constraints(&self) -> &[String] {
        &self.constraints
    }

    /// Shows a document every secret of the path.
    pub(crate) fn learn_secrets(&self, document: &mut Document<'_>) -> Result<()> {
        each_line_of_path(self.session, &mut |line| {
            redacted(line, document);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Writes the document.
    pub fn write(&self, secrets: Secrets<'_>, out: &mut dyn Write) -> Result<Report> {
        let mut out = Counting {
            out,
            bytes: 0,
            hasher: blake3::Hasher::new(),
        };
        let mut document = match secrets {
            Secrets::Redact(redactor) => Some(redactor.document()),
            Secrets::Keep => None,
        };
        // The first reading learns every secret, so that the second replaces
        // them also before the place that gives them away.
        if let Some(document) = &mut document {
            self.learn_secrets(document)?;
            self.head(Some(document), &[])?;
            document.restart();
        }
        let summaries = self.summaries()?;
        let head = self.head(document.as_mut(), &summaries)?;
        let mut failure = None;
        let mut write = |text: &str, out: &mut Counting<'_>| match out.write_all(text.as_bytes()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failure = Some(error);
                ControlFlow::Break(())
            }
        };
        let _ = write(&head, &mut out);
        let mut between = "\n";
        let copied = each_line_of_path(self.session, &mut |line| {
            let line = match &mut document {
                Some(document) => redacted(line, document),
                None => Cow::Borrowed(line),
            };
            let text = format!("{between}{line}");
            between = ",\n";
            write(&text, &mut out)
        })?;
        let tally = document.as_ref().map(Document::tally);
        let end = format!("\n],\n\"redacted\": {}", json!(tally));
        let _ = write(&end, &mut out);
        let seal = self.seal.as_ref();
        let end = match seal.map(|seal| seal.of_document(&out.hasher.finalize())) {
            Some(seal) => format!("{SEALED}{}\n}}\n", json!(seal)),
            None => "\n}\n".to_owned(),
        };
        let _ = write(&end, &mut out);
        if let Some(error) = failure {
            let failed = longhaul_files::Error::io("write", Path::new("the export"))(error);
            return Err(longhaul_transcript::Error::from(failed).into());
        }
        Ok(Report {
            entries: copied.entries,
            summaries: summaries.len() as u64,
            bytes: out.bytes,
            checkpoint: self.checkpoint.meta.checkpoint_id,
            stored: self.stored,
            redacted: tally,
            faults: copied.faults,
        })
    }

    /// The summaries of the path's compactions, oldest first.
    fn summaries(&self) -> Result<Vec<Value>> {
        let mut summaries = Vec::new();
        each_line_of_path(self.session, &mut |line| {
            if let Ok(object) = Object::parse(line)
                && object.str("type").as_deref() == Some("compaction")
            {
                summaries.push(json!({
                    "entry": object.str("id"),
                    "time": object.str("timestamp"),
                    "tokensBefore": object.u64("tokensBefore"),
                    "text": object.str("summary"),
                }));
            }
            ControlFlow::Continue(())
        })?;
        Ok(summaries)
    }

    /// Everything before the path, each member in its line.
    fn head(&self, mut document: Option<&mut Document<'_>>, summaries: &[Value]) -> Result<String> {
        let header = self.session.header();
        let loaded = self.live.loaded();
        let settings = &loaded.settings;
        let mut checkpoint = self.checkpoint.clone();
        if let Some(document) = document.as_deref_mut() {
            for text in checkpoint.texts_mut() {
                *text = document.text(text).into_owned();
            }
        }
        let session = json!({
            "id": header.id,
            "key": self.session.key(),
            "agent": self.session.format().agent(),
            "format": self.session.format(),
            "path": self.session.path().to_string_lossy(),
            "workspace": header.cwd.as_ref().map(|cwd| cwd.to_string_lossy()),
            "started": header.time.map(|time| time.to_iso()),
            "parentSession": header.parent_session,
            "compactions": self.live.epoch(),
            "leaf": loaded.leaf().map(|entry| entry.id.as_str()),
        });
        let in_force = json!({
            "model": settings.model.as_ref().map(|model| model.model_id.as_str()).or(self.at.model.as_deref()),
            "provider": settings.model.as_ref().map(|model| model.provider.as_str()),
            "thinkingLevel": settings.thinking_level,
            "window": self.at.window.size(),
            "tokens": self.at.tokens,
            "config": self.at.config,
        });
        let ledger = serde_json::to_value(self.live.ledger()).unwrap_or(Value::Null);
        let mut text = format!(
            "{{\n\"schema\": {},\n\"version\": {VERSION},\n\"createdAt\": {},\n\"generator\": {}",
            json!(SCHEMA),
            json!(self.at.time.to_iso()),
            json!(concat!("longhaul ", env!("CARGO_PKG_VERSION"))),
        );
        let checkpoint = json!({ "stored": self.stored, "yaml": checkpoint.to_yaml() });
        for (name, value, clean) in [
            // Names and folders; an id is no secret, however random it looks.
            ("session", session, true),
            ("settings", in_force, false),
            ("summary", json!(self.summary), false),
            ("summaries", json!(summaries), false),
            // Redacted before it was sealed.
            ("checkpoint", checkpoint, true),
            ("ledger", ledger, false),
        ] {
            let value = value.to_string();
            let value = match document.as_deref_mut() {
                Some(document) if !clean => document.json(&value).into_owned(),
                _ => value,
            };
            text.push_str(&format!(",\n{}: {value}", json!(name)));
        }
        text.push_str(",\n\"path\": [");
        Ok(text)
    }
}

struct Counting<'a> {
    out: &'a mut dyn Write,
    bytes: u64,
    hasher: blake3::Hasher,
}

impl Write for Counting<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
