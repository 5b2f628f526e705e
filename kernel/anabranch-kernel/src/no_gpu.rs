//! Substitutes for devices without the features `gpu` and `cuda`: types without values.
//!
//! The module of the features has the same items. All vectors are words here; [`Inputs`] records how many words an
//! element has. The buffers of the inputs belong to the queue, as [`GpuQueue::check_owner`] has checked.

use anabranch::Cx;

use crate::graph::Inputs;
use crate::tree::Operator;
use crate::{Device, Error};

/// An opened device.
#[derive(Clone, Debug)]
pub(crate) enum GpuQueue {}

/// Words in the memory of a device.
#[derive(Debug)]
pub enum Buffer {}

/// The words of one element that a device computes.
#[derive(Debug)]
pub(crate) enum Reply {}

/// Returns the devices that can be opened.
pub(crate) fn devices() -> Vec<Device> {
    Vec::new()
}

impl GpuQueue {
    /// Opens one of [`devices`].
    pub(crate) fn open(device: &Device) -> Result<Self, Error> {
        Err(Error::no_device(
            device,
            "this program was built without the features `gpu` and `cuda` of anabranch-kernel",
        ))
    }

    /// The same as [`open`](Self::open).
    pub(crate) fn shared(device: &Device) -> Result<Self, Error> {
        Self::open(device)
    }

    /// Returns the device.
    pub(crate) fn device(&self) -> &Device {
        match *self {}
    }

    /// Returns [`Error::Queues`] if a vector is not of this queue.
    pub(crate) fn check_owner(&self, _: &Buffer) -> Result<(), Error> {
        match *self {}
    }

    /// Begins to copy words to the device.
    pub(crate) fn upload(&self, _: &[u32]) -> Result<Buffer, Error> {
        match *self {}
    }

    /// Returns words that are 0.
    pub(crate) fn zeroed(&self, _words: usize) -> Result<Buffer, Error> {
        match *self {}
    }

    /// Computes all elements.
    pub(crate) fn collect(&self, _: Inputs<'_, 1>) -> Result<Buffer, Error> {
        match *self {}
    }

    /// Combines all elements by `operator`. `identity` has the words of an element.
    pub(crate) fn reduce(&self, _: Inputs<'_, 1>, _operator: Operator, _identity: &[u32]) -> Result<Reply, Error> {
        match *self {}
    }

    /// Combines each element with those before it. `inclusive`: element `i` is included in result `i`.
    pub(crate) fn scan(
        &self,
        _: Inputs<'_, 1>,
        _operator: Operator,
        _identity: &[u32],
        _inclusive: bool,
    ) -> Result<Buffer, Error> {
        match *self {}
    }

    /// Returns the elements for which `predicate` holds, in order. Waits for their number.
    pub(crate) fn compact(&self, _: &Cx<'_>, _: Inputs<'_, 1>, _predicate: Operator) -> Result<Buffer, Error> {
        match *self {}
    }

    /// Writes each element of the first input to the element of `target` that the second one, `u32`, says. A number
    /// that is not less than the number of elements of `target` traps.
    pub(crate) fn scatter(&self, _: Inputs<'_, 2>, _target: &mut Buffer) -> Result<(), Error> {
        match *self {}
    }

    /// Counts how often each number less than `bins` is among the elements, `u32`. Another number traps.
    pub(crate) fn histogram(&self, _: Inputs<'_, 1>, _bins: usize) -> Result<Buffer, Error> {
        match *self {}
    }

    /// Sorts both inputs by the first one, stable. The order of the keys is that of [`KeyOrder`].
    pub(crate) fn sort_by_key(&self, _: Inputs<'_, 2>, _order: KeyOrder) -> Result<(Buffer, Buffer), Error> {
        match *self {}
    }
}

impl Buffer {
    /// Returns the queue that the buffer belongs to.
    pub(crate) fn queue(&self) -> &GpuQueue {
        match *self {}
    }

    /// Returns the number of words.
    pub(crate) fn words(&self) -> usize {
        match *self {}
    }

    /// Waits for all work on the buffer.
    pub(crate) fn wait(&self, _: &Cx<'_>) -> Result<(), Error> {
        match *self {}
    }

    /// Waits for all work on the buffer, and copies its words. `words` has their number.
    pub(crate) fn download(&self, _: &Cx<'_>, _words: &mut [u32]) -> Result<(), Error> {
        match *self {}
    }
}

impl Reply {
    /// Waits for the words.
    pub(crate) fn wait(self, _: &Cx<'_>) -> Result<Vec<u32>, Error> {
        match self {}
    }

    /// Returns the words if they are there. Otherwise wakes the waker once they are.
    pub(crate) fn poll(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<Vec<u32>, Error>> {
        match *self {}
    }
}

pub(crate) use crate::key::KeyOrder;
