// Combines the elements of a lane, of which `first` is the first one. `reduce_blocks.wgsl` has the rest of a reduction.
fn combine_own(first: u32) -> Item {
    let n = params[0];
    let lanes = params[1];
    var value = identity();
    var i = first;
    if i >= n {
        return value;
    }
    loop {
        value = combine(value, load(i));
        if n - i <= lanes {
            break;
        }
        i += lanes;
    }
    return value;
}
