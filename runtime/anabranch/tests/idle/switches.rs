//! The context switches of a pool's threads, which the system records.

use std::{fs, thread, time::Duration};

/// The context switches, wanted or not, of the threads of this process whose name begins with `prefix`.
pub fn switches(prefix: &str) -> Vec<u64> {
    let mut counts = Vec::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let Ok(status) = fs::read_to_string(task.unwrap().path().join("status")) else { continue };
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if field("Name:").is_some_and(|name| name.starts_with(prefix)) {
            let number = |name| field(name).unwrap().parse::<u64>().unwrap();
            counts.push(number("voluntary_ctxt_switches:") + number("nonvoluntary_ctxt_switches:"));
        }
    }
    counts.sort_unstable();
    counts
}

/// Waits until the threads whose name begins with `prefix`, at least `least` of them, have not woken up for `window`.
/// Pauses for `pause` before each look. The time until all are asleep depends on the system, so only the watchdog
/// limits it.
pub fn until_quiet(prefix: &str, least: usize, pause: Duration, window: Duration) {
    loop {
        thread::sleep(pause);
        let before = switches(prefix);
        // Spares, if a loaded machine made any, have to be quiet too.
        assert!(before.len() >= least);
        thread::sleep(window);
        if switches(prefix) == before {
            return;
        }
    }
}
