//! The time of the compiler for a bank: with `proto!`, and for the same code without a macro.
//!
//! The second is the text that the macro generates, which is what one would write by hand for a bank with the same
//! endpoints. So the difference is the time of the macro itself: to load it, to parse the protocol, and to return the
//! code. The compiler checks everything and writes the metadata of a library, like `cargo check`. The macro is already
//! compiled.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

use super::kind::Kind;
use crate::bench::{AnyWorkload, Threads};
use crate::sample::{Sample, metered};

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

/// A temporary folder of this process.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        let path = env::temp_dir().join(format!("anabranch-pipes-{}", process::id()));
        fs::create_dir_all(&path).expect("there is room for a source file");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that cannot be removed stays among the system's temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns the command of the compiler that built this program.
fn rustc(folder: &Folder, name: &str, text: &str, dependencies: &Path, anabranch: &Path) -> Command {
    let file = folder.0.join(format!("{name}.rs"));
    fs::write(&file, text).expect("a source file can be written");
    let mut command = Command::new(env!("RUSTC_OF_BENCH"));
    command.args(["--edition=2024", "--crate-type=lib", "--emit=metadata"]).arg(file).arg("--out-dir").arg(&folder.0);
    command.arg("-L").arg(format!("dependency={}", dependencies.display()));
    command.arg("--extern").arg(format!("anabranch={}", anabranch.display()));
    command
}

/// Returns the folder of the libraries that this program is linked with, and among them that of anabranch: the latest
/// build with the needed parts.
fn libraries(folder: &Folder) -> (PathBuf, PathBuf) {
    let program = env::current_exe().expect("a program knows where it is");
    let dependencies = program.parent().expect("a program is in a folder").to_owned();
    let entries = fs::read_dir(&dependencies).expect("its folder can be read").flatten();
    let is_ours = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("libanabranch-") && name.ends_with(".rlib")
    };
    let mut ours: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_ours(path)).collect();
    ours.sort_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    let text = "pub use anabranch::proto;";
    let fits = |path: &PathBuf| {
        rustc(folder, "fits", text, &dependencies, path).output().is_ok_and(|output| output.status.success())
    };
    let found = ours.into_iter().rev().find(fits);
    (dependencies, found.expect("the library is beside this program"))
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
        let folder = Folder::new();
        let (dependencies, ours) = libraries(&folder);
        let mut command = rustc(&folder, "bank", &source(kind), &dependencies, &ours);
        let (output, meter) = metered(|| command.output().expect("the compiler runs"));
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Sample::per_unit(meter, 1.0, 1e-3)
    }
}
