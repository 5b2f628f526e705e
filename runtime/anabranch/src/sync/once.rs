//! One-time initialisation: a cell that its first user initialises, and the same without a value.
//!
//! The initialiser holds the only permit of a [semaphore](super::raw_semaphore), and the others wait for it. If the
//! initialiser fails in any way, it gives the permit back, and the next user tries. If it succeeds, it sets `is_done`,
//! and releases enough permits that no later user waits.
//!
//! Orderings: `is_done` is written with release after the value and read with acquire before it.

use super::{acquire_wait::AcquireWait, raw_semaphore::RawSemaphore};
use crate::{
    cx::{Cx, attempt::wait_without_deadline, operation::OperationFuture},
    sys::sync::{AtomicBool, Ordering, const_unless_loom},
    wait::{Cancelled, future::count_ready, suspend::WaitReason},
};
use std::{cell::UnsafeCell, convert::Infallible, fmt, future::Future, mem};

/// More permits than there can be waiters.
const ENOUGH: u64 = u32::MAX as u64;

/// A value that its first user initialises.
///
/// The initialiser may wait, on a fiber and in async code; the other users wait for it meanwhile. If it fails, panics
/// or is cancelled, the next user tries its own initialiser. An initialiser that waits for its own cell deadlocks.
///
/// ```
/// use anabranch::{Cancelled, sync::OnceCell};
/// use std::time::Duration;
///
/// static CONFIG: OnceCell<String> = OnceCell::new();
///
/// anabranch::run(|cx| {
///     cx.scope(|s| {
///         for _ in 0..3 {
///             s.spawn(|cx| {
///                 let config = CONFIG.get_or_try_init(cx, |cx| {
///                     cx.sleep(Duration::from_millis(1))?;
///                     Ok::<_, Cancelled>("read once".to_owned())
///                 })?;
///                 assert_eq!(config, "read once");
///                 Ok::<_, Cancelled>(())
///             });
///         }
///     });
/// });
/// ```
pub struct OnceCell<T> {
    is_done: AtomicBool,
    /// The right to initialise.
    permit: RawSemaphore,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: only the holder of the permit writes the value. From then on it is only read, until the cell is borrowed
// exclusively.
unsafe impl<T: Send + Sync> Sync for OnceCell<T> {}

/// The right to initialise. Dropping it gives the permit back.
struct Initialising<'a, T>(&'a OnceCell<T>);

impl<'a, T> Initialising<'a, T> {
    fn finish(self, value: T) -> &'a T {
        let Self(cell) = self;
        mem::forget(self);
        // SAFETY: this thread holds the permit, and no reference to the value exists before `is_done` is set.
        unsafe { *cell.value.get() = Some(value) };
        cell.is_done.store(true, Ordering::Release);
        cell.permit.release(ENOUGH);
        // SAFETY: the value is written once, above, and not again while the cell is shared.
        unsafe { (*cell.value.get()).as_ref().expect("just initialised") }
    }
}

impl<T> Drop for Initialising<'_, T> {
    fn drop(&mut self) {
        self.0.permit.release(1);
    }
}

impl<T> OnceCell<T> {
    const_unless_loom! {
        /// Creates an empty cell.
        pub fn new() -> Self {
            Self { is_done: AtomicBool::new(false), permit: RawSemaphore::new(1), value: UnsafeCell::new(None) }
        }
    }

