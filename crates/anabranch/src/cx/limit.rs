//! How long a wait may take, and the operations that have such a limit of their own.

use crate::cx::cx::Cx;
use std::time::{Duration, Instant};

/// How long a wait may take.
#[derive(Clone, Copy)]
pub(crate) enum Limit {
    Until(Instant),
    For(Duration),
}

impl Limit {
    /// Returns the end of the wait as a tick of the clock of the pool.
    pub(crate) fn tick(self, cx: &Cx<'_>) -> u64 {
        match self {
            Self::Until(instant) => cx.owner.clock().tick_at(instant),
            Self::For(duration) => cx.after(duration),
        }
    }
}

/// Defines the forms of an operation with a deadline and with a timeout, whose limit is the last parameter.
///
/// ```text
/// timed! {
///     /// # Errors
///     /// The errors of both forms. After this text follows "`TimedOut` once the deadline passes."
///     recv_deadline, recv_timeout: like recv, at "Receiver::recv"
///     fn(&self, cx: &Cx<'_>) -> Result<T, RecvTimeoutError>;
///     |limit, reason| /* the body, with a `Limit` and a `WaitReason` that names the caller */;
///     /// What only the form with a timeout has, such as an example.
/// }
/// ```
macro_rules! timed {
    (
        $(#[$errors:meta])*
        $deadline:ident, $timeout:ident: like $plain:ident, at $place:literal
        fn $([$($generics:tt)*])? ($($parameters:tt)*) -> $result:ty;
        |$limit:ident, $reason:ident| $body:expr;
        $(#[$example:meta])*
    ) => {
        #[doc = concat!(" Like [`", stringify!($plain), "`](Self::", stringify!($plain), "), with a deadline.")]
        ///
        $(#[$errors])*
        /// `TimedOut` once the deadline passes.
        #[track_caller]
        pub fn $deadline $(<$($generics)*>)? ($($parameters)*, instant: ::std::time::Instant) -> $result {
            let $limit = $crate::cx::limit::Limit::Until(instant);
            let $reason = $crate::wait::suspend::WaitReason::new(&$place);
            $body
        }

        #[doc = concat!(" Like [`", stringify!($plain), "`](Self::", stringify!($plain), "), with a timeout.")]
        ///
        $(#[$errors])*
        /// `TimedOut` once the timeout elapses.
        $(#[$example])*
        #[track_caller]
        pub fn $timeout $(<$($generics)*>)? ($($parameters)*, timeout: ::std::time::Duration) -> $result {
            let $limit = $crate::cx::limit::Limit::For(timeout);
            let $reason = $crate::wait::suspend::WaitReason::new(&$place);
            $body
        }
    };
}
pub(crate) use timed;
