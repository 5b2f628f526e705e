// Stores each element. The lanes stride: params[1] is the number of all lanes.

struct Item { word: u32 }

@group(0) @binding(2) var<storage, read_write> result: array<Item>;

fn load(i: u32) -> Item { return Item(); }

@compute @workgroup_size(1)
fn map(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = params[0];
    let lanes = params[1];
    var i = id.x;
    if i >= n {
        return;
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
