//! Exact counts of traffic, rounds and time per named step.

use crate::lock::lock;
use std::collections::HashMap;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What one step, or a sum of steps, cost this party.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Payload bytes given to send.
    pub bytes_sent: u64,
    /// Payload bytes returned by receive.
    pub bytes_received: u64,
    /// Frame headers sent, in bytes; encryption is counted in [`Snapshot::wire_sent`] only.
    pub overhead_sent: u64,
    /// Frame headers received, in bytes, counted where the frame's first byte was used.
    pub overhead_received: u64,
    /// Calls of send with at least one byte.
    pub messages_sent: u64,
    /// Calls of receive with at least one byte.
    pub messages_received: u64,
    /// Calls of `next_round`.
    pub rounds: u64,
    /// Time spent in exactly this step, nested steps not included.
    pub wall: Duration,
    /// The part of `wall` in which this party waited for a peer's bytes.
    pub waiting: Duration,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.overhead_sent += other.overhead_sent;
        self.overhead_received += other.overhead_received;
        self.messages_sent += other.messages_sent;
        self.messages_received += other.messages_received;
        self.rounds += other.rounds;
        self.wall += other.wall;
        self.waiting += other.waiting;
    }
}

/// The cost of one step path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounters {
    /// The path, names joined by '/'. The empty path is everything outside of named steps.
    pub path: String,
    /// The cost in exactly this path.
    pub counters: Counters,
}

/// A consistent-enough view of a running session: each number is exact, taken within microseconds of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Steps in the order in which they were first entered.
    pub steps: Vec<StepCounters>,
    /// The sum of all steps.
    pub total: Counters,
    /// The step in which the session is now.
    pub current: String,
    /// Bytes written to sockets: payload, headers, signs of life, encryption. Zero in memory.
    pub wire_sent: u64,
    /// Bytes read from sockets.
    pub wire_received: u64,
}

impl Snapshot {
    /// The cost in exactly `path`; zero if never entered.
    pub fn step(&self, path: &str) -> Counters {
        self.steps.iter().find(|step| step.path == path).map(|step| step.counters).unwrap_or_default()
    }

    /// The cost in `path` and everything nested in it.
    pub fn under(&self, path: &str) -> Counters {
        let inside = |step: &&StepCounters| match step.path.strip_prefix(path) {
            Some(rest) => path.is_empty() || rest.is_empty() || rest.starts_with('/'),
            None => false,
        };
        let mut sum = Counters::default();
        self.steps.iter().filter(inside).for_each(|step| sum += step.counters);
        sum
    }
}

/// Counters of one session. Shared with threads that watch it: taking a [`Snapshot`] disturbs nobody.
pub struct Meter {
    steps: Mutex<Steps>,
    wire_sent: AtomicU64,
    wire_received: AtomicU64,
}

struct Steps {
    entered: Vec<Arc<Step>>,
    by_path: HashMap<String, usize>,
    current: usize,
    since: Instant,
}

/// Live counters of one path. Only the session's thread adds; any thread reads.
#[derive(Default)]
pub(crate) struct Step {
    path: String,
    pub bytes_sent: AtomicU64,
    pub bytes_received: AtomicU64,
    pub overhead_sent: AtomicU64,
    pub overhead_received: AtomicU64,
    pub messages_sent: AtomicU64,
    pub messages_received: AtomicU64,
    pub rounds: AtomicU64,
    wall_nanos: AtomicU64,
    waiting_nanos: AtomicU64,
}

impl Step {
    pub fn sent(&self, bytes: usize, overhead: u64) {
        self.bytes_sent.fetch_add(bytes as u64, Relaxed);
        self.overhead_sent.fetch_add(overhead, Relaxed);
        self.messages_sent.fetch_add(1, Relaxed);
    }

    pub fn received(&self, bytes: usize) {
        self.bytes_received.fetch_add(bytes as u64, Relaxed);
        self.messages_received.fetch_add(1, Relaxed);
    }

