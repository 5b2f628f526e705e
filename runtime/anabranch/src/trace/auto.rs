//! Traces that the environment of the process asks for: `ANABRANCH_TRACE`.

use crate::{
    sys::{diagnostics::warn, exit::at_exit, report_signal},
    trace::{file, store},
};
use std::{
    env,
    ffi::OsString,
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

/// Returns whether the environment asks for a trace. The first call prepares to write it.
pub(super) fn is_on() -> bool {
    path().is_some()
}

/// Returns whether the environment asks for work and span.
pub(super) fn measures() -> bool {
    env::var_os(WORK_SPAN).is_some_and(|value| !value.is_empty() && value != "0")
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
    let path = with_process(&file, process::id());
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

/// Replaces `%p` by the number of the process. A file name that is not UTF-8 is left as it is.
fn with_process(file: &OsString, process: u32) -> PathBuf {
    file.to_str().map_or_else(|| PathBuf::from(file), |file| PathBuf::from(file.replace("%p", &process.to_string())))
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
    fn process_number_replaces_its_sign() {
        assert_eq!(with_process(&"a-%p.trace".into(), 17), Path::new("a-17.trace"));
        assert_eq!(with_process(&"plain".into(), 17), Path::new("plain"));
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
