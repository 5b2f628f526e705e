//! Every kernel against a plain serial algorithm, on graphs of many shapes.

mod corpus;
mod kernels;
mod properties;
