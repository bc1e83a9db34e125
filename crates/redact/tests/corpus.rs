//! Real sessions, where they lie beside the project: what redaction takes for
//! a secret there.
#![allow(missing_docs, clippy::disallowed_methods, clippy::unwrap_used)]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use longhaul_redact::Redactor;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.to_string_lossy().contains(".json") {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> String {
    let mut bytes = fs::read(path).unwrap();
    if path.extension().is_some_and(|end| end == "gz") {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(&bytes[..])
            .read_to_end(&mut text)
            .unwrap();
        bytes = text;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `LONGHAUL_LONG=1 cargo test -p longhaul-redact --test corpus -- --nocapture`
/// prints every place.
#[test]
fn real_sessions_lose_next_to_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if !folder.is_dir() {
        eprintln!("skipped: no corpus beside the project");
        return;
    }
    let long = std::env::var_os("LONGHAUL_LONG").is_some();
    let mut paths = Vec::new();
    files(&folder, &mut paths);
    paths.sort();
    let redactor = Redactor::default();
    let (mut bytes, mut all) = (0, 0);
    let mut kinds = std::collections::BTreeMap::new();
    for path in paths {
        let text = read(&path);
        bytes += text.len();
        let mut document = redactor.document();
        for line in text.lines() {
            let before = document.tally().total();
            let redacted = document.json(line);
            if long && document.tally().total() > before {
                show(&path, line, &redacted);
            }
        }
        let tally = document.tally();
        all += tally.total();
        for (kind, count) in tally.rows() {
            *kinds.entry(kind).or_insert(0) += count;
        }
    }
    let megabytes = bytes as f64 / 1e6;
    for (kind, count) in &kinds {
        println!(
            "{kind:<20} {count:>6} {:>8.3} a MB",
            *count as f64 / megabytes
        );
    }
    println!("{all} in {megabytes:.1} MB");
    assert!((all as f64) < 2.0 * megabytes, "{all} in {megabytes} MB");
}

/// Each place with what stands around it.
fn show(path: &Path, line: &str, redacted: &str) {
    let name = path.file_name().unwrap().to_string_lossy();
    for (at, _) in redacted.match_indices("[redacted:").take(6) {
        let from = (0..=at.saturating_sub(60))
            .rev()
            .find(|n| redacted.is_char_boundary(*n));
        let before = &redacted[from.unwrap_or(0)..at];
        let rest: String = redacted[at..].chars().take(60).collect();
        let key: String = before
            .chars()
            .rev()
            .take(16)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect();
        let source = line.find(&key).map_or_else(String::new, |place| {
            line[place + key.len()..].chars().take(60).collect()
        });
        println!("{name}: …{before}{rest}… was …{source}");
    }
}
