//! Checkpoints as YAML, sealed by a checksum.
//!
//! The schema has no place for a checksum, so it stands in a comment on the
//! last line and covers every byte before it: any YAML reader skips it, and a
//! file that was cut short or edited is told from one that was not.

use longhaul_ledger::ours::CHECKPOINT_FILE;
use serde::{Deserialize, Serialize, Serializer};
use serde_saphyr::ser_options;

use crate::Flaw;
use crate::schema::{Checkpoint, Meta, Resources, TakenDecision, Thread, Working};
use crate::text::quoted;

const SCHEMA: &str = "openclaw/checkpoint";
const VERSION: u32 = 1;
const SEAL: &str = "# blake3: ";
/// No checkpoint of ours comes near; a larger text is not read at all.
pub(crate) const MAX_BYTES: u64 = 4 << 20;

/// Whether a document must carry its checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// As every file of ours does.
    Required,
    /// Checked if it is there: for documents of other programs.
    Optional,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    schema: String,
    schema_version: u32,
    meta: Meta,
    working: Working,
    decisions: Vec<TakenDecision>,
    resources: Resources,
    thread: Thread,
    open_items: Vec<String>,
    learnings: Vec<String>,
}

/// What tells a newer version from nonsense.
#[derive(Deserialize)]
struct Head {
    schema: String,
    schema_version: u32,
}

impl Checkpoint {
    /// The document, with its checksum.
    pub fn to_yaml(&self) -> String {
        let mut out = String::with_capacity(8 * 1024);
        out.push_str(CHECKPOINT_FILE);
        out.push('\n');
        section(
            &mut out,
            None,
            "schema",
            &serde_saphyr::DoubleQuoted(SCHEMA),
        );
        section(&mut out, None, "schema_version", &VERSION);
        section(&mut out, Some("METADATA"), "meta", &self.meta);
        section(&mut out, Some("WORKING STATE"), "working", &self.working);
        section(&mut out, Some("DECISIONS"), "decisions", &self.decisions);
        section(&mut out, Some("RESOURCES"), "resources", &self.resources);
        section(&mut out, Some("THREAD"), "thread", &self.thread);
        section(
            &mut out,
            Some("OPEN ITEMS"),
            "open_items",
            &style::QuotedList(&self.open_items),
        );
        section(
            &mut out,
            Some("LEARNINGS"),
            "learnings",
            &style::QuotedList(&self.learnings),
        );
        seal(out)
    }

    /// Reads a document and checks its checksum, its schema and its values.
    pub fn from_yaml(text: &str, wanted: Seal) -> Result<Checkpoint, Flaw> {
        if text.len() as u64 > MAX_BYTES {
            return Err(Flaw::new(format!(
                "{} bytes; a checkpoint has at most {MAX_BYTES}",
                text.len()
            )));
        }
        match (unseal(text)?, wanted) {
            (true, _) | (false, Seal::Optional) => {}
            (false, Seal::Required) => {
                return Err(and_worse(
                    text,
                    "the checksum on the last line is missing: it was cut short or edited",
                ));
            }
        }
        let document: Document = match serde_saphyr::from_str(text) {
            Ok(document) => document,
            Err(error) => {
                if let Ok(head) = serde_saphyr::from_str::<Head>(text) {
                    known(&head.schema, head.schema_version)?;
                }
                return Err(flaw_of(&error));
            }
        };
        known(&document.schema, document.schema_version)?;
        let checkpoint = Checkpoint {
            meta: document.meta,
            working: document.working,
            decisions: document.decisions,
            resources: document.resources,
            thread: document.thread,
            open_items: document.open_items,
            learnings: document.learnings,
        };
        checkpoint.check()?;
        Ok(checkpoint)
    }

    /// What the types do not say.
    fn check(&self) -> Result<(), Flaw> {
        let meta = &self.meta;
        if longhaul_transcript::Millis::parse_iso(&meta.created_at).is_none() {
            return Err(Flaw::new(format!(
                "meta.created_at: {} is not a time",
                quoted(&meta.created_at)
            )));
        }
        if !(meta.token_usage.utilization.is_finite() && meta.token_usage.utilization >= 0.0) {
            return Err(Flaw::new(format!(
                "meta.token_usage.utilization: {} is not a share",
                meta.token_usage.utilization
            )));
        }
        if let Some(previous) = meta.previous_checkpoint
            && previous >= meta.checkpoint_id
        {
            return Err(Flaw::new(format!(
                "meta.previous_checkpoint: {previous} does not come before {}",
                meta.checkpoint_id
            )));
        }
        Ok(())
    }
}

fn known(schema: &str, version: u32) -> Result<(), Flaw> {
    if schema != SCHEMA {
        return Err(Flaw::new(format!(
            "schema: {} is not {SCHEMA}",
            quoted(schema)
        )));
    }
    if version != VERSION {
        return Err(Flaw::new(format!(
            "schema_version: {version} is not {VERSION}, the version this program knows"
        )));
    }
    Ok(())
}

