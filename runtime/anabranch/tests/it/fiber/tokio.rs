//! Futures of tokio on fibers, entered at each poll, and fibers awaited by tasks.

use crate::common::{
    LONG,
    fibers::{FOREVER, on_fiber},
    pool, watchdog,
};
use anabranch::{JoinError, WaitError};
use std::{
    future::{Future, poll_fn},
    io,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Handle, Runtime},
    sync::Notify,
    time,
};

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// The wrapper of the guide.
async fn inside<F: Future>(handle: Handle, future: F) -> F::Output {
    let mut future = pin!(future);
    poll_fn(|context| {
        let _entered = handle.enter();
        future.as_mut().poll(context)
    })
    .await
}

#[test]
fn timers_of_tokio_end_waits_of_fibers() {
    watchdog(LONG, || {
        let (runtime, pool) = (runtime(), pool(2));
        let start = Instant::now();
        let fibers: Vec<_> = (0..100)
            .map(|n| {
                let handle = runtime.handle().clone();
                let sleep = async move {
                    time::sleep(Duration::from_millis(1 + n % 5)).await;
                    n
                };
                if n % 2 == 0 {
                    pool.spawn_async(inside(handle, sleep))
                } else {
                    pool.spawn(move |cx| cx.block_on(inside(handle, sleep)).unwrap())
                }
            })
            .collect();
        let sum: u64 = fibers.into_iter().map(|fiber| pool.run(|cx| fiber.join(cx)).unwrap()).sum();
        assert!(sum == 4950 && start.elapsed() >= Duration::from_millis(5));
    });
}

#[test]
fn other_fibers_are_outside_of_the_runtime() {
    watchdog(LONG, || {
        let (runtime, pool) = (runtime(), pool(1));
        let notify = Arc::new(Notify::new());
        let (handle, notified) = (runtime.handle().clone(), Arc::clone(&notify));
        let waits = pool.spawn(move |cx| {
            let result = cx.block_on(inside(handle, async move {
                let is_inside = Handle::try_current().is_ok();
                notified.notified().await;
                is_inside
            }));
            (result, Handle::try_current().is_ok())
        });
        crate::common::fibers::until_waiting(&pool, 1);
        assert!(!on_fiber(&pool, |_| Handle::try_current().is_ok()));
        notify.notify_one();
        assert_eq!(pool.run(|cx| waits.join(cx)).unwrap(), (Ok(true), false));
    });
}

#[test]
fn sockets_of_tokio_work_on_fibers() {
    watchdog(LONG, || {
        let (runtime, pool) = (runtime(), pool(2));
        let handle = runtime.handle().clone();
        let received = on_fiber(&pool, move |cx| {
            let handle = || handle.clone();
            cx.try_scope(|s| {
                let listener = s.block_on(inside(handle(), TcpListener::bind("127.0.0.1:0")))??;
                let address = listener.local_addr()?;
                let handles: Vec<_> = (0..10).map(|_| handle()).collect();
                let server = handle();
                s.spawn(move |cx| {
                    for _ in 0..10 {
                        let (mut stream, _) = cx.block_on(inside(server.clone(), listener.accept()))??;
                        cx.block_on(inside(server.clone(), async {
                            let (mut read, mut write) = stream.split();
                            tokio::io::copy(&mut read, &mut write).await
                        }))??;
                    }
                    Ok(())
                });
                let clients: Vec<_> = handles
                    .into_iter()
                    .enumerate()
                    .map(|(n, handle)| {
                        s.spawn(move |cx| {
                            let talk = async {
                                let mut stream = TcpStream::connect(address).await?;
                                stream.write_all(&[n as u8; 1000]).await?;
                                stream.shutdown().await?;
                                let mut reply = Vec::new();
                                stream.read_to_end(&mut reply).await?;
                                Ok::<_, io::Error>(reply.len() * usize::from(reply[999]))
                            };
                            cx.block_on(inside(handle, talk))?
                        })
                    })
                    .collect();
                let mut sum = 0;
                for client in clients {
                    sum += client.join(s)?;
                }
                Ok::<_, io::Error>(sum)
            })
        });
        assert_eq!(received.unwrap(), 45_000);
    });
}

#[test]
fn deadline_and_cancellation_drop_futures_of_tokio() {
    watchdog(LONG, || {
        let (runtime, pool) = (runtime(), pool(1));
        let alive = Arc::new(());
        let (handle, held) = (runtime.handle().clone(), Arc::clone(&alive));
        let late = on_fiber(&pool, move |cx| {
            cx.timeout(Duration::from_millis(1), |cx| {
                Ok::<_, WaitError>(cx.block_on(inside(handle, async move {
                    let _held = held;
                    time::sleep(FOREVER).await;
                }))?)
            })
        });
        assert_eq!((late, Arc::strong_count(&alive)), (Err(WaitError::TimedOut), 1));
        let held = Arc::clone(&alive);
        let task = pool.spawn_async(inside(runtime.handle().clone(), async move {
            let _held = held;
            time::sleep(FOREVER).await;
        }));
        task.cancel();
        assert!(matches!(pool.run(|cx| task.join(cx)), Err(JoinError::Aborted)));
        assert_eq!(Arc::strong_count(&alive), 1);
    });
}

#[test]
fn tasks_of_tokio_await_fibers() {
    watchdog(LONG, || {
        let (runtime, pool) = (runtime(), Arc::new(pool(2)));
        let tasks: Vec<_> = (0..50u64)
            .map(|n| {
                let pool = Arc::clone(&pool);
                runtime.spawn(async move {
                    let fiber = pool.spawn(move |cx| cx.sleep(Duration::from_micros(50)).map(|()| n));
                    time::sleep(Duration::from_micros(50)).await;
                    fiber.await.unwrap().unwrap()
                })
            })
            .collect();
        let sum = runtime.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 1225);
    });
}
