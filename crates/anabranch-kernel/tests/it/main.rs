//! The public interface.

mod plan;
