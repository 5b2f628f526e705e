//! Sockets: servers and clients on fibers, synchronous libraries, deadlines, and graceful shutdown.
//!
//! The chapter [`servers`](super::servers) is about what servers need besides: results of connections, supervision, and
//! more on shutdown.
//!
//! The sockets need the feature `net`, and signals the feature `signal`:
//! ```toml
//! anabranch = { version = "0.1", features = ["net", "signal"] }
//! ```
//!
//! # A server
//! One fiber accepts, and each connection has a fiber of its own. The code reads from top to bottom, as on threads.
//! ```
//! use anabranch::{Cx, net::{TcpListener, TcpStream, is_cancelled}};
//! use std::{io, time::Duration};
//!
//! fn echo(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
//!     let mut buffer = [0; 1024];
//!     loop {
//!         match stream.read(cx, &mut buffer)? {
//!             0 => return Ok(()),
//!             count => stream.write_all(cx, &buffer[..count])?,
//!         }
//!     }
//! }
//!
//! fn serve(cx: &Cx<'_>, listener: &TcpListener) -> io::Result<()> {
//!     cx.scope(|s| {
//!         loop {
//!             match listener.accept(cx) {
//!                 Ok((stream, _)) => drop(s.spawn(move |cx| echo(cx, &stream))),
//!                 Err(error) if is_cancelled(&error) => return Ok(()),
//!                 // The process has no descriptor left, perhaps: it waits until others are closed.
//!                 Err(_) => cx.sleep(Duration::from_millis(20))?,
//!             }
//!         }
//!     })
//! }
//!
//! anabranch::run(|cx| -> io::Result<()> {
//!     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
//!     let address = listener.local_addr()?;
//!     cx.scope(|s| {
//!         s.spawn(move |cx| serve(cx, &listener));
//!         let client = TcpStream::connect(cx, address)?;
//!         client.write_all(cx, b"hello")?;
//!         let mut answer = [0; 5];
//!         client.read_exact(cx, &mut answer)?;
//!         assert_eq!(&answer, b"hello");
//!         s.cancel();
//!         Ok(())
//!     })
//! }).unwrap();
//! ```
//! Handlers may compute. A handler that computes for more than about a millisecond should do so in
//! [`Cx::blocking`](crate::Cx::blocking). Otherwise it delays the other fibers of its thread: see
//! [`compute_and_serve`](crate::guide::compute_and_serve).
//!
//! # Synchronous libraries
//! A library that is generic over [`Read`](std::io::Read) and [`Write`](std::io::Write) works on a fiber unchanged:
//! give it `stream.with(cx)`. That holds for rustls (`Stream`), tungstenite (`accept`, `client`), database protocols,
//! compression and CSV.
//! ```
//! use anabranch::net::UnixStream;
//! use std::io::{BufRead, BufReader, Write};
//!
//! anabranch::run(|cx| {
//!     let (left, right) = UnixStream::pair().unwrap();
//!     cx.scope(|s| {
//!         s.spawn(move |cx| write!(left.with(cx), "one\ntwo\n"));
//!         let lines: Result<Vec<_>, _> = BufReader::new(right.with(cx)).lines().collect();
//!         assert_eq!(lines.unwrap(), ["one", "two"]);
//!     });
//! });
//! ```
//! A library that keeps the stream stays in the scope of its `cx`.
//! [`With::set_deadline`](crate::net::With::set_deadline) then limits a part of the conversation: the handshake, one
//! request, the time between two requests. The folder `examples/servers` of the repository has complete servers: HTTPS
//! with rustls, and WebSockets with tungstenite.
//!
//! Do not hold a lock of such a library, or a value in a scoped thread-local, across a wait:
//! [`hazards`](crate::guide::hazards) explains why.
//!
//! # Deadlines
//! [`Cx::timeout`](crate::Cx::timeout) limits everything inside it, including the waits of a library:
//! ```
//! use anabranch::net::TcpListener;
//! use std::{io, time::Duration};
//!
//! anabranch::run(|cx| -> io::Result<()> {
//!     let listener = TcpListener::bind(cx, "127.0.0.1:0")?;
//!     let late = cx.timeout(Duration::from_millis(1), |cx| listener.accept(cx));
//!     assert_eq!(late.unwrap_err().kind(), io::ErrorKind::TimedOut);
//!     Ok(())
//! }).unwrap();
//! ```
//! The worker keeps the timers, so a deadline costs no thread and no system call. A wait that was cancelled has
//! transferred nothing. A sequence such as `read_exact` or `write_all` may have transferred a part, so after its
//! deadline most protocols can only close the connection.
//!
//! # Limits, and graceful shutdown
//! A server has a limit on its connections, and ends in three steps: it stops accepting, waits a while for the open
//! connections, and cancels the rest. A semaphore serves both purposes. Each connection holds a permit, so all permits
//! are free when the last connection has ended.
//! ```
//! use anabranch::{Cx, Operation, net::{TcpListener, TcpStream}, select, sync::{Event, Semaphore}};
//! use std::{io, time::Duration};
//!
//! const MOST: usize = 1_000;
//!
//! fn serve(cx: &Cx<'_>, listener: &TcpListener, stop: &Event) -> io::Result<()> {
//!     let room = Semaphore::new(MOST);
//!     cx.scope(|s| {
//!         loop {
//!             let permit = room.acquire(cx)?;
//!             let accepted = select!(biased cx, {
//!                 () = stop.waiting() => None,
//!                 accepted = listener.accepting() => Some(accepted),
//!             });
//!             match accepted? {
//!                 Some(Ok((stream, _))) => drop(s.spawn(move |cx| {
//!                     let _permit = permit;
//!                     stream.write_all(cx, b"hello")
//!                 })),
//!                 Some(Err(_)) => cx.sleep(Duration::from_millis(20))?,
//!                 None => break,
//!             }
//!         }
//!         let _ = room.acquiring(MOST).timeout(cx, Duration::from_secs(5));
//!         s.cancel();
//!         Ok(())
//!     })
//! }
//!
//! anabranch::run(|cx| {
//!     let (listener, stop) = (TcpListener::bind(cx, "127.0.0.1:0").unwrap(), Event::new());
//!     cx.scope(|s| {
//!         s.spawn(|cx| serve(cx, &listener, &stop).unwrap());
//!         let client = TcpStream::connect(cx, listener.local_addr().unwrap()).unwrap();
//!         let mut text = String::new();
//!         client.read_to_string(cx, &mut text).unwrap();
//!         assert_eq!(text, "hello");
//!         stop.set();
//!     });
//! });
//! ```
//! `signal::ctrl_c` and `signal::terminate` tell the server when to stop. The example `http` is such a server. So are
//! the servers in the folder `examples/servers`, among them a reverse proxy with a deadline for each request.
//!
//! # Where the events come from
//! Each worker waits for the sockets of its own fibers, and no extra thread does. See the module
//! [`net`](crate::net) for what happens when sockets move between workers and pools.
