//! Taking back a fork that may wait, or waiting for it.

use crate::{
    cx::Cx,
    fork::offer::Offer,
    wait::{latch::SlotWait, suspend::Reason},
};

impl Offer {
    /// Takes the fork back, for its owner to run. `false`: another has run it; waits until it has.
    pub(crate) fn take_back(&self, cx: &Cx<'_>, reason: Reason) -> bool {
        let is_back = self.take();
        while !is_back && !self.done.is_notified() {
            cx.wait_shielded(&SlotWait::new(&self.done), reason);
        }
        is_back
    }
}
