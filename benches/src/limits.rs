//! What this machine can do at most, measured in the same run as the operations that are held against it.

mod loopback;
mod memory;
mod processor;

use crate::Result;
use crate::arguments::Limits;
use crate::format::count;
use crate::machine;
use serde::Serialize;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// One limit.
#[derive(Serialize)]
struct Limit {
    limit: &'static str,
    /// Units a second: the best of several passes.
    rate: f64,
    unit: &'static str,
    load: f64,
}

/// How much work goes into one limit.
#[derive(Clone, Copy)]
struct Effort {
    /// Bytes of a buffer that no cache holds.
    buffer: usize,
    /// Bytes that all connections carry together.
    traffic: usize,
    /// Shortest time of one pass.
    pass: Duration,
    /// Passes, of which the best counts.
    passes: usize,
}

impl Effort {
    fn of(quick: bool) -> Self {
        match quick {
            true => Self { buffer: 16 << 20, traffic: 48 << 20, pass: Duration::from_millis(1), passes: 2 },
            false => Self { buffer: 512 << 20, traffic: 3 << 30, pass: Duration::from_millis(50), passes: 5 },
        }
    }

    /// How often a second `work` is done, in the best pass.
    fn best_rate<T>(self, mut work: impl FnMut() -> T) -> f64 {
        let mut best = Duration::MAX;
        for _ in 0..self.passes {
            let (mut calls, start) = (0, Instant::now());
            while calls == 0 || start.elapsed() < self.pass {
                black_box(work());
                calls += 1;
            }
            best = best.min(start.elapsed() / calls);
        }
        1.0 / best.as_secs_f64()
    }
}

/// Bytes a second that a number of threads together read from memory.
pub fn memory_read(threads: usize) -> f64 {
    memory::read(Effort::of(false), threads)
}

/// Measures all limits and prints each.
///
/// # Errors
/// When the loopback interface refuses a connection.
pub fn run(chosen: &Limits) -> Result<()> {
    let effort = Effort::of(chosen.quick);
    let print = |limit: &'static str, rate: f64, unit: &'static str| -> Result<()> {
        let found = Limit { limit, rate, unit, load: machine::load() };
        if chosen.json {
            println!("{}", serde_json::to_string(&found)?);
        } else {
            println!("{:<58} {:>16} load {:.2}", limit, format!("{}{unit}/s", count(rate)), found.load);
        }
        Ok(())
    };
    print("AES-128 on one core, into cache", processor::aes_in_cache(effort), "blocks")?;
    print("AES-128 on one core, into memory", processor::aes_to_memory(effort), "blocks")?;
    print("memory read by one core", memory::read(effort, 1), "B")?;
    print("memory read by all cores", memory::read(effort, memory::cores()), "B")?;
    print("memory copied by one core", memory::copy(effort, 1), "B")?;
    print("memory copied by all cores", memory::copy(effort, memory::cores()), "B")?;
    print("loopback TCP, one connection", loopback::throughput(effort, 1, &loopback::plain)?, "B")?;
    print("loopback TCP, three parties, all ordered pairs", loopback::throughput(effort, 6, &loopback::plain)?, "B")?;
    let tls = loopback::tls()?;
    print("loopback TLS 1.3 AES-128-GCM, one connection", loopback::throughput(effort, 1, &tls)?, "B")?;
    print("loopback TLS 1.3, three parties, all ordered pairs", loopback::throughput(effort, 6, &tls)?, "B")?;
    let trip = loopback::round_trips(effort)?;
    print("loopback TCP, round trips of 64 B", trip, "trips")
}
