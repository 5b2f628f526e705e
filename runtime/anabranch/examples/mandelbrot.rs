//! Draws the Mandelbrot set, as a portable bitmap.
//!
//! ```text
//! cargo run --release --example mandelbrot -- --size 2000 --output mandelbrot.pbm
//! ```
//!
//! The rows in the middle take much longer than those at the edges. The loop over the rows is cut where other threads
//! take work, so nothing has to be known of that. Eight pixels make a byte, and are computed together.

use anabranch::prelude::*;
use std::{
    fs::File,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::Instant,
};

const USAGE: &str = "\
usage: mandelbrot [--size N] [--output FILE] [--plain]
  Draws a picture (PBM) of N x N pixels (1000) into the file, or to the standard output; with --plain on one thread, by
  plain iterators.";

/// The steps after which a point counts as one of the set.
const STEPS: usize = 50;

fn main() -> ExitCode {
    let Options { size, output, is_plain } = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("mandelbrot: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let start = Instant::now();
    let picture = Picture::new(size);
    let mut bits = vec![0; size * picture.bytes];
    if is_plain {
        bits.chunks_mut(picture.bytes).enumerate().for_each(|(y, row)| picture.draw_row(y, row));
    } else {
        bits.par_chunks_mut(picture.bytes).enumerate().for_each(|(y, row)| picture.draw_row(y, row));
    }
    eprintln!("{:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let written = match output {
        Some(file) => File::create(file).and_then(|file| write_picture(file, size, &bits)),
        None => write_picture(io::stdout().lock(), size, &bits),
    };
    match written {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mandelbrot: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write_picture(mut to: impl Write, size: usize, bits: &[u8]) -> io::Result<()> {
    write!(to, "P4\n{size} {size}\n")?;
    to.write_all(bits)?;
    to.flush()
}

struct Picture {
    size: usize,
    /// The bytes of a row.
    bytes: usize,
}

impl Picture {
    fn new(size: usize) -> Self {
        Self { size, bytes: size.div_ceil(8) }
    }

    /// Draws a row: a bit is set if its point is in the set. The picture shows the square from -1.5 - i to 0.5 + i.
    fn draw_row(&self, y: usize, row: &mut [u8]) {
        let scale = 2.0 / self.size as f64;
        let imaginary = y as f64 * scale - 1.0;
        for (index, byte) in row.iter_mut().enumerate() {
            let real = std::array::from_fn(|bit| (8 * index + bit) as f64 * scale - 1.5);
            let used = self.size.saturating_sub(8 * index).min(8);
            *byte = members(real, imaginary) & !(0xff_u16 >> used) as u8;
        }
    }
}

/// Returns a bit for each of eight points: whether it is in the set.
fn members(real: [f64; 8], imaginary: f64) -> u8 {
    let (mut x, mut y) = (real, [imaginary; 8]);
    for _ in 0..STEPS / 5 {
        for _ in 0..5 {
            for lane in 0..8 {
                let (squared_x, squared_y) = (x[lane] * x[lane], y[lane] * y[lane]);
                y[lane] = 2.0 * x[lane] * y[lane] + imaginary;
                x[lane] = squared_x - squared_y + real[lane];
            }
        }
        // A point that has left the circle goes on to infinity, or becomes NaN.
        if (0..8).all(|lane| !is_near(x[lane], y[lane])) {
            return 0;
        }
    }
    (0..8).fold(0, |bits, lane| bits << 1 | u8::from(is_near(x[lane], y[lane])))
}

fn is_near(x: f64, y: f64) -> bool {
    x * x + y * y <= 4.0
}

struct Options {
    size: usize,
    output: Option<PathBuf>,
    is_plain: bool,
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { size: 1000, output: None, is_plain: false };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("size") => options.size = parser.value()?.parse()?,
            Long("output") => options.output = Some(parser.value()?.into()),
            Long("plain") => options.is_plain = true,
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    if options.size == 0 {
        return Err("--size has to be at least 1".into());
    }
    Ok(Some(options))
}
