//! What a machine is measured to take, and the links between parties.

mod fit;
mod link;

use tacit_run::calibrate::{Calibration, Measured};
use tacit_run::{Link, Prices};

const SORT: &str = r#"[
    {"id":1,"op":"input","owner":"a","rows":16384,"columns":[{"name":"k","source":"k","encode":"int",
        "kind":{"repr":"bits","width":20,"signed":false,"nullable":false}}]},
    {"id":2,"op":"sort","input":1,"keys":[{"column":"k","descending":false,"nulls_first":false}]},
    {"id":3,"op":"release","input":2,"to":["a"],"columns":["k"],"ordered":true}]"#;

#[test]
fn fitted_prices_predict_what_was_measured() {
    for (engine, nodes) in [("rep3", 3), ("two", 2)] {
        let mut calibration = Calibration::new(&Prices::default());
        let nodes = ["a", "b", "c"][..nodes].iter().map(|&node| node.to_owned()).collect();
        let plan = Measured { engine: engine.into(), nodes, operators: SORT.into(), link: Link::UNDECLARED };
        calibration.run(&plan).expect("measured");
        let matching = Prices::default().matching;
        let (prices, steps) = calibration.prices("2026-01-31", "a machine", &matching).expect("prices");
        assert_eq!(prices.measured(), ("2026-01-31", "a machine"));
        let sort = steps.iter().find(|step| step.name.contains("sort")).expect("sorts take a while");
        assert!((sort.fitted / sort.taken - 1.0).abs() < 0.25, "{engine}: {sort:?}");
    }
}
