//! The public interface, against plain sequential answers.

mod corpus;
mod files;
mod kernels;
mod properties;
