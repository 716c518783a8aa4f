//! Whether a circuit is garbled or goes gate by gate: by the time that both would take on the declared link.
//!
//! Gate by gate costs rounds, garbling costs bytes: on a slow network few rows are garbled, on a fast one, or with many rows, none. Both nodes and the declared
//! costs decide alike, because it is a function of public sizes and the declared link; without one, nothing is garbled.

use super::garbled::{Builder, Circuit, Wire};
use crate::Link;
use crate::circuits::Function;

/// Rounds of a garbled circuit.
const GARBLED_ROUNDS: f64 = 2.0;

/// Bytes each node sends for an AND by itself: two bits, and the correlated OTs behind it.
const BYTES_A_GATE: f64 = 0.5;

/// Bytes node 0 sends for a garbled AND.
const BYTES_A_GARBLED_GATE: f64 = 32.0;

/// Processor seconds of a node for an AND by itself, its OTs in both directions included (`tacit-bench ot`).
const SECONDS_A_GATE: f64 = 30e-9;

/// The same for a garbled AND, and for an input's OT (`tacit-bench garbling`).
const SECONDS_A_GARBLED_GATE: f64 = 10e-9;
const SECONDS_AN_INPUT: f64 = 15e-9;

/// Whether garbling takes less time.
pub(super) fn garbles(link: Link, function: Function, rows: usize) -> bool {
    rows > 0 && garbled_seconds(link, function, rows as f64) < gate_by_gate_seconds(link, function, rows as f64)
}

fn gate_by_gate_seconds(link: Link, function: Function, rows: f64) -> f64 {
    let gates = rows * function.shallow_gates() as f64;
    function.rounds() as f64 * link.latency + gates * (BYTES_A_GATE / link.bandwidth + SECONDS_A_GATE)
}

fn garbled_seconds(link: Link, function: Function, rows: f64) -> f64 {
    let (gates, inputs) = (rows * function.least_gates() as f64, rows * function.inputs() as f64);
    let processor = gates * SECONDS_A_GARBLED_GATE + inputs * SECONDS_AN_INPUT;
    GARBLED_ROUNDS * link.latency + gates * BYTES_A_GARBLED_GATE / link.bandwidth + processor
}

/// The smallest circuit of a function.
pub(super) fn circuit(function: Function) -> Circuit {
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
    use super::{Function, Link, circuit, garbles};

    const COMPARISON: Function = Function::LessThan { width: 32 };

    #[test]
    fn circuits_have_the_gates_that_are_reckoned_with() {
        let sums = [Function::Sum { width: 20 }, Function::SumSign { width: 20 }, Function::Sum { width: 1 }];
        for function in sums.into_iter().chain([COMPARISON, Function::All { planes: 7 }]) {
            let circuit = circuit(function);
            let sizes = (circuit.inputs(), circuit.outputs(), circuit.ands());
            assert_eq!(sizes, (function.inputs(), function.outputs(), function.least_gates()), "{function:?}");
        }
    }

    #[test]
    fn few_rows_on_a_slow_network_are_garbled() {
        let far = Link { latency: 0.06, bandwidth: 125e6 };
        let near = Link { latency: 0.00005, bandwidth: 400e6 };
        assert!(garbles(far, COMPARISON, 1_000) && garbles(far, COMPARISON, 10_000));
        assert!(!garbles(far, COMPARISON, 1_000_000), "bytes cost more than rounds");
        assert!(!garbles(near, COMPARISON, 100_000));
        assert!(!garbles(far, COMPARISON, 0), "nothing to compute takes no rounds");
        assert!(!garbles(far, Function::All { planes: 2 }, 1), "one gate is one round");
    }
}
