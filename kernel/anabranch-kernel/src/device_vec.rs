//! Vectors in the memory of a device.

use anabranch::Cx;

use crate::element;
use crate::gpu::Buffer;
use crate::{Element, Error};

/// The elements that a download from the memory of the host copies between two looks at the scope.
const COPIED_AT_ONCE: usize = 1 << 17;

/// A vector in the memory of a device. For [`Queue::cpu`](crate::Queue::cpu) it is a `Vec` of the host.
///
/// A reference to it is a lazy vector: see [`Vector`](crate::Vector).
///
/// ```
/// use anabranch_kernel::Queue;
///
/// let values = Queue::cpu().upload(&[1.5f32, 2.5])?;
/// assert_eq!(values.len(), 2);
/// assert_eq!(anabranch::run(|cx| values.download(cx))?, [1.5, 2.5]);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceVec<T> {
    storage: Storage<T>,
}

/// Where the elements are.
#[derive(Debug)]
pub(crate) enum Storage<T> {
    /// In the memory of the host.
    Host(Vec<T>),
    /// In a buffer of a device.
    Device(Buffer),
}

impl<T: Element> DeviceVec<T> {
    pub(crate) fn new(storage: Storage<T>) -> Self {
        Self { storage }
    }

    pub(crate) fn storage(&self) -> &Storage<T> {
        &self.storage
    }

    pub(crate) fn storage_mut(&mut self) -> &mut Storage<T> {
        &mut self.storage
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.storage {
            Storage::Host(elements) => elements.len(),
            Storage::Device(buffer) => len_on_device::<T>(buffer),
        }
    }

    /// Returns whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the elements without a copy, if they are in the memory of the host.
    ///
    /// # Errors
    /// Returns the vector if it is on another device: [`download`](Self::download) copies it.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector, indices};
    ///
    /// let numbers = indices(3).collect(&Queue::cpu())?.into_vec().unwrap();
    /// assert_eq!(numbers, [0, 1, 2]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    pub fn into_vec(self) -> Result<Vec<T>, Self> {
        match self.storage {
            Storage::Host(elements) => Ok(elements),
            storage => Err(Self { storage }),
        }
    }

    /// Waits until all operations that write the vector have ended. Copies nothing.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector, indices};
    ///
    /// let numbers = indices(1000).collect(&Queue::cpu())?;
    /// anabranch::run(|cx| numbers.wait(cx))?;
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::Trap`] if an operation that has written the vector trapped on a device, [`Error::Lost`] if the
    /// device is lost, and [`Error::Cancelled`] if the scope of `cx` is cancelled.
    pub fn wait(&self, cx: &Cx<'_>) -> Result<(), Error> {
        cx.check()?;
        match &self.storage {
            Storage::Host(_) => Ok(()),
            Storage::Device(buffer) => buffer.wait(cx),
        }
    }

    /// Waits until all operations on the vector have ended, and returns a copy of the elements.
    ///
    /// # Errors
    /// Returns [`Error::Trap`] if an operation that has written the vector trapped on a device, [`Error::Lost`] if the
    /// device is lost, and [`Error::Cancelled`] if the scope of `cx` is cancelled.
    pub fn download(&self, cx: &Cx<'_>) -> Result<Vec<T>, Error> {
        match &self.storage {
            Storage::Host(elements) => {
                cx.check()?;
                let mut target = Vec::with_capacity(elements.len());
                for part in elements.chunks(COPIED_AT_ONCE) {
                    cx.check()?;
                    target.extend_from_slice(part);
                }
                Ok(target)
            }
            Storage::Device(_) => {
                let mut target = vec![element::zero(); self.len()];
                self.download_into(cx, &mut target)?;
                Ok(target)
            }
        }
    }

    /// Like [`download`](Self::download), but into an existing slice. If it fails, `target` may have changed.
    ///
    /// ```
    /// use anabranch_kernel::Queue;
    ///
    /// let values = Queue::cpu().upload(&[1, 2])?;
    /// let mut target = [0; 2];
    /// anabranch::run(|cx| values.download_into(cx, &mut target))?;
    /// assert_eq!(target, [1, 2]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::Lengths`] if `target` has another length, and the errors of [`download`](Self::download).
    pub fn download_into(&self, cx: &Cx<'_>, target: &mut [T]) -> Result<(), Error> {
        cx.check()?;
        if target.len() != self.len() {
            let reason = format!("a vector of {} elements does not fit a target of {}", self.len(), target.len());
            return Err(Error::lengths(reason));
        }
        match &self.storage {
            Storage::Host(elements) => {
                for (target, part) in target.chunks_mut(COPIED_AT_ONCE).zip(elements.chunks(COPIED_AT_ONCE)) {
                    cx.check()?;
                    target.copy_from_slice(part);
                }
            }
            Storage::Device(buffer) => buffer.download(cx, element::as_words_mut(target))?,
        }
        Ok(())
    }
}

/// Returns the number of elements in a buffer.
pub(crate) fn len_on_device<T: Element>(buffer: &Buffer) -> usize {
    // An element without words takes no room in a buffer, so there is nothing to count.
    buffer.words().checked_div(element::words::<T>()).unwrap_or(0)
}
