//! The weights that can be lengths, their distances, and the labels in which the kernel keeps these.

use std::fmt::{Debug, Display};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use super::{Settings, solve};
use crate::kernels::{Cancel, KernelError};
use crate::{Graph, Weight};

/// A weight that is the length of its edge: `u32`, whose distances are `u64`, or `f64`, or `f32`.
///
/// A distance of floats is a sum that is rounded after each edge, so after n edges it may be wrong by n times
/// [`ROUNDING`](Length::ROUNDING): by 10^-10 of itself after 10^6 edges of `f64`, and by 6% of `f32`.
pub trait Length: Weight + Into<f64> {
    /// The sum of the weights of a path.
    type Distance: Copy + PartialOrd + Debug + Display + Send + Sync + 'static;
    /// The distance of the root.
    const ZERO: Self::Distance;
    /// The distance of a vertex that the root does not reach: the greatest number, or infinity.
    const UNREACHED: Self::Distance;
    /// The largest error of an addition, as a share of its result: 0 for whole numbers.
    const ROUNDING: f64;
    /// The largest distance that is not infinite.
    #[doc(hidden)]
    const LARGEST: f64;

    /// Returns the length of a path of this `distance` and one more edge.
    ///
    /// ```
    /// use anabranch_graph::kernels::sssp::Length;
    /// assert_eq!(u32::extend(u64::from(u32::MAX), 1), 1 << 32);
    /// ```
    fn extend(distance: Self::Distance, weight: Self) -> Self::Distance;

    /// Returns the distance as a sum of two numbers, whose second is at most half a unit in the last place of the
    /// first.
    #[doc(hidden)]
    fn parts(distance: Self::Distance) -> (f64, f64);

    /// Computes the distances of all vertices.
    #[doc(hidden)]
    fn distances(
        graph: &Graph<Self>,
        root: u32,
        settings: Settings,
        cancel: &dyn Cancel,
    ) -> Result<Vec<Self::Distance>, KernelError>;
}

impl Length for u32 {
    type Distance = u64;
    const ZERO: u64 = 0;
    const UNREACHED: u64 = u64::MAX;
    const ROUNDING: f64 = 0.0;
    const LARGEST: f64 = f64::INFINITY;

    fn extend(distance: u64, weight: u32) -> u64 {
        distance.saturating_add(u64::from(weight))
    }

    fn parts(distance: u64) -> (f64, f64) {
        let rounded = distance as f64;
        if distance == u64::MAX {
            (f64::INFINITY, 0.0)
        } else {
            (rounded, (i128::from(distance) - rounded as i128) as f64)
        }
    }

    fn distances(
        graph: &Graph<u32>,
        root: u32,
        settings: Settings,
        cancel: &dyn Cancel,
    ) -> Result<Vec<u64>, KernelError> {
        use anabranch::prelude::*;
        let widen = |label| if label == u32::MAX { u64::MAX } else { u64::from(label) };
        match solve::<u32, u32>(graph, root, settings, cancel) {
            Ok(labels) => Ok(labels.into_par_iter().map(widen).collect()),
            Err(Refused::Error(error)) => Err(error),
            Err(Refused::TooNarrow) => solve::<u32, u64>(graph, root, settings, cancel).map_err(Refused::into_error),
        }
    }
}

/// The reason why labels cannot be the result.
pub(super) enum Refused {
    /// A sum is too large for the type of the labels.
    TooNarrow,
    Error(KernelError),
}

impl Refused {
    fn into_error(self) -> KernelError {
        match self {
            Refused::Error(error) => error,
            Refused::TooNarrow => unreachable!("2^32 edges of 32 bits fit into 64 bits, and floats have infinity"),
        }
    }
}

/// A distance as the kernel keeps it, for weights of type `W`.
pub(super) trait Label<W>: Copy + PartialOrd + Send + Sync {
    /// The atomic in which a label is shared.
    type Slot: Send + Sync;
    /// The width of a bucket.
    type Step: Copy + Send + Sync;
    const ZERO: Self;
    const UNREACHED: Self;

