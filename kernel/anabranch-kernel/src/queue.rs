//! Opened devices.

use std::sync::LazyLock;

use anabranch::Cx;

use crate::device_vec::Storage;
use crate::element;
use crate::gpu::{self, GpuQueue};
use crate::{Device, DeviceVec, Element, Error};

/// An opened device, which runs operations and holds vectors. A clone is the same queue.
///
/// On [`cpu`](Self::cpu) an operation runs in the caller's pool, or in the default pool, and has ended when the call
/// returns. On another device a call begins the operation, in the order of the calls, and returns. Dropping the last
/// clone and the last vector of a queue closes the device, and waits for the operations that it still runs.
///
/// ```
/// use anabranch_kernel::{Queue, Vector};
///
/// let queue = Queue::cpu();
/// let values = queue.upload(&[1.5f32, 2.5])?;
/// let sum = values.sum(&queue)?;
/// assert_eq!(anabranch::run(|cx| sum.wait(cx))?, 4.0);
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Queue {
    place: Place,
}

/// A queue whose operations belong to a scope. [`Queue::cancelled_by`] returns it.
#[derive(Clone, Copy, Debug)]
pub struct ScopedQueue<'cx> {
    queue: &'cx Queue,
    cx: &'cx Cx<'cx>,
}

/// Where an operation runs: `&Queue`, or a [`ScopedQueue`].
///
/// ```
/// use anabranch_kernel::{AsQueue, Error, Queue, Vector, indices};
///
/// fn greatest(queue: impl AsQueue) -> Result<u32, Error> {
///     Ok(indices(1000).max(queue)?.into_value().expect("the queue is that of the processor"))
/// }
/// let queue = Queue::cpu();
/// assert_eq!(greatest(&queue)?, 999);
/// assert_eq!(anabranch::run(|cx| greatest(queue.cancelled_by(cx)))?, 999);
/// # Ok::<_, Error>(())
/// ```
pub trait AsQueue {
    #[doc(hidden)]
    fn as_queue(&self) -> Launch<'_>;
}

/// A queue, and the scope of its operations if they belong to one.
#[derive(Clone, Copy)]
pub struct Launch<'a> {
    queue: &'a Queue,
    cx: Option<&'a Cx<'a>>,
}

impl<'a> Launch<'a> {
    /// Returns where an operation is to run, and the scope that cancels it.
    ///
    /// # Errors
    /// Returns [`Error::Cancelled`] if the scope is cancelled already.
    pub(crate) fn begin(self) -> Result<(&'a Queue, Option<&'a Cx<'a>>), Error> {
        self.cx.map_or(Ok(()), Cx::check)?;
        Ok((self.queue, self.cx))
    }
}

impl AsQueue for &Queue {
    #[inline]
    fn as_queue(&self) -> Launch<'_> {
        Launch { queue: self, cx: None }
    }
}

impl AsQueue for ScopedQueue<'_> {
    #[inline]
    fn as_queue(&self) -> Launch<'_> {
        Launch { queue: self.queue, cx: Some(self.cx) }
    }
}

impl<Q: AsQueue + ?Sized> AsQueue for &Q {
    #[inline]
    fn as_queue(&self) -> Launch<'_> {
        (**self).as_queue()
    }
}

/// Where the operations of a queue run.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// On the processor.
    Cpu,
    /// On another device.
    Gpu(GpuQueue),
}

impl Queue {
    /// Returns the queue of the processor.
    #[must_use]
    pub fn cpu() -> Self {
        Self { place: Place::Cpu }
    }

    /// Opens a device: [`Device::cpu`], or one of [`Device::gpus`].
    ///
    /// # Errors
    /// Returns [`Error::NoDevice`] if the device is only a description, such as one of [`Device::known`], or cannot be
    /// opened.
    pub fn open(device: &Device) -> Result<Self, Error> {
        if device.is_cpu() {
            return Ok(Self::cpu());
        }
        GpuQueue::open(device).map(|queue| Self { place: Place::Gpu(queue) })
    }

