//! The choice of a device for some work.

use std::fmt;

use crate::work::Estimate;
use crate::{Device, Queue, Work};

/// A queue that the model has chosen, and why. [`Queue::choose`] returns it.
#[derive(Debug, Clone)]
pub struct Choice {
    queue: Queue,
    reason: String,
}

impl Queue {
    /// Chooses the device on which the model expects `work` to complete first, and opens it if it is not open. If there
    /// is no GPU, or the work is small, it chooses the processor.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Work};
    ///
    /// let choice = Queue::choose(Work::new(10_000).bytes(12).operations(2));
    /// println!("{}", choice.reason());
    /// let queue = choice.into_queue();
    /// assert_eq!(queue.device().name(), "this processor");
    /// ```
    ///
    /// While a queue or a vector of a chosen GPU is in use, later calls that choose the same GPU return the same queue.
    ///
    /// # Complexity
    /// The first call finds the GPUs, which takes some milliseconds with the features `gpu` and `cuda`. Opening a GPU
    /// takes as long, or about 100 milliseconds with CUDA.
    #[must_use]
    pub fn choose(work: Work) -> Choice {
        let gpus = Device::gpus();
        let mut reason = Reason::new(work, &gpus);
        let queue = match reason.best {
            Some(best) => match Self::shared(&gpus[best]) {
                Ok(queue) => queue,
                Err(error) => {
                    reason.failure = Some(error.to_string());
                    Self::cpu()
                }
            },
            None => Self::cpu(),
        };
        Choice { queue, reason: reason.to_string() }
    }
}

impl Choice {
    /// Returns the queue.
    #[must_use]
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Returns the queue, and drops the reason.
    #[must_use]
    pub fn into_queue(self) -> Queue {
        self.queue
    }

    /// Returns the reason, as text for people.
    ///
    /// ```
    /// use anabranch_kernel::{Queue, Work};
    ///
    /// let choice = Queue::choose(Work::new(1_000));
    /// assert!(choice.reason().starts_with("1000 elements with 8 bytes and 1 operations each: "));
    /// ```
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

/// The estimates for all devices.
struct Reason<'a> {
    work: Work,
    cpu: Estimate,
    gpus: Vec<(&'a Device, Estimate)>,
    /// The GPU that is faster than the processor, and than the other ones.
    best: Option<usize>,
    /// Why it could not be opened.
    failure: Option<String>,
}

impl<'a> Reason<'a> {
    fn new(work: Work, gpus: &'a [Device]) -> Self {
        let cpu = work.time_on(&Device::cpu());
        let gpus: Vec<_> = gpus.iter().map(|gpu| (gpu, work.time_on(gpu))).collect();
        let fastest = (0..gpus.len()).min_by_key(|gpu| gpus[*gpu].1.total());
        let best = fastest.filter(|gpu| gpus[*gpu].1.total() < cpu.total());
        Self { work, cpu, gpus, best, failure: None }
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |f: &mut fmt::Formatter<'_>, name: &str, estimate: &Estimate| {
            let (part, what) = estimate.largest();
            write!(f, "{name} takes about {:.1?}, mostly for {what} ({part:.1?})", estimate.total())
        };
        write!(f, "{}: ", self.work)?;
        show(f, "the processor", &self.cpu)?;
        for (gpu, estimate) in &self.gpus {
            f.write_str("; ")?;
            show(f, gpu.name(), estimate)?;
        }
        match (self.best, &self.failure) {
            (Some(_), Some(failure)) => write!(f, ". The processor is chosen, for this reason: {failure}."),
            (Some(best), None) => write!(f, ". {} is chosen.", self.gpus[best].0.name()),
            (None, _) if !self.gpus.is_empty() => f.write_str(". The processor is chosen."),
            (None, _) if cfg!(any(feature = "cuda", feature = "gpu")) => f.write_str(". It is chosen, because no GPU was found."),
            (None, _) => f.write_str(
                ". It is chosen, because this program was built without the features `gpu` and `cuda` for other devices.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gpus() -> [Device; 2] {
        ["v100", "h100"].map(|name| name.parse().expect("a known device"))
    }

    #[test]
    fn small_work_stays_on_the_processor() {
        let gpus = gpus();
        let reason = Reason::new(Work::new(1000).bytes(12).operations(2), &gpus);
        assert_eq!(reason.best, None);
        let text = reason.to_string();
        assert!(text.starts_with("1000 elements with 12 bytes and 2 operations each: the processor takes about "));
        assert!(text.contains("; NVIDIA H100 SXM takes about 30.8µs, mostly for launches (30.0µs)"), "{text}");
        assert!(text.ends_with(". The processor is chosen."), "{text}");
    }

    #[test]
    fn work_that_only_copies_stays_on_the_processor() {
        assert_eq!(Reason::new(Work::new(100_000_000).bytes(12).operations(2), &gpus()).best, None);
    }

    #[test]
    fn much_arithmetic_goes_to_the_fastest_device() {
        let gpus = gpus();
        let reason = Reason::new(Work::new(10_000_000).bytes(4).operations(5_000), &gpus);
        assert_eq!(reason.best, Some(1));
        assert!(reason.to_string().ends_with(". NVIDIA H100 SXM is chosen."), "{reason}");
    }

    #[test]
    fn repeated_work_pays_for_the_copies() {
        let work = Work::new(100_000_000).bytes(12).operations(2);
        assert_eq!(Reason::new(work.repeats(1000), &gpus()).best, Some(1));
    }

    #[test]
    fn a_device_that_cannot_be_opened_is_said() {
        let gpus = gpus();
        let mut reason = Reason::new(Work::new(10_000_000).operations(5_000), &gpus);
        reason.failure = Some("cannot open it: no driver".to_owned());
        assert!(reason.to_string().ends_with(". The processor is chosen, for this reason: cannot open it: no driver."));
    }

    #[test]
    fn without_devices_the_reason_says_so() {
        let reason = Reason::new(Work::new(1 << 30).operations(1000), &[]);
        assert_eq!(reason.best, None);
        assert!(reason.to_string().contains(". It is chosen, because "), "{reason}");
    }
}
