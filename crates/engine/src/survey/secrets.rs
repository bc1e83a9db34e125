//! What a session's file shows of secrets, read once.
//!
//! Looking for secrets takes time in a long file, so it is kept which of its
//! lines showed one and how far it was read. The next process reads those lines
//! again and what has come since.

use std::ops::ControlFlow;

use longhaul_redact::{Document, Redactor, rules_version};
use longhaul_transcript::{Result, Session};
use serde::{Deserialize, Serialize};

use super::store::Store;
use super::{Keep, STRETCH};

const PART: &str = "secrets";

/// Where a file shows secrets.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Shown {
    /// Where the lines begin that showed something new.
    lines: Vec<u64>,
}

/// A redactor that knows every secret in the file.
pub(crate) fn redactor(session: &Session, keep: &Keep) -> Result<Redactor> {
    let (redactor, _) = read(session, keep)?;
    Ok(redactor)
}

/// Shows a document every secret that an entry of a session gives away, so that
/// it is known in the others, earlier ones included. Only its value is there to
/// be known by: "I logged in with …".
pub(crate) fn teach(session: &Session, keep: &Keep, document: &mut Document<'_>) -> Result<()> {
    if !session.is_one_file() {
        return read_all(session, document);
    }
    let (_, shown) = read(session, keep)?;
    show(session, &shown, document)
}

/// Shows a document the lines that show something.
fn show(session: &Session, shown: &Shown, document: &mut Document<'_>) -> Result<()> {
    for offset in &shown.lines {
        session.records_from(*offset, &mut |record| {
            if record.place.offset > *offset {
                return ControlFlow::Break(());
            }
            document.json(record.text);
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}

fn read(session: &Session, keep: &Keep) -> Result<(Redactor, Shown)> {
    let empty = Redactor::default();
    let mut document = empty.document();
    if !session.is_one_file() {
        read_all(session, &mut document)?;
        return Ok((document.into_redactor(), Shown::default()));
    }
    let store = keep.store(session);
    let form = format!("secrets {}", rules_version());
    let kept = |store: &Store| store.kept::<Shown>(session, PART, &form).ok()?;
    let (from, mut shown) = store.as_ref().and_then(kept).unwrap_or_default();
    // Without what is kept the next process takes longer, no more.
    let note = |upto: u64, shown: &Shown| {
        if let Some(store) = &store {
            let _ = store.keep(session, PART, &form, upto, shown);
        }
    };
    show(session, &shown, &mut document)?;
    let mut noted = from;
    let mut last = from;
    session.records_from(from, &mut |record| {
        let offset = record.place.offset;
        if offset >= noted + STRETCH / 4 {
            noted = offset;
            note(offset, &shown);
        }
        let before = document.learnt();
        document.json(record.text);
        if document.learnt() > before && shown.lines.last() != Some(&offset) {
            shown.lines.push(offset);
        }
        last = offset;
        ControlFlow::Continue(())
    })?;
    if last > noted {
        // The last line may not be whole yet, so it is read again.
        let mut before = shown.clone();
        before.lines.retain(|line| *line < last);
        note(last, &before);
    }
    Ok((document.into_redactor(), shown))
}

/// Reads what is not one file, the archive beside it first.
fn read_all(session: &Session, document: &mut Document<'_>) -> Result<()> {
    session.each_ever(&mut |entry| {
        document.json(entry.raw());
        ControlFlow::Continue(())
    })?;
    Ok(())
}
