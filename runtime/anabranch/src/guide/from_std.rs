//! Coming from `std::sync::mpsc`: channels between threads. They need no pool and no `cx`.
//!
//! | std | anabranch | |
//! |---|---|---|
//! | `mpsc::channel()` | [`channel::unbounded()`](crate::channel::unbounded) | receivers can be cloned |
//! | `mpsc::sync_channel(n)` | [`channel::bounded(n)`](crate::channel::bounded) | `n` is at least 1 |
//! | `mpsc::sync_channel(0)` | [`channel::rendezvous()`](crate::channel::rendezvous) | |
//! | a channel with one sender | [`channel::spsc`](crate::channel::spsc) | faster |
//! | `sender.send(v)` | `sender.send_blocking(v)` | the error has the value, as in std |
//! | `sender.try_send(v)` | the same | |
//! | `receiver.recv()` | `receiver.recv_blocking()` | |
//! | `receiver.try_recv()` | the same | `Disconnected` is `Closed` |
//! | `receiver.recv_timeout(duration)` | `receiver.receiving().blocking_timeout(duration)` | |
//! | | `sender.sending(v).blocking_timeout(duration)` | the operation keeps the value |
//! | `receiver.iter()`, `&receiver` in a loop | `receiver.iter_blocking()`, `&receiver` | |
//! | `receiver.into_iter()` | the same | |
//! | `receiver.try_iter()` | `receiver.drain()` | |
//! | `sync::Mutex`, `Condvar`, `Barrier`, .. | [`sync`](crate::sync) | `lock(cx)`; without a `cx` `locking().blocking()`; between threads, those of std remain a good choice |
//! | `thread::scope` | [`Cx::scope`](crate::Cx::scope) | fibers instead of threads |
//!
//! An example of each row on channels, in this order:
//! ```
//! use anabranch::{Operation, TimedOut, channel::{self, Closed, TryRecvError, spsc}};
//! use std::{thread, time::Duration};
//!
//! let (sender, receiver) = channel::unbounded();
//! let (full, _keep) = channel::bounded(1);
//! let (meeting, met) = channel::rendezvous();
//! let (mut fast, stream) = spsc::unbounded();
//! sender.send_blocking(1).unwrap();
//! full.send_blocking(1).unwrap();
//! fast.send_blocking(1).unwrap();
//! assert!(full.try_send(2).unwrap_err().is_full());
//! thread::spawn(move || meeting.send_blocking(3).unwrap());
//! assert_eq!((met.recv_blocking(), met.recv_blocking()), (Ok(3), Err(Closed)));
//! assert_eq!((receiver.try_recv(), receiver.try_recv()), (Ok(1), Err(TryRecvError::Empty)));
//! let short = Duration::from_millis(1);
//! assert_eq!(receiver.receiving().blocking_timeout(short), Err(TimedOut));
//! let mut send = full.sending(4);
//! assert_eq!((send.blocking_timeout(short), send.into_inner()), (Err(TimedOut), Some(4)));
//! (0..6).for_each(|n| sender.send_blocking(n).unwrap());
//! assert!(receiver.iter_blocking().take(2).eq([0, 1]));
//! for n in &receiver {
//!     assert_eq!(n, 2);
//!     break;
//! }
//! assert!(receiver.drain().take(2).eq([3, 4]));
//! drop((sender, fast));
//! assert!(receiver.into_iter().eq([5]) && stream.into_iter().eq([1]));
//! ```
//! The same channel may have a fiber or an async task at its other end, which uses `recv(cx)` or `receiving().await`.
//! See [plain threads](crate::channel#plain-threads) for what these operations do on a thread of a pool.
