//! Private keys in base64, as kubeconfigs, variables of pipelines and `base64`
//! itself write them: what is encoded is the armour with the key in it.

use super::armour::opening;
use super::shape::decoded;
use super::vendors::{after_break, is_word_start};

/// What `-----BEGIN` and commercial SSH's `---- BEGIN` begin with in base64.
pub(super) const MARKS: [&str; 2] = ["LS0tLS1CRUdJTi", "LS0tLSBCRUdJTi"];

/// Where the key that begins at `at` ends. Certificates and public keys begin
/// the same, so the first line is read.
pub(super) fn private_key(bytes: &[u8], at: usize) -> Option<usize> {
    const HEAD: usize = 128;
    const LEAST: usize = 12;
    const LINES: usize = 1_024;
    let marked = MARKS
        .iter()
        .any(|mark| bytes[at..].starts_with(mark.as_bytes()));
    if !marked || !is_word_start(bytes, at) {
        return None;
    }
    let mut length = run(bytes, at);
    let mut text = bytes[at..at + length].to_vec();
    let (mut end, widest) = (at + length, length);
    // Prose names the first line without a key behind it.
    let opens = |text: &[u8]| {
        let head = decoded(whole(&text[..text.len().min(HEAD)]))?;
        (head.len() >= opening(&head)? + LEAST).then_some(())
    };
    for _ in 0..LINES {
        // So much is enough to tell a certificate, of which the rest is not read.
        if text.len() >= HEAD && text.len() < HEAD + widest {
            opens(&text)?;
        }
        // The last line is mostly shorter than the others.
        if length < widest || is_ended(&text) {
            break;
        }
        let Some(next) = after_break(bytes, end) else {
            break;
        };
        length = run(bytes, next);
        let alone = bytes
            .get(next + length)
            .is_none_or(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'\\' | b'`'));
        if length == 0 || length > widest || !alone {
            break;
        }
        text.extend_from_slice(&bytes[next..next + length]);
        end = next + length;
    }
    opens(&text)?;
    Some(end)
}

/// Whether the last line of the armour is there.
fn is_ended(text: &[u8]) -> bool {
    const LAST: usize = 32;
    if text.ends_with(b"=") {
        return true;
    }
    let text = whole(text);
    let last = decoded(&text[text.len().saturating_sub(LAST)..]).unwrap_or_default();
    last.trim_ascii_end().ends_with(b"KEY-----")
}

/// The text up to the last of its characters that can be read together.
fn whole(text: &[u8]) -> &[u8] {
    &text[..text.len() / 4 * 4]
}

fn run(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.iter()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
        .count()
}
