//! A crawler with a limit on its rate, and the site that it visits: see [`anabranch_servers::crawler`].
//!
//! ```text
//! cargo run --bin crawler                                # the site and the crawler in one process
//! cargo run --bin crawler -- --rate 20 --at-a-time 2
//! cargo run --bin crawler -- --listen 127.0.0.1:8083     # only the site
//! ```

use anabranch::{Cx, net::TcpStream, sync::Event};
use anabranch_servers::{
    Failure,
    crawler::{Policy, crawl},
    http::Request,
    program,
    serve::{Limits, beside},
    site::{self, Answer},
};
use std::{
    collections::HashMap,
    net::SocketAddr,
    process::ExitCode,
    sync::{Mutex, PoisonError},
    time::Duration,
};

const USAGE: &str = "\
usage: crawler [--rate N] [--at-a-time N] [--tries N] [--pages N] [--listen ADDRESS]
  --rate       requests per second (200)
  --at-a-time  the most requests at a time (8)
  --tries      how often a page is requested that the server cannot deliver now (3)
  --pages      how many pages the site has (60)
  --listen     serves only the site, there, until Ctrl-C";

struct Options {
    rate: u32,
    at_a_time: usize,
    tries: u32,
    pages: usize,
    listen: Option<SocketAddr>,
}

fn main() -> ExitCode {
    program::main("crawler", USAGE, options(), run)
}

fn run(options: Options) -> Result<(), Failure> {
    if options.rate == 0 || options.at_a_time == 0 || options.tries == 0 {
        return Err("--rate, --at-a-time and --tries must not be zero".into());
    }
    let (site, stop) = (Site::new(options.pages), Event::new());
    let handler = |cx: &Cx<'_>, stream: &TcpStream, _| {
        site::connection(cx, stream, &stop, |cx, request, _| site.answer(cx, request))
    };
    if let Some(address) = options.listen {
        return program::serve_until_signal(address, &stop, handler);
    }
    let policy = Policy {
        period: Duration::from_secs(1) / options.rate,
        at_a_time: options.at_a_time,
        tries: options.tries,
        backoff: Duration::from_millis(10),
        deadline: Duration::from_millis(250),
        pages: 10_000,
    };
    // The page that never comes need not be waited for at the end.
    let limits = Limits { grace: Duration::from_millis(50), ..Limits::default() };
    let (_, (report, time)) = anabranch::run(|cx| {
        beside(cx, limits, &stop, handler, |cx, address| {
            let start = cx.now();
            let report = crawl(cx, address, "/0", &policy)?;
            Ok((report, cx.now() - start))
        })
    })?;
    println!("{report}\n{time:.1?}");
    Ok(())
}

/// Pages that link to each other. Some are missing, some come late or never, and some come at the second request.
struct Site {
    pages: usize,
    requests: Mutex<HashMap<usize, usize>>,
}

impl Site {
    fn new(pages: usize) -> Self {
        Self { pages, requests: Mutex::default() }
    }

    fn answer(&self, cx: &Cx<'_>, request: &Request) -> Result<Answer, Failure> {
        let Some(page) = request.target.strip_prefix('/').and_then(|number| number.parse::<usize>().ok()) else {
            return Ok(Answer::new(404, "not found\n"));
        };
        let count = {
            let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
            let count = requests.entry(page).or_default();
            *count += 1;
            *count
        };
        match page {
            _ if page >= self.pages => return Ok(Answer::new(404, "not found\n")),
            _ if page % 10 == 7 && count == 1 => return Ok(Answer::new(503, "try again\n")),
            _ if page % 20 == 13 => return Ok(Answer::new(500, "broken\n")),
            _ if page == 11 => cx.sleep(Duration::from_secs(3600))?,
            _ => cx.sleep(Duration::from_millis(10))?,
        }
        let links = [2 * page + 1, 2 * page + 2, page / 2, page + 10].map(|to| to % (self.pages + 2));
        let links = links.map(|to| format!("<a href=\"/{to}\">{to}</a>\n"));
        Ok(Answer { is_chunked: page % 2 == 0, ..Answer::new(200, links.concat()) })
    }
}

/// Parses the options. Returns `None` for `--help`.
fn options() -> Result<Option<Options>, lexopt::Error> {
    use lexopt::prelude::*;
    let mut options = Options { rate: 200, at_a_time: 8, tries: 3, pages: 60, listen: None };
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("rate") => options.rate = parser.value()?.parse()?,
            Long("at-a-time") => options.at_a_time = parser.value()?.parse()?,
            Long("tries") => options.tries = parser.value()?.parse()?,
            Long("pages") => options.pages = parser.value()?.parse()?,
            Long("listen") => options.listen = Some(parser.value()?.parse()?),
            Short('h') | Long("help") => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(options))
}
