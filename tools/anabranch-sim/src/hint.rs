//! How a thread waits for another one for a moment.

use crate::engine::{self, Engine};

/// The hint of a loop that waits for another thread.
pub fn spin_loop() {
    engine::with(|engine| engine.spend(engine.machine().pause));
}

/// Doubling pauses, and then yields, like `crossbeam_utils::Backoff`.
#[derive(Debug, Default)]
pub struct Backoff(u32);

/// The last step that spins, as in crossbeam.
const MAX_SPIN_STEP: u32 = 6;

impl Backoff {
    /// Creates a backoff that begins with a single pause.
    pub fn new() -> Self {
        Self(0)
    }

    /// Spins, or yields after some calls.
    pub fn snooze(&mut self) {
        if self.0 > MAX_SPIN_STEP {
            engine::with(Engine::yield_now);
            return;
        }
        (0..1 << self.0).for_each(|_| spin_loop());
        self.0 += 1;
    }
}
