//! The text of a stack in a report: without the functions that capture it, and without the functions below the fiber's.

use std::{backtrace::Backtrace, fmt};

/// The function that stands between those that capture and those of the fiber.
const FIRST: &str = "context::called_from::below";
/// The function that captures the stack on which it is.
const FIRST_HERE: &str = "stack_trace::capture_here";
/// The function that runs fibers.
const LAST: &str = "serve_fibers";

/// Writes a stack, indented.
pub(super) fn write(f: &mut fmt::Formatter<'_>, stack: &Backtrace, is_one_of_several: bool) -> fmt::Result {
    writeln!(f, "    {}", if is_one_of_several { "the stack of one of them:" } else { "stack:" })?;
    let text = stack.to_string();
    shown(&text).iter().try_for_each(|line| writeln!(f, "    {line}"))
}

/// Returns the lines of a stack that are shown. Each function has a line that begins with its number, and perhaps
/// another one with its place. If the lines look otherwise, all of them are shown.
fn shown(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let function =
        |line: &&str| line.trim_start().split_once(": ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    let names = |line: &&str, name: &str| function(line) && line.contains(name);
    let first = lines.iter().position(|line| names(line, FIRST) || names(line, FIRST_HERE));
    let first = first.and_then(|first| Some(first + 1 + lines[first + 1..].iter().position(function)?)).unwrap_or(0);
    let last = lines[first..].iter().position(|line| names(line, LAST)).map_or(lines.len(), |last| first + last);
    lines[first..last].to_vec()
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn functions_of_runtime_are_left_out() {
        let stack = "   0: anabranch::fiber::stack_trace::capture\n             at ./src/a.rs:1:2\n   \
                     1: anabranch::fiber::context::called_from::below\n             at ./src/b.rs:1:2\n   \
                     2: program::wait\n             at ./src/main.rs:3:4\n  13: program::main\n  \
                     14: anabranch::fiber::scheduler::<impl X>::serve_fibers\n             at ./src/c.rs:5:6\n";
        let lines = ["   2: program::wait", "             at ./src/main.rs:3:4", "  13: program::main"];
        assert_eq!(shown(stack), lines);
    }

    #[test]
    fn unknown_text_is_shown_whole() {
        for text in ["", "unsupported backtrace", "   0: <unknown>\n   1: <unknown>", "  7: called_from::below"] {
            assert_eq!(shown(text), text.lines().collect::<Vec<_>>());
        }
    }
}
