//! The bench of parallel iterators: `cargo bench -p anabranch-bench --bench iterators -- --help`.

anabranch_bench::main_on_linux!();

#[cfg(target_os = "linux")]
mod linux {
    use std::process::ExitCode;

    use anabranch_bench::iterators::{ALL, MEANS, Settings};
    use anabranch_bench::machine::Versions;
    use anabranch_bench::options::{self, Bench};
    use anabranch_bench::workloads::Spinner;

    pub fn main() -> ExitCode {
        let (options, peers, ()) = options::parse("Compares parallel iterators on this machine.", &ALL);
        let settings = Settings::new(options.quick, Spinner::calibrate());
        options.run(Bench {
            suite: "iterators",
            workloads: &ALL,
            settings,
            peers,
            threads: &[2],
            versions: Versions::of_iterators(),
            legend: "/base: median of the ratios to plain\n\
                     iterators in the same round; CPU/b: the same for CPU time. hand: equal parts on std threads.",
            across: &[],
            means: &MEANS,
            nanoseconds_a_step: Some(settings.spinner.nanoseconds_a_step()),
        })
    }
}
