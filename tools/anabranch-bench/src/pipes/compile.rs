//! The time of the compiler for a bank: with `proto!`, and for the same code without a macro.
//!
//! The second is the text that the macro generates, which is what one would write by hand for a bank with the same
//! endpoints. So the difference is the time of the macro itself: to load it, to parse the protocol, and to return the
//! code. The compiler checks everything and writes the metadata of a library, like `cargo check`. The macro is already
//! compiled.

use super::kind::Kind;
use crate::bench::{AnyWorkload, Threads};
use crate::compiler::{Folder, Library};
use crate::sample::Sample;
use crate::stopwatch::metered;

const BANK: &str = "
    pub bank {
        Login: send { login(String, String) -> LoginResponse }
        LoginResponse: recv { ok -> Connected, invalid -> Login }
        Connected: send { deposit(u64) -> Connected, withdrawal(u64) -> Withdrawal, quit -> ! }
        Withdrawal: recv { money(u64) -> Connected, insufficient_funds -> Connected }
    }
";

/// Compiles a bank.
pub struct Compile;

fn source(kind: Kind) -> String {
    if kind == Kind::Protocol {
        return format!("anabranch::proto! {{ {BANK} }}");
    }
    let tokens = BANK.parse().expect("the bank is made of tokens");
    anabranch_proto::expand(tokens).to_string()
}

impl AnyWorkload<Kind> for Compile {
    fn title(&self) -> String {
        "the compiler checks a bank, with the macro already compiled".into()
    }

    fn unit(&self) -> &'static str {
        "ms"
    }

    fn threads(&self) -> Threads {
        Threads::Fixed(1)
    }

    /// A sample is short, and varies much.
    fn rounds(&self, asked: usize) -> usize {
        asked + 4
    }

    fn suits(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Protocol | Kind::Expansion)
    }

    fn is_rival(&self, kind: Kind) -> bool {
        kind == Kind::Expansion
    }

    fn most_above(&self) -> Option<f64> {
        Some(50.0)
    }

    fn sample_with(&self, kind: Kind, _threads: usize) -> Sample {
        let folder = Folder::new("pipes");
        // The latest build with the needed parts.
        let ours = Library::find(&folder, "anabranch", "pub use anabranch::proto;");
        let mut command = ours.rustc(&folder, "bank", &source(kind), &["--crate-type=lib", "--emit=metadata"]);
        let (output, meter) = metered(|| command.output().expect("the compiler runs"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Sample::per_unit(meter, 1.0, 1e-3)
    }
}
