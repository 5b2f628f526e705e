// Combines each element with those before it, in their order. A block has a chunk of params[1] elements, which it takes
// in tiles; a lane has ITEMS elements of a tile, one after the other.
//
// 1. `sums`: each block combines its chunk.
// 2. `carries`: one block replaces the value of each chunk by that of all chunks before it.
// 3. `scan`: each block scans its chunk, beginning with that value.

struct Item { word: u32 }

const ITEMS: u32 = 4u;

@group(0) @binding(2) var<storage, read_write> chunks: array<Item>;
@group(0) @binding(3) var<storage, read_write> result: array<Item>;

var<workgroup> values: array<Item, LANES>;

fn load(i: u32) -> Item { return Item(); }
fn combine(a: Item, b: Item) -> Item { return a; }
fn identity() -> Item { return Item(); }

// Leaves in `values[lane]` the combination of the values of the lanes up to this one. Begins and ends with a barrier.
fn scan_lanes(lane: u32, value: Item) {
    workgroupBarrier();
    values[lane] = value;
    workgroupBarrier();
    for (var distance = 1u; distance < LANES; distance *= 2u) {
        var combined = values[lane];
        if lane >= distance {
            combined = combine(values[lane - distance], combined);
        }
        workgroupBarrier();
        values[lane] = combined;
        workgroupBarrier();
    }
}

// Returns the combination of the lanes before this one. After `scan_lanes`.
fn before(lane: u32) -> Item {
    if lane == 0u {
        return identity();
    }
    return values[lane - 1u];
}

// Combines the elements from `first` on that a lane has of a tile.
fn lane_value(first: u32, end: u32) -> Item {
    var value = identity();
    for (var k = 0u; k < ITEMS; k++) {
        if k < end - min(first, end) {
            value = combine(value, load(first + k));
        }
    }
    return value;
}

@compute @workgroup_size(1)
fn sums(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params[0];
    let chunk = params[1];
    let begin = block.x * chunk;
    let end = begin + min(chunk, n - min(begin, n));
    let tiles = (end - begin + LANES * ITEMS - 1u) / (LANES * ITEMS);
    var carry = identity();
    for (var tile = 0u; tile < tiles; tile++) {
        scan_lanes(lane, lane_value(begin + (tile * LANES + lane) * ITEMS, end));
        carry = combine(carry, values[LANES - 1u]);
    }
    if lane == 0u {
        chunks[block.x] = carry;
    }
}

@compute @workgroup_size(1)
fn carries(@builtin(local_invocation_index) lane: u32) {
    let blocks = params[2];
    var carry = identity();
    for (var tile = 0u; tile < blocks; tile += LANES) {
        let i = tile + lane;
        var value = identity();
        if i < blocks {
            value = chunks[i];
        }
        scan_lanes(lane, value);
        if i < blocks {
            chunks[i] = combine(carry, before(lane));
        }
        carry = combine(carry, values[LANES - 1u]);
    }
}

@compute @workgroup_size(1)
fn scan(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let n = params[0];
    let chunk = params[1];
    let inclusive = params[3] == 1u;
    let begin = block.x * chunk;
    let end = begin + min(chunk, n - min(begin, n));
    let tiles = (end - begin + LANES * ITEMS - 1u) / (LANES * ITEMS);
    var carry = identity();
    if params[2] > 1u {
        carry = chunks[block.x];
    }
    for (var tile = 0u; tile < tiles; tile++) {
        let first = begin + (tile * LANES + lane) * ITEMS;
        scan_lanes(lane, lane_value(first, end));
        var value = combine(carry, before(lane));
        for (var k = 0u; k < ITEMS; k++) {
            if k < end - min(first, end) {
                let i = first + k;
                let next = combine(value, load(i));
                if inclusive {
                    result[i] = next;
                } else {
                    result[i] = value;
                }
                value = next;
            }
        }
        carry = combine(carry, values[LANES - 1u]);
    }
}
