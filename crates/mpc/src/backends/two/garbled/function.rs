//! The smallest circuits of functions.

use super::{Builder, Circuit, Wire};
use crate::circuits::Function;

/// The smallest circuit of a function.
pub(in crate::backends::two) fn circuit(function: Function) -> Circuit {
    let (mut build, inputs) = Builder::new(function.inputs());
    let (x, y) = inputs.split_at(inputs.len() / 2);
    let outputs: Vec<Wire> = match function {
        Function::Sum { .. } => build.add(x, y),
        Function::SumSign { .. } => build.add(x, y).split_off(x.len() - 1),
        Function::LessThan { .. } => vec![build.less_than(x, y)],
        Function::All { .. } => {
            let (first, others) = inputs.split_first().expect("at least one plane");
            vec![others.iter().fold(*first, |all, &plane| build.and(all, plane))]
        }
    };
    build.finish(&outputs)
}

#[cfg(test)]
mod tests {
    use super::{Function, circuit};

    #[test]
    fn circuits_have_the_gates_that_are_reckoned_with() {
        let sums = [Function::Sum { width: 20 }, Function::SumSign { width: 20 }, Function::Sum { width: 1 }];
        for function in sums.into_iter().chain([Function::LessThan { width: 32 }, Function::All { planes: 7 }]) {
            let circuit = circuit(function);
            let sizes = (circuit.inputs(), circuit.outputs(), circuit.ands());
            assert_eq!(sizes, (function.inputs(), function.outputs(), function.least_gates()), "{function:?}");
        }
    }
}
