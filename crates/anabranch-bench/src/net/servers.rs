//! The servers. Each prints its port, and serves until its process ends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use crate::net::http::{RESPONSE, Requests};

/// The size of a message of ping-pong.
pub const MESSAGE: usize = 64;

/// The servers that can be compared.
pub const PEERS: [&str; 3] = ["anabranch", "tokio-current", "tokio"];

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
        "anabranch" => anabranch_server(workload),
        "tokio-current" => tokio_server(tokio::runtime::Builder::new_current_thread(), workload),
        "tokio" => {
            let mut builder = tokio::runtime::Builder::new_multi_thread();
            builder.worker_threads(1);
            tokio_server(builder, workload)
        }
        _ => panic!("no server is called {peer:?}"),
    }
    .expect("the server runs");
}

fn anabranch_server(workload: &str) -> io::Result<()> {
    use anabranch::{
        Cx, Pool,
        net::{TcpListener, TcpStream},
    };

    fn echo(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
        let mut message = [0; MESSAGE];
        loop {
            stream.read_exact(cx, &mut message)?;
            stream.write_all(cx, &message)?;
        }
    }

    fn http(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
        let mut requests = Requests::new();
        loop {
            let read = stream.read(cx, &mut requests.buffer[requests.len..])?;
            if read == 0 {
                return Ok(());
            }
            requests.len += read;
            let count = requests.take().ok_or(io::ErrorKind::InvalidData)?;
            for _ in 0..count {
                stream.write_all(cx, RESPONSE)?;
            }
        }
    }

    fn hold(cx: &Cx<'_>, stream: &TcpStream) -> io::Result<()> {
        while stream.read(cx, &mut [0; 256])? > 0 {}
        Ok(())
    }

    let handler = match workload {
        "echo" => echo,
        "http" => http,
        "hold" => hold,
        "accept" => |_: &Cx<'_>, _: &TcpStream| Ok(()),
        _ => panic!("no workload is called {workload:?}"),
    };
    let pool = Pool::builder().threads(1).build().map_err(io::Error::other)?;
    let server = pool.spawn(move |cx| -> io::Result<()> {
        let listener = TcpListener::bind(cx, ANY)?;
        announce(listener.local_addr()?);
        cx.scope(|s| {
            loop {
                let (stream, _) = listener.accept(cx)?;
                stream.set_nodelay(true)?;
                s.spawn(move |cx| handler(cx, &stream));
            }
        })
    });
    pool.run(|cx| server.join(cx)).expect("the server does not panic")
}

fn tokio_server(mut builder: tokio::runtime::Builder, workload: &str) -> io::Result<()> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    async fn echo(mut stream: TcpStream) -> io::Result<()> {
        let mut message = [0; MESSAGE];
        loop {
            stream.read_exact(&mut message).await?;
            stream.write_all(&message).await?;
        }
    }

    async fn http(mut stream: TcpStream) -> io::Result<()> {
        let mut requests = Requests::new();
        loop {
            let read = stream.read(&mut requests.buffer[requests.len..]).await?;
            if read == 0 {
                return Ok(());
            }
            requests.len += read;
            let count = requests.take().ok_or(io::ErrorKind::InvalidData)?;
            for _ in 0..count {
                stream.write_all(RESPONSE).await?;
            }
        }
    }

    async fn hold(mut stream: TcpStream) -> io::Result<()> {
        let mut buffer = [0; 256];
        while stream.read(&mut buffer).await? > 0 {}
        Ok(())
    }

    let runtime = builder.enable_io().build()?;
    let workload = workload.to_owned();
    let server = async move {
        let listener = TcpListener::bind(ANY).await?;
        announce(listener.local_addr()?);
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            match workload.as_str() {
                "echo" => drop(tokio::spawn(echo(stream))),
                "http" => drop(tokio::spawn(http(stream))),
                "hold" => drop(tokio::spawn(hold(stream))),
                "accept" => drop(tokio::spawn(async move { drop(stream) })),
                _ => panic!("no workload is called {workload:?}"),
            }
        }
    };
    // On a worker, where the tasks run too.
    runtime.block_on(async { tokio::spawn(server).await.map_err(io::Error::other)? })
}
