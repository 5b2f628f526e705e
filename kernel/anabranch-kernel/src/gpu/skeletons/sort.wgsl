// One pass of a radix sort: orders pairs of keys and values by four bits of the keys, stable. A block has a chunk of
// params[1] elements, which it takes in tiles of one element a lane. params[3] is the lowest of the four bits, and
// params[4] the order of keys: 0 as numbers without sign, 1 as numbers with sign, 2 as floats.
//
// 1. `count`: each block counts its keys of each digit.
// 2. `offsets`: one block replaces these counts, digit by digit, by their sums before.
// 3. `store`: each block stores its pairs from its offset for their digit on.

struct Value { word: u32 }

const DIGITS: u32 = 16u;
const COUNTS: u32 = DIGITS;

@group(0) @binding(3) var<storage, read_write> keys: array<u32>;
@group(0) @binding(4) var<storage, read_write> values: array<Value>;

// The counts of a block, or where its next key of each digit goes.
var<workgroup> digits: array<atomic<u32>, DIGITS>;
// For each lane, how often each digit occurs up to it in the tile: 16 numbers of 8 bits. LANES is at most 128.
var<workgroup> ranks: array<vec4<u32>, LANES>;

fn load_key(i: u32) -> u32 { return 0u; }
fn load_value(i: u32) -> Value { return Value(); }

fn digit(key: u32) -> u32 {
    var ordered = key;
    if params[4] == 1u {
        ordered ^= 0x80000000u;
    } else if params[4] == 2u {
        // The larger the bits of a negative float, the smaller it is.
        ordered ^= select(0x80000000u, 0xffffffffu, key >> 31u == 1u);
    }
    return (ordered >> params[3]) & (DIGITS - 1u);
}

// Returns the number of a digit in the 16 numbers.
fn rank_of(packed: vec4<u32>, digit: u32) -> u32 {
    return (packed[digit / 4u] >> (digit % 4u * 8u)) & 0xffu;
}

@compute @workgroup_size(1)
fn count(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let begin = block.x * params[1];
    let end = begin + min(params[1], params[0] - min(begin, params[0]));
    for (var i = lane; i < end - begin; i += LANES) {
        atomicAdd(&digits[digit(load_key(begin + i))], 1u);
    }
    workgroupBarrier();
    for (var d = lane; d < DIGITS; d += LANES) {
        counts[d * params[2] + block.x] = atomicLoad(&digits[d]);
    }
}

@compute @workgroup_size(1)
fn offsets(@builtin(local_invocation_index) lane: u32) {
    sum_counts(lane);
}

@compute @workgroup_size(1)
fn store(@builtin(workgroup_id) block: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let begin = block.x * params[1];
    let end = begin + min(params[1], params[0] - min(begin, params[0]));
    for (var d = lane; d < DIGITS; d += LANES) {
        atomicStore(&digits[d], counts[d * params[2] + block.x]);
    }
    for (var tile = 0u; tile < end - begin; tile += LANES) {
        let i = begin + tile + lane;
        let present = tile + lane < end - begin;
        var key = 0u;
        var own = 0u;
        var one = vec4<u32>();
        if present {
            key = load_key(i);
            own = digit(key);
            one[own / 4u] = 1u << (own % 4u * 8u);
        }
        workgroupBarrier();
        ranks[lane] = one;
        workgroupBarrier();
        for (var distance = 1u; distance < LANES; distance *= 2u) {
            var sum = ranks[lane];
            if lane >= distance {
                sum += ranks[lane - distance];
            }
            workgroupBarrier();
            ranks[lane] = sum;
            workgroupBarrier();
        }
        if present {
            let index = atomicLoad(&digits[own]) + rank_of(ranks[lane], own) - 1u;
            keys[index] = key;
            values[index] = load_value(i);
        }
        workgroupBarrier();
        for (var d = lane; d < DIGITS; d += LANES) {
            atomicAdd(&digits[d], rank_of(ranks[LANES - 1u], d));
        }
    }
}
