//! `FiberLocal`: the key of a value that each fiber has for itself.

use crate::cx::Cx;
use std::{fmt, ptr};

/// A value that each fiber has for itself, created when the fiber first uses it and dropped when the fiber ends.
///
/// It belongs to the fiber, not to its thread: other fibers of the same thread have their own, and so has every spawned
/// fiber. The first closure of [`Cx::join`] is a part of the fiber that calls it and sees the fiber's values; the
/// second has values of its own, even where it runs on the same fiber in the end. On a plain thread a value belongs to
/// the call of [`run`](crate::run). If the destructor of a value panics, the panic goes to the [panic
/// handler](crate::Builder::on_panic) of the pool, and the other values are dropped.
///
/// ```
/// use anabranch::fiber::FiberLocal;
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
    /// Creates a key, to be kept in a `static`. `init` creates the value for each fiber.
    pub const fn new(init: fn() -> T) -> Self {
        Self { init, _address: 0 }
    }

    /// Returns the fiber's value. Takes time linear in the number of fiber-locals that the fiber has used.
    ///
    /// # Panics
    /// Panics when the initialiser panics.
    pub fn get<'a>(&'static self, cx: &'a Cx<'_>) -> &'a T {
        let key: *const () = ptr::from_ref(self).cast();
        let found = cx.locals.find(key).or_else(|| {
            let value = Box::new((self.init)());
            // The initialiser may have added others, this one too if it has got hold of a `Cx`.
            cx.locals.add(key, value);
            cx.locals.find(key)
        });
        found.and_then(|value| value.downcast_ref()).expect("the value of this key is of this type")
    }
}

impl<T> fmt::Debug for FiberLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FiberLocal").finish_non_exhaustive()
    }
}
