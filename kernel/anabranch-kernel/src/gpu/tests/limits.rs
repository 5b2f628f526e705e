//! The limits of a device.

use super::geometry::{Geometry, Request};
use super::*;
use crate::Shape;
use crate::gpu::driver::Limits;
use crate::gpu::operations::{MAP, REDUCE};

fn restricted(restrict: impl FnOnce(&mut Limits)) -> Option<GpuQueue> {
    let device = device()?;
    Some(GpuQueue { opened: Opened::open(&device, restrict).unwrap() })
}

#[test]
fn operations_agree_with_plain_rust_past_the_limits_of_a_dispatch() {
    let small = |limits: &mut Limits| {
        limits.blocks = 3;
        limits.lanes = 4;
    };
    let Some(queue) = restricted(small) else { return };
    for n in [1, 12, 13, 20_001] {
        operations::check_all(&queue, n);
    }
}

#[test]
fn operations_agree_with_plain_rust_by_the_rules_for_gpus_and_for_processors() {
    for is_cpu in [false, true] {
        let Some(queue) = restricted(|limits| limits.is_cpu = is_cpu) else { return };
        // The last one is more than one block takes.
        for n in [1, 31, 32, 33, 63, 64, 65, 20_001, 65_537, 140_001] {
            operations::check_all(&queue, n);
        }
    }
}

#[test]
fn a_plan_of_more_blocks_than_a_dispatch_has_is_run() {
    let Some(device) = device() else { return };
    // More cores than blocks of a dispatch, and a block with more lanes than any device has.
    for (cores, lanes) in [(200_000, 1), (2, 1 << 20), (1, 1)] {
        let shape = Shape { cores, lanes, resident_vectors: 2, max_block_vectors: 1 };
        let described = Device::found(Device::new("described", shape).unwrap(), "described".to_owned(), 0);
        assert_eq!(described.gpu_number(), device.gpu_number());
        let queue = GpuQueue::open(&described).unwrap();
        for n in [1, 65_537] {
            operations::check_all(&queue, n);
        }
    }
}

#[test]
fn few_elements_are_reduced_by_one_block_and_the_lanes_of_a_block_are_a_power_of_two() {
    let Some(device) = device() else { return };
    let described = Device::found("h100".parse().unwrap(), "described".to_owned(), 0);
    assert_eq!(described.gpu_number(), device.gpu_number());
    for is_cpu in [false, true] {
        let queue = GpuQueue { opened: Opened::open(&described, |limits| limits.is_cpu = is_cpu).unwrap() };
        let vec = queue.zeroed(1).unwrap();
        let geometry = |skeleton, operator, len| {
            let roots = of(&vec).roots;
            let request = Request { skeleton, roots: &roots, operator, len, item_bytes: 4 };
            let Geometry { blocks, lanes, loads_four } = Geometry::new(&queue.opened, &request).unwrap();
            (blocks, lanes, loads_four)
        };
        let add = Some(kernels().add);
        // A block of more elements has the lanes of the largest one.
        assert_eq!(geometry(&REDUCE, add, 1 << 14), (1, 1024, !is_cpu));
        // 512 and 513 vectors for 132 cores are 3 for each, which is rounded down to 2.
        assert_eq!(geometry(&MAP, None, 1 << 14), (256, 64, !is_cpu));
        match is_cpu {
            false => assert_eq!(geometry(&REDUCE, add, (1 << 14) + 1), (257, 64, true)),
            true => {
                // For many cores.
                assert_eq!(geometry(&REDUCE, add, 4 << 14), (1, 1024, false));
                assert_ne!(geometry(&REDUCE, add, (4 << 14) + 1).0, 1);
            }
        }
        // A kernel with a loop may take long for an element.
        let (blocks, _, loads_four) = geometry(&REDUCE, Some(kernels().sum), 1 << 14);
        assert!(blocks > 1 && !loads_four);
    }
}

