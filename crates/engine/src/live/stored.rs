//! The ledger as a compaction entry carries it.
//!
//! A session opens at the cost of what it keeps because its latest compaction
//! holds the ledger of all before it. In a long session that is much text, and
//! every compaction has it again; so it is packed.

use std::borrow::Cow;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhaul_ledger::Ledger;
use longhaul_redact::Document;
use longhaul_transcript::json::{Object, string, with_field};
use serde_json::{Value, json};

/// A smaller one is left as it is, to be read by people.
const SMALL: usize = 8 * 1024;
const PACKED: &str = "zstd:";
/// The quickest that still makes a tenth of it.
const LEVEL: i32 = 3;

/// The ledger for an entry's details.
pub(super) fn pack(ledger: &Ledger) -> Value {
    let text = serde_json::to_string(ledger).unwrap_or_default();
    if text.len() > SMALL
        && let Some(packed) = packed(&text)
    {
        return Value::String(packed);
    }
    serde_json::from_str(&text).unwrap_or_else(|_| json!(null))
}

fn packed(text: &str) -> Option<String> {
    let packed = zstd::bulk::compress(text.as_bytes(), LEVEL).ok()?;
    Some(format!("{PACKED}{}", STANDARD.encode(packed)))
}

fn unpacked(text: &str) -> io::Result<String> {
    let packed = text.strip_prefix(PACKED).unwrap_or_default();
    let packed = STANDARD.decode(packed).map_err(io::Error::other)?;
    String::from_utf8(longhaul_files::unpack(&packed)?).map_err(io::Error::other)
}

/// The line of an entry without secrets, those included that its packed ledger
/// holds, which nothing that reads the line as text would see. A ledger that
/// cannot be looked into is left out.
pub(crate) fn redacted<'t>(line: &'t str, document: &mut Document<'_>) -> Cow<'t, str> {
    let Some(clean) = with_clean_ledger(line, document) else {
        return document.json(line);
    };
    Cow::Owned(document.json(&clean).into_owned())
}

fn with_clean_ledger(line: &str, document: &mut Document<'_>) -> Option<String> {
    if !line.contains(PACKED) {
        return None;
    }
    let entry = Object::parse(line).ok()?;
    let details = entry.object("details")?;
    let ledger = details
        .str("ledger")
        .filter(|text| text.starts_with(PACKED))?;
    let clean = match unpacked(&ledger) {
        Ok(ledger) => match document.json(&ledger) {
            Cow::Borrowed(_) => return None,
            Cow::Owned(clean) => packed(&clean).map(Value::String),
        },
        Err(_) => None,
    };
    let ledger = clean.unwrap_or(Value::Null).to_string();
    let details = with_field(&details, "ledger", &ledger);
    Some(with_field(&entry, "details", &details))
}

/// The ledger from an entry's details, as the JSON that stands there; one of an
/// older form is folded anew.
pub(super) fn unpack(raw: &str) -> io::Result<Option<Ledger>> {
    let ledger: Option<Ledger> = match string(raw) {
        Some(text) => serde_json::from_str(&unpacked(&text)?).ok(),
        None => serde_json::from_str(raw).ok(),
    };
    Ok(ledger.filter(|ledger| ledger.version == Ledger::VERSION))
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::{Draft, EntryId, Millis, Stamp};

    use super::*;

    fn ledger(requests: usize) -> Ledger {
        let mut ledger = Ledger::new(None);
        for at in 0..requests {
            let stamp = Stamp {
                id: EntryId::new(format!("{at:08x}")),
                time: Millis(at as i64),
            };
            let said = format!("Never touch file number {at}, and always tell me about it.");
            ledger.observe(&Draft::user(&said, stamp.time).to_entry(&stamp, None));
        }
        ledger
    }

    #[test]
    fn what_is_packed_comes_back_and_takes_a_fraction_of_the_room() {
        for requests in [0, 3, 500] {
            let ledger = ledger(requests);
            let packed = pack(&ledger).to_string();
            let plain = serde_json::to_string(&ledger).unwrap();
            let back = unpack(&packed).unwrap().unwrap();
            assert_eq!(serde_json::to_string(&back).unwrap(), plain);
            if requests == 500 {
                assert!(packed.len() * 4 < plain.len(), "{}", packed.len());
            }
        }
    }

    #[test]
    fn what_older_versions_wrote_is_read_and_nonsense_is_not() {
        let ledger = ledger(500);
        let plain = serde_json::to_string(&ledger).unwrap();
        let read = unpack(&plain).unwrap().unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), plain);
        for nonsense in ["\"zstd:\"", "\"zstd:AAAA\"", "\"other\"", "\"\"", "7", ""] {
            assert!(!matches!(unpack(nonsense), Ok(Some(_))), "{nonsense}");
        }
    }

    /// What cannot be looked into is not handed on, since others might.
    #[test]
    fn a_ledger_made_to_fill_memory_leaves_the_line_and_is_a_fault() {
        let bomb = format!("\"{}\"", "a".repeat(65 << 20));
        let bomb = packed(&bomb).unwrap();
        let error = unpack(&format!("\"{bomb}\"")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        let line = format!(r#"{{"type":"compaction","details":{{"epoch":1,"ledger":"{bomb}"}}}}"#);
        let redactor = longhaul_redact::Redactor::default();
        let mut document = redactor.document();
        let clean = redacted(&line, &mut document);
        assert_eq!(
            clean,
            r#"{"type":"compaction","details":{"epoch":1,"ledger":null}}"#
        );
    }
}
