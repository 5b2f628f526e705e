//! Receiving: the methods of endpoints whose next step is to receive.

use crate::{
    channel::{self, Closed, Receive, set::source::Source},
    cx::{
        Cx,
        attempt::{Attempt, wait_again_for, wait_async_for},
    },
    proto::{
        duplex::{At, Endpoint, Line, Transport},
        error::{RecvError, RecvTimeoutError, TryRecvError},
    },
    time::NEVER,
    wait::{WaitError, suspend::WaitReason, waitable::Waitable, waiter::Waiter},
};
use std::{
    cell::UnsafeCell,
    fmt,
    time::{Duration, Instant},
};

/// An endpoint whose next step is to receive. Implemented only by the types that [`proto!`](crate::proto!) makes.
///
/// # Safety
/// For generated code. The type is the endpoint of a state in which its side receives. `end` and `end_mut` return the
/// same end each time, as long as no other is assigned. `heard` accepts each message that may be received in this
/// state.
pub unsafe trait Listen: Endpoint + Sized {
    /// The result of the receive: one of the messages of the state, with the next endpoint.
    type Heard;
    #[doc(hidden)]
    type Line: Line;
    /// Its name, for the reasons of waits.
    #[doc(hidden)]
    const NAME: &'static &'static str;

    #[doc(hidden)]
    fn end(&self) -> &At<Self::Line, Self>;

    #[doc(hidden)]
    fn end_mut(&mut self) -> &mut At<Self::Line, Self>;

    /// # Safety
    /// `message` was the last one that was received at `end`.
    #[doc(hidden)]
    unsafe fn heard(end: At<Self::Line, Self>, message: <Self::Line as Line>::Message) -> Self::Heard;
}

/// Receives a message that was sent, and makes the step that follows from it. The endpoint is used up by that, and by
/// `Closed`.
#[inline]
fn hear<E: Listen>(end: &mut E) -> Option<Result<E::Heard, Closed>> {
    let end = end.end_mut();
    match end.line_mut().hear()? {
        // SAFETY: the message was just received at this end.
        Ok(message) => Some(Ok(unsafe { E::heard(end.take(), message) })),
        Err(Closed) => Some(Err(Closed)),
    }
}

/// Waits for the next message. Like the other functions here, it is called by the methods of endpoints.
///
/// It waits only until the message is there. The message then goes from its slot straight to the caller. Passing it
/// through the frames of the wait would copy it several times. Each copy would read at once what the one before has
/// just written in parts, and stall.
#[inline]
#[track_caller]
pub fn recv<E: Listen>(mut end: E, cx: &Cx<'_>) -> Result<E::Heard, RecvError<E>> {
    if cx.checkpoint().is_err() {
        return Err(RecvError::Cancelled(end));
    }
    loop {
        if let Some(heard) = hear(&mut end) {
            return Ok(heard?);
        }
        if more(end.end().line(), cx, NEVER, WaitReason::new(E::NAME)).is_err() {
            return Err(RecvError::Cancelled(end));
        }
    }
}

/// Waits until there is a message. There was none just now.
#[inline(always)]
fn more<L: Line>(line: &L, cx: &Cx<'_>, deadline: u64, reason: WaitReason) -> Result<(), WaitError> {
    wait_again_for(cx, &Ready { line, wait: L::wait() }, deadline, reason)
}

/// Like [`recv`], with a deadline.
#[track_caller]
pub fn recv_deadline<E: Listen>(end: E, cx: &Cx<'_>, instant: Instant) -> Result<E::Heard, RecvTimeoutError<E>> {
    recv_to(end, cx, cx.owner.clock().tick_at(instant), WaitReason::new(E::NAME))
}

/// Like [`recv`], with a timeout.
#[track_caller]
pub fn recv_timeout<E: Listen>(end: E, cx: &Cx<'_>, timeout: Duration) -> Result<E::Heard, RecvTimeoutError<E>> {
    recv_to(end, cx, cx.after(timeout), WaitReason::new(E::NAME))
}

fn recv_to<E: Listen>(
    mut end: E,
    cx: &Cx<'_>,
    deadline: u64,
    reason: WaitReason,
) -> Result<E::Heard, RecvTimeoutError<E>> {
    if cx.checkpoint().is_err() {
        return Err(RecvTimeoutError::Cancelled(end));
    }
    loop {
        if let Some(heard) = hear(&mut end) {
            return Ok(heard?);
        }
        match more(end.end().line(), cx, deadline, reason) {
            Ok(()) => {}
            Err(WaitError::Cancelled) => return Err(RecvTimeoutError::Cancelled(end)),
            Err(WaitError::TimedOut) => return Err(RecvTimeoutError::TimedOut(end)),
        }
    }
}

