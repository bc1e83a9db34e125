//! The ledger as a compaction entry carries it.
//!
//! A session opens at the cost of what it keeps because its latest compaction
//! holds the ledger of all before it. In a long session that is much text, and
//! every compaction has it again; so it is packed.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use longhaul_ledger::Ledger;
use longhaul_redact::Document;
use serde_json::{Value, json};

/// A smaller one is left as it is, to be read by people.
const SMALL: usize = 8 * 1024;
/// More than any ledger has within its caps.
const MOST: usize = 64 << 20;
const PACKED: &str = "zstd:";
/// The quickest that still makes a tenth of it.
const LEVEL: i32 = 3;

/// The ledger for an entry's details.
pub(crate) fn pack(ledger: &Ledger) -> Value {
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

fn unpacked(text: &str) -> Option<String> {
    let packed = STANDARD.decode(text.strip_prefix(PACKED)?).ok()?;
    let bytes = zstd::bulk::decompress(&packed, MOST).ok()?;
    String::from_utf8(bytes).ok()
}

/// The line of an entry without secrets, those included that its packed ledger
/// holds, which nothing that reads the line as text would see.
pub(crate) fn redacted<'t>(line: &'t str, document: &mut Document<'_>) -> Cow<'t, str> {
    let mut out = String::new();
    let mut from = 0;
    for (at, _) in line.match_indices(&format!("\"{PACKED}")) {
        let inner = at + 1;
        let Some(length) = line[inner..].find('"') else {
            continue;
        };
        let Some(ledger) = unpacked(&line[inner..inner + length]) else {
            continue;
        };
        if let Cow::Owned(clean) = document.json(&ledger)
            && let Some(packed) = packed(&clean)
        {
            out.push_str(&line[from..inner]);
            out.push_str(&packed);
            from = inner + length;
        }
    }
    if from == 0 {
        return document.json(line);
    }
    out.push_str(&line[from..]);
    Cow::Owned(document.json(&out).into_owned())
}

/// The ledger from an entry's details, as the JSON that stands there.
pub(super) fn unpack(raw: &str) -> Option<Ledger> {
    let ledger: Ledger = match raw.starts_with('"') {
        true => {
            let text: String = serde_json::from_str(raw).ok()?;
            serde_json::from_str(&unpacked(&text)?).ok()?
        }
        false => serde_json::from_str(raw).ok()?,
    };
    // One of an older form is folded anew.
    (ledger.version == Ledger::VERSION).then_some(ledger)
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
            let back = unpack(&packed).unwrap();
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
        assert_eq!(
            serde_json::to_string(&unpack(&plain).unwrap()).unwrap(),
            plain
        );
        for nonsense in ["\"zstd:\"", "\"zstd:AAAA\"", "\"other\"", "\"\"", "7", ""] {
            assert!(unpack(nonsense).is_none(), "{nonsense}");
        }
    }
}
