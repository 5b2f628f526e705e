//! Kernels that are written by hand, and what the tests share.

use anabranch_kernel::{DeviceVec, Element, Kernel, Map, Slice};

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
            pub fn map<A>(args: A) -> Map<$name, A> {
                Map::new(args)
            }
        }
    };
}

kernel!(saxpy(a: f32 => f32, x: f32 => f32, y: f32 => f32) -> f32 { a * x + y });
kernel!(square(x: u32 => u32) -> u32 { x.wrapping_mul(x) });

/// Returns the elements.
pub fn elements<T: Element>(vec: &DeviceVec<T>) -> Vec<T> {
    anabranch::run(|cx| vec.download(cx)).unwrap()
}
