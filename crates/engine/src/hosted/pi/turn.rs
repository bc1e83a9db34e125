//! The end of a round: what is due by the thresholds, as entries for pi.

use futures::executor::block_on;
use longhaul_model::CancellationToken;
use longhaul_transcript::{EntryId, Role};

use super::follow::Followed;
use super::site::{Ahead, told};
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
        let followed = self.follow(leaf)?;
        let window = self.window(host)?;
        let mut ahead = Ahead::of(&self.live, cancel);
        if followed == Followed::Anew {
            // What was learnt of the size is of this session all the same.
            sink(Event::trouble(
                "the session went on elsewhere than it was left, and was read anew",
            ));
        }
        let mut site = self.site(&mut ahead, &window, sink);
        site.compacts = host.compacts;
        if let Err(error) = block_on(Compactor::at(&mut site).climb()) {
            told(error, sink)?;
        }
        // Behind a last answer it would be the last word, and `pi --print` prints that.
        let goes_on = self
            .live
            .messages()
            .last()
            .is_some_and(|last| last.role == Role::ToolResult);
        if goes_on {
            let restoring = self.restoring(&ahead.live, &window, sink);
            ahead.entries.extend(restoring);
        }
        if self.setup.config.writes_checkpoints() {
            let mut now = Ahead::of(&self.live, cancel);
            let mut site = self.site(&mut now, &window, sink);
            Compactor::at(&mut site).save_state();
        }
        Ok(TurnEnd {
            entries: ahead.entries,
            notices: ahead.notices,
        })
    }
}
