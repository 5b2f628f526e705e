//! The global pool, in processes of their own: this program again, with other variables.

use rayon_core::{
    ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder, current_num_threads, current_thread_index, join,
    join_context,
};
use std::{
    env, io,
    panic::{AssertUnwindSafe, catch_unwind},
    process::{self, Command},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Runs one of the tests below in a process with these variables, where it runs `program`. A process that hangs ends.
fn alone(name: &str, variables: &[(&str, &str)], program: impl FnOnce()) {
    if env::var("ALONE").as_deref() == Ok(name) {
        // The result is unused: a system may refuse the thread.
        _ = thread::Builder::new().spawn(|| {
            thread::sleep(Duration::from_secs(60));
            eprintln!("the program has not ended within a minute");
            process::abort();
        });
        return program();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "--test-threads=1", name]).env("ALONE", name);
    for variable in ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS", "ANABRANCH_NUM_THREADS"] {
        command.env_remove(variable);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{}{}", text[0], text[1]);
    assert!(text[0].contains("1 passed"), "{}", text[0]);
}

#[test]
fn the_variable_sets_the_number_of_threads() {
    alone("the_variable_sets_the_number_of_threads", &[("RAYON_NUM_THREADS", "3"), ("RAYON_RS_NUM_CPUS", "5")], || {
        assert_eq!(current_num_threads(), 3);
        // It is Anabranch's default pool.
        assert_eq!(anabranch::pool::current_num_threads(), 3);
        assert_eq!(ThreadPoolBuilder::new().build().unwrap().current_num_threads(), 3);
        assert_eq!(ThreadPoolBuilder::new().num_threads(2).build().unwrap().current_num_threads(), 2);
    });
}

#[test]
fn the_old_variable_is_read_if_the_new_one_is_no_number() {
    let variables = [("RAYON_NUM_THREADS", "many"), ("RAYON_RS_NUM_CPUS", "5")];
    alone("the_old_variable_is_read_if_the_new_one_is_no_number", &variables, || assert_eq!(current_num_threads(), 5));
}

#[test]
fn zero_in_the_variable_is_the_number_of_processors() {
    let variables = [("RAYON_NUM_THREADS", "0"), ("RAYON_RS_NUM_CPUS", "5")];
    alone("zero_in_the_variable_is_the_number_of_processors", &variables, || {
        let available = thread::available_parallelism().unwrap().get();
        assert_eq!(current_num_threads(), available);
        assert_eq!(ThreadPoolBuilder::new().build().unwrap().current_num_threads(), available);
    });
}

#[test]
fn the_variable_of_anabranch_is_read_if_there_is_none_of_rayon() {
    let variables = [("ANABRANCH_NUM_THREADS", "3")];
    alone("the_variable_of_anabranch_is_read_if_there_is_none_of_rayon", &variables, || {
        assert_eq!(current_num_threads(), 3);
        // It is that of the default pool only.
        let available = thread::available_parallelism().unwrap().get();
        assert_eq!(ThreadPoolBuilder::new().build().unwrap().current_num_threads(), available);
    });
}

#[test]
fn zero_in_the_old_variable_is_ignored() {
    let variables = [("RAYON_RS_NUM_CPUS", "0")];
    alone("zero_in_the_old_variable_is_ignored", &variables, || {
        let available = thread::available_parallelism().unwrap().get();
        assert_eq!(current_num_threads(), available);
        assert_eq!(ThreadPoolBuilder::new().build().unwrap().current_num_threads(), available);
    });
}

#[test]
fn a_number_above_the_maximum_is_reduced_to_it() {
    let variables = [("RAYON_NUM_THREADS", "100000")];
    alone("a_number_above_the_maximum_is_reduced_to_it", &variables, || {
        // Without starting them.
        let pool = ThreadPoolBuilder::new().spawn_handler(|_| Ok(())).build().unwrap();
        assert_eq!(pool.current_num_threads(), rayon_core::max_num_threads());
    });
}

/// The size of a stack for which no system has memory.
const TOO_LARGE: (&str, &str) = ("RUST_MIN_STACK", "4611686018427387904");

#[test]
fn the_caller_does_the_work_if_the_system_refuses_all_threads() {
    let variables = [("RAYON_NUM_THREADS", "3"), TOO_LARGE];
    alone("the_caller_does_the_work_if_the_system_refuses_all_threads", &variables, || {
        assert!(thread::Builder::new().spawn(|| ()).is_err(), "this is to be a system without threads");
        assert_eq!(join(|| 1, || 2), (1, 2));
        let mut value = 0;
        rayon_core::scope(|s| s.spawn(|_| value = 3));
        assert_eq!((value, current_num_threads()), (3, 1));
    });
}

#[test]
fn the_global_pool_can_be_built_after_an_error() {
    alone("the_global_pool_can_be_built_after_an_error", &[], || {
        let refuse = |_: ThreadBuilder| Err(io::Error::other("no more threads"));
        let error = ThreadPoolBuilder::new().num_threads(2).spawn_handler(refuse).build_global().unwrap_err();
        assert_eq!(error.to_string(), "no more threads");
        ThreadPoolBuilder::new().num_threads(3).build_global().unwrap();
        assert_eq!(current_num_threads(), 3);
    });
}

/// No thread can have the name of the second one, so the build fails after the first one has started.
#[test]
fn an_exit_handler_may_use_the_global_pool_while_its_build_fails() {
    alone("an_exit_handler_may_use_the_global_pool_while_its_build_fails", &[], || {
        let (sender, joined) = mpsc::channel();
        let builder = ThreadPoolBuilder::new()
            .num_threads(2)
            .thread_name(|index| String::from(["own", "\0"][index]))
            .exit_handler(move |_| sender.send(join(|| 1, || 2)).unwrap());
        assert!(catch_unwind(AssertUnwindSafe(|| builder.build_global())).is_err());
        assert_eq!(joined.recv(), Ok((1, 2)));
    });
}

