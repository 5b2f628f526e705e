//! The public interface: every item with its signature, the auto traits, and the texts. `.ci/rayon` compiles and runs
//! this file against rayon's rayon-core too.

#![allow(deprecated)]

use rayon_core::{
    BroadcastContext, Configuration, FnContext, Scope, ScopeFifo, ThreadBuilder, ThreadPool, ThreadPoolBuildError,
    ThreadPoolBuilder, Yield,
};
use std::{any::Any, error::Error, fmt, io};

/// Whether a type has each of the auto traits. An inherent constant shadows that of the trait if its bound holds.
macro_rules! auto_traits {
    ($type:ty) => {{
        macro_rules! has {
            ($bound:path) => {{
                struct Probe<T>(std::marker::PhantomData<T>);
                #[allow(dead_code)]
                trait Otherwise {
                    const HAS: bool = false;
                }
                impl<T> Otherwise for Probe<T> {}
                #[allow(dead_code)]
                impl<T: $bound> Probe<T> {
                    const HAS: bool = true;
                }
                <Probe<$type>>::HAS
            }};
        }
        [has!(Send), has!(Sync), has!(Unpin), has!(std::panic::UnwindSafe), has!(std::panic::RefUnwindSafe)]
    }};
}

#[test]
fn auto_traits_are_those_of_rayon() {
    // Send, Sync, Unpin, UnwindSafe, RefUnwindSafe.
    assert_eq!(auto_traits!(BroadcastContext<'static>), [false, false, true, false, false]);
    assert_eq!(auto_traits!(Configuration), [false, false, true, false, false]);
    assert_eq!(auto_traits!(FnContext), [false, false, true, true, true]);
    assert_eq!(auto_traits!(Scope<'static>), [true, true, true, false, false]);
    assert_eq!(auto_traits!(ScopeFifo<'static>), [true, true, true, false, false]);
    assert_eq!(auto_traits!(ThreadBuilder), [true, false, true, false, false]);
    assert_eq!(auto_traits!(ThreadPool), [true, true, true, false, false]);
    assert_eq!(auto_traits!(ThreadPoolBuildError), [true, true, true, false, false]);
    assert_eq!(auto_traits!(ThreadPoolBuilder), [false, false, true, false, false]);
    assert_eq!(auto_traits!(Yield), [true, true, true, true, true]);
}

fn debug<T: fmt::Debug>() {}

#[test]
fn every_type_has_the_traits_of_rayon() {
    debug::<BroadcastContext<'_>>();
    debug::<Configuration>();
    debug::<FnContext>();
    debug::<Scope<'_>>();
    debug::<ScopeFifo<'_>>();
    debug::<ThreadBuilder>();
    debug::<ThreadPool>();
    debug::<ThreadPoolBuildError>();
    debug::<ThreadPoolBuilder>();
    fn error<T: Error + 'static>() {}
    error::<ThreadPoolBuildError>();
    fn default<T: Default>() {}
    default::<Configuration>();
    default::<ThreadPoolBuilder>();
    fn value<T: Copy + Eq + fmt::Debug>() {}
    value::<Yield>();
}

/// Each function as a value of its type: no more and no fewer bounds on the closures than these.
#[test]
fn every_function_has_the_signature_of_rayon() {
    fn functions<'scope, A, B, RA, RB, S, F, P, W, J>(_: (A, B, RA, RB, S, F, P, W, J))
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
        S: FnOnce(&Scope<'scope>) -> RA + Send,
        F: FnOnce(&ScopeFifo<'scope>) -> RA + Send,
        P: FnOnce(&Scope<'scope>) -> RB,
        W: FnOnce(&ScopeFifo<'scope>) -> RB,
        J: FnOnce() + Send + 'static,
    {
        let _: fn(A, B) -> (RA, RB) = rayon_core::join::<A, B, RA, RB>;
        let _: fn(S) -> RA = rayon_core::scope::<S, RA>;
        let _: fn(F) -> RA = rayon_core::scope_fifo::<F, RA>;
        let _: fn(P) -> RB = rayon_core::in_place_scope::<P, RB>;
        let _: fn(W) -> RB = rayon_core::in_place_scope_fifo::<W, RB>;
        let _: fn(J) = rayon_core::spawn::<J>;
        let _: fn(J) = rayon_core::spawn_fifo::<J>;
        let _: fn(&ThreadPool, A) -> RA = ThreadPool::install::<A, RA>;
        let _: fn(&ThreadPool, A, B) -> (RA, RB) = ThreadPool::join::<A, B, RA, RB>;
        let _: fn(&ThreadPool, S) -> RA = ThreadPool::scope::<S, RA>;
        let _: fn(&ThreadPool, F) -> RA = ThreadPool::scope_fifo::<F, RA>;
        let _: fn(&ThreadPool, P) -> RB = ThreadPool::in_place_scope::<P, RB>;
        let _: fn(&ThreadPool, W) -> RB = ThreadPool::in_place_scope_fifo::<W, RB>;
        let _: fn(&ThreadPool, J) = ThreadPool::spawn::<J>;
        let _: fn(&ThreadPool, J) = ThreadPool::spawn_fifo::<J>;
    }
    functions((
        || 1,
        || 2,
        0,
        0,
        |_: &Scope<'_>| 1,
        |_: &ScopeFifo<'_>| 1,
        |_: &Scope<'_>| 2,
        |_: &ScopeFifo<'_>| 2,
        || (),
    ));

    fn contexts<A, B, RA, RB, O, D, R>(_: (A, B, RA, RB, O, D, R))
    where
        A: FnOnce(FnContext) -> RA + Send,
        B: FnOnce(FnContext) -> RB + Send,
        RA: Send,
        RB: Send,
        O: Fn(BroadcastContext<'_>) -> R + Sync,
        D: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
        R: Send,
    {
        let _: fn(A, B) -> (RA, RB) = rayon_core::join_context::<A, B, RA, RB>;
        let _: fn(O) -> Vec<R> = rayon_core::broadcast::<O, R>;
        let _: fn(D) = rayon_core::spawn_broadcast::<D>;
        let _: fn(&ThreadPool, O) -> Vec<R> = ThreadPool::broadcast::<O, R>;
        let _: fn(&ThreadPool, D) = ThreadPool::spawn_broadcast::<D>;
    }
    contexts((
        |_: FnContext| 1,
        |_: FnContext| 2,
        0,
        0,
        |context: BroadcastContext<'_>| context.index(),
        |_: BroadcastContext<'_>| (),
        0,
    ));

    fn jobs<'scope, S, F, BS, BF>(_: (S, F, BS, BF))
    where
        S: FnOnce(&Scope<'scope>) + Send + 'scope,
        F: FnOnce(&ScopeFifo<'scope>) + Send + 'scope,
        BS: Fn(&Scope<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
        BF: Fn(&ScopeFifo<'scope>, BroadcastContext<'_>) + Send + Sync + 'scope,
    {
        let _: fn(&Scope<'scope>, S) = Scope::<'scope>::spawn::<S>;
        let _: fn(&ScopeFifo<'scope>, F) = ScopeFifo::<'scope>::spawn_fifo::<F>;
        let _: fn(&Scope<'scope>, BS) = Scope::<'scope>::spawn_broadcast::<BS>;
        let _: fn(&ScopeFifo<'scope>, BF) = ScopeFifo::<'scope>::spawn_broadcast::<BF>;
    }
    jobs((
        |_: &Scope<'_>| (),
        |_: &ScopeFifo<'_>| (),
        |_: &Scope<'_>, _: BroadcastContext<'_>| (),
        |_: &ScopeFifo<'_>, _: BroadcastContext<'_>| (),
    ));

    let _: fn() -> usize = rayon_core::current_num_threads;
    let _: fn() -> usize = rayon_core::max_num_threads;
    let _: fn() -> Option<usize> = rayon_core::current_thread_index;
    let _: fn() -> Option<bool> = rayon_core::current_thread_has_pending_tasks;
    let _: fn() -> Option<Yield> = rayon_core::yield_now;
    let _: fn() -> Option<Yield> = rayon_core::yield_local;
    let _: fn(Configuration) -> Result<(), Box<dyn Error>> = rayon_core::initialize;
    let _: fn(Configuration) -> Result<ThreadPool, Box<dyn Error>> = ThreadPool::new;
    let _: fn(&ThreadPool) -> usize = ThreadPool::current_num_threads;
    let _: fn(&ThreadPool) -> Option<usize> = ThreadPool::current_thread_index;
    let _: fn(&ThreadPool) -> Option<bool> = ThreadPool::current_thread_has_pending_tasks;
    let _: fn(&ThreadPool) -> Option<Yield> = ThreadPool::yield_now;
    let _: fn(&ThreadPool) -> Option<Yield> = ThreadPool::yield_local;
    let _: fn(&FnContext) -> bool = FnContext::migrated;
    let _: fn(&BroadcastContext<'static>) -> usize = BroadcastContext::index;
    let _: fn(&BroadcastContext<'static>) -> usize = BroadcastContext::num_threads;
    let _: fn(&ThreadBuilder) -> usize = ThreadBuilder::index;
    let _: fn(&ThreadBuilder) -> Option<&str> = ThreadBuilder::name;
    let _: fn(&ThreadBuilder) -> Option<usize> = ThreadBuilder::stack_size;
    let _: fn(ThreadBuilder) = ThreadBuilder::run;
    let _ = [Yield::Executed, Yield::Idle];
}

/// All options, each with a closure that has no more traits than rayon asks for.
#[test]
fn every_option_of_the_builder_is_accepted() {
    let not_send = std::rc::Rc::new(());
    let name = move |i: usize| format!("{i}{}", std::rc::Rc::strong_count(&not_send));
    let mut started = Vec::new();
    let pool: ThreadPool = ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(name)
        .stack_size(1 << 20)
        .breadth_first()
        .start_handler(|_: usize| ())
        .exit_handler(|_: usize| ())
        .panic_handler(|_: Box<dyn Any + Send>| ())
        .spawn_handler(|thread: ThreadBuilder| -> io::Result<()> {
            started.push((thread.index(), thread.name().map(String::from), thread.stack_size()));
            std::thread::Builder::new().spawn(|| thread.run()).map(drop)
        })
        .build()
        .unwrap();
    assert_eq!(pool.install(|| 1), 1);
    let named = |i: usize| (i, Some(format!("{i}1")), Some(1 << 20));
    assert_eq!(started, [named(0), named(1)]);

    let length: Result<usize, ThreadPoolBuildError> = ThreadPoolBuilder::new()
        .num_threads(1)
        .build_scoped(|thread: ThreadBuilder| thread.run(), |pool: &ThreadPool| pool.install(|| 3));
    assert_eq!(length.unwrap(), 3);

    let configuration: Configuration = Configuration::new()
        .num_threads(1)
        .thread_name(|_| String::new())
        .stack_size(1 << 20)
        .breadth_first()
        .start_handler(|_: usize| ())
        .exit_handler(|_: usize| ())
        .panic_handler(|_: Box<dyn Any + Send>| ());
    assert_eq!(ThreadPool::new(configuration).unwrap().install(rayon_core::current_num_threads), 1);
    assert_eq!(Configuration::new().num_threads(3).build().unwrap().current_num_threads(), 3);
}

#[test]
fn threads_have_no_names_unless_the_program_sets_them() {
    let mut names = Vec::new();
    let pool = ThreadPoolBuilder::new().num_threads(1).spawn_handler(|thread| {
        names.push((thread.name().map(String::from), thread.stack_size()));
        std::thread::spawn(|| thread.run());
        Ok(())
    });
    drop(pool.build().unwrap());
    assert_eq!(names, [(None, None)]);
}

#[test]
fn builders_print_their_settings() {
    let builder = ThreadPoolBuilder::new().num_threads(3).stack_size(4096).panic_handler(|_| ());
    let text = "ThreadPoolBuilder { num_threads: 3, use_current_thread: false, get_thread_name: None, \
                panic_handler: Some(<closure>), stack_size: Some(4096), start_handler: None, exit_handler: None, \
                breadth_first: false }";
    assert_eq!(format!("{builder:?}"), text);
    let configuration = Configuration::new().num_threads(3).stack_size(4096).panic_handler(|_| ());
    assert_eq!(format!("{configuration:?}"), text);
    let builder = ThreadPoolBuilder::new()
        .use_current_thread()
        .thread_name(|_| String::new())
        .start_handler(|_| ())
        .exit_handler(|_| ())
        .breadth_first();
    let text = "ThreadPoolBuilder { num_threads: 0, use_current_thread: true, get_thread_name: Some(<closure>), \
                panic_handler: None, stack_size: None, start_handler: Some(<closure>), exit_handler: Some(<closure>), \
                breadth_first: true }";
    assert_eq!(format!("{builder:?}"), text);
    let configuration =
        Configuration::new().thread_name(|_| String::new()).start_handler(|_| ()).exit_handler(|_| ()).breadth_first();
    assert_eq!(format!("{configuration:?}"), text.replace("true, get", "false, get"));
}

#[test]
fn contexts_and_pools_print_what_they_know() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let text = format!("{pool:?}");
    assert!(text.starts_with("ThreadPool { num_threads: 2, id: "), "{text}");
    let contexts = pool.broadcast(|context| format!("{context:?}"));
    for (index, text) in contexts.iter().enumerate() {
        assert!(text.starts_with(&format!("BroadcastContext {{ index: {index}, num_threads: 2, pool_id: ")), "{text}");
    }
    let (context, _) = pool.install(|| rayon_core::join_context(|context| format!("{context:?}"), |_| ()));
    assert_eq!(context, "FnContext { migrated: false, _marker: PhantomData<*mut ()> }");
    let mut text = String::new();
    let pool = ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "a".into()).spawn_handler(|thread| {
        text = format!("{thread:?}");
        std::thread::spawn(|| thread.run());
        Ok(())
    });
    drop(pool.build().unwrap());
    assert!(text.starts_with("ThreadBuilder { pool: "), "{text}");
    assert!(text.ends_with("index: 0, name: Some(\"a\"), stack_size: None }"), "{text}");
    pool_scopes();
}

fn pool_scopes() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let text = pool.scope(|s| format!("{s:?}"));
    assert!(text.starts_with("Scope { pool_id: "), "{text}");
    let text = pool.scope_fifo(|s| format!("{s:?}"));
    assert!(text.starts_with("ScopeFifo { num_fifos: 1, pool_id: "), "{text}");
}

#[test]
fn a_refused_thread_is_reported_with_its_source() {
    let refuse = |_: ThreadBuilder| Err(io::Error::other("no more threads"));
    let error = ThreadPoolBuilder::new().num_threads(2).spawn_handler(refuse).build().unwrap_err();
    assert_eq!(error.to_string(), "no more threads");
    assert_eq!(error.source().unwrap().to_string(), "no more threads");
    assert!(format!("{error:?}").starts_with("ThreadPoolBuildError { kind: IOError("), "{error:?}");
}

#[test]
fn a_thread_is_in_one_pool_only() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let error = pool.install(|| ThreadPoolBuilder::new().use_current_thread().build().map(drop).unwrap_err());
    assert_eq!(error.to_string(), "The current thread is already part of another thread pool.");
    assert!(error.source().is_none());
    assert_eq!(format!("{error:?}"), "ThreadPoolBuildError { kind: CurrentThreadAlreadyInPool }");
    // The deprecated text of an error.
    assert_eq!(error.description(), error.to_string());
}
