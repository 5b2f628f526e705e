//! Both runtimes in one program: tokio's futures on fibers, and fibers awaited by tokio's tasks.
//!
//! | wanted | |
//! |---|---|
//! | wait for a future of tokio on a fiber | `cx.block_on(inside(&handle, future))`, with `inside` from below |
//! | run a future of tokio on the pool | `spawn_async(inside(&handle, future))` |
//! | await a fiber in a task | a [`JoinHandle`](crate::JoinHandle) is a future |
//! | compute in parallel in a task | `anabranch::spawn(\|_\| ..).await` |
//! | send values between tasks and fibers | channels of either crate: `receiver.receiving().await` here, [`Cx::block_on`](crate::Cx::block_on) there |
//! | cancel a fiber when its task is dropped | [`JoinHandle::cancel_handle`](crate::JoinHandle::cancel_handle) |
//!
//! The folder `examples/servers` of the repository has three programs in both forms, without a bridge: a server with
//! TLS, a reverse proxy, and a server that computes.
//!
//! # A future of tokio on a fiber
//! [`Cx::block_on`](crate::Cx::block_on) polls any future on its fiber, and suspends the fiber meanwhile. The timers
//! and sockets of tokio also look for their runtime in a thread-local, when they are created and when they are polled.
//! The guard of `Handle::enter` sets it. Do not hold that guard across a wait, or other fibers of the thread run inside
//! the runtime too. A wrapper enters the runtime at each poll. (`tokio_util::context::TokioContext` does the same.)
//! ```
//! use std::{future::{Future, poll_fn}, pin::pin};
//! use tokio::runtime::Handle;
//!
//! /// Polls a future inside of a runtime of tokio, on any thread.
//! async fn inside<F: Future>(handle: &Handle, future: F) -> F::Output {
//!     let mut future = pin!(future);
//!     poll_fn(|context| {
//!         let _entered = handle.enter();
//!         future.as_mut().poll(context)
//!     })
//!     .await
//! }
//!
//! use anabranch::{Cx, Error};
//! use std::time::Duration;
//! use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::{TcpListener, TcpStream}};
//!
//! /// Sends each of a client's bytes back.
//! fn echo(cx: &Cx<'_>, handle: &Handle, mut stream: TcpStream) -> Result<(), Error> {
//!     let mut buffer = [0; 64];
//!     loop {
//!         let read = cx.block_on(inside(handle, stream.read(&mut buffer)))??;
//!         if read == 0 {
//!             return Ok(());
//!         }
//!         cx.block_on(inside(handle, stream.write_all(&buffer[..read])))??;
//!     }
//! }
//!
//! // Its threads poll the sockets. A runtime of the kind `current_thread` does so only while it runs `block_on`.
//! let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
//! let handle = runtime.handle();
//! let reply = anabranch::run(|cx| {
//!     cx.try_scope(|s| {
//!         let listener = s.block_on(inside(handle, TcpListener::bind("127.0.0.1:0")))??;
//!         let address = listener.local_addr()?;
//!         s.spawn(move |cx| {
//!             let (stream, _) = cx.block_on(inside(handle, listener.accept()))??;
//!             echo(cx, handle, stream)
//!         });
//!         // A time limit of this crate around futures of tokio.
//!         s.timeout(Duration::from_secs(60), |cx| {
//!             let mut stream = cx.block_on(inside(handle, TcpStream::connect(address)))??;
//!             cx.block_on(inside(handle, async {
//!                 stream.write_all(b"both").await?;
//!                 let mut reply = [0; 4];
//!                 stream.read_exact(&mut reply).await?;
//!                 Ok::<_, Error>(reply)
//!             }))?
//!         })
//!     })
//! })?;
//! assert_eq!(&reply, b"both");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//! Create such a future inside the async block, as `async { tokio::time::sleep(time).await }`: the function `sleep`
//! already looks for the runtime. A cancelled wait drops the future, as tokio's `select!` does.
//!
//! # A fiber in a task
//! A task must not block its thread, so it does not call [`run`](crate::run) or a long [`join`](crate::join). It spawns
//! a fiber and awaits the handle. The fiber may compute in parallel and wait. This replaces `spawn_blocking` for
//! computations, and no more threads compute than the machine has cores. If the pool also has fibers that wait for
//! sockets or time, the fiber computes in [`Cx::blocking`](crate::Cx::blocking), so that it does not delay them.
//! ```
//! use anabranch::prelude::*;
//!
//! async fn sum_of_squares(n: u64) -> u64 {
//!     let sum = anabranch::spawn(move |_| (0..n).into_par_iter().map(|n| n * n).sum());
//!     sum.await.unwrap()
//! }
//!
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! assert_eq!(runtime.block_on(sum_of_squares(1000)), 332_833_500);
//! # Ok::<(), std::io::Error>(())
//! ```
//! A fiber continues when its handle is dropped. A guard cancels it together with the task that awaits it:
//! ```
//! use anabranch::{Cancelled, Cx, JoinError, fiber::CancelHandle};
//! use std::time::Duration;
//!
//! struct CancelOnDrop(CancelHandle);
//!
//! impl Drop for CancelOnDrop {
//!     fn drop(&mut self) {
//!         self.0.cancel();
//!     }
//! }
//!
//! async fn call<T: Send + 'static>(function: impl FnOnce(&Cx<'_>) -> T + Send + 'static) -> Result<T, JoinError> {
//!     let handle = anabranch::spawn(function);
//!     let _guard = CancelOnDrop(handle.cancel_handle());
//!     handle.await
//! }
//!
//! let (sender, ended) = std::sync::mpsc::channel();
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
//! runtime.block_on(async {
//!     let late = call(move |cx| sender.send(cx.sleep(Duration::from_secs(3600))).unwrap());
//!     assert!(tokio::time::timeout(Duration::from_millis(5), late).await.is_err());
//! });
//! assert_eq!(ended.recv()?, Err(Cancelled));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Channels between the two
//! Neither the channels of this crate nor the channels of tokio need a runtime. A fiber waits for a channel of tokio
//! with [`Cx::block_on`](crate::Cx::block_on), and a task awaits a channel of this crate with its `.._async` functions:
//! ```
//! let (questions, mut asked) = tokio::sync::mpsc::channel(4);
//! let (answers, answered) = anabranch::channel::bounded(4);
//! let fiber = anabranch::spawn(move |cx| {
//!     while let Some(n) = cx.block_on(asked.recv())? {
//!         let n: u32 = n;
//!         answers.send(cx, n * n)?;
//!     }
//!     Ok::<_, anabranch::Error>(())
//! });
//! let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! let sum = runtime.block_on(async {
//!     let mut sum = 0;
//!     for n in 1..=3 {
//!         questions.send(n).await?;
//!         sum += answered.receiving().await?;
//!     }
//!     drop(questions);
//!     fiber.await??;
//!     Ok::<_, Box<dyn std::error::Error>>(sum)
//! });
//! assert_eq!(sum?, 14);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Pitfalls
//! - A guard of `Handle::enter`, or of a span of `tracing`, that is held across a wait: other fibers of the thread run
//!   inside it. For spans there are [hooks](super::servers#spans-that-follow-their-fibers).
//! - `Handle::block_on` and `Runtime::block_on` on a fiber. They block the thread. Use
//!   [`Cx::block_on`](crate::Cx::block_on), or [`Cx::blocking`](crate::Cx::blocking) around them.
//! - [`run`](crate::run), [`join`](crate::join) and parallel loops that take long in a task. Await a fiber instead.
//! - A `LocalSet` or `spawn_local` in a future on a fiber: nothing runs its tasks there.
