//! Deadlocks of a whole process, and the signal for reports. Each test is a process of its own, in which the test
//! harness has no thread: otherwise that thread might end each wait.
//!
//! The program runs itself again with the name of a scenario, and reads what that writes to its error stream.

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
fn main() {}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
fn main() {
    linux::main();
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
mod linux {
    use anabranch::{Operation, Pool, channel, sync};
    use std::{
        env,
        io::{BufRead, BufReader, Read},
        process::{Child, Command, Stdio, exit},
        sync::{Arc, Barrier, Mutex, mpsc},
        thread,
        time::Duration,
    };

    const SCENARIO: &str = "ANABRANCH_HANGS_SCENARIO";

    /// Many times what the pool waits before it looks, so a false report would come in time.
    const A_WHILE: Duration = Duration::from_millis(300);

    type Test = (&'static str, fn(), fn(Running));

    const TESTS: &[Test] = &[
        ("receive_whose_senders_wait_is_reported", receive_whose_senders_wait, |process| {
            // A fiber on a spare thread comes after the main thread.
            let text = process.until("thread `main`").having("fiber `consumer`").text_until("fiber `producer`");
            assert!(
                text.contains("deadlock: nothing in the process can proceed. 2 fibers and 1 thread wait"),
                "{text}"
            );
            assert!(
                text.contains("fiber `consumer`: waits for Receiver::recv at runtime/anabranch/tests/hangs.rs:"),
                "{text}"
            );
            assert!(text.contains("fiber `producer`: waits for Receiver::recv at "), "{text}");
            assert!(text.contains("thread `main`: waits for JoinHandle at "), "{text}");
        }),
        ("deadlock_of_locks_is_reported_with_cycle", deadlock_of_locks, |process| {
            let text = process.until("cycle of 2:").text_until("threads:");
            assert!(text.contains("deadlock: nothing in the process can proceed."), "{text}");
            assert!(text.contains("waits for Mutex::lock at ") && text.contains(", locked by fiber `"), "{text}");
        }),
        ("report_of_deadlock_has_stacks_if_backtraces_are_wanted", deadlock_with_backtraces, |process| {
            let mut process = process.until("thread `main`").having("hangs::main");
            let finds_stacks = cfg!(all(target_arch = "x86_64", not(anabranch_portable_switch)));
            if finds_stacks {
                process = process.having("wait_for_what_never_comes");
            }
            let text = process.text_until("main");
            assert!(text.contains("deadlock: nothing in the process can proceed."), "{text}");
            // The thread's own, and that of the fiber.
            assert!(text.contains("deadlock_with_backtraces"), "{text}");
            if finds_stacks {
                assert!(text.contains("wait_for_what_never_comes"), "{text}");
                assert!(!text.contains("missing"), "{text}");
            }
        }),
        ("deadlock_of_two_pools_is_reported", deadlock_of_two_pools, |process| {
            let text = process.until("thread `main`").text_until("main");
            assert!(
                text.contains("deadlock: nothing in the process can proceed. 2 fibers and 1 thread wait"),
                "{text}"
            );
        }),
        ("locks_of_std_in_two_orders_are_reported_with_stacks", deadlock_of_std_locks, |process| {
            let text = process.until("thread `compute-").having("lock_both").text_until("thread `hangs");
            assert!(
                text.contains("deadlock: nothing in the process can proceed. 0 fibers and 2 threads wait"),
                "{text}"
            );
            assert!(text.contains("): waits for another thread in a foreign call"), "{text}");
        }),
        ("wait_of_std_for_thread_that_sleeps_is_not_reported", blocked_by_sleeping_thread, silent),
        ("handler_receives_deadlock_once", handler_receives_deadlock, |process| {
            let (text, code) = process.end();
            assert!(code == Some(7) && text.is_empty(), "{code:?} {text}");
        }),
        ("deadlock_after_blocking_call_is_reported", deadlock_after_blocking_call, |process| {
            process.until("deadlock: nothing in the process can proceed");
        }),
        ("disabled_detection_reports_nothing", disabled, silent),
        ("environment_disables_detection", disabled_by_environment, silent),
        ("idle_pool_is_not_reported", idle, silent),
        ("wait_with_deadline_is_not_reported", timer, silent),
        ("wait_for_plain_thread_is_not_reported", plain_thread, silent),
        ("wait_for_blocking_call_is_not_reported", blocking_call, silent),
        ("wait_for_work_of_guest_is_not_reported", computing_guest, silent),
        ("wait_for_start_handler_is_not_reported", start_handler, silent),
        #[cfg(feature = "net")]
        ("wait_for_socket_is_not_reported", socket, |process| {
            let mut process = process.until("127.0.0.1:");
            let address = std::mem::take(&mut process.text);
            thread::sleep(A_WHILE);
            drop(std::net::TcpStream::connect(address.trim()).unwrap());
            silent(process);
        }),
        ("signal_prints_report_while_all_threads_are_blocked", all_blocked, |process| {
            let mut process = process.until("ready");
            for _ in 0..2 {
                process.signal();
                process = process.until("blocked");
                let text = process.text_until("2 fibers `stuck`: running");
                assert!(text.contains("anabranch: "), "{text}");
            }
        }),
        ("unknown_signal_is_reported", unknown_signal, |process| {
            let (text, _) = process.end();
            assert!(text.contains("ANABRANCH_REPORT_SIGNAL has no effect: `SEGV` is not a signal"), "{text}");
        }),
    ];

    pub(crate) fn main() {
        if let Ok(name) = env::var(SCENARIO) {
            TESTS.iter().find(|(test, ..)| *test == name).expect("a scenario").1();
            return;
        }
        let filters: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
        let is_wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
        for (name, _, check) in TESTS.iter().filter(|(name, ..)| is_wanted(name)) {
            check(Running::start(name));
            println!("test {name} ... ok");
        }
    }

    // ---- the processes ----

    fn one_thread() -> Pool {
        Pool::builder().threads(1).build().unwrap()
    }

    fn receive_whose_senders_wait() {
        let pool = Pool::builder().threads(2).build().unwrap();
        let (numbers, number) = channel::unbounded::<u8>();
        let (requests, request) = channel::unbounded::<u8>();
        let consumer = pool.spawn_named("consumer", move |cx| {
            let received = number.recv(cx);
            drop(requests);
            received.is_ok()
        });
        pool.spawn_named("producer", move |cx| {
            let _ = request.recv(cx);
            drop(numbers);
        });
        pool.run(|cx| consumer.join(cx)).unwrap();
    }

    fn deadlock_of_locks() {
        let pool = Pool::builder().threads(2).build().unwrap();
        let locks = [(); 2].map(|()| Arc::new(sync::Mutex::new(())));
        let both = Arc::new(sync::Barrier::new(2));
        let fibers = [0, 1].map(|first| {
            let (one, other, both) = (locks[first].clone(), locks[1 - first].clone(), both.clone());
            pool.spawn_named(["left", "right"][first], move |cx| {
                let _one = one.lock(cx).unwrap();
                both.wait(cx).unwrap();
                other.lock(cx).is_ok()
            })
        });
        pool.run(|cx| fibers.into_iter().for_each(|fiber| _ = fiber.join(cx)));
    }

    fn deadlock_of_two_pools() {
        let pools = [one_thread(), one_thread()];
        let (numbers, number) = channel::unbounded::<u8>();
        let (requests, request) = channel::unbounded::<u8>();
        let consumer = pools[0].spawn(move |cx| {
            let _ = number.recv(cx);
            drop(requests);
        });
        pools[1].spawn(move |cx| {
            let _ = request.recv(cx);
            drop(numbers);
        });
        pools[0].run(|cx| consumer.join(cx)).unwrap();
    }

    #[inline(never)]
    fn wait_for_what_never_comes(cx: &anabranch::Cx<'_>, number: &channel::Receiver<u8>) -> bool {
        std::hint::black_box(number.recv(cx).is_ok())
    }

    fn deadlock_with_backtraces() {
        // SAFETY: the process has one thread.
        unsafe { env::set_var("RUST_BACKTRACE", "1") };
        let pool = Pool::builder().threads(2).build().unwrap();
        let (_numbers, number) = channel::unbounded::<u8>();
        let fiber = pool.spawn(move |cx| wait_for_what_never_comes(cx, &number));
        pool.run(|cx| fiber.join(cx)).unwrap();
    }

    #[inline(never)]
    fn lock_both(first: &Mutex<u8>, second: &Mutex<u8>, both: &Barrier) -> u8 {
        let first = first.lock().unwrap();
        both.wait();
        std::hint::black_box(*first + *second.lock().unwrap())
    }

    /// The main thread works in the pool too.
    fn deadlock_of_std_locks() {
        // SAFETY: the process has one thread.
        unsafe { env::set_var("RUST_BACKTRACE", "1") };
        let pool = Pool::builder().threads(2).thread_name(|i| format!("compute-{i}")).build().unwrap();
        let (left, right, both) = (Mutex::new(1), Mutex::new(2), Barrier::new(2));
        pool.install(|| anabranch::join(|| lock_both(&left, &right, &both), || lock_both(&right, &left, &both)));
    }

    /// For longer than compute code that stands still is left alone.
    fn blocked_by_sleeping_thread() {
        let pool = Pool::builder().threads(2).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let other = thread::spawn(move || {
            thread::sleep(Duration::from_millis(2500));
            sender.send(7).unwrap();
        });
        let done = &Barrier::new(2);
        let wait = move || {
            done.wait();
            8
        };
        let receive = move || {
            let received = receiver.recv();
            done.wait();
            received
        };
        assert_eq!(pool.install(|| anabranch::join(wait, receive)), (8, Ok(7)));
        other.join().unwrap();
    }

    fn handler_receives_deadlock() {
        let pool = Pool::builder().threads(1).on_deadlock(|report| {
            assert!(report.is_deadlock() && report.waiting() == 2, "{report}");
            exit(7);
        });
        let pool = pool.build().unwrap();
        let fiber = pool.spawn(|cx| channel::bounded::<u8>(1).1.recv(cx).is_ok());
        assert!(!pool.run(|cx| fiber.join(cx)).unwrap());
        let mut trigger = sync::Trigger::new();
        let _signal = trigger.signal();
        let fiber = pool.spawn(move |cx| trigger.wait(cx));
        let _ = pool.run(|cx| fiber.join(cx));
    }

    fn deadlock_after_blocking_call() {
        let pool = one_thread();
        let fiber = pool.spawn(|cx| {
            cx.blocking(|| thread::sleep(Duration::from_millis(30))).unwrap();
            let mut trigger = sync::Trigger::new();
            let _signal = trigger.signal();
            trigger.wait(cx).is_ok()
        });
        let _ = pool.run(|cx| fiber.join(cx));
    }

    /// Hangs, in a process that ends all the same after a while: by a signal, as a thread might end the wait.
    fn hang(pool: &Pool) {
        // SAFETY: the default action of the signal ends the process.
        unsafe { libc::alarm(1) };
        let mut trigger = sync::Trigger::new();
        let _signal = trigger.signal();
        let fiber = pool.spawn(move |cx| trigger.wait(cx));
        let _ = pool.run(|cx| fiber.join(cx));
    }

    fn disabled() {
        hang(&Pool::builder().threads(1).without_deadlock_detection().build().unwrap());
    }

    fn disabled_by_environment() {
        // SAFETY: the process has one thread.
        unsafe { env::set_var("ANABRANCH_DEADLOCKS", "off") };
        hang(&one_thread());
    }

    fn idle() {
        let pool = Pool::builder().threads(2).build().unwrap();
        pool.run(|cx| pool.spawn(|_| ()).join(cx)).unwrap();
        anabranch::join(|| 1, || 2);
        thread::sleep(A_WHILE);
    }

    fn timer() {
        let pool = one_thread();
        // A fiber that waits for one with a deadline.
        let sleeper = pool.spawn(|cx| cx.sleep(A_WHILE));
        let other = pool.spawn(|cx| sleeper.join(cx).is_ok());
        assert!(pool.run(|cx| other.join(cx)).unwrap());
        let (_sender, receiver) = channel::unbounded::<u8>();
        assert!(pool.run(|cx| receiver.receiving().timeout(cx, A_WHILE)).is_err());
        let late = pool.run(|cx| {
            pool.spawn(move |cx| cx.timeout(A_WHILE, |cx| receiver.recv(cx).map_err(anabranch::Error::from)).is_err())
                .join(cx)
        });
        assert!(late.unwrap());
    }

    fn plain_thread() {
        let pool = one_thread();
        let (sender, receiver) = channel::unbounded();
        let other = thread::spawn(move || {
            thread::sleep(A_WHILE);
            sender.try_send(7).unwrap();
        });
        let fiber = pool.spawn(move |cx| receiver.recv(cx));
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(7));
        other.join().unwrap();
    }

    fn blocking_call() {
        let pool = one_thread();
        let fiber = pool.spawn(|cx| cx.blocking(|| thread::sleep(A_WHILE)));
        pool.run(|cx| fiber.join(cx)).unwrap().unwrap();
        // On the thread itself.
        pool.run(|cx| cx.blocking(|| thread::sleep(A_WHILE))).unwrap();
    }

    fn start_handler() {
        let (sender, receiver) = channel::unbounded();
        let send = move |_| {
            thread::sleep(A_WHILE);
            sender.try_send(1).unwrap();
        };
        let starting = Pool::builder().threads(1).without_waiting_for_start().on_start(send).build().unwrap();
        assert_eq!(one_thread().run(|cx| receiver.recv(cx)), Ok(1));
        drop(starting);
    }

    fn computing_guest() {
        let pool = one_thread();
        let (sender, receiver) = channel::unbounded();
        let fiber = pool.spawn(move |cx| receiver.recv(cx));
        pool.install(|| {
            thread::sleep(A_WHILE);
            sender.try_send(1).unwrap();
        });
        assert_eq!(pool.run(|cx| fiber.join(cx)).unwrap(), Ok(1));
    }

    #[cfg(feature = "net")]
    fn socket() {
        use anabranch::net::TcpListener;

        let pool = one_thread();
        let (sender, address) = mpsc::channel();
        let fiber = pool.spawn(move |cx| {
            let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            listener.accept(cx).is_ok()
        });
        eprintln!("{}", address.recv().unwrap());
        assert!(pool.run(|cx| fiber.join(cx)).unwrap());
    }

    fn all_blocked() {
        // SAFETY: the process has one thread.
        unsafe { env::set_var("ANABRANCH_REPORT_SIGNAL", "SIGUSR1") };
        let pool = Pool::builder().threads(2).max_spare_threads(0).build().unwrap();
        let (begun, never) = (Arc::new(Barrier::new(3)), Arc::new(Barrier::new(4)));
        for _ in 0..2 {
            let (begun, never) = (begun.clone(), never.clone());
            pool.spawn_named("stuck", move |_| {
                begun.wait();
                never.wait();
            });
        }
        begun.wait();
        eprintln!("ready");
        never.wait();
    }

    fn unknown_signal() {
        // SAFETY: the process has one thread.
        unsafe { env::set_var("ANABRANCH_REPORT_SIGNAL", "SEGV") };
        drop(one_thread());
    }

    // ---- the checks ----

    fn silent(process: Running) {
        let (text, _) = process.end();
        assert_eq!(text, "");
    }

    /// A process, and the lines that it has written.
    struct Running {
        child: Child,
        lines: BufReader<std::process::ChildStderr>,
        text: String,
        _watchdog: mpsc::Sender<()>,
    }

    impl Running {
        fn start(scenario: &str) -> Self {
            let mut command = Command::new(env::current_exe().unwrap());
            command.env(SCENARIO, scenario);
            let others = ["ANABRANCH_DEADLOCKS", "ANABRANCH_REPORT_SIGNAL", "RUST_BACKTRACE", "RUST_LIB_BACKTRACE"];
            others.iter().for_each(|variable| _ = command.env_remove(variable));
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            let lines = BufReader::new(child.stderr.take().unwrap());
            let (watchdog, end) = mpsc::channel::<()>();
            let (id, scenario) = (child.id(), scenario.to_owned());
            thread::spawn(move || {
                if end.recv_timeout(Duration::from_secs(120)) == Err(mpsc::RecvTimeoutError::Timeout) {
                    eprintln!("{scenario} hangs without a report");
                    kill(id, rustix::process::Signal::KILL);
                }
            });
            Self { child, lines, text: String::new(), _watchdog: watchdog }
        }

        /// Reads up to a line that contains this.
        fn until(mut self, part: &str) -> Self {
            self.read_until(part);
            self
        }

        fn read_until(&mut self, part: &str) {
            loop {
                let mut line = String::new();
                assert!(self.lines.read_line(&mut line).unwrap() > 0, "no `{part}` in:\n{}", self.text);
                self.text += &line;
                if line.contains(part) {
                    return;
                }
            }
        }

        /// Reads on up to a line that contains this, unless there was one.
        fn having(mut self, part: &str) -> Self {
            self.read_unless_there(part);
            self
        }

        fn read_unless_there(&mut self, part: &str) {
            if !self.text.contains(part) {
                self.read_until(part);
            }
        }

        /// Does the same, and returns the whole text so far.
        fn text_until(&mut self, part: &str) -> String {
            self.read_unless_there(part);
            std::mem::take(&mut self.text)
        }

        fn signal(&self) {
            kill(self.child.id(), rustix::process::Signal::USR1);
        }

        /// Waits for the end, and returns the text and the exit code.
        fn end(mut self) -> (String, Option<i32>) {
            self.lines.read_to_string(&mut self.text).unwrap();
            let code = self.child.wait().unwrap().code();
            (std::mem::take(&mut self.text), code)
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            let _ = (self.child.kill(), self.child.wait());
        }
    }

    fn kill(process: u32, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_raw(process as i32).unwrap();
        let _ = rustix::process::kill_process(process, signal);
    }
}