    /// Opens a device, unless an earlier call has and its queue is still in use: then returns that queue.
    pub(crate) fn shared(device: &Device) -> Result<Self, Error> {
        GpuQueue::shared(device).map(|queue| Self { place: Place::Gpu(queue) })
    }

    /// Returns the device.
    ///
    /// ```
    /// use anabranch_kernel::{Device, Queue};
    ///
    /// assert_eq!(Queue::cpu().device(), &Device::cpu());
    /// ```
    #[must_use]
    pub fn device(&self) -> &Device {
        static CPU: LazyLock<Device> = LazyLock::new(Device::cpu);
        match &self.place {
            Place::Cpu => &CPU,
            Place::Gpu(queue) => queue.device(),
        }
    }

    /// Returns the queue for operations that the scope of `cx` cancels.
    ///
    /// On the processor, each thread checks the scope before each block of elements. If the scope is cancelled or its
    /// deadline has passed, the threads stop, and the operation returns [`Error::Cancelled`]. (A
    /// [`timeout`](anabranch::Cx::timeout) makes it [`Error::TimedOut`].) An operation on `&Queue` runs to its end. On
    /// another device an operation only begins, and the wait for its result is cancelled.
    ///
    /// A block has at least one element, so a kernel that takes long for one element delays the end. In a long
    /// operation a block takes about 10 us. Before that, and if no other thread is idle, it has three times as many
    /// elements as all blocks before it, and at most 12,288. In a scope with a deadline each check reads the clock.
    /// Comparisons of [`sort_by_key`](crate::sort_by_key) check too, which makes them slower.
    ///
    /// ```
    /// use std::time::Duration;
    /// use anabranch_kernel::{Error, Queue, Vector, indices};
    ///
    /// let queue = Queue::cpu();
    /// let greatest = anabranch::run(|cx| {
    ///     cx.timeout(Duration::ZERO, |cx| indices(1 << 32).max(queue.cancelled_by(cx))?.wait(cx))
    /// });
    /// assert_eq!(greatest, Err(Error::TimedOut));
    /// ```
    #[must_use]
    pub fn cancelled_by<'cx>(&'cx self, cx: &'cx Cx<'_>) -> ScopedQueue<'cx> {
        ScopedQueue { queue: self, cx }
    }

    /// Copies elements to the device. The copy may still run when the call returns, and later operations wait for it.
    ///
    /// With CUDA, a call blocks its thread while many earlier uploads wait for the device: see the
    /// [features](crate#features).
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] or [`Error::Lost`], on devices other than the processor.
    pub fn upload<T: Element>(&self, elements: &[T]) -> Result<DeviceVec<T>, Error> {
        Ok(DeviceVec::new(match &self.place {
            Place::Cpu => Storage::Host(elements.to_vec()),
            Place::Gpu(queue) => Storage::Device(queue.upload(element::as_words(elements))?),
        }))
    }

    /// Returns a vector of `len` elements whose words are all 0.
    ///
    /// ```
    /// use anabranch_kernel::Queue;
    ///
    /// let zeros = Queue::cpu().zeroed::<f32>(3)?;
    /// assert_eq!(anabranch::run(|cx| zeros.download(cx))?, [0.0; 3]);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] or [`Error::Lost`], on devices other than the processor.
    pub fn zeroed<T: Element>(&self, len: usize) -> Result<DeviceVec<T>, Error> {
        Ok(DeviceVec::new(match &self.place {
            Place::Cpu => Storage::Host(vec![element::zero(); len]),
            Place::Gpu(queue) => Storage::Device(queue.zeroed(len.saturating_mul(element::words::<T>()))?),
        }))
    }

    /// Returns where the operations run.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }
}

impl Device {
    /// Returns the GPUs that [`Queue::open`] can open. There are none without the features `gpu` and
    /// `cuda`.
    ///
    /// ```
    /// use anabranch_kernel::{Device, Queue};
    ///
    /// for gpu in Device::gpus() {
    ///     println!("{}", gpu.name());
    /// }
    /// ```
    #[must_use]
    pub fn gpus() -> Vec<Self> {
        gpu::devices()
    }
}
