//! Traces that the environment of the process asks for: `ANABRANCH_TRACE`.

use crate::{
    sys::{diagnostics::warn, exit::at_exit, report_signal},
    trace::{file, store},
};
use std::{
    env,
    ffi::{OsStr, OsString},
    fs, panic,
    path::{Path, PathBuf},
    process,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

const FILE: &str = "ANABRANCH_TRACE";
const MEMORY: &str = "ANABRANCH_TRACE_MEMORY";
const WORK_SPAN: &str = "ANABRANCH_TRACE_WORK_SPAN";
const FORKS: &str = "ANABRANCH_TRACE_FORKS";
/// The variables by which Open MPI, MPICH and launchers with PMIx tell a process its rank.
const RANKS: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"];

/// Returns whether the environment asks for a trace. The first call prepares to write it.
pub(super) fn is_on() -> bool {
    path().is_some()
}

/// Returns whether the environment asks for work and span.
pub(super) fn measures() -> bool {
    is_set(WORK_SPAN) || records()
}

/// Returns whether the environment asks for every fork.
pub(super) fn records() -> bool {
    is_set(FORKS)
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

fn path() -> Option<&'static Path> {
    static PATH: OnceLock<Option<PathBuf>> = OnceLock::new();
    PATH.get_or_init(|| prepare(env::var_os(FILE)?, env::var_os(MEMORY))).as_deref()
}

/// Returns the file to write, once it will be written. A mistake in the environment is reported here, and not when the
/// process ends.
fn prepare(file: OsString, memory: Option<OsString>) -> Option<PathBuf> {
    if file.is_empty() {
        return None;
    }
    let rank = RANKS.iter().find_map(|rank| env::var(rank).ok());
    let path = own_path(&file, process::id(), rank.as_deref());
    match memory.map(|memory| mebibytes(&memory).ok_or(memory)) {
        None => {}
        Some(Ok(bytes)) => store::lock().set_memory(bytes),
        Some(Err(text)) => {
            let text = text.to_string_lossy();
            warn(format_args!("{MEMORY} is {text:?}, which is not a number of MiB from 1 on: using 64"));
        }
    }
    if let Err(error) = fs::File::create(&path) {
        let path = path.display();
        warn(format_args!("{FILE} is {path}, which cannot be written: {error}; nothing is traced"));
        return None;
    }
    if !at_exit(save_at_exit) {
        warn(format_args!("the trace will not be written at exit, because the system refused"));
    }
    // Called on a thread of its own, if the environment names a signal.
    report_signal::add(save_now);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        before(info);
        save_at_panic();
    }));
    Some(path)
}

/// Replaces `%p` by the number of the process. Without `%p`, the name of a regular file gets the rank of the process,
/// if it has one: all ranks of a run have the same environment, and would overwrite one file. A file name that is not
/// UTF-8 is left as it is.
fn own_path(file: &OsString, process: u32, rank: Option<&str>) -> PathBuf {
    let path = Path::new(file);
    let Some(text) = file.to_str() else { return path.into() };
    match (rank, path.file_stem().and_then(OsStr::to_str)) {
        (Some(rank), Some(stem)) if !text.contains("%p") && !fs::metadata(path).is_ok_and(|data| !data.is_file()) => {
            let extension = path.extension().and_then(OsStr::to_str).map_or(String::new(), |name| format!(".{name}"));
            path.with_file_name(format!("{stem}-{rank}{extension}"))
        }
        _ => text.replace("%p", &process.to_string()).into(),
    }
}

/// Returns the bytes that a number of MiB stands for.
fn mebibytes(text: &OsString) -> Option<usize> {
    let mebibytes: usize = text.to_str()?.trim().parse().ok()?;
    mebibytes.checked_shl(20).filter(|bytes| bytes >> 20 == mebibytes && mebibytes > 0)
}

extern "C" fn save_at_exit() {
    // A panic here would abort the process.
    let _ = panic::catch_unwind(save_now);
}

fn save_now() {
    if let Some(path) = path() {
        save(path);
    }
}

fn save_at_panic() {
    static HAS_SAVED: AtomicBool = AtomicBool::new(false);
    if let Some(path) = path()
        && !HAS_SAVED.swap(true, Ordering::Relaxed)
    {
        let mut name = path.as_os_str().to_owned();
        name.push(".panic");
        save(Path::new(&name));
    }
}

fn save(path: &Path) {
    if let Err(error) = file::save(path) {
        warn(format_args!("the trace was not written to {}: {error}", path.display()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_a_run_write_to_different_files() {
        let own = |file: &str, rank| own_path(&file.into(), 17, rank);
        assert_eq!(own("a-%p.trace", None), Path::new("a-17.trace"));
        assert_eq!(own("a-%p.trace", Some("3")), Path::new("a-17.trace"));
        assert_eq!(own("plain", None), Path::new("plain"));
        assert_eq!(own("plain", Some("3")), Path::new("plain-3"));
        assert_eq!(own("x.y/a.trace", Some("3")), Path::new("x.y/a-3.trace"));
        assert_eq!(own(".", Some("3")), Path::new("."), "a directory");
    }

    #[test]
    fn memory_is_a_number_of_mebibytes() {
        assert_eq!(mebibytes(&"3".into()), Some(3 << 20));
        assert_eq!(mebibytes(&" 16 ".into()), Some(16 << 20));
        for wrong in ["", "0", "-1", "64M", "18446744073709551615"] {
            assert_eq!(mebibytes(&wrong.into()), None, "{wrong}");
        }
    }
}
