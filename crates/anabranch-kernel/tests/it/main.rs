//! The public interface.

mod kernels;
mod map;
mod plan;
