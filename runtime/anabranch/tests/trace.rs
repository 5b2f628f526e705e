//! Traces: what a traced pool records, and the file that the environment asks for. In a process of its own, since all
//! traced pools of a process share the memory for their events. A test finds its own threads by their names.

#![cfg(all(any(unix, windows), not(any(loom, shuttle, miri))))]

mod common;

use anabranch::{Pool, prelude::*, sync::Event as Flag, trace};
use anabranch_trace::{
    event::{Event, Loot, Role, State},
    read::{Lane, Trace},
    recording::{Call, Piece, Recording},
};
use std::{
    fs, hint,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

const IS_CHILD: &str = "ANABRANCH_TEST_IS_CHILD";

fn traced(name: &'static str, threads: usize) -> Pool {
    let builder = Pool::builder().threads(threads).trace(true);
    builder.thread_name(move |index| format!("{name} {index}")).build().unwrap()
}

fn read() -> Trace {
    let mut bytes = Vec::new();
    let summary = trace::write_to(&mut bytes).unwrap();
    let trace = Trace::read(&bytes).unwrap();
    let events = trace.lanes.iter().map(|lane| lane.events.len() as u64).sum::<u64>();
    let samples = trace.samples.iter().map(|sample| 1 + sample.threads.len() as u64).sum::<u64>();
    assert_eq!((summary.events, summary.lost), (events + samples, trace.lost));
    trace
}

fn lane<'a>(trace: &'a Trace, name: &str) -> &'a Lane {
    trace.lanes.iter().find(|lane| lane.name == name).unwrap_or_else(|| panic!("{name} has no lane"))
}

fn events(lane: &Lane) -> impl Iterator<Item = Event> + Clone {
    lane.events.iter().map(|&(_, event)| event)
}

/// Returns the label of the event's site, and the line in this file.
fn site(trace: &Trace, event: Event) -> (&str, u32) {
    let place = trace.place(event.site().expect("a site")).unwrap();
    assert!(place.file.is_empty() || place.file.ends_with("trace.rs"), "{place:?}");
    (&place.label, place.line)
}

/// Runs both halves of a join at a time: each waits for the other one.
fn join_both() {
    let (here, there) = mpsc::channel();
    let (back, answer) = mpsc::channel();
    anabranch::join(
        move || {
            here.send(()).unwrap();
            answer.recv().unwrap();
        },
        move || {
            there.recv().unwrap();
            back.send(()).unwrap();
        },
    );
}

/// Runs `body` on a thread with a name.
fn on_thread<R: Send>(name: &str, body: impl FnOnce() -> R + Send) -> R {
    thread::scope(|s| thread::Builder::new().name(name.into()).spawn_scoped(s, body).unwrap().join().unwrap())
}

#[test]
fn join_that_is_shared_shows_root_theft_and_states() {
    common::watchdog(common::LONG, || {
        let pool = traced("shared", 2);
        let line = on_thread("the guest", || {
            let line = line!() + 1;
            pool.install(join_both);
            line
        });
        drop(pool);
        let trace = read();
        let guest = lane(&trace, "the guest");
        let Some(Event::Enter { role: Role::Guest, worker, pool }) =
            events(guest).find(|event| matches!(event, Event::Enter { .. }))
        else {
            panic!("{:?}", guest.events)
        };
        assert_eq!(trace.pools[&pool], 2);
        let root = events(guest).find(|event| matches!(event, Event::Root(_))).unwrap();
        assert_eq!(site(&trace, root), ("", line));
        assert_eq!(events(guest).last(), Some(Event::Leave));

        let thieves: Vec<&Lane> = trace.lanes.iter().filter(|lane| lane.name.starts_with("shared ")).collect();
        let count = |wanted| {
            let begins =
                |lane: &&&Lane| matches!(events(lane).next(), Some(Event::Enter { role, .. }) if role == wanted);
            thieves.iter().filter(begins).count()
        };
        // While a thread waits in `recv`, the pool may replace it by a spare.
        assert_eq!((count(Role::Worker), count(Role::Spare)), (2, thieves.len() - 2), "{thieves:#?}");
        for thief in &thieves {
            assert_eq!(events(thief).last(), Some(Event::Leave));
        }
        let has_stolen = |lane: &Lane| {
            let mut events =
                events(lane).skip_while(|event| *event != Event::Steal { loot: Loot::Fork, victim: worker, count: 1 });
            events.any(|event| matches!(event, Event::State { state: State::Working, .. }))
        };
        assert!(thieves.iter().any(|thief| has_stolen(thief)), "{thieves:#?}");
        assert!(guest.events.iter().any(|(_, event)| matches!(event, Event::CpuTime(_))));
    });
}

