//! Writes the events that are in memory.

use crate::trace::{
    sites,
    store::{self, Snapshot},
};
use anabranch_trace::write::Writer;
use std::{
    collections::HashMap,
    ffi::OsString,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    time::SystemTime,
};

/// The lane that stands for the threads of which no event is left.
const ENDED: u32 = u32::MAX;

/// What was written. See [`write_to`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of events.
    pub events: u64,
    /// How many earlier events had made room for these.
    pub lost: u64,
}

/// Writes the events of all traced pools that are in memory, as a trace that `anabranch explain` reads.
///
/// The program may go on meanwhile. The trace has what happened until this is called, and a later call writes these
/// events again, with the newer ones. Takes time proportional to the memory of the events.
///
/// # Errors
/// Returns the first error of `out`.
///
/// ```
/// let summary = anabranch::trace::write_to(std::io::sink())?;
/// println!("{} events, {} lost", summary.events, summary.lost);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_to(out: impl Write) -> io::Result<Summary> {
    // The guard of the lock ends before the writing begins.
    let snapshot = store::lock().snapshot();
    write(&snapshot, out)
}

/// Writes the events that are in memory to a file, like [`write_to`]. The file appears as a whole, or not at all. If
/// `path` is not a regular file, but a pipe or a device, the events are written to that.
///
/// # Errors
/// Returns the error of the system if the file cannot be created, written, or renamed.
///
/// ```
/// let path = std::env::temp_dir().join(format!("example-{}.trace", std::process::id()));
/// anabranch::trace::save(&path)?;
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn save(path: impl AsRef<Path>) -> io::Result<Summary> {
    let path = path.as_ref();
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return write_to(BufWriter::new(File::create(path)?));
    }
    let unfinished = unfinished(path);
    let result = File::create(&unfinished).and_then(|file| {
        let summary = write_to(BufWriter::new(file))?;
        fs::rename(&unfinished, path)?;
        Ok(summary)
    });
    if result.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    result
}

/// Returns the name of the file until it is complete, in the same directory.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.file_name().map_or_else(OsString::new, OsString::from);
    name.push(format!(".{}.tmp", process::id()));
    path.with_file_name(name)
}

fn write(snapshot: &Snapshot, out: impl Write) -> io::Result<Summary> {
    let mut writer = Writer::new(out)?;
    for (key, value) in meta(snapshot) {
        writer.meta(key, &value)?;
    }
    for &(pool, threads) in &snapshot.pools {
        writer.pool(pool, threads)?;
    }
    for known in sites::all() {
        let (file, line, column) = known.at.map_or(("", 0, 0), |at| (at.file(), at.line(), at.column()));
        writer.site(&known.label, file, line, column)?;
    }
    let mut lost = snapshot.lost;
    if lost > 0 {
        writer.lane(ENDED, 0, "threads that have ended", lost)?;
    }
    for lane in &snapshot.lanes {
        writer.lane(lane.id, lane.thread, &lane.name, lane.lost)?;
        lost += lane.lost;
    }
    let mut events = 0;
    let mut last_times = HashMap::new();
    for (lane, chunk) in &snapshot.chunks {
        let last = last_times.entry(lane).or_insert(0);
        let records = chunk.records().inspect(|record| {
            debug_assert!(record[0] >> 16 >= *last, "the events of a thread are in the order of time");
            *last = record[0] >> 16;
            events += 1;
        });
        writer.events(*lane, records)?;
    }
    writer.finish()?;
    Ok(Summary { events, lost })
}

/// Returns what is known of the process and the machine.
fn meta(snapshot: &Snapshot) -> Vec<(&'static str, String)> {
    let since = snapshot.start.time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let program = std::env::current_exe().ok();
    let program = program.as_deref().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
    let arguments: Vec<String> = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect();
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    vec![
        ("program", program),
        ("arguments", arguments.join(" ")),
        ("process", process::id().to_string()),
        ("began", since.as_nanos().to_string()),
        ("saved", snapshot.start.instant.elapsed().as_nanos().to_string()),
        ("cores", cores.to_string()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("anabranch", env!("CARGO_PKG_VERSION").into()),
    ]
}
