//! The macro `select!`, which builds the [arms](super::macro_arms) and runs the body of one of them.

/// Waits for the first of several operations, completes only that operation, and runs its arm.
///
/// ```text
/// select!(cx, {
///     pattern = operation => body,
///     pattern = operation, if condition => body,
///     ..
///     default => body,             // optional: if none can be done at once
///     else => body,                // optional: if a result does not match its pattern
/// })
/// ```
/// | operation | |
/// |---|---|
/// | `receiver.receiving()`, `sender.sending(value)`, `sender.reserving()` | [channels](crate::channel) of any flavour and type, and sets |
/// | `cx.sleeping(duration)`, [`after`](crate::channel::after)`(duration)`, `interval.ticking()` | time |
/// | [`awaiting`](crate::channel::awaiting)`(future)`, `awaiting(&mut handle)` | any future; the fiber of a [`JoinHandle`](crate::JoinHandle) |
/// | `mutex.locking()`, `semaphore.acquiring(n)`, `event.waiting()`, `trigger.waiting()` | [`sync`](crate::sync) |
/// | [`never`](crate::channel::never)`()` | nothing |
///
/// See [`Operation`](crate::channel::Operation). The pattern binds the result of the operation. The value of the macro
/// is `Ok` with the value of the body, or [`Cancelled`](crate::Cancelled). There has to be an arm or a default.
///
/// An arm whose condition is false takes no part, and its operation is not evaluated. If all conditions are false,
/// `else` runs; without it the macro waits until it is cancelled. A pattern may be refutable if there is an `else`,
/// which then runs for a result that does not match. That result is dropped.
///
/// If several operations are ready, one of them is chosen at random, each with the same probability.
/// `select!(biased cx, { .. })` takes the first in the order in which they are written. All operations have ended when
/// the body begins, so the body may use the channels again. `?`, `break` and `return` in the body have the same meaning
/// as around the macro. Values that other arms were to send are dropped, unless they are borrowed.
///
/// Takes time linear in the number of arms. For hundreds of receivers see [`ReceiverSet`](crate::channel::ReceiverSet).
///
/// ```
/// use anabranch::{channel, select};
/// use std::time::Duration;
///
/// let (numbers, number) = channel::unbounded();
/// let (texts, text) = channel::bounded(1);
/// anabranch::run(|cx| {
///     numbers.try_send(7).unwrap();
///     let got = select!(cx, {
///         n = number.receiving() => format!("a number: {}", n.unwrap()),
///         t = text.receiving() => t.unwrap(),
///         _ = cx.sleeping(Duration::from_secs(60)) => "too late".to_owned(),
///     });
///     assert_eq!(got.unwrap(), "a number: 7");
///
///     let sent = select!(biased cx, {
///         sent = texts.sending("hello".to_owned()) => sent.is_ok(),
///         _ = number.receiving() => false,
///         default => false,
///     });
///     assert_eq!(sent, Ok(true));
/// });
/// ```
///
/// Conditions and patterns:
/// ```
/// use anabranch::{channel, select};
///
/// let (sender, number) = channel::unbounded();
/// let (log, entries) = channel::unbounded();
/// anabranch::run(|cx| {
///     sender.try_send(3).unwrap();
///     drop((sender, log));
///     let (mut sum, mut logging) = (0, true);
///     while let Some(n) = select!(cx, {
///         entry = entries.receiving(), if logging => {
///             let _: Result<String, _> = entry;
///             logging = false;
///             Some(0)
///         }
///         Ok(n) = number.receiving() => Some(n),
///         else => None,
///     })? {
///         sum += n;
///     }
///     assert_eq!(sum, 3);
///     Ok::<_, anabranch::Cancelled>(())
/// })
/// .unwrap();
/// ```
///
/// # Plain threads
/// `select!(blocking, { .. })`, or `select!(biased blocking, { .. })`, is for threads without a `Cx`: it blocks the
/// thread, see [plain threads](crate::channel#plain-threads). Its value is the value of the body. Use
/// [`after`](crate::channel::after) there, since `cx.sleeping` needs a `cx`.
///
/// ```
/// use anabranch::{channel, select};
/// use std::time::Duration;
///
/// let (_sender, receiver) = channel::bounded::<u32>(1);
/// let got = select!(blocking, {
///     got = receiver.receiving() => got.ok(),
///     _ = channel::after(Duration::from_millis(1)) => None,
/// });
/// assert_eq!(got, None);
/// ```
///
/// # Async code
/// Async code has no `cx`: `select!(async, { .. })`, or `select!(biased async, { .. })`, awaits on any runtime. Its
/// value is the value of the body, since nothing cancels it. The future may be dropped at any time; an operation that
/// has not completed by then has no effect. Use [`sleep_async(duration)`](crate::fiber::sleep_async) there:
/// `cx.sleeping` needs a `cx` and does not compile.
///
/// ```
/// use anabranch::{channel::oneshot, fiber::sleep_async, select};
/// use std::time::Duration;
///
/// async fn reply(mut receiver: oneshot::Receiver<u32>) -> Option<u32> {
///     select!(async, {
///         got = receiver.receiving() => got.ok(),
///         () = sleep_async(Duration::from_secs(60)) => None,
///     })
/// }
///
/// let (sender, receiver) = oneshot::channel();
/// let task = anabranch::spawn_async(reply(receiver));
/// sender.send(42).unwrap();
/// assert_eq!(anabranch::run(|cx| task.join(cx)).unwrap(), Some(42));
/// ```
///
/// # Errors
/// Returns an error if the wait is cancelled.
#[macro_export]
macro_rules! select {
    (biased async, { $($arms:tt)* }) => {
        $crate::__select!((async) (true) [] $($arms)*)
    };
    (async, { $($arms:tt)* }) => {
        $crate::__select!((async) (false) [] $($arms)*)
    };
    (biased blocking, { $($arms:tt)* }) => {
        $crate::__select!((blocking) (true) [] $($arms)*)
    };
    (blocking, { $($arms:tt)* }) => {
        $crate::__select!((blocking) (false) [] $($arms)*)
    };
    (biased $cx:expr, { $($arms:tt)* }) => {
        $crate::__select!(($cx) (true) [] $($arms)*)
    };
    ($cx:expr, { $($arms:tt)* }) => {
        $crate::__select!(($cx) (false) [] $($arms)*)
    };
}

