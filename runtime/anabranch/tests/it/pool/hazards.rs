//! Hazards that a pool reports: fibers that block their thread. In release builds too.

#![cfg(target_os = "linux")]

use crate::common::{
    LONG,
    fibers::{Event, on_fiber, until_waiting},
    rerun, watchdog,
};
use anabranch::{Pool, channel, pool::HazardKind};
use std::{
    env,
    fs::File,
    process::Stdio,
    sync::{Mutex, mpsc},
    time::Duration,
};

#[test]
fn waiting_run_on_fiber_is_reported_once() {
    watchdog(LONG, || {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let handler = move |hazard: &anabranch::pool::Hazard| {
            let file = hazard.location().map(|at| at.file().to_owned());
            let facts = (hazard.kind(), hazard.fiber().map(str::to_owned), hazard.others(), file, hazard.to_string());
            sender.lock().unwrap().send(facts).unwrap();
        };
        let pool = Pool::builder().threads(1).on_hazard(handler).build().unwrap();
        // A `run` that does not wait, and one on a plain thread, are no hazards.
        on_fiber(&pool, |_| anabranch::run(|cx| cx.check())).unwrap();
        pool.run(|cx| cx.sleep(Duration::from_millis(1))).unwrap();
        assert!(receiver.try_recv().is_err());
        for _ in 0..3 {
            let fiber = pool.spawn_named("nested", |_| anabranch::run(|cx| cx.sleep(Duration::from_millis(1))));
            pool.run(|cx| fiber.join(cx)).unwrap().unwrap();
        }
        let (kind, fiber, others, file, text) = receiver.try_recv().unwrap();
        assert_eq!((kind, fiber.as_deref(), others), (HazardKind::RunOnFiber, Some("nested"), 0));
        assert!(
            file.unwrap().ends_with("hazards.rs") && text.contains("fiber `nested` waits inside of `run`"),
            "{text}"
        );
        assert!(receiver.try_recv().is_err(), "reported twice");
    });
}

#[test]
fn panic_of_hazard_handler_goes_to_panic_handler() {
    watchdog(LONG, || {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let pool = Pool::builder()
            .threads(1)
            .on_hazard(|_| panic!("handler"))
            .on_panic(move |panic| sender.lock().unwrap().send(*panic.downcast_ref::<&str>().unwrap()).unwrap())
            .build()
            .unwrap();
        let slept = on_fiber(&pool, |_| anabranch::run(|cx| cx.sleep(Duration::from_millis(1))));
        assert_eq!((slept, receiver.recv()), (Ok(()), Ok("handler")));
    });
}

/// Returns a pool of one thread that sends each hazard: its kind, the name of the fiber, and the number of the others.
fn reporting_pool() -> (Pool, mpsc::Receiver<(HazardKind, Option<String>, usize)>) {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let handler = move |hazard: &anabranch::pool::Hazard| {
        sender.lock().unwrap().send((hazard.kind(), hazard.fiber().map(str::to_owned), hazard.others())).unwrap();
    };
    (Pool::builder().threads(1).on_hazard(handler).build().unwrap(), receiver)
}

#[test]
fn blocking_fiber_is_reported_and_continues() {
    watchdog(LONG, || {
        let (pool, receiver) = reporting_pool();
        let event = Event::default();
        let wait = event.clone();
        let bound = pool.spawn(move |cx| wait.wait(cx));
        until_waiting(&pool, 1);
        // Blocks like a std lock that the other fiber holds, until the hazard is reported.
        let blocked = pool.spawn_named("blocked", move |_| receiver.recv().unwrap());
        let (kind, fiber, others) = pool.run(|cx| blocked.join(cx)).unwrap();
        assert_eq!((kind, fiber.as_deref(), others), (HazardKind::BlockedThread, Some("blocked"), 1));
        event.set();
        assert_eq!(pool.run(|cx| bound.join(cx)).unwrap(), Ok(()));
    });
}

