//! The global pool, in processes of their own: this program again, with other variables.

use rayon_core::{ThreadPoolBuilder, current_num_threads, current_thread_index, join, join_context};
use std::{env, process::Command, thread};

/// Runs one of the tests below in a process with these variables, where it runs `program`.
fn alone(name: &str, variables: &[(&str, &str)], program: impl FnOnce()) {
    if env::var("ALONE").as_deref() == Ok(name) {
        return program();
    }
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", name]).env("ALONE", name);
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
        assert_eq!(anabranch::current_num_threads(), 3);
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
        assert_eq!(current_num_threads(), thread::available_parallelism().unwrap().get());
    });
}

#[test]
fn the_variable_of_anabranch_is_read_if_there_is_none_of_rayon() {
    let variables = [("ANABRANCH_NUM_THREADS", "3")];
    alone("the_variable_of_anabranch_is_read_if_there_is_none_of_rayon", &variables, || {
        assert_eq!(current_num_threads(), 3);
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
        assert_eq!(anabranch::current_num_threads(), 2);
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
