//! How long an end that has nothing to do stays away.
//!
//! An end that follows the other at its heels takes a cache line from it with each message, and then neither is fast:
//! 24 ns a message where 12 are possible. So an end that has caught up pauses before it looks again, for as long as
//! pays: if by then there is one message for every four pauses, it pauses for twice as long the next time, or else for
//! half as long. Two that talk in turn, of whom one waits for a single message each time, do not pause.

use crate::{
    channel::spsc::stream::cursor::Cursor,
    sys::sync::hint,
    wait::state_word::{Content, number_of},
};

/// The longest time to stay away is 2 to this power of pauses, a microsecond or a few.
const LONGEST: u32 = 7;

/// 2 to this power of pauses. See the [module](self).
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) fn new() -> Self {
        Self(0)
    }

    /// Pauses before the end looks again whether the slot where it is holds `awaited`. For a thread that nothing else
    /// could use.
    #[inline(never)]
    pub(crate) fn snooze<T>(&mut self, at: &Cursor<T>, awaited: Content) {
        if at.ahead(1).is_none() {
            return;
        }
        let pauses = 1 << self.0;
        (0..pauses).for_each(|_| hint::spin_loop());
        if number_of(at.slot().word.load()) != awaited {
            self.0 = self.0.saturating_sub(1);
            return;
        }
        match at.ahead((pauses / 4).max(1)) {
            Some(slot) if number_of(slot.word.load()) == awaited => self.0 = LONGEST.min(self.0 + 1),
            Some(_) => self.0 = self.0.saturating_sub(1),
            None => {}
        }
    }
}