#[test]
fn a_vector_that_is_too_large_is_an_error_with_the_limit() {
    let Some(queue) = restricted(|limits| limits.buffer_bytes = 1 << 20) else { return };
    let fits = vec![0; 1 << 18];
    assert_eq!(queue.upload(&fits).unwrap().words(), 1 << 18);
    let error = queue.zeroed((1 << 18) + 1).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    assert!(error.to_string().contains("its largest have 1048576 bytes"), "{error}");
}

/// On the simulated card, since other programs may use a real one. Three parts, 192 MiB, are left for the other tests.
#[test]
fn memory_that_is_kept_for_other_sizes_is_given_back_when_there_is_no_more() {
    let Some(device) = device().filter(|device| device.name() == "simulated card") else { return };
    let queue = GpuQueue::open(&device).unwrap();
    let words = device.memory().expect("the card has memory") as usize / 4;
    let [dropped, kept] = [4, 5].map(|parts| queue.zeroed(words / 16 * parts).unwrap());
    let error = queue.zeroed(words / 16 * 12).unwrap_err();
    assert!(matches!(error, Error::OutOfMemory { is_host: false, .. }), "{error:?}");
    drop(dropped);
    // Seven parts are unused while the queue keeps the dropped four.
    assert_eq!(queue.zeroed(words / 16 * 8).unwrap().words(), words / 16 * 8);
    assert_eq!(run(|cx| queue.reduce(of(&kept), kernels().add, &[0])?.wait(cx)).unwrap(), [0]);
}

#[test]
fn an_operation_of_too_many_vectors_is_an_error() {
    let Some(queue) = restricted(|limits| limits.buffers = 2) else { return };
    let vecs = [1, 2].map(|n| queue.upload(&[n]).unwrap());
    let error = queue.collect(mapped(kernels().add, [&vecs[0], &vecs[1]])).unwrap_err();
    assert!(error.to_string().contains("3 vectors at once"), "{error}");
    let doubled = queue.collect(mapped(kernels().add, [&vecs[0], &vecs[0]])).unwrap();
    assert_eq!(download(&doubled).unwrap(), [2]);
}

#[test]
fn a_kernel_without_a_program_is_an_error() {
    let Some(queue) = queue() else { return };
    let vec = queue.upload(&[1]).unwrap();
    let error = queue.collect(mapped(Operator { name: "plain", program: &[] }, [&vec])).unwrap_err();
    assert!(error.to_string().contains("`plain` runs on the processor only"), "{error}");
    static WRONG: [u8; 3] = [255, 255, 255];
    let error = queue.collect(mapped(Operator { name: "wrong", program: &WRONG }, [&vec])).unwrap_err();
    assert!(error.to_string().starts_with("`wrong`: "), "{error}");
}

fn sum_of_indices(queue: &GpuQueue, n: u32) -> u32 {
    let inputs = Inputs { graph: Graph::default(), roots: [Node::Index], words: [1], len: n };
    run(|cx| queue.reduce(inputs, kernels().add, &[0])?.wait(cx)).unwrap()[0]
}

#[test]
fn no_driver_ends_the_loops_of_lanes_that_stride_over_many_elements() {
    let Some(queue) = queue() else { return };
    for n in [1_048_577, 2_097_153, 20_000_003] {
        assert_eq!(sum_of_indices(&queue, n), (u64::from(n) * u64::from(n - 1) / 2) as u32, "{n}");
    }
}

#[test]
fn a_plan_has_waves_unless_the_processor_runs_the_kernels() {
    let Some(queue) = queue() else { return };
    assert_eq!(queue.device().plan(1 << 40).waves() == 1, queue.opened.limits.is_cpu);
}

#[test]
fn no_driver_ends_the_loops_of_kernels_early() {
    let Some(queue) = queue() else { return };
    // 20,000 rows of 100 elements each: two million rounds.
    let vec = queue.upload(&[3; 100]).unwrap();
    let sum = kernels().sum;
    let mut graph = Graph::default();
    let args = vec![Node::Whole { buffer: graph.buffer(&vec), words: 1 }];
    let root = Node::Call { name: sum.name, program: sum.program, args };
    let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 20_000 }).unwrap();
    assert_eq!(download(&sums).unwrap(), [300; 20_000]);
}
