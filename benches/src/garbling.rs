//! Garbled circuits between two parties: two processes on this machine, oblivious transfers of the inputs included.

use crate::Result;
use crate::arguments::Garbling;
use crate::format::{count, mebibytes, seconds};
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
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::two::{Builder, Circuit, Input};
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::circuits::small;
use tacit_mpc::linear::Linear;
use tacit_net::PartyId;

/// The parties' names: the first garbles.
const NAMES: [&str; 2] = ["garbler", "evaluator"];

/// Bits of the numbers.
const WIDTH: usize = 32;

/// What both parties are to run.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Work {
    circuit: Kind,
    rows: usize,
}

/// What a party answers.
#[derive(Serialize, Deserialize)]
struct Answer {
    run: Run,
    /// Resident memory when the inputs lay ready, in bytes: it grows with the rows.
    inputs: u64,
}

/// The circuits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Kind {
    /// Products of a number of each party: many gates for each transferred bit.
    Product,
    /// Whether the garbler's number is smaller than the evaluator's: a gate for each transferred bit.
    Comparison,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Product => "products",
            Self::Comparison => "comparisons",
        }
    }

    fn circuit(self) -> Circuit {
        let (mut build, inputs) = Builder::new(2 * WIDTH);
        let (x, y) = inputs.split_at(WIDTH);
        let outputs = match self {
            Self::Comparison => {
                let Ok(less) = small::less_than(&mut build, x, y);
                vec![less]
            }
            Self::Product => {
                let mut sum: Vec<_> = y.iter().map(|&y| build.and(x[0], y)).collect();
                for (shift, &x) in x.iter().enumerate().skip(1) {
                    let term: Vec<_> = y[..WIDTH - shift].iter().map(|&y| build.and(x, y)).collect();
                    let Ok(high) = small::add(&mut build, &sum[shift..], &term);
                    sum.splice(shift.., high);
                }
                sum
            }
        };
        build.finish(&outputs)
    }
}

/// Measures the circuits and prints a line for each.
///
/// # Errors
/// When a party fails or its result is wrong.
pub fn run(selection: &Garbling) -> Result<()> {
    for &rows in &selection.rows {
        for &transport in &selection.transports {
            measure(Work { circuit: Kind::Comparison, rows }, transport, selection)?;
        }
    }
    for &gates in &selection.gates {
        for &transport in &selection.transports {
            let rows = gates / Kind::Product.circuit().ands();
            measure(Work { circuit: Kind::Product, rows }, transport, selection)?;
        }
    }
    Ok(())
}

fn measure(work: Work, transport: Transport, selection: &Garbling) -> Result<()> {
    let runs = (0..selection.repeats)
        .map(|_| processes::one_run(&NAMES, "garbling-party", transport == Transport::Tls, &work))
        .collect::<Result<Vec<[Answer; 2]>>>()?;
    let inputs = [0, 1].map(|party| runs.iter().map(|run| run[party].inputs).max().unwrap_or(0));
    let runs: Vec<[Run; 2]> = runs.into_iter().map(|run| run.map(|answer| answer.run)).collect();
    let Both { wall, cpu, peak, bytes } = Both::of(&runs);
    let gates = (work.rows * work.circuit.circuit().ands()) as f64;
    let bytes = bytes / gates;
    let (name, transport, rate) = (work.circuit.name(), transport.name(), gates / wall.median);
    if selection.json {
        println!(
            "{}",
            json!({"garbled": name, "rows": work.rows, "gates": gates, "transport": transport, "seconds": wall.median,
                "spread": wall.spread(), "rate": rate, "cpu_garbler": cpu[0], "cpu_evaluator": cpu[1],
                "bytes_per_gate": bytes, "rounds": runs[0][0].rounds, "peak_garbler": peak[0], "peak_evaluator": peak[1],
                "inputs_garbler": inputs[0], "inputs_evaluator": inputs[1],
                "load": machine::load()})
        );
    } else {
        println!(
            "{name:12} {:>8} {transport:5}  {:>9} best {:>9}  {:>7} ANDs/s  cpu {:>9} / {:>9}  {bytes:>5.1} B each  {:>2} rounds  peak {:>8} / {:>8}, before {:>8} / {:>8}  load {:.1}",
            count(work.rows as f64),
            seconds(wall.median),
            seconds(wall.least),
            count(rate),
            seconds(cpu[0]),
            seconds(cpu[1]),
            runs[0][0].rounds,
            mebibytes(peak[0]),
            mebibytes(peak[1]),
            mebibytes(inputs[0]),
            mebibytes(inputs[1]),
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
    let answer = timed(&mut node, work)?;
    node.into_session().close()?;
    say(&mut output, &answer)
}

fn timed(node: &mut Two, work: Work) -> Result<Answer> {
    let (circuit, me) = (work.circuit.circuit(), node.session().me());
    let mut prg = Prg::new(&Seed::random()?);
    let planes: Vec<_> = (0..2 * WIDTH)
        .map(|j| {
            let owner = PartyId(j / WIDTH);
            let value = (owner == me).then(|| Plane::from_words(work.rows, prg.vector(work.rows.div_ceil(64))));
            node.known(owner, work.rows, value)
        })
        .collect();
    let (known, shared) = planes.split_at(WIDTH);
    let inputs: Vec<Input<'_>> = known.iter().map(Input::OfGarbler).chain(shared.iter().map(Input::Shared)).collect();
    barrier(node)?;
    let resident = machine::resident_memory();
    let meter = node.session().meter();
    let (before, cpu, start) = (meter.snapshot(), machine::cpu_seconds(), Instant::now());
    let outputs = node.garbled(&circuit, &inputs)?;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
    let run = report(&before, &meter.snapshot(), elapsed, cpu);
    match outputs.iter().all(|output| output.rows() == work.rows) {
        true => Ok(Answer { run, inputs: resident }),
        false => Err("outputs of other lengths".into()),
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
