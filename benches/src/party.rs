//! One party: joins the others and runs operations of its engine as the coordinator asks.

use crate::columns;
use crate::exchange;
use crate::machine;
use crate::message::{Request, Run, Step, hear, say};
use crate::operation::Operation;
use crate::processes;
use crate::roster::names;
use crate::tables;
use crate::trial;
use std::any::Any;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::Networked;
use tacit_mpc::{Block, Rows};
use tacit_net::{PartyId, Session, Snapshot};

use crate::Result;

/// The party that owns the inputs of operations on columns.
const OWNER: PartyId = PartyId(0);

/// A party process: told its peers and its work through standard input, it answers through standard output.
pub fn main<B: Networked + 'static>() -> Result<()> {
    let (mut input, mut output) = (stdin().lock(), stdout().lock());
    let (listener, group) = processes::introduce(&mut input, &mut output)?;
    serve::<B>(processes::join(names::<B>(), listener, &group)?, &mut input, &mut output)
}

/// Runs what is asked until the end is asked, then closes the session.
pub fn serve<B: Networked + 'static>(
    session: Session,
    input: &mut impl BufRead,
    output: &mut impl Write,
) -> Result<()> {
    let mut node = B::start(session)?;
    loop {
        match hear(input)? {
            Some(Request::Declare(bandwidth)) => node.declare(machine::link(bandwidth)),
            Some(Request::Run(operation, rows)) => {
                let (same, run) = measure(node, operation, rows)?;
                node = same;
                say(output, &run)?;
            }
            Some(Request::End) | None => return Ok(node.into_session().close()?),
        }
    }
}

/// Runs an operation once, on inputs that are shared before the clock starts.
pub fn measure<B: Networked + 'static>(node: B, operation: Operation, rows: usize) -> Result<(B, Run)> {
    let (mut node, work) = share(node, operation, rows)?;
    let meter = node.session().meter();
    barrier(&mut node)?;
    let (before, cpu, start) = (meter.snapshot(), machine::cpu_seconds(), Instant::now());
    let (mut node, result) = work.run(node)?;
    let after = meter.snapshot();
    barrier(&mut node)?;
    let seconds = start.elapsed().as_secs_f64();
    let cpu_seconds = machine::cpu_seconds() - cpu;
    drop(result);
    Ok((node, report(&before, &after, seconds, cpu_seconds)))
}

/// What to run, with its shared inputs.
enum Work<B: Networked> {
    Exchange(usize),
    Trial(usize),
    Columns(Operation, Rows<B>),
    Tables(tables::Prepared<B>),
}

fn share<B: Networked>(mut node: B, operation: Operation, rows: usize) -> Result<(B, Work<B>)> {
    match operation {
        Operation::Exchange => return Ok((node, Work::Exchange(rows))),
        Operation::Trial => return Ok((node, Work::Trial(rows))),
        _ => {}
    }
    let Some(shape) = columns::inputs(operation, rows) else {
        let (node, prepared) = tables::share(node, operation, rows)?;
        return Ok((node, Work::Tables(prepared)));
    };
    let mut prg = Prg::new(&Seed::random()?);
    let data = (node.session().me() == OWNER).then(|| Block::random(shape, &mut prg));
    let shared = node.input(OWNER, shape, data)?;
    Ok((node, Work::Columns(operation, shared)))
}

impl<B: Networked + 'static> Work<B> {
    /// Gives the node back, with the shared result so that it is not dropped before the clock has stopped.
    fn run(self, mut node: B) -> Result<(B, Box<dyn Any>)> {
        match self {
            Self::Exchange(rows) => {
                let mut session = node.into_session();
                exchange::run(&mut session, rows)?;
                Ok((B::start(session)?, Box::new(())))
            }
            Self::Trial(rows) => {
                let result = trial::run(&mut node, rows)?;
                Ok((node, Box::new(result)))
            }
            Self::Columns(operation, shared) => {
                let result = columns::run(operation, &mut node, shared)?;
                Ok((node, Box::new(result)))
            }
            Self::Tables(prepared) => {
                let (node, result) = tables::run(node, prepared)?;
                Ok((node, Box::new(result)))
            }
        }
    }
}

/// Returns when every party has called it. A node's AND ends after the next node's has begun; after the second one that
/// holds for the node after that, too.
fn barrier<B: Networked>(node: &mut B) -> Result<()> {
    let word = node.public_bits(64, || Plane::zeros(64));
    node.step("barrier", |node| (0..2).try_for_each(|_| node.and(&[&word], &[&word]).map(drop)))?;
    Ok(())
}

/// What a session and the clocks say of a run.
pub fn report(before: &Snapshot, after: &Snapshot, seconds: f64, cpu_seconds: f64) -> Run {
    let steps = after.steps.iter().map(|step| {
        let (old, new) = (before.step(&step.path), step.counters);
        Step {
            path: step.path.clone(),
            seconds: (new.wall - old.wall).as_secs_f64(),
            waiting: (new.waiting - old.waiting).as_secs_f64(),
            bytes_sent: new.bytes_sent - old.bytes_sent,
            rounds: new.rounds - old.rounds,
        }
    });
    Run {
        seconds,
        cpu_seconds,
        bytes_sent: after.total.bytes_sent - before.total.bytes_sent,
        rounds: after.total.rounds - before.total.rounds,
        peak_memory: machine::peak_memory(),
        steps: steps.filter(|step| step.seconds > 1e-6).collect(),
    }
}
