//! The public interface.

mod errors;
mod fold;
#[cfg(any(feature = "cuda", feature = "gpu"))]
mod gpu;
mod kernels;
mod map;
mod place;
mod plan;
mod stop;
#[path = "../../../../runtime/anabranch/tests/common/watchdog.rs"]
mod watchdog;
