//! The crawler, against sites that count what it does.

use crate::{in_pools, served};
use anabranch::{Cx, net::TcpStream, sync::Event};
use anabranch_servers::{
    crawler::{Policy, Report, crawl},
    serve::Limits,
    site::{self, Answer},
};
use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

const POLICY: Policy = Policy {
    period: Duration::from_micros(200),
    at_a_time: 3,
    tries: 3,
    backoff: Duration::from_micros(100),
    deadline: Duration::from_secs(60),
    pages: 1000,
};

/// Crawls a site. Returns the report, how often each page was requested, and the most requests at a time.
fn crawled(
    pool: &anabranch::Pool,
    policy: Policy,
    page: impl Fn(&str, usize) -> Option<Answer> + Sync + Send,
) -> (Report, BTreeMap<String, usize>, usize) {
    let (requests, running, most) = (Mutex::new(BTreeMap::new()), AtomicUsize::new(0), AtomicUsize::new(0));
    let limits = Limits { grace: Duration::ZERO, ..Limits::default() };
    let handler = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| {
        site::connection(cx, stream, stop, |cx, request, _| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            cx.sleep(Duration::from_micros(500))?;
            let count = {
                let mut requests = requests.lock().unwrap();
                let count: &mut usize = requests.entry(request.target.clone()).or_default();
                *count += 1;
                *count
            };
            let answer = page(&request.target, count);
            running.fetch_sub(1, Ordering::SeqCst);
            match answer {
                Some(answer) => Ok(answer),
                None => Err("this page ends the connection".into()),
            }
        })
    };
    let (_, report) = served(pool, limits, handler, |cx, address, _| crawl(cx, address, "/", &policy).unwrap());
    (report, requests.into_inner().unwrap(), most.into_inner())
}

fn page(links: impl IntoIterator<Item = usize>) -> Option<Answer> {
    let links: String = links.into_iter().map(|to| format!("<a href=\"/{to}\">x</a>")).collect();
    Some(Answer::new(200, links))
}

#[test]
fn each_page_is_visited_once_and_so_many_at_a_time() {
    in_pools(|pool| {
        let (report, requests, most) = crawled(pool, POLICY, |path, _| match path {
            "/" => page(0..10),
            path => page([0, 5, path[1..].parse::<usize>().unwrap() + 10].map(|to| to % 40)),
        });
        assert_eq!((report.pages, report.requests), (41, 41), "{report}");
        assert_eq!(report.statuses, BTreeMap::from([(Some(200), 41)]));
        assert_eq!(requests.len(), 41);
        assert!(requests.values().all(|&count| count == 1), "{requests:?}");
        assert!(most <= 3, "{most} at a time");
    });
}

#[test]
fn pages_that_fail_are_requested_again_with_a_limit() {
    in_pools(|pool| {
        let (report, requests, _) = crawled(pool, POLICY, |path, count| match (path, count) {
            ("/", _) => page(1..6),
            ("/1", 1..3) => Some(Answer::new(503, "")),
            ("/2", _) => Some(Answer::new(500, "")),
            ("/3", _) => Some(Answer::new(404, "<a href=\"/99\">")),
            ("/4", _) => None,
            _ => page([]),
        });
        let counts = ["/", "/1", "/2", "/3", "/4", "/5"].map(|path| requests[path]);
        assert_eq!(counts, [1, 3, 3, 1, 3, 1]);
        assert_eq!((report.pages, report.requests, requests.len()), (6, 12, 6));
        let statuses = [(None, 1), (Some(200), 3), (Some(404), 1), (Some(500), 1)];
        assert_eq!(report.statuses, BTreeMap::from(statuses));
        assert_eq!(report.to_string(), "6 pages by 12 requests\n  no answer: 1\n  200: 3\n  404: 1\n  500: 1");
    });
}

#[test]
fn rate_number_of_pages_and_host_are_limits() {
    in_pools(|pool| {
        let begun = std::time::Instant::now();
        let policy = Policy { period: Duration::from_millis(10), at_a_time: 50, pages: 20, ..POLICY };
        let (report, requests, _) = crawled(pool, policy, |path, _| match path {
            "/" => {
                let links: String = (0..30).map(|to| format!("href=\"/{to}\"")).collect();
                Some(Answer::new(200, format!("href=\"/a#b\" href=\"//other/\" href=\"http://other/\" {links}")))
            }
            _ => page([]),
        });
        assert_eq!((report.pages, requests.len()), (20, 20), "{requests:?}");
        assert!(requests.contains_key("/a"), "{requests:?}");
        // The first tick is a period after the beginning.
        assert!(begun.elapsed() >= Duration::from_millis(200));
    });
}

#[test]
fn page_that_comes_too_late_is_not_waited_for() {
    in_pools(|pool| {
        let policy = Policy { deadline: Duration::from_millis(20), tries: 1, ..POLICY };
        let limits = Limits { grace: Duration::ZERO, ..Limits::default() };
        let handler = |cx: &Cx<'_>, stream: &TcpStream, stop: &Event| {
            site::connection(cx, stream, stop, |cx, _, _| {
                Ok(cx.sleep(Duration::from_secs(3600)).map(|()| Answer::new(200, ""))?)
            })
        };
        let (ends, report) = served(pool, limits, handler, |cx, address, _| crawl(cx, address, "/", &policy).unwrap());
        assert_eq!(report.statuses, BTreeMap::from([(None, 1)]));
        assert_eq!(ends.cancelled, 1);
    });
}
