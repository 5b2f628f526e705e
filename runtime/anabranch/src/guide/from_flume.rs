//! Coming from flume: channels between threads and async code.
//!
//! | flume | anabranch | |
//! |---|---|---|
//! | `unbounded()`, `bounded(n)`, `bounded(0)` | [`unbounded()`](crate::channel::unbounded), [`bounded(n)`](crate::channel::bounded), [`rendezvous()`](crate::channel::rendezvous) | |
//! | `send(v)`, `recv()` | `send_blocking(v)`, `recv_blocking()`; on a fiber `send(cx, v)`, `recv(cx)` | |
//! | `send_timeout(v, duration)`, `recv_timeout(duration)` | `sending(v).blocking_timeout(duration)`, `receiving().blocking_timeout(duration)` | on a fiber `.timeout(cx, duration)` |
//! | `send_deadline(v, instant)`, `recv_deadline(instant)` | `sending(v).blocking_deadline(instant)`, `receiving().blocking_deadline(instant)` | on a fiber `.deadline(cx, instant)` |
//! | `try_send(v)`, `try_recv()` | the same | |
//! | `send_async(v).await`, `recv_async().await` | `sending(v).await`, `receiving().await` | the futures borrow the sender or receiver |
//! | `stream()`, `into_stream()` | the same, with the feature `futures` | |
//! | `sink()`, `into_sink()` | `into_sink()`, with the feature `futures` | |
//! | `iter()`, `into_iter()` | `iter_blocking()`, `into_iter()` | |
//! | `drain()`, `try_iter()` | `drain()` | removes one value after the other |
//! | `len()`, `is_empty()`, `is_full()`, `capacity()` | the same | |
//! | `is_disconnected()` | `is_closed()` | |
//! | `sender_count()`, `receiver_count()` | the same | |
//! | `downgrade()`, `upgrade()` | the same | |
//! | `same_channel(&other)` | the same | |
//! | `Selector` | [`select!`](crate::select), [`Select`](crate::channel::Select) | |
//!
//! An example of each row, in this order. (`Receiver::into_stream`, with the feature `futures`, has its own example.)
//! ```
//! use anabranch::{Operation, channel, select};
//! use std::time::{Duration, Instant};
//!
//! let (sender, receiver) = channel::unbounded();
//! let ((full, _keep), (meeting, _met)) = (channel::bounded(1), channel::rendezvous::<u8>());
//! sender.send_blocking(1).unwrap();
//! assert_eq!(receiver.recv_blocking(), Ok(1));
//! assert_eq!(full.sending(1).blocking_timeout(Duration::ZERO), Ok(Ok(())));
//! assert!(full.sending(2).blocking_deadline(Instant::now()).is_err());
//! assert!(receiver.receiving().blocking_timeout(Duration::ZERO).is_err());
//! assert!(receiver.receiving().blocking_deadline(Instant::now()).is_err());
//! assert!(full.try_send(2).is_err() && meeting.try_send(2).is_err() && receiver.try_recv().is_err());
//! let echo = anabranch::spawn_async({
//!     let (sender, receiver) = (sender.clone(), receiver.clone());
//!     async move {
//!         sender.sending(3).await.unwrap();
//!         receiver.receiving().await
//!     }
//! });
//! assert_eq!(anabranch::run(|cx| echo.join(cx)).unwrap(), Ok(3));
//! (0..4).for_each(|n| sender.send_blocking(n).unwrap());
//! assert!(receiver.iter_blocking().take(1).eq([0]) && receiver.drain().take(1).eq([1]));
//! assert_eq!((receiver.len(), receiver.is_empty(), receiver.capacity(), full.is_full()), (2, false, None, true));
//! assert!(!receiver.is_closed());
//! assert_eq!((sender.sender_count(), sender.receiver_count()), (1, 1));
//! let weak = sender.downgrade();
//! assert!(weak.upgrade().is_some_and(|other| other.same_channel(&sender)));
//! let got = select!(blocking, {
//!     got = receiver.receiving() => got.ok(),
//!     _ = channel::after(Duration::from_secs(60)) => None,
//! });
//! assert_eq!(got, Some(2));
//! drop(sender);
//! assert!(receiver.into_iter().eq([3]));
//! ```
