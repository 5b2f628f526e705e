//! Files of every format with random changes: reading neither panics nor allocates what the changed bytes ask for.
//!
//! The changes are the same on every run. This binary has one test, as the allocator counts the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anabranch_graph::{Format, Graph, Labels, ReadOptions, Weight, map, read, weight_type, write};

/// An allocator that knows the largest block since [`LARGEST`] was set to 0.
struct Watching;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Watching {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same for `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same for `System`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, Relaxed);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same for `System`.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is the same for `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static WATCHING: Watching = Watching;

/// The largest block that any of these files may cause. A graph of 2^20 vertices has 8 MiB of starts, a stream is read
/// in batches of 32 MiB, and twice that while a buffer grows.
const MOST: usize = 80 << 20;
/// Changed copies of each file.
const CHANGES: usize = 60;

/// A generator of pseudo-random numbers: SplitMix64 by Steele, Lea, Flood, 2014.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end as u64) as usize
    }
}

/// Changes a few places: a bit, a byte, a number of 64 bits, a digit string, a removed or repeated part, a cut end.
fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    const NUMBERS: [u64; 8] = [0, 1, 1 << 31, u32::MAX as u64 - 1, u32::MAX as u64, 1 << 58, 1 << 60, u64::MAX];
    for _ in 0..=random.below(3) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        let end = (at + 1 + random.below(16)).min(bytes.len());
        match random.below(8) {
            0 => bytes[at] ^= 1 << random.below(8),
            1 => bytes[at] = random.below(256) as u8,
            2 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                bytes.splice(at..(at + 8).min(bytes.len()), number);
            }
            3 => {
                let number = NUMBERS[random.below(NUMBERS.len())].to_string();
                bytes.splice(at..end, number.into_bytes());
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            6 => bytes[at] = b" \n\t#%-.e"[random.below(8)],
            _ => bytes.truncate(at),
        }
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).expect("memory is never full");
    encoder.finish().expect("memory is never full")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

/// Writes the header's checksum anew, so that some changes of `.ag` reach what is behind it.
fn repair_checksum(bytes: &mut [u8]) {
    if bytes.len() < 64 {
        return;
    }
    let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let sum = bytes[..56].iter().fold(0xcbf2_9ce4_8422_2325, add);
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
}

/// Reads the file in every way. Checks what was read.
fn read_all(path: &std::path::Path, format: Format) {
    fn check<W: Weight>(path: &std::path::Path, options: &ReadOptions) {
        if let Ok(input) = read::<W>(path, options) {
            input.graph.verify().expect("a graph that was read is sound");
            let last = input.graph.num_vertices().checked_sub(1);
            last.map(|last| input.labels.label(last as u32));
        }
    }
    for is_changed in [false, true] {
        let mut options = ReadOptions::default();
        options.format = Some(format);
        options.compact = is_changed;
        options.symmetrize = is_changed;
        let _ = weight_type(path, &options);
        check::<()>(path, &options);
        check::<u32>(path, &options);
        check::<f32>(path, &options);
        check::<f64>(path, &options);
    }
    if format == Format::Native {
        // SAFETY: nothing changes the file while the graph lives.
        if let Ok(input) = unsafe { map::<u32>(path) } {
            let _ = input.graph.verify();
        }
    }
}

#[test]
fn changed_files_cause_no_panic_and_no_large_block() {
    let edges = [(0, 1, 7), (1, 2, 9), (2, 0, 300), (4, 3, 1), (3, 1, 12)];
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("a");
    let mut random = Random(19);
    for &format in Format::ALL {
        let mut files = Vec::new();
        for graph in [Graph::undirected_weighted(edges), Graph::directed_weighted(edges)] {
            let mut bytes = Vec::new();
            write(&graph, &Labels::identity(), format, &mut bytes).expect("every format has these weights");
            files.extend([gzip(&bytes), zstd(&bytes), bytes]);
        }
        for file in files {
            for round in 0..CHANGES {
                let mut bytes = file.clone();
                change(&mut bytes, &mut random);
                if format == Format::Native && round % 2 == 0 {
                    repair_checksum(&mut bytes);
                }
                // A compressed file whose contents are changed reaches the reader of its format as a stream.
                let bytes = if round % 8 == 7 { gzip(&bytes) } else { bytes };
                std::fs::write(&path, &bytes).expect("a file in a new directory");
                LARGEST.store(0, Relaxed);
                read_all(&path, format);
                let largest = LARGEST.load(Relaxed);
                assert!(largest <= MOST, "{format}, round {round}: a block of {largest} bytes for {bytes:?}");
            }
        }
    }
}
