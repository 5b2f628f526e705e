//! Tests of what works on whole traces.

mod chrome;
mod common;
mod losses;
mod path;
mod pools;
mod random;
mod ready;
mod timeline;
