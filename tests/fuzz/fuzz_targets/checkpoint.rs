//! Reads these bytes as a checkpoint of Graph500, or as changes of a valid one. The first byte says which, and whether
//! the checksum is made right. What is accepted must be searched without a panic.

#![no_main]

use graph500::{BfsKind, Built, Config, Spec, Techniques, run_built};
use libfuzzer_sys::fuzz_target;
use std::hash::Hasher as _;
use std::sync::LazyLock;

/// A problem of 16 vertices and 32 tuples, so that a checkpoint has less than a thousand bytes.
static SPEC: LazyLock<Spec> = LazyLock::new(|| Spec::new(4, 2, 1).expect("a valid problem"));

static VALID: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut file = Vec::new();
    let built = Built::generate(&SPEC, Techniques::default(), &()).expect("a small graph");
    built.write_checkpoint(&mut file).expect("memory is never full");
    file
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, rest)) = bytes.split_first() else { return };
    let mut file = if first & 1 == 0 { rest.to_vec() } else { VALID.clone() };
    if first & 1 != 0 {
        // Each change is the place, of 16 bits, and the new byte.
        for &[low, high, byte] in rest.as_chunks().0 {
            let place = usize::from(u16::from_le_bytes([low, high])) % file.len();
            file[place] = byte;
        }
    }
    if first & 2 != 0 && file.len() >= 8 {
        let end = file.len() - 8;
        let (body, sum) = file.split_at_mut(end);
        let mut hash = twox_hash::XxHash64::with_seed(0);
        hash.write(body);
        sum.copy_from_slice(&hash.finish().to_le_bytes());
    }
    if let Ok(built) = Built::read_checkpoint(&mut &file[..], file.len() as u64, &SPEC) {
        let bfs = BfsKind::ALL[usize::from(first / 4) % BfsKind::ALL.len()];
        let _ = run_built(&Config { bfs, roots: 4, ..Config::official(*SPEC) }, built, &());
    }
});
