//! Systems that refuse what the runtime asks for: system calls that start to fail, no `/proc`, an error stream that is
//! full. Child processes run the cases.

#![cfg(target_os = "linux")]

use super::seccomp;
use crate::common::{self, LONG, rerun, watchdog};
use anabranch::{Pool, channel, join};
use std::{
    env,
    fs::OpenOptions,
    os::unix::process::ExitStatusExt,
    process::{Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

const CASE: &str = "ANABRANCH_TEST_CASE";

/// The exit status of a child in which anything panics.
const PANICKED: i32 = 9;

/// In a child: runs the case and does not return. Otherwise: the children of all cases, whose error stream is `stderr`.
fn in_children<const N: usize>(test: &str, stderr: fn() -> Stdio, cases: [(&str, fn()); N]) -> [Output; N] {
    if let Ok(wanted) = env::var(CASE) {
        let (_, case) = cases.iter().find(|(name, _)| *name == wanted).unwrap();
        // A panic of a worker may reach no caller, and its text may be lost.
        std::panic::set_hook(Box::new(|panic| {
            println!("{panic}");
            std::process::exit(PANICKED);
        }));
        watchdog(LONG, case);
        std::process::exit(0);
    }
    cases.map(|(name, _)| {
        rerun(module_path!(), test)
            .env(CASE, name)
            .stdout(Stdio::piped())
            .stderr(stderr())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap()
    })
}

/// A stream that refuses every byte.
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

fn words(child: &Output) -> String {
    String::from_utf8_lossy(&child.stderr).into_owned()
}

const PRIVATE_EXPEDITED: u32 = 1 << 3;

fn without_membarrier(command: Option<u32>) {
    seccomp::refuse(libc::SYS_membarrier, command, libc::EPERM);
}

/// One branch waits in a foreign call for a value from the other one, so another thread has to run the other.
fn feeds_a_blocked_branch() {
    let (sender, receiver) = mpsc::channel();
    let (received, ()) = join(move || receiver.recv().unwrap(), move || sender.send(7).unwrap());
    assert_eq!(received, 7);
}

#[test]
fn failing_membarrier_aborts_with_one_message() {
    fn raid() {
        let pool = common::pool(2);
        without_membarrier(None);
        pool.install(feeds_a_blocked_branch);
    }
    fn bias() {
        let (mut sender, mut receiver) = channel::spsc::unbounded();
        for n in 0..2000 {
            sender.try_send(n).unwrap();
            receiver.try_recv().unwrap();
        }
        without_membarrier(None);
        thread::spawn(move || sender.try_send(1)).join().unwrap().unwrap();
        receiver.try_recv().unwrap();
    }
    for child in
        in_children("failing_membarrier_aborts_with_one_message", Stdio::piped, [("raid", raid), ("bias", bias)])
    {
        let text = words(&child);
        assert_eq!(child.status.signal(), Some(libc::SIGABRT), "{}\n{text}", child.status);
        assert_eq!(text.matches("anabranch: ").count(), 1, "{text}");
        assert!(text.contains("membarrier") && text.contains("seccomp") && !text.contains("panicked"), "{text}");
    }
}

#[test]
fn pool_works_if_membarrier_is_refused_at_start() {
    fn check(command: Option<u32>) {
        without_membarrier(command);
        let pool = common::pool(2);
        assert!(!pool.stats().uses_membarrier);
        pool.install(feeds_a_blocked_branch);
    }
    let children = in_children(
        "pool_works_if_membarrier_is_refused_at_start",
        Stdio::piped,
        [("all", || check(None)), ("only the barrier itself", || check(Some(PRIVATE_EXPEDITED)))],
    );
    for child in children {
        assert!(child.status.success(), "{}\n{}", child.status, words(&child));
    }
}

#[test]
fn blocked_thread_is_found_without_proc() {
    fn no_file_can_be_opened() {
        seccomp::refuse(libc::SYS_openat, None, libc::EACCES);
        assert!(std::fs::read("/proc/self/stat").is_err());
        let pool = Pool::builder().threads(1).build().unwrap();
        pool.install(feeds_a_blocked_branch);
        assert!(pool.stats().slots_lent > 0);
    }
    let [child] =
        in_children("blocked_thread_is_found_without_proc", Stdio::piped, [("refused", no_file_can_be_opened)]);
    assert!(child.status.success(), "{}\n{}", child.status, words(&child));
}

/// The messages of the runtime are lost, and nothing else happens.
#[test]
fn full_stderr_does_no_harm() {
    fn too_many_fibers() {
        let pool = Pool::builder().threads(1).max_fibers(1).build().unwrap();
        let fibers: Vec<_> =
            (0..20).map(|n| pool.spawn(move |cx| cx.sleep(Duration::from_millis(1)).map(|()| n))).collect();
        for (n, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(n));
        }
    }
    fn no_stacks() {
        let limit = libc::rlimit { rlim_cur: 1 << 30, rlim_max: 1 << 30 };
        let pool = Pool::builder().threads(1).max_spare_threads(0).fiber_stack_size(64 << 20).build().unwrap();
        // SAFETY: `limit` is valid to be read.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) }, 0);
        let fibers: Vec<_> =
            (0..40).map(|n| pool.spawn(move |cx| cx.sleep(Duration::from_millis(1)).map(|()| n))).collect();
        for (n, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(n));
        }
    }
    fn no_spares() {
        let pool = Pool::builder().threads(1).max_spare_threads(0).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let _blocked = pool.spawn(move |_| {
            sender.send(()).unwrap();
            let _ = woken.recv();
        });
        receiver.recv().unwrap();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(100));
            drop(wake);
        });
        assert_eq!(pool.run(|cx| pool.spawn(|_| 3).join(cx)).unwrap(), 3);
    }
    fn a_blocked_fiber() {
        // The second to last delays other fibers of its worker for longer than the limit of the detector.
        let pool = Pool::builder().threads(2).build().unwrap();
        let fibers: Vec<_> = (0..40)
            .map(|n| {
                pool.spawn(move |cx| {
                    cx.sleep(Duration::from_millis(20))?;
                    if n == 38 {
                        thread::sleep(Duration::from_millis(1300));
                    }
                    cx.sleep(Duration::from_millis(20))
                })
            })
            .collect();
        for fiber in fibers {
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(()));
        }
    }
    for child in in_children(
        "full_stderr_does_no_harm",
        full,
        [
            ("too many fibers", too_many_fibers),
            ("no stacks", no_stacks),
            ("no spares", no_spares),
            ("a blocked fiber", a_blocked_fiber),
        ],
    ) {
        assert!(child.status.success(), "{}\n{}", child.status, String::from_utf8_lossy(&child.stdout));
    }
}

#[test]
fn blocking_call_runs_in_place_if_threads_are_refused() {
    fn no_thread_can_start() {
        let pool = Pool::builder().threads(2).max_spare_threads(0).build().unwrap();
        seccomp::refuse(libc::SYS_clone3, None, libc::EAGAIN);
        seccomp::refuse(libc::SYS_clone, None, libc::EAGAIN);
        assert!(thread::Builder::new().spawn(|| ()).is_err());
        let fibers: Vec<_> = (0..20).map(|n| pool.spawn(move |cx| cx.blocking(|| n))).collect();
        for (n, fiber) in fibers.into_iter().enumerate() {
            assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(n));
        }
        assert_eq!((pool.stats().blocking_threads, pool.stats().blocking_calls), (0, 0));
    }
    let [child] = in_children(
        "blocking_call_runs_in_place_if_threads_are_refused",
        Stdio::piped,
        [("refused", no_thread_can_start)],
    );
    assert!(child.status.success(), "{}\n{}", child.status, words(&child));
}
