//! Lists and reports of fibers and threads, to find out why a program hangs.

use crate::pool::{
    Pool, inspect, live,
    report::{FiberInfo, Report},
    stacks,
};

impl Pool {
    /// Returns the started fibers, the fibers that have not started, and the threads that wait inside
    /// [`run`](Self::run). They continue meanwhile, so the list is not one consistent snapshot.
    ///
    /// Takes time linear in the maximum number of fibers that have existed at a time. (A half of
    /// [`Cx::join`](crate::Cx::join) that was offered and taken back counts as not started until a worker discards it.)
    ///
    /// ```
    /// use anabranch::pool::FiberState;
    /// use std::time::Duration;
    ///
    /// let pool = anabranch::Pool::builder().threads(1).build()?;
    /// let sleeper = pool.spawn_named("sleeper", |cx| cx.sleep(Duration::from_secs(3600)));
    /// let fiber = loop {
    ///     if let Some(fiber) = pool.fibers().into_iter().find(|fiber| fiber.state() == FiberState::Waiting) {
    ///         break fiber;
    ///     }
    /// };
    /// assert_eq!((fiber.name(), fiber.waits_for()), (Some("sleeper"), Some("sleep")));
    /// println!("{fiber}"); // sleeper: waits for sleep at src/main.rs:4:49 (worker 0)
    /// # sleeper.cancel();
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn fibers(&self) -> Vec<FiberInfo> {
        inspect::fibers(self.registry())
    }

    /// Returns a report of the fibers and threads of this pool: the entries of [`fibers`](Self::fibers), the pool's
    /// threads, and the cycles of fibers that wait for each other's locks. They continue meanwhile.
    ///
    /// Linear like [`fibers`](Self::fibers). It needs no thread of the pool, so it works while all of them are blocked.
    ///
    /// ```
    /// use anabranch::sync::{Barrier, Mutex};
    /// use std::sync::Arc;
    ///
    /// let pool = anabranch::Pool::builder().threads(1).build()?;
    /// let locks = [(); 2].map(|()| Arc::new(Mutex::new(())));
    /// let barrier = Arc::new(Barrier::new(2));
    /// let fibers = [0, 1].map(|first| {
    ///     let (one, other) = (Arc::clone(&locks[first]), Arc::clone(&locks[1 - first]));
    ///     let barrier = Arc::clone(&barrier);
    ///     pool.spawn(move |cx| {
    ///         let _one = one.lock(cx).unwrap();
    ///         barrier.wait(cx).unwrap();                     // now the other fiber has its first lock
    ///         other.lock(cx).is_err()
    ///     })
    /// });
    /// let report = loop {
    ///     let report = pool.report();
    ///     if report.cycles().len() > 0 {
    ///         break report;
    ///     }
    /// };
    /// println!("{report}");
    /// assert!(report.to_string().contains("cycle of 2:"));
    /// # fibers.iter().for_each(|fiber| fiber.cancel());
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn report(&self) -> Report {
        inspect::report(&[self.registry()])
    }

    /// Returns a [report](Self::report) with the stacks of the fibers and threads that wait, up to 256 of them. If
    /// there are more, the report has, if possible, the stack of at least one fiber or thread of each group that waits
    /// at the same place for the same thing.
    ///
    /// Blocks the thread for up to a second. The worker of a fiber captures the fiber's stack, from outside: no fiber
    /// is woken, and a small stack cannot overflow. A worker that computes, or is blocked in a foreign call, does not
    /// answer: see [`Report::missing_stacks`]. The stacks of suspended fibers are available only on Linux on x86-64.
    ///
    /// On Linux the report also has the stacks of threads that are blocked in a lock or a channel of `std`. Such a
    /// thread captures its stack on the signal `SIGURG`, unless the program has a handler for that signal.
    ///
    /// ```
    /// use anabranch::channel;
    ///
    /// fn wait_for_orders(cx: &anabranch::Cx<'_>, orders: channel::Receiver<u32>) {
    ///     while let Ok(order) = orders.recv(cx) {
    ///         println!("{order}");
    ///     }
    /// }
    ///
    /// let pool = anabranch::Pool::builder().threads(1).build()?;
    /// let (sender, orders) = channel::unbounded();
    /// let fiber = pool.spawn_named("orders", |cx| wait_for_orders(cx, orders));
    /// while pool.report().waiting() == 0 {}
    /// let report = pool.report_with_stacks();
    /// println!("{report}");
    /// # #[cfg(all(target_arch = "x86_64", target_os = "linux", not(anabranch_portable_switch)))]
    /// assert!(report.to_string().contains("wait_for_orders"));
    /// # fiber.cancel();
    /// # Ok::<(), anabranch::pool::BuildError>(())
    /// ```
    pub fn report_with_stacks(&self) -> Report {
        let pools = [self.registry()];
        let mut report = inspect::report(&pools);
        stacks::add(&mut report, &pools);
        report
    }
}

/// Returns the fibers of the pool that the caller is in, or else of the default pool, as [`Pool::fibers`] does.
///
/// # Panics
/// Panics outside of any pool when the default pool cannot be created.
#[track_caller]
pub fn fibers() -> Vec<FiberInfo> {
    inspect::fibers(Pool::of_caller())
}

/// Returns what the fibers and threads of all pools of the process do, as [`Pool::report`] does. Makes no pool.
///
/// Set the environment variable `ANABRANCH_REPORT_SIGNAL` to print this report on a signal: see
/// [the guide](crate::guide::tuning#finding-a-hang).
///
/// ```
/// let pool = anabranch::Pool::builder().threads(1).build()?;
/// let report = anabranch::fiber::report_all();
/// assert!(report.threads().iter().any(|thread| thread.pool() == pool.id()));
/// # Ok::<(), anabranch::pool::BuildError>(())
/// ```
pub fn report_all() -> Report {
    live::report()
}

/// Returns what the fibers and threads of all pools of the process do, with stacks, as [`Pool::report_with_stacks`]
/// does.
///
/// ```
/// let pool = anabranch::Pool::builder().threads(1).build()?;
/// assert_eq!(anabranch::fiber::report_all_with_stacks().missing_stacks(), 0);
/// # Ok::<(), anabranch::pool::BuildError>(())
/// ```
pub fn report_all_with_stacks() -> Report {
    live::report_with_stacks()
}
