// Stores each element at an index of its own. The lanes stride: params[1] is the number of all lanes. params[2] is the
// length of the target, and params[3] the code of the trap.

struct Item { word: u32 }

@group(0) @binding(2) var<storage, read_write> target_items: array<Item>;

fn load(i: u32) -> Item { return Item(); }
fn place(i: u32) -> u32 { return 0u; }

@compute @workgroup_size(1)
fn scatter(@builtin(global_invocation_id) id: vec3<u32>) {
    let n = params[0];
    let lanes = params[1];
    let length = params[2];
    var i = id.x;
    if i >= n {
        return;
    }
    loop {
        let index = place(i);
        if index < length {
            target_items[index] = load(i);
        } else {
            atomicMax(&traps[0], params[3]);
        }
        if n - i <= lanes {
            break;
        }
        i += lanes;
    }
}
