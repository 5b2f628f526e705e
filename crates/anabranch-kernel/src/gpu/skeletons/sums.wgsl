// Sums of words over the lanes of a block, for `compact` and `sort`.

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
