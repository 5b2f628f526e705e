// Sets the slot of the launch to the largest of params[0] words.

@group(0) @binding(2) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(1)
fn merge(@builtin(local_invocation_index) lane: u32) {
    for (var i = lane; i < params[0]; i += LANES) {
        atomicMax(&traps[0], words[i]);
    }
}
