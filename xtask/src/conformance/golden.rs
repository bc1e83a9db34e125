//! Whether the programs still make the golden files of the tests.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::Result;
use crate::paths;

/// Compares freshly made files with the stored ones, byte for byte.
pub(super) fn compare(made: &Path, stored: &Path, with_openclaw: bool) -> Result<Vec<String>> {
    let wanted = |name: &str| {
        (name.ends_with(".jsonl") || name.ends_with(".golden.json"))
            && (with_openclaw || !name.starts_with("openclaw-"))
    };
    let mut names = BTreeSet::new();
    for folder in [made, stored] {
        names.extend(
            paths::files(folder, wanted)?
                .iter()
                .map(|file| paths::name(file)),
        );
    }
    let mut wrong = Vec::new();
    for name in &names {
        let (new, old) = (fs::read(made.join(name)), fs::read(stored.join(name)));
        match (new, old) {
            (Ok(new), Ok(old)) if new == old => {}
            (Ok(new), Ok(old)) => wrong.push(format!(
                "golden/{name}: byte {} differs",
                new.iter().zip(&old).take_while(|(a, b)| a == b).count()
            )),
            (Ok(_), Err(_)) => wrong.push(format!("golden/{name}: is not stored")),
            (Err(_), _) => wrong.push(format!("golden/{name}: is no longer made")),
        }
    }
    println!(
        "golden files made again: {} of {} the same bytes",
        names.len() - wrong.len(),
        names.len()
    );
    Ok(wrong)
}