    /// Returns the value if it is initialised.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if !self.is_done.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: `is_done` is set, so the value is not written again while the cell is shared.
        unsafe { (*self.value.get()).as_ref() }
    }

    /// Returns the value; initialises it with `init` first if it is empty.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled. An initialiser that waits can be cancelled too: use
    /// [`get_or_try_init`](Self::get_or_try_init) for it.
    ///
    /// ```
    /// let cell = anabranch::sync::OnceCell::new();
    /// anabranch::run(|cx| {
    ///     assert_eq!(cell.get_or_init(cx, |_| 1), Ok(&1));
    ///     assert_eq!(cell.get_or_init(cx, |_| 2), Ok(&1));
    /// });
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_init(&self, cx: &Cx<'_>, init: impl FnOnce(&Cx<'_>) -> T) -> Result<&T, Cancelled> {
        self.get_or_try_init(cx, |cx| Ok(init(cx)))
    }

    /// Returns the value; initialises it with `init` first if it is empty.
    ///
    /// # Errors
    /// Returns the error of `init`, or an error if the scope is cancelled. The cell stays empty then.
    ///
    /// ```
    /// use anabranch::{Cancelled, sync::OnceCell};
    ///
    /// let cell = OnceCell::<u32>::new();
    /// anabranch::run(|cx| {
    ///     assert_eq!(cell.get_or_try_init(cx, |_| Err(Cancelled)), Err(Cancelled));
    ///     assert_eq!(cell.get_or_try_init(cx, |_| Ok::<_, Cancelled>(2)), Ok(&2));
    /// });
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_try_init<E: From<Cancelled>>(
        &self,
        cx: &Cx<'_>,
        init: impl FnOnce(&Cx<'_>) -> Result<T, E>,
    ) -> Result<&T, E> {
        cx.checkpoint()?;
        if let Some(value) = self.get() {
            return Ok(value);
        }
        if !self.permit.try_acquire(1) {
            wait_without_deadline(cx, &AcquireWait::new(&self.permit, 1), WaitReason::new(&"OnceCell"))?;
        }
        match self.begin() {
            Ok(initialising) => Ok(initialising.finish(init(cx)?)),
            Err(value) => Ok(value),
        }
    }

    /// Like [`get_or_init`](Self::get_or_init), for async code. If the future is dropped, the next user initialises.
    ///
    /// ```
    /// use anabranch::sync::OnceCell;
    ///
    /// static ANSWER: OnceCell<u32> = OnceCell::new();
    ///
    /// async fn answer() -> u32 {
    ///     *ANSWER.get_or_init_async(|| async { 6 * 7 }).await
    /// }
    /// # assert_eq!(anabranch::run(|cx| cx.block_on(answer())), Ok(42));
    /// ```
    pub async fn get_or_init_async<F: Future<Output = T>>(&self, init: impl FnOnce() -> F) -> &T {
        match self.get_or_try_init_async(|| async { Ok::<_, Infallible>(init().await) }).await {
            Ok(value) => value,
            Err(never) => match never {},
        }
    }

    /// Like [`get_or_try_init`](Self::get_or_try_init), for async code.
    ///
    /// # Errors
    /// Returns the error of `init`.
    pub async fn get_or_try_init_async<E, F>(&self, init: impl FnOnce() -> F) -> Result<&T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get() {
            count_ready().await;
            return Ok(value);
        }
        OperationFuture::new(AcquireWait::new(&self.permit, 1)).await;
        match self.begin() {
            Ok(initialising) => Ok(initialising.finish(init().await?)),
            Err(value) => Ok(value),
        }
    }

    /// Continues with a permit: to initialise, or because the value is already there.
    fn begin(&self) -> Result<Initialising<'_, T>, &T> {
        match self.get() {
            Some(value) => Err(value),
            None => Ok(Initialising(self)),
        }
    }

    /// Sets the value if the cell is empty and no initialiser is running.
    ///
    /// # Errors
    /// Returns `value` otherwise.
    ///
    /// ```
    /// let cell = anabranch::sync::OnceCell::new();
    /// assert_eq!(cell.set(1), Ok(()));
    /// assert_eq!(cell.set(2), Err(2));
    /// ```
    pub fn set(&self, value: T) -> Result<(), T> {
        if self.get().is_some() || !self.permit.try_acquire(1) {
            return Err(value);
        }
        match self.begin() {
            Ok(initialising) => {
                initialising.finish(value);
                Ok(())
            }
            Err(_) => Err(value),
        }
    }

    /// Returns the value if it is initialised.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Takes the value out. The cell is then empty.
    ///
    /// ```
    /// let mut cell = anabranch::sync::OnceCell::from(1);
    /// assert_eq!((cell.take(), cell.take()), (Some(1), None));
    /// ```
    pub fn take(&mut self) -> Option<T> {
        mem::take(self).into_inner()
    }

    /// Returns the value if it is initialised.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Creates an initialised cell.
impl<T> From<T> for OnceCell<T> {
    fn from(value: T) -> Self {
        Self { is_done: AtomicBool::new(true), permit: RawSemaphore::new(ENOUGH), value: UnsafeCell::new(Some(value)) }
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_tuple("OnceCell");
        match self.get() {
            Some(value) => shown.field(value).finish(),
            None => shown.field(&format_args!("<empty>")).finish(),
        }
    }
}

/// An action that is done once, by its first caller. The other callers wait for it.
///
/// If it panics or is cancelled, the next caller does it.
///
/// ```
/// use anabranch::sync::Once;
///
/// static GREETED: Once = Once::new();
///
/// anabranch::run(|cx| {
///     for _ in 0..3 {
///         GREETED.call(cx, |_| println!("hello")).unwrap();
///     }
///     assert!(GREETED.is_done());
/// });
/// ```
#[derive(Default)]
pub struct Once(OnceCell<()>);

impl Once {
    const_unless_loom! {
        /// Creates a `Once` whose action has not been done.
        pub fn new() -> Self {
            Self(OnceCell::new())
        }
    }

    /// Returns whether the action has been done.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.0.get().is_some()
    }

    /// Does the action unless it has been done. Waits for it if another caller is doing it.
    ///
    /// # Errors
    /// Returns an error if the scope is cancelled.
    #[inline]
    #[track_caller]
    pub fn call(&self, cx: &Cx<'_>, body: impl FnOnce(&Cx<'_>)) -> Result<(), Cancelled> {
        self.0.get_or_init(cx, body).copied()
    }

    /// Like [`call`](Self::call), with an action that can fail. It counts as done if `body` succeeds.
    ///
    /// # Errors
    /// Returns the error of `body`, or an error if the scope is cancelled.
    #[inline]
    #[track_caller]
    pub fn try_call<E: From<Cancelled>>(
        &self,
        cx: &Cx<'_>,
        body: impl FnOnce(&Cx<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.get_or_try_init(cx, body).copied()
    }

    /// Like [`call`](Self::call), for async code. If the future is dropped, the next caller does the action.
    pub async fn call_async<F: Future<Output = ()>>(&self, body: impl FnOnce() -> F) {
        self.0.get_or_init_async(body).await;
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("is_done", &self.is_done()).finish()
    }
}
