//! Taking back a fork that may wait, or waiting for it.

use crate::{
    cx::Cx,
    fork::offer::Offer,
    wait::{latch::LatchWait, suspend::WaitReason},
};

impl Offer {
    /// Takes the fork back, for its owner to run. Returns `false` if another fiber runs it, after waiting for its end.
    pub(crate) fn take_back(&self, cx: &Cx<'_>, reason: WaitReason) -> bool {
        let is_back = self.take();
        while !is_back && !self.done.is_notified() {
            cx.wait_shielded(&LatchWait::new(&self.done), reason);
        }
        is_back
    }
}
