//! Saxpy and a sum in cubecl. The caller chooses the geometry.

use cubecl::prelude::*;
use cubecl::server::Handle;

#[cube(launch)]
fn saxpy(a: f32, x: &[f32], y: &[f32], result: &mut [f32]) {
    let lanes = CUBE_COUNT * CUBE_DIM as usize;
    let mut i = ABSOLUTE_POS;
    while i < result.len() {
        result[i] = a * x[i] + y[i];
        i += lanes;
    }
}

#[cube(launch)]
fn sum(input: &[f32], partial: &mut [f32], #[comptime] lanes: usize) {
    let mut sums = Shared::new_slice(lanes);
    let all_lanes = CUBE_COUNT * CUBE_DIM as usize;
    let mut own = 0.0f32;
    let mut i = ABSOLUTE_POS;
    while i < input.len() {
        own += input[i];
        i += all_lanes;
    }
    let lane = UNIT_POS as usize;
    sums[lane] = own;
    let mut half = lanes.runtime() / 2;
    while half > 0 {
        sync_cube();
        if lane < half {
            let other = sums[lane + half];
            sums[lane] += other;
        }
        half /= 2;
    }
    if lane == 0 {
        partial[CUBE_POS] = sums[0];
    }
}

pub struct Theirs {
    client: cubecl::client::Client,
    n: usize,
    x: Handle,
    y: Handle,
}

impl Theirs {
    pub fn new(x: &[f32], y: &[f32]) -> Self {
        let client = cubecl::Device::default().client();
        let [x_handle, y_handle] = [x, y].map(|v| client.create_from_slice(f32::as_bytes(v)));
        Self { client, n: x.len(), x: x_handle, y: y_handle }
    }

    pub fn saxpy(&self, a: f32, cubes: u32, lanes: u32) {
        let result = self.client.empty(4 * self.n);
        let arg = |handle: &Handle| unsafe { BufferArg::from_raw_parts(handle.clone(), self.n) };
        let (x, y, to) = (arg(&self.x), arg(&self.y), arg(&result));
        saxpy::launch(&self.client, CubeCount::new_1d(cubes), CubeDim::new_1d(lanes), a, x, y, to);
        cubecl::future::block_on(self.client.sync()).unwrap();
    }

    pub fn sum(&self, cubes: u32, lanes: u32) -> f32 {
        let partial = self.client.empty(4 * cubes as usize);
        let arg = |handle: &Handle, n| unsafe { BufferArg::from_raw_parts(handle.clone(), n) };
        let dim = CubeDim::new_1d(lanes);
        let (from, to) = (arg(&self.x, self.n), arg(&partial, cubes as usize));
        sum::launch(&self.client, CubeCount::new_1d(cubes), dim, from, to, lanes as usize);
        let total = self.client.empty(4);
        let (from, to) = (arg(&partial, cubes as usize), arg(&total, 1));
        sum::launch(&self.client, CubeCount::new_1d(1), dim, from, to, lanes as usize);
        f32::from_bytes(&self.client.read_one(total).unwrap())[0]
    }
}
