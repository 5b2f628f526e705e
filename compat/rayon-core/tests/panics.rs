//! Panics: which one reaches whom, and what ends the process. The programs that abort are this program again.

use rayon_core::{ThreadPool, ThreadPoolBuilder, join, join_context, scope, spawn};
use std::{
    any::Any,
    env,
    panic::{AssertUnwindSafe, catch_unwind},
    process::{Command, Output},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Receiver},
    },
};

type Panic = Box<dyn Any + Send>;

fn text(panic: &Panic) -> &str {
    panic.downcast_ref::<&str>().expect("the panics here are texts")
}

fn caught<R>(program: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(program)) {
        Ok(_) => panic!("nothing panicked"),
        Err(panic) => text(&panic).to_owned(),
    }
}

/// A pool with a panic handler, and what the handler gets.
fn with_handler(threads: usize) -> (ThreadPool, Receiver<Panic>) {
    let (sender, receiver) = mpsc::channel();
    let pool = ThreadPoolBuilder::new().num_threads(threads).panic_handler(move |panic| sender.send(panic).unwrap());
    (pool.build().unwrap(), receiver)
}

#[test]
fn the_second_half_runs_although_the_first_panics() {
    let has_run = AtomicBool::new(false);
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let message = caught(|| pool.join(|| panic!("first"), || has_run.store(true, Ordering::Relaxed)));
    assert_eq!((message.as_str(), has_run.into_inner()), ("first", true));
}

#[test]
fn the_panic_of_the_first_half_propagates_also_if_the_second_is_stolen_and_panics_before() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let is_stolen = Barrier::new(2);
    let message = caught(|| {
        pool.join(
            || {
                is_stolen.wait();
                panic!("first")
            },
            || {
                is_stolen.wait();
                panic!("second")
            },
        )
    });
    assert_eq!(message, "first");
    let message = caught(|| pool.install(|| join_context(|_| panic!("first"), |_| panic!("second"))));
    assert_eq!(message, "first");
}

#[test]
fn the_panic_of_a_second_half_propagates_and_the_result_of_the_first_is_dropped() {
    let result = Arc::new(());
    let first = result.clone();
    assert_eq!(caught(|| join(move || first, || panic!("second"))), "second");
    assert_eq!(Arc::strong_count(&result), 1);
}

#[test]
fn the_handler_of_the_pool_gets_the_panics_of_spawned_jobs() {
    let (pool, panics) = with_handler(2);
    let (other, other_panics) = with_handler(1);
    pool.spawn(|| panic!("spawn"));
    assert_eq!(text(&panics.recv().unwrap()), "spawn");
    // By the functions that use the current pool, also from a job, and after the pool is dropped.
    pool.install(|| rayon_core::spawn_fifo(|| panic!("fifo")));
    assert_eq!(text(&panics.recv().unwrap()), "fifo");
    pool.spawn_broadcast(|context| {
        if context.index() == 1 {
            panic!("broadcast")
        }
    });
    assert_eq!(text(&panics.recv().unwrap()), "broadcast");
    other.spawn(|| spawn(|| panic!("nested")));
    pool.spawn_fifo(|| panic!("fifo of the pool"));
    assert_eq!(text(&panics.recv().unwrap()), "fifo of the pool");
    pool.install(|| {
        rayon_core::spawn_broadcast(|context| {
            if context.index() == 0 {
                panic!("broadcast inside")
            }
        })
    });
    assert_eq!(text(&panics.recv().unwrap()), "broadcast inside");
    drop(other);
    assert_eq!(text(&other_panics.recv().unwrap()), "nested");
    assert!(panics.try_recv().is_err());
}

#[test]
fn the_panic_of_the_body_of_a_scope_propagates_before_those_of_jobs() {
    let (pool, panics) = with_handler(1);
    let message = caught(|| {
        pool.scope(|s| {
            s.spawn(|_| panic!("job"));
            panic!("body")
        })
    });
    assert_eq!(message, "body");
    let message = caught(|| {
        pool.in_place_scope_fifo(|s| {
            s.spawn_fifo(|_| panic!("first"));
            s.spawn_fifo(|_| panic!("second"));
        })
    });
    assert_eq!(message, "first");
    drop(pool);
    assert!(panics.iter().next().is_none());
}

