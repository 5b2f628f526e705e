//! Kernels that are written by hand, and what the tests share.

use std::sync::LazyLock;

use anabranch::Pool;
use anabranch_kernel::{DeviceVec, Element, Error, Kernel, Map, Queue, Slice};

/// Defines a kernel and its function `map`.
macro_rules! kernel {
    ($name:ident($($arg:ident: $type:ty => $param:ty),*) -> $output:ty $body:block) => {
        #[allow(non_camel_case_types, reason = "the type has the name of the function")]
        pub enum $name {}

        impl Kernel for $name {
            type Params = ($($param,)*);
            type Output = $output;
            const NAME: &'static str = stringify!($name);
            const PROGRAM: &'static [u8] = &[];

            #[inline]
            fn call(($($arg,)*): ($($type,)*)) -> $output $body
        }

        impl $name {
            #[allow(dead_code, reason = "operators and predicates are not mapped")]
            pub fn map<A>(args: A) -> Map<$name, A> {
                Map::new(args)
            }
        }
    };
}

kernel!(saxpy(a: f32 => f32, x: f32 => f32, y: f32 => f32) -> f32 { a * x + y });
kernel!(square(x: u32 => u32) -> u32 { x.wrapping_mul(x) });
kernel!(add_eight(a: u32 => u32, b: u32 => u32, c: u32 => u32, d: u32 => u32, e: u32 => u32, f: u32 => u32,
    g: u32 => u32, h: u32 => u32) -> u32 { [a, b, c, d, e, f, g, h].iter().fold(0, |a, b| a * 3 + b) });
kernel!(is_odd(x: u32 => u32) -> bool { x % 2 == 1 });
kernel!(choose(odd: bool => bool, x: u32 => u32) -> u32 { if odd { x } else { 0 } });
kernel!(is_nan(x: f32 => f32) -> bool { x.is_nan() });
kernel!(halve(x: f32 => f32) -> f32 { x / 2.0 });
kernel!(panic_at(x: u32 => u32, bad: u32 => u32) -> u32 {
    assert!(x != bad, "bad number {x}");
    x
});
kernel!(total(values: &[u32] => Slice<u32>) -> u32 { values.iter().fold(0, |a, b| a.wrapping_add(*b)) });
kernel!(dot(row: &[f32] => Slice<f32>, vector: &[f32] => Slice<f32>) -> f32 {
    row.iter().zip(vector).map(|(a, b)| a * b).sum()
});
// Affine maps `x -> a * x + b`, composed: associative, and not commutative.
kernel!(compose(f: [u32; 2] => [u32; 2], g: [u32; 2] => [u32; 2]) -> [u32; 2] {
    [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])]
});
// The larger pair, in the order of the words.
kernel!(larger(a: [u32; 2] => [u32; 2], b: [u32; 2] => [u32; 2]) -> [u32; 2] { a.max(b) });

/// The sizes that the operations are tested with: around vectors, around 2^16, and larger.
pub const SIZES: [usize; 12] = [0, 1, 31, 32, 33, 63, 64, 65, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, (1 << 17) + 5];

/// Runs a test in pools of one, two and four threads, for each size.
pub fn for_all_sizes(test: impl Fn(usize) + Send + Sync) {
    static POOLS: LazyLock<Vec<Pool>> = LazyLock::new(|| {
        let pool = |threads| Pool::builder().threads(threads).build().expect("a pool");
        [1, 2, 4].map(pool).into()
    });
    for pool in POOLS.iter() {
        pool.install(|| SIZES.into_iter().for_each(&test));
    }
}

/// Returns pseudo-random numbers: SplitMix64.
pub fn numbers(len: usize, seed: u64) -> Vec<u32> {
    let number = |index: usize| {
        let z = (seed << 32).wrapping_add(index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        ((z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32
    };
    (0..len).map(number).collect()
}

/// Returns floats of every kind: normal, denormal, infinite, NaN, and zeros of both signs.
pub fn floats(len: usize, seed: u64) -> Vec<f32> {
    numbers(len, seed).into_iter().map(f32::from_bits).collect()
}

/// Returns the bits of floats, in which NaN equals itself. All NaN are one.
pub fn bits(floats: &[f32]) -> Vec<u32> {
    floats.iter().map(|float| if float.is_nan() { f32::NAN.to_bits() } else { float.to_bits() }).collect()
}

/// Returns the elements.
pub fn elements<T: Element>(vec: &DeviceVec<T>) -> Vec<T> {
    anabranch::run(|cx| vec.download(cx)).expect("the processor has the elements")
}

/// Returns the queue of the processor.
pub fn cpu() -> Queue {
    Queue::cpu()
}

/// Returns what a trap says: the kernel, and what it did.
pub fn trap<T>(result: Result<T, Error>) -> (String, String) {
    match result {
        Err(Error::Trap(trap)) => (trap.kernel().to_owned(), trap.what().to_owned()),
        Err(error) => panic!("not a trap: {error}"),
        Ok(_) => panic!("no trap"),
    }
}
