// Sums of words over the lanes of a block and over all blocks, for `compact` and `sort`.

@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> sums: array<u32, LANES>;

// Leaves in `sums[lane]` the sum of the values of the lanes up to this one. Begins and ends with a barrier.
fn sum_lanes(lane: u32, value: u32) {
    workgroupBarrier();
    sums[lane] = value;
    workgroupBarrier();
    for (var distance = 1u; distance < LANES; distance *= 2u) {
        var sum = sums[lane];
        if lane >= distance {
            sum += sums[lane - distance];
        }
        workgroupBarrier();
        sums[lane] = sum;
        workgroupBarrier();
    }
}

// Replaces the counts of all blocks, of which a block has COUNTS, by their sums before each. Returns the sum of all. For
// one block.
fn sum_counts(lane: u32) -> u32 {
    let length = COUNTS * params[2];
    var carry = 0u;
    for (var tile = 0u; tile < length; tile += LANES) {
        let i = tile + lane;
        var value = 0u;
        if i < length {
            value = counts[i];
        }
        sum_lanes(lane, value);
        if i < length {
            counts[i] = carry + sums[lane] - value;
        }
        carry += sums[LANES - 1u];
    }
    return carry;
}
