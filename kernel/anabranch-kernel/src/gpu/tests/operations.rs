//! Each operation against plain Rust.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::key::KeyOrder;

/// Checks every operation on `n` elements.
pub(super) fn check_all(queue: &GpuQueue, n: u32) {
    let numbers = numbers(n);
    let vec = queue.upload(&numbers).unwrap();
    assert_eq!(download(&vec).unwrap(), numbers, "upload of {n}");
    check_map(queue, &vec, &numbers);
    check_reduce_and_scan(queue, &vec, &numbers);
    check_compact(queue, &vec, &numbers);
    check_gather_and_scatter(queue, &numbers);
    check_histogram(queue, &numbers);
    check_sort(queue, &vec, &numbers);
}

fn check_map(queue: &GpuQueue, vec: &Buffer, numbers: &[u32]) {
    let sums = queue.collect(mapped(kernels().add, [vec, vec])).unwrap();
    let expected: Vec<u32> = numbers.iter().map(|x| x.wrapping_add(*x)).collect();
    assert_eq!(download(&sums).unwrap(), expected);
}

fn check_reduce_and_scan(queue: &GpuQueue, vec: &Buffer, numbers: &[u32]) {
    let n = numbers.len();
    let total = run(|cx| queue.reduce(of(vec), kernels().add, &[0])?.wait(cx)).unwrap();
    assert_eq!(total, [numbers.iter().fold(0u32, |sum, x| sum.wrapping_add(*x))], "reduce of {n}");
    // An operator that is not commutative.
    let sparse: Vec<u32> = numbers.iter().map(|x| if x % 5 == 0 { *x } else { 0 }).collect();
    let vec = queue.upload(&sparse).unwrap();
    for inclusive in [false, true] {
        for (operator, combine) in [
            (kernels().add, (|a, b| u32::wrapping_add(a, b)) as fn(u32, u32) -> u32),
            (kernels().last, |a, b| if b == 0 { a } else { b }),
        ] {
            let scanned = queue.scan(of(&vec), operator, &[0], inclusive).unwrap();
            let mut before = 0;
            let expected = sparse.iter().map(|x| {
                let exclusive = before;
                before = combine(before, *x);
                if inclusive { before } else { exclusive }
            });
            let expected: Vec<u32> = expected.collect();
            assert!(download(&scanned).unwrap() == expected, "scan of {n} by {}, {inclusive}", operator.name);
        }
    }
}

fn check_compact(queue: &GpuQueue, vec: &Buffer, numbers: &[u32]) {
    let kept = run(|cx| queue.compact(cx, of(vec), kernels().odd)).unwrap();
    let expected: Vec<u32> = numbers.iter().copied().filter(|x| x % 2 == 1).collect();
    assert!(download(&kept).unwrap() == expected, "compact of {}", numbers.len());
}

fn check_gather_and_scatter(queue: &GpuQueue, numbers: &[u32]) {
    // A permutation: the last element first.
    let reversed: Vec<u32> = (0..numbers.len() as u32).rev().collect();
    let (values, places) = (queue.upload(numbers).unwrap(), queue.upload(&reversed).unwrap());
    let expected: Vec<u32> = numbers.iter().rev().copied().collect();
    let mut graph = Graph::default();
    let (buffer, index) = (graph.buffer(&values), graph.buffer(&places));
    let index = Box::new(Node::Buffer { buffer: index, words: 1 });
    let inputs =
        Inputs { graph, roots: [Node::Gather { buffer, words: 1, index }], words: [1], len: numbers.len() as u32 };
    assert!(download(&queue.collect(inputs).unwrap()).unwrap() == expected, "gather of {}", numbers.len());
    let mut target = queue.zeroed(numbers.len()).unwrap();
    queue.scatter(of_two(&values, &places), &mut target).unwrap();
    assert!(download(&target).unwrap() == expected, "scatter of {}", numbers.len());
}

fn check_histogram(queue: &GpuQueue, numbers: &[u32]) {
    for bins in [1, 10, 5000] {
        let small: Vec<u32> = numbers.iter().map(|x| x % bins).collect();
        let vec = queue.upload(&small).unwrap();
        let mut expected = vec![0; bins as usize];
        small.iter().for_each(|x| expected[*x as usize] += 1);
        let counts = download(&queue.histogram(of(&vec), bins as usize).unwrap()).unwrap();
        assert!(counts == expected, "histogram of {} in {bins}", numbers.len());
    }
}

