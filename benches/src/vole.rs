//! Silent VOLE between two parties: two processes on this machine, base OTs included.

use crate::Result;
use crate::arguments::Correlations;
use crate::format::{count, mebibytes, seconds};
use crate::machine;
use crate::message::{Run, hear, say};
use crate::nodes::Transport;
use crate::party::report;
use crate::processes::{self, Line};
use crate::statistics::Both;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::io::{stdin, stdout};
use std::time::Instant;
use tacit_math::gf::{Gf64, Gf128};
use tacit_net::{PartyId, Session};
use tacit_ot::Adversary;
use tacit_ot::silent::vole;

/// The parties' names: the first holds delta.
const NAMES: [&str; 2] = ["sender", "receiver"];

/// What both parties are to run.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Work {
    /// Bits of a scalar, 64 or 128.
    bits: usize,
    malicious: bool,
    n: usize,
}

impl Work {
    fn name(self) -> String {
        format!("GF(2^{}) {}", self.bits, if self.malicious { "malicious" } else { "semi-honest" })
    }

    /// One party's part.
    fn run(self, session: &mut Session) -> Result<()> {
        let adversary = if self.malicious { Adversary::Malicious } else { Adversary::SemiHonest };
        match (session.me(), self.bits) {
            (PartyId(0), 64) => drop(vole::send::<Gf64>(session, PartyId(1), self.n, adversary)?),
            (PartyId(0), _) => drop(vole::send::<Gf128>(session, PartyId(1), self.n, adversary)?),
            (_, 64) => drop(vole::receive::<Gf64>(session, PartyId(0), self.n, adversary)?),
            _ => drop(vole::receive::<Gf128>(session, PartyId(0), self.n, adversary)?),
        }
        Ok(())
    }
}

/// Measures both fields against both adversaries and prints a line for each.
///
/// # Errors
/// When a party fails.
pub fn run(selection: &Correlations) -> Result<()> {
    for &rows in &selection.rows {
        for &transport in &selection.transports {
            for bits in [64, 128] {
                for malicious in [false, true] {
                    measure(Work { bits, malicious, n: 1 << rows }, transport, selection)?;
                }
            }
        }
    }
    Ok(())
}

fn measure(work: Work, transport: Transport, selection: &Correlations) -> Result<()> {
    let runs = repetitions(work, transport, selection.repeats)?;
    let Both { wall, cpu, peak, bytes } = Both::of(&runs);
    let (peak, bits) = (peak[0].max(peak[1]), 8.0 * bytes / work.n as f64);
    let (name, transport, rate) = (work.name(), transport.name(), work.n as f64 / wall.median);
    if selection.json {
        println!(
            "{}",
            json!({"vole": name, "correlations": work.n, "transport": transport, "seconds": wall.median,
                "spread": wall.spread(), "rate": rate, "cpu_sender": cpu[0], "cpu_receiver": cpu[1],
                "bits_per_correlation": bits, "rounds": runs[0][0].rounds, "peak_bytes": peak, "load": machine::load()})
        );
    } else {
        println!(
            "{name:20} {:>8} {transport:5}  {:>9} +-{:>3.0} %  {:>7}/s  cpu {:>9} / {:>9}  {bits:>5.2} bits each  {:>8}  load {:.1}",
            count(work.n as f64),
            seconds(wall.median),
            50.0 * wall.spread(),
            count(rate),
            seconds(cpu[0]),
            seconds(cpu[1]),
            mebibytes(peak),
            machine::load(),
        );
    }
    Ok(())
}

/// Runs of two new processes, `repeats` of them after one that is not counted: its memory comes fresh from the
/// operating system.
fn repetitions(work: Work, transport: Transport, repeats: usize) -> Result<Vec<[Run; 2]>> {
    let mut lines = processes::start(&NAMES, "vole-party", transport == Transport::Tls)?;
    let runs = (0..=repeats).map(|_| {
        lines.iter_mut().try_for_each(|line| line.say(&Some(work)))?;
        let runs = lines.iter_mut().map(Line::hear).collect::<Result<Vec<Run>>>()?;
        runs.try_into().map_err(|_| "two parties".into())
    });
    let counted = runs.collect::<Result<Vec<_>>>()?.split_off(1);
    lines.iter_mut().try_for_each(|line| line.say(&None::<Work>))?;
    lines.into_iter().try_for_each(Line::end)?;
    Ok(counted)
}

/// A party process: does what is asked until nothing is asked.
///
/// # Errors
/// When a run fails.
pub fn party() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (listener, group) = processes::introduce(&mut input, &mut output)?;
    let mut session = processes::join(&NAMES, listener, &group)?;
    while let Some(Some(work)) = hear::<Option<Work>>(&mut input)? {
        say(&mut output, &timed(&mut session, work)?)?;
    }
    Ok(session.close()?)
}

fn timed(session: &mut Session, work: Work) -> Result<Run> {
    let peer = PartyId(1 - session.me().0);
    session.next_round();
    session.send(peer, vec![0])?;
    session.recv(peer, &mut [0])?;
    let (before, cpu, start) = (session.meter().snapshot(), machine::cpu_seconds(), Instant::now());
    work.run(session)?;
    let (elapsed, cpu) = (start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
    Ok(report(&before, &session.meter().snapshot(), elapsed, cpu))
}
