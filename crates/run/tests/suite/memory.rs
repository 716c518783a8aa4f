//! Runs within a memory budget: the same answer, messages and costs as without one, or a refusal before anything is
//! sent.

use std::collections::HashMap;
use std::path::Path;

use tacit_net::{Options, Record};
use tacit_run::{Conditions, Link, Memory, OperatorCost, Prices, Result, Session, cost};

use super::world::plans::{counted, release, totals, totals_answer};
use super::world::{ENGINES, Opened, Plan, RING, bits, columns, drive, table, together};

const ROWS: usize = 2_000;

/// Four tables of one shape, of which each is opened while the others wait.
fn waiting() -> Plan {
    let shape = columns(&[("id", bits(16)), ("value", RING.into())]);
    let input = |id: usize| {
        let owner = ["ann", "bob"][id % 2];
        format!(r#"{{"id":{id},"op":"input","owner":"{owner}","columns":{shape},"rows":{ROWS}}}"#)
    };
    let inputs = (1..=4).map(input);
    let releases = (1..=4).map(|id| release(id + 4, id, &["id", "value"]));
    let values = |id: usize| (0..ROWS as i64).map(|row| row * row % 1_000_003 - id as i64).collect::<Vec<i64>>();
    let ids: Vec<i64> = (0..ROWS as i64).collect();
    let data = (1..=4).map(|id| (id, table(&[("id", &ids), ("value", &values(id))])));
    Plan::new(&inputs.chain(releases).collect::<Vec<_>>(), data)
}

fn costs(plan: &Plan, engine: &str) -> Vec<OperatorCost> {
    let (parties, prices) = (&plan.parties(engine), &Prices::default());
    let conditions = Conditions { parties, link: Link::UNDECLARED, network: None, prices, ahead: true };
    cost(engine, &plan.operators, &HashMap::from([(2, 6)]), &conditions).expect("a plan")
}

/// What the step takes that takes most, and what all take together at their peak.
fn needs(plan: &Plan, engine: &str) -> [u64; 2] {
    let costs = costs(plan, engine);
    let most = |of: fn(&OperatorCost) -> u64| costs.iter().map(of).max().expect("steps");
    [most(|cost| cost.declared.memory.alone), most(|cost| cost.declared.memory.most)]
}

/// What each node ends with, and the messages and costs of each.
struct Ran {
    ends: Vec<Result<Opened>>,
    messages: Vec<Vec<String>>,
}

fn run(plan: &Plan, engine: &str, memory: Option<&Memory>) -> Ran {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let sessions = Session::in_memory(&plan.agreement(engine), &options, memory).expect("a plan");
    let ends = together(&sessions, |session| drive(session, plan, None, false));
    let messages = sessions.iter().map(|session| {
        let all = session.transcripts().iter().flat_map(|transcript| transcript.messages());
        let mut all: Vec<String> = all
            .map(|each| format!("{} {} {:?} {:?} {}", each.step, each.round, each.peer, each.direction, each.bytes))
            .collect();
        all.sort();
        let costs = session.metrics(false).into_iter().map(|step| format!("{}: {}", step.step, step.bytes_sent));
        all.into_iter().chain(costs).collect()
    });
    Ran { ends, messages: messages.collect() }
}

fn budget(budget: u64, folder: &Path) -> Memory {
    Memory { budget, folder: folder.to_owned() }
}

#[test]
fn a_run_within_a_budget_is_the_same_run() {
    let plan = waiting();
    for engine in ENGINES {
        let folder = tempfile::tempdir().expect("a folder");
        let [alone, most] = needs(&plan, engine);
        assert!(alone < most, "{engine}: {alone} and {most} bytes");
        let [free, within] =
            [None, Some(budget(alone, folder.path()))].map(|memory| run(&plan, engine, memory.as_ref()));
        let [free_ends, ends] = [&free, &within].map(|ran| ran.ends.iter().map(|end| end.as_ref().expect("an end")));
        assert!(ends.eq(free_ends), "{engine}");
        assert!(free.messages == within.messages, "{engine}");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "{engine}");
        // That tables do go to files shows where there is no place for them.
        let nowhere = run(&plan, engine, Some(&budget(alone, &folder.path().join("none"))));
        let told: Vec<String> = nowhere.ends.into_iter().filter_map(|end| Some(end.err()?.to_string())).collect();
        assert!(told.iter().any(|told| told.contains("beyond the memory budget cannot be written there")), "{told:?}");
    }
}

#[test]
fn a_step_beyond_the_budget_is_refused() {
    let plan = waiting();
    for engine in ENGINES {
        let folder = tempfile::tempdir().expect("a folder");
        let [alone, _] = needs(&plan, engine);
        let refused = run(&plan, engine, Some(&budget(alone - 1, folder.path())));
        let told: Vec<String> = refused.ends.into_iter().filter_map(|end| Some(end.err()?.to_string())).collect();
        let needed = |told: &String| told.contains("of memory, and this party's budget is") && !told.contains('\n');
        assert!(told.iter().any(needed), "{told:?}");
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "{engine}");
    }
}

/// Sizes that are announced on the way count as soon as they are known.
#[test]
fn announced_sizes_count() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = totals();
    let [alone, _] = needs(&plan, "rep3");
    let fits = run(&plan, "rep3", Some(&budget(alone, folder.path())));
    assert!(fits.ends.iter().all(Result::is_ok));
    let refused = run(&plan, "rep3", Some(&budget(100, folder.path())));
    assert!(refused.ends.iter().all(Result::is_err));
}

/// The number of valid rows that a step opens counts for the steps behind it.
#[test]
fn a_number_that_is_opened_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plan, memory) = (counted(), budget(1 << 20, folder.path()));
    for engine in ENGINES {
        let [free, within] = [None, Some(&memory)].map(|memory| run(&plan, engine, memory));
        assert!(free.messages == within.messages, "{engine}");
        let answers = within.ends.into_iter().map(|end| end.expect("an end")).filter(|opened| !opened.is_empty());
        let answers: Vec<Opened> = answers.collect();
        assert_eq!(answers, [Opened::from([(6, totals_answer())])], "{engine}");
        let refused = run(&plan, engine, Some(&budget(100, folder.path())));
        assert!(refused.ends.iter().all(Result::is_err), "{engine}");
    }
}
