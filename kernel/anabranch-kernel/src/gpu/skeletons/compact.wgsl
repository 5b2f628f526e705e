// Stores the elements for which a predicate holds, in their order. A block has a chunk of params[1] elements, which it
// takes in tiles of one element a lane.
//
// 1. `count`: each block counts the elements that it keeps.
// 2. `offsets`: one block replaces these counts by their sums before each block. The sum of all comes after them.
// 3. `store`: each block stores its elements from its offset on.

struct Item { word: u32 }

const COUNTS: u32 = 1u;

@group(0) @binding(3) var<storage, read_write> result: array<Item>;

fn load(i: u32) -> Item { return Item(); }
fn keep(item: Item) -> bool { return false; }

@compute @workgroup_size(1)
fn count(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let begin = block.x * params[1];
    let end = begin + min(params[1], params[0] - min(begin, params[0]));
    var kept = 0u;
    for (var i = lane; i < end - begin; i += LANES) {
        if keep(load(begin + i)) {
            kept++;
        }
    }
    sum_lanes(lane, kept);
    if lane == 0u {
        counts[block.x] = sums[LANES - 1u];
    }
}

@compute @workgroup_size(1)
fn offsets(@builtin(local_invocation_index) lane: u32) {
    let kept = sum_counts(lane);
    if lane == 0u {
        counts[params[2]] = kept;
    }
}

@compute @workgroup_size(1)
fn store(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let begin = block.x * params[1];
    let end = begin + min(params[1], params[0] - min(begin, params[0]));
    var carry = counts[block.x];
    for (var tile = 0u; tile < end - begin; tile += LANES) {
        var item = Item();
        var kept = 0u;
        if tile + lane < end - begin {
            item = load(begin + tile + lane);
            if keep(item) {
                kept = 1u;
            }
        }
        sum_lanes(lane, kept);
        if kept == 1u {
            result[carry + sums[lane] - 1u] = item;
        }
        carry += sums[LANES - 1u];
    }
}
