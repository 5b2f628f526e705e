//! rayon-core's unit tests of `ThreadPool`. Two of them wait, by the private field `registry`, until the threads of a
//! dropped pool have ended. So the builder and the pool here are those of the crate, with such a field: it counts the
//! threads that have called their exit handler.

#![allow(deprecated)]

pub use rayon_core::{
    broadcast, current_thread_index, join, scope, scope_fifo, spawn, spawn_fifo, yield_local, yield_now, Configuration,
    Scope, ScopeFifo,
};
use std::{
    error::Error,
    ops::Deref,
    sync::{Arc, Condvar, Mutex},
};

/// As rayon-core's private module.
pub mod unwind {
    pub fn halt_unwinding<R>(func: impl FnOnce() -> R) -> std::thread::Result<R> {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(func))
    }
}

/// As rayon-core's private module. The tests do not use the arguments of the closure.
pub mod registry {
    pub fn in_worker<R: Send>(op: impl FnOnce((), bool) -> R + Send) -> R {
        rayon_core::scope(|_| op((), false))
    }
}

/// The threads of a pool that have not ended.
pub struct Registry {
    threads: usize,
    ended: Mutex<usize>,
    end: Condvar,
}

impl Registry {
    pub fn num_threads(&self) -> usize {
        self.threads
    }

    pub fn wait_until_stopped(&self) {
        let all = |ended: &mut usize| *ended < self.threads;
        drop(self.end.wait_while(self.ended.lock().unwrap(), all).unwrap());
    }
}

pub struct ThreadPool {
    registry: Arc<Registry>,
    pool: rayon_core::ThreadPool,
}

impl ThreadPool {
    pub fn new(configuration: Configuration) -> Result<rayon_core::ThreadPool, Box<dyn Error>> {
        rayon_core::ThreadPool::new(configuration)
    }
}

impl Deref for ThreadPool {
    type Target = rayon_core::ThreadPool;

    fn deref(&self) -> &Self::Target {
        &self.pool
    }
}

/// The builder of the crate, and the number of threads and the exit handler that were set.
#[derive(Default)]
pub struct ThreadPoolBuilder {
    builder: rayon_core::ThreadPoolBuilder,
    threads: usize,
    exit_handler: Option<Box<dyn Fn(usize) + Send + Sync>>,
}

impl ThreadPoolBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn num_threads(self, threads: usize) -> Self {
        Self { builder: self.builder.num_threads(threads), threads, ..self }
    }

    pub fn stack_size(self, bytes: usize) -> Self {
        Self { builder: self.builder.stack_size(bytes), ..self }
    }

    pub fn thread_name(self, name: impl FnMut(usize) -> String + 'static) -> Self {
        Self { builder: self.builder.thread_name(name), ..self }
    }

    pub fn start_handler(self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { builder: self.builder.start_handler(handler), ..self }
    }

    pub fn exit_handler(self, handler: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { exit_handler: Some(Box::new(handler)), ..self }
    }

    pub fn build(self) -> Result<ThreadPool, rayon_core::ThreadPoolBuildError> {
        let registry = Arc::new(Registry { threads: self.threads, ended: Mutex::new(0), end: Condvar::new() });
        let (ending, inner) = (registry.clone(), self.exit_handler);
        let exit_handler = move |index| {
            if let Some(inner) = &inner {
                inner(index);
            }
            *ending.ended.lock().unwrap() += 1;
            ending.end.notify_all();
        };
        let pool = self.builder.exit_handler(exit_handler).build()?;
        Ok(ThreadPool { registry, pool })
    }
}

#[path = "../../sources/rayon-core-1.13.0/src/thread_pool/test.rs"]
mod thread_pool_tests;
