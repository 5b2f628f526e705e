//! The public interface.

mod errors;
mod fold;
mod kernels;
mod map;
mod place;
mod plan;
