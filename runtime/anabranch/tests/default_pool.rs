//! Setting up the default pool. The test has a process of its own, since a process has one default pool.

mod common;

use anabranch::{
    Pool,
    pool::{BuildError, current_num_threads},
};
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn default_pool_is_built_once() {
    static STARTED: AtomicUsize = AtomicUsize::new(0);
    common::watchdog(common::LONG, || {
        assert!(matches!(Pool::builder().threads(0).build_default(), Err(BuildError::ZeroThreads)));
        Pool::builder().threads(3).thread_name(|i| format!("default {i}")).build_default().unwrap();
        assert_eq!(current_num_threads(), 3);
        assert_eq!(common::sum_to(1000), 500_500);

        let again = Pool::builder().threads(2).on_start(|_| _ = STARTED.fetch_add(1, Ordering::Relaxed));
        let error = again.build_default().unwrap_err();
        assert!(matches!(error, BuildError::DefaultExists));
        assert!(error.to_string().contains("exists already"));
        assert_eq!(STARTED.load(Ordering::Relaxed), 0, "a pool that comes too late starts no threads");
        assert_eq!(current_num_threads(), 3);

        let own = common::pool(5);
        assert_eq!(own.install(current_num_threads), 5);
        assert_eq!(current_num_threads(), 3, "the default pool is for outside of any other");

        // Its handle can be sent, and the free functions use it outside of other pools.
        let default = Pool::default_pool();
        let fibers = anabranch::pool::stats().total().fibers;
        let (sender, receiver) = anabranch::channel::oneshot::channel();
        let handle = std::thread::spawn(move || default.spawn(|_| anabranch::pool::current_pool_id())).join().unwrap();
        let named = anabranch::spawn_named("of the default pool", move |cx| {
            let mut receiver = receiver;
            receiver.recv(cx).map(|()| anabranch::pool::current_pool_id())
        });
        assert_eq!(default.run(|cx| handle.join(cx)).unwrap(), Some(default.id()));
        let is_listed = |list: Vec<anabranch::pool::FiberInfo>| {
            list.iter().any(|fiber| fiber.name() == Some("of the default pool"))
        };
        // For a moment, between its queue and its start, a fiber is on neither list.
        while !(is_listed(anabranch::fiber::fibers()) && is_listed(default.fibers())) {
            std::thread::yield_now();
        }
        assert!(!own.install(|| is_listed(anabranch::fiber::fibers())));
        sender.send(()).unwrap();
        assert_eq!(anabranch::run(|cx| named.join(cx)).unwrap(), Ok(Some(default.id())));
        assert_eq!(default.stats().total().fibers, fibers + 2);
        assert_eq!((own.install(anabranch::pool::stats).workers.len(), anabranch::pool::stats().workers.len()), (5, 3));
        let in_own = own.install(|| anabranch::spawn_named("of the other", |_| anabranch::pool::current_pool_id()));
        assert_eq!(own.run(|cx| in_own.join(cx)).unwrap(), Some(own.id()));
    });
}
