// Combines the elements of a lane, of which `first` is the first one. `reduce_blocks.wgsl` has the rest of a reduction.
fn combine_own(first: u32) -> Item {
    if first >= params[0] {
        return identity();
    }
    return combine_rest(identity(), first);
}