#[test]
fn long_computation_is_reported_if_a_fiber_is_ready() {
    watchdog(LONG, || {
        let (pool, receiver) = reporting_pool();
        let event = Event::default();
        let wait = event.clone();
        let bound = pool.spawn(move |cx| wait.wait(cx));
        until_waiting(&pool, 1);
        let long = pool.spawn_named("long", move |_| {
            let (_sender, empty) = channel::rendezvous::<u8>();
            // Makes the other fiber ready, and computes until this is reported.
            event.set();
            loop {
                if let Ok(hazard) = receiver.try_recv() {
                    return (hazard, cpu_time());
                }
                assert!(empty.try_recv().is_err());
            }
        });
        let ((kind, fiber, others), computed) = pool.run(|cx| long.join(cx)).unwrap();
        assert_eq!((kind, fiber.as_deref(), others), (HazardKind::LongComputation, Some("long"), 1));
        // However much other programs delay the thread.
        assert!(computed >= Duration::from_millis(990), "reported after {computed:?} of CPU time");
        assert_eq!(pool.run(|cx| bound.join(cx)).unwrap(), Ok(()));
    });
}

/// Returns how long the calling thread has run.
fn cpu_time() -> Duration {
    let figures = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(figures.split(' ').next().unwrap().parse().unwrap())
}

/// Each wait on a fiber that blocks its thread is reported at its place in the program, with advice for this wait.
#[test]
fn blocking_wait_on_fiber_is_reported_where_the_program_calls_it() {
    fn report_of(wait: impl FnOnce() + Send + 'static) -> (String, String) {
        let (sender, receiver) = mpsc::channel();
        let sender = Mutex::new(sender);
        let handler = move |hazard: &anabranch::pool::Hazard| {
            let file = hazard.location().unwrap().file().to_owned();
            sender.lock().unwrap().send((file, hazard.to_string())).unwrap();
        };
        let pool = Pool::builder().threads(1).on_hazard(handler).build().unwrap();
        watchdog(LONG, || on_fiber(&pool, |_| wait()));
        receiver.recv().unwrap()
    }
    /// Sends from another thread, but only once the receiver waits for long.
    fn late<T: Send + 'static>(send: impl FnOnce(T) + Send + 'static, value: T) {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            send(value);
        });
    }
    let reports = [
        report_of(|| {
            let (sender, receiver) = channel::unbounded();
            late(move |value| sender.try_send(value).unwrap(), 1);
            receiver.iter_blocking().map(|n| n + 1).for_each(drop);
        }),
        report_of(|| {
            let (sender, receiver) = channel::unbounded();
            late(move |value| sender.try_send(value).unwrap(), 1);
            for _ in receiver {}
        }),
        report_of(|| {
            let (mut sender, mut receiver) = channel::spsc::unbounded();
            late(move |value| sender.try_send(value).unwrap(), 1);
            receiver.iter_blocking().map(|n| n + 1).for_each(drop);
        }),
        report_of(|| {
            let (sender, mut receiver) = channel::watch::channel(1);
            late(move |value| _ = sender.send(value), 2);
            receiver.iter_blocking().map(|n| *n + 1).for_each(drop);
        }),
        report_of(|| {
            let (sender, mut receiver) = channel::broadcast::channel(2);
            late(move |value| _ = sender.send(value), 2);
            receiver.iter_blocking().filter_map(Result::ok).for_each(drop);
        }),
        report_of(|| {
            let (sender, receiver) = channel::unbounded();
            late(move |value| sender.try_send(value).unwrap(), 1);
            let mut set = channel::ReceiverSet::new();
            set.insert(receiver);
            set.iter_blocking().take(1).map(|_| 1).for_each(drop);
        }),
    ];
    for (file, text) in reports {
        assert!(file.ends_with("hazards.rs"), "{file}: {text}");
        assert!(text.contains("_blocking` at ") && text.contains("Call the function without `_blocking`"), "{text}");
    }
}

#[test]
fn hazard_without_handler_is_written_to_stderr() {
    const CHILD: &str = "ANABRANCH_HAZARDS_CHILD";
    if env::var_os(CHILD).is_some() {
        let pool = Pool::builder().threads(1).build().unwrap();
        on_fiber(&pool, |_| anabranch::run(|cx| cx.sleep(Duration::from_millis(1)))).unwrap();
        return;
    }
    let child = |stderr: Stdio| {
        let name = "hazard_without_handler_is_written_to_stderr";
        let mut command = rerun(module_path!(), name);
        command.env(CHILD, "1").stdout(Stdio::null()).stderr(stderr);
        watchdog(LONG, || command.spawn().unwrap().wait_with_output().unwrap())
    };
    let output = child(Stdio::piped());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert_eq!(text.matches("anabranch: fiber `unnamed` waits inside of `run` at ").count(), 1, "{text}");
    assert!(child(File::options().write(true).open("/dev/full").unwrap().into()).status.success());
}
