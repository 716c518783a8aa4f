//! ANDs, products and conversions of bits between two parties: two processes on this machine, transfers included.

use crate::Result;
use crate::arguments::Gates;
use crate::format::{count, mebibytes, seconds};
use crate::gate::Gate;
use crate::machine;
use crate::message::{Run, hear, say};
use crate::nodes::Transport;
use crate::party::report;
use crate::processes;
use crate::statistics::Both;

use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{stdin, stdout};
use std::time::Instant;
use tacit_math::{Prg, Seed};
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::{Backend, Block};
use tacit_net::PartyId;

/// The parties' names.
const NAMES: [&str; 2] = ["first", "second"];

/// What both parties are to run.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Work {
    gate: Gate,
    rows: usize,
    /// Bytes a second of the declared link, if one is.
    bandwidth: Option<f64>,
}

/// Measures what is chosen and prints a line for each.
///
/// # Errors
/// When a party fails or its result has another size.
pub fn run(selection: &Gates) -> Result<()> {
    for &rows in &selection.rows {
        for &gate in &selection.only {
            for &transport in &selection.transports {
                measure(Work { gate, rows: 1 << rows, bandwidth: selection.bandwidth }, transport, selection)?;
            }
        }
    }
    Ok(())
}

fn measure(work: Work, transport: Transport, selection: &Gates) -> Result<()> {
    let runs = (0..selection.repeats)
        .map(|_| processes::one_run(&NAMES, "gates-party", transport == Transport::Tls, &work))
        .collect::<Result<Vec<_>>>()?;
    let Both { wall, cpu, peak, bytes } = Both::of(&runs);
    let gates = (work.rows * work.gate.each()) as f64;
    let (peak, bits) = (peak[0].max(peak[1]), 8.0 * bytes / gates);
    let (name, transport, rate) = (work.gate.name(), transport.name(), gates / wall.median);
    if selection.json {
        println!(
            "{}",
            json!({"gate": name, "rows": work.rows, "gates": gates, "transport": transport, "seconds": wall.median,
                "spread": wall.spread(), "rate": rate, "cpu": cpu, "bits_each": bits, "rounds": runs[0][0].rounds,
                "peak": peak, "load": machine::load()})
        );
    } else {
        println!(
            "{name:13} {:>8} {transport:5}  {:>9} best {:>9}  {:>7}/s  cpu {:>9} / {:>9}  {bits:>7.1} bits each  {:>4} rounds  {:>8}  load {:.1}",
            count(gates),
            seconds(wall.median),
            seconds(wall.least),
            count(rate),
            seconds(cpu[0]),
            seconds(cpu[1]),
            runs[0][0].rounds,
            mebibytes(peak),
            machine::load(),
        );
    }
    Ok(())
}

/// A party process.
///
/// # Errors
/// When the run fails.
pub fn party() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (listener, group) = processes::introduce(&mut input, &mut output)?;
    let work: Work = hear(&mut input)?.ok_or("the coordinator is gone")?;
    let mut node = Two::new(processes::join(&NAMES, listener, &group)?)?;
    if let Some(bandwidth) = work.bandwidth {
        node.declare(machine::link(bandwidth));
    }
    let run = timed(&mut node, work)?;
    node.into_session().close()?;
    say(&mut output, &run)
}

/// Only base OTs are made before the clock starts.
fn timed(node: &mut Two, work: Work) -> Result<Run> {
    let me = node.session().me();
    let shape = work.gate.inputs(work.rows);
    let data = (me == PartyId(0)).then(|| Seed::random().map(|seed| Block::random(shape, &mut Prg::new(&seed))));
    let input = node.input(PartyId(0), shape, data.transpose()?)?;
    barrier(node)?;
    let meter = node.session().meter();
    let (before, cpu, start) = (meter.snapshot(), machine::cpu_seconds(), Instant::now());
    let results = work.gate.compute(node, &input)?;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
    let run = report(&before, &meter.snapshot(), elapsed, cpu);
    match results == work.rows * work.gate.each() {
        true => Ok(run),
        false => Err("results of another size".into()),
    }
}

/// Returns when the peer has called it, too.
fn barrier(node: &mut Two) -> Result<()> {
    let peer = PartyId(1 - node.session().me().0);
    let session = node.session_mut();
    session.next_round();
    session.send(peer, vec![0])?;
    Ok(session.recv(peer, &mut [0])?)
}
