//! Tuning, counters, and how to find a hang.
//!
//! # Threads
//! [`Builder::threads`](crate::Builder::threads) sets how many threads of a pool work at a time. The default is the
//! value of the environment variable `ANABRANCH_NUM_THREADS`. If that is not set, it is the number of cores that the
//! process may use when the pool is made. A thread of the program that calls into the pool counts while it works. To
//! configure the default pool, call [`build_default`](crate::Builder::build_default) before its first use:
//! ```
//! anabranch::Pool::builder().threads(2).thread_name(|i| format!("work-{i}")).build_default()?;
//! assert_eq!(anabranch::pool::current_num_threads(), 2);
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//! One pool is enough for most programs. Use a second pool for work that must not wait behind other work. Both pools
//! compete for the cores.
//!
//! | [`Builder`](crate::Builder) | when to change it |
//! |---|---|
//! | [`fiber_stack_size`](crate::Builder::fiber_stack_size) | a fiber overflows its stack |
//! | [`stack_size`](crate::Builder::stack_size) | compute code recurses deeply |
//! | [`max_fibers`](crate::Builder::max_fibers) | to limit memory; further fibers start when others have ended |
//! | [`max_blocking_threads`](crate::Builder::max_blocking_threads) | more than 512 [blocking calls](crate::Cx::blocking) run at a time, or a device serves only a few |
//! | [`max_spare_threads`](crate::Builder::max_spare_threads) | more than 256 threads block at a time in foreign calls |
//! | [`pin_threads`](crate::Builder::pin_threads) | no other program uses the machine (Linux) |
//! | [`fiber_guard_size`](crate::Builder::fiber_guard_size) | fibers call C code with large frames |
//! | [`clock`](crate::Builder::clock) | in tests: a [`ManualClock`](crate::time::ManualClock) moves time by hand |
//!
//! # Memory after a burst
//! Half a second after a burst of fibers or tasks, a pool returns its stacks to the system, and its other memory to the
//! system or the allocator. The allocator of glibc keeps most of the memory that is freed: after 100,000 fibers that
//! slept at once, 60 MiB are free in its arenas, and still resident. A program that needs this memory can call
//! `malloc_trim` or use another allocator. A pool does not call it, because the allocator belongs to the whole program.
//!
//! # Counters
//! [`Pool::stats`](crate::Pool::stats) returns counters of each thread. Call it twice and compare.
//! ```
//! use anabranch::prelude::*;
//!
//! let pool = anabranch::Pool::builder().threads(2).build()?;
//! let before = pool.stats();
//! pool.install(|| (0..1_000_000u64).into_par_iter().for_each(|i| _ = std::hint::black_box(i)));
//! let (before, after) = (before.total(), pool.stats().total());
//! assert!(after.stolen >= before.stolen && after.published >= before.published);
//! println!("{} stolen, {:?} spent searching", after.stolen - before.stolen, after.searching - before.searching);
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//! | what you see | what it means |
//! |---|---|
//! | `searching` is large compared with `working` | there is too little parallel work for the threads |
//! | `stolen` grows by thousands in a millisecond | the pieces that threads steal are small |
//! | `raided` is large | the work runs long without a fork, so idle threads publish the forks of busy threads |
//! | [`blocking_queued`](crate::pool::Stats::blocking_queued) is often not 0 | blocking calls wait for `max_blocking_threads` |
//! | [`timer_lateness`](crate::pool::WorkerStats::timer_lateness) has timers late by several milliseconds | fibers compute for long: see [how to find them](crate::guide::compute_and_serve#how-to-find-a-fiber-that-computes) |
//! | [`slots_lent`](crate::pool::Stats::slots_lent), [`spare_threads`](crate::pool::Stats::spare_threads) grow | threads block in foreign calls |
//! | [`spares_refused`](crate::pool::Stats::spares_refused) is not 0 | the pool could not replace a blocked thread, because of `max_spare_threads` or a limit of the system |
//! | [`uses_membarrier`](crate::pool::Stats::uses_membarrier) is false | each join takes a lock, about 20 ns, because the kernel is old or a filter forbids `membarrier` |
//!
//! # More cores than you have
//! `anabranch predict` says how fast a program of forks and loops would be on 1 to 64 cores, and what would limit it
//! there. It replays a record of all forks, which a run on one thread makes:
//! ```text
//! $ ANABRANCH_TRACE=run.trace ANABRANCH_TRACE_FORKS=1 ANABRANCH_NUM_THREADS=1 ./program
//! $ anabranch predict run.trace
//! ```
//! See [`trace`](crate::trace#every-fork).
//!
//! # Copies
//! Rust moves a value by copying its bytes: into a call, into a channel, and out of it. A message of 64 KiB is copied
//! at least twice, while a `Box`, a `Vec` or an `Arc` of it is a pointer. Clippy warns about some copies, but about no
//! move into a channel:
//!
//! | lint | warns about | on by default |
//! |---|---|---|
//! | `large_enum_variant` | a variant that makes each message as large as the largest | yes |
//! | `unnecessary_to_owned`, `ptr_arg` | an owned value where a reference suffices | yes |
//! | `large_types_passed_by_value` | an argument of more than 256 bytes | no (pedantic) |
//! | `needless_pass_by_value` | an argument that the function does not consume | no (pedantic) |
//! | `implicit_clone` | a clone by another name, such as `to_vec` | no (pedantic) |
//! | `large_stack_arrays` | a local array of more than 16 KiB, which a fiber's stack may not hold | no (pedantic) |
//! | `redundant_clone` | a clone of a value that is not used afterwards | no (nursery) |
//!
//! `cargo clippy -- -W clippy::large_types_passed_by_value` turns one on, as does `[lints.clippy]` in `Cargo.toml`. A
//! profiler shows copies that remain as time in `memcpy`.
//!
//! # Finding a hang
//! [`fibers()`](crate::fiber::fibers) and [`Pool::fibers`](crate::Pool::fibers) list the fibers of a pool, and the
//! threads that wait inside `run`. Each entry has the name, the state, the operation that it waits for, and the place
//! in the source. Name fibers with [`spawn_named`](crate::fiber::FiberScope::spawn_named) or
//! [`Cx::set_name`](crate::Cx::set_name). [`Pool::report`](crate::Pool::report) and
//! [`report_all`](crate::fiber::report_all) return a [`Report`](crate::pool::Report). It also contains the duration of
//! each wait, the place where each fiber was spawned, the holder of each lock, the threads, and the cycles of fibers
//! that wait for each other's locks. As text, it shows fibers that do the same on one line.
//!
//! **On a signal.** With `ANABRANCH_REPORT_SIGNAL=USR1` in its environment, a program on Unix prints the report of all
//! pools to its standard error stream when it gets that signal, even while all its threads are blocked. The value is
//! `USR1`, `USR2`, `HUP`, `QUIT`, `WINCH`, `URG` or a number. Without the variable there is no handler and no thread.
//! ```text
//! $ ANABRANCH_REPORT_SIGNAL=USR1 ./server & sleep 10; kill -USR1 $!
//! anabranch: 3 fibers and 1 thread in 1 pool; 4 wait
//! threads: 4 idle, 0 working, 1 waiting, 0 blocked
//!   2 fibers: waits for Receiver::recv at src/jobs.rs:40:31 for 3.2s to 9.8s, spawned at src/main.rs:17:11
//!   fiber `audit`: waits for Mutex::lock at src/audit.rs:9:28 for 9.8s, locked by thread `main` (worker 0)
//!   thread `main`: waits for JoinHandle at src/main.rs:30:22 for 9.9s
//! ```
//!
//! **By itself.** When a pool has no work any more, or has begun none for a second, it looks for two kinds of deadlock.
//! It prints the report once, or passes it to a [handler](crate::Builder::on_deadlock), and the program continues to
//! hang.
//! - *Nothing in the process can proceed*: all fibers wait, none of them has a deadline, no socket is open, and each
//!   thread of the process is idle, waits in a pool, or is blocked in a wait for another thread, such as a lock or a
//!   channel of `std`. The report names the blocked threads. A program with a thread that sleeps, or waits for a
//!   device, is not reported, since that thread might send a message. Detected on Linux only.
//! - *Fibers wait for each other's locks*, without a deadline. Such fibers could continue only if they are cancelled,
//!   or if a guard was sent to another fiber after its lock was taken.
//!
//! A busy pool pays nothing for this. `ANABRANCH_DEADLOCKS=off` turns it off for a process, and
//! [`Builder::without_deadlock_detection`](crate::Builder::without_deadlock_detection) for a pool.
//!
//! **With stacks.** [`Pool::report_with_stacks`](crate::Pool::report_with_stacks) and
//! [`report_all_with_stacks`](crate::fiber::report_all_with_stacks) add the stacks of the fibers and threads that wait.
//! Reports on a signal and of a deadlock include the stacks if `RUST_BACKTRACE` is set, as panics do. Suspended fibers
//! have stacks on Linux on x86-64. Threads that are blocked in a lock or a channel of `std` have stacks on Linux: each
//! captures its own on the signal `SIGURG`, unless the program has a handler for that.
//!
//! ```
//! use anabranch::{Pool, channel, pool::FiberState};
//! use std::thread;
//!
//! let pool = Pool::builder().threads(1).build()?;
//! let (_sender, receiver) = channel::unbounded::<u8>();           // this sender never sends
//! let stuck = pool.spawn_named("consumer", move |cx| receiver.recv(cx));
//! let fiber = loop {
//!     match pool.fibers().into_iter().find(|fiber| fiber.state() == FiberState::Waiting) {
//!         Some(fiber) => break fiber,
//!         None => thread::yield_now(),
//!     }
//! };
//! assert_eq!(fiber.name(), Some("consumer"));
//! assert_eq!(fiber.waits_for(), Some("Receiver::recv"));
//! println!("{fiber}");    // consumer: waits for Receiver::recv at src/main.rs:6:72 (worker 0)
//! stuck.cancel();
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//! | what the list shows | what to look for |
//! |---|---|
//! | two fibers wait for each other's channel or lock | two orders of locking: use one order, or a time limit |
//! | all fibers wait to receive | a sender that is alive and sends nothing |
//! | many are [`Ready`](crate::pool::FiberState::Ready) on one worker, and one runs there | a long computation, or a call that blocks the thread: use [`Cx::blocking`](crate::Cx::blocking) for both |
//! | many are [`Unstarted`](crate::pool::FiberState::Unstarted) | threads that are all busy or blocked, or a reached limit [`max_fibers`](crate::Builder::max_fibers) |
//! | threads that are blocked outside of the pool | two orders of locking: the stacks show the places |
//! | no fiber that waits, and no blocked thread | compute code: use a debugger |
//!
//! # A blocked worker
//! The pool reports a fiber that waits inside [`run`](crate::run). On Linux it also reports a fiber that has blocked
//! its thread for a second while the thread has other fibers. By default the pool writes a report as a line to the
//! standard error stream. A handler can receive it instead:
//! ```
//! use anabranch::{Pool, pool::HazardKind};
//! use std::{sync::mpsc, time::Duration};
//!
//! let (sender, hazards) = mpsc::channel();
//! let pool = Pool::builder()
//!     .threads(1)
//!     .on_hazard(move |hazard| _ = sender.send((hazard.kind(), hazard.to_string())))
//!     .build()?;
//! pool.run(|cx| {
//!     let fiber = pool.spawn_named("careless", |_| anabranch::run(|cx| cx.sleep(Duration::from_millis(1))));
//!     fiber.join(cx).unwrap().unwrap();
//! });
//! let (kind, text) = hazards.recv().unwrap();
//! assert_eq!(kind, HazardKind::RunOnFiber);
//! assert!(text.starts_with("fiber `careless` waits inside of `run`"));
//! # Ok::<(), anabranch::pool::BuildError>(())
//! ```
//!
//! # Measuring
//! Compare runs of the same build, take medians of several runs, and run no other program meanwhile. The first use of a
//! pool starts its threads, and the first call into an idle pool wakes them. So call into the pool once before the
//! clock starts.
