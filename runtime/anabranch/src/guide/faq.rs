//! Questions that users of rayon, tokio and Go ask first.
//!
//! # From rayon
//! **Do I have to set `with_min_len` or a cut-off?** No. A fork that no thread takes costs one to two nanoseconds, and
//! a loop is cut only when a thread has nothing to do. See [grain size](super::from_rayon#grain-size).
//!
//! **My dependencies use rayon. Do I get two pools?** Not if you patch `rayon-core` with two lines in Cargo.toml: then
//! rayon's functions run on the default pool of this crate.
//!
//! **May I hold a lock across a parallel loop?** Yes. A thread that waits in a `join` only runs work that descends from
//! the closure that it waits for, so it meets no lock of its own that a sequential run would not. See [locks across a
//! join](super::from_rayon#locks-across-a-join).
//!
//! **Which thread runs my closure?** Any thread of the pool, or the caller. The caller itself begins; other threads
//! help.
//!
//! **My loop is not faster with more threads. Why?** Record a trace with `ANABRANCH_TRACE=run.trace`, and let
//! `anabranch explain run.trace` divide the lost time by cause. Often the items are few and unequal, or the memory is
//! the limit.
//!
//! # From tokio
//! **Does `std::thread::sleep` in a fiber block the others?** The fibers of the same thread wait; on Linux other
//! threads take over the rest of the work. Use [`Cx::sleep`](crate::Cx::sleep), or hand the call over with
//! [`Cx::blocking`](crate::Cx::blocking). See [hazards](super::hazards).
//!
//! **Must everything be `'static`?** Only for [`spawn`](crate::spawn). Fibers of a [scope](crate::Cx::scope) borrow
//! from their caller, because the scope waits for them:
//! ```
//! let words = ["pool", "fiber", "scope"];
//! let lengths = anabranch::run(|cx| {
//!     cx.scope(|s| {
//!         let handles = words.each_ref().map(|word| s.spawn(move |_| word.len()));
//!         handles.map(|handle| handle.join(cx).unwrap())
//!     })
//! });
//! assert_eq!(lengths, [4, 5, 5]);
//! ```
//! **Where is `spawn_blocking`?** [`Cx::blocking`](crate::Cx::blocking). Its closure may borrow, and a parallel loop in
//! it uses all cores while the fibers of the caller's thread go on. See
//! [`compute_and_serve`](super::compute_and_serve).
//!
//! **Can I use a library that needs tokio?** Yes, with a runtime of tokio beside the pool: see
//! [`with_tokio`](super::with_tokio). Futures that need no runtime run with [`Cx::block_on`](crate::Cx::block_on).
//!
//! **What if I drop a future, or a task is cancelled halfway?** A fiber is not dropped halfway. A cancelled wait
//! returns an error, `?` passes it on, and destructors run in order. See [`cancellation`](super::cancellation).
//!
//! **Is there a runtime that I must start?** No. The default pool starts at its first use. `#[tokio::main]` has no
//! counterpart; [`run`](crate::run) waits for fibers from any thread.
//!
//! # From Go
//! **How much does a fiber cost?** About 40 ns to spawn and join in a scope, 4.5 KB of memory while it sleeps, and an
//! address range for its stack, which has a fixed size: 256 KiB by default. See [stack
//! size](super::hazards#stack-size).
//!
//! **Does a fiber move between threads?** Not after it has begun. So values in it need not be `Send`, and a fiber that
//! computes for long delays the other fibers of its thread.
//!
//! **What happens when all fibers wait for each other?** The pool prints where each waits, and the cycle. The program
//! goes on waiting, as a thread from outside may still end it. See [finding a hang](super::tuning#finding-a-hang).
//!
//! **What does a panic in a fiber do?** Its handle returns it as an error, and a scope passes it on once all of its
//! fibers have ended. The process does not end.
//!
//! # Everybody
//! **Is it safe?** Safe code is sound except for one [limit](super::hazards#the-limit-of-soundness-thread-locals),
//! which all stackful fibers have. Models, random schedules and Miri check the code that uses `unsafe`.
//!
//! **Which systems?** Linux on x86-64 is tested. AArch64, Windows, macOS and WebAssembly are described in
//! `docs/PLATFORMS.md`.
//!
//! **How do I stop?** Return from `main`. The default pool is not dropped, so join what must end. Dropping another
//! [`Pool`](crate::Pool) cancels its fibers, and waits for its threads. See [graceful
//! shutdown](super::servers#graceful-shutdown).
//!
//! **How do I test code with timers?** With a [`ManualClock`](crate::time::ManualClock), which moves when the test
//! says.
