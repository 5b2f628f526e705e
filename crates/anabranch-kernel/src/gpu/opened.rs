//! An opened device: what all queues of it share.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use anabranch::channel::RecvError;
use wgpu::{
    CommandEncoder, DeviceDescriptor, ErrorFilter, ExperimentalFeatures, Features, Limits, MemoryHints,
    SubmissionIndex, Trace,
};

use super::adapters;
use super::memory::Memory;
use super::pipeline::Pipelines;
use super::poller::Poller;
use super::traps::{Known, Traps};
use crate::{Device, Error};

/// The bytes of a dispatch's own values: lengths and scalars. All systems offer as many.
pub(super) const IMMEDIATES: u32 = 128;

/// What all clones of a queue, and all its vectors, share.
pub(super) struct Opened {
    pub(super) description: Device,
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) limits: Limits,
    /// The most rounds of loops that a lane may run, if the driver ends loops.
    pub(super) rounds: Option<u32>,
    memory: Mutex<Memory>,
    pub(super) pipelines: Pipelines,
    traps: Mutex<Traps>,
    lost: Arc<OnceLock<String>>,
    pub(super) poller: Poller,
}

impl Opened {
    /// Opens a device of [`adapters::found`] with all that it offers, as changed by `restrict`.
    pub(super) fn open(description: &Device, restrict: impl FnOnce(&mut Limits)) -> Result<Arc<Self>, Error> {
        let no_device = |reason: String| Error::no_device(description, reason);
        let found = adapters::of(description).ok_or_else(|| match adapters::found() {
            [] => no_device("no GPU was found; a driver for Vulkan, Metal or Direct3D 12 is needed".to_owned()),
            _ => no_device("it is not one of `Device::gpus()`".to_owned()),
        })?;
        if !found.adapter.features().contains(Features::IMMEDIATES) {
            return Err(no_device("its driver has no push constants".to_owned()));
        }
        let mut limits = found.adapter.limits();
        limits.max_immediate_size = IMMEDIATES.min(limits.max_immediate_size);
        restrict(&mut limits);
        let descriptor = DeviceDescriptor {
            label: None,
            required_features: Features::IMMEDIATES,
            required_limits: limits.clone(),
            experimental_features: ExperimentalFeatures::disabled(),
            memory_hints: MemoryHints::Performance,
            trace: Trace::Off,
        };
        let (device, queue) = ready(found.adapter.request_device(&descriptor))
            .ok_or_else(|| no_device("its driver does not answer at once".to_owned()))?
            .map_err(|error| no_device(error.to_string()))?;
        let lost = Arc::new(OnceLock::new());
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, message| {
            let _ = told.set(message);
        });
        // wgpu would panic. What a call does wrong is reported to that call by `checked`, and this is for the rest: the
        // device then counts as lost, because it is not known which results are missing.
        let told = Arc::clone(&lost);
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            let _ = told.set(error.to_string());
        }));
        let poller = Poller::start(device.clone()).map_err(|error| no_device(format!("no thread for it: {error}")))?;
        Ok(Arc::new(Self {
            description: description.clone(),
            memory: Mutex::new(Memory::default()),
            pipelines: Pipelines::default(),
            traps: Mutex::new(Traps::default()),
            device,
            queue,
            limits,
            rounds: found.rounds,
            lost,
            poller,
        }))
    }

    /// Returns an error if the device is lost.
    pub(super) fn check(&self) -> Result<(), Error> {
        match self.lost.get() {
            Some(reason) => Err(Error::Lost { reason: reason.clone() }),
            None => Ok(()),
        }
    }

    /// The error of a reply that does not come.
    pub(super) fn no_reply(&self) -> Error {
        self.check().err().unwrap_or_else(|| Error::Lost { reason: "the driver has dropped a wait".to_owned() })
    }

    /// The error of a wait that does not end with a reply.
    pub(super) fn wait_error(&self, error: RecvError) -> Error {
        match error {
            RecvError::Cancelled => Error::Cancelled,
            RecvError::Closed => self.no_reply(),
        }
    }

    /// Calls wgpu, and returns what it reports during the call. `bytes` are those that the call asks for.
    pub(super) fn checked<T>(&self, bytes: u64, call: impl FnOnce() -> T) -> Result<T, Error> {
        let scopes = [ErrorFilter::OutOfMemory, ErrorFilter::Internal, ErrorFilter::Validation]
            .map(|filter| self.device.push_error_scope(filter));
        let value = call();
        // The last one is popped first. All of them are, in this order.
        let errors: Vec<_> = scopes.into_iter().rev().map(|scope| ready(scope.pop()).flatten()).collect();
        self.check()?;
        match errors.into_iter().flatten().next() {
            None => Ok(value),
            Some(wgpu::Error::OutOfMemory { .. }) => Err(Error::OutOfMemory { bytes }),
            Some(error) => Err(Error::Unsupported { reason: format!("the driver refuses: {error}") }),
        }
    }

    /// Submits commands. Calls `also` after that.
    pub(super) fn submit(
        &self,
        commands: Option<CommandEncoder>,
        also: impl FnOnce(),
    ) -> Result<SubmissionIndex, Error> {
        self.checked(0, || {
            let index = self.queue.submit(commands.map(CommandEncoder::finish));
            also();
            index
        })
    }

    /// Returns the program of a kernel.
    pub(super) fn program(&self, name: &'static str, bytes: &'static [u8]) -> Result<Known, Error> {
        if bytes.is_empty() {
            let reason = format!("the kernel `{name}` runs on the processor only: write it with `#[kernel]`");
            return Err(Error::Unsupported { reason });
        }
        let known = self.traps().program(name, bytes);
        known.map_err(|reason| Error::Unsupported { reason: format!("`{name}`: {reason}") })
    }

    /// Locks the codes of traps.
    pub(super) fn traps(&self) -> MutexGuard<'_, Traps> {
        self.traps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the free memory.
    pub(super) fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Opened {
    /// Returns a reference that is dead once the thread of the device is gone.
    pub(super) fn poller_alive(&self) -> std::sync::Weak<impl Sized + use<>> {
        self.poller.alive()
    }
}

/// Returns the value of a future of wgpu. Those of the systems' own drivers are ready at once.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
