//! Which unstarted fibers a thief takes.

/// Which unstarted fibers a thief takes from a worker that will itself begin them.
///
/// A short fiber would mostly have ended before a thief begins it, and its parent would wait longer. Fibers that were
/// spawned together often exchange messages, which takes several times as long between workers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StealPolicy {
    /// All fibers.
    All,
    /// The fibers that have been in the queue for long, at this time: see
    /// [`RunQueue::lies_for_long`](crate::fiber::run_queue::RunQueue::lies_for_long).
    Aged(u64),
    /// No fibers.
    Nothing,
}
