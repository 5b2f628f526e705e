//! Setting up the default pool. The test has a process of its own, since a process has one default pool.

mod common;

use anabranch::{BuildError, Pool, current_num_threads};
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
    });
}
