//! Which of the installed models is to be used, where somebody said so.
//!
//! The choice lies beside the models, since it is one of this machine: the same
//! configuration may be read where other models are installed.

use super::store::{InstalledModel, Models};
use crate::error::IndexError;

/// The file that holds the name.
const CHOICE: &str = "chosen";

/// A name is no longer than what a file system takes.
const MOST_BYTES: usize = 255;
/// What is read of the file.
const MOST_FILE_BYTES: u64 = 64 << 10;

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
        let text = longhaul_files::optional(longhaul_files::read_text(&path, MOST_FILE_BYTES))?;
        Ok(text.and_then(|name| {
            let name = name.trim();
            let end = name.floor_char_boundary(MOST_BYTES);
            Some(name[..end].to_owned()).filter(|name| !name.is_empty())
        }))
    }

    /// Chooses an installed model by its name or the name of its vectors; none
    /// where no model is called so.
    pub fn choose(&self, name: &str) -> Result<Option<InstalledModel>, IndexError> {
        let (models, _) = self.list()?;
        let Some(model) = models.into_iter().find(|model| model.is_called(name)) else {
            return Ok(None);
        };
        let path = self.folder().join(CHOICE);
        longhaul_files::replace(&path, format!("{}\n", model.name).as_bytes())?;
        Ok(Some(model))
    }

    /// Goes back to the best there is; says whether there was a choice.
    pub fn forget_choice(&self) -> Result<bool, IndexError> {
        let path = self.folder().join(CHOICE);
        Ok(longhaul_files::remove(&path)?)
    }
}
