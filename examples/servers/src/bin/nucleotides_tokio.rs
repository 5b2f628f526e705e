//! `nucleotides`, with tokio for the connections and rayon for the loops, for comparison.
//!
//! ```text
//! cargo run --release --bin nucleotides_tokio -- --listen 127.0.0.1:8083
//! ```

use anabranch_servers::{
    Failure,
    http::{Decoder, Refused, Request, text},
    nucleotides::{HELP, Query, add},
    on_tokio::{Stop, read_head, serve_until_signal, stopped},
    program,
    site::{Body, IDLE},
};
use rayon::prelude::*;
use std::{
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    time::Duration,
};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
    select,
    task::spawn_blocking,
    time::timeout,
};

const USAGE: &str = "\
usage: nucleotides_tokio --listen ADDRESS
  --listen  serves there until Ctrl-C";

fn main() -> ExitCode {
    program::main("nucleotides_tokio", USAGE, options(), |address| {
        serve_until_signal(address.ok_or("--listen is missing")?, |stream, _, stop| connection(stream, stop))
    })
}

/// Counts with all threads of rayon's pool.
fn count(query: &Query) -> String {
    let pieces = (0..query.pieces()).into_par_iter();
    let counted = pieces.fold(|| query.table(), |table, piece| query.count_piece(table, piece));
    query.text(&counted.reduce(|| query.table(), add))
}

async fn connection(stream: TcpStream, mut stop: Stop) -> Result<(), Failure> {
    let mut stream = BufReader::new(stream);
    loop {
        select! {
            filled = timeout(IDLE, stream.fill_buf()) => match filled {
                Ok(bytes) => _ = bytes?,
                Err(_) => return Ok(()),
            },
            () = stopped(&mut stop) => return Ok(()),
        }
        let request = match timeout(IDLE, read_request(&mut stream)).await? {
            Ok(Some(request)) => Ok(request),
            Ok(None) => return Ok(()),
            Err(error) => Err(Refused::of(&error).ok_or(error)?),
        };
        let is_whole = request.is_ok();
        let keeps_open = request.as_ref().is_ok_and(|(request, _)| request.keeps_open()) && !*stop.borrow();
        let (status, answer) = match request {
            Ok((request, _)) if request.target == "/" => (200, HELP.to_owned()),
            Ok((request, body)) => {
                // The closure owns the request, because it may outlive the task.
                let counted = spawn_blocking(move || Query::parse(&request, &body).map(|query| count(&query)));
                counted.await?.map_or_else(|refused| (refused.status, format!("{refused}\n")), |counts| (200, counts))
            }
            Err(refused) => (refused.status, format!("{refused}\n")),
        };
        timeout(IDLE, stream.write_all(&text(status, &answer, keeps_open))).await??;
        if !is_whole {
            stream.shutdown().await?;
            let mut rest = stream.take(1 << 20);
            let _ = timeout(Duration::from_millis(500), tokio::io::copy(&mut rest, &mut tokio::io::sink())).await;
            return Ok(());
        }
        if !keeps_open {
            return Ok(());
        }
    }
}

async fn read_request(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<(Request, Vec<u8>)>> {
    let Some(head) = read_head(reader).await? else { return Ok(None) };
    let request = Request::parse(&head)?;
    let (mut decoder, mut body) = (Decoder::new(request.framing()?), Body::default());
    while !decoder.is_done() {
        let input = reader.fill_buf().await?;
        if input.is_empty() {
            decoder.end()?;
            break;
        }
        let (used, data) = decoder.decode(input)?;
        body.write_all(data)?;
        reader.consume(used);
    }
    Ok(Some((request, body.0)))
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Option<SocketAddr>>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut address = None;
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("listen") => address = Some(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(address))
}
