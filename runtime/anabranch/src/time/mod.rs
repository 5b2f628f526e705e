//! Time: the system's clock, and a manual clock for tests.
//!
//! ```
//! use anabranch::time::ManualClock;
//! use std::time::Duration;
//!
//! let manual = ManualClock::new();
//! let clock = manual.clock();
//! let start = clock.now();
//! manual.advance(Duration::from_secs(60));
//! assert_eq!(clock.now() - start, Duration::from_secs(60));
//! ```

// `tick <- manual <- clock`; `tick, slots <- timers`.
mod clock;
mod manual;
#[allow(dead_code, reason = "for the scheduler of the fibers")]
mod slots;
mod tick;
#[allow(dead_code, reason = "for the scheduler of the fibers")]
pub(crate) mod timers;

pub use self::clock::{Clock, ManualClock};
#[allow(unused_imports, reason = "for the scheduler of the fibers")]
pub(crate) use self::{
    manual::{Subscription, Wake},
    tick::{NEVER, Tick},
};
