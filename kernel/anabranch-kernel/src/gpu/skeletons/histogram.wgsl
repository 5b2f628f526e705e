// Counts how often each number occurs. The lanes stride: params[1] is the number of all lanes. params[2] is the number of
// bins, and params[3] the code of the trap. Up to OWN bins are counted by each block for itself first.

const OWN: u32 = 1024u;

@group(0) @binding(2) var<storage, read_write> bins: array<atomic<u32>>;

var<workgroup> own: array<atomic<u32>, OWN>;

fn number(i: u32) -> u32 { return 0u; }

@compute @workgroup_size(1)
fn histogram(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params[0];
    let lanes = params[1];
    let length = params[2];
    var i = id.x;
    if i < n {
        loop {
            let bin = number(i);
            if bin >= length {
                atomicMax(&traps[0], params[3]);
            } else if length <= OWN {
                atomicAdd(&own[bin], 1u);
            } else {
                atomicAdd(&bins[bin], 1u);
            }
            if n - i <= lanes {
                break;
            }
            i += lanes;
        }
    }
    if length <= OWN {
        workgroupBarrier();
        for (var bin = lane; bin < length; bin += LANES) {
            let count = atomicLoad(&own[bin]);
            if count > 0u {
                atomicAdd(&bins[bin], count);
            }
        }
    }
}
