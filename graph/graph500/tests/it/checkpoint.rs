//! Checkpoints: what is read is what was written, and no damaged file is used.

use std::hash::Hasher as _;

use crate::common::in_pool;
use graph500::{BfsKind, Built, CheckpointError, Config, Report, Spec, Techniques, run, run_built};
use proptest::prelude::*;

fn spec(scale: u32) -> Spec {
    Spec::new(scale, 8, 3).unwrap()
}

fn written(spec: &Spec) -> Vec<u8> {
    let mut file = Vec::new();
    Built::generate(spec, Techniques::default(), &()).unwrap().write_checkpoint(&mut file).unwrap();
    file
}

fn read(mut file: &[u8], spec: &Spec) -> Result<Built, CheckpointError> {
    let len = file.len() as u64;
    Built::read_checkpoint(&mut file, len, spec)
}

#[test]
fn run_from_a_checkpoint_finds_the_same() {
    for scale in [1, 4, 11] {
        let config = Config { roots: 8, sssp: true, ..Config::official(spec(scale)) };
        let facts = |report: Report| {
            let paths =
                report.paths.unwrap().searches.into_iter().map(|s| (s.key, s.edges, s.reached, s.farthest.into()));
            let searches = report.searches.into_iter().map(|s| (s.key, s.edges, s.reached, f64::from(s.depth)));
            searches.chain(paths).collect::<Vec<_>>()
        };
        in_pool(|| {
            let built = read(&written(&config.spec), &config.spec).unwrap();
            assert_eq!(facts(run_built(&config, built, &()).unwrap()), facts(run(&config, &()).unwrap()));
        });
    }
}

#[test]
fn other_files_are_named() {
    let file = written(&spec(6));
    let text = |result: Result<Built, CheckpointError>| result.err().expect("it is refused").to_string();
    for other in [Spec::new(7, 8, 3), Spec::new(6, 9, 3), Spec::new(6, 8, 4)] {
        let found = text(read(&file, &other.unwrap()));
        assert!(found.starts_with("it is of scale 6, edge factor 8 and seed 3, and this run of "), "{found}");
    }
    assert_eq!(text(read(b"", &spec(6))), "it is not a Graph500 checkpoint");
    assert_eq!(text(read(&[7; 4000], &spec(6))), "it is not a Graph500 checkpoint");
    let mut newer = file.clone();
    newer[8] = 3;
    assert_eq!(text(read(&newer, &spec(6))), "it has version 3 of the format, not 2");
    let cut = file.len() - 1;
    assert_eq!(text(read(&file[..cut], &spec(6))), format!("it has {cut} bytes instead of {}", file.len()));
    let mut changed = file.clone();
    changed[file.len() / 2] ^= 1;
    assert_eq!(text(read(&changed, &spec(6))), "it is damaged: the checksum does not match");
    // The file ends before the length that the system has reported.
    let error = Built::read_checkpoint(&mut &file[..cut], file.len() as u64, &spec(6)).err();
    assert!(matches!(error, Some(CheckpointError::Io(_))));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn changed_files_are_refused(place in any::<prop::sample::Index>(), flip in 1u8..) {
        let mut file = written(&spec(5));
        let place = place.index(file.len());
        file[place] ^= flip;
        prop_assert!(read(&file, &spec(5)).is_err());
    }

    /// Forged files have the right checksum. Whatever is accepted can be searched without a panic.
    #[test]
    fn forged_files_do_no_harm(place in any::<prop::sample::Index>(), bytes in any::<[u8; 4]>(), len in 1usize..5) {
        let mut file = written(&spec(5));
        let place = place.index(file.len() - 12);
        file[place..place + len].copy_from_slice(&bytes[..len]);
        let end = file.len() - 8;
        let mut hash = twox_hash::XxHash64::with_seed(0);
        hash.write(&file[..end]);
        let sum = hash.finish();
        file[end..].copy_from_slice(&sum.to_le_bytes());
        if let Ok(built) = read(&file, &spec(5)) {
            for bfs in BfsKind::ALL {
                let config = Config { bfs, roots: 4, ..Config::official(spec(5)) };
                let _ = run_built(&config, read(&file, &spec(5)).unwrap(), &());
            }
            drop(built);
        }
    }
}
