//! Sockets. All addresses are those of the loopback interface.

mod basics;
mod cancel;
mod close;
mod datagrams;
mod futures;
mod pools;
#[cfg(unix)]
mod processes;
#[cfg(target_os = "linux")]
mod short_reads;
mod streams;

use anabranch::{
    Cx,
    net::{TcpListener, TcpStream},
};

/// Returns two connected streams: that of the client and that of the server.
fn pair(cx: &Cx<'_>) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(cx, "127.0.0.1:0").unwrap();
    let client = TcpStream::connect(cx, listener.local_addr().unwrap()).unwrap();
    let (server, address) = listener.accept(cx).unwrap();
    assert_eq!(address, client.local_addr().unwrap());
    (client, server)
}