/// The arms, one after the other, each with a unique name thanks to macro hygiene; then the whole.
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // An arm. Its operation comes last, with its condition if it has one.
    (@arm ($operation:expr)) => { $crate::channel::__select::arm($operation) };
    (@arm ($operation:expr, if $condition:expr)) => {
        $crate::channel::__select::arm_if(if $condition {
            ::std::option::Option::Some($operation)
        } else {
            ::std::option::Option::None
        })
    };
    // `((((), a), b), c)`, as an expression and as a pattern.
    (@arms $nested:tt) => { $nested };
    (@arms $nested:tt $first:tt $($rest:tt)*) => {
        $crate::__select!(@arms ($nested, $crate::__select!(@arm $first)) $($rest)*)
    };
    (@names $nested:tt) => { $nested };
    (@names $nested:tt $first:tt $($rest:tt)*) => { $crate::__select!(@names ($nested, $first) $($rest)*) };
    // The body of an arm whose result is `done`.
    (@body $done:ident ($pattern:pat) $body:expr, []) => {{
        let $pattern = $done;
        $body
    }};
    (@body $done:ident ($pattern:pat) $body:expr, [$else:expr]) => {
        match $done {
            $pattern => $body,
            #[allow(unreachable_patterns, reason = "the pattern of this arm matches everything")]
            _ => $else,
        }
    };
    // After the pattern and the operation of an arm: its body.
    (@parse $cx:tt $biased:tt [$($parsed:tt)*] $head:tt $body:block default => $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm $head $body)] default => $($rest)*)
    };
    (@parse $cx:tt $biased:tt [$($parsed:tt)*] $head:tt $body:block else => $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm $head $body)] else => $($rest)*)
    };
    (@parse $cx:tt $biased:tt [$($parsed:tt)*] $head:tt $body:block $pattern2:pat = $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm $head $body)] $pattern2 = $($rest)*)
    };
    (@parse $cx:tt $biased:tt [$($parsed:tt)*] $head:tt $body:expr, $($rest:tt)*) => {
        $crate::__select!($cx $biased [$($parsed)* (arm $head $body)] $($rest)*)
    };
    (@parse $cx:tt $biased:tt [$($parsed:tt)*] $head:tt $body:expr) => {
        $crate::__select!($cx $biased [$($parsed)* (arm $head $body)])
    };
    (@whole (async) ($biased:expr) $has_default:tt $fallback:tt $else:tt
        [$(($arm:ident ($pattern:pat, $operation:tt) $body:expr))*]) => {
        match {
            let arms = $crate::__select!(@arms () $($operation)*);
            let has_else = $crate::__select!(@has $else);
            $crate::channel::__select::choose_async(arms, $biased, $has_default, has_else).await
        } {
            $crate::__select!(@names () $($arm)*) => $(if let ::std::option::Option::Some(done) = $arm {
                $crate::__select!(@body done ($pattern) $body, $else)
            } else)* $fallback
        }
    };
    (@whole (blocking) ($biased:expr) $has_default:tt $fallback:tt $else:tt
        [$(($arm:ident ($pattern:pat, $operation:tt) $body:expr))*]) => {
        match {
            $(let mut $arm = $crate::__select!(@arm $operation);)*
            let has_else = $crate::__select!(@has $else);
            $crate::channel::__select::choose_blocking([$(&mut $arm),*], $biased, $has_default, has_else);
            ($($crate::channel::__select::into_done($arm),)*)
        } {
            ($($arm,)*) => $(if let ::std::option::Option::Some(done) = $arm {
                $crate::__select!(@body done ($pattern) $body, $else)
            } else)* $fallback
        }
    };
    (@whole ($cx:expr) ($biased:expr) $has_default:tt $fallback:tt $else:tt
        [$(($arm:ident ($pattern:pat, $operation:tt) $body:expr))*]) => {
        match {
            $(let mut $arm = $crate::__select!(@arm $operation);)*
            let has_else = $crate::__select!(@has $else);
            $crate::channel::__select::choose($cx, [$(&mut $arm),*], $biased, $has_default, has_else)
                .map(|()| ($($crate::channel::__select::into_done($arm),)*))
        } {
            ::std::result::Result::Err(cancelled) => ::std::result::Result::Err(cancelled),
            ::std::result::Result::Ok(($($arm,)*)) => ::std::result::Result::Ok(
                $(if let ::std::option::Option::Some(done) = $arm {
                    $crate::__select!(@body done ($pattern) $body, $else)
                } else)* $fallback
            ),
        }
    };
    (@has []) => { false };
    (@has [$else:expr]) => { true };
    ($cx:tt $biased:tt $parsed:tt default => $default:expr, else => $else:expr $(,)?) => {
        $crate::__select!(@whole $cx $biased true { $default } [$else] $parsed)
    };
    ($cx:tt $biased:tt $parsed:tt default => $default:expr $(,)?) => {
        $crate::__select!(@whole $cx $biased true { $default } [] $parsed)
    };
    ($cx:tt $biased:tt [] else => $else:expr $(,)?) => {
        ::std::compile_error!("`select!` without an arm waits for nothing: it needs an operation, or a default")
    };
    ($cx:tt $biased:tt $parsed:tt else => $else:expr $(,)?) => {
        $crate::__select!(@whole $cx $biased false { $else } [$else] $parsed)
    };
    ($cx:tt $biased:tt $parsed:tt $pattern:pat = $operation:expr, if $condition:expr => $($rest:tt)*) => {
        $crate::__select!(@parse $cx $biased $parsed ($pattern, ($operation, if $condition)) $($rest)*)
    };
    ($cx:tt $biased:tt $parsed:tt $pattern:pat = $operation:expr => $($rest:tt)*) => {
        $crate::__select!(@parse $cx $biased $parsed ($pattern, ($operation)) $($rest)*)
    };
    ($cx:tt $biased:tt []) => {
        ::std::compile_error!("`select!` without an arm waits for nothing: it needs an operation, or a default")
    };
    ($cx:tt $biased:tt $parsed:tt) => {
        $crate::__select!(@whole $cx $biased false { ::std::unreachable!("an arm was done") } [] $parsed)
    };
}
