//! Keeps what was sent, for whoever looks into a chat afterwards.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use longhaul_model::{
    Answer, BoxFuture, CancellationToken, Delta, Failure, Model, ModelInfo, Request,
};

use crate::Result;

/// A model whose requests are written to a file, one a line.
pub(super) struct Recorded {
    model: Arc<dyn Model>,
    file: PathBuf,
}

impl Recorded {
    /// The same model; its requests are kept in the folder.
    pub(super) fn new(model: Arc<dyn Model>, folder: &Path) -> Result<Recorded> {
        fs::create_dir_all(folder)?;
        let file = folder.join("requests.jsonl");
        Ok(Recorded { model, file })
    }

    fn keep(&self, request: &Request) -> Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.file)?;
        writeln!(file, "{}", serde_json::to_string(request)?)?;
        Ok(())
    }
}

impl Model for Recorded {
    fn info(&self) -> &ModelInfo {
        self.model.info()
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        deltas: &'a mut (dyn FnMut(Delta) + Send),
        cancel: &'a CancellationToken,
    ) -> BoxFuture<'a, Result<Answer, Failure>> {
        if let Err(error) = self.keep(request) {
            // It is not what is tested.
            println!("  a request could not be kept: {error}");
        }
        self.model.ask(request, deltas, cancel)
    }
}
