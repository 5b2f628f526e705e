//! Reads these bytes as a trace and, if they are one, explains and exports it. The first byte says whether they are the
//! whole file, or the events of some threads of a valid file, so that most inputs reach the analysis.

#![no_main]

use anabranch_trace::{
    chrome,
    explain::{Options, explain},
    read::Trace,
    recording::Recording,
    write::Writer,
};
use libfuzzer_sys::fuzz_target;
use std::io;

/// Writes a file with these bytes as its events, 12 for each: the lane, the kind, a code, a step of time, an argument.
fn file(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = Writer::new(Vec::new())?;
    writer.pool(0, 4)?;
    writer.pool(1, u32::MAX)?;
    for (label, line) in [("", 80), ("Mutex::lock", 30), ("join", 31), ("sleep", 32)] {
        writer.site(label, "main.rs", line, 1)?;
    }
    let mut times = [0u64; 4];
    for lane in 0..4 {
        writer.lane(lane, lane, "thread", u64::from(bytes.len() % 7 == lane as usize))?;
    }
    for event in bytes.chunks_exact(12) {
        let (lane, kind, code) = (event[0] % 4, event[1] % 29, event[2] % 9);
        // Most steps are small. A time has 48 bits.
        let time = &mut times[usize::from(lane)];
        *time = (*time + (1 << (event[3] % 48)) - 1).min((1 << 48) - 1);
        let head = *time << 16 | u64::from(kind) << 8 | u64::from(code);
        let argument = u64::from_le_bytes(event[4..12].try_into().expect("eight bytes"));
        // Small numbers refer to each other.
        let argument = if event[0] < 128 { argument & 0x0000_0003_0000_0003 } else { argument };
        writer.events(lane.into(), [[head, argument]])?;
    }
    writer.finish()
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    let Ok(trace) =
        Trace::read(&if first % 4 == 0 { rest.to_vec() } else { file(rest).expect("memory is never full") })
    else {
        return;
    };
    let mut options = Options::default();
    options.alone = (first % 8 == 1).then_some(&trace);
    let explanation = explain(&trace, &options);
    let lost: f64 = explanation.losses.iter().map(|loss| loss.time).sum();
    let off = (explanation.work.time + lost - explanation.capacity).abs();
    assert!(off <= 0.02 * explanation.capacity + 1e-6, "{off} s off {explanation:?}");
    assert!(!explanation.to_string().is_empty());
    let _ = Recording::of(&trace, 1_000);
    chrome::export(&trace, io::sink()).expect("a sink is never full");
});
