//! Coming from rayon: what the names are here, and what differs.
//!
//! | rayon | anabranch | |
//! |---|---|---|
//! | `join(a, b)` | [`join`](crate::join) | |
//! | `scope(\|s\| s.spawn(\|s\| ..))` | [`scope`](crate::scope) | a task takes no argument; nested tasks capture `s` |
//! | `spawn(f)` | [`spawn`](crate::spawn) | takes `\|cx\| ..` and returns a [`JoinHandle`](crate::JoinHandle) |
//! | `v.par_iter().for_each(f)` | [`par_for_each(&v[..], f)`](crate::par_for_each) | |
//! | `v.par_iter_mut().for_each(f)` | [`par_for_each(&mut v[..], f)`](crate::par_for_each) | |
//! | `.map(f).collect::<Vec<_>>()` | [`par_map(items, f)`](crate::par_map) | |
//! | `.fold(..).reduce(..)`, `.sum()` | [`par_reduce`](crate::par_reduce) | neighbouring pieces are combined in order |
//! | `par_chunks(n)`, `par_chunks_mut(n)` | [`chunks`](crate::chunks), [`chunks_mut`](crate::chunks_mut) | |
//! | `a.zip(b)` | the pair `(a, b)` | as long as the shorter one |
//! | `with_min_len`, `with_max_len` | | not needed: a loop splits when a thread requests work |
//! | `filter`, `flat_map`, `par_sort`, `par_bridge`, .. | | none of them here |
//! | `ThreadPoolBuilder` | [`Pool::builder`](crate::Pool::builder) | `num_threads` is [`threads`](crate::Builder::threads) |
//! | `build_global` | [`build_default`](crate::Builder::build_default) | |
//! | `pool.install(f)` | [`Pool::install`](crate::Pool::install) | `f` runs on the calling thread and need not be `Send` |
//! | `broadcast` | [`Pool::broadcast`](crate::Pool::broadcast) | |
//! | `RAYON_NUM_THREADS` | `ANABRANCH_NUM_THREADS` | |
//! | `join_context`, `scope_fifo`, `yield_now`, `current_thread_index` | | none of them here |
//!
//! # Loops
//! ```
//! use anabranch::{chunks, par_for_each, par_map, par_reduce};
//!
//! let mut squares = par_map(0..1_000u64, |i| i * i);              // par_iter().map(..).collect()
//! par_for_each(&mut squares[..], |x| *x %= 100);                  // par_iter_mut().for_each(..)
//! let total = par_reduce(&squares[..], || 0, |sum, x| sum + x, |a, b| a + b);
//! let rows = par_map(chunks(&squares, 100), |row| row.iter().sum::<u64>());
//! assert_eq!(total, rows.iter().sum());
//!
//! let other = vec![1u64; 1_000];
//! par_for_each((&mut squares[..], &other[..]), |(x, y)| *x += y); // zip
//! assert_eq!(squares.iter().sum::<u64>(), total + 1_000);
//! ```
//! A type of your own takes part in loops if it implements [`Splittable`](crate::Splittable).
//!
//! # Grain size
//! A fork that no thread takes costs one to two nanoseconds, so recursive code forks at every level.
//! ```
//! fn quicksort<T: Ord + Send>(items: &mut [T]) {
//!     if items.len() <= 1 {
//!         return;
//!     }
//!     let pivot = items.len() - 1;
//!     let mut middle = 0;
//!     for i in 0..pivot {
//!         if items[i] <= items[pivot] {
//!             items.swap(i, middle);
//!             middle += 1;
//!         }
//!     }
//!     items.swap(middle, pivot);
//!     let (left, right) = items.split_at_mut(middle);
//!     anabranch::join(|| quicksort(left), || quicksort(&mut right[1..]));
//! }
//!
//! let mut items = vec![5, 3, 9, 1, 7];
//! quicksort(&mut items);
//! assert_eq!(items, [1, 3, 5, 7, 9]);
//! ```
//!
//! # Locks across a join
//! A waiting rayon worker runs any job of the pool. If that job needs a lock that the waiting code holds, the thread
//! deadlocks. Here a thread that waits in a `join` runs only work that descends from the awaited closure, and answers
//! [broadcasts](crate::Pool::broadcast). A sequential run would take the same locks in the same order.
//! ```
//! use std::sync::Mutex;
//!
//! let log = Mutex::new(Vec::new());
//! anabranch::par_for_each(0..100u32, |i| {
//!     let mut log = log.lock().unwrap();                          // held across the join below
//!     let (a, b) = anabranch::join(|| i, || i + 1);
//!     log.push(a + b);
//! });
//! assert_eq!(log.into_inner().unwrap().len(), 100);
//! ```
//!
//! # Blocking calls
//! On Linux the pool finds a thread that blocks in a foreign call, and a spare thread replaces it. So the halves of a
//! `join` may wait for each other at a channel of `std`, also in a pool of one thread:
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::sync::mpsc;
//!
//! let pool = anabranch::Pool::builder().threads(1).build()?;
//! let (sender, receiver) = mpsc::channel();
//! let (got, sent) = pool.install(|| anabranch::join(move || receiver.recv(), move || sender.send(7)));
//! assert_eq!((got, sent), (Ok(7), Ok(())));
//! # }
//! # Ok::<(), anabranch::BuildError>(())
//! ```
//! On other systems the pool knows only of waits with a [`Cx`](crate::Cx), so this program would hang. See
//! [`hazards`](super::hazards).
//!
//! # Threads
//! A call from outside a pool runs on the calling thread, which becomes a *guest* of the pool until the call returns.
//! So the call sees the caller's thread-locals, and [`Builder::stack_size`](crate::Builder::stack_size) does not apply
//! to it. In a pool of T threads at most T threads work at a time, guests included.
