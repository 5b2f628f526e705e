//! The values of options that several subcommands have.

use anabranch::Pool;

use crate::exit::Failure;
use crate::machine;
use crate::units::counted;

/// The maximum of a pool. A larger number is a typing error, which is reported with its option.
const MOST_THREADS: u64 = 4095;
/// The source of the number of threads if the option is absent.
const THREADS_VARIABLE: &str = "ANABRANCH_NUM_THREADS";

/// Parses a number of threads.
pub fn threads(text: &str) -> Result<usize, String> {
    number(text, 1, MOST_THREADS, ", or leave it out for one a processor").map(|threads| threads as usize)
}

/// Parses a whole number within a range. The error ends with `or`, which names an alternative.
pub fn number(text: &str, least: u64, most: u64, or: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| format!("give a whole number from {least} to {most}{or}"))
}

/// Builds a pool.
pub fn pool(threads: usize) -> Result<Pool, Failure> {
    let failed = |error| Failure::Run(format!("cannot start {}: {error}", counted(threads as u64, "thread")));
    Pool::builder().threads(threads).build().map_err(failed)
}

/// Returns the number of threads that the environment asks for, or one per processor.
pub fn default_threads() -> Result<usize, Failure> {
    match std::env::var(THREADS_VARIABLE) {
        // A script unsets a variable by setting it to nothing.
        Ok(text) if !text.trim().is_empty() => threads(text.trim())
            .map_err(|error| Failure::Usage(format!("invalid value '{text}' in {THREADS_VARIABLE}: {error}"))),
        Err(std::env::VarError::NotUnicode(_)) => {
            Err(Failure::Usage(format!("{THREADS_VARIABLE} is not text; unset it or use --threads")))
        }
        _ => Ok(machine::cpus()),
    }
}