#[test]
fn pool_that_is_not_traced_records_nothing() {
    common::watchdog(common::LONG, || {
        let builder = Pool::builder().threads(2).trace(false).thread_name(|index| format!("silent {index}"));
        builder.build().unwrap().install(join_both);
        assert!(!read().lanes.iter().any(|lane| lane.name.starts_with("silent")));
    });
}

#[cfg(target_os = "linux")]
#[test]
fn samples_tell_how_long_a_thread_had_a_core() {
    common::watchdog(common::LONG, || {
        let pool = traced("sampled", 1);
        let ran = |trace: &Trace| -> u64 {
            let thread = lane(trace, "sampled 0").thread;
            let times = trace.samples.iter().flat_map(|sample| &sample.threads);
            times.filter(|(number, ..)| *number == thread).map(|(_, ran, _)| ran).sum()
        };
        while pool.call(|| (0..1_000_000).map(std::hint::black_box).sum::<u64>()) == 0 || ran(&read()) < 20_000_000 {}
    });
}

#[test]
fn fiber_shows_its_name_its_waits_and_who_woke_it() {
    common::watchdog(common::LONG, || {
        let pool = traced("fibers", 1);
        let flag = std::sync::Arc::new(Flag::new());
        let (sender, receiver) = mpsc::channel();
        let spawned = line!() + 1;
        let waiting = pool.spawn_named("the waiting one", {
            let flag = flag.clone();
            move |cx| {
                sender.send(line!() + 1).unwrap();
                flag.wait(cx).unwrap();
            }
        });
        let line = receiver.recv().unwrap();
        let setting = pool.spawn(move |_| flag.set());
        pool.run(|cx| {
            setting.join(cx).unwrap();
            waiting.join(cx).unwrap();
        });
        drop(pool);
        let trace = read();
        let worker = lane(&trace, "fibers 0");
        let name = events(worker).find(|event| matches!(event, Event::FiberName { .. })).unwrap();
        assert_eq!(site(&trace, name).0, "the waiting one");
        let Event::FiberName { fiber, .. } = name else { unreachable!() };
        let of_fiber: Vec<Event> = events(worker)
            .filter(|event| match *event {
                Event::FiberStart { fiber: number, .. }
                | Event::FiberSuspend { fiber: number, .. }
                | Event::FiberResume { fiber: number }
                | Event::FiberEnd { fiber: number }
                | Event::Wake { fiber: number } => number == fiber,
                _ => false,
            })
            .collect();
        let [
            started @ Event::FiberStart { .. },
            suspended @ Event::FiberSuspend { .. },
            Event::Wake { .. },
            Event::FiberResume { .. },
            Event::FiberEnd { .. },
        ] = of_fiber[..]
        else {
            panic!("{of_fiber:?}")
        };
        assert_eq!(site(&trace, started), ("", spawned));
        assert_eq!(site(&trace, suspended).1, line);
    });
}

#[test]
fn timer_shows_when_it_was_due() {
    const SLEEP: Duration = Duration::from_millis(5);
    common::watchdog(common::LONG, || {
        let pool = traced("timers", 1);
        let sleeper = pool.spawn(|cx| cx.sleep(SLEEP).unwrap());
        let keeper = pool.spawn(|_| {
            let begin = Instant::now();
            while begin.elapsed() < 4 * SLEEP {
                hint::spin_loop();
            }
        });
        pool.run(|cx| {
            sleeper.join(cx).unwrap();
            keeper.join(cx).unwrap();
        });
        drop(pool);
        let trace = read();
        let events = &lane(&trace, "timers 0").events;
        let position = |wanted: &dyn Fn(Event) -> bool| events.iter().position(|&(_, event)| wanted(event)).unwrap();
        let due = position(&|event| matches!(event, Event::TimerDue { .. }));
        let (fired, Event::TimerDue { fiber, late }) = events[due] else { unreachable!() };
        assert_eq!(events[due + 1].1, Event::Wake { fiber });
        let started = position(&|event| matches!(event, Event::FiberStart { fiber: number, .. } if number == fiber));
        let suspended =
            position(&|event| matches!(event, Event::FiberSuspend { fiber: number, .. } if number == fiber));
        let sleep = SLEEP.as_nanos() as u64;
        assert!(fired - late >= events[started].0 + sleep, "{events:?}");
        // The thread may not have begun the other fiber when the timer was due.
        let other = position(&|event| matches!(event, Event::FiberEnd { fiber: number } if number != fiber));
        if other < due {
            assert!(events[suspended].0 + sleep + late >= events[other].0, "{events:?}");
        }
    });
}

