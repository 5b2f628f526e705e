//! The style of all tables.

use std::io::{self, IsTerminal};

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};

/// The least width at which a table is readable.
const NARROWEST: u16 = 40;

/// Creates a table as wide as the terminal, if it is shown on one.
pub fn new(on_stderr: bool) -> Table {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-')));
    if let Some(columns) = columns(on_stderr) {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(columns.max(NARROWEST));
    }
    table
}

/// Returns the width of the terminal, if it is one.
fn columns(on_stderr: bool) -> Option<u16> {
    let size = if on_stderr {
        io::stderr().is_terminal().then(|| terminal_size::terminal_size_of(io::stderr()))
    } else {
        io::stdout().is_terminal().then(|| terminal_size::terminal_size_of(io::stdout()))
    };
    size.flatten().map(|(width, _)| width.0)
}
