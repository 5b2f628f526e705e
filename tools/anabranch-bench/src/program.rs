//! The main functions of the programs of this crate.

use std::env;
use std::process::ExitCode;

/// Defines `main`, which calls `linux::main`. On other systems it says why it does not.
#[macro_export]
macro_rules! main_on_linux {
    () => {
        #[cfg(not(target_os = "linux"))]
        fn main() {
            eprintln!("this program reads /proc and runs on Linux only");
        }

        #[cfg(target_os = "linux")]
        fn main() -> std::process::ExitCode {
            linux::main()
        }
    };
}

/// Passes the arguments of the process to `run`, and prints the result. Prints `usage` too if `run` fails.
pub fn main(run: impl FnOnce(&[String]) -> Result<String, String>, usage: &str) -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match run(&arguments) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{message}\nusage: {usage}");
            ExitCode::from(2)
        }
    }
}