#[test]
fn spawn_shows_its_place_on_the_thread_that_spawns() {
    common::watchdog(common::LONG, || {
        let pool = traced("spawns", 1);
        let line = on_thread("outside", || {
            let line = line!() + 1;
            let fiber = pool.spawn(|cx| cx.scope(|s| drop(s.spawn(|_| line!()))));
            pool.run(|cx| fiber.join(cx)).unwrap();
            line
        });
        drop(pool);
        let trace = read();
        for name in ["outside", "spawns 0"] {
            let spawn = events(lane(&trace, name)).find(|event| matches!(event, Event::Spawn(_)));
            assert_eq!(site(&trace, spawn.unwrap()), ("", line), "{name}");
        }
    });
}

#[test]
fn blocking_call_is_a_span_of_its_thread() {
    common::watchdog(common::LONG, || {
        let pool = traced("callers", 1);
        let (thread, line) = on_thread("caller", || {
            let line = line!() + 1;
            let call = pool.spawn(|cx| cx.blocking(|| thread::current().name().map(str::to_owned)).unwrap());
            (pool.run(|cx| call.join(cx)).unwrap().unwrap(), line)
        });
        drop(pool);
        let trace = read();
        let events: Vec<Event> = events(lane(&trace, &thread)).collect();
        let [begin @ Event::SpanBegin(_), Event::SpanEnd, ..] = events[..] else { panic!("{events:?}") };
        assert_eq!(site(&trace, begin), ("blocking", line));
    });
}

#[test]
fn wait_with_a_deadline_shows_its_place() {
    common::watchdog(common::LONG, || {
        let pool = traced("sleepers", 1);
        let line = pool.spawn(|cx| {
            cx.sleep(Duration::from_millis(1)).unwrap();
            line!() - 1
        });
        let line = pool.run(|cx| line.join(cx).unwrap());
        drop(pool);
        let trace = read();
        let mut suspensions =
            events(lane(&trace, "sleepers 0")).filter(|event| matches!(event, Event::FiberSuspend { .. }));
        assert_eq!(site(&trace, suspensions.next().unwrap()).1, line);
    });
}

#[test]
fn thread_in_run_shows_what_it_waits_for() {
    common::watchdog(common::LONG, || {
        let pool = traced("run", 1);
        let flag = Flag::new();
        let line = on_thread("in run", || {
            thread::scope(|s| {
                s.spawn(|| {
                    while pool.fibers().is_empty() {
                        thread::yield_now();
                    }
                    flag.set();
                });
                let line = line!() + 1;
                pool.run(|cx| flag.wait(cx)).unwrap();
                line
            })
        });
        let trace = read();
        let waiting = events(lane(&trace, "in run"))
            .find(|event| matches!(event, Event::State { state: State::Waiting, .. }))
            .unwrap();
        assert_eq!(site(&trace, waiting).1, line);
    });
}

#[test]
fn spans_nest_and_marks_have_places() {
    let _traced = traced("spans", 1);
    let line = on_thread("spans", || {
        let _outer = trace::span("outer");
        trace::mark("between");
        let line = line!() + 1;
        drop(trace::span("inner"));
        line
    });
    let trace = read();
    let events: Vec<Event> = events(lane(&trace, "spans")).collect();
    let [outer, mark, inner, Event::SpanEnd, Event::SpanEnd] = events[..] else { panic!("{events:?}") };
    assert_eq!(site(&trace, outer).0, "outer");
    assert_eq!((site(&trace, mark).0, site(&trace, inner)), ("between", ("inner", line)));
}