#[test]
fn roots_run_on_the_caller_if_the_global_pool_has_no_options() {
    alone("roots_run_on_the_caller_if_the_global_pool_has_no_options", &[], || {
        ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
        let caller = thread::current().id();
        assert_eq!(join(|| thread::current().id(), || ()).0, caller);
        assert_eq!(rayon_core::scope(|_| thread::current().id()), caller);
        assert!(rayon_core::scope(|_| current_thread_index().unwrap()) < 2);
        assert_eq!(current_thread_index(), None);
        // Both halves have come from outside of the pool, as in rayon.
        assert_eq!(join_context(|context| context.migrated(), |context| context.migrated()), (true, true));
        assert!(!join(|| join_context(|a| a.migrated(), |_| ()).0, || ()).0);
    });
}

#[test]
fn roots_run_on_own_threads_if_the_global_pool_has_options() {
    alone("roots_run_on_own_threads_if_the_global_pool_has_options", &[], || {
        ThreadPoolBuilder::new().num_threads(2).thread_name(|i| format!("own-{i}")).build_global().unwrap();
        let name = || thread::current().name().unwrap_or_default().to_owned();
        let caller = thread::current().id();
        for _ in 0..100 {
            assert!(join(name, || ()).0.starts_with("own-"));
            assert!(rayon_core::scope(|_| name()).starts_with("own-"));
            assert!(rayon_core::scope_fifo(|_| name()).starts_with("own-"));
        }
        assert_eq!(rayon_core::in_place_scope(|_| thread::current().id()), caller);
        assert_eq!(anabranch::pool::current_num_threads(), 2);
    });
}

/// Builds the global pool, and checks that roots and jobs run on its threads.
fn has_own_roots<S>(
    builder: ThreadPoolBuilder<S>,
    build: fn(ThreadPoolBuilder<S>) -> Result<(), ThreadPoolBuildError>,
) {
    build(builder.num_threads(2)).unwrap();
    let caller = thread::current().id();
    assert_ne!(join(|| thread::current().id(), || ()).0, caller);
    assert_eq!(join_context(|context| context.migrated(), |context| context.migrated()), (true, true));
    assert_eq!(rayon_core::in_place_scope_fifo(|_| thread::current().id()), caller);
    let mut thread = caller;
    rayon_core::in_place_scope(|s| s.spawn(|_| thread = thread::current().id()));
    assert_ne!(thread, caller);
}

#[test]
fn roots_run_on_own_threads_if_there_is_a_stack_size() {
    alone("roots_run_on_own_threads_if_there_is_a_stack_size", &[], || {
        has_own_roots(ThreadPoolBuilder::new().stack_size(4 << 20), ThreadPoolBuilder::build_global);
    });
}

#[test]
fn roots_run_on_own_threads_if_there_is_a_start_handler() {
    alone("roots_run_on_own_threads_if_there_is_a_start_handler", &[], || {
        has_own_roots(ThreadPoolBuilder::new().start_handler(|_| ()), ThreadPoolBuilder::build_global);
    });
}

#[test]
fn roots_run_on_own_threads_if_there_is_an_exit_handler() {
    alone("roots_run_on_own_threads_if_there_is_an_exit_handler", &[], || {
        has_own_roots(ThreadPoolBuilder::new().exit_handler(|_| ()), ThreadPoolBuilder::build_global);
    });
}

#[test]
fn roots_run_on_own_threads_if_there_is_a_spawn_handler() {
    alone("roots_run_on_own_threads_if_there_is_a_spawn_handler", &[], || {
        let spawn = |thread: ThreadBuilder| thread::Builder::new().spawn(|| thread.run()).map(drop);
        has_own_roots(ThreadPoolBuilder::new().spawn_handler(spawn), ThreadPoolBuilder::build_global);
    });
}

/// A panic handler gets its panics on any thread.
#[test]
fn roots_run_on_the_caller_if_there_is_only_a_panic_handler() {
    alone("roots_run_on_the_caller_if_there_is_only_a_panic_handler", &[], || {
        ThreadPoolBuilder::new().num_threads(2).panic_handler(|_| ()).build_global().unwrap();
        assert_eq!(join(|| thread::current().id(), || ()).0, thread::current().id());
    });
}

#[test]
fn the_global_pool_is_built_once() {
    alone("the_global_pool_is_built_once", &[], || {
        assert_eq!(join(|| 1, || 2), (1, 2));
        let error = ThreadPoolBuilder::new().build_global().unwrap_err();
        assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
    });
}

#[test]
fn the_default_pool_of_anabranch_counts_as_built() {
    alone("the_default_pool_of_anabranch_counts_as_built", &[("RAYON_NUM_THREADS", "3")], || {
        assert_eq!(anabranch::join(|| 1, || 2), (1, 2));
        let error = ThreadPoolBuilder::new().build_global().unwrap_err();
        assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
        // The first use of the pool has decided the number of threads.
        assert_eq!(current_num_threads(), thread::available_parallelism().unwrap().get());
    });
}

#[test]
#[allow(deprecated)]
fn the_deprecated_function_builds_the_global_pool() {
    alone("the_deprecated_function_builds_the_global_pool", &[], || {
        rayon_core::initialize(rayon_core::Configuration::new().num_threads(3)).unwrap();
        assert_eq!(current_num_threads(), 3);
        assert!(rayon_core::initialize(rayon_core::Configuration::new()).is_err());
    });
}
