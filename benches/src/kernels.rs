//! Measures operations and prints what was measured.

use crate::arguments::Kernels;
use crate::format::{count, mebibytes, seconds};
use crate::message::Run;
use crate::nodes::{Engine, Nodes, Transport};
use crate::operation::Operation;
use crate::statistics::Summary;
use crate::{Result, machine};
use serde::Serialize;
use std::time::Instant;

/// One line of the table.
#[derive(Serialize)]
pub struct Measurement {
    engine: &'static str,
    operation: &'static str,
    transport: &'static str,
    /// Rows of a column.
    pub rows: usize,
    /// What the rate counts.
    unit: &'static str,
    /// Units of one repetition.
    units: usize,
    /// Wall clock of each repetition: the slowest party's.
    seconds: Vec<f64>,
    /// Processor time of all parties, the median repetition's. None for threads: it cannot be told apart.
    cpu_seconds: Option<f64>,
    rounds: u64,
    /// Payload bytes sent by each party.
    bytes_sent: Vec<u64>,
    /// Largest resident memory of each party's process. None for threads.
    peak_memory: Option<Vec<u64>>,
    /// Load average of the machine after the measurement.
    load: f64,
    #[serde(skip)]
    median_run: Vec<Run>,
}

/// The titles of the table.
pub fn heading() -> String {
    format!(
        "{:<15} {:<7} {:>8} {:>11} {:>11} {:>7} {:>16} {:>9} {:>8} {:>7} {:>9} {:>6}",
        "operation", "joined", "rows", "median", "best", "spread", "rate", "B/row", "rounds", "cpu s", "peak", "load"
    )
}

impl Measurement {
    /// Units a second of the median repetition.
    pub fn rate(&self) -> f64 {
        self.units as f64 / Summary::of(&self.seconds).median
    }

    /// Its line of the table.
    pub fn line(&self, rows: &str) -> String {
        let time = Summary::of(&self.seconds);
        let bytes: u64 = self.bytes_sent.iter().sum();
        format!(
            "{:<15} {:<7} {:>8} {:>11} {:>11} {:>6.0}% {:>16} {:>9.2} {:>8} {:>7} {:>9} {:>6.2}",
            self.operation,
            self.transport,
            rows,
            seconds(time.median),
            seconds(time.least),
            100.0 * time.spread(),
            format!("{}{}/s", count(self.rate()), self.unit),
            bytes as f64 / (self.bytes_sent.len() * self.rows) as f64,
            self.rounds,
            self.cpu_seconds.map_or("-".into(), |seconds| format!("{seconds:.2}")),
            self.peak_memory.as_ref().and_then(|peak| peak.iter().copied().max()).map_or("-".into(), mebibytes),
            self.load,
        )
    }

    /// Rounds, bytes and seconds of each step of party a, in its median repetition.
    pub fn print_steps(&self) {
        for step in &self.median_run[0].steps {
            println!(
                "    {:<60} {:>11}, {:>11} of it waiting, {:>5} rounds, {:>9}B sent",
                step.path,
                seconds(step.seconds),
                seconds(step.waiting),
                step.rounds,
                count(step.bytes_sent as f64),
            );
        }
    }
}

/// Measures everything that was chosen.
///
/// # Errors
/// When a party fails.
pub fn run(chosen: &Kernels) -> Result<()> {
    if !chosen.json {
        println!("{}", heading());
    }
    for &operation in &chosen.operations {
        for &exponent in &chosen.rows {
            for &transport in &chosen.transports {
                let measured = measure(chosen, operation, 1 << exponent, transport)?;
                print(chosen, exponent, &measured)?;
            }
        }
    }
    Ok(())
}

/// Measures one operation, by nodes that are started for it.
///
/// # Errors
/// When a party fails.
pub fn measure(chosen: &Kernels, operation: Operation, rows: usize, transport: Transport) -> Result<Measurement> {
    let mut nodes = Nodes::start(chosen.engine, transport)?;
    chosen.bandwidth.map_or(Ok(()), |bandwidth| nodes.declare(bandwidth))?;
    let start = Instant::now();
    nodes.run(operation, rows)?;
    let mut runs = vec![nodes.run(operation, rows)?];
    while runs.len() < chosen.repeats && start.elapsed() < chosen.at_most {
        runs.push(nodes.run(operation, rows)?);
    }
    nodes.end()?;
    Ok(summarise(chosen.engine, operation, rows, transport, runs))
}

/// The slowest party's wall clock.
fn slowest(run: &[Run]) -> f64 {
    run.iter().map(|party| party.seconds).fold(0.0, f64::max)
}

fn summarise(
    engine: Engine,
    operation: Operation,
    rows: usize,
    transport: Transport,
    mut runs: Vec<Vec<Run>>,
) -> Measurement {
    let times: Vec<f64> = runs.iter().map(|run| slowest(run)).collect();
    let peak = |me: usize| runs.iter().map(|run| run[me].peak_memory).max().unwrap_or(0);
    let processes = transport != Transport::Memory;
    let peak_memory = processes.then(|| (0..runs[0].len()).map(peak).collect());
    runs.sort_by(|x, y| slowest(x).total_cmp(&slowest(y)));
    let median_run = runs.swap_remove((runs.len() - 1) / 2);
    let bytes_sent: Vec<u64> = median_run.iter().map(|party| party.bytes_sent).collect();
    Measurement {
        engine: engine.name(),
        operation: operation.name(),
        transport: transport.name(),
        rows,
        unit: operation.unit(),
        units: operation.units(rows, bytes_sent.len()),
        seconds: times,
        cpu_seconds: processes.then(|| median_run.iter().map(|party| party.cpu_seconds).sum()),
        rounds: median_run[0].rounds,
        bytes_sent,
        peak_memory,
        load: machine::load(),
        median_run,
    }
}

fn print(chosen: &Kernels, exponent: u32, measured: &Measurement) -> Result<()> {
    if chosen.json {
        println!("{}", serde_json::to_string(measured)?);
        return Ok(());
    }
    println!("{}", measured.line(&format!("2^{exponent}")));
    if chosen.steps {
        measured.print_steps();
    }
    Ok(())
}
