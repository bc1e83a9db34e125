//! The end of a round: what is due by the thresholds, as entries for pi.

use futures::executor::block_on;
use longhaul_model::CancellationToken;
use longhaul_transcript::{EntryId, Role};

use super::follow::Followed;
use super::{PiHost, PiSession, Result, TurnEnd};
use crate::compactor::Compactor;
use crate::event::Event;

impl PiSession {
    /// A round has ended: takes in what pi wrote, saves the state of the work, and
    /// says what pi should append.
    pub fn turn_end(
        &mut self,
        leaf: Option<&EntryId>,
        host: PiHost,
        cancel: &CancellationToken,
        sink: &mut dyn FnMut(Event),
    ) -> Result<TurnEnd> {
        if self.follow(leaf, host)? == Followed::Anew {
            // What was learnt of the size is of this session all the same.
            sink(Event::trouble(
                "the session went on elsewhere than it was left, and was read anew",
            ));
        }
        // Behind a last answer it would be the last word, and `pi --print` prints that.
        let last = self.live().messages().last();
        let goes_on = last.is_some_and(|last| last.role == Role::ToolResult);
        let mut paper = self.on_paper(cancel, sink);
        paper.compacts = host.compacts;
        if let Err(error) = block_on(Compactor::at(&mut paper).climb()) {
            paper.stopped_by(error)?;
        }
        if goes_on {
            paper.restoring();
        }
        let end = TurnEnd {
            entries: std::mem::take(&mut paper.entries),
            notices: std::mem::take(&mut paper.notices),
        };
        drop(paper);
        if self.setup.config.writes_checkpoints() {
            let mut paper = self.on_paper(cancel, sink);
            Compactor::at(&mut paper).save_state();
        }
        Ok(end)
    }
}