fn check_sort(queue: &GpuQueue, vec: &Buffer, numbers: &[u32]) {
    // Few different keys show whether the sort is stable.
    let few: Vec<u32> = numbers.iter().map(|x| x & 0xc000_0003).collect();
    let few = queue.upload(&few).unwrap();
    for order in [KeyOrder::Unsigned, KeyOrder::Signed, KeyOrder::Float] {
        for keys in [vec, &few] {
            let mut graph = Graph::default();
            let roots = [Node::Buffer { buffer: graph.buffer(keys), words: 1 }, Node::Index];
            let inputs = Inputs { graph, roots, words: [1, 1], len: numbers.len() as u32 };
            let (sorted, places) = queue.sort_by_key(inputs, order).unwrap();
            let keys = download(keys).unwrap();
            let mut expected: Vec<u32> = (0..numbers.len() as u32).collect();
            let key = |place: &u32| keys[*place as usize];
            match order {
                KeyOrder::Unsigned => expected.sort_by_key(key),
                KeyOrder::Signed => expected.sort_by_key(|place| key(place).cast_signed()),
                KeyOrder::Float => {
                    expected.sort_by(|a, b| f32::from_bits(key(a)).total_cmp(&f32::from_bits(key(b))));
                }
            }
            assert!(download(&places).unwrap() == expected, "sort of {} as {order:?}", numbers.len());
            let expected: Vec<u32> = expected.iter().map(key).collect();
            assert!(download(&sorted).unwrap() == expected);
        }
    }
}

fn uniform<T: crate::Element>(graph: &mut Graph<'_>, value: T) -> Node {
    Node::Uniform { first: graph.uniform(&value), words: size_of::<T>() / 4 }
}

/// Checks the operations on elements of three words.
fn check_wide(queue: &GpuQueue, n: u32) {
    let words = numbers(3 * n);
    let vec = queue.upload(&words).unwrap();
    let elements: Vec<[u32; 3]> = words.chunks(3).map(|words| words.try_into().unwrap()).collect();
    let add = |a: [u32; 3], b: [u32; 3]| -> [u32; 3] { std::array::from_fn(|i| a[i].wrapping_add(b[i])) };
    let inputs = || {
        let mut graph = Graph::default();
        let root = Node::Buffer { buffer: graph.buffer(&vec), words: 3 };
        Inputs { graph, roots: [root], words: [3], len: n }
    };
    let total = run(|cx| queue.reduce(inputs(), kernels().add_wide, &[0; 3])?.wait(cx)).unwrap();
    assert_eq!(total, elements.iter().fold([0; 3], |sum, x| add(sum, *x)), "reduce of {n}");
    let sums = queue.scan(inputs(), kernels().add_wide, &[0; 3], true).unwrap();
    let mut sum = [0; 3];
    let expected: Vec<[u32; 3]> = elements
        .iter()
        .map(|x| {
            sum = add(sum, *x);
            sum
        })
        .collect();
    assert!(download(&sums).unwrap() == expected.concat(), "scan of {n}");
    let kept = run(|cx| queue.compact(cx, inputs(), kernels().odd_wide)).unwrap();
    let expected: Vec<[u32; 3]> = elements.iter().copied().filter(|x| x[0] % 2 == 1).collect();
    assert!(download(&kept).unwrap() == expected.concat(), "compact of {n}");

    let places: Vec<u32> = (0..n).rev().collect();
    let places = queue.upload(&places).unwrap();
    let two = || {
        let mut graph = Graph::default();
        let roots =
            [(&places, 1), (&vec, 3)].map(|(buffer, words)| Node::Buffer { buffer: graph.buffer(buffer), words });
        Inputs { graph, roots, words: [1, 3], len: n }
    };
    let reversed: Vec<[u32; 3]> = elements.iter().rev().copied().collect();
    let (_, sorted) = queue.sort_by_key(two(), KeyOrder::Unsigned).unwrap();
    assert!(download(&sorted).unwrap() == reversed.concat(), "sort of {n}");
    let mut target = queue.zeroed(3 * n as usize).unwrap();
    let Inputs { graph, roots: [places, values], len, .. } = two();
    queue.scatter(Inputs { graph, roots: [values, places], words: [3, 1], len }, &mut target).unwrap();
    assert!(download(&target).unwrap() == reversed.concat(), "scatter of {n}");
    let mut graph = Graph::default();
    let (buffer, index) = (graph.buffer(&vec), Box::new(Node::Index));
    let inputs = Inputs { graph, roots: [Node::Gather { buffer, words: 3, index }], words: [3], len: n };
    assert!(download(&queue.collect(inputs).unwrap()).unwrap() == words, "gather of {n}");
}

