// Combines all elements. A lane combines those at distances of all lanes, params[1], by `combine_own` of `reduce.wgsl`
// or `reduce_four.wgsl`; a block combines the values of its lanes; one more block combines the values of the params[2]
// blocks. So the operator must be commutative. The result takes the place of the value of the first block.

struct Item { word: u32 }

@group(0) @binding(2) var<storage, read_write> blocks: array<Item>;

var<workgroup> values: array<Item, LANES>;

fn load(i: u32) -> Item { return Item(); }
fn combine(a: Item, b: Item) -> Item { return a; }
fn identity() -> Item { return Item(); }

// Combines `own` with the elements of a lane from `first` on, which is one of them.
fn combine_rest(own: Item, first: u32) -> Item {
    let n = params[0];
    let lanes = params[1];
    var value = own;
    var i = first;
    loop {
        value = combine(value, load(i));
        if n - i <= lanes {
            break;
        }
        i += lanes;
    }
    return value;
}

// Leaves the value of all lanes in `values[0]`.
fn combine_lanes(lane: u32, value: Item) {
    values[lane] = value;
    var width = LANES;
    while width > 1u {
        workgroupBarrier();
        let half = (width + 1u) / 2u;
        if lane + half < width {
            values[lane] = combine(values[lane], values[lane + half]);
        }
        width = half;
    }
}

@compute @workgroup_size(1)
fn reduce(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(workgroup_id) block: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    combine_lanes(lane, combine_own(id.x));
    if lane == 0u {
        blocks[block.x] = values[0];
    }
}

@compute @workgroup_size(1)
fn finish(@builtin(local_invocation_index) lane: u32) {
    var value = identity();
    for (var i = lane; i < params[2]; i += LANES) {
        value = combine(value, blocks[i]);
    }
    combine_lanes(lane, value);
    if lane == 0u {
        blocks[0] = values[0];
    }
}
