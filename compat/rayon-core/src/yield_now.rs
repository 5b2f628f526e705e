//! Running pending work in between.

/// What [`yield_now`] and [`yield_local`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yield {
    /// A piece of work was found and run.
    Executed,
    /// No work was found.
    Idle,
}

impl Yield {
    pub(crate) fn from_found(found: bool) -> Self {
        if found { Self::Executed } else { Self::Idle }
    }
}

/// Runs one piece of pending work of the caller's pool, if there is any. Returns `None` outside of any pool.
///
/// ```
/// use rayon_core::{Yield, yield_now};
///
/// assert_eq!(yield_now(), None);
/// assert_eq!(rayon_core::scope(|s| { s.spawn(|_| ()); yield_now().is_some() }), true);
/// # _ = Yield::Idle;
/// ```
pub fn yield_now() -> Option<Yield> {
    anabranch::pool::run_pending().map(Yield::from_found)
}

/// Runs one piece of pending work of the calling thread, if there is any. Returns `None` outside of any pool.
///
/// ```
/// assert_eq!(rayon_core::yield_local(), None);
/// ```
pub fn yield_local() -> Option<Yield> {
    anabranch::pool::run_pending_local().map(Yield::from_found)
}
