//! Sorting by keys.

use crate::device_vec::Storage;
use crate::queue::Place;
use crate::{AsQueue, DeviceVec, Element, Error, Vector, cpu, vector};

/// Sorts `values` by `keys`, and returns the sorted keys and the values in their order. Values with equal keys keep
/// their order.
///
/// ```
/// use anabranch_kernel::{Queue, indices, sort_by_key};
///
/// let (keys, numbers) = sort_by_key(&Queue::cpu(), &[2.5f32, -1.0, 2.5, 0.0], indices(4))?;
/// anabranch::run(|cx| {
///     assert_eq!(keys.download(cx)?, [-1.0, 0.0, 2.5, 2.5]);
///     assert_eq!(numbers.download(cx)?, [1, 3, 0, 2]);
///     Ok::<_, anabranch_kernel::Error>(())
/// })?;
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
///
/// # Errors
/// Returns those of an operation of [`Vector`](Vector#errors).
pub fn sort_by_key<K: Key, T: Element>(
    queue: impl AsQueue,
    keys: impl Vector<Item = K>,
    values: impl Vector<Item = T>,
) -> Result<(DeviceVec<K>, DeviceVec<T>), Error> {
    let (queue, cx) = queue.as_queue().begin()?;
    let (keys, values) = match queue.place() {
        Place::Cpu => {
            vector::same_len(&keys, &values)?;
            let (keys, values) = cpu::sort_by_key(&keys, &values, cx)?;
            (Storage::Host(keys), Storage::Host(values))
        }
        Place::Gpu(queue) => {
            let (keys, values) = queue.sort_by_key(vector::both_inputs(&keys, &values, queue)?, K::ORDER)?;
            (Storage::Device(keys), Storage::Device(values))
        }
    };
    Ok((DeviceVec::new(keys), DeviceVec::new(values)))
}

/// A key by which [`sort_by_key`] sorts: `u32`, `i32`, or `f32` in the order of
/// [`f32::total_cmp`].
///
/// ```
/// use anabranch_kernel::Key;
///
/// assert!((-1.0f32).to_ordered() < 0.5f32.to_ordered());
/// assert!((-1i32).to_ordered() < 0i32.to_ordered());
/// ```
pub trait Key: Element {
    #[doc(hidden)]
    const ORDER: KeyOrder;

    /// Returns a number that has the order of the key.
    fn to_ordered(self) -> u32;
}

/// How the words of keys are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyOrder {
    /// As numbers without sign.
    Unsigned,
    /// As numbers with sign.
    Signed,
    /// As floats, in their total order.
    Float,
}

impl Key for u32 {
    const ORDER: KeyOrder = KeyOrder::Unsigned;

    #[inline]
    fn to_ordered(self) -> u32 {
        self
    }
}

impl Key for i32 {
    const ORDER: KeyOrder = KeyOrder::Signed;

    #[inline]
    fn to_ordered(self) -> u32 {
        self.cast_unsigned() ^ (1 << 31)
    }
}

impl Key for f32 {
    const ORDER: KeyOrder = KeyOrder::Float;

    /// A negative float is smaller the larger its bits are, so all of them are flipped.
    #[inline]
    fn to_ordered(self) -> u32 {
        let bits = self.to_bits();
        if bits >> 31 == 1 { !bits } else { bits | (1 << 31) }
    }
}
