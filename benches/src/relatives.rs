//! Relatives of intersection, and intersection by Diffie-Hellman beside the machine's own scalar multiplications: two
//! processes, sessions joined before the clock starts, half of the items common.

mod work;

use crate::Result;
use crate::arguments::Psi;
use crate::format::{count, mebibytes, seconds};
use crate::machine;
use crate::message::{Run, hear, say};
use crate::nodes::Transport;
use crate::processes;
use crate::statistics::Summary;
use serde::Serialize;
use std::hint::black_box;
use std::io::{stdin, stdout};
use std::time::Instant;
use tacit_psi::Item;
use tacit_psi::group::{Exponent, HashToGroup};
use work::{Request, Work};

/// The parties' names, by role.
const NAMES: [&str; 2] = ["sender", "receiver"];

/// The command that a party process is started with.
const PARTY: &str = "relatives-party";

/// Points of one pass that measures the machine's scalar multiplications, on all cores.
const POINTS: usize = 1 << 15;

/// Passes, of which the best counts.
const PASSES: usize = 5;

/// One line: a phase of a work, over its repetitions.
#[derive(Serialize)]
struct Measurement {
    relative: &'static str,
    phase: &'static str,
    /// Items of each set, as a power of two.
    rows: u32,
    transport: &'static str,
    /// What is counted: items of one set, or items asked about.
    items: usize,
    /// Wall clock of every repetition, that of the slower party.
    seconds: Vec<f64>,
    cpu_seconds: [f64; 2],
    bytes_sent: [u64; 2],
    rounds: u64,
    peak_memory: u64,
    /// Scalar multiplications of both parties, and how many a second the machine does on all its cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    multiplications: Option<(usize, f64)>,
    load: f64,
}

/// Measures what is selected and prints a line for each phase.
///
/// # Errors
/// When a party fails or has a wrong outcome; an unknown name.
pub fn run(selection: &Psi) -> Result<()> {
    let known = Work::ALL.map(Work::name);
    if let Some(name) = selection.only.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(format!("there is no {name:?}; there are {}", known.join(", ")).into());
    }
    let rate = multiplications()?;
    if !selection.json {
        println!("{}scalar multiplications/s on all cores: decoded, multiplied, encoded", count(rate));
    }
    for work in Work::ALL {
        if selection.only.is_empty() || selection.only.iter().any(|name| name == work.name()) {
            for &rows in &selection.rows {
                for &transport in &selection.transports {
                    measure(work, rows, transport, rate, selection)?;
                }
            }
        }
    }
    Ok(())
}

/// How many points a second this machine raises to an exponent, encodings in and out.
fn multiplications() -> Result<f64> {
    let exponent = Exponent::random()?;
    let items: Vec<Item> = (0..POINTS as Item).collect();
    let points = exponent.mask(&HashToGroup::new(b"bench"), &items);
    let pass = |_| {
        let start = Instant::now();
        black_box(exponent.raise(&points)).expect("this program's own points");
        POINTS as f64 / start.elapsed().as_secs_f64()
    };
    Ok((0..PASSES).map(pass).fold(0.0, f64::max))
}

fn measure(work: Work, rows: u32, transport: Transport, rate: f64, selection: &Psi) -> Result<()> {
    let items = 1 << rows;
    let runs = (0..selection.repeats)
        .map(|_| processes::one_run(&NAMES, PARTY, transport == Transport::Tls, &Request { work, items }))
        .collect::<Result<Vec<[Vec<Run>; 2]>>>()?;
    for (number, &phase) in work.phases().iter().enumerate() {
        let of = |party: usize| runs.iter().map(move |run| &run[party][number]);
        let slower: Vec<f64> = of(0).zip(of(1)).map(|(a, b)| a.seconds.max(b.seconds)).collect();
        let cpu = |party: usize| Summary::of(&of(party).map(|run| run.cpu_seconds).collect::<Vec<_>>()).median;
        let found = Measurement {
            relative: work.name(),
            phase,
            rows,
            transport: transport.name(),
            items: work.counted(phase, items),
            seconds: slower,
            cpu_seconds: [cpu(0), cpu(1)],
            bytes_sent: [0, 1].map(|party| runs[0][party][number].bytes_sent),
            rounds: runs[0][0][number].rounds,
            peak_memory: of(0).chain(of(1)).map(|run| run.peak_memory).max().unwrap_or(0),
            multiplications: work.multiplications(items).map(|steps| (steps, rate)),
            load: machine::load(),
        };
        print(&found, selection)?;
        if selection.steps && !selection.json {
            steps(&runs[0], number);
        }
    }
    Ok(())
}

fn print(found: &Measurement, selection: &Psi) -> Result<()> {
    if selection.json {
        println!("{}", serde_json::to_string(found)?);
        return Ok(());
    }
    let time = Summary::of(&found.seconds);
    let bytes: u64 = found.bytes_sent.iter().sum();
    let beside = found.multiplications.map_or(String::new(), |(steps, rate)| {
        format!("  {:.2} times its multiplications", time.median * rate / steps as f64)
    });
    println!(
        "{:26} 2^{:<2} {:5}  {:>9} +-{:>3.0} %  {:>7.2} us an item  cpu {:>9} / {:>9}  {:>6.1} B an item  {:>3} rounds  {:>8}  load {:.1}{beside}",
        [found.relative, found.phase].join(" "),
        found.rows,
        found.transport,
        seconds(time.median),
        50.0 * time.spread(),
        1e6 * time.median / found.items as f64,
        seconds(found.cpu_seconds[0]),
        seconds(found.cpu_seconds[1]),
        bytes as f64 / found.items as f64,
        found.rounds,
        mebibytes(found.peak_memory),
        found.load,
    );
    Ok(())
}

fn steps(run: &[Vec<Run>; 2], phase: usize) {
    for (name, run) in NAMES.iter().zip(run) {
        for step in &run[phase].steps {
            let (wall, waiting) = (seconds(step.seconds), seconds(step.waiting));
            println!("    {name:8} {:40} {wall:>9}, waiting {waiting:>9}  {:>11} B", step.path, step.bytes_sent);
        }
    }
}

/// A party process: the sender is number 0.
///
/// # Errors
/// When the run fails or its outcome is wrong.
pub fn party() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (listener, group) = processes::introduce(&mut input, &mut output)?;
    let request: Request = hear(&mut input)?.ok_or("the coordinator is gone")?;
    let session = processes::join(&NAMES, listener, &group)?;
    let (session, runs) = work::run(session, &request)?;
    session.close()?;
    say(&mut output, &runs)
}
