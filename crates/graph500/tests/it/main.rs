//! The tests of the library.

mod checkpoint;
mod common;
mod corpus;
mod paths;
mod properties;
mod run;
mod validation;
