//! The runtime's output to the standard error stream: warnings to which no caller could react, and the message before
//! an abort.
//!
//! These lines are written in the middle of waits, on worker threads and in signal handlers. So nothing here panics,
//! unwinds, allocates or takes a lock. A line is built in a buffer on the stack and, if possible, written by one system
//! call. If the error stream is closed or full, the line is lost, and nothing else happens. (`eprintln!` panics then.)
//!
//! Formatted values must obey this too: in a signal handler, only strings and numbers.

use std::{
    fmt::{self, Write},
    process,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// The maximum length of a line, in bytes. The rest is cut off.
const CAPACITY: usize = 1024;

/// The end of a line that was cut off.
const CUT: &str = "...";

/// Writes a line that begins with the name of the library.
#[cold]
pub(crate) fn warn(message: fmt::Arguments<'_>) {
    // Under shuttle there are thousands of pools, which warn at random.
    if !cfg!(shuttle) {
        Line::new(message).write();
    }
}

/// Writes a line that begins with the name of the library, and ends the process. Of several threads only the first one
/// writes, as all of them may fail for one reason.
#[cold]
pub(crate) fn abort(message: fmt::Arguments<'_>) -> ! {
    static IS_WRITTEN: AtomicBool = AtomicBool::new(false);
    match IS_WRITTEN.swap(true, Ordering::Relaxed) {
        false => Line::new(message).write(),
        // The first one ends the process meanwhile.
        true => thread::sleep(Duration::from_secs(1)),
    }
    process::abort();
}

/// Writes a text of any length, whose lines end in line breaks. It may allocate, but does not panic.
#[cold]
pub(crate) fn print(text: &str) {
    if !cfg!(shuttle) {
        write_all(text.as_bytes());
    }
}

#[cfg(unix)]
fn write_all(mut rest: &[u8]) {
    while !rest.is_empty() {
        // SAFETY: `rest` is a live slice. The call is async-signal-safe.
        let written = unsafe { libc::write(libc::STDERR_FILENO, rest.as_ptr().cast(), rest.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => rest = &rest[written.min(rest.len())..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

#[cfg(not(unix))]
fn write_all(text: &[u8]) {
    let _ = std::io::Write::write_all(&mut std::io::stderr(), text);
}

/// A line of text in its own buffer.
struct Line {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Line {
    fn new(message: fmt::Arguments<'_>) -> Self {
        let mut line = Self { bytes: [0; CAPACITY], len: 0 };
        // An error means that the line is full, or that a value could not be formatted.
        let is_whole = write!(line, "anabranch: {message}").is_ok();
        if !is_whole {
            line.push(CUT.as_bytes(), 1);
        }
        line.push(b"\n", 0);
        line
    }

    /// Appends as much as fits while `reserved` bytes stay free.
    fn push(&mut self, text: &[u8], reserved: usize) -> bool {
        let len = text.len().min(self.bytes.len().saturating_sub(self.len + reserved));
        self.bytes[self.len..self.len + len].copy_from_slice(&text[..len]);
        self.len += len;
        len == text.len()
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn write(&self) {
        write_all(self.text());
    }
}

impl Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.push(text.as_bytes(), CUT.len() + 1) { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(message: fmt::Arguments<'_>) -> String {
        String::from_utf8(Line::new(message).text().to_vec()).unwrap()
    }

    #[test]
    fn line_has_prefix_and_newline() {
        assert_eq!(text(format_args!("{} of {}", 3, "four")), "anabranch: 3 of four\n");
    }

    #[test]
    fn long_line_is_truncated() {
        let room = CAPACITY - "anabranch: ".len() - CUT.len() - 1;
        let (long, longest) = ("x".repeat(room), "x".repeat(room + 1));
        assert_eq!(text(format_args!("{long}")), format!("anabranch: {long}\n"));
        assert_eq!(text(format_args!("{longest}")), format!("anabranch: {long}{CUT}\n"));
        assert_eq!(text(format_args!("{longest}{longest}")).len(), CAPACITY);
    }

    #[test]
    fn failing_display_still_ends_line() {
        struct Broken;
        impl fmt::Display for Broken {
            fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
                Err(fmt::Error)
            }
        }
        assert_eq!(text(format_args!("a {Broken} value")), format!("anabranch: a {CUT}\n"));
    }
}
