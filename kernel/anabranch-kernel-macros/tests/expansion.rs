//! What `#[kernel]` leaves beside a function.

#![deny(missing_docs)]

use anabranch_kernel::{Element, Kernel, Queue, Vector, indices, kernel, whole};
use anabranch_kernel_ir::{Param, Program, Type};

/// A line.
#[kernel]
pub fn saxpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

#[kernel]
fn item(xs: &[u32], i: u32) -> u32 {
    xs[i as usize]
}

#[kernel]
#[allow(dead_code)]
fn is_large(x: f32) -> bool {
    x > 100.0
}

/// Bodies in a plane.
#[kernel]
pub mod physics {
    /// How strong it is.
    pub const GRAVITY: f32 = 9.81;

    /// A body.
    #[derive(Debug, PartialEq)]
    pub struct Body {
        /// Where it is.
        pub at: [f32; 2],
        /// How fast it moves.
        pub speed: [f32; 2],
    }

    /// A step in time.
    pub fn step(body: Body, time: f32) -> Body {
        Body {
            at: [moved(body.at[0], body.speed[0], time), moved(body.at[1], body.speed[1], time)],
            ..fall(body, time)
        }
    }

    fn fall(body: Body, time: f32) -> Body {
        let mut next = body;
        next.speed[1] -= GRAVITY * time;
        next
    }

    fn moved(at: f32, speed: f32, time: f32) -> f32 {
        at + speed * time
    }

    /// The first of some numbers, or 0.
    pub fn first(numbers: &[f32]) -> f32 {
        item(numbers, 0)
    }

    // With a `usize` it is no kernel, but kernels call it.
    fn item(numbers: &[f32], index: usize) -> f32 {
        if index < numbers.len() { numbers[index] } else { 0.0 }
    }
}

/// The name of the crate may be another.
mod renamed {
    mod runtime {
        pub use anabranch_kernel::*;
    }

    #[anabranch_kernel_macros::kernel(crate = self::runtime)]
    pub fn half(x: u32) -> u32 {
        x / 2
    }
}

fn collected<T: Element>(vector: impl Vector<Item = T>) -> Vec<T> {
    let stored = vector.collect(&Queue::cpu()).unwrap();
    anabranch::run(|cx| stored.download(cx)).unwrap()
}

#[test]
fn function_stays_a_function() {
    assert_eq!(saxpy(2.0, 3.0, 4.0), 10.0);
}

#[test]
fn kernel_has_name_program_and_call() {
    assert_eq!(saxpy::NAME, "saxpy");
    assert_eq!(saxpy::call((2.0, 3.0, 4.0)), 10.0);
    let program = Program::from_bytes(saxpy::PROGRAM).unwrap();
    assert_eq!(program.kernel().params, [Param::Value(0), Param::Value(1), Param::Value(2)]);
    assert_eq!(program.kernel().output, Type::F32);
}

#[test]
fn map_is_a_lazy_vector() {
    assert_eq!(collected(saxpy::map(2.0, &[1.0, 2.0], &[3.0, 4.0])), [5.0, 8.0]);
    let xs = Queue::cpu().upload(&[5, 6, 7]).unwrap();
    assert_eq!(collected(item::map(whole(&xs), indices(3))), [5, 6, 7]);
    assert_eq!(collected(renamed::half::map(&[5, 6])), [2, 3]);
}

#[test]
fn structs_are_elements() {
    fn assert_element<T: Element>() {}
    assert_element::<physics::Body>();
    assert_eq!(physics::first::call((&[2.5],)), 2.5);
}
