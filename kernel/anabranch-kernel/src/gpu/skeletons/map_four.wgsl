// Like `map`, but a lane loads four elements before it stores them: a core that waits for more memory at once gets more
// of its bandwidth.

struct Item { word: u32 }

@group(0) @binding(2) var<storage, read_write> result: array<Item>;

fn load(i: u32) -> Item { return Item(); }

@compute @workgroup_size(1)
fn map_four(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = params[0];
    let lanes = params[1];
    var i = id.x;
    if i >= n {
        return;
    }
    if lanes <= n / 4u {
        while n - i > 3u * lanes {
            let first = load(i);
            let second = load(i + lanes);
            let third = load(i + 2u * lanes);
            let fourth = load(i + 3u * lanes);
            result[i] = first;
            result[i + lanes] = second;
            result[i + 2u * lanes] = third;
            result[i + 3u * lanes] = fourth;
            if n - i <= 4u * lanes {
                return;
            }
            i += 4u * lanes;
        }
    }
    loop {
        result[i] = load(i);
        // `i + lanes` may be more than a word holds.
        if n - i <= lanes {
            break;
        }
        i += lanes;
    }
}
