use anabranch_kernel::kernel;

#[kernel]
fn parameters(a: f64, b: u64, c: i8, d: &f32, e: &mut f32, f: &[bool], g: Vec<f32>, h: &str) -> String {
    a
}

#[kernel]
fn index(i: usize) -> usize {
    i
}

#[kernel]
fn pattern((a, b): (f32, f32), [c, d]: [f32; 2]) -> (f32, f32) {
    (a, b)
}

#[kernel]
fn generic<T>(a: T) -> T {
    a
}

#[kernel]
fn no_result(a: f32) {}

#[kernel]
fn no_parameters() -> f32 {
    1.0
}

#[kernel]
fn many(a: u32, b: u32, c: u32, d: u32, e: u32, f: u32, g: u32, h: u32, i: u32) -> u32 {
    a
}

#[kernel]
async fn waits(a: f32) -> f32 {
    a
}

#[kernel]
unsafe fn unsound(a: f32) -> f32 {
    a
}

#[kernel]
fn method(self) -> f32 {
    1.0
}

#[kernel]
fn literals(a: f32) -> f32 {
    let x = 1_f64;
    let y = 2_u64;
    let z = 0.5;
    let unknown;
    let long = [0.0_f32; 100_000];
    let empty = [a; 0];
    let cast = a as f64;
    a
}

#[kernel]
fn large(a: u32) -> u32 {
    let x: i32 = 3_000_000_000;
    let y = 5_000_000_000;
    a
}

#[kernel]
fn structs(body: Body) -> f32 {
    body.x
}

struct Body {
    x: f32,
}

#[kernel]
struct Alone {
    x: f32,
}

#[kernel(fast)]
fn argument(a: f32) -> f32 {
    a
}

fn main() {}
