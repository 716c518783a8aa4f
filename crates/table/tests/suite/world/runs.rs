//! Plans on the engines.

use std::collections::HashMap;
use std::sync::Barrier;

use tacit_mpc::Backend;
use tacit_mpc::Permits;
use tacit_mpc::backends::{Clear as ClearEngine, Networked, Rep3, Tally, Two};
use tacit_net::{Message, Options, Record, Session, Snapshot, memory};
use tacit_table::{CircuitPsi, DataTable, Executor, Operator, Table, TableError};

use super::{Clear, HASH_KEY, PARTIES, Plan};

/// The names of an engine's nodes: the first parties of the world.
pub fn names<B: Networked>() -> Vec<String> {
    PARTIES[..B::NODES].iter().copied().map(String::from).collect()
}

/// The permits that the plan's disclosures need.
pub fn permits(plan: &Plan, nodes: &[String]) -> Permits {
    Permits::from_json(&permit_list(plan, nodes)).expect("a list of permits")
}

/// The same as JSON.
pub fn permit_list(plan: &Plan, nodes: &[String]) -> String {
    match nodes.len() {
        Two::NODES => needed::<Two>(plan, nodes),
        _ => needed::<Rep3>(plan, nodes),
    }
}

fn needed<B: Networked>(plan: &Plan, nodes: &[String]) -> String {
    let none = |_: &mut Tally<B::Formulas>, _: &CircuitPsi, _| unreachable!("no plan of this world matches");
    // A step that nodes refuse whatever is permitted has none, nor do those behind it.
    let until = |end: usize| tacit_table::cost::permits(&nodes.to_vec().into(), &plan.operators[..end], none).ok();
    (0..=plan.operators.len()).rev().find_map(until).expect("no step needs no permit")
}

/// Runs a plan with the data that this node has; gives what it learnt, by step.
pub fn run<B: Backend>(
    executor: &mut Executor<B>,
    plan: &Plan,
    mut data: impl FnMut(&str, usize) -> Option<DataTable>,
) -> Result<HashMap<usize, Clear>, TableError> {
    let mut tables: HashMap<usize, Table<B>> = HashMap::new();
    let mut learnt = HashMap::new();
    for operator in &plan.operators {
        let mut inputs: Vec<Table<B>> = operator.inputs().iter().map(|id| tables[id].clone()).collect();
        let made = match operator {
            Operator::Input(input) => vec![(input.id, executor.input(operator, data(&input.owner, input.id))?)],
            Operator::Release(_) => {
                let opened = executor.release(operator, inputs.remove(0))?;
                learnt.extend(opened.map(|opened| (operator.id(), Clear::from_data(&opened))));
                continue;
            }
            _ => executor.make(operator, inputs)?,
        };
        tables.extend(made);
    }
    Ok(learnt)
}

/// Runs a plan on the engine without security.
pub fn clear(plan: &Plan, data: &HashMap<usize, DataTable>) -> Result<HashMap<usize, Clear>, TableError> {
    let engine = ClearEngine::new().expect("randomness");
    let names = PARTIES.map(String::from).to_vec();
    let mut executor = Executor::new(engine, permits(plan, &names), names, HASH_KEY);
    run(&mut executor, plan, |_, id| data.get(&id).cloned())
}

/// What one node of a run knows at its end.
pub struct Node {
    pub learnt: Result<HashMap<usize, Clear>, TableError>,
    pub metrics: Snapshot,
    pub messages: Vec<Message>,
}

/// Runs a plan on a thread for each node.
pub fn nodes<B: Networked>(
    plan: &Plan,
    data: &HashMap<usize, DataTable>,
    permits: impl Fn(&Plan, &[String]) -> Permits + Sync,
) -> Vec<Node> {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let sessions = memory::mesh(&PARTIES[..B::NODES], &options);
    let ready = Barrier::new(B::NODES);
    std::thread::scope(|scope| {
        let start = |session| scope.spawn(|| node::<B>(session, &ready, plan, data, permits(plan, &names::<B>())));
        let threads: Vec<_> = sessions.into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

/// One node. No node starts before all engines are set up, so that refusing a step never looks like a failed start.
fn node<B: Networked>(
    session: Session,
    ready: &Barrier,
    plan: &Plan,
    data: &HashMap<usize, DataTable>,
    permits: Permits,
) -> Node {
    let name = session.name(session.me()).to_owned();
    let (meter, transcript) = (session.meter(), session.transcript().expect("recorded"));
    let engine = B::start(session).expect("an engine");
    ready.wait();
    let mut executor = Executor::new(engine, permits, names::<B>(), HASH_KEY);
    let learnt = run(&mut executor, plan, |owner, id| (owner == name).then(|| data[&id].clone()));
    let session = executor.into_backend().into_session();
    match &learnt {
        Ok(_) => session.close().expect("a good end"),
        Err(error) => session.abort(&error.to_string()),
    }
    Node { learnt, metrics: meter.snapshot(), messages: transcript.messages() }
}
