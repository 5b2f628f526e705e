//! Agreement on errors, so that all processes leave a collective program at the same point.

use super::Communicator;
use super::communicator::gather_equal;
use crate::RunError;

/// Returns `result`, or an error on all processes if one has an error.
///
/// The error is that of the first process that has one; on the others it is a [`RunError::Process`].
pub(super) fn agree<T>(communicator: &dyn Communicator, result: Result<T, RunError>) -> Result<T, RunError> {
    let message = result.as_ref().err().map(ToString::to_string);
    match first_message(communicator, message.as_deref()) {
        None => result,
        Some((process, message)) => match result {
            Err(error) if process == communicator.process() => Err(error),
            _ => Err(RunError::Process { process, message }),
        },
    }
}

/// Returns the message of the first process that has one, and the number of that process, on all processes.
///
/// ```
/// use graph500::distributed::{Communicator, first_message, in_threads};
/// let found = in_threads(3, |communicator| {
///     first_message(communicator, (communicator.process() == 1).then_some("no file"))
/// });
/// assert!(found.into_iter().all(|found| found == Some((1, "no file".to_owned()))));
/// ```
pub fn first_message(communicator: &dyn Communicator, message: Option<&str>) -> Option<(usize, String)> {
    // A length of 0 stands for no message.
    let len = message.map_or(0, |message| message.len() as u64 + 1);
    let lens = gather_equal(communicator, &[len]);
    let first = lens.iter().position(|&len| len > 0)?;
    let texts =
        gather_text(communicator, if first == communicator.process() { message.unwrap_or_default() } else { "" });
    Some((first, texts.into_iter().nth(first).unwrap_or_default()))
}

/// Returns the texts of all processes, on each of them.
pub(super) fn gather_text(communicator: &dyn Communicator, text: &str) -> Vec<String> {
    let lens = gather_equal(communicator, &[text.len() as u64]);
    let own: Vec<u64> = text.as_bytes().chunks(8).map(word).collect();
    let counts: Vec<usize> = lens.iter().map(|&len| (len as usize).div_ceil(8)).collect();
    let mut all = vec![0; counts.iter().sum()];
    communicator.all_gather(&own, &counts, &mut all);
    let mut rest = &all[..];
    lens.iter()
        .zip(counts)
        .map(|(&len, count)| {
            let (words, behind) = rest.split_at(count);
            rest = behind;
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take(len as usize).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        })
        .collect()
}

/// Returns up to eight bytes as a word.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Returns the settings of the first process that differ from those of process 0, as an error on all processes.
///
/// Each process passes the same names, and its own values.
///
/// ```
/// use graph500::distributed::{Communicator, check_settings, in_threads};
/// let results = in_threads(3, |communicator| {
///     let scale = if communicator.process() == 2 { "21" } else { "20" };
///     check_settings(communicator, &[("version", "1.0"), ("--scale", scale)])
/// });
/// for result in results {
///     assert_eq!(result.unwrap_err().to_string(), "process 2: --scale is 21 and not 20 as for process 0");
/// }
/// ```
///
/// # Errors
/// Returns a [`RunError::Process`] that names the first difference.
pub fn check_settings(communicator: &dyn Communicator, settings: &[(&str, &str)]) -> Result<(), RunError> {
    // Separate operations for each value: another version of this program may have other names, and differs first in
    // the first value, its version.
    for (name, value) in settings {
        let values = gather_text(communicator, value);
        if let Some(process) = values.iter().position(|value| *value != values[0]) {
            let message = format!("{name} is {} and not {} as for process 0", values[process], values[0]);
            return Err(RunError::Process { process, message });
        }
    }
    Ok(())
}
