//! Kernels of `#[kernel]` on a GPU and on the processor, which must agree.

use std::time::Duration;

use anabranch::Cx;
use anabranch_kernel::{
    Device, DeviceVec, Element, Error, Number, Queue, Vector, gather, indices, kernel, rows, segments, sort_by_key,
    whole,
};

use crate::kernels::elements;

#[kernel]
fn saxpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

#[kernel]
fn is_odd(x: u32) -> bool {
    x % 2 == 1
}

#[kernel]
fn total(values: &[u32]) -> u32 {
    let mut sum = 0u32;
    for value in values {
        sum = sum.wrapping_add(*value);
    }
    sum
}

#[kernel]
fn quotient(a: i32, b: i32) -> i32 {
    a / b
}

#[kernel]
mod affine {
    /// The map `x -> factor * x + summand`.
    pub struct Affine {
        pub factor: u32,
        pub summand: u32,
    }

    pub fn compose(f: Affine, g: Affine) -> Affine {
        Affine {
            factor: f.factor.wrapping_mul(g.factor),
            summand: f.summand.wrapping_mul(g.factor).wrapping_add(g.summand),
        }
    }

    pub fn constant(i: u32) -> Affine {
        Affine { factor: i.wrapping_mul(7), summand: i }
    }

    pub fn at_zero(f: Affine) -> u32 {
        f.summand
    }
}

#[kernel]
mod fractal {
    const LIMIT: u32 = 500;

    /// Returns the rounds until a point leaves the disk.
    pub fn escape(x: f32, y: f32) -> u32 {
        let mut a = 0.0;
        let mut b = 0.0;
        let mut rounds = 0u32;
        for _ in 0..LIMIT {
            let next = a * a - b * b + x;
            b = 2.0 * a * b + y;
            a = next;
            if a * a + b * b > 4.0 {
                break;
            }
            rounds += 1;
        }
        rounds
    }
}

/// Returns the queues of the processor and of the first GPU. Returns `None` and says so if there is none.
fn queues() -> Option<[Queue; 2]> {
    let gpu = Device::gpus().into_iter().next();
    if gpu.is_none() {
        assert!(std::env::var_os("ANABRANCH_REQUIRE_GPU").is_none(), "no GPU was found, and one is required");
        eprintln!("no GPU was found: this test is skipped");
    }
    Some([Queue::cpu(), Queue::open(&gpu?).expect("a GPU that was found can be opened")])
}

/// Checks that a program has the same result on both.
fn agree<T: PartialEq + std::fmt::Debug>(program: impl Fn(&Queue) -> T) {
    if let Some([cpu, gpu]) = queues() {
        assert!(program(&gpu) == program(&cpu), "the results differ");
    }
}

fn wait<T: Element + Unpin>(pending: anabranch_kernel::Pending<T>) -> Result<T, Error> {
    anabranch::run(|cx| pending.wait(cx))
}

fn upload<T: Element>(queue: &Queue, n: u32, value: impl Fn(u32) -> T) -> DeviceVec<T> {
    queue.upload(&(0..n).map(value).collect::<Vec<_>>()).unwrap()
}

#[test]
fn maps_of_scalars_and_vectors_agree() {
    for n in [0, 1, 33, 70_000] {
        agree(|queue| {
            let (x, y) = (upload(queue, n, |i| i as f32), upload(queue, n, |i| -(i as f32) / 3.0));
            let doubled = saxpy::map(2.0, &x, saxpy::map(0.5, &y, &x)).collect(queue).unwrap();
            elements(&doubled).into_iter().map(f32::to_bits).collect::<Vec<_>>()
        });
    }
}

#[test]
fn slices_are_arguments_on_each_queue() {
    for n in [0, 1, 70_000] {
        agree(|queue| {
            let (x, y): (Vec<f32>, Vec<f32>) = (0..n).map(|i| (i as f32, -(i as f32) / 3.0)).unzip();
            let places: Vec<u32> = (0..n).rev().collect();
            // A slice that occurs twice, beside a stored vector.
            let stored = queue.upload(&y).unwrap();
            let mapped = saxpy::map(&x, &x, &stored).collect(queue).unwrap();
            let gathered = gather(&x, &places).collect(queue).unwrap();
            let totals = total::map(rows(&places, 1)).collect(queue).unwrap();
            let (keys, values) = sort_by_key(queue, &places, &x).unwrap();
            let mut scattered = queue.zeroed(n as usize).unwrap();
            x.scatter(queue, &places, &mut scattered).unwrap();
            let floats = [mapped, gathered, values, scattered].map(|vec| elements(&vec));
            (floats.concat().into_iter().map(f32::to_bits).collect::<Vec<_>>(), elements(&totals), elements(&keys))
        });
    }
}

