//! Reads these bytes as a file with a graph. The first byte says the format and the options, so that one corpus serves
//! all decoders. Half of the first bytes compress the rest, with gzip or zstd, so that the formats are read from
//! streams too. Otherwise bytes that begin like gzip or zstd reach these decoders as they are. Half of the first bytes
//! give the header of `.ag` a right checksum.

#![no_main]

use anabranch_graph::{Format, ReadOptions, Weight, map, read, weight_type};
use libfuzzer_sys::fuzz_target;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A file in memory, if the system has such a directory.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| {
    let memory = Path::new("/dev/shm");
    let directory = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    directory.join(format!("anabranch-fuzz-{}", std::process::id()))
});

fn check<W: Weight>(options: &ReadOptions) {
    if let Ok(input) = read::<W>(&*FILE, options) {
        input.graph.verify().expect("a graph that was read is sound");
        let last = input.graph.num_vertices().checked_sub(1);
        last.map(|last| input.labels.label(last as u32));
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory is never full");
    encoder.finish().expect("memory is never full")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let first = usize::from(first);
    let mut contents = rest.to_vec();
    let mut options = ReadOptions::default();
    let format = Format::ALL[first % Format::ALL.len()];
    options.format = Some(format);
    options.compact = first & 16 != 0;
    options.symmetrize = first & 32 != 0;
    if format == Format::Native && first & 64 != 0 && contents.len() >= 64 {
        let add = |sum: u64, &byte: &u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let sum = contents[..56].iter().fold(0xcbf2_9ce4_8422_2325, add);
        contents[56..64].copy_from_slice(&sum.to_le_bytes());
    }
    if first & 128 != 0 {
        contents = if contents.len() % 2 == 0 { gzip(&contents) } else { zstd(&contents) };
    }
    std::fs::write(&*FILE, contents).expect("a file in a directory for temporary files");
    let _ = weight_type(&*FILE, &options);
    check::<()>(&options);
    check::<u32>(&options);
    check::<f32>(&options);
    check::<f64>(&options);
    if format == Format::Native {
        // SAFETY: nothing changes the file while the graph lives.
        if let Ok(input) = unsafe { map::<u32>(&*FILE) } {
            let _ = input.graph.verify();
        }
    }
});