/// A map of one key.
struct Entry<'a, T: ?Sized>(&'static str, &'a T);

impl<T: Serialize + ?Sized> Serialize for Entry<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

fn section<T: Serialize + ?Sized>(
    out: &mut String,
    title: Option<&str>,
    key: &'static str,
    value: &T,
) {
    if let Some(title) = title {
        out.push_str("\n# --- ");
        out.push_str(title);
        out.push(' ');
        out.extend(std::iter::repeat_n(
            '-',
            56_usize.saturating_sub(title.len()),
        ));
        out.push('\n');
    }
    let options = ser_options! { compact_list_indent: false };
    serde_saphyr::to_fmt_writer_with_options(out, &Entry(key, value), options)
        .expect("strings, numbers and lists of them are always YAML, and a String takes all");
}

fn seal(mut text: String) -> String {
    let sum = blake3::hash(text.as_bytes()).to_hex();
    text.push_str(SEAL);
    text.push_str(sum.as_str());
    text.push('\n');
    text
}

/// Whether there is a checksum; an error if it is not that of the text.
fn unseal(text: &str) -> Result<bool, Flaw> {
    // The only place of a seal is the last line, so that text which looks like
    // one inside a block scalar is text.
    let body = text.strip_suffix('\n').unwrap_or(text);
    let start = body.rfind('\n').map_or(0, |at| at + 1);
    let Some(sum) = body[start..].strip_prefix(SEAL) else {
        return Ok(false);
    };
    let whole = text.ends_with('\n');
    if whole && sum == blake3::hash(&text.as_bytes()[..start]).to_hex().as_str() {
        return Ok(true);
    }
    Err(and_worse(
        &text[..start],
        "the checksum on the last line is not that of the text: it was edited or damaged after \
         it was written",
    ))
}

/// A complaint about the checksum, after what is wrong with the text besides,
/// which says more about a damaged file.
fn and_worse(text: &str, complaint: &str) -> Flaw {
    match serde_saphyr::from_str::<Document>(text) {
        Ok(_) => Flaw::new(complaint),
        Err(error) => {
            let flaw = flaw_of(&error);
            Flaw {
                reason: format!("{}; {complaint}", flaw.reason),
                ..flaw
            }
        }
    }
}

fn flaw_of(error: &serde_saphyr::Error) -> Flaw {
    let line = error.location().map(|location| location.line());
    let text = error.without_snippet().to_string();
    // The place is told apart; the parser repeats it at the end.
    let reason = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(text, _)| text)
        .to_owned();
    match line {
        Some(line) => Flaw::at(line, reason),
        None => Flaw::new(reason),
    }
}

/// How values are spelled: free text in literal blocks, names in quotes.
pub(crate) mod style {
    use longhaul_transcript::SessionKey;
    use serde::{Serialize, Serializer};
    use serde_saphyr::{DoubleQuoted, LitStr};

    /// Free text as a literal block; what a block cannot say exactly, in quotes.
    pub(crate) fn block<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        if fits_a_block(text) {
            LitStr(text).serialize(serializer)
        } else {
            DoubleQuoted(text).serialize(serializer)
        }
    }

    pub(crate) fn quoted<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
        DoubleQuoted(text).serialize(serializer)
    }

    pub(crate) fn quoted_key<S: Serializer>(
        key: &SessionKey,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        DoubleQuoted(key.as_str()).serialize(serializer)
    }

    pub(crate) fn quoted_or_null<S: Serializer>(
        text: &Option<String>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_deref().map(DoubleQuoted).serialize(serializer)
    }

    pub(crate) fn quoted_list<S: Serializer>(
        list: &[String],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        QuotedList(list).serialize(serializer)
    }

    /// Items of a list in quotes, those of several lines as blocks.
    pub(crate) struct QuotedList<'a>(pub(crate) &'a [String]);

    impl Serialize for QuotedList<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_seq(self.0.iter().map(|text| Item(text)))
        }
    }

    struct Item<'a>(&'a str);

    impl Serialize for Item<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.0.contains('\n') {
                true => block(self.0, serializer),
                false => quoted(self.0, serializer),
            }
        }
    }

    /// Whether a literal block says the text exactly, to every reader: no
    /// space at the ends, where indentation and chomping are decided; nothing
    /// that YAML 1.1 takes for a line end or 1.2 for unprintable.
    fn fits_a_block(text: &str) -> bool {
        !text.is_empty()
            && !text.starts_with(char::is_whitespace)
            && !text.ends_with(char::is_whitespace)
            && text.chars().all(|c| match c {
                '\n' | '\t' => true,
                '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
                c => !c.is_control(),
            })
    }
}
