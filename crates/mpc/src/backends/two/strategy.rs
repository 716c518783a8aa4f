//! Whether a circuit is garbled or goes gate by gate: by the time that both would take on the declared link.
//!
//! Gate by gate costs rounds, garbling costs bytes: on a slow network few rows are garbled, on a fast one, or with many rows, none. Gate by gate
//! is reckoned with what the engine does then: ANDs and lookups by OTs from the stock or, many of them on a fast link, by streamed ones. Both nodes and the declared
//! costs decide alike, because it is a function of public sizes and the declared link; without one, nothing is garbled.

use super::garbled::{Builder, Circuit, Wire};
use super::prices::Work;
use super::stock::streams;
use super::{carry, conjunction};
use crate::Link;
use crate::circuits::Function;

/// What a row takes of something.
#[derive(Clone, Copy)]
struct Price {
    /// While both nodes compute.
    seconds: f64,
    /// From the node that sends more.
    bytes: f64,
}

/// An AND, or some with a common factor: an OT of each direction from the stock.
const AND: Price =
    Price { seconds: 2.0 * Work::SilentOt.seconds() + Work::CommonFactor.seconds() + Work::And.seconds(), bytes: 1.0 };

/// The same with streamed OTs.
const STREAMED_AND: Price = Price { seconds: 2.0 * Work::StreamedOt.seconds() + Work::And.seconds(), bytes: 8.3 };

/// A silent lookup in one direction, of which every other row has none.
const LOOKUP: Price = Price { seconds: Work::Lookup.seconds(), bytes: 1.2 };

/// A streamed lookup: four OTs of one direction.
const STREAMED_LOOKUP: Price =
    Price { seconds: 4.0 * Work::StreamedOt.seconds() + Work::StreamedLookup.seconds(), bytes: 18.0 };

/// Bytes of a garbled AND.
const GARBLED_BYTES: f64 = 32.0;

/// Rounds of a garbled circuit.
const GARBLED_ROUNDS: f64 = 2.0;

/// What is reckoned for a circuit.
struct Reckoning {
    link: Link,
    rows: usize,
    seconds: f64,
}

impl Reckoning {
    fn new(link: Link, rows: usize) -> Self {
        Self { link, rows, seconds: 0.0 }
    }

    /// Adds rounds, in which every row takes so many at a price.
    fn add(&mut self, rounds: usize, count: usize, price: Price) {
        self.seconds += rounds as f64 * self.link.latency;
        self.seconds += (self.rows * count) as f64 * (price.seconds + price.bytes / self.link.bandwidth);
    }

    /// Adds so many ANDs a row on so many levels.
    fn add_ands(&mut self, levels: usize, count: usize) {
        if streams::streams(Some(self.link), self.rows * count / levels.max(1)) {
            self.add(2 * levels, count, STREAMED_AND);
        } else {
            self.add(levels, count, AND);
        }
    }

    /// Adds what finds a function's carry.
    fn add_carry(&mut self, function: Function, way: Option<carry::Way>) {
        let digits = match way {
            None => return self.add_ands(function.rounds(), function.shallow_gates()),
            Some(carry::Way::Streamed(digits)) => {
                self.add(2, digits, STREAMED_LOOKUP);
                digits
            }
            Some(carry::Way::Silent(digits)) => {
                self.add(3, digits, LOOKUP);
                digits
            }
        };
        self.add_ands(levels(digits), digits - 1);
    }

    /// Adds the conjunction of planes, level by level.
    fn add_conjunction(&mut self, mut planes: usize) {
        while planes > 1 {
            let way = conjunction::Way::of(Some(self.link), self.rows, planes);
            match way {
                None => self.add_ands(1, planes / 2),
                Some(conjunction::Way::Streamed(groups)) => self.add(2, groups, STREAMED_LOOKUP),
                Some(conjunction::Way::Silent(groups)) => self.add(3, groups, LOOKUP),
            }
            planes = way.map_or(planes.div_ceil(2), |way| way.counts(planes).1);
        }
    }
}

/// Levels of a tree of pairs.
fn levels(leaves: usize) -> usize {
    leaves.next_power_of_two().ilog2() as usize
}

/// Whether garbling takes less time.
pub(super) fn garbles(link: Link, function: Function, rows: usize) -> bool {
    rows > 0 && garbled_seconds(link, function, rows) < gate_by_gate_seconds(link, function, rows)
}

fn gate_by_gate_seconds(link: Link, function: Function, rows: usize) -> f64 {
    let mut reckoning = Reckoning::new(link, rows);
    match function {
        Function::SumSign { width } => reckoning.add_carry(function, carry::Way::of(Some(link), rows, width - 1)),
        Function::All { planes } => reckoning.add_conjunction(planes),
        Function::LessThan { width } => {
            let way = carry::digits_of_planes(Some(link), rows, width).map(carry::Way::Streamed);
            reckoning.add_carry(function, way);
        }
        Function::Sum { .. } => reckoning.add_ands(function.rounds(), function.shallow_gates()),
    }
    reckoning.seconds
}

/// Tables leave while the next ones are made.
fn garbled_seconds(link: Link, function: Function, rows: usize) -> f64 {
    let each = |count: usize, price: f64| (rows * count) as f64 * price;
    let computing = each(function.least_gates(), Work::GarbledAnd.seconds());
    let sending = each(function.least_gates(), GARBLED_BYTES / link.bandwidth);
    let asking = each(function.inputs(), Work::GarbledInput.seconds());
    GARBLED_ROUNDS * link.latency + asking + computing.max(sending)
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
    const SIGN: Function = Function::SumSign { width: 33 };

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
        assert!(garbles(far, COMPARISON, 1_000) && garbles(far, COMPARISON, 10_000));
        assert!(!garbles(far, COMPARISON, 1_000_000), "bytes cost more than rounds");
        assert!(!garbles(far, COMPARISON, 0), "nothing to compute takes no rounds");
        assert!(!garbles(far, Function::All { planes: 2 }, 1), "one gate is one round");
    }

    #[test]
    fn bytes_decide_on_a_network_of_one_place() {
        let near = Link { latency: 0.00005, bandwidth: 200e6 };
        for function in [COMPARISON, SIGN, Function::All { planes: 61 }] {
            assert!(garbles(near, function, 10) && !garbles(near, function, 1_000_000), "{function:?}");
        }
        assert!(!garbles(near, COMPARISON, 100_000));
    }

    #[test]
    fn what_is_streamed_on_a_fast_network_is_not_garbled() {
        let fast = Link { latency: 0.0001, bandwidth: 1e9 };
        for function in [COMPARISON, SIGN, Function::All { planes: 61 }] {
            assert!(garbles(fast, function, 100) && !garbles(fast, function, 1 << 18), "{function:?}");
        }
    }
}
