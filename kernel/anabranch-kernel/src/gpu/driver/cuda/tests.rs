//! Copies beside kernels, kept images, the text of modules that no test of devices has, and what the writer refuses.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::task::Poll;

use anabranch_kernel_ir::write_cuda;
use naga::front::wgsl;

use super::api::LARGE;
use super::cache::Cache;
use super::{Command, Driver, Event, Launch, Source, Ticket, Use, cards, compiler};
use crate::gpu::driver::{Dispatch, Driver as _};
use crate::gpu::launch::Commands;
use crate::gpu::slots::TrapSet;
use crate::gpu::tests::{Graph, Inputs, Node, device, download, kernels, numbers, queue, run};
use crate::gpu::{Buffer, GpuQueue, Reply};

/// Returns the event after what writes a vector.
fn written(buffer: &Buffer) -> Arc<Event> {
    match buffer.written.submission.clone().expect("it has words") {
        Ticket::Cuda(event) => event,
        #[cfg(feature = "gpu")]
        Ticket::Wgpu(_) => panic!("the first device is one of CUDA, if there are some"),
    }
}

/// Begins a kernel that takes a while, on a card and on a simulated one: each of some lanes adds a million numbers.
fn long(queue: &GpuQueue) -> Buffer {
    let numbers = queue.zeroed(1_000_000).unwrap();
    let mut graph = Graph::default();
    let args = vec![Node::Whole { buffer: graph.buffer(&numbers), words: 1 }];
    let root = Node::Call { name: kernels().sum.name, program: kernels().sum.program, args };
    queue.collect(Inputs { graph, roots: [root], words: [1], len: 32 }).unwrap()
}

#[test]
fn a_large_upload_ends_while_a_kernel_runs() {
    let Some(device) = device().filter(|_| !cards().0.is_empty()) else { return };
    // No other test frees memory of this queue.
    let queue = GpuQueue::open(&device).unwrap();
    let words = numbers(1 << 18);
    let mut held = Vec::new();
    // The kernel could be faster.
    assert!((0..20).any(|_| {
        // Memory that is allocated, and memory that is free.
        let free = queue.upload(&words).unwrap();
        assert!(download(&free).unwrap() == words);
        drop(free);
        let kernel = long(&queue);
        let uploaded = [(); 2].map(|()| queue.upload(&words).unwrap());
        uploaded.iter().for_each(|uploaded| written(uploaded).wait().unwrap());
        let ended_before = !written(&kernel).is_reached().unwrap();
        assert!(uploaded.iter().all(|uploaded| download(uploaded).unwrap() == words));
        held.extend(uploaded);
        ended_before
    }));
}

/// Begins to download a part of a vector.
fn begin_part(vec: &Buffer, part: Range<usize>, continues: bool) -> Reply {
    let commands = Commands { list: Vec::new(), traps: TrapSet::default(), held: Vec::new() };
    vec.queue.reply_part(commands, &vec.block, part.start, part.len(), continues).unwrap()
}

/// Begins to download a vector.
fn begin_download(vec: &Buffer) -> Reply {
    begin_part(vec, 0..vec.words(), false)
}

#[test]
fn the_next_part_of_a_download_does_not_wait_for_a_kernel() {
    let Some(queue) = queue().filter(|_| !cards().0.is_empty()) else { return };
    let words = numbers(1 << 18);
    let vec = queue.upload(&words).unwrap();
    // The last part is small.
    let (next, last) = (LARGE as usize / 4, words.len() - 7);
    // The kernel could be faster.
    assert!((0..20).any(|_| {
        let first = begin_part(&vec, 0..next, false);
        let kernel = long(&queue);
        let earlier = begin_download(&kernel);
        let replies = [first, begin_part(&vec, next..last, true), begin_part(&vec, last..words.len(), true)];
        let parts = replies.map(|reply| run(|cx| reply.wait(cx)).unwrap());
        let ended_before = !written(&kernel).is_reached().unwrap();
        assert!(parts.concat() == words);
        run(|cx| earlier.wait(cx)).unwrap();
        ended_before
    }));
}

#[test]
fn a_kernel_ends_while_a_large_download_runs() {
    let Some(queue) = queue().filter(|_| !cards().0.is_empty()) else { return };
    let words = numbers(4 << 20);
    let vec = queue.upload(&words).unwrap();
    // The download could be faster.
    assert!((0..50).any(|_| {
        let mut reply = begin_download(&vec);
        written(&queue.zeroed(1).unwrap()).wait().unwrap();
        let polled = run(|cx| cx.block_on(poll_fn(|context| Poll::Ready(reply.poll(context))))).unwrap();
        let ended_before = polled.is_pending();
        let downloaded = match polled {
            Poll::Ready(words) => words,
            Poll::Pending => run(|cx| reply.wait(cx)),
        };
        assert!(downloaded.unwrap() == words);
        ended_before
    }));
}

