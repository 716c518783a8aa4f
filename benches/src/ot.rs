//! Oblivious transfer between two parties: two processes on this machine.

use crate::Result;
use crate::arguments::Correlations;
use crate::format::{count, mebibytes, seconds};
use crate::machine;
use crate::message::{Run, hear, say};
use crate::nodes::Transport;
use crate::party::report;
use crate::processes::{self, Line};
use crate::statistics::Summary;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;
use tacit_net::{PartyId, Session};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::{Adversary, OtError, base, silent, softspoken};

/// The parties' names: the first is the sender of OTs.
const NAMES: [&str; 2] = ["sender", "receiver"];

/// The command that a party process is started with.
const PARTY: &str = "ot-party";

/// An extension protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Extension {
    /// SoftSpokenOT with this number of bits of delta in a block; 1 is IKNP.
    SoftSpoken(usize),
    /// From a pseudorandom correlation generator.
    Silent,
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Work {
    /// A number of base OTs.
    Base(usize),
    /// An extension in batches, its setup not counted.
    Extension {
        protocol: Extension,
        adversary: Against,
        /// Whether correlated OTs are hashed to random ones.
        hashed: bool,
        /// OTs.
        n: usize,
    },
}

/// [`Adversary`], as it travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Against {
    SemiHonest,
    Malicious,
}

impl Work {
    /// Everything of the table, for `n` OTs.
    fn all(n: usize) -> Vec<Self> {
        let of = |protocol| {
            let work = |(adversary, hashed)| Self::Extension { protocol, adversary, hashed, n };
            [(Against::SemiHonest, false), (Against::Malicious, false), (Against::Malicious, true)].map(work)
        };
        let soft = [1, 2, 4, 8].map(Extension::SoftSpoken);
        [Self::Base(128)].into_iter().chain(soft.into_iter().chain([Extension::Silent]).flat_map(of)).collect()
    }

    fn name(self) -> String {
        match self {
            Self::Base(n) => format!("{n} base OTs"),
            Self::Extension { protocol, adversary, hashed, .. } => {
                let protocol = match protocol {
                    Extension::SoftSpoken(1) => "iknp".to_owned(),
                    Extension::SoftSpoken(k) => format!("softspoken k={k}"),
                    Extension::Silent => "silent".to_owned(),
                };
                let adversary = if adversary == Against::Malicious { "malicious" } else { "semi-honest" };
                let kind = if hashed { "random" } else { "correlated" };
                format!("{protocol} {adversary} {kind}")
            }
        }
    }

    fn transfers(self) -> usize {
        match self {
            Self::Base(n) | Self::Extension { n, .. } => n,
        }
    }

    /// OTs that are extended, used and forgotten together, as a protocol of many batches would.
    fn batch(self) -> usize {
        match self {
            Self::Extension { protocol: Extension::Silent, .. } => silent::cot::largest(),
            _ => 1 << 18,
        }
    }
}

/// What the coordinator asks.
#[derive(Serialize, Deserialize)]
enum Request {
    Run(Work),
    End,
}

/// One measured work, over its repetitions.
#[derive(Serialize)]
struct Measurement {
    work: String,
    transport: &'static str,
    transfers: usize,
    /// Wall clock of every repetition, that of the slower party.
    seconds: Vec<f64>,
    /// Processor time of sender and receiver in the repetition of least wall clock.
    cpu_seconds: [f64; 2],
    bytes_sent: [u64; 2],
    rounds: u64,
    peak_memory: u64,
    load: f64,
}

/// Measures everything.
///
/// # Errors
/// When a party fails.
pub fn run(chosen: &Correlations) -> Result<()> {
    if !chosen.json {
        println!(
            "{:<36} {:<7} {:>8} {:>11} {:>11} {:>12} {:>17} {:>8} {:>6} {:>8} {:>6}",
            "work", "joined", "OTs", "median", "best", "rate", "cpu s of each", "B/OT", "rounds", "peak", "load"
        );
    }
    for &rows in &chosen.rows {
        for work in Work::all(1 << rows) {
            for &transport in &chosen.transports {
                print(chosen, &measure(chosen, work, transport)?)?;
            }
        }
    }
    Ok(())
}

fn measure(chosen: &Correlations, work: Work, transport: Transport) -> Result<Measurement> {
    let mut parties = processes::start(&NAMES, PARTY, transport == Transport::Tls)?;
    ask(&mut parties, work)?;
    let mut runs = (0..chosen.repeats).map(|_| ask(&mut parties, work)).collect::<Result<Vec<_>>>()?;
    parties.iter_mut().try_for_each(|party| party.say(&Request::End))?;
    parties.into_iter().try_for_each(Line::end)?;
    let slower = |run: &Vec<Run>| run.iter().map(|party| party.seconds).fold(0.0, f64::max);
    runs.sort_by(|a, b| slower(a).total_cmp(&slower(b)));
    let [sender, receiver] = runs[0].as_slice() else { return Err("two parties answer".into()) };
    Ok(Measurement {
        work: work.name(),
        transport: transport.name(),
        transfers: work.transfers(),
        seconds: runs.iter().map(slower).collect(),
        cpu_seconds: [sender.cpu_seconds, receiver.cpu_seconds],
        bytes_sent: [sender.bytes_sent, receiver.bytes_sent],
        rounds: sender.rounds,
        peak_memory: sender.peak_memory.max(receiver.peak_memory),
        load: machine::load(),
    })
}

