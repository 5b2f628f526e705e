//! Thread-locals of simulated threads. Outside of a simulation they are those of the system's thread.

use std::{
    cell::{Cell, RefCell},
    mem,
    ptr::NonNull,
    rc::Rc,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The value of a key on one thread.
enum Slot {
    Unused,
    Used(NonNull<()>, unsafe fn(NonNull<()>)),
    Dropped,
}

/// The values of one thread.
#[derive(Default)]
pub(crate) struct Locals {
    slots: RefCell<Vec<Slot>>,
}

thread_local! {
    /// The values of the simulated thread that runs.
    static CURRENT: Cell<Option<Rc<Locals>>> = const { Cell::new(None) };
    static OUTSIDE: Locals = Locals::default();
}

impl Locals {
    /// Replaces the current values.
    pub(crate) fn enter(locals: Option<Rc<Self>>) -> Option<Rc<Self>> {
        CURRENT.replace(locals)
    }

    /// Drops the values of the current thread, in the order of the keys. A value that is dropped may use the others.
    pub(crate) fn drop_all() {
        let Some(locals) = Self::current() else { return };
        for index in 0.. {
            let slot = match locals.slots.borrow_mut().get_mut(index) {
                Some(slot) => mem::replace(slot, Slot::Dropped),
                None => return,
            };
            if let Slot::Used(value, drop) = slot {
                // SAFETY: the value is from `LocalKey::access` with the drop function of its type. The slot had the
                // only pointer, and says now that the value is dropped.
                unsafe { drop(value) };
            }
        }
    }

    fn current() -> Option<Rc<Self>> {
        let locals = CURRENT.take();
        CURRENT.set(locals.clone());
        locals
    }
}

/// A key like `std::thread::LocalKey`.
pub struct LocalKey<T: 'static> {
    initial: fn() -> T,
    /// The index of the key plus 1, or 0 before the first use.
    number: AtomicUsize,
}

/// The number of keys in use.
static KEYS: AtomicUsize = AtomicUsize::new(0);

/// The value of a key was dropped, because its thread ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessError;

impl<T> LocalKey<T> {
    /// For [`thread_local!`](crate::thread_local).
    #[doc(hidden)]
    pub const fn new(initial: fn() -> T) -> Self {
        Self { initial, number: AtomicUsize::new(0) }
    }

    fn index(&self) -> usize {
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            return number - 1;
        }
        let next = KEYS.fetch_add(1, Ordering::Relaxed) + 1;
        match self.number.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => next - 1,
            Err(other) => other - 1,
        }
    }

    /// Calls a closure with the value of the calling thread.
    ///
    /// # Panics
    /// Panics if the thread ends and has dropped the value.
    pub fn with<R>(&'static self, body: impl FnOnce(&T) -> R) -> R {
        self.try_with(body).expect("the value of this thread was dropped")
    }

    /// Calls a closure with the value of the calling thread.
    ///
    /// # Errors
    /// Fails if the thread ends and has dropped the value.
    pub fn try_with<R>(&'static self, body: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        match Locals::current() {
            Some(locals) => self.access(&locals, body),
            None => OUTSIDE.try_with(|locals| self.access(locals, body)).map_err(|_| AccessError)?,
        }
    }

    fn access<R>(&'static self, locals: &Locals, body: impl FnOnce(&T) -> R) -> Result<R, AccessError> {
        unsafe fn drop_value<T>(value: NonNull<()>) {
            // SAFETY: the caller passes a value that `access` has boxed for a key of this type, once.
            drop(unsafe { Box::from_raw(value.cast::<T>().as_ptr()) });
        }
        let index = self.index();
        let find = || match locals.slots.borrow().get(index) {
            Some(&Slot::Used(value, _)) => Some(Some(value)),
            Some(Slot::Dropped) => Some(None),
            Some(Slot::Unused) | None => None,
        };
        let value = match find() {
            Some(value) => value.ok_or(AccessError)?,
            None => {
                let new = NonNull::from(Box::leak(Box::new((self.initial)()))).cast();
                let mut slots = locals.slots.borrow_mut();
                if slots.len() <= index {
                    slots.resize_with(index + 1, || Slot::Unused);
                }
                slots[index] = Slot::Used(new, drop_value::<T>);
                new
            }
        };
        // SAFETY: the index belongs to this key, so the value is a boxed `T`. It is dropped when its thread has ended,
        // and no thread of a simulation runs while this one does, so only this thread accesses it.
        Ok(body(unsafe { value.cast::<T>().as_ref() }))
    }
}

impl<T> LocalKey<Cell<T>> {
    /// Returns a copy of the value.
    pub fn get(&'static self) -> T
    where
        T: Copy,
    {
        self.with(Cell::get)
    }

    /// Sets the value.
    pub fn set(&'static self, value: T) {
        self.with(|cell| cell.set(value));
    }

    /// Sets the value, and returns the one before.
    pub fn replace(&'static self, value: T) -> T {
        self.with(|cell| cell.replace(value))
    }

    /// Takes the value, and leaves the default.
    pub fn take(&'static self) -> T
    where
        T: Default,
    {
        self.with(Cell::take)
    }
}

/// Declares thread-locals like `std::thread_local!`.
#[macro_export]
macro_rules! thread_local {
    ($($(#[$meta:meta])* static $name:ident: $type:ty = const { $initial:expr };)*) => {$(
        $(#[$meta])*
        static $name: $crate::thread::LocalKey<$type> = $crate::thread::LocalKey::new(|| $initial);
    )*};
}
