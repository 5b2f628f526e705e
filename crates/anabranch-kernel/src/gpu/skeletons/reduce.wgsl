// The entry point of a reduction that combines the elements of a block. `reduce_blocks.wgsl` has the rest.

@compute @workgroup_size(1)
fn reduce(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = params[0];
    let lanes = params[1];
    var value = identity();
    var i = id.x;
    if i < n {
        loop {
            value = combine(value, load(i));
            if n - i <= lanes {
                break;
            }
            i += lanes;
        }
    }
    combine_lanes(lane, value);
    if lane == 0u {
        blocks[block.x] = values[0];
    }
}