fn ask(parties: &mut [Line], work: Work) -> Result<Vec<Run>> {
    parties.iter_mut().try_for_each(|party| party.say(&Request::Run(work)))?;
    parties.iter_mut().map(Line::hear).collect()
}

fn print(chosen: &Correlations, measured: &Measurement) -> Result<()> {
    if chosen.json {
        println!("{}", serde_json::to_string(measured)?);
        return Ok(());
    }
    let time = Summary::of(&measured.seconds);
    let bytes: u64 = measured.bytes_sent.iter().sum();
    println!(
        "{:<36} {:<7} {:>8} {:>11} {:>11} {:>12} {:>17} {:>8.2} {:>6} {:>8} {:>6.2}",
        measured.work,
        measured.transport,
        count(measured.transfers as f64),
        seconds(time.median),
        seconds(time.least),
        format!("{}/s", count(measured.transfers as f64 / time.least)),
        format!("{:.3} {:.3}", measured.cpu_seconds[0], measured.cpu_seconds[1]),
        bytes as f64 / measured.transfers as f64,
        measured.rounds,
        mebibytes(measured.peak_memory),
        measured.load,
    );
    Ok(())
}

/// A party process.
///
/// # Errors
/// When the other party fails.
pub fn party() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (listener, group) = processes::introduce(&mut input, &mut output)?;
    serve(processes::join(&NAMES, listener, &group)?, &mut input, &mut output)
}

/// Does what is asked until the end is asked.
fn serve(mut session: Session, input: &mut impl BufRead, output: &mut impl Write) -> Result<()> {
    while let Some(Request::Run(work)) = hear(input)? {
        say(output, &measured(&mut session, work)?)?;
    }
    Ok(session.close()?)
}

fn measured(session: &mut Session, work: Work) -> Result<Run> {
    let peer = PartyId(1 - session.me().0);
    let mut side = Side::prepare(session, peer, work)?;
    let meter = session.meter();
    barrier(session, peer)?;
    let (before, cpu, start) = (meter.snapshot(), machine::cpu_seconds(), Instant::now());
    let result = side.run(session, peer, work)?;
    let after = meter.snapshot();
    barrier(session, peer)?;
    let (seconds, cpu_seconds) = (start.elapsed().as_secs_f64(), machine::cpu_seconds() - cpu);
    drop(result);
    Ok(report(&before, &after, seconds, cpu_seconds))
}

/// What a party has after its setup.
enum Side {
    Nothing,
    Sender(softspoken::Sender),
    Receiver(softspoken::Receiver),
    SilentSender(silent::cot::Sender),
    SilentReceiver(silent::cot::Receiver),
}

/// Results are kept until the clock has stopped.
#[expect(dead_code, reason = "held, not read")]
enum Output {
    Pairs(Vec<[u128; 2]>),
    Keys(Vec<u128>),
    Sender(CotSender),
    Receiver(CotReceiver),
}

impl Side {
    fn prepare(session: &mut Session, peer: PartyId, work: Work) -> std::result::Result<Self, OtError> {
        let Work::Extension { protocol, adversary, .. } = work else { return Ok(Self::Nothing) };
        let adversary = match adversary {
            Against::SemiHonest => Adversary::SemiHonest,
            Against::Malicious => Adversary::Malicious,
        };
        match (session.me().0, protocol) {
            (0, Extension::SoftSpoken(k)) => softspoken::Sender::setup(session, peer, adversary, k).map(Self::Sender),
            (_, Extension::SoftSpoken(k)) => {
                softspoken::Receiver::setup(session, peer, adversary, k).map(Self::Receiver)
            }
            (0, Extension::Silent) => silent::cot::Sender::setup(session, peer, adversary).map(Self::SilentSender),
            (_, Extension::Silent) => silent::cot::Receiver::setup(session, peer, adversary).map(Self::SilentReceiver),
        }
    }

    /// The last batch's result is given back, so that it is not dropped before the clock has stopped.
    fn run(&mut self, session: &mut Session, peer: PartyId, work: Work) -> std::result::Result<Output, OtError> {
        let Work::Extension { hashed, n, .. } = work else { return Self::base(session, peer, work.transfers()) };
        let mut last = Output::Keys(Vec::new());
        for batch in (0..n).step_by(work.batch()).map(|start| work.batch().min(n - start)) {
            last = match self {
                Self::Sender(sender) => sent(sender.extend(session, batch)?, hashed),
                Self::Receiver(receiver) => received(receiver.extend(session, batch)?, hashed),
                Self::SilentSender(sender) => sent(sender.extend(session, batch)?, hashed),
                Self::SilentReceiver(receiver) => received(receiver.extend(session, batch)?, hashed),
                Self::Nothing => last,
            };
        }
        Ok(last)
    }

    fn base(session: &mut Session, peer: PartyId, n: usize) -> std::result::Result<Output, OtError> {
        match session.me().0 {
            0 => base::send(session, peer, n).map(Output::Pairs),
            _ => base::receive(session, peer, &vec![true; n]).map(Output::Keys),
        }
    }
}

fn sent(transfers: CotSender, hashed: bool) -> Output {
    if hashed { Output::Pairs(transfers.random()) } else { Output::Sender(transfers) }
}

fn received(transfers: CotReceiver, hashed: bool) -> Output {
    if hashed { Output::Keys(transfers.random()) } else { Output::Receiver(transfers) }
}

/// Returns when both parties have called it.
fn barrier(session: &mut Session, peer: PartyId) -> Result<()> {
    session.next_round();
    session.send(peer, vec![0])?;
    Ok(session.recv(peer, &mut [0])?)
}
