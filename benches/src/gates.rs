//! ANDs, products and conversions of bits between two parties: two processes on this machine, transfers included.

use crate::Result;
use crate::arguments::Gates;
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
use tacit_math::{Prg, Seed};
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::{Backend, Block, Rows, Shape};
use tacit_net::PartyId;

/// The parties' names.
const NAMES: [&str; 2] = ["first", "second"];

/// Planes of a row of ANDs.
const WIDTH: usize = 64;

/// Planes of a row of conversions.
const BITS: usize = 8;

/// What is measured, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Gate {
    /// 64 ANDs of different bits.
    Ands,
    /// 64 ANDs of one bit with others.
    CommonFactor,
    /// A product over Z/2^64.
    Products,
    /// 8 bits as elements of Z/2^64.
    Bits,
    /// A bit times an element of Z/2^64.
    Choices,
}

impl Gate {
    /// All, in the order of the table.
    pub const ALL: [Self; 5] = [Self::Ands, Self::CommonFactor, Self::Products, Self::Bits, Self::Choices];

    /// That of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|gate| gate.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ands => "ands",
            Self::CommonFactor => "common-factor",
            Self::Products => "products",
            Self::Bits => "bits",
            Self::Choices => "choices",
        }
    }

    /// How many in a row.
    fn each(self) -> usize {
        match self {
            Self::Ands | Self::CommonFactor => WIDTH,
            Self::Bits => BITS,
            Self::Products | Self::Choices => 1,
        }
    }

    fn inputs(self, rows: usize) -> Shape {
        let (bits, r64) = match self {
            Self::Ands => (2 * WIDTH, 0),
            Self::CommonFactor => (WIDTH + 1, 0),
            Self::Products => (0, 2),
            Self::Bits => (BITS, 0),
            Self::Choices => (1, 1),
        };
        Shape { rows, bits, r64, ..Shape::default() }
    }

    /// The rows of the result.
    fn compute(self, node: &mut Two, input: &Rows<Two>) -> tacit_mpc::Result<usize> {
        let planes: Vec<_> = input.bits.iter().collect();
        match self {
            Self::Ands => Ok(node.and(&planes[..WIDTH], &planes[WIDTH..])?.len() * input.rows),
            Self::CommonFactor => Ok(node.and(&[planes[WIDTH]; WIDTH], &planes[..WIDTH])?.len() * input.rows),
            Self::Products => Ok(node.mul(&[&input.r64[0]], &[&input.r64[1]])?.len() * input.rows),
            Self::Bits => Ok(node.inject::<u64>(&planes)?.len() * input.rows),
            Self::Choices => Ok(node.select(&planes, &[&input.r64[0]])?.len() * input.rows),
        }
    }
}

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
