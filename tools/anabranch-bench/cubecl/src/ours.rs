//! Saxpy and a sum in anabranch-kernel.

use anabranch_kernel::{Device, DeviceVec, Error, Queue, Vector, kernel};

#[kernel]
fn saxpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

pub struct Ours {
    queue: Queue,
    x: DeviceVec<f32>,
    y: DeviceVec<f32>,
}

impl Ours {
    pub fn new(device: &Device, x: &[f32], y: &[f32]) -> Result<Self, Error> {
        let queue = Queue::open(device)?;
        Ok(Self { x: queue.upload(x)?, y: queue.upload(y)?, queue })
    }

    pub fn saxpy(&self, a: f32, cx: &anabranch::Cx<'_>) -> Result<(), Error> {
        saxpy::map(a, &self.x, &self.y).collect(&self.queue)?.wait(cx)
    }

    pub fn sum(&self, cx: &anabranch::Cx<'_>) -> Result<f32, Error> {
        self.x.sum(&self.queue)?.wait(cx)
    }
}
