//! Single results that may not be available yet.

use std::future::Future;
use std::pin::Pin;
use std::slice;
use std::task::{Context, Poll};

use anabranch::Cx;

use crate::gpu::Reply;
use crate::{Element, Error, element};

/// A result that a device may still compute. A fiber waits for it with [`wait`](Self::wait), and async code with
/// `.await`.
///
/// A result of the processor is available from the beginning. Dropping a `Pending` does not stop the device.
///
/// ```
/// use anabranch_kernel::{Queue, Vector};
///
/// let total = [1, 2, 3].sum(&Queue::cpu())?;
/// anabranch::run(|cx| {
///     assert_eq!(cx.block_on(total).unwrap().unwrap(), 6);
/// });
/// # Ok::<_, anabranch_kernel::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "a result that nobody waits for is lost, and so is the error of a kernel"]
pub struct Pending<T> {
    state: State<T>,
}

#[derive(Debug)]
enum State<T> {
    Ready(T),
    Device(Reply),
}

impl<T: Element> Pending<T> {
    pub(crate) fn ready(value: T) -> Self {
        Self { state: State::Ready(value) }
    }

    pub(crate) fn device(reply: Reply) -> Self {
        Self { state: State::Device(reply) }
    }

    /// Returns the result without waiting, if it is available. A result of the processor always is.
    ///
    /// # Errors
    /// Returns the `Pending` if the result comes from another device: [`wait`](Self::wait) waits for it.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Vector};
    ///
    /// let total = [1, 2, 3].sum(&Queue::cpu())?;
    /// assert_eq!(total.into_value().unwrap(), 6);
    /// # Ok::<_, anabranch_kernel::Error>(())
    /// ```
    pub fn into_value(self) -> Result<T, Self> {
        match self.state {
            State::Ready(value) => Ok(value),
            state @ State::Device(_) => Err(Self { state }),
        }
    }

    /// Waits for the result.
    ///
    /// # Errors
    /// Returns [`Error::Trap`] if a kernel trapped on a device, [`Error::Lost`] if the device is lost, and
    /// [`Error::Cancelled`] if the scope of `cx` is cancelled.
    pub fn wait(self, cx: &Cx<'_>) -> Result<T, Error> {
        match self.state {
            State::Ready(value) => {
                cx.check()?;
                Ok(value)
            }
            State::Device(reply) => reply.wait(cx).map(|words| from_words(&words)),
        }
    }
}

/// The result is never pinned.
impl<T> Unpin for Pending<T> {}

impl<T: Element> Future for Pending<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.state {
            State::Ready(value) => Poll::Ready(Ok(*value)),
            State::Device(reply) => reply.poll(context).map_ok(|words| from_words(&words)),
        }
    }
}

/// Returns the element with these words.
fn from_words<T: Element>(words: &[u32]) -> T {
    let mut value = element::zero();
    element::as_words_mut(slice::from_mut(&mut value)).copy_from_slice(words);
    value
}
