//! The servers. Each prints its port, and serves until its process ends. Go's is in `go/servers.go`.

mod anabranch;
mod may;
mod tokio;

use std::net::{Ipv4Addr, SocketAddr};

/// The size of a message of ping-pong.
pub const MESSAGE: usize = 64;

/// The servers that can be compared: tokio's with its runtimes of one thread and of many, of which it gets one.
pub const PEERS: [&str; 5] = ["anabranch", "tokio-current", "tokio", "may", "go"];

const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

fn announce(address: SocketAddr) {
    println!("{}", address.port());
}

/// Runs a server: `echo` returns each message of 64 bytes, `http` answers each request, `accept` closes each
/// connection, `hold` reads from each and gets nothing.
///
/// # Panics
/// Panics for an unknown peer or workload.
pub fn serve(peer: &str, workload: &str) {
    match peer {
        "anabranch" => anabranch::serve(workload),
        "tokio-current" => tokio::serve(::tokio::runtime::Builder::new_current_thread(), workload),
        "tokio" => {
            let mut builder = ::tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1);
            tokio::serve(builder, workload)
        }
        "may" => may::serve(workload),
        _ => panic!("no server is called {peer:?}"),
    }
    .expect("the server runs");
}
