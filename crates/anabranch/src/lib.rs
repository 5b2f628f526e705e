//! placeholder that runs everything on the calling thread; the pool replaces it.
#![allow(missing_docs)]
pub mod iter;
pub use iter::{Splittable, chunks, chunks_mut, par_for_each, par_map, par_reduce};

pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where A: FnOnce() -> RA + Send, B: FnOnce() -> RB + Send, RA: Send, RB: Send,
{ (a(), b()) }

pub struct Pool { threads: usize }
#[derive(Debug)]
#[non_exhaustive]
pub enum BuildError { ZeroThreads }
impl std::fmt::Display for BuildError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str("a pool needs at least one thread") }
}
impl std::error::Error for BuildError {}
impl Pool {
    pub fn builder() -> Builder { Builder { threads: None } }
    pub fn install<R>(&self, f: impl FnOnce() -> R) -> R { f() }
    pub fn num_threads(&self) -> usize { self.threads }
}
pub struct Builder { threads: Option<usize> }
impl Builder {
    pub fn threads(mut self, n: usize) -> Self { self.threads = Some(n); self }
    pub fn build(self) -> Result<Pool, BuildError> { match self.threads { Some(0) => Err(BuildError::ZeroThreads), n => Ok(Pool { threads: n.unwrap_or(2) }) } }
}
pub fn current_num_threads() -> usize { 2 }
