// Saxpy and a sum by hand. The lanes stride.

struct Params { n: u32, lanes: u32, a: f32 }

override LANES: u32 = 64u;

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> result: array<f32>;
@group(0) @binding(3) var<storage, read_write> partial: array<f32>;

var<immediate> params: Params;

var<workgroup> sums: array<f32, LANES>;

@compute @workgroup_size(LANES)
fn saxpy(@builtin(global_invocation_id) id: vec3<u32>) {
    // Some drivers load immediates again for each element.
    let n = params.n;
    let lanes = params.lanes;
    let a = params.a;
    for (var i = id.x; i < n; i += lanes) {
        result[i] = a * x[i] + y[i];
    }
}

// Adds up the lanes of a block.
fn add_lanes(lane: u32, own: f32) {
    sums[lane] = own;
    for (var half = LANES / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if lane < half {
            sums[lane] += sums[lane + half];
        }
    }
}

@compute @workgroup_size(LANES)
fn sum(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = params.n;
    let lanes = params.lanes;
    var own = 0.0;
    for (var i = id.x; i < n; i += lanes) {
        own += x[i];
    }
    add_lanes(lane, own);
    if lane == 0u {
        partial[block.x] = sums[0];
    }
}

// Adds up the sums of the blocks.
@compute @workgroup_size(LANES)
fn finish(@builtin(local_invocation_index) lane: u32) {
    var own = 0.0;
    for (var i = lane; i < params.n; i += LANES) {
        own += partial[i];
    }
    add_lanes(lane, own);
    if lane == 0u {
        partial[0] = sums[0];
    }
}
