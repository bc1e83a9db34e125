//! Which of the installed models is to be used, where somebody said so.
//!
//! The choice lies beside the models, since it is one of this machine: the same
//! configuration may be read where other models are installed.

use std::fs;
use std::io;

use longhaul_transcript::durable;

use super::store::{InstalledModel, Models};
use crate::index::IndexError;

/// The file that holds the name.
const CHOICE: &str = "chosen";

/// A name is no longer than what a file system takes.
const MOST_BYTES: usize = 255;

impl InstalledModel {
    /// Whether it goes by this name, or its vectors do.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.id == name
    }
}

impl Models {
    /// The name that was chosen, if any; there need not be a model of it any
    /// more.
    pub fn chosen(&self) -> Result<Option<String>, IndexError> {
        let path = self.folder().join(CHOICE);
        match fs::read_to_string(&path) {
            Ok(name) => {
                let name = name.trim();
                let end = name.floor_char_boundary(MOST_BYTES);
                Ok(Some(name[..end].to_owned()).filter(|name| !name.is_empty()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(IndexError::io("read", &path)(error)),
        }
    }

    /// Chooses an installed model by its name or the name of its vectors; none
    /// where no model is called so.
    pub fn choose(&self, name: &str) -> Result<Option<InstalledModel>, IndexError> {
        let (models, _) = self.list()?;
        let Some(model) = models.into_iter().find(|model| model.is_called(name)) else {
            return Ok(None);
        };
        let path = self.folder().join(CHOICE);
        durable::replace(&path, &mut |out| writeln!(out, "{}", model.name)).map_err(|error| {
            IndexError::Io {
                action: "write",
                path: path.clone(),
                source: io::Error::other(error),
            }
        })?;
        Ok(Some(model))
    }

    /// Goes back to the best there is; says whether there was a choice.
    pub fn forget_choice(&self) -> Result<bool, IndexError> {
        let path = self.folder().join(CHOICE);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(IndexError::io("remove", &path)(error)),
        }
    }
}
