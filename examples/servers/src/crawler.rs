//! A crawler that is polite: so many requests per second, so many at a time, and each page once.
//!
//! The pages that are open are an iterator, [`Cx::map_unordered`] takes from it as many as may be on their way, and the
//! loop over the results adds the links that are new. No lock is needed, as both run on one fiber.

use crate::{
    Failure,
    http::{Response, copy_body, read_head},
};
use anabranch::{Cancelled, Cx, fiber::Interval, net::TcpStream, sync::Mutex};
use std::{
    cell::RefCell,
    collections::{BTreeMap, HashSet, VecDeque},
    fmt, io,
    io::{BufReader, Write},
    iter,
    net::SocketAddr,
    time::Duration,
};

/// The most bytes of a page. The crawler does not follow the links of a longer one.
const LONGEST: usize = 1 << 20;

/// How the crawler treats the server.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// The time from one request to the next, whichever page they are for.
    pub period: Duration,
    /// The most requests at a time.
    pub at_a_time: usize,
    /// How often a page is requested that the server cannot deliver now.
    pub tries: u32,
    /// The pause before the second request for such a page. It doubles with each request.
    pub backoff: Duration,
    /// How long a request may take.
    pub deadline: Duration,
    /// The most pages.
    pub pages: usize,
}

/// What the crawler has found.
#[derive(Debug, Default)]
pub struct Report {
    /// How many pages had which status in the end. `None`: no answer, or none in time.
    pub statuses: BTreeMap<Option<u16>, usize>,
    pub requests: usize,
    pub pages: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pages by {} requests", self.pages, self.requests)?;
        for (status, count) in &self.statuses {
            match status {
                Some(status) => write!(f, "\n  {status}: {count}")?,
                None => write!(f, "\n  no answer: {count}")?,
            }
        }
        Ok(())
    }
}

/// A page in the end.
struct Page {
    status: Option<u16>,
    links: Vec<String>,
    requests: usize,
}

/// Requests the page at `start`, those that it links to, and so on. Follows only links that begin with a slash, so it
/// stays on the server.
///
/// # Errors
/// Returns an error if the scope is cancelled.
pub fn crawl(cx: &Cx<'_>, server: SocketAddr, start: &str, policy: &Policy) -> Result<Report, Cancelled> {
    let turns = Mutex::new(cx.interval(policy.period));
    let (mut seen, mut report) = (HashSet::from([start.to_owned()]), Report::default());
    let open = RefCell::new(VecDeque::from([start.to_owned()]));
    let paths = iter::from_fn(|| open.borrow_mut().pop_front());
    let visit = |cx: &Cx<'_>, path: String| visit(cx, server, &path, policy, &turns);
    cx.map_unordered(policy.at_a_time, paths, visit, |pages| {
        while let Some(page) = pages.next(cx)? {
            let page = page?;
            report.pages += 1;
            report.requests += page.requests;
            *report.statuses.entry(page.status).or_default() += 1;
            for link in page.links {
                if seen.len() < policy.pages && seen.insert(link.clone()) {
                    open.borrow_mut().push_back(link);
                }
            }
        }
        Ok(report)
    })
}

/// Requests a page until it comes, or until there were enough tries.
fn visit(
    cx: &Cx<'_>,
    server: SocketAddr,
    path: &str,
    policy: &Policy,
    turns: &Mutex<Interval>,
) -> Result<Page, Cancelled> {
    let mut page = Page { status: None, links: Vec::new(), requests: 0 };
    let mut pause = policy.backoff;
    for number in 1..=policy.tries {
        // Those that wait for their turn are in the queue of the lock.
        turns.lock(cx)?.tick(cx)?;
        page.requests += 1;
        let fetched = cx.timeout(policy.deadline, |cx| fetch(cx, server, path));
        cx.check()?;
        page.status = fetched.as_ref().ok().map(|(status, _)| *status);
        match fetched {
            // The server is overloaded, or the network fails. Perhaps it is better later.
            Ok((429 | 500..=599, _)) | Err(_) if number < policy.tries => {
                cx.sleep(pause)?;
                pause *= 2;
            }
            Ok((200, body)) => {
                page.links = links(&String::from_utf8_lossy(&body));
                break;
            }
            _ => break,
        }
    }
    Ok(page)
}

/// Requests a page once.
fn fetch(cx: &Cx<'_>, server: SocketAddr, path: &str) -> Result<(u16, Vec<u8>), Failure> {
    let stream = TcpStream::connect(cx, server)?;
    write!(stream.with(cx), "GET {path} HTTP/1.1\r\nHost: {server}\r\nConnection: close\r\n\r\n")?;
    let mut reader = BufReader::new(stream.with(cx));
    let head = read_head(&mut reader)?.ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
    let response = Response::parse(&head)?;
    let mut body = Limited(Vec::new());
    copy_body(&mut reader, response.framing("GET")?, &mut body, false).map_err(io::Error::from)?;
    Ok((response.status, body.0))
}

/// Bytes, but not too many.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST {
            return Err(io::Error::other("the page is too long"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the targets of the links of a page that are on the same server, without the parts after `#`.
fn links(page: &str) -> Vec<String> {
    let targets = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    let is_plain = |target: &&str| target.bytes().all(|byte| byte.is_ascii_graphic());
    let own = targets.filter(|target| target.starts_with('/') && !target.starts_with("//")).filter(is_plain);
    own.map(|target| target.split('#').next().unwrap_or_default().to_owned()).collect()
}