#[test]
fn operations_on_elements_of_several_words_agree_with_plain_rust() {
    let Some(queue) = queue() else { return };
    [0, 1, 33, 10_001].into_iter().for_each(|n| check_wide(&queue, n));
}

#[test]
fn operations_agree_with_plain_rust_at_the_edges_of_vectors_and_blocks() {
    let Some(queue) = queue() else { return };
    SIZES.into_iter().for_each(|n| check_all(&queue, n));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn operations_agree_with_plain_rust_for_any_size(n in 0u32..2000) {
        if let Some(queue) = queue() {
            check_all(&queue, n);
        }
    }
}

#[test]
fn a_chain_of_maps_and_gathers_is_one_compiled_operation() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::open(&device).unwrap();
    let numbers = numbers(1000);
    let (vec, places) = (queue.upload(&numbers).unwrap(), queue.upload(&[999, 0, 5]).unwrap());
    let mut graph = Graph::default();
    let (values, places) = (graph.buffer(&vec), graph.buffer(&places));
    let gathered =
        Node::Gather { buffer: values, words: 1, index: Box::new(Node::Buffer { buffer: places, words: 1 }) };
    let add = kernels().add;
    let call = |args| Node::Call { name: add.name, program: add.program, args };
    let scalar = uniform(&mut graph, 7u32);
    let root = call(vec![call(vec![gathered, scalar]), Node::Index]);
    let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 3 }).unwrap();
    let expected = [numbers[999] + 7, numbers[0].wrapping_add(8), numbers[5].wrapping_add(9)];
    assert_eq!(download(&sums).unwrap(), [expected[0], expected[1], expected[2]]);
    assert_eq!(queue.opened.pipelines.len(), 1);
}

#[test]
fn the_same_tree_is_compiled_for_few_sizes_of_blocks_and_once_for_all_values() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::open(&device).unwrap();
    let sizes = [100u32, 101, 5000, 5001, 9000, 70_000, 75_000, 80_000, 85_000, 90_000, 200_000, 300_000];
    let lanes = |n: u32| device.plan(n.into()).lanes_per_block().ilog2();
    let classes: BTreeSet<u32> = sizes.into_iter().map(lanes).collect();
    for n in sizes {
        let vec = queue.upload(&numbers(n)).unwrap();
        let mut graph = Graph::default();
        let args = vec![Node::Buffer { buffer: graph.buffer(&vec), words: 1 }, uniform(&mut graph, n)];
        let root = Node::Call { name: "add", program: kernels().add.program, args };
        let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: n }).unwrap();
        assert_eq!(download(&sums).unwrap()[0], numbers(1)[0].wrapping_add(n));
    }
    assert_eq!(queue.opened.pipelines.len(), classes.len());
}

#[test]
fn rows_segments_and_whole_vectors_are_slices_of_kernels() {
    let Some(queue) = queue() else { return };
    let numbers = numbers(1200);
    let vec = queue.upload(&numbers).unwrap();
    let sum = kernels().sum;
    let call = |args| Node::Call { name: sum.name, program: sum.program, args };
    let total = |part: &[u32]| part.iter().fold(0u32, |sum, x| sum.wrapping_add(*x));

    let mut graph = Graph::default();
    let buffer = graph.buffer(&vec);
    let width = graph.uniform(&40u32);
    let root = call(vec![Node::Rows { buffer, words: 1, width }]);
    let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 30 }).unwrap();
    assert_eq!(download(&sums).unwrap(), numbers.chunks(40).map(total).collect::<Vec<_>>());

    let offsets = [0u32, 0, 7, 1199, 1200];
    let ends = queue.upload(&offsets).unwrap();
    let mut graph = Graph::default();
    let (buffer, offsets_id) = (graph.buffer(&vec), graph.buffer(&ends));
    let root = call(vec![Node::Segments { offsets: offsets_id, buffer, words: 1 }]);
    let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 4 }).unwrap();
    let expected: Vec<u32> =
        offsets.windows(2).map(|pair| total(&numbers[pair[0] as usize..pair[1] as usize])).collect();
    assert_eq!(download(&sums).unwrap(), expected);

    for part in [&numbers[..], &[]] {
        let vec = queue.upload(part).unwrap();
        let mut graph = Graph::default();
        let root = call(vec![Node::Whole { buffer: graph.buffer(&vec), words: 1 }]);
        let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 3 }).unwrap();
        assert_eq!(download(&sums).unwrap(), [total(part); 3]);
    }
}

