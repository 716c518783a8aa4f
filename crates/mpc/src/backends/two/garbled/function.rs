//! The smallest circuits of functions.

use super::{Builder, Circuit};
use crate::circuits::Function;

/// The smallest circuit of a function.
pub(in crate::backends::two) fn circuit(function: Function) -> Circuit {
    let (mut build, inputs) = Builder::new(function.inputs());
    let Ok(outputs) = function.small(&mut build, &inputs);
    build.finish(&outputs)
}

#[cfg(test)]
mod tests {
    use super::{Function, circuit};

    #[test]
    fn circuits_have_the_gates_that_are_reckoned_with() {
        let sums = [Function::Sum { width: 20 }, Function::SumSign { width: 20 }, Function::Sum { width: 1 }];
        let division = Function::Division { dividend: 9, divisor: 4 };
        let others = [Function::LessThan { width: 32 }, Function::All { planes: 7 }, division];
        for function in sums.into_iter().chain(others) {
            let circuit = circuit(function);
            let sizes = (circuit.inputs(), circuit.outputs(), circuit.ands());
            assert_eq!(sizes, (function.inputs(), function.outputs(), function.least_gates()), "{function:?}");
        }
    }
}
