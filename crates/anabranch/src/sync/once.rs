//! What is done once: a cell that is initialised by the first who needs it, and the same without a value.
//!
//! Whoever initialises has the one permit of a [semaphore](super::raw_semaphore), for which the others wait. When it
//! fails, by whichever way, it gives the permit back, and the next one tries. When it succeeds it says so and gives
//! back so many permits that nobody has to wait any more.
//!
//! Orderings: `is_done` is written with release after the value and read with acquire before it.

use super::raw_semaphore::{AcquireWait, RawSemaphore};
use crate::{
    cx::{
        Cx,
        attempt::{wait_async_for, wait_long_for},
    },
    sys::sync::{AtomicBool, Ordering, const_unless_loom},
    wait::{Cancelled, suspend::WaitReason},
};
use std::{cell::UnsafeCell, convert::Infallible, fmt, future::Future, mem};

/// More than can wait at a time.
const ENOUGH: u64 = u32::MAX as u64;

/// A value that is made when somebody first needs it.
///
/// The initialiser may wait, on its fiber as in async code; the others wait for it meanwhile. If it fails, panics or is
/// cancelled, the next one tries its own. An initialiser that needs the value itself waits for ever.
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
    /// To initialise.
    permit: RawSemaphore,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written by who has the permit, and shared from then on.
unsafe impl<T: Send + Sync> Sync for OnceCell<T> {}

/// The right to initialise. Given back when it is dropped.
struct Initialising<'a, T>(&'a OnceCell<T>);

impl<'a, T> Initialising<'a, T> {
    fn finish(self, value: T) -> &'a T {
        let Self(cell) = self;
        mem::forget(self);
        // SAFETY: this is the one that initialises, and nobody has a reference before it is done.
        unsafe { *cell.value.get() = Some(value) };
        cell.is_done.store(true, Ordering::Release);
        cell.permit.release(ENOUGH);
        // SAFETY: it is not written again while the cell is shared.
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
        /// An empty one.
        pub fn new() -> Self {
            Self { is_done: AtomicBool::new(false), permit: RawSemaphore::new(1), value: UnsafeCell::new(None) }
        }
    }

    /// The value, if there is one.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        if !self.is_done.load(Ordering::Acquire) {
            return None;
        }
        // SAFETY: it is not written again while the cell is shared.
        unsafe { (*self.value.get()).as_ref() }
    }

    /// The value; made by `init` if there is none yet.
    ///
    /// # Errors
    /// When the scope was cancelled. An initialiser that waits can be cancelled too:
    /// [`get_or_try_init`](Self::get_or_try_init) is for these.
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

    /// The value; made by `init` if there is none yet and it succeeds.
    ///
    /// # Errors
    /// When `init` fails, or the scope was cancelled.
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
            wait_long_for(cx, &AcquireWait::new(&self.permit, 1), WaitReason::new(&"OnceCell"))?;
        }
        match self.begin() {
            Ok(initialising) => Ok(initialising.finish(init(cx)?)),
            Err(value) => Ok(value),
        }
    }

    /// As [`get_or_init`](Self::get_or_init), for async code. When the future is dropped the next one tries.
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

    /// As [`get_or_try_init`](Self::get_or_try_init), for async code.
    ///
    /// # Errors
    /// When `init` fails.
    pub async fn get_or_try_init_async<E, F>(&self, init: impl FnOnce() -> F) -> Result<&T, E>
    where
        F: Future<Output = Result<T, E>>,
    {
        if let Some(value) = self.get() {
            return Ok(value);
        }
        if !self.permit.try_acquire(1) {
            wait_async_for(AcquireWait::new(&self.permit, 1)).await;
        }
        match self.begin() {
            Ok(initialising) => Ok(initialising.finish(init().await?)),
            Err(value) => Ok(value),
        }
    }

    /// For who has got a permit: to initialise, or because that has been done.
    fn begin(&self) -> Result<Initialising<'_, T>, &T> {
        match self.get() {
            Some(value) => Err(value),
            None => Ok(Initialising(self)),
        }
    }

    /// Sets the value, unless there is one, or somebody is just making one: then it is given back.
    ///
    /// # Errors
    /// In that case.
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

    /// The value, if there is one.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut().as_mut()
    }

    /// Takes the value out. The cell is empty then.
    ///
    /// ```
    /// let mut cell = anabranch::sync::OnceCell::from(1);
    /// assert_eq!((cell.take(), cell.take()), (Some(1), None));
    /// ```
    pub fn take(&mut self) -> Option<T> {
        mem::take(self).into_inner()
    }

    /// The value, if there is one.
    pub fn into_inner(self) -> Option<T> {
        self.value.into_inner()
    }
}

impl<T> Default for OnceCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Initialised with the value.
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

/// Something that is done once, by the first who comes; the others wait for it.
///
/// If it panics or is cancelled, the next one does it.
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
        /// Of something that has not been done.
        pub fn new() -> Self {
            Self(OnceCell::new())
        }
    }

    /// Whether it has been done.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.0.get().is_some()
    }

    /// Does it, unless it has been done, and waits for it if somebody is doing it.
    ///
    /// # Errors
    /// When the scope was cancelled.
    #[inline]
    #[track_caller]
    pub fn call(&self, cx: &Cx<'_>, body: impl FnOnce(&Cx<'_>)) -> Result<(), Cancelled> {
        self.0.get_or_init(cx, body).copied()
    }

    /// As [`call`](Self::call); it has been done if `body` succeeds.
    ///
    /// # Errors
    /// When `body` fails, or the scope was cancelled.
    #[inline]
    #[track_caller]
    pub fn try_call<E: From<Cancelled>>(
        &self,
        cx: &Cx<'_>,
        body: impl FnOnce(&Cx<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.0.get_or_try_init(cx, body).copied()
    }

    /// As [`call`](Self::call), for async code. When the future is dropped the next one does it.
    pub async fn call_async<F: Future<Output = ()>>(&self, body: impl FnOnce() -> F) {
        self.0.get_or_init_async(body).await;
    }
}

impl fmt::Debug for Once {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Once").field("is_done", &self.is_done()).finish()
    }
}