    fn step(delta: f64) -> Self::Step;
    /// Returns a width as a label: at least the least positive one.
    fn width(width: f64) -> Self;
    fn slot(self) -> Self::Slot;
    fn load(slot: &Self::Slot) -> Self;
    /// Replaces a greater label by this one. Returns whether it was greater.
    fn lower(slot: &Self::Slot, label: Self) -> bool;
    /// Returns the sum, or `None` if it is too large or the weight is negative or not a number.
    fn plus(self, weight: W) -> Option<Self>;
    /// Returns the bucket of the label. A greater label has no lower bucket.
    fn bucket(self, step: Self::Step) -> u64;
}

macro_rules! whole {
    ($label:ty, $slot:ty) => {
        impl Label<u32> for $label {
            type Slot = $slot;
            type Step = $label;
            const ZERO: $label = 0;
            const UNREACHED: $label = <$label>::MAX;

            fn step(delta: f64) -> $label {
                // The cast saturates.
                (delta as $label).max(1)
            }

            fn width(width: f64) -> $label {
                (width as $label).max(1)
            }

            fn slot(self) -> $slot {
                <$slot>::new(self)
            }

            #[inline]
            fn load(slot: &$slot) -> $label {
                slot.load(Relaxed)
            }

            #[inline]
            fn lower(slot: &$slot, label: $label) -> bool {
                slot.fetch_min(label, Relaxed) > label
            }

            #[inline]
            fn plus(self, weight: u32) -> Option<$label> {
                // The greatest number stands for an unreached vertex.
                self.checked_add(weight.into()).filter(|&sum| sum != <$label>::MAX)
            }

            #[inline]
            fn bucket(self, step: $label) -> u64 {
                (self / step).into()
            }
        }
    };
}
whole!(u32, AtomicU32);
whole!(u64, AtomicU64);

macro_rules! float {
    ($float:ident, $slot:ty) => {
        impl Length for $float {
            type Distance = $float;
            const ZERO: $float = 0.0;
            const UNREACHED: $float = $float::INFINITY;
            const ROUNDING: f64 = $float::EPSILON as f64 / 2.0;
            const LARGEST: f64 = $float::MAX as f64;

            fn extend(distance: $float, weight: $float) -> $float {
                distance + weight
            }

            fn parts(distance: $float) -> (f64, f64) {
                (distance.into(), 0.0)
            }

            fn distances(
                graph: &Graph<$float>,
                root: u32,
                settings: Settings,
                cancel: &dyn Cancel,
            ) -> Result<Vec<$float>, KernelError> {
                solve::<$float, $float>(graph, root, settings, cancel).map_err(Refused::into_error)
            }
        }

        /// The bits of floating-point numbers from 0 on have the order of the numbers.
        impl Label<$float> for $float {
            type Slot = $slot;
            /// The reciprocal of the width.
            type Step = $float;
            const ZERO: $float = 0.0;
            const UNREACHED: $float = $float::INFINITY;

            fn step(delta: f64) -> $float {
                ((1.0 / delta) as $float).clamp($float::MIN_POSITIVE, $float::MAX)
            }

            fn width(width: f64) -> $float {
                (width as $float).max($float::MIN_POSITIVE)
            }

            fn slot(self) -> $slot {
                <$slot>::new(self.to_bits())
            }

            #[inline]
            fn load(slot: &$slot) -> $float {
                $float::from_bits(slot.load(Relaxed))
            }

            #[inline]
            fn lower(slot: &$slot, label: $float) -> bool {
                slot.fetch_min(label.to_bits(), Relaxed) > label.to_bits()
            }

            #[inline]
            fn plus(self, weight: $float) -> Option<$float> {
                (weight >= 0.0).then_some(self + weight)
            }

            #[inline]
            fn bucket(self, step: $float) -> u64 {
                (self * step) as u64
            }
        }
    };
}
float!(f32, AtomicU32);
float!(f64, AtomicU64);