#[test]
fn a_download_waits_for_one_that_nobody_waits_for_in_the_same_memory() {
    let Some(queue) = queue() else { return };
    // The second one is a small one, and its memory on the host has the size of the first one's.
    let lens = [LARGE as usize / 4, LARGE as usize / 4 - 1];
    let vecs = lens.map(|len| queue.upload(&numbers(len as u32)).unwrap());
    let zeros = queue.upload(&[0; 1 << 20][..lens[0]]).unwrap();
    for _ in 0..20 {
        drop(begin_download(&zeros));
        assert!(download(&vecs[1]).unwrap() == numbers(lens[1] as u32));
        assert!(download(&vecs[0]).unwrap() == numbers(lens[0] as u32));
    }
}

/// Begins to copy a vector on the card by a kernel.
fn map(of: &Buffer) -> Buffer {
    let mut graph = Graph::default();
    let root = Node::Buffer { buffer: graph.buffer(of), words: 1 };
    of.queue.collect(Inputs { graph, roots: [root], words: [1], len: of.words() as u32 }).unwrap()
}

#[test]
fn a_kernel_waits_for_a_large_upload() {
    let Some(queue) = queue() else { return };
    for round in 0..10u32 {
        let words = vec![round; 1 << 18];
        assert!(download(&map(&queue.upload(&words).unwrap())).unwrap() == words);
    }
}

#[test]
fn a_small_upload_waits_for_memory_of_the_size_of_large_ones() {
    let Some(device) = device() else { return };
    let queue = GpuQueue::open(&device).unwrap();
    let words = numbers(LARGE as u32 / 4 - 1);
    let vecs: Vec<_> = (0..10).map(|_| queue.upload(&words).unwrap()).collect();
    assert!(vecs.iter().all(|vec| download(vec).unwrap() == words));
}

#[test]
fn the_next_owner_of_memory_waits_for_kernels_and_downloads() {
    let Some(queue) = queue() else { return };
    for round in 0..5u32 {
        let words: Vec<u32> = (0..200_000).map(|i| i ^ round).collect();
        let source = queue.upload(&words).unwrap();
        let _earlier = long(&queue);
        let copy = map(&source);
        drop(source);
        // It takes the memory of `source`, which the kernel still reads.
        let other = queue.upload(&vec![7; 200_000]).unwrap();
        let reply = begin_download(&copy);
        drop(copy);
        // It takes the memory of `copy`, which is still copied.
        let copy_of_other = map(&other);
        assert!(run(|cx| reply.wait(cx)).unwrap() == words, "{round}");
        assert!(download(&copy_of_other).unwrap().iter().all(|word| *word == 7), "{round}");
    }
}

#[test]
fn a_kept_image_is_loaded_and_one_that_the_driver_refuses_is_made_again() {
    let Some(card) = device().and_then(|_| cards().0.into_iter().next()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut driver, _) = Driver::open(&card).unwrap();
    driver.cache = Cache::in_folder(folder.path().to_owned());
    let module = |value: u32| {
        let words = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;";
        let main = format!("@compute @workgroup_size(1) fn main() {{ words[0] = {value}u; }}");
        wgsl::parse_str(&format!("{words} {main}")).unwrap()
    };
    let key = |value| compiler::key(&write_cuda(&module(value)).unwrap().text, &driver.target);
    let first_word = |value| {
        let source = Source { module: module(value), entries: &["main"], bindings: &[(0, false)] };
        let pipeline = Arc::new(driver.compile(source).unwrap());
        let words = driver.allocate(Use::Storage, 4).unwrap();
        let dispatch = Dispatch { entry: 0, blocks: 1, immediates: Default::default() };
        let launch = Launch { pipeline, bindings: vec![(0, words.clone(), 4)], dispatches: vec![dispatch] };
        let to = driver.allocate(Use::Download, 4).unwrap();
        let copy = Command::Copy { from: (words, 0), to: (to.clone(), 0), bytes: 4 };
        let mut end = driver.submit_download(vec![Command::Launch(launch), copy], &to, false).unwrap();
        driver.wake();
        run(|cx| end.recv(cx)).unwrap();
        let mut word = [0];
        assert!(driver.read(&to, [&mut word, &mut []]));
        word[0]
    };
    assert_eq!([first_word(1), first_word(2), first_word(1)], [1, 2, 1]);
    let [image, other] = [1, 2].map(|value| driver.cache.get(&key(value)).unwrap());
    driver.cache.keep(&key(1), &other);
    assert_eq!(first_word(1), 2);
    driver.cache.keep(&key(1), b"no image");
    assert_eq!(first_word(1), 1);
    assert_eq!(driver.cache.get(&key(1)), Some(image));
}

