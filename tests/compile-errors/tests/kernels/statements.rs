use anabranch_kernel::kernel;

#[kernel]
fn loops(n: u32) -> u32 {
    let mut i = 0;
    while i < n {
        i += 1;
    }
    loop {
        i += 1;
        break;
    }
    'outer: for _ in 0..3 {
        break 'outer;
    }
    for k in (0..n).step_by(2) {
        i += k;
    }
    for k in 0.. {
        i += k;
    }
    for k in n {
        i += k;
    }
    i
}

#[kernel]
fn expressions(a: f32) -> f32 {
    let twice = |x: f32| x + x;
    let b = unsafe { a };
    let c = &b;
    let d = (a, b);
    let (e, f) = d;
    println!("{a}");
    assert!(a > 0.0);
    let text = "text";
    let letter = 'x';
    if let 0.0 = a {}
    a % 2.0
}

#[kernel]
fn items(a: u32) -> u32 {
    const N: u32 = 3;
    break;
    return;
}

fn main() {}