/// Runs `test` of this program again as a child with a trace; in the child itself: `None`.
fn run_child(test: &str, file: &Path, memory: &str) -> Option<Output> {
    if std::env::var_os(IS_CHILD).is_some() {
        return None;
    }
    let mut command: Command = common::rerun(module_path!(), test);
    command.env(IS_CHILD, "1").env("ANABRANCH_TRACE", file).env("ANABRANCH_TRACE_MEMORY", memory);
    Some(command.output().unwrap())
}

/// A directory that is removed at the end.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("anabranch-trace-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    fn files(&self) -> Vec<String> {
        let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut files: Vec<String> = fs::read_dir(&self.0).unwrap().map(name).collect();
        files.sort();
        files
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn assert_passed(child: &Output) -> String {
    let (out, errors) = (String::from_utf8_lossy(&child.stdout), String::from_utf8_lossy(&child.stderr));
    assert!(child.status.success() && out.contains("1 passed"), "{out}\n{errors}");
    errors.into_owned()
}

#[test]
fn environment_writes_a_file_at_exit() {
    let dir = Dir::new("exit");
    let test = "environment_writes_a_file_at_exit";
    let Some(child) = run_child(test, &dir.0.join("run-%p.trace"), "") else {
        return common::watchdog(common::LONG, join_both);
    };
    assert!(assert_passed(&child).contains("ANABRANCH_TRACE_MEMORY is \"\""));
    let [name] = &dir.files()[..] else { panic!("{:?}", dir.files()) };
    assert!(!name.contains('%') && name.ends_with(".trace"), "{name}");
    let trace = Trace::read(&fs::read(dir.0.join(name)).unwrap()).unwrap();
    assert!(trace.lanes.iter().any(|lane| lane.name == "anabranch-0"));
    assert!(trace.meta["arguments"].contains(test), "{:?}", trace.meta);
}

#[test]
fn first_panic_writes_a_file_of_its_own() {
    let dir = Dir::new("panic");
    let Some(child) = run_child("first_panic_writes_a_file_of_its_own", &dir.0.join("run"), "8") else {
        for _ in 0..2 {
            let panic = || {
                anabranch::join(|| (), || ());
                std::panic::resume_unwind(Box::new("not seen by the hook"));
            };
            assert!(std::panic::catch_unwind(panic).is_err());
            let panic = || anabranch::join(|| (), || panic!("seen by the hook"));
            assert!(std::panic::catch_unwind(panic).is_err());
        }
        return;
    };
    assert!(assert_passed(&child).contains("seen by the hook"));
    assert_eq!(dir.files(), ["run", "run.panic"]);
    for file in dir.files() {
        Trace::read(&fs::read(dir.0.join(file)).unwrap()).unwrap();
    }
}

#[test]
fn full_memory_keeps_the_last_events_and_counts_the_others() {
    let dir = Dir::new("memory");
    let file = dir.0.join("run");
    let Some(child) = run_child("full_memory_keeps_the_last_events_and_counts_the_others", &file, "1") else {
        for _ in 0..200_000 {
            trace::mark("early");
            anabranch::join(|| (), || ());
        }
        return trace::mark("last");
    };
    assert_passed(&child);
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.len() < 2 << 20, "{} bytes", bytes.len());
    let trace = Trace::read(&bytes).unwrap();
    let early = trace.lanes.iter().flat_map(events).filter(|event| matches!(event, Event::Root(_))).count() as u64;
    assert!(trace.lost > 0 && trace.lost + early >= 200_000, "{} lost, {early} left", trace.lost);
    let is_last = |event| matches!(event, Event::Mark(site) if trace.place(site).unwrap().label == "last");
    assert!(trace.lanes.iter().flat_map(events).any(is_last));
}

