//! The largest probability with which the programs of a plan may give a wrong result.

use tacit_mpc::backends::four::failure::MOST;
use tacit_table::Operator;

use crate::error::{Result, RunError};
use crate::suite::Suite;

/// Refuses a plan whose programs an engine may get wrong, any of them, with a probability that is not negligible. Their
/// probabilities add up, by the union bound.
///
/// # Errors
/// [`RunError::MayFail`].
pub fn check<B: Suite>(operators: &[Operator]) -> Result<()> {
    let (mut programs, mut failure) = (vec![], 0.0);
    for operator in operators {
        if let Operator::Program(program) = operator {
            failure += tacit_table::failure::<B::Formulas>(program)?;
            programs.push(operator.name());
        }
    }
    if failure <= MOST {
        return Ok(());
    }
    let [exponent, most] = [failure, MOST].map(|probability| probability.log2().ceil() as i32);
    Err(RunError::MayFail { programs, engine: B::NAME, exponent, most })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tacit_mpc::backends::{Four, Rep3};
    use tacit_table::Operator;

    use super::check;
    use crate::error::RunError;

    /// Products of 2^10 pairs of numbers up to 2^76, which `four` gets wrong with a probability of 2^-41: the steps of
    /// as many programs.
    fn products(programs: usize) -> Vec<Operator> {
        let number = |operation: serde_json::Value, args: &[usize], bits: u32| {
            let most = (1u128 << bits).to_string();
            let mut node = json!({"args": args, "shape": [1 << 10], "ring": 128, "fraction": 16});
            node["low"] = json!(format!("-{most}"));
            node["high"] = json!(most);
            operation.as_object().expect("an object").iter().for_each(|(name, value)| node[name] = value.clone());
            node
        };
        let kind = json!({"repr": "ring128", "width": 100, "signed": true, "nullable": false});
        let program = |id: usize| {
            let nodes = [
                number(json!({"op": "input", "index": 0}), &[], 76),
                number(json!({"op": "multiply", "cut": 60, "floor": false}), &[0, 0], 60),
            ];
            let outputs = [json!({"id": id + 1, "node": 1, "column": "x", "kind": kind})];
            let inputs = [json!({"step": 1, "column": "x"})];
            json!({"id": id, "op": "program", "inputs": inputs, "nodes": nodes, "outputs": outputs})
        };
        let steps: Vec<_> = (0..programs).map(|place| program(10 * (place + 1))).collect();
        Operator::list_from_json(&json!(steps).to_string()).expect("programs")
    }

    #[test]
    fn the_probabilities_of_all_programs_add_up() {
        for programs in [0, 1, 2] {
            check::<Four>(&products(programs)).expect("it is wrong seldom enough");
        }
        check::<Rep3>(&products(4)).expect("it is never wrong");
        let error = check::<Four>(&products(3)).expect_err("one of them may be wrong");
        assert!(matches!(error, RunError::MayFail { exponent: -39, most: -40, .. }), "{error}");
        let told = error.to_string();
        assert!(told.starts_with("10.program, 20.program, 30.program: the engine four may give"), "{told}");
    }
}
