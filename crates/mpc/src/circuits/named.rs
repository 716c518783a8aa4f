//! Of every function the circuit of few levels and the one of few ANDs, and the gates of both.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use super::arithmetic::{add_by_gates, carry_by_gates};
use super::compare::{and_all_by_gates, less_by_gates};
use super::division::divide_by_gates;
use super::{Blank, Counts, Function, Gates, small};
use crate::Result;

impl Function {
    /// The circuit of few levels.
    fn shallow<G: Gates>(self, g: &mut G, inputs: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
        let (x, y) = inputs.split_at(inputs.len() / 2);
        Ok(match self {
            Self::Sum { .. } => add_by_gates(g, x, y)?,
            Self::SumSign { width } => {
                let top = width - 1;
                let sum = g.xor(&x[top], &y[top]);
                let carry = carry_by_gates(g, &x[..top], &y[..top])?;
                vec![g.xor(&sum, &carry)]
            }
            Self::LessThan { .. } => vec![less_by_gates(g, x, y)?],
            Self::All { .. } => vec![and_all_by_gates(g, inputs.to_vec())?],
            Self::Division { dividend, .. } => divide_by_gates(g, &inputs[..dividend], &inputs[dividend..])?,
        })
    }

    /// The circuit of the fewest ANDs.
    pub(crate) fn small<G: Gates>(self, g: &mut G, inputs: &[G::Wire]) -> Result<Vec<G::Wire>, G::Error> {
        let (x, y) = inputs.split_at(inputs.len() / 2);
        Ok(match self {
            Self::Sum { .. } => small::add(g, x, y)?,
            Self::SumSign { width } => small::add(g, x, y)?.split_off(width - 1),
            Self::LessThan { .. } => vec![small::less_than(g, x, y)?],
            Self::All { .. } => vec![small::and_all(g, inputs)?],
            Self::Division { dividend, .. } => small::divide(g, &inputs[..dividend], &inputs[dividend..])?,
        })
    }

    /// The ANDs of both circuits, the shallow one and the small one. Each function is counted once.
    fn counts(self) -> [Counts; 2] {
        static KNOWN: LazyLock<Mutex<HashMap<Function, [Counts; 2]>>> = LazyLock::new(Mutex::default);
        *KNOWN.lock().expect("nobody panics while counting").entry(self).or_insert_with(|| {
            let (inputs, mut counts) = (Blank::wires(self.inputs()), [Counts::default(); 2]);
            let (Ok(_), Ok(_)) = (self.shallow(&mut counts[0], &inputs), self.small(&mut counts[1], &inputs));
            counts
        })
    }

    /// Rounds of the shallow circuit, gate by gate.
    pub fn rounds(self) -> usize {
        self.counts()[0].levels
    }

    /// ANDs of the shallow circuit; those on one level with the same first factor count once.
    pub fn shallow_gates(self) -> usize {
        self.counts()[0].ands
    }

    /// ANDs of the smallest circuit.
    pub fn least_gates(self) -> usize {
        self.counts()[1].ands
    }
}

#[cfg(test)]
mod tests {
    use super::{Counts, Function};

    #[test]
    fn circuits_have_the_gates_and_levels_of_their_kind() {
        let counts = |function: Function| function.counts().map(|Counts { levels, ands }| (levels, ands));
        assert_eq!(counts(Function::Sum { width: 1 }), [(1, 0), (0, 0)]);
        assert_eq!(counts(Function::Sum { width: 33 }), [(6, 32 + 16 * 5), (32, 32)]);
        assert_eq!(counts(Function::SumSign { width: 33 }), [(6, 63), (32, 32)]);
        assert_eq!(counts(Function::LessThan { width: 32 }), [(6, 63), (32, 32)]);
        assert_eq!(counts(Function::All { planes: 7 }), [(3, 6), (6, 6)]);
        let division = Function::Division { dividend: 32, divisor: 32 };
        assert_eq!(counts(division), [(135, 4693), (33 * 32, 2 * 32 * 32)]);
    }
}
