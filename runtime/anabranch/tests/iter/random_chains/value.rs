//! The items of random chains: numbers whose creation and drop are counted, and whose operations can panic.

use std::{
    fmt,
    hash::{Hash, Hasher},
    iter,
    panic::panic_any,
    sync::{
        Arc,
        atomic::{AtomicIsize, AtomicUsize, Ordering},
    },
};

/// The payload of the panics of a [`World`].
pub struct Burnt;

/// Counts the values of one run, and panics at one of their operations.
pub struct World {
    made: AtomicUsize,
    dropped: AtomicUsize,
    /// The number of operations before the one that panics.
    fuse: AtomicIsize,
}

impl World {
    /// Returns a world in which the operation after the first `fuse` ones panics.
    pub fn new(fuse: Option<usize>) -> Arc<Self> {
        let fuse = AtomicIsize::new(fuse.map_or(isize::MAX, |fuse| fuse as isize));
        Arc::new(Self { made: AtomicUsize::new(0), dropped: AtomicUsize::new(0), fuse })
    }

    /// An operation.
    pub fn step(&self) {
        if self.fuse.fetch_sub(1, Ordering::Relaxed) == 0 {
            panic_any(Burnt);
        }
    }

    /// Returns whether an operation has panicked.
    pub fn has_burnt(&self) -> bool {
        self.fuse.load(Ordering::Relaxed) < 0
    }

    /// Asserts that each value was dropped once, and that nothing else refers to the world.
    pub fn assert_empty(self: Arc<Self>) {
        let (made, dropped) = (self.made.load(Ordering::Relaxed), self.dropped.load(Ordering::Relaxed));
        assert_eq!(made, dropped, "values made and values dropped");
        assert_eq!(Arc::strong_count(&self), 1, "references to the world");
    }
}

/// All numbers are less than this, so that simple arithmetic does not overflow.
const MODULUS: u64 = 1_000_003;

/// A number.
pub struct Value {
    number: u64,
    world: Arc<World>,
}

impl Value {
    pub fn new(number: u64, world: &Arc<World>) -> Self {
        world.made.fetch_add(1, Ordering::Relaxed);
        Self { number: number % MODULUS, world: Arc::clone(world) }
    }

    /// Returns the number. This is an operation.
    pub fn get(&self) -> u64 {
        self.world.step();
        self.number
    }

    /// Changes the number. This is an operation.
    pub fn set(&mut self, change: impl FnOnce(u64) -> u64) {
        self.number = change(self.get()) % MODULUS;
    }

    /// Returns the value with another number. This is an operation.
    pub fn with(mut self, change: impl FnOnce(u64) -> u64) -> Self {
        self.set(change);
        self
    }

    /// Returns a value of both. This is an operation.
    pub fn mix(self, other: &Self) -> Self {
        let other = other.get();
        self.with(|number| 31 * number + other)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.world.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        Self::new(self.get(), &self.world)
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.number
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.get().cmp(&other.number)
    }
}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

/// A number that the order of its terms changes: a polynomial in 31 with the terms as coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Digest {
    sum: u64,
    /// 31 to the power of the number of terms.
    power: u64,
}

impl Digest {
    pub const EMPTY: Self = Self { sum: 0, power: 1 };

    pub fn of(value: &Value) -> Self {
        Self { sum: value.get().wrapping_add(7), power: 31 }
    }
    pub fn then(self, next: Self) -> Self {
        Self {
            sum: self.sum.wrapping_mul(next.power).wrapping_add(next.sum),
            power: self.power.wrapping_mul(next.power),
        }
    }
}

impl iter::Sum for Digest {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::EMPTY, Self::then)
    }
}

impl iter::Product<Value> for Digest {
    fn product<I: Iterator<Item = Value>>(factors: I) -> Self {
        factors.map(|factor| Self::of(&factor)).sum()
    }
}

impl iter::Product for Digest {
    fn product<I: Iterator<Item = Self>>(factors: I) -> Self {
        factors.sum()
    }
}
