//! Session keys as folder names: no two keys share one.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The name a session goes by: `agent:main:main`, `telegram:user123`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionKey(String);

/// Longest readable part of a folder name.
const MAX_READABLE: usize = 80;

/// Names that Windows gives a meaning of its own.
const RESERVED: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

impl SessionKey {
    /// Takes any text as a key.
    pub fn new(key: impl Into<String>) -> Self {
        SessionKey(key.into())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The folder's name: the key with `[^A-Za-z0-9._-]` replaced by `_`, and a
    /// short hash of the key when that loses anything. On file systems that
    /// ignore case `Main` and `main` would be one folder, so a capital letter
    /// counts as a loss too.
    pub fn folder_name(&self) -> String {
        let readable: String = self
            .0
            .chars()
            .enumerate()
            .map(|(at, c)| match c {
                'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '-' => c,
                // A leading dot would hide the folder, or name another one.
                '.' if at > 0 => c,
                _ => '_',
            })
            .take(MAX_READABLE)
            .collect();
        let lossy = readable != self.0
            || readable.bytes().any(|byte| byte.is_ascii_uppercase())
            || readable.ends_with('.')
            || is_reserved(&readable)
            || has_hash_suffix(&readable);
        if lossy {
            format!("{readable}-{}", short_hash(&self.0))
        } else {
            readable
        }
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

const HASH_DIGITS: usize = 10;

fn short_hash(key: &str) -> String {
    blake3::hash(key.as_bytes()).to_hex()[..HASH_DIGITS].to_owned()
}

/// A plain key that looks like a hashed one gets a hash too, so that it cannot
/// be another key's folder.
fn has_hash_suffix(name: &str) -> bool {
    name.rsplit_once('-').is_some_and(|(_, tail)| {
        tail.len() == HASH_DIGITS && tail.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    name.is_empty() || RESERVED.contains(&stem)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn name(key: &str) -> String {
        SessionKey::new(key).folder_name()
    }

    #[test]
    fn plain_keys_are_their_own_names() {
        assert_eq!(name("main"), "main");
        assert_eq!(name("web-2.b_c"), "web-2.b_c");
    }

    #[test]
    fn keys_that_sanitise_alike_do_not_share_a_folder() {
        let names: Vec<String> = [
            "a:b", "a_b", "A_b", "a/b", "a b", "con", "..", ".", "", "com1.x",
        ]
        .iter()
        .map(|key| name(key))
        .collect();
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        assert_eq!(names[1], "a_b");
        assert!(names[0].starts_with("a_b-"));
    }

    proptest! {
        #[test]
        fn different_keys_have_different_folders(keys in prop::collection::vec("[aAb:_./-]{0,6}|.{0,100}", 2..20)) {
            let mut seen: HashMap<String, String> = HashMap::new();
            for key in keys {
                let folder = name(&key).to_lowercase();
                prop_assert!(folder.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)));
                prop_assert!(folder.len() <= 100 && !folder.starts_with('.') && !folder.is_empty());
                if let Some(other) = seen.insert(folder, key.clone()) {
                    prop_assert_eq!(other, key);
                }
            }
        }
    }
}