    pub fn waited(&self, time: Duration) {
        self.waiting_nanos.fetch_add(nanos(time), Relaxed);
    }

    fn read(&self) -> Counters {
        Counters {
            bytes_sent: self.bytes_sent.load(Relaxed),
            bytes_received: self.bytes_received.load(Relaxed),
            overhead_sent: self.overhead_sent.load(Relaxed),
            overhead_received: self.overhead_received.load(Relaxed),
            messages_sent: self.messages_sent.load(Relaxed),
            messages_received: self.messages_received.load(Relaxed),
            rounds: self.rounds.load(Relaxed),
            wall: Duration::from_nanos(self.wall_nanos.load(Relaxed)),
            waiting: Duration::from_nanos(self.waiting_nanos.load(Relaxed)),
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Meter {
    pub(crate) fn new() -> Self {
        let steps = Steps {
            entered: vec![Arc::default()],
            by_path: HashMap::from([(String::new(), 0)]),
            current: 0,
            since: Instant::now(),
        };
        Self { steps: Mutex::new(steps), wire_sent: AtomicU64::new(0), wire_received: AtomicU64::new(0) }
    }

    /// The present counters of every step.
    pub fn snapshot(&self) -> Snapshot {
        let steps = lock(&self.steps);
        let mut list: Vec<_> =
            steps.entered.iter().map(|step| StepCounters { path: step.path.clone(), counters: step.read() }).collect();
        list[steps.current].counters.wall += steps.since.elapsed();
        let current = list[steps.current].path.clone();
        drop(steps);
        let mut total = Counters::default();
        list.iter().for_each(|step| total += step.counters);
        Snapshot {
            steps: list,
            total,
            current,
            wire_sent: self.wire_sent.load(Relaxed),
            wire_received: self.wire_received.load(Relaxed),
        }
    }

    /// Attribute what follows to `path` and return its live counters.
    pub(crate) fn switch(&self, path: &str) -> Arc<Step> {
        let mut steps = lock(&self.steps);
        let now = Instant::now();
        let spent = now - steps.since;
        steps.entered[steps.current].wall_nanos.fetch_add(nanos(spent), Relaxed);
        steps.since = now;
        steps.current = match steps.by_path.get(path) {
            Some(&index) => index,
            None => {
                let index = steps.entered.len();
                steps.entered.push(Arc::new(Step { path: path.to_owned(), ..Step::default() }));
                steps.by_path.insert(path.to_owned(), index);
                index
            }
        };
        Arc::clone(&steps.entered[steps.current])
    }

    pub(crate) fn wrote(&self, bytes: usize) {
        self.wire_sent.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn read(&self, bytes: usize) {
        self.wire_received.fetch_add(bytes as u64, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_steps_add_up() {
        let meter = Meter::new();
        meter.switch("join").sent(10, 16);
        meter.switch("join/sort").sent(100, 16);
        meter.switch("joined").received(1000);
        meter.switch("join").sent(5, 16);
        let snapshot = meter.snapshot();
        assert_eq!(snapshot.step("join").bytes_sent, 15);
        assert_eq!(snapshot.step("join").messages_sent, 2);
        assert_eq!(snapshot.under("join").bytes_sent, 115);
        assert_eq!(snapshot.under("").bytes_received, 1000);
        assert_eq!(snapshot.total.overhead_sent, 48);
        assert_eq!(snapshot.current, "join");
        assert_eq!(snapshot.step("never"), Counters::default());
    }

    #[test]
    fn time_of_a_nested_step_is_not_its_parents() {
        let meter = Meter::new();
        let start = Instant::now();
        meter.switch("a");
        meter.switch("a/b");
        let before = start.elapsed();
        std::thread::sleep(Duration::from_millis(20));
        let snapshot = meter.snapshot();
        assert!(snapshot.step("a/b").wall >= Duration::from_millis(20));
        assert!(snapshot.step("a").wall <= before);
    }
}
