//! Code that must not compile, because it would let a fiber wait where it must not, or let another thread wait in its
//! place. Each case has a twin next to it that does compile, so that it fails for the right reason. With a nightly
//! compiler the codes are checked too.
//!
//! # A `Cx` stays on its owner
//! ```
//! anabranch::run(|cx| std::thread::scope(|s| _ = s.spawn(|| _ = 1)));
//! anabranch::run(|cx| anabranch::join(|| (), || ()));
//! use anabranch::prelude::*;
//! anabranch::run(|cx| (0..3).into_par_iter().for_each(|_| ()));
//! anabranch::run(|cx| anabranch::scope(|s| s.spawn(|| ())));
//! anabranch::run(|cx| _ = cx.join(|_| cx.yield_now(), |cx| cx.yield_now()));
//! anabranch::run(|cx| cx.scope(|s| _ = s.spawn(|cx| cx.yield_now())));
//! anabranch::run(|cx| _ = anabranch::spawn(|cx| cx.yield_now()));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| std::thread::scope(|s| _ = s.spawn(|| cx.yield_now())));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| anabranch::join(|| cx.yield_now(), || ()));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| anabranch::join(|| (), || cx.yield_now()));
//! ```
//! ```compile_fail,E0277
//! use anabranch::prelude::*;
//! anabranch::run(|cx| (0..3).into_par_iter().for_each(|_| cx.yield_now()));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| anabranch::scope(|s| s.spawn(|| cx.yield_now())));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| _ = cx.join(|_| (), |_| cx.yield_now()));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| cx.scope(|s| _ = s.spawn(|_| cx.yield_now())));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| _ = anabranch::spawn(move |_| cx.yield_now()));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| _ = std::thread::spawn(move || cx.yield_now()));
//! ```
//! ```compile_fail,E0277
//! let pool = anabranch::Pool::builder().build().unwrap();
//! anabranch::run(|cx| pool.broadcast(|_| cx.yield_now()));
//! ```
//! What is not `Send` does not cross either:
//! ```compile_fail,E0277
//! anabranch::run(|cx| _ = cx.join(|_| (), |_| std::rc::Rc::new(1)));
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| cx.scope(|s| _ = s.spawn(|_| std::rc::Rc::new(1))));
//! ```
//!
//! # A `Cx` is not kept
//! ```
//! let mut kept = None;
//! anabranch::run(|cx| kept = Some(cx.check()));
//! let kept = anabranch::run(|cx| cx.check());
//! anabranch::run(|cx| drop(Box::new(cx.check()) as Box<dyn std::any::Any>));
//! std::thread_local!(static KEPT: std::cell::Cell<Option<bool>> = const { std::cell::Cell::new(None) });
//! anabranch::run(|cx| KEPT.set(Some(cx.is_cancelled())));
//! ```
//! ```compile_fail,E0521
//! let mut kept = None;
//! anabranch::run(|cx| kept = Some(cx));
//! ```
//! ```compile_fail
//! let kept = anabranch::run(|cx| cx);
//! ```
//! ```compile_fail
//! anabranch::run(|cx| drop(Box::new(cx) as Box<dyn std::any::Any>));
//! ```
//! ```compile_fail,E0521
//! std::thread_local!(static KEPT: std::cell::Cell<Option<&'static anabranch::Cx<'static>>> = const {
//!     std::cell::Cell::new(None)
//! });
//! anabranch::run(|cx| KEPT.set(Some(cx)));
//! ```
//! ```compile_fail,E0277
//! static KEPT: std::sync::Mutex<Option<&'static anabranch::Cx<'static>>> = std::sync::Mutex::new(None);
//! ```
//! ```compile_fail
//! struct Kept(&'static anabranch::Cx<'static>);
//! anabranch::run(|cx| drop(Kept(cx)));
//! ```
//!
//! # An initialiser has none
//! Otherwise two fibers of a thread could be inside of one thread-local's initialisation at a time.
//! ```
//! anabranch::run(|cx| {
//!     cx.yield_now();
//!     std::thread_local!(static VALUE: () = ());
//!     static LAZY: std::sync::LazyLock<()> = std::sync::LazyLock::new(|| ());
//! });
//! ```
//! ```compile_fail,E0435
//! anabranch::run(|cx| {
//!     std::thread_local!(static VALUE: () = cx.yield_now());
//! });
//! ```
//! ```compile_fail,E0435
//! anabranch::run(|cx| {
//!     static LAZY: std::sync::LazyLock<()> = std::sync::LazyLock::new(|| cx.yield_now());
//! });
//! ```
//! ```compile_fail,E0593
//! anabranch::run(|cx| {
//!     static LOCAL: anabranch::fiber::FiberLocal<()> = anabranch::fiber::FiberLocal::new(|cx| cx.yield_now());
//! });
//! ```
//!
//! # What operations and racers are made of is used by this crate alone
//! An operation attempts through `&self`, and relies on no other code doing so meanwhile. Bounds of a public trait
//! bring its methods with them wherever they can be named.
//! ```
//! fn take<O: anabranch::channel::Operation>(operation: O) { drop(operation); }
//! fn race<R: Send>(cx: &anabranch::Cx<'_>, racers: impl anabranch::fiber::Racers<R>) -> R { cx.race(racers) }
//! ```
//! ```compile_fail,E0624
//! fn take<O: anabranch::channel::Operation>(operation: O) { operation.attempt(); }
//! ```
//! ```compile_fail,E0624
//! fn take<O: anabranch::channel::Operation>(operation: O) { operation.withdraw(); }
//! ```
//! ```compile_fail,E0624
//! fn take<R: anabranch::channel::Receive>(mut receiver: R) { _ = receiver.receive(); }
//! ```
//! ```compile_fail,E0308
//! fn race<R: Send>(cx: &anabranch::Cx<'_>, racers: impl anabranch::fiber::Racers<R>) {
//!     let finish = std::sync::Mutex::new(None);
//!     cx.scope(|s| racers.start(s.spawner(), &finish));
//! }
//! ```
//!
//! # Scopes keep their own
//! ```
//! let text = String::from("text");
//! anabranch::run(|cx| {
//!     let length = cx.scope(|s| s.spawn(|_| text.len()).join(s));
//!     cx.scope(|s| {
//!         let spawner = s.spawner();
//!         s.spawn(move |_| _ = spawner.spawn(|_| ()));
//!     });
//! });
//! ```
//! ```compile_fail,E0277
//! anabranch::run(|cx| {
//!     cx.scope(|s| _ = s.spawn(move |_| _ = s.spawn(|_| ())));
//! });
//! ```
//! ```compile_fail
//! let text = String::from("text");
//! anabranch::run(|cx| {
//!     let handle = cx.scope(|s| s.spawn(|_| text.len()));
//! });
//! ```
//! ```compile_fail
//! anabranch::run(|cx| {
//!     let spawner = cx.scope(|s| s.spawner());
//! });
//! ```
//! ```compile_fail,E0521
//! anabranch::run(|cx| {
//!     let mut kept = None;
//!     cx.scope(|s| kept = Some(s.spawn(|_| ())));
//! });
//! ```
//! ```compile_fail,E0373
//! anabranch::run(|cx| {
//!     cx.scope(|s| {
//!         let text = String::from("text");
//!         s.spawn(|_| text.len());
//!     });
//! });
//! ```
//! ```compile_fail,E0597
//! let text = String::from("text");
//! let reference = &text;
//! anabranch::spawn(move |_| reference.len());
//! ```
//!
//! # What is a fiber's own ends with it
//! ```
//! static NUMBER: anabranch::fiber::FiberLocal<u32> = anabranch::fiber::FiberLocal::new(|| 7);
//! let number = anabranch::run(|cx| *NUMBER.get(cx));
//! ```
//! ```compile_fail
//! static NUMBER: anabranch::fiber::FiberLocal<u32> = anabranch::fiber::FiberLocal::new(|| 7);
//! let number = anabranch::run(|cx| NUMBER.get(cx));
//! ```
//! ```compile_fail
//! static NUMBER: anabranch::fiber::FiberLocal<u32> = anabranch::fiber::FiberLocal::new(|| 7);
//! anabranch::run(|cx| cx.join(|cx| NUMBER.get(cx), |_| ()));
//! ```
//!
//! # A selection has something to choose
//! A default alone is enough, and nothing is warned of.
//! ```
//! #![deny(warnings)]
//! let chosen = anabranch::run(|cx| anabranch::select!(cx, { default => 1 }));
//! assert_eq!(chosen, Ok(1));
//! let chosen = anabranch::run(|cx| cx.block_on(async { anabranch::select!(biased async, { default => 2 }) }));
//! assert_eq!(chosen, Ok(2));
//! ```
//! ```compile_fail
//! _ = anabranch::run(|cx| anabranch::select!(cx, {}));
//! ```
//! ```compile_fail
//! _ = anabranch::run(|cx| anabranch::select!(biased cx, {}));
//! ```
//! ```compile_fail
//! _ = anabranch::run(|cx| cx.block_on(async { anabranch::select!(async, {}) }));
//! ```
//!
//! # An arm is in a selection once
//! It has one entry to wait with, also for code that calls what the macro calls. (A pair of arms by value, in async
//! code.)
//! ```
//! use anabranch::channel::{__select::{arm, choose, choose_async}, unbounded};
//! let (_sender, receiver) = unbounded::<u8>();
//! let (mut one, mut other) = (arm(receiver.receiving()), arm(receiver.receiving()));
//! assert!(anabranch::run(|cx| choose(cx, [&mut one, &mut other], false, true, false)).is_ok());
//! drop(choose_async((((), one), other), false, true, false));
//! ```
//! ```compile_fail,E0499
//! use anabranch::channel::{__select::{arm, choose}, unbounded};
//! let (_sender, receiver) = unbounded::<u8>();
//! let mut one = arm(receiver.receiving());
//! assert!(anabranch::run(|cx| choose(cx, [&mut one, &mut one], false, true, false)).is_ok());
//! ```
//! ```compile_fail,E0382
//! use anabranch::channel::{__select::{arm, choose_async}, unbounded};
//! let (_sender, receiver) = unbounded::<u8>();
//! let one = arm(receiver.receiving());
//! drop(choose_async((((), one), one), false, true, false));
//! ```
//! Nor is one lent twice, since nothing is an arm but what `arm` has made:
//! ```compile_fail,E0277
//! use anabranch::channel::{__select::{arm, choose_async}, unbounded};
//! let (_sender, receiver) = unbounded::<u8>();
//! let one = arm(receiver.receiving());
//! drop(choose_async((((), &one), &one), false, true, false));
//! ```
//!
//! # A conversation keeps its order
//! ```
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, server) = ask::pipe();
//! let client = client.ask(1).unwrap();
//! let Ok(ask::server::AskMessage::Ask(_, server)) = server.try_recv() else { panic!() };
//! let done: ask::Done = server.end().unwrap();
//! # drop(client);
//! ```
//! No side sends out of turn:
//! ```compile_fail,E0599
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, server) = ask::pipe();
//! let client = client.ask(1).unwrap().ask(2);
//! ```
//! ```compile_fail,E0599
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, server) = ask::pipe();
//! let done = server.end();
//! ```
//! Nobody goes back:
//! ```compile_fail,E0382
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, server) = ask::pipe();
//! let answer = client.ask(1);
//! let again = client.ask(2);
//! ```
//! No answer is left out:
//! ```compile_fail,E0004
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, server) = ask::pipe();
//! match client.ask(1).unwrap().try_recv().unwrap() {
//!     ask::client::AnswerMessage::Answer(_, _) => {}
//! }
//! ```
//! No arm of a service forgets its answer:
//! ```compile_fail,E0308
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, service) = proto::spawn_service(ask::pipe, |cx, server| {
//!     match server.recv(cx)? {
//!         ask::server::AskMessage::Ask(..) => {}
//!     }
//! });
//! ```
//! No service returns before the end:
//! ```compile_fail,E0308
//! # use anabranch::proto;
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! proto! { other { Only: send { only -> ! } } }
//! fn serve(server: other::client::Only) -> Result<ask::Done, anabranch::channel::Closed> {
//!     server.only()
//! }
//! ```
//! Safe code cannot make an endpoint, or an end, from a message or from another end:
//! ```compile_fail,E0200
//! # use anabranch::{proto, proto::{ReceiveEndpoint, __private}};
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! struct Own(__private::At<__private::Ring<u8, 2>, Own>);
//! impl proto::Endpoint for Own {
//!     fn conversation(&self) -> u64 { 0 }
//! }
//! impl ReceiveEndpoint for Own {
//!     type Received = ();
//!     type Link = __private::Ring<u8, 2>;
//!     const NAME: &'static &'static str = &"Own";
//!     fn end(&self) -> &__private::At<Self::Link, Self> { &self.0 }
//!     fn end_mut(&mut self) -> &mut __private::At<Self::Link, Self> { &mut self.0 }
//!     unsafe fn received(_: __private::At<Self::Link, Self>, _: u8) {}
//! }
//! ```
//! ```compile_fail,E0133
//! # use anabranch::{proto, proto::{ReceiveEndpoint, __private}};
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! fn forge(end: __private::At<<ask::client::Answer as ReceiveEndpoint>::Link, ask::client::Answer>) {
//!     ask::client::Answer::received(end, ask::AnyMessage::Answer_answer(1));
//! }
//! ```
//! ```compile_fail,E0133
//! # use anabranch::{proto, proto::{ReceiveEndpoint, __private}};
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! type At<E> = __private::At<__private::Ring<u8, 2>, E>;
//! fn forge(end: At<ask::client::Answer>) -> At<ask::client::Ask> {
//!     end.next()
//! }
//! ```
//! ```compile_fail,E0133
//! # use anabranch::{proto, proto::{ReceiveEndpoint, __private}};
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! fn forge(end: __private::At<__private::Ring<u8, 2>, ask::client::Answer>) -> ask::Done {
//!     end.finish()
//! }
//! ```
//! ```compile_fail,E0133
//! # use anabranch::{proto, proto::{ReceiveEndpoint, __private}};
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! fn forge(end: __private::At<__private::Ring<u8, 2>, ask::client::Answer>) {
//!     _ = __private::send::<_, _, ask::client::Answer>(end, 1);
//! }
//! ```
//! ```compile_fail,E0133
//! # use anabranch::{proto, proto::{ReceiveEndpoint, __private}};
//! proto! { ask { Ask: send { ask(u8) -> Answer } Answer: recv { answer(u8) -> Ask, end -> ! } } }
//! let (client, server) = __private::ring::<u8, 2, ask::client::Ask, ask::server::Ask>();
//! ```
//! Nor by code that stands in the protocol itself and sees its fields:
//! ```compile_fail,E0308
//! # use anabranch::proto;
//! proto! { ask {
//!     Ask: send {
//!         ask([u8; { impl client::Answer { fn forge(self) -> client::Ask { client::Ask(self.0) } } 1 }]) -> Answer
//!     }
//!     Answer: recv { answer(u8) -> Ask, end -> ! }
//! } }
//! ```
//! What cannot end is warned of:
//! ```
//! #![deny(deprecated)]
//! # use anabranch::proto;
//! proto! { #[allow(endless)] ping { Ping: send { ping -> Pong } Pong: recv { pong -> Ping } } }
//! ```
//! ```compile_fail
//! #![deny(deprecated)]
//! # use anabranch::proto;
//! proto! { ping { Ping: send { ping -> Pong } Pong: recv { pong -> Ping } } }
//! ```