#[test]
fn sums_and_extremes_of_numbers_agree() {
    for n in [0, 1, 65, 70_000] {
        agree(|queue| {
            let ints = upload(queue, n, |i| i.wrapping_mul(0x9e37_79b1).cast_signed());
            let floats = upload(queue, n, |i| if i % 100 == 7 { f32::NAN } else { (i % 1000) as f32 });
            let whole = upload(queue, n, |i| (i % 10) as f32);
            let ints = [ints.sum(queue), ints.min(queue), ints.max(queue)].map(|x| wait(x.unwrap()).unwrap());
            let floats = [floats.min(queue), floats.max(queue), whole.sum(queue)].map(|x| wait(x.unwrap()).unwrap());
            (ints, floats.map(f32::to_bits))
        });
    }
}

#[test]
fn structs_are_scanned_in_their_order() {
    for n in [1, 64, 5000] {
        agree(|queue| {
            let one = affine::Affine { factor: 1, summand: 0 };
            let composed = affine::constant::map(indices(n)).scan::<affine::compose>(queue, one).unwrap();
            elements(&affine::at_zero::map(&composed).collect(queue).unwrap())
        });
    }
}

#[test]
fn compactions_sorts_scatters_and_histograms_agree() {
    for n in [0, 1, 63, 20_001] {
        agree(|queue| {
            let numbers = upload(queue, n, |i| i.wrapping_mul(0x85eb_ca6b) >> 8);
            let odd = anabranch::run(|cx| numbers.compact::<is_odd>(cx, queue)).unwrap();
            let (keys, places) = sort_by_key(queue, &numbers, indices(n as usize)).unwrap();
            let mut target = queue.zeroed::<u32>(n as usize).unwrap();
            numbers.scatter(queue, &places, &mut target).unwrap();
            let small = upload(queue, n, |i| i % 37);
            let counts = small.histogram(queue, 37).unwrap();
            let gathered = gather(&numbers, &places).collect(queue).unwrap();
            [&odd, &keys, &places, &target, &counts, &gathered].map(elements)
        });
    }
}

#[test]
fn nested_kernels_agree() {
    agree(|queue| {
        let values = upload(queue, 1200, |i| i.wrapping_mul(0x9e37_79b1));
        let offsets = queue.upload(&[0u32, 0, 5, 1100, 1200]).unwrap();
        let of_rows = total::map(rows(&values, 40)).collect(queue).unwrap();
        let of_segments = total::map(segments(&offsets, &values)).collect(queue).unwrap();
        let all = total::map(whole(&values)).sum(queue);
        assert!(matches!(all, Err(Error::Lengths { .. })));
        [of_rows, of_segments].map(|sums| elements(&sums))
    });
}

#[test]
fn loops_with_break_agree() {
    agree(|queue| {
        let (x, y) =
            (upload(queue, 4000, |i| (i % 80) as f32 / 32.0 - 2.0), upload(queue, 4000, |i| (i / 80) as f32 / 32.0));
        let rounds = elements(&fractal::escape::map(&x, &y).collect(queue).unwrap());
        // The last bits of products and sums may differ, and so may the rounds near the boundary.
        (rounds.len(), rounds.iter().filter(|rounds| **rounds == 500).count() > 100)
    });
}

#[test]
fn a_trap_names_the_kernel_and_a_line() {
    let Some([cpu, gpu]) = queues() else { return };
    for (queue, line) in [(cpu, false), (gpu, true)] {
        let (a, b) = (queue.upload(&[1, 2]).unwrap(), queue.upload(&[1, 0]).unwrap());
        let quotients = quotient::map(&a, &b).collect(&queue);
        let error = quotients.and_then(|quotients| anabranch::run(|cx| quotients.download(cx))).unwrap_err();
        let Error::Trap(trap) = error else { panic!("{error}") };
        assert_eq!((trap.kernel(), trap.line().is_some()), ("quotient", line), "{trap}");
    }
}

