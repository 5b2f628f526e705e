//! The machine and the versions of a measurement, for the head of a report.

use std::collections::BTreeMap;
use std::thread::available_parallelism;
use std::{fmt, fs};

use serde::{Deserialize, Serialize};

/// The machine that a bench ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu: String,
    /// The number of threads that can run at the same time.
    pub cpus: usize,
    /// The kernel's name and release.
    pub kernel: String,
    /// The operating system's family.
    pub os: String,
    /// The instruction set.
    pub arch: String,
    /// Main memory in bytes, or 0 if unknown.
    pub memory: u64,
    /// The load over the last minute before the bench. Above zero, other programs were running.
    pub load: f64,
}

impl Machine {
    /// Reads the data of this machine.
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
            os: std::env::consts::OS.to_owned(),
            arch: std::env::consts::ARCH.to_owned(),
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

/// The versions of the measured libraries and of the compiler, from `Cargo.lock`, the compiler and the tools.
#[derive(Clone, Debug)]
pub struct Versions(Vec<(&'static str, String)>);

impl Versions {
    /// Returns those of the libraries that the fork-join bench compares.
    pub fn of_fork_join() -> Versions {
        Versions::of(&[
            ("rayon", env!("VERSION_RAYON")),
            ("rayon-core", env!("VERSION_RAYON_CORE")),
            ("chili", env!("VERSION_CHILI")),
            ("forte", env!("VERSION_FORTE")),
        ])
    }

    /// Returns those of the libraries that the bench of iterators compares.
    pub fn of_iterators() -> Versions {
        Versions::of(&[("rayon", env!("VERSION_RAYON")), ("rayon-core", env!("VERSION_RAYON_CORE"))])
    }

    /// Returns those of the libraries that the fibers bench compares.
    pub fn of_fibers() -> Versions {
        Versions::of(&[
            ("may", env!("VERSION_MAY")),
            ("tokio", env!("VERSION_TOKIO")),
            ("async-executor", env!("VERSION_ASYNC_EXECUTOR")),
            ("parking_lot", env!("VERSION_PARKING_LOT")),
        ])
    }

    /// Returns those of the libraries that the bench of sockets compares.
    pub fn of_net() -> Versions {
        Versions::of(&[("may", env!("VERSION_MAY")), ("tokio", env!("VERSION_TOKIO"))])
    }

    /// Returns those of the libraries that the bench of programs that compute and serve compares.
    pub fn of_compute_and_serve() -> Versions {
        Versions::of(&[
            ("tokio", env!("VERSION_TOKIO")),
            ("rayon", env!("VERSION_RAYON")),
            ("rayon-core", env!("VERSION_RAYON_CORE")),
        ])
    }

    /// Returns those of the libraries that the messages bench compares.
    pub fn of_messages() -> Versions {
        Versions::of(&[
            ("may", env!("VERSION_MAY")),
            ("tokio", env!("VERSION_TOKIO")),
            ("kanal", env!("VERSION_KANAL")),
            ("crossfire", env!("VERSION_CROSSFIRE")),
            ("crossbeam-channel", env!("VERSION_CROSSBEAM_CHANNEL")),
            ("flume", env!("VERSION_FLUME")),
            ("async-channel", env!("VERSION_ASYNC_CHANNEL")),
            ("tokio-stream", env!("VERSION_TOKIO_STREAM")),
            ("futures-util", env!("VERSION_FUTURES_UTIL")),
        ])
    }

    /// Returns those of all libraries that some bench compares.
    pub fn of_all() -> Versions {
        let all = [Versions::of_fork_join(), Versions::of_fibers(), Versions::of_messages()];
        let mut versions = Vec::new();
        for version in all.into_iter().flat_map(|versions| versions.0) {
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
        Versions(versions)
    }

    /// Returns that of anabranch alone.
    pub fn of_ours() -> Versions {
        Versions::of(&[])
    }

    fn of(peers: &[(&'static str, &str)]) -> Versions {
        let always = [("rustc", env!("VERSION_RUSTC")), ("anabranch", env!("VERSION_ANABRANCH"))];
        let known = always.iter().chain(peers).filter(|(_, version)| !version.is_empty());
        Versions(known.map(|(name, version)| (*name, (*version).to_owned())).collect())
    }

    /// Returns the versions by name.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.0.iter().map(|(name, version)| ((*name).to_owned(), version.clone())).collect()
    }

    /// Adds a version that is known only when the bench runs.
    pub fn with(mut self, name: &'static str, version: &str) -> Versions {
        self.0.push((name, version.to_owned()));
        self
    }
}

impl fmt::Display for Versions {
    /// Prints the compiler, whose version includes its name, on its own line, and the others on lines of a hundred
    /// columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut width = 0;
        for (index, (name, version)) in self.0.iter().enumerate() {
            let entry = if index == 0 { version.clone() } else { format!("{name} {version}") };
            let is_new_line = index == 1 || width + entry.len() + 3 > 100;
            let before = match index {
                0 => "",
                1 => "\n",
                _ if is_new_line => ",\n",
                _ => ", ",
            };
            width = if is_new_line { entry.len() } else { width + before.len() + entry.len() };
            write!(f, "{before}{entry}")?;
        }
        Ok(())
    }
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
    fn machine_has_processor_and_memory() {
        let machine = Machine::look();
        assert!(machine.cpus >= 1);
        assert!(machine.memory > 1 << 20);
        assert!(machine.kernel.starts_with("Linux "));
    }

    #[test]
    fn versions_are_those_of_the_manifest() {
        // The manifest requests these versions. Others mean that the lock file was parsed wrongly.
        let shown = Versions::of_fork_join().to_string();
        assert!(shown.starts_with("rustc "), "{shown}");
        for version in [", rayon 1.", ", chili 0.2.", ", forte 1.0.0-alpha.4"] {
            assert!(shown.contains(version), "{version} in {shown}");
        }
        let shown = Versions::of_fibers().with("go", "1.2.3").to_string();
        for version in ["may 0.3.", ", tokio 1.", ", parking_lot 0.13.", ", go 1.2.3"] {
            assert!(shown.contains(version), "{version} in {shown}");
        }
        let shown = Versions::of_messages().to_string();
        for version in ["kanal 0.1.", "crossfire 3.", "crossbeam-channel 0.5.", "flume 0.12.", "async-channel 2."] {
            assert!(shown.contains(version), "{version} in {shown}");
        }
        assert!(shown.lines().all(|line| line.len() <= 100), "{shown}");
    }
}