#[test]
fn many_values_are_passed_in_a_buffer() {
    let Some(queue) = queue() else { return };
    let mut graph = Graph::default();
    let big: [u32; 40] = std::array::from_fn(|i| i as u32);
    graph.uniform(&big);
    let args = vec![uniform(&mut graph, 1000u32), Node::Index];
    let root = Node::Call { name: "add", program: kernels().add.program, args };
    let sums = queue.collect(Inputs { graph, roots: [root], words: [1], len: 3 }).unwrap();
    assert_eq!(download(&sums).unwrap(), [1000, 1001, 1002]);
    let mut graph = Graph::default();
    let root = uniform(&mut graph, big);
    let copies = queue.collect(Inputs { graph, roots: [root], words: [40], len: 2 }).unwrap();
    assert_eq!(download(&copies).unwrap(), [big, big].concat());
}

#[test]
fn values_in_buffers_are_those_of_the_launch_while_threads_share_a_queue() {
    let Some(queue) = queue() else { return };
    std::thread::scope(|scope| {
        for thread in 0..4u32 {
            let queue = &queue;
            scope.spawn(move || {
                for round in 0..50 {
                    let launches = (0..50u32).map(|launch| {
                        let values = [(thread << 20) + (round << 10) + launch; 40];
                        let mut graph = Graph::default();
                        let root = uniform(&mut graph, values);
                        (values, queue.collect(Inputs { graph, roots: [root], words: [40], len: 1 }).unwrap())
                    });
                    for (values, copies) in launches.collect::<Vec<_>>() {
                        assert_eq!(download(&copies).unwrap(), values);
                    }
                }
            });
        }
    });
}

#[test]
fn floats_keep_nan_infinities_and_signed_zeros() {
    let Some(queue) = queue() else { return };
    let special = [f32::NAN, f32::INFINITY, -f32::INFINITY, -0.0, 0.0, f32::MAX, f32::MIN_POSITIVE, 1.5];
    let words: Vec<u32> = special.iter().map(|x| x.to_bits()).collect();
    let (vec, zeros) = (queue.upload(&words).unwrap(), queue.upload(&[(-0.0f32).to_bits(); 8]).unwrap());
    let sums = download(&queue.collect(mapped(kernels().add_f32, [&vec, &zeros])).unwrap()).unwrap();
    for (x, sum) in special.iter().zip(sums.into_iter().map(f32::from_bits)) {
        assert!(sum.to_bits() == x.to_bits() || (sum.is_nan() && x.is_nan()), "{x} {sum}");
    }
    // Copies keep each bit, also of denormal numbers and of each NaN.
    let bits = [1u32, 0x8000_0001, 0x007f_ffff, 0x7fc0_0001, 0xffff_ffff];
    let vec = queue.upload(&bits).unwrap();
    assert_eq!(download(&queue.collect(of(&vec)).unwrap()).unwrap(), bits);
    // Sums of denormal numbers are exact or flushed.
    let sums = download(&queue.collect(mapped(kernels().add_f32, [&vec, &vec])).unwrap()).unwrap();
    assert!(sums[0] == 2 || sums[0] == 0, "{sums:?}");
}

#[test]
fn integers_wrap() {
    let Some(queue) = queue() else { return };
    let vec = queue.upload(&[u32::MAX, 1 << 31, 3]).unwrap();
    let sums = download(&queue.collect(mapped(kernels().add, [&vec, &vec])).unwrap()).unwrap();
    assert_eq!(sums, [u32::MAX - 1, 0, 6]);
}
