//! How long an end without anything to do pauses.
//!
//! An end that follows the other closely takes a cache line from it with each message, and then neither is fast: 24 ns
//! a message where 12 are possible. So an end that has caught up pauses before it looks again. If there is then one
//! message for every four pauses, it pauses for twice as long the next time, otherwise for half as long. Two ends that
//! alternate, one waiting for a single message each time, do not pause.

use crate::{
    channel::spsc::stream::cursor::Cursor,
    sys::sync::hint,
    wait::state_word::{Content, number_of},
};

/// The longest pause is 2 to this power of spin hints, one or a few microseconds.
const LONGEST: u32 = 7;

/// 2 to this power of spin hints. See the [module](self).
pub(crate) struct Backoff(u32);

impl Backoff {
    pub(crate) fn new() -> Self {
        Self(0)
    }

    /// Pauses before the end looks again whether its slot holds `awaited`. For a thread that has nothing else to run.
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
