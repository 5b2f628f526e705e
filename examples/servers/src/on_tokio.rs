//! What the versions on tokio share: [`serve`](crate::serve) once more.

use crate::{
    Failure,
    http::{LONGEST_HEAD, Line, judge_line},
    serve::{Ends, Limits},
};
use std::{future::Future, io, net::SocketAddr, time::Duration};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt},
    net::{TcpListener, TcpStream},
    select,
    signal::unix::{Signal, SignalKind, signal},
    sync::watch,
    task::{JoinError, JoinSet},
    time,
};

/// Becomes true when the server is to stop.
pub type Stop = watch::Receiver<bool>;

/// Serves at an address until Ctrl-C, or until the process is asked to end.
///
/// # Errors
/// Returns an error if the address cannot be listened on.
pub fn serve_until_signal<F, H>(address: SocketAddr, handler: F) -> Result<(), Failure>
where
    F: Fn(TcpStream, SocketAddr, Stop) -> H,
    H: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ends = runtime.block_on(async {
        let cannot = |error| format!("cannot listen on {address}: {error}");
        let listener = TcpListener::bind(address).await.map_err(cannot)?;
        let signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        println!("listening on {}", listener.local_addr()?);
        serve(listener, signals, Limits::default(), handler).await
    })?;
    println!("{ends}");
    Ok(())
}

async fn serve<F, H>(
    listener: TcpListener,
    (mut interrupt, mut terminate): (Signal, Signal),
    limits: Limits,
    handler: F,
) -> Result<Ends, Failure>
where
    F: Fn(TcpStream, SocketAddr, Stop) -> H,
    H: Future<Output = Result<(), Failure>> + Send + 'static,
{
    let (stop, stopped) = watch::channel(false);
    let (mut connections, mut ends) = (JoinSet::new(), Ends::default());
    loop {
        let has_room = connections.len() < limits.connections;
        select! {
            biased;
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            Some(end) = connections.join_next() => add(&mut ends, end),
            accepted = listener.accept(), if has_room => match accepted {
                Ok((stream, address)) => {
                    stream.set_nodelay(true)?;
                    connections.spawn(handler(stream, address, stopped.clone()));
                }
                Err(error) => {
                    eprintln!("cannot accept: {error}");
                    time::sleep(Duration::from_millis(20)).await;
                }
            },
        }
    }
    drop(listener);
    stop.send_replace(true);
    let drained = time::timeout(limits.grace, async {
        while let Some(end) = connections.join_next().await {
            add(&mut ends, end);
        }
    });
    if drained.await.is_err() {
        ends.cancelled += connections.len();
        connections.shutdown().await;
    }
    Ok(ends)
}

fn add(ends: &mut Ends, end: Result<Result<(), Failure>, JoinError>) {
    match end {
        Ok(Ok(())) => ends.regular += 1,
        Ok(Err(error)) => {
            eprintln!("a connection failed: {error}");
            ends.failed += 1;
        }
        Err(error) if error.is_panic() => ends.panicked += 1,
        Err(_) => ends.cancelled += 1,
    }
}

/// Waits until the server is to stop.
pub async fn stopped(stop: &mut Stop) {
    // An error means that the server has ended.
    let _ = stop.wait_for(|&is_stopping| is_stopping).await;
}

/// Reads a head, as [`http::read_head`](crate::http::read_head) does.
///
/// # Errors
/// Returns the same errors.
pub async fn read_head(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    loop {
        let start = head.len();
        let room = (LONGEST_HEAD - start) as u64;
        (&mut *reader).take(room).read_until(b'\n', &mut head).await?;
        match judge_line(&mut head, start)? {
            Line::More => {}
            Line::Last => return Ok(Some(head)),
            Line::End => return Ok(None),
        }
    }
}
