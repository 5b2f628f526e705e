//! Sorting by keys.

use crate::device_vec::Storage;
use crate::queue::Place;
use crate::source::same_len;
use crate::{AsQueue, DeviceVec, Element, Error, Key, Vector, cpu, vector};

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
/// Returns the errors of an operation of [`Vector`](Vector#errors).
pub fn sort_by_key<K: Key, T: Element>(
    queue: impl AsQueue,
    keys: impl Vector<Item = K>,
    values: impl Vector<Item = T>,
) -> Result<(DeviceVec<K>, DeviceVec<T>), Error> {
    let (queue, cx) = queue.as_queue().begin()?;
    let (keys, values) = match queue.place() {
        Place::Cpu => {
            same_len(&keys, &values)?;
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
