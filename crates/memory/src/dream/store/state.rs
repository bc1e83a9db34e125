//! How the state is kept: twice, so that a damaged one is mended from its copy.

use std::path::{Path, PathBuf};

use super::{DreamLock, Dreams, MOST_BYTES};
use crate::dream::staging;
use crate::dream::state::State;
use crate::files::DREAMS;
use crate::{Error, Result};

const VERSION: u32 = 3;

const STATE: &str = "state.json";
/// The same once more, for when the first is damaged.
const COPY: &str = "state.copy.json";

impl Dreams<'_> {
    /// The state: of a damaged one its copy, until it is mended.
    pub(in crate::dream) fn state(&self) -> Result<State> {
        let state: State = match self.read(STATE) {
            Err(Error::Damaged { path, reason }) => {
                let reason = format!(
                    "{reason}; there is no copy: without it nobody knows what was rejected"
                );
                self.copy().ok_or(Error::Damaged { path, reason })?
            }
            state => state?.unwrap_or_default(),
        };
        if state.version > VERSION {
            let (path, version) = (self.folder.join(STATE), state.version);
            let reason = format!("it is of version {version}, newer than this program");
            return Err(Error::Damaged { path, reason });
        }
        Ok(state)
    }

    fn copy(&self) -> Option<State> {
        self.read(COPY).ok().flatten()
    }

    /// Shows the candidates in `DREAMS.md` and writes them down. What is as it
    /// was is not written again. The page comes first, since it is made from the
    /// state and counts for nothing: where one of them cannot be written, nothing
    /// has changed.
    pub(in crate::dream) fn save(&self, _: &DreamLock, state: &mut State) -> Result<()> {
        state.version = VERSION;
        let is_new = self.state()? != *state;
        let file = self.memory.read_exact(DREAMS)?;
        let mut shown = false;
        if file.is_some() || !state.candidates.is_empty() {
            let part = staging::render(&state.candidates);
            let text =
                staging::spliced(file.as_deref(), &part).map_err(|reason| Error::Damaged {
                    path: self.memory.root().join(DREAMS),
                    reason,
                })?;
            if file.as_deref() != Some(text.as_str()) {
                self.memory.replace_exact(DREAMS, &text)?;
                shown = true;
            }
        }
        if !is_new {
            self.keep_copy(state);
            return Ok(());
        }
        let written = self.note(state);
        if written.is_err() && shown {
            // If this fails too, the next command shows what is so.
            let _ = self.put(DREAMS, &file);
        }
        written
    }

    /// Writes the state down as it is, and shows nothing.
    pub(super) fn note(&self, state: &State) -> Result<()> {
        self.write(STATE, state)?;
        self.keep_copy(state);
        Ok(())
    }

    /// Keeps a copy of the state. What is written down is so without one; an
    /// older one would bring back what is no longer so.
    fn keep_copy(&self, state: &State) {
        let is_kept = self.copy().as_ref() == Some(state);
        if !is_kept && self.write(COPY, state).is_err() {
            let _ = longhaul_files::remove(&self.folder.join(COPY));
        }
    }

    /// Sets a damaged state aside and puts its copy in its place. Without one it
    /// begins again: what was promoted stands in the memory, what was rejected
    /// is forgotten.
    pub(super) fn mend(&self) -> Result<Option<String>> {
        let Err(Error::Damaged { path, reason }) = self.read::<State>(STATE) else {
            return Ok(None);
        };
        let aside = self.aside(&path);
        match longhaul_files::kind_of(&path) {
            Some(_) => longhaul_files::rename(&path, &aside)?,
            // It stays where it is until there is something in its place.
            None => {
                let damaged = longhaul_files::read(&path, MOST_BYTES)?;
                longhaul_files::create(&aside, &damaged)?;
            }
        }
        let (state, came) = match self.copy() {
            Some(copy) => (copy, "its copy took its place, and nothing is forgotten"),
            None => (
                State::default(),
                "there is no copy: what was rejected is forgotten and may be staged again, what \
                 was promoted stands in the memory and can no longer be undone here",
            ),
        };
        self.write(STATE, &state)?;
        Ok(Some(format!(
            "{} was damaged ({reason}) and lies at {}; {came}",
            path.display(),
            aside.display()
        )))
    }

    /// Where a damaged file is put, beside what comes in its place.
    fn aside(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        (1..)
            .map(|number| path.with_file_name(format!("{name}.damaged-{number}")))
            .find(|aside| aside.symlink_metadata().is_err())
            .expect("some number is free")
    }
}
