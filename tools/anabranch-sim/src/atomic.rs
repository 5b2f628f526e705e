//! Atomics like those of `std::sync::atomic`. Each operation is an access to the line of its address.
//!
//! All simulated threads run on one system thread, so the orderings order nothing here: memory is sequentially
//! consistent, and they only decide the cost.

use crate::{engine, machine::Access};
pub use std::sync::atomic::Ordering;
use std::{fmt, sync::atomic as real};

fn access<T>(place: &T, access: Access) {
    engine::with(|engine| engine.access(std::ptr::from_ref(place).addr(), access));
}

/// A fence like `std::sync::atomic::fence`. Only a sequentially consistent one costs time.
pub fn fence(order: Ordering) {
    if order == Ordering::SeqCst {
        engine::with(engine::Engine::fence);
    }
}

macro_rules! atomic {
    ($name:ident$(<$parameter:ident>)?, $real:ty, $value:ty) => {
        /// An atomic of a simulation.
        #[repr(transparent)]
        pub struct $name$(<$parameter>)?($real);

        impl$(<$parameter>)? $name$(<$parameter>)? {
            /// Creates an atomic.
            pub const fn new(value: $value) -> Self {
                Self(<$real>::new(value))
            }

            /// Loads the value.
            #[inline]
            pub fn load(&self, order: Ordering) -> $value {
                access(self, Access::Load);
                self.0.load(order)
            }

            /// Stores a value.
            #[inline]
            pub fn store(&self, value: $value, order: Ordering) {
                access(self, if order == Ordering::SeqCst { Access::Update } else { Access::Store });
                self.0.store(value, order);
            }

            /// Stores a value, and returns the former one.
            pub fn swap(&self, value: $value, order: Ordering) -> $value {
                access(self, Access::Update);
                self.0.swap(value, order)
            }

            /// Stores a value if the current one is as expected.
            ///
            /// # Errors
            /// Returns the current value if it is another one.
            pub fn compare_exchange(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                access(self, Access::Update);
                self.0.compare_exchange(current, new, success, failure)
            }

            /// Like [`compare_exchange`](Self::compare_exchange): it never fails spuriously here.
            ///
            /// # Errors
            /// Returns the current value if it is another one.
            pub fn compare_exchange_weak(
                &self,
                current: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                self.compare_exchange(current, new, success, failure)
            }

            /// Replaces the value by what a closure makes of it, until no other thread comes between.
            ///
            /// # Errors
            /// Returns the current value if the closure returns `None`.
            pub fn fetch_update(
                &self,
                set: Ordering,
                fetch: Ordering,
                mut change: impl FnMut($value) -> Option<$value>,
            ) -> Result<$value, $value> {
                let mut before = self.load(fetch);
                while let Some(next) = change(before) {
                    match self.compare_exchange(before, next, set, fetch) {
                        Ok(before) => return Ok(before),
                        Err(other) => before = other,
                    }
                }
                Err(before)
            }

            /// Returns the value, of which this is the only reference.
            pub fn get_mut(&mut self) -> &mut $value {
                self.0.get_mut()
            }

            /// Returns the value.
            pub fn into_inner(self) -> $value {
                self.0.into_inner()
            }

            /// Returns the address of the value.
            pub const fn as_ptr(&self) -> *mut $value {
                self.0.as_ptr()
            }
        }

        impl$(<$parameter>)? fmt::Debug for $name$(<$parameter>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

macro_rules! updates {
    ($name:ident, $value:ty: $($method:ident),*) => {
        impl $name {
            $(
                /// Changes the value, and returns the former one.
                pub fn $method(&self, value: $value, order: Ordering) -> $value {
                    access(self, Access::Update);
                    self.0.$method(value, order)
                }
            )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new(<$value>::default())
            }
        }
    };
}

atomic!(AtomicBool, real::AtomicBool, bool);
atomic!(AtomicU8, real::AtomicU8, u8);
atomic!(AtomicU32, real::AtomicU32, u32);
atomic!(AtomicU64, real::AtomicU64, u64);
atomic!(AtomicUsize, real::AtomicUsize, usize);
atomic!(AtomicPtr<T>, real::AtomicPtr<T>, *mut T);
updates!(AtomicBool, bool: fetch_and, fetch_or, fetch_xor);
updates!(AtomicU8, u8: fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max, fetch_min);
updates!(AtomicU32, u32: fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max, fetch_min);
updates!(AtomicU64, u64: fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max, fetch_min);
updates!(AtomicUsize, usize: fetch_add, fetch_sub, fetch_and, fetch_or, fetch_xor, fetch_max, fetch_min);
