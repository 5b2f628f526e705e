// The beginning of each skeleton. `LANES` is the number of lanes of a block.

// Word 0 is the slot of the launch: the largest code of its traps.
@group(0) @binding(0) var<storage, read_write> traps: array<atomic<u32>>;

// Words 0 to 7 belong to the skeleton, and word 0 is the number of elements. Values of the launch follow.
var<immediate> params: array<u32, 32>;

// Returns the index, or traps and returns 0.
fn checked(index: u32, length: u32, code: u32) -> u32 {
    if index < length {
        return index;
    }
    atomicMax(&traps[0], code);
    return 0u;
}

// Returns the length of a segment, or traps and returns 0.
fn segment(first: u32, end: u32, length: u32, code: u32) -> u32 {
    if first <= end && end <= length {
        return end - first;
    }
    atomicMax(&traps[0], code);
    return 0u;
}
