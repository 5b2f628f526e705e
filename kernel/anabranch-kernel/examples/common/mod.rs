//! What the examples share: the devices that they run on, and a table of times.

#![allow(dead_code, reason = "an example uses a part of it")]

use std::fmt::Write as _;
use std::time::Instant;

use anabranch::Cx;
use anabranch_kernel::{Device, Error, Queue};

/// Prints what an example returns. The first argument of the program is the size.
pub fn main(size: usize, run: impl FnOnce(usize) -> Result<String, Error>) -> Result<(), Error> {
    let size = match std::env::args().nth(1) {
        None => size,
        Some(text) => text.parse().unwrap_or_else(|_| {
            eprintln!("'{text}' is no size: pass a whole number");
            std::process::exit(2)
        }),
    };
    print!("{}", run(size)?);
    Ok(())
}

/// Runs something on the processor and on each GPU, and returns a table. A fiber runs it, because it waits for devices.
/// The second run of two is measured: in the first one a device compiles its programs.
pub fn table(
    title: &str,
    run: impl Fn(&Cx<'_>, &Queue) -> Result<String, Error> + Send + Sync,
) -> Result<String, Error> {
    let mut text = format!("{title}\n{:<32} {:>10}   result\n", "device", "ms");
    for device in devices() {
        let queue = Queue::open(&device)?;
        let (result, milliseconds) = anabranch::run(|cx| {
            run(cx, &queue)?;
            let start = Instant::now();
            let result = run(cx, &queue)?;
            Ok::<_, Error>((result, start.elapsed().as_secs_f64() * 1e3))
        })?;
        let _ = writeln!(text, "{:<32} {milliseconds:>10.3}   {result}", device.name());
    }
    Ok(text)
}

/// Returns the processor and all GPUs.
pub fn devices() -> Vec<Device> {
    let mut devices = vec![Device::cpu()];
    devices.extend(Device::gpus());
    devices
}
