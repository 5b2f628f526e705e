// Like `reduce.wgsl`, but a lane loads four elements before it combines them, in the same order. See `map_four.wgsl`.
fn combine_own(first: u32) -> Item {
    let n = params[0];
    let lanes = params[1];
    var value = identity();
    var i = first;
    if i >= n {
        return value;
    }
    if lanes <= n / 4u {
        while n - i > 3u * lanes {
            let own = load(i);
            let second = load(i + lanes);
            let third = load(i + 2u * lanes);
            let fourth = load(i + 3u * lanes);
            value = combine(combine(combine(combine(value, own), second), third), fourth);
            if n - i <= 4u * lanes {
                return value;
            }
            i += 4u * lanes;
        }
    }
    return combine_rest(value, i);
}
