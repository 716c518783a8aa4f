//! What a node holds while it executes what its party has approved.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use tacit_run::kept::Target;
use tacit_run::{Approved, BothSides, Facts, Node, Result};
use tacit_table::kept::KeptShares;
use tacit_table::{DataTable, Operator, Program};

/// A node that only remembers of which steps it holds tables.
struct Remembering(Arc<Mutex<BTreeSet<usize>>>);

impl Remembering {
    fn holds(&self, operator: &Operator) -> Result<Facts> {
        self.0.lock().expect("no panic").insert(operator.id());
        Ok(Facts { rows: None, columns: vec![] })
    }
}

impl Node for Remembering {
    fn input(&mut self, operator: &Operator, _data: Option<DataTable>) -> Result<Facts> {
        self.holds(operator)
    }

    fn psi(&mut self, operator: &Operator, _data: BothSides) -> Result<Facts> {
        self.holds(operator)
    }

    fn run(&mut self, operator: &Operator) -> Result<Facts> {
        self.holds(operator)
    }

    fn kept(&mut self, operator: &Operator, _shares: KeptShares) -> Result<Facts> {
        self.holds(operator)
    }

    fn keep(&mut self, _operator: &Operator, _target: &Target) -> Result<String> {
        Ok(String::new())
    }

    fn release(&mut self, _operator: &Operator) -> Result<Option<DataTable>> {
        Ok(None)
    }

    fn drop_tables(&mut self, needed: &dyn Fn(usize) -> bool) {
        self.0.lock().expect("no panic").retain(|&step| needed(step));
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }

    fn abort(self: Box<Self>, _reason: &str) {}
}

#[test]
fn a_table_goes_after_its_last_use() {
    let sort = |id: usize, input: usize| format!(r#"{{"id":{id},"op":"sort","input":{input},"keys":[]}}"#);
    let union = r#"{"id":4,"op":"union","inputs":[1,3],"columns":[]}"#.to_owned();
    let operators = [sort(1, 0), sort(2, 1), sort(3, 2), union, sort(5, 4)];
    let program = Program::from_json(&format!("[{}]", operators.join(","))).expect("a list");
    let held = Arc::new(Mutex::new(BTreeSet::new()));
    let mut approved = Approved::new(Box::new(Remembering(Arc::clone(&held))), program, None);
    for (step, left) in [(1, vec![1]), (2, vec![1, 2]), (3, vec![1, 3]), (4, vec![4]), (5, vec![])] {
        approved.execute(step, |node, operator| node.run(operator)).expect("it is next");
        assert_eq!(Vec::from_iter(held.lock().expect("no panic").iter().copied()), left, "after step {step}");
    }
}
