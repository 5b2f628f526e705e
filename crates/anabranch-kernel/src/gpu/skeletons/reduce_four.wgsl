// Like `reduce`, but a lane loads four elements before it combines them, in the same order. See `map_four.wgsl`.

@compute @workgroup_size(1)
fn reduce_four(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let n = params[0];
    let lanes = params[1];
    var value = identity();
    var i = id.x;
    var is_done = false;
    if i < n {
        if lanes <= n / 4u {
            while n - i > 3u * lanes {
                let first = load(i);
                let second = load(i + lanes);
                let third = load(i + 2u * lanes);
                let fourth = load(i + 3u * lanes);
                value = combine(combine(combine(combine(value, first), second), third), fourth);
                is_done = n - i <= 4u * lanes;
                if is_done {
                    break;
                }
                i += 4u * lanes;
            }
        }
        loop {
            if is_done {
                break;
            }
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