#[test]
fn the_handler_gets_no_panic_that_has_a_caller() {
    let (pool, panics) = with_handler(2);
    caught(|| pool.join(|| panic!("first"), || panic!("second")));
    caught(|| {
        pool.scope(|s| {
            s.spawn(|_| panic!("first"));
            s.spawn(|_| panic!("second"));
            panic!("body");
        })
    });
    caught(|| pool.broadcast(|_| panic!("each")));
    drop(pool);
    assert!(panics.iter().next().is_none());
}

#[test]
fn every_job_of_a_scope_runs_although_one_panics() {
    let count = AtomicUsize::new(0);
    let message = caught(|| {
        scope(|s| {
            for i in 0..10 {
                let count = &count;
                s.spawn(move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                    if i == 3 {
                        panic!("job");
                    }
                });
            }
        })
    });
    assert_eq!((message.as_str(), count.into_inner()), ("job", 10));
}

#[test]
fn handlers_of_threads_may_panic() {
    let (sender, panics) = mpsc::channel();
    let sender = Mutex::new(sender);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|_| panic!("start"))
        .exit_handler(|_| panic!("exit"))
        .panic_handler(move |panic| sender.lock().unwrap().send(panic).unwrap())
        .build()
        .unwrap();
    assert_eq!(pool.install(|| 1), 1);
    drop(pool);
    let mut messages: Vec<_> = panics.iter().map(|panic| text(&panic).to_owned()).collect();
    messages.sort();
    // There may be a spare thread.
    assert!(messages.len() >= 4 && messages.len() % 2 == 0, "{messages:?}");
    let (exits, starts) = messages.split_at(messages.len() / 2);
    assert!(exits.iter().all(|message| message == "exit") && starts.iter().all(|message| message == "start"));
}

/// Runs one of the tests below in a process of its own, where it does the thing itself.
fn run_alone(name: &str) -> Output {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "--nocapture", name])
        .env("ALONE", name)
        .output()
        .unwrap()
}

fn aborts(name: &str, program: impl FnOnce()) {
    if env::var("ALONE").as_deref() == Ok(name) {
        program();
        // The program ends in another thread.
        std::thread::park();
    }
    let output = run_alone(name);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success(), "{name} has ended");
    assert!(error.contains("Rayon: detected unexpected panic; aborting"), "{error}");
}

#[test]
fn a_spawned_panic_without_a_handler_aborts() {
    aborts("a_spawned_panic_without_a_handler_aborts", || spawn(|| panic!("lost")));
}

#[test]
fn a_start_handler_that_panics_without_a_handler_aborts() {
    aborts("a_start_handler_that_panics_without_a_handler_aborts", || {
        drop(ThreadPoolBuilder::new().num_threads(1).start_handler(|_| panic!("lost")).build());
    });
}

#[test]
fn a_panic_handler_that_panics_aborts() {
    aborts("a_panic_handler_that_panics_aborts", || {
        let pool = ThreadPoolBuilder::new().num_threads(1).panic_handler(|_| panic!("again")).build().unwrap();
        pool.spawn(|| panic!("lost"));
    });
}

#[test]
fn the_handler_of_the_global_pool_gets_the_panics_of_its_jobs() {
    let name = "the_handler_of_the_global_pool_gets_the_panics_of_its_jobs";
    if env::var("ALONE").as_deref() == Ok(name) {
        let (sender, panics) = mpsc::channel();
        let builder = ThreadPoolBuilder::new().num_threads(2).panic_handler(move |panic| sender.send(panic).unwrap());
        builder.build_global().unwrap();
        spawn(|| panic!("outside"));
        assert_eq!(text(&panics.recv().unwrap()), "outside");
        rayon_core::spawn_fifo(|| panic!("fifo"));
        assert_eq!(text(&panics.recv().unwrap()), "fifo");
        scope(|_| spawn(|| panic!("inside")));
        assert_eq!(text(&panics.recv().unwrap()), "inside");
        return;
    }
    let output = run_alone(name);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