/// Receives the next message if it was sent. Does not wait.
#[inline]
pub fn try_recv<E: Listen>(mut end: E) -> Result<E::Heard, TryRecvError<E>> {
    match hear(&mut end) {
        Some(heard) => Ok(heard?),
        None => Err(TryRecvError::Empty(end)),
    }
}

/// Like [`recv`], for async code.
pub async fn recv_async<E: Listen>(mut end: E) -> Result<E::Heard, Closed> {
    wait_async_for(Receiving::new(&mut end)).await
}

/// Waits until [`try_recv`] would not return `Empty`.
pub async fn ready_async<E: Listen>(end: &mut E) {
    wait_async_for(Ready { line: end.end().line(), wait: E::Line::wait() }).await;
}

/// Returns whether [`try_recv`] would not return `Empty`.
pub fn is_ready<E: Listen>(end: &E) -> bool {
    end.end().line().is_ready()
}

/// Receiving from an endpoint of a conversation, as an operation. Made by the method `receiving` of the endpoint.
pub struct Receiving<'a, E: Listen> {
    end: UnsafeCell<&'a mut E>,
    wait: <E::Line as Transport>::Wait,
}

impl<'a, E: Listen> Receiving<'a, E> {
    #[doc(hidden)]
    pub fn new(end: &'a mut E) -> Self {
        Self { end: UnsafeCell::new(end), wait: E::Line::wait() }
    }

    fn line(&self) -> &E::Line {
        // SAFETY: an operation is not `Sync`, so only its owner reaches the field, and no attempt runs while this
        // reference is used.
        unsafe { &*self.end.get() }.end().line()
    }
}

impl<E: Listen> Attempt for Receiving<'_, E> {
    type Output = Result<E::Heard, Closed>;

    fn attempt(&self) -> Option<Self::Output> {
        // SAFETY: an operation is not `Sync`, so only its owner reaches the field. The reference ends here.
        hear(unsafe { &mut **self.end.get() })
    }
}

// SAFETY: the line upholds the contract of `Waitable`, and its end stays in place while it is borrowed.
unsafe impl<E: Listen> Waitable for Receiving<'_, E> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { self.line().register(&self.wait, waiter, ticket) }
    }

    unsafe fn unregister(&self, is_selected: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { self.line().unregister(&self.wait, is_selected) }
    }
}

/// The same wait, without a receive.
struct Ready<'a, L: Line> {
    line: &'a L,
    wait: L::Wait,
}

impl<L: Line> Attempt for Ready<'_, L> {
    type Output = ();

    #[inline]
    fn attempt(&self) -> Option<()> {
        self.line.is_ready().then_some(())
    }
}

// SAFETY: the line upholds the contract of `Waitable`, and its end stays in place while it is borrowed.
unsafe impl<L: Line> Waitable for Ready<'_, L> {
    unsafe fn register(&self, waiter: *const Waiter, ticket: u32) -> bool {
        // SAFETY: the caller keeps the waiter armed and alive, and this object in place, until `unregister`.
        unsafe { self.line.register(&self.wait, waiter, ticket) }
    }

    unsafe fn unregister(&self, is_selected: bool) {
        // SAFETY: the caller has registered here, and its wait has ended.
        unsafe { self.line.unregister(&self.wait, is_selected) }
    }
}

impl<E: Listen> fmt::Debug for Receiving<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("proto::Receiving").field("from", &E::NAME).finish_non_exhaustive()
    }
}

/// As a member of a set, an endpoint receives once and is used up.
impl<E: Listen> Receive for E {
    type Item = E::Heard;
}

impl<E: Listen> Source for E {
    type Value = E::Heard;
    type Wait = <E::Line as Transport>::Wait;

    const IS_ONCE: bool = true;

    fn wait() -> Self::Wait {
        E::Line::wait()
    }

    fn receive(&mut self) -> Result<E::Heard, channel::TryRecvError> {
        match hear(self) {
            Some(Ok(heard)) => Ok(heard),
            Some(Err(Closed)) => Err(channel::TryRecvError::Closed),
            None => Err(channel::TryRecvError::Empty),
        }
    }

    unsafe fn register(&self, wait: &Self::Wait, waiter: *const Waiter) -> bool {
        // SAFETY: the caller keeps the persistent waiter alive and `wait` in place until `withdraw` or the wake-up.
        unsafe { self.end().line().register(wait, waiter, 0) }
    }

    unsafe fn withdraw(&self, wait: &Self::Wait) -> bool {
        self.end().line().withdraw(wait)
    }

    fn pass_on(&self) {}
}
