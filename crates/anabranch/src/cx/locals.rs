//! Values that each fiber has for itself.

use crate::cx::Cx;
use std::{any::Any, cell::UnsafeCell, ptr};

/// The values of one fiber.
pub(crate) struct Locals {
    /// By the address of the `FiberLocal`. A fiber has few, and a boxed value stays where it is until the fiber ends.
    values: UnsafeCell<Vec<(*const (), Box<dyn Any>)>>,
}

impl Locals {
    pub(crate) const fn new() -> Self {
        Self { values: UnsafeCell::new(Vec::new()) }
    }

    fn find(&self, key: *const ()) -> Option<&dyn Any> {
        // SAFETY: only the fiber's thread comes here, as a `Cx` is not `Sync`, and no reference to the list is kept while anything else
        // runs; the boxes stay until `clear`.
        let values = unsafe { &*self.values.get() };
        values.iter().find(|(of, _)| ptr::eq(*of, key)).map(|(_, value)| &**value)
    }

    /// Drops them all, the newest first. The fiber has ended: nobody holds a reference.
    #[inline]
    pub(crate) fn clear(&self) {
        // SAFETY: as in `find`.
        if unsafe { !(*self.values.get()).is_empty() } {
            self.drop_all();
        }
    }

    #[cold]
    fn drop_all(&self) {
        loop {
            // SAFETY: as in `find`; a value that is dropped is in the list no more.
            let value = unsafe { (*self.values.get()).pop() };
            if value.is_none() {
                return;
            }
        }
    }
}

impl Drop for Locals {
    #[inline]
    fn drop(&mut self) {
        self.clear();
    }
}

/// A value that each fiber has for itself, made when the fiber first asks for it and dropped when the fiber ends.
///
/// It belongs to the fiber, not to its thread: other fibers of the same thread have their own, and so has all that is spawned.
/// The first closure of [`Cx::join`] is a part of the fiber that calls it and sees the fiber's values; the second has values of its own,
/// also where it runs on the same fiber in the end. On a plain thread a value belongs to the [`run`](crate::run).
///
/// ```
/// use anabranch::FiberLocal;
/// use std::cell::Cell;
///
/// static REQUESTS: FiberLocal<Cell<u32>> = FiberLocal::new(|| Cell::new(0));
///
/// anabranch::run(|cx| {
///     REQUESTS.get(cx).set(REQUESTS.get(cx).get() + 1);
///     assert_eq!(REQUESTS.get(cx).get(), 1);
///     cx.join(|cx| assert_eq!(REQUESTS.get(cx).get(), 1), |cx| assert_eq!(REQUESTS.get(cx).get(), 0));
/// });
/// ```
pub struct FiberLocal<T: 'static> {
    init: fn() -> T,
    /// Statics of no size might share an address.
    _address: u8,
}

impl<T: 'static> FiberLocal<T> {
    /// To be kept in a `static`. `init` makes the value for each fiber.
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _address: 0 }
    }

    /// The fiber's value. Linear in the number of different ones that the fiber has.
    ///
    /// # Panics
    /// When the initialiser does.
    pub fn get<'a>(&'static self, cx: &'a Cx<'_>) -> &'a T {
        let key: *const () = ptr::from_ref(self).cast();
        let found = cx.locals.find(key).or_else(|| {
            let value = Box::new((self.init)());
            // SAFETY: as in `find`. The initialiser may have made others, and, if it has got hold of a `Cx`, this one: then the older one is
            // found, and both stay.
            unsafe { (*cx.locals.values.get()).push((key, value)) };
            cx.locals.find(key)
        });
        found.and_then(|value| value.downcast_ref()).expect("the value of this key is of this type")
    }
}

impl<T> std::fmt::Debug for FiberLocal<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FiberLocal").finish_non_exhaustive()
    }
}
