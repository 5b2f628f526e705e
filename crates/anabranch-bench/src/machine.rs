//! What was measured on what: the machine and the versions, for the head of a report.

use std::fs;
use std::thread::available_parallelism;

use serde::Serialize;

/// The machine that a bench ran on.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's own name.
    pub cpu: String,
    /// How many threads can run at the same time.
    pub cpus: usize,
    /// The kernel's name and release.
    pub kernel: String,
    /// Main memory in bytes, or 0 if unknown.
    pub memory: u64,
    /// The load over the last minute before the bench: above zero, others were at work.
    pub load: f64,
}

impl Machine {
    /// Looks at this machine.
    pub fn look() -> Machine {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let cpu = field(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown processor").to_owned();
        let memory = field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.trim_end_matches("kB").trim().parse::<u64>().ok())
            .map_or(0, |kib| kib * 1024);
        let load = read("/proc/loadavg").split(' ').next().and_then(|text| text.parse().ok()).unwrap_or(0.0);
        Machine {
            cpu,
            cpus: available_parallelism().map_or(1, usize::from),
            kernel: format!("Linux {}", read("/proc/sys/kernel/osrelease").trim()),
            memory,
            load,
        }
    }
}

fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find_map(|(name, value)| (name.trim() == key).then(|| value.trim()))
}

/// What was compiled in, as `Cargo.lock` and the compiler say.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Versions {
    /// The compiler.
    pub rustc: &'static str,
    /// anabranch.
    pub anabranch: &'static str,
    /// rayon.
    pub rayon: &'static str,
    /// The part of rayon that schedules.
    pub rayon_core: &'static str,
    /// chili.
    pub chili: &'static str,
    /// forte.
    pub forte: &'static str,
}

impl Versions {
    /// The versions of this build.
    pub const BUILT: Versions = Versions {
        rustc: env!("VERSION_RUSTC"),
        anabranch: env!("VERSION_ANABRANCH"),
        rayon: env!("VERSION_RAYON"),
        rayon_core: env!("VERSION_RAYON_CORE"),
        chili: env!("VERSION_CHILI"),
        forte: env!("VERSION_FORTE"),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "MemTotalX:  1 kB\nMemTotal:       24689432 kB\n";
        assert_eq!(field(text, "MemTotal"), Some("24689432 kB"));
        assert_eq!(field(text, "Mem"), None);
    }

    #[test]
    fn the_machine_has_a_processor_and_memory() {
        let machine = Machine::look();
        assert!(machine.cpus >= 1);
        assert!(machine.memory > 1 << 20);
        assert!(machine.kernel.starts_with("Linux "));
    }

    #[test]
    fn versions_are_those_of_the_manifest() {
        // The manifest asks for these; a lock file that says otherwise was read wrongly.
        assert!(Versions::BUILT.rayon.starts_with("1."));
        assert!(Versions::BUILT.chili.starts_with("0.2."));
        assert_eq!(Versions::BUILT.forte, "1.0.0-alpha.4");
        assert!(Versions::BUILT.rustc.starts_with("rustc "));
    }
}