#[test]
fn what_no_kernel_uses_is_refused() {
    let main = |globals: &str, body: &str| format!("{globals}\n@compute @workgroup_size(1) fn main() {{ {body} }}");
    let words = "@group(0) @binding(0) var<storage, read_write> words: array<u32>;";
    let floats = "@group(0) @binding(0) var<storage, read_write> floats: array<f32>;";
    let programs = [
        (main("@group(0) @binding(0) var<uniform> n: vec4<u32>;", "_ = n.x;"), "Uniform"),
        (main("@group(1) @binding(0) var<storage, read_write> words: array<u32>;", "words[0] = 1u;"), "group 0"),
        (main("@group(0) @binding(0) var<storage, read_write> one: u32;", "one = 1u;"), "array of any length"),
        (main("@group(0) @binding(0) var<storage, read_write> v: array<vec4<f32>>;", "v[0].x = 1;"), "Vector"),
        (
            main("@group(0) @binding(0) var<storage, read_write> v: array<atomic<i32>>;", "atomicAdd(&v[0], 1);"),
            "Atomic",
        ),
        (main(words, "words[0] = arrayLength(&words);"), "ArrayLength"),
        (main(words, "let m = mat2x2<f32>(); words[0] = u32(m[0].x);"), "Matrix"),
        (main(words, "let v = vec2<f32>(f32(words[0])); words[0] = u32(v.x);"), "Vector"),
        (main(words, "let v = vec2(words[0]) * vec2(words[1]); words[0] = v.x;"), "Vector"),
        (main(floats, "floats[0] = min(floats[1], floats[2]);"), "Min of floats"),
        (main(floats, "floats[0] = cosh(asinh(floats[1]));"), "Asinh of floats"),
        (
            main(
                "@group(0) @binding(0) var<storage, read_write> w: array<atomic<u32>>;",
                "atomicCompareExchangeWeak(&w[0], 1u, 2u);",
            ),
            "",
        ),
        (
            main(
                &format!("{words}\nfn add(n: ptr<function, u32>) {{ *n += 1u; }}"),
                "var n = 1u; add(&n); words[0] = n;",
            ),
            "Pointer",
        ),
        (format!("{words}\n@compute @workgroup_size(2, 2) fn main() {{ words[0] = 1u; }}"), "more than one dimension"),
        (
            format!(
                "{words}\n@compute @workgroup_size(1) fn main(@builtin(num_workgroups) n: vec3<u32>) {{ words[0] = n.x; }}"
            ),
            "NumWorkGroups",
        ),
    ];
    for (program, reason) in programs {
        let module = wgsl::parse_str(&program).unwrap_or_else(|error| panic!("{program}: {error}"));
        let refused = write_cuda(&module).expect_err(&program);
        assert!(refused.contains(reason), "{program}: {refused}");
    }
}

#[test]
fn statements_that_no_skeleton_has_are_written() {
    let text = "
        @group(0) @binding(0) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) lane: u32) {
            var i = 0u;
            loop {
                switch words[i] {
                    case 1u, 2u: { words[i] = 5u; }
                    case 3u: { i += 2u; continue; }
                    default: { break; }
                }
                continuing { i += 1u; break if i > 9u; }
            }
        }";
    let source = write_cuda(&wgsl::parse_str(text).unwrap()).unwrap();
    assert!(source.text.contains("switch (") && source.text.contains("break;"));
    assert_eq!((source.buffers.len(), source.immediates), (1, 0));
}

#[test]
fn initial_values_that_are_composed_of_others_are_written() {
    let text = "
        struct Pair { first: u32, second: array<u32, 2> }
        @group(0) @binding(0) var<storage, read_write> words: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) lane: u32) {
            var pairs = array<Pair, 2>(Pair(1u, array<u32, 2>(2u, 3u)), Pair());
            var vector = vec3<u32>(vec3(7u));
            words[lane] = pairs[lane].second[1] ^ vector.z;
        }";
    let source = write_cuda(&wgsl::parse_str(text).unwrap()).unwrap();
    let pairs = "{{S2{1u, Array<u32, 2>{{2u, 3u}}}, S2()}};";
    let vector = "Array<u32, 3>{{7u, 7u, 7u}};";
    assert!(source.text.contains(pairs) && source.text.contains(vector), "{}", source.text);
}
