//! What the command lines have in common.

use crate::{
    Failure,
    serve::{Limits, serve},
};
use anabranch::{
    Cx,
    net::{TcpListener, TcpStream},
    signal::Signals,
    sync::Event,
};
use std::{net::SocketAddr, process::ExitCode};

/// Ctrl-C, and the request of service managers to end.
const ENDS: [i32; 2] = [2, 15];

/// Runs a program with its options. Without options, prints its usage.
pub fn main<O>(
    name: &str,
    usage: &str,
    options: Result<Option<O>, lexopt::Error>,
    body: impl FnOnce(O) -> Result<(), Failure>,
) -> ExitCode {
    match options {
        Ok(None) => {
            println!("{usage}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{name}: {error}\n{usage}");
            ExitCode::from(2)
        }
        Ok(Some(options)) => match body(options) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{name}: {error}");
                ExitCode::FAILURE
            }
        },
    }
}

/// Serves at an address until Ctrl-C, or until the process is asked to end. A second Ctrl-C cancels the connections
/// that are left.
///
/// # Errors
/// Returns an error if the address cannot be listened on.
pub fn serve_until_signal<F>(address: SocketAddr, stop: &Event, handler: F) -> Result<(), Failure>
where
    F: Fn(&Cx<'_>, &TcpStream, SocketAddr) -> Result<(), Failure> + Sync,
{
    anabranch::run(|cx| {
        let cannot = |error| format!("cannot listen on {address}: {error}");
        let listener = TcpListener::bind(cx, address).map_err(cannot)?;
        let signals = Signals::new(ENDS)?;
        println!("listening on {}", listener.local_addr()?);
        cx.scope(|s| {
            let scope = s.spawner();
            s.spawn(move |cx| {
                signals.recv(cx)?;
                stop.set();
                signals.recv(cx)?;
                scope.cancel();
                Ok::<_, Failure>(())
            });
            let ends = serve(s, listener, Limits::default(), stop, handler);
            s.cancel();
            println!("{}", ends?);
            Ok(())
        })
    })
}
