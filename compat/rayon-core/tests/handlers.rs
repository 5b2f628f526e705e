//! Start, exit and panic handlers, and what else a program gives to the threads of a pool.

use rayon_core::{ThreadBuilder, ThreadPoolBuilder, current_num_threads, current_thread_index, join};
use std::{
    any::Any,
    cell::RefCell,
    rc::Rc,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

type Log<T> = Arc<Mutex<Vec<T>>>;

/// A function that appends to the log.
fn write<T>(log: &Log<T>) -> impl Fn(T) + Send + Sync + use<T>
where
    T: Send + 'static,
{
    let log = log.clone();
    move |entry| log.lock().unwrap().push(entry)
}

fn sorted<T: Ord + Clone>(log: &Log<T>) -> Vec<T> {
    let mut entries = log.lock().unwrap().clone();
    entries.sort();
    entries
}

/// Waits until the threads have ended: each has dropped the handlers then.
fn wait_for_end<T>(log: &Log<T>) {
    while Arc::strong_count(log) > 1 {
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn handlers_get_the_index_of_each_thread() {
    let (started, ended) = (Log::default(), Log::default());
    let pool = ThreadPoolBuilder::new().num_threads(3).start_handler(write(&started)).exit_handler(write(&ended));
    // No spare threads.
    let spawn = |thread: ThreadBuilder| thread::Builder::new().spawn(|| thread.run()).map(drop);
    drop(pool.spawn_handler(spawn).build().unwrap());
    wait_for_end(&started);
    wait_for_end(&ended);
    assert_eq!((sorted(&started), sorted(&ended)), (vec![0, 1, 2], vec![0, 1, 2]));
}

#[test]
fn a_start_handler_runs_in_its_pool_and_an_exit_handler_outside_of_it() {
    let log = Log::default();
    let entry = |log: &Log<_>| {
        let write = write(log);
        move |_| write((current_thread_index(), current_num_threads() == 3))
    };
    let pool = ThreadPoolBuilder::new().num_threads(3).start_handler(entry(&log));
    let spawn = |thread: ThreadBuilder| thread::Builder::new().spawn(|| thread.run()).map(drop);
    drop(pool.spawn_handler(spawn).build().unwrap());
    wait_for_end(&log);
    assert_eq!(sorted(&log), [0, 1, 2].map(|i| (Some(i), true)));

    let log = Log::default();
    let write = write(&log);
    let exit = move |_| write(current_thread_index());
    drop(ThreadPoolBuilder::new().num_threads(1).exit_handler(exit).build().unwrap());
    wait_for_end(&log);
    let log = sorted(&log);
    assert!(!log.is_empty() && log.iter().all(Option::is_none), "{log:?}");
}

/// On Linux a spare thread replaces a blocked one.
#[test]
#[cfg(target_os = "linux")]
fn a_spare_thread_has_the_index_and_the_name_of_another_one() {
    let (started, ended) = (Log::default(), Log::default());
    let name = || thread::current().name().unwrap().to_owned();
    let entry = |log: &Log<_>| {
        let write = write(log);
        move |index| write((index, name()))
    };
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .thread_name(|index| format!("own-{index}"))
        .start_handler(entry(&started))
        .exit_handler(entry(&ended))
        .build()
        .unwrap();
    // Another thread runs the second half, while the first one is blocked.
    let (sender, receiver) = mpsc::channel();
    let (received, ()) =
        pool.join(move || receiver.recv(), move || sender.send((name(), current_thread_index())).unwrap());
    assert_eq!(received.unwrap(), ("own-0".to_owned(), Some(0)));
    drop(pool);
    wait_for_end(&started);
    wait_for_end(&ended);
    assert!(started.lock().unwrap().len() > 1);
    assert_eq!(sorted(&started), sorted(&ended));
    assert!(sorted(&started).iter().all(|entry| *entry == (0, "own-0".to_owned())), "{started:?}");
}

#[test]
fn all_names_are_made_before_the_first_thread_starts() {
    let (log, of_names) = {
        let log = Rc::new(RefCell::new(Vec::new()));
        (log.clone(), log)
    };
    let name = move |index| {
        of_names.borrow_mut().push(format!("name {index}"));
        String::from("own")
    };
    let spawn = |thread: ThreadBuilder| {
        log.borrow_mut().push(format!("start {}", thread.index()));
        Ok(())
    };
    drop(ThreadPoolBuilder::new().num_threads(2).thread_name(name).spawn_handler(spawn).build().unwrap());
    assert_eq!(*log.borrow(), ["name 0", "name 1", "start 0", "start 1"]);
}

/// A frame of 4 MiB is more than the standard size of a stack.
#[inline(never)]
fn deep() -> usize {
    let frame = [1_u8; 4 << 20];
    std::hint::black_box(&frame).iter().step_by(4096).map(|byte| usize::from(*byte)).sum()
}

#[test]
fn threads_have_the_names_and_the_stack_size_of_the_builder() {
    let builder = || ThreadPoolBuilder::new().num_threads(2).thread_name(|i| format!("own-{i}")).stack_size(16 << 20);
    let check = |pool: &rayon_core::ThreadPool| {
        let names = pool.broadcast(|_| thread::current().name().map(String::from));
        assert_eq!(names, ["own-0", "own-1"].map(|name| Some(name.to_owned())));
        assert_eq!(pool.broadcast(|_| deep()), [1024, 1024]);
    };
    check(&builder().build().unwrap());
    builder().build_scoped(|thread| thread.run(), check).unwrap();
}

#[test]
fn the_panic_handler_gets_panics_before_the_pool_is_built() {
    let (sender, panics) = mpsc::channel();
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .start_handler(|_| rayon_core::spawn(|| panic!("early")))
        .panic_handler(move |panic: Box<dyn Any + Send>| sender.send(*panic.downcast_ref::<&str>().unwrap()).unwrap())
        .spawn_handler(|thread| {
            thread::Builder::new().spawn(|| thread.run())?;
            // The build goes on when the job has panicked.
            assert_eq!(panics.recv(), Ok("early"));
            Ok(())
        })
        .build()
        .unwrap();
    assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
}

#[test]
fn the_panic_handler_is_dropped_when_its_pool_has_ended() {
    let alive = Log::<()>::default();
    let write = write(&alive);
    let pool = ThreadPoolBuilder::new().num_threads(2).panic_handler(move |_| write(())).build().unwrap();
    assert_eq!(Arc::strong_count(&alive), 2);
    drop(pool);
    wait_for_end(&alive);
}

#[test]
fn the_panic_handler_gets_the_panics_of_a_pool_without_threads_of_its_own() {
    let (sender, panics) = mpsc::channel();
    let test = move || {
        let handler = move |panic: Box<dyn Any + Send>| sender.send(*panic.downcast_ref::<&str>().unwrap()).unwrap();
        let pool = ThreadPoolBuilder::new().num_threads(1).use_current_thread().panic_handler(handler);
        // No spare threads.
        let pool = pool.spawn_handler(|_| unreachable!("this thread is the only one")).build().unwrap();
        pool.spawn(|| panic!("lost"));
        assert_eq!(pool.yield_local(), Some(rayon_core::Yield::Executed));
    };
    thread::spawn(test).join().unwrap();
    assert_eq!(panics.recv(), Ok("lost"));
}