#[cfg(unix)]
#[test]
fn file_that_cannot_be_written_is_reported_at_once() {
    let file = Path::new("/nonexistent/directory/run.trace");
    let Some(child) = run_child("file_that_cannot_be_written_is_reported_at_once", file, "8") else {
        join_both();
        return assert_eq!(read().lanes, []);
    };
    let errors = assert_passed(&child);
    assert!(errors.contains("/nonexistent/directory/run.trace, which cannot be written"), "{errors}");
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_is_reported_and_leaves_the_device_alone() {
    use std::os::unix::fs::FileTypeExt;

    let Some(child) = run_child("full_disk_is_reported_and_leaves_the_device_alone", Path::new("/dev/full"), "8")
    else {
        return join_both();
    };
    let errors = assert_passed(&child);
    assert!(errors.contains("the trace was not written to /dev/full: No space left on device"), "{errors}");
    assert!(fs::metadata("/dev/full").unwrap().file_type().is_char_device());
}

#[test]
fn saved_file_replaces_an_older_one_as_a_whole() {
    let dir = Dir::new("save");
    let file = dir.0.join("run.trace");
    fs::write(&file, "old").unwrap();
    let missing = dir.0.join("missing").join("run.trace");
    assert!(trace::save(&missing).is_err());
    trace::save(&file).unwrap();
    Trace::read(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(dir.files(), ["run.trace"]);
}

/// Returns the work and the span of each root of the trace, in milliseconds.
fn works_and_spans(trace: &Trace) -> Vec<(u64, u64)> {
    let of_lane = |lane: &Lane| {
        let number = |event| match event {
            Event::Work(time) | Event::Span(time) => Some(time / 1_000_000),
            _ => None,
        };
        let numbers: Vec<u64> = events(lane).filter_map(number).collect();
        numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    };
    trace.lanes.iter().flat_map(of_lane).collect()
}

/// Returns how long the calling thread has had a core.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live timespec, which the call writes.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Has a core for 21 ms, however busy the machine is.
#[cfg(unix)]
fn work() {
    let begin = cpu_time();
    while cpu_time() - begin < Duration::from_millis(21) {
        hint::spin_loop();
    }
}

/// Work takes at least its time on any machine, so the differences of work and span have lower bounds.
#[cfg(unix)]
#[test]
fn work_and_span_differ_by_what_could_run_at_a_time() {
    let dir = Dir::new("work");
    let file = dir.0.join("run");
    if std::env::var_os(IS_CHILD).is_some() {
        anabranch::join(work, || anabranch::join(work, work));
        anabranch::scope(|s| (0..3).for_each(|_| s.spawn(work)));
        let sum: u64 = (0..8u64).into_par_iter().inspect(|_| work()).sum();
        assert_eq!(sum, 28);
        let panic = std::panic::catch_unwind(|| anabranch::join(work, || panic!("in the second half")));
        assert!(panic.is_err());
        return;
    }
    let mut command: Command = common::rerun(module_path!(), "work_and_span_differ_by_what_could_run_at_a_time");
    let command = command.env(IS_CHILD, "1").env("ANABRANCH_TRACE", &file).env("ANABRANCH_NUM_THREADS", "1");
    assert_passed(&command.env("ANABRANCH_TRACE_WORK_SPAN", "1").output().unwrap());
    let trace = Trace::read(&fs::read(&file).unwrap()).unwrap();
    let published = trace.lanes.iter().flat_map(events).filter(|event| matches!(event, Event::Publish { .. }));
    let places: Vec<(&str, u32)> = published.map(|event| site(&trace, event)).collect();
    let in_join = |&(label, line): &(&str, u32)| label.is_empty() && line > 0;
    let in_loop = |&(label, _): &(&str, u32)| label.starts_with("a loop in trace::work_and_span_differ");
    assert!(places.iter().any(in_join) && places.iter().any(in_loop), "{places:?}");
    assert!(places.iter().all(|place| in_join(place) || in_loop(place)), "{places:?}");
    let roots = works_and_spans(&trace);
    let [join, scope, many, panic] = roots[..] else { panic!("{roots:?}") };
    for ((work, span), items, beside) in [(join, 3, 2), (scope, 3, 2), (many, 8, 4), (panic, 1, 0)] {
        assert!(work >= items * 20 && span >= 20, "{roots:?}");
        assert!(work - span >= beside * 20, "{roots:?}");
    }
}

/// A strand that sleeps has no core, and neither has one whose core another program uses.
#[cfg(unix)]
#[test]
fn work_and_span_leave_out_time_without_a_core() {
    let dir = Dir::new("asleep");
    let file = dir.0.join("run");
    if std::env::var_os(IS_CHILD).is_some() {
        let sleep = || thread::sleep(Duration::from_millis(50));
        anabranch::join(sleep, || (work(), sleep()));
        return;
    }
    let mut command: Command = common::rerun(module_path!(), "work_and_span_leave_out_time_without_a_core");
    let command = command.env(IS_CHILD, "1").env("ANABRANCH_TRACE", &file).env("ANABRANCH_NUM_THREADS", "1");
    assert_passed(&command.env("ANABRANCH_TRACE_WORK_SPAN", "1").output().unwrap());
    let roots = works_and_spans(&Trace::read(&fs::read(&file).unwrap()).unwrap());
    let [(work, span)] = roots[..] else { panic!("{roots:?}") };
    assert!((20..50).contains(&work) && (20..50).contains(&span), "{roots:?}");
}

/// Every fork of a run on one thread is in the trace: two loops' worth of forks, and the tasks of a scope.
#[cfg(unix)]
#[test]
fn recorded_forks_are_those_of_the_program() {
    fn tree(depth: u32) {
        if depth == 0 {
            return work();
        }
        anabranch::join(|| tree(depth - 1), || tree(depth - 1));
    }
    let dir = Dir::new("forks");
    let file = dir.0.join("run");
    if std::env::var_os(IS_CHILD).is_some() {
        tree(3);
        work();
        anabranch::scope(|s| (0..3).for_each(|_| s.spawn(|| tree(1))));
        let panic = std::panic::catch_unwind(|| anabranch::join(|| panic!("in the first half"), || ()));
        assert!(panic.is_err());
        return;
    }
    let mut command: Command = common::rerun(module_path!(), "recorded_forks_are_those_of_the_program");
    let command = command.env(IS_CHILD, "1").env("ANABRANCH_TRACE", &file).env("ANABRANCH_NUM_THREADS", "1");
    assert_passed(&command.env("ANABRANCH_TRACE_FORKS", "1").output().unwrap());
    let trace = Trace::read(&fs::read(&file).unwrap()).unwrap();
    assert!(!trace.lanes.iter().flat_map(events).any(|event| matches!(event, Event::Publish { .. })));
    let recording = Recording::of(&trace, 0).unwrap();
    let [tree, scope, panic] = &recording.calls[..] else { panic!("{recording:?}") };
    let count = |call: &Call, wanted: fn(&Piece) -> bool| {
        recording.pieces[call.pieces.clone()].iter().filter(|piece| wanted(piece)).count()
    };
    let is_fork = |piece: &Piece| matches!(piece, Piece::Fork { .. });
    let is_task = |piece: &Piece| matches!(piece, Piece::Task { .. });
    assert_eq!((count(tree, is_fork), count(scope, is_task), count(scope, is_fork)), (7, 3, 3), "{recording:?}");
    let ms = |time: u64| time / 1_000_000;
    assert!(ms(tree.work) >= 160 && ms(tree.work - tree.span) >= 140, "{tree:?}");
    assert!(ms(scope.work) >= 120 && ms(scope.work - scope.span) >= 100 && ms(scope.outside) >= 20, "{scope:?}");
    assert_eq!(count(panic, is_fork), 1, "{panic:?}");
}

#[cfg(unix)]
#[test]
fn signal_writes_the_file_while_the_program_goes_on() {
    let dir = Dir::new("signal");
    let file = dir.0.join("run");
    if std::env::var_os(IS_CHILD).is_some() {
        let file = PathBuf::from(std::env::var_os("ANABRANCH_TRACE").unwrap());
        return common::watchdog(common::LONG, || {
            join_both();
            let mut kill = Command::new("kill");
            assert!(kill.args(["-USR1", &std::process::id().to_string()]).status().unwrap().success());
            // The file is empty until then.
            while Trace::read(&fs::read(&file).unwrap()).is_err() {
                thread::yield_now();
            }
        });
    }
    let mut command: Command = common::rerun(module_path!(), "signal_writes_the_file_while_the_program_goes_on");
    let command = command.env(IS_CHILD, "1").env("ANABRANCH_TRACE", &file).env("ANABRANCH_REPORT_SIGNAL", "USR1");
    assert_passed(&command.output().unwrap());
}
