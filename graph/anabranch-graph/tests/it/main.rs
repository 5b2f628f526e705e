//! The public interface, against plain sequential answers.

mod construction;
mod corpus;
mod files;
mod kernels;
mod properties;