#[test]
fn a_vector_of_another_queue_is_an_error_even_if_it_is_empty() {
    let Some([cpu, gpu]) = queues() else { return };
    let other = Queue::open(gpu.device()).unwrap();
    for elements in [&[1u32, 2][..], &[]] {
        let own = gpu.upload(elements).unwrap();
        for foreign in [cpu.upload(elements).unwrap(), other.upload(elements).unwrap()] {
            let refused = |error: Option<Error>| assert!(matches!(error, Some(Error::Queues { .. })), "{error:?}");
            refused(foreign.collect(&gpu).err());
            refused(foreign.sum(&gpu).err());
            refused(foreign.scan::<<u32 as Number>::Add>(&gpu, 0).err());
            refused(foreign.exclusive_scan::<<u32 as Number>::Add>(&gpu, 0).err());
            refused(foreign.histogram(&gpu, 3).err());
            refused(anabranch::run(|cx| foreign.compact::<is_odd>(cx, &gpu)).err());
            refused(sort_by_key(&gpu, &own, &foreign).err());
            refused(sort_by_key(&gpu, &foreign, &own).err());
            let mut target = gpu.zeroed(3).unwrap();
            refused(own.scatter(&gpu, &foreign, &mut target).err());
            refused(foreign.scatter(&gpu, &own, &mut target).err());
        }
        for mut target in [cpu.zeroed(elements.len()).unwrap(), other.zeroed(elements.len()).unwrap()] {
            assert!(matches!(own.scatter(&gpu, &own, &mut target), Err(Error::Queues { .. })));
        }
    }
}

#[test]
fn elements_without_words_have_no_vectors_on_a_device() {
    let Some([_, gpu]) = queues() else { return };
    let vec = gpu.upload(&[[0.0f32; 0]; 3]).unwrap();
    assert!(vec.is_empty() && vec.collect(&gpu).unwrap().is_empty());
}

#[test]
fn a_deadline_ends_the_waits_for_a_device() {
    let Some([_, gpu]) = queues() else { return };
    const LEN: usize = 20_000_000;
    let greatest = |cx: &Cx<'_>| indices(LEN).max(&gpu)?.wait(cx);
    let soon = Duration::from_micros(100);
    anabranch::run(|cx| {
        // The device could be faster than the clock.
        while cx.timeout(soon, greatest) != Err(Error::TimedOut) {}
        let two_at_once = |cx: &Cx<'_>| {
            cx.scope(|s| {
                let fibers = [s.spawn(greatest), s.spawn(greatest)];
                fibers.map(|fiber| fiber.join(s)).map(|ended| ended.unwrap_or(Err(Error::Cancelled)))
            })
            .into_iter()
            .collect::<Result<Vec<u32>, Error>>()
        };
        while cx.timeout(soon, two_at_once) != Err(Error::TimedOut) {}
        while cx.timeout(soon, |cx| indices(LEN).collect(&gpu)?.wait(cx)) != Err(Error::TimedOut) {}
        // The queue goes on.
        assert_eq!(greatest(cx), Ok(LEN as u32 - 1));
    });
}

#[test]
fn a_passed_deadline_has_the_same_error_on_both() {
    agree(|queue| {
        anabranch::run(|cx| {
            let scoped = |cx: &Cx<'_>| indices(100).max(queue.cancelled_by(cx))?.wait(cx);
            (cx.timeout(Duration::ZERO, scoped), cx.timeout(Duration::from_secs(3600), scoped))
        })
    });
}

#[test]
fn a_wait_for_a_vector_reports_traps_and_ends_with_the_work() {
    let Some([_, gpu]) = queues() else { return };
    anabranch::run(|cx| {
        let numbers = upload(&gpu, 100, |i| i.cast_signed());
        numbers.wait(cx).unwrap();
        gpu.upload::<u32>(&[]).unwrap().wait(cx).unwrap();
        let ones = quotient::map(&numbers, 1).collect(&gpu).unwrap();
        ones.wait(cx).unwrap();
        ones.wait(cx).unwrap();
        let trapped = quotient::map(1, &numbers).collect(&gpu).unwrap();
        assert!(matches!(trapped.wait(cx), Err(Error::Trap(_))));
    });
}

#[test]
fn a_result_is_awaited_in_async_code() {
    let Some([_, gpu]) = queues() else { return };
    let sum = indices(1000).reduce::<<u32 as Number>::Add>(&gpu, 0).unwrap();
    let sum = anabranch::spawn_async(sum);
    assert_eq!(anabranch::run(|cx| sum.join(cx)).unwrap().unwrap(), 499_500);
}
