//! Threads that the program starts for a pool.

use anabranch::{Builder, Pool, pool::BuildError};
use std::{cell::Cell, fmt, io, marker::PhantomData, sync::Arc};

/// The names that the program chose.
pub(crate) type Names = Option<Arc<[String]>>;

/// A thread of a pool that the program starts: see
/// [`ThreadPoolBuilder::spawn_handler`](crate::ThreadPoolBuilder::spawn_handler).
pub struct ThreadBuilder {
    thread: anabranch::pool::ThreadBuilder,
    names: Names,
    stack_size: Option<usize>,
    /// `Send`, but neither `Sync` nor `UnwindSafe`, as in rayon.
    _marker: PhantomData<&'static mut Cell<()>>,
}

impl ThreadBuilder {
    /// Returns the index of the thread in its pool.
    pub fn index(&self) -> usize {
        self.thread.index()
    }

    /// Returns the name that [`thread_name`](crate::ThreadPoolBuilder::thread_name) gave to the thread.
    pub fn name(&self) -> Option<&str> {
        Some(self.names.as_ref()?[self.index()].as_str())
    }

    /// Returns the size that was given to [`stack_size`](crate::ThreadPoolBuilder::stack_size).
    pub fn stack_size(&self) -> Option<usize> {
        self.stack_size
    }

    /// Works for the pool, until the pool has ended.
    pub fn run(self) {
        self.thread.run();
    }
}

impl fmt::Debug for ThreadBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadBuilder")
            .field("pool", &self.thread.pool_id())
            .field("index", &self.index())
            .field("name", &self.name())
            .field("stack_size", &self.stack_size)
            .finish()
    }
}

/// Starts the threads of a pool. It is public because it bounds public functions, and cannot be named outside.
pub trait ThreadSpawn {
    /// Whether the program starts the threads.
    #[doc(hidden)]
    const IS_CUSTOM: bool;

    /// Builds a pool, or the global pool.
    #[doc(hidden)]
    fn start(self, plan: Plan) -> Result<Option<Pool>, BuildError>;
}

/// What pool to build.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plan {
    pub(crate) builder: Builder,
    pub(crate) names: Names,
    pub(crate) stack_size: Option<usize>,
    pub(crate) is_global: bool,
}

/// Lets the pool start its threads.
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    const IS_CUSTOM: bool = false;

    fn start(self, plan: Plan) -> Result<Option<Pool>, BuildError> {
        if plan.is_global { plan.builder.build_default().map(|()| None) } else { plan.builder.build().map(Some) }
    }
}

/// Starts threads by a closure of the program.
#[derive(Debug)]
pub struct CustomSpawn<F>(pub(crate) F);

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    const IS_CUSTOM: bool = true;

    fn start(mut self, plan: Plan) -> Result<Option<Pool>, BuildError> {
        let Plan { builder, names, stack_size, is_global } = plan;
        let spawn = |thread| (self.0)(ThreadBuilder { thread, names: names.clone(), stack_size, _marker: PhantomData });
        if is_global { builder.build_default_with(spawn).map(|()| None) } else { builder.build_with(spawn).map(Some) }
    }
}
