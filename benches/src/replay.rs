//! One party of an engine alone, against what it received in a recorded run, with one thread and with several.
//!
//! Three parties on one machine share its cores, so that none of them shows what more cores are worth to it. Here all
//! cores are one party's, and nothing is spent on the network or on TLS.

use crate::arguments::Replay;
use crate::format::seconds;
use crate::message::Run;
use crate::operation::Operation;
use crate::party;
use crate::roster::names;
use crate::statistics::Summary;
use crate::{Result, machine};
use serde::Serialize;
use std::thread;
use tacit_math::Workers;
use tacit_mpc::backends::{Networked, Rep3};
use tacit_net::replay::{self, Recording};
use tacit_net::{Options, PartyId, Session};

/// The party that is alone: it owns no columns, whose values are drawn anew in every run.
const ALONE: PartyId = PartyId(1);

/// One line of the table.
#[derive(Serialize)]
struct Measurement {
    operation: &'static str,
    rows: usize,
    threads: usize,
    /// Wall clock of each repetition.
    seconds: Vec<f64>,
    /// Processor time of each repetition, of all threads.
    cpu_seconds: Vec<f64>,
    /// The least wall clock of one thread, divided by that of these.
    speedup: f64,
    load: f64,
}

/// Measures everything that was chosen.
///
/// # Errors
/// When a party fails, or sends other bytes with several threads than with one.
pub fn run(chosen: &Replay) -> Result<()> {
    if !chosen.json {
        println!(
            "{:<14} {:>6} {:>8} {:>11} {:>11} {:>9} {:>8} {:>6}",
            "operation", "rows", "threads", "median", "best", "cpu s", "speedup", "load"
        );
    }
    for &operation in &chosen.operations {
        for &exponent in &chosen.rows {
            let recording = record::<Rep3>(operation, 1 << exponent)?;
            let mut alone = None;
            for &threads in &chosen.threads {
                let measured = measure::<Rep3>(&recording, operation, 1 << exponent, threads, chosen.repeats)?;
                let best = Summary::of(&measured.iter().map(|run| run.seconds).collect::<Vec<_>>()).least;
                let speedup = *alone.get_or_insert(best) / best;
                print(chosen, exponent, &summarise(operation, 1 << exponent, threads, &measured, speedup))?;
            }
        }
    }
    Ok(())
}

/// A run of all parties in this process, as the one party sees it.
fn record<B: Networked + 'static>(operation: Operation, rows: usize) -> Result<Recording> {
    let (sessions, recording) = replay::mesh(names::<B>(), &Options::default(), ALONE);
    let parties: Vec<_> =
        sessions.into_iter().map(|session| thread::spawn(move || drive::<B>(session, operation, rows))).collect();
    for party in parties {
        party.join().map_err(|_| "a party panicked")??;
    }
    Ok(recording)
}

fn drive<B: Networked + 'static>(session: Session, operation: Operation, rows: usize) -> Result<Run> {
    let (node, run) = party::measure(B::start(session)?, operation, rows)?;
    node.into_session().close()?;
    Ok(run)
}

/// The party again, once to compare what it sends and to warm up, then as often as asked for.
fn measure<B: Networked + 'static>(
    recording: &Recording,
    operation: Operation,
    rows: usize,
    threads: usize,
    repeats: usize,
) -> Result<Vec<Run>> {
    let workers = Workers::new(threads)?;
    let again = |keeps| -> Result<(Run, _)> {
        let (session, sent) = recording.replay(&Options::default(), keeps).into_parts();
        Ok((workers.run(|| drive::<B>(session, operation, rows))?, sent))
    };
    if again(true)?.1() != recording.sent() {
        return Err(format!("{} with {threads} threads sends other bytes", operation.name()).into());
    }
    (0..repeats).map(|_| Ok(again(false)?.0)).collect()
}

fn summarise(operation: Operation, rows: usize, threads: usize, runs: &[Run], speedup: f64) -> Measurement {
    Measurement {
        operation: operation.name(),
        rows,
        threads,
        seconds: runs.iter().map(|run| run.seconds).collect(),
        cpu_seconds: runs.iter().map(|run| run.cpu_seconds).collect(),
        speedup,
        load: machine::load(),
    }
}

fn print(chosen: &Replay, exponent: u32, measured: &Measurement) -> Result<()> {
    if chosen.json {
        println!("{}", serde_json::to_string(measured)?);
        return Ok(());
    }
    let [wall, cpu] = [&measured.seconds, &measured.cpu_seconds].map(|values| Summary::of(values));
    println!(
        "{:<14} {:>6} {:>8} {:>11} {:>11} {:>9.2} {:>7.2}x {:>6.2}",
        measured.operation,
        format!("2^{exponent}"),
        measured.threads,
        seconds(wall.median),
        seconds(wall.least),
        cpu.median,
        measured.speedup,
        measured.load,
    );
    Ok(())
}
