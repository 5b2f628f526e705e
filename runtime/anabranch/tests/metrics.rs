//! The counters of a pool, as a recorder of the crate `metrics` gets them.

#![cfg(all(feature = "metrics", unix, not(any(loom, shuttle, miri))))]

mod common;

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::Duration,
};

/// Keeps the last value of each metric, by its name and labels.
#[derive(Default)]
struct Values {
    values: Arc<Mutex<BTreeMap<String, f64>>>,
    described: Mutex<BTreeSet<String>>,
}

struct Value(String, Arc<Mutex<BTreeMap<String, f64>>>);

impl CounterFn for Value {
    fn increment(&self, _: u64) {
        panic!("totals are set");
    }

    fn absolute(&self, value: u64) {
        self.1.lock().unwrap().insert(self.0.clone(), value as f64);
    }
}

impl GaugeFn for Value {
    fn increment(&self, _: f64) {
        panic!("gauges are set");
    }

    fn decrement(&self, _: f64) {
        panic!("gauges are set");
    }

    fn set(&self, value: f64) {
        self.1.lock().unwrap().insert(self.0.clone(), value);
    }
}

impl Values {
    fn value(&self, key: &Key) -> Arc<Value> {
        let labels: Vec<String> = key.labels().map(|label| format!("{}={}", label.key(), label.value())).collect();
        Arc::new(Value(format!("{}{{{}}}", key.name(), labels.join(",")), Arc::clone(&self.values)))
    }

    fn describe(&self, name: &KeyName, description: &str) {
        assert!(!description.is_empty());
        self.described.lock().unwrap().insert(name.as_str().to_owned());
    }
}

impl Recorder for Values {
    fn describe_counter(&self, key: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&key, &description);
    }

    fn describe_gauge(&self, key: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&key, &description);
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(self.value(key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(self.value(key))
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

#[test]
fn recorder_gets_the_counters_of_the_pool() {
    common::watchdog(common::LONG, || {
        let pool = common::pool(2);
        let fibers = [pool.spawn(|_| ()), pool.spawn(|_| ())];
        pool.run(|cx| fibers.map(|fiber| fiber.join(cx).unwrap()));
        let sleeper = pool.spawn(|cx| cx.sleep(Duration::from_micros(100)).unwrap());
        pool.run(|cx| sleeper.join(cx).unwrap());
        let (recorder, stats) = (Values::default(), pool.stats());
        with_local_recorder(&recorder, || {
            stats.describe_metrics();
            stats.report_metrics("first");
            stats.report_metrics("second");
        });
        let values = recorder.values.lock().unwrap();
        assert_eq!(values["anabranch_fibers_total{pool=first}"], 3.0);
        assert_eq!(values["anabranch_threads{pool=second}"], 2.0);
        let parked = values["anabranch_time_micros_total{pool=first,state=parked}"];
        assert_eq!(parked, stats.total().parked.as_micros() as f64);
        let late = |le: &str| values[&format!("anabranch_timer_lateness_seconds_bucket{{pool=first,le={le}}}")];
        let long = stats.total().timer_lateness.buckets().skip(8).map(|(_, count)| count).sum::<u64>();
        assert_eq!((late("+Inf"), late("0.000131072")), (1.0, 1.0 - long as f64));
        let names: BTreeSet<String> = values.keys().map(|key| key.split('{').next().unwrap().to_owned()).collect();
        assert_eq!(names, *recorder.described.lock().unwrap(), "each metric is described");
    });
}
