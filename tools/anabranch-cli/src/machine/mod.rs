//! The machine of a run: its names, and its memory.
//!
//! All data come from text files of Linux. The code reads them through [`Files`], so that tests can pass their own
//! texts. On other systems the files do not exist, and the result is `None`.

mod cgroup;
mod memory;

use serde::Serialize;

pub use memory::{available, peak};

/// Reads a small text file completely, or returns `None`.
pub type Files<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Reads a file of this machine.
pub fn files(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// The machine of a measurement.
#[derive(Serialize)]
pub struct Machine {
    /// The processor's name.
    pub cpu_model: Option<String>,
    /// Processors that this process may use, hardware threads included.
    pub cpus: usize,
    /// Total memory.
    pub memory_bytes: Option<u64>,
    /// The operating system's family.
    pub os: &'static str,
    /// Its name and version.
    pub os_name: Option<String>,
    /// The kernel's version.
    pub kernel: Option<String>,
    /// The instruction set.
    pub arch: &'static str,
}

impl Machine {
    /// Reads the data of the machine.
    pub fn read(files: Files<'_>) -> Self {
        Self {
            cpu_model: files("/proc/cpuinfo").and_then(|text| cpu_model(&text)),
            cpus: cpus(),
            memory_bytes: files("/proc/meminfo").and_then(|text| memory::kib_field(&text, "MemTotal:")),
            os: std::env::consts::OS,
            os_name: files("/etc/os-release").and_then(|text| os_name(&text)),
            kernel: files("/proc/sys/kernel/osrelease").map(|text| text.trim().to_owned()),
            arch: std::env::consts::ARCH,
        }
    }
}

/// Returns the number of processors that this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn cpu_model(cpuinfo: &str) -> Option<String> {
    let value = |name: &str| {
        cpuinfo.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    };
    // The field is "model name" on x86, "cpu" on POWER, and "Model" or absent on some ARM boards.
    value("model name").or_else(|| value("cpu")).or_else(|| value("Model"))
}

fn os_name(os_release: &str) -> Option<String> {
    let name = os_release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(name.trim_matches('"').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_name_is_read() {
        let x86 = "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 143\nmodel name\t: Some CPU @ 2.0GHz\n";
        assert_eq!(cpu_model(x86).as_deref(), Some("Some CPU @ 2.0GHz"));
        assert_eq!(cpu_model("processor\t: 0\nBogoMIPS\t: 50.00\n"), None);
        assert_eq!(cpu_model("cpu\t\t: POWER9, altivec supported\n").as_deref(), Some("POWER9, altivec supported"));
    }

    #[test]
    fn system_name_is_read() {
        assert_eq!(os_name("ID=x\nPRETTY_NAME=\"Some Linux 12\"\n").as_deref(), Some("Some Linux 12"));
        assert_eq!(os_name("ID=x\n"), None);
    }

    #[test]
    fn missing_files_give_unknown_machine() {
        let machine = Machine::read(&|_| None);
        assert!(machine.cpus >= 1);
        assert!(machine.cpu_model.is_none() && machine.memory_bytes.is_none() && machine.kernel.is_none());
    }
}
