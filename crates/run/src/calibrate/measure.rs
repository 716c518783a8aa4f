//! A plan among nodes of this process, on random rows: what each step takes of the processor.

use std::collections::HashMap;
use std::sync::Barrier;
use std::thread;

use rustix::time::{ClockId, clock_gettime};
use tacit_math::{Prg, Seed};
use tacit_net::Options;
use tacit_table::{ColumnData, DataColumn, DataTable, Operator, Parties};

use super::Measured;
use crate::agreement::Agreement;
use crate::cost::permits;
use crate::error::Result;
use crate::session::Session;

/// Seconds that all threads of this process have computed.
pub fn processor() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// The declared rows of every input.
pub fn sizes(plan: &Measured) -> Result<HashMap<usize, usize>> {
    let size = |operator: &Operator| match operator {
        Operator::Input(input) => input.rows.map(|rows| (input.id, rows)),
        _ => None,
    };
    Ok(Operator::list_from_json(&plan.operators)?.iter().filter_map(size).collect())
}

/// Seconds of one node's processor for every step, the mean of all nodes.
pub fn steps(plan: &Measured) -> Result<Vec<f64>> {
    let operators = Operator::list_from_json(&plan.operators)?;
    let parties = Parties { nodes: plan.nodes.clone(), clients: vec![] };
    let permits = permits(&plan.engine, &plan.operators, &parties)?;
    let approved = Agreement::within_process(&plan.engine, plan.nodes.clone(), permits, plan.operators.clone());
    // Made ahead, correlations would be computed beside other steps.
    let sessions =
        Session::in_memory(&Agreement { link: plan.link, ahead: false, ..approved }, &Options::default(), None)?;
    let barrier = Barrier::new(sessions.len());
    thread::scope(|scope| {
        let (operators, barrier) = (&operators, &barrier);
        let runs: Vec<_> = sessions.iter().map(|session| scope.spawn(|| run(session, operators, barrier))).collect();
        let ends: Vec<_> = runs.into_iter().map(|run| run.join().expect("no panic")).collect();
        let mut taken = ends.into_iter().collect::<Result<Vec<_>>>()?.swap_remove(0);
        taken.iter_mut().for_each(|seconds| *seconds /= plan.nodes.len() as f64);
        Ok(taken)
    })
}

/// Executes all steps; what all nodes together take for each. A node that fails goes on to wait for the others.
fn run(session: &Session, operators: &[Operator], barrier: &Barrier) -> Result<Vec<f64>> {
    let (mut taken, mut failed) = (Vec::with_capacity(operators.len()), None);
    for operator in operators {
        let data = input(session, operator);
        barrier.wait();
        let begin = processor();
        if failed.is_none() {
            failed = step(session, operator, data).err();
        }
        barrier.wait();
        taken.push(processor() - begin);
    }
    failed.map_or_else(|| session.close().map(|()| taken), Err)
}

fn step(session: &Session, operator: &Operator, data: Option<DataTable>) -> Result<()> {
    let id = operator.id();
    match operator {
        Operator::Input(_) => session.input(id, || Ok(data)).map(drop),
        Operator::Release(_) => session.release(id).map(drop),
        _ => session.run(id).map(drop),
    }
}

/// Rows of this node's input, which look random.
fn input(session: &Session, operator: &Operator) -> Option<DataTable> {
    let Operator::Input(input) = operator else { return None };
    if input.owner != session.me() {
        return None;
    }
    let rows = input.rows.unwrap_or(0);
    let mut random = Prg::new(&Seed::from_bytes([input.id as u8; 16]));
    let mut column = |name: &str, width: usize| {
        let most = (1u64 << width.min(62)) - 1;
        let values = random.vector::<u64>(rows).into_iter().map(|word| (word & most) as i64).collect();
        DataColumn { name: name.to_owned(), data: ColumnData::Integers(values), nulls: None }
    };
    let columns = input.columns.iter().map(|each| {
        let sign = usize::from(each.kind.signed);
        column(&each.source, each.kind.width.saturating_sub(sign))
    });
    Some(DataTable { rows, columns: columns.collect(), pad_to: None })
}
