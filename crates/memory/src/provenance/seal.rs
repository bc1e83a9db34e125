//! Seals: how a log entry is known to be as it was written.
//!
//! An agent can write to every file of its workspace, and a poisoned one will.
//! It does not know the key, so an entry it made up or changed is read as text
//! of an unknown source, which nobody promotes unseen.

use std::path::Path;

use crate::{Error, Result};

/// A key that entries are sealed with.
#[derive(Clone)]
pub struct Seal {
    key: [u8; 32],
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

/// Characters of a seal: 80 bits.
const LENGTH: usize = 20;
/// No key file has more.
const MOST_BYTES: u64 = 4 << 10;

impl Seal {
    /// A seal with this key.
    pub fn new(key: [u8; 32]) -> Seal {
        Seal { key }
    }

    /// The seal of an installation, `<stateDir>/memory/seal.key`. Where there is
    /// none yet it is made of `fresh`, at least 16 bytes that nobody can guess.
    pub fn of_state_dir(state_dir: &Path, fresh: &[u8]) -> Result<Seal> {
        let fresh = blake3::derive_key("longhaul 2026 seal of memory entries", fresh);
        let folder = state_dir.join("memory");
        let path = folder.join("seal.key");
        if let Some(seal) = Seal::read(&path)? {
            return Ok(seal);
        }
        longhaul_files::create_folder(&folder)?;
        let text = format!("{}\n", blake3::Hash::from_bytes(fresh).to_hex());
        // Of two processes at once one is first, and its key is both's.
        let created =
            longhaul_files::create_whole(&path, &mut |out| out.write_all(text.as_bytes()));
        match (created, Seal::read(&path)?) {
            (_, Some(seal)) => Ok(seal),
            (Err(error), None) => Err(error.into()),
            (Ok(()), None) => Err(Error::Damaged {
                path,
                reason: "it was removed while it was being made".into(),
            }),
        }
    }

    fn read(path: &Path) -> Result<Option<Seal>> {
        match longhaul_files::optional(longhaul_files::read_text(path, MOST_BYTES))? {
            Some(text) => match blake3::Hash::from_hex(text.trim()) {
                Ok(key) => Ok(Some(Seal::new(*key.as_bytes()))),
                Err(error) => Err(Error::Damaged {
                    path: path.to_owned(),
                    reason: format!("line 1: {error}"),
                }),
            },
            None => Ok(None),
        }
    }

    /// The seal for entries of one workspace: a log that is copied to another one
    /// is nobody's word there.
    pub(crate) fn of_workspace(&self, root: &Path) -> Seal {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(b"workspace ");
        hasher.update(root.as_os_str().as_encoded_bytes());
        Seal::new(*hasher.finalize().as_bytes())
    }

    /// The seal of a document of which this is the hash.
    pub fn of_document(&self, hash: &blake3::Hash) -> String {
        self.of(&["document", hash.to_hex().as_str()])
    }

    /// The seal of these parts; the border between two of them counts.
    pub(crate) fn of(&self, parts: &[&str]) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        hasher.finalize().to_hex()[..LENGTH].to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_installation_keeps_its_key() {
        let folder = tempfile::tempdir().unwrap();
        let first = Seal::of_state_dir(folder.path(), &[1; 32]).unwrap();
        let second = Seal::of_state_dir(folder.path(), &[2; 32]).unwrap();
        assert_eq!(first.of(&["a", "b"]), second.of(&["a", "b"]));
        assert_ne!(first.of(&["a", "b"]), first.of(&["ab", ""]));
        assert_ne!(first.of(&["a"]), Seal::new([2; 32]).of(&["a"]));
    }

    #[test]
    fn a_damaged_key_is_told_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("memory/seal.key");
        fs::create_dir(folder.path().join("memory")).unwrap();
        fs::write(&path, "not a key\n").unwrap();
        let error = Seal::of_state_dir(folder.path(), &[1; 32]).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "not a key\n");
    }
}
