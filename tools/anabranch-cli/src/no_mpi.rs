//! The option `--mpi` of a command that was built without the feature.

use crate::exit::Failure;

/// Refuses the run.
pub fn refuse() -> Failure {
    Failure::Usage(
        "--mpi needs a command that was built with MPI: run 'apt-get install libopenmpi-dev openmpi-bin libclang-dev' \
         (or install another MPI library and libclang), then 'cargo install anabranch-cli --features mpi'"
            .to_owned(),
    )
}
