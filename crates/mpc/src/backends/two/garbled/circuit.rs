//! Circuits for garbling: gates over wires of one row, with few ANDs rather than few levels.

use std::convert::Infallible;

use tacit_math::{Prg, Seed};

use crate::circuits::Gates;

/// A gate whose inputs are wires: inputs of the circuit first, then one wire a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Xor(usize, usize),
    And(usize, usize),
    Not(usize),
}

/// The XOR of one wire or two, or of those that lie in one place or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sum(pub(super) usize, pub(super) Option<usize>);

/// What is done in one pass over the rows. Operands and result have places that are used again when nobody needs their
/// old content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// x XOR y.
    Xor {
        x: Sum,
        y: usize,
        to: usize,
    },
    /// (x AND y) XOR plus.
    And {
        x: Sum,
        y: Sum,
        plus: Option<usize>,
        to: usize,
    },
    Not {
        x: usize,
        to: usize,
    },
}

impl Step {
    /// The step with other names for what it reads.
    fn renamed(self, name: impl Fn(usize) -> usize, to: usize) -> Self {
        let sum = |Sum(first, second): Sum| Sum(name(first), second.map(&name));
        match self {
            Self::Xor { x, y, .. } => Self::Xor { x: sum(x), y: name(y), to },
            Self::And { x, y, plus, .. } => Self::And { x: sum(x), y: sum(y), plus: plus.map(&name), to },
            Self::Not { x, .. } => Self::Not { x: name(x), to },
        }
    }

    fn reads(self) -> impl Iterator<Item = usize> {
        let [a, b, c] = match self {
            Self::Xor { x, y, .. } => [Some(x), Some(Sum(y, None)), None],
            Self::And { x, y, plus, .. } => [Some(x), Some(y), plus.map(|plus| Sum(plus, None))],
            Self::Not { x, .. } => [Some(Sum(x, None)), None, None],
        };
        [a, b, c].into_iter().flatten().flat_map(|Sum(first, second)| [Some(first), second]).flatten()
    }

    fn writes(self) -> usize {
        match self {
            Self::Xor { to, .. } | Self::And { to, .. } | Self::Not { to, .. } => to,
        }
    }
}

/// A circuit being built.
pub struct Builder {
    inputs: usize,
    gates: Vec<Gate>,
    /// Of every wire the linear form: which inputs and results of ANDs it is the sum of, but for a constant. Each of
    /// these has a number of its own; a form is the sum of its numbers. Equal forms have equal sums; two others collide
    /// with probability 2^-128.
    forms: Vec<u128>,
    /// Gives the numbers.
    numbers: Prg,
}

/// A wire of a circuit being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire(usize);

/// A finished circuit.
pub struct Circuit {
    inputs: usize,
    ands: usize,
    pub(super) steps: Vec<Step>,
    pub(super) outputs: Vec<usize>,
    /// How many places there are; the first ones hold the inputs.
    pub(super) places: usize,
}

impl Builder {
    /// A circuit of `inputs` inputs, and their wires.
    pub fn new(inputs: usize) -> (Self, Vec<Wire>) {
        let mut numbers = Prg::new(&Seed::from_bytes(*b"forms of a wire."));
        let forms = numbers.vector(inputs);
        (Self { inputs, gates: vec![], forms, numbers }, (0..inputs).map(Wire).collect())
    }

    fn push(&mut self, gate: Gate) -> Wire {
        let form = match gate {
            Gate::Xor(x, y) => self.forms[x] ^ self.forms[y],
            Gate::And(..) => self.numbers.vector(1)[0],
            Gate::Not(x) => self.forms[x],
        };
        self.forms.push(form);
        self.gates.push(gate);
        Wire(self.inputs + self.gates.len() - 1)
    }

    /// x XOR y. Free.
    pub fn xor(&mut self, x: Wire, y: Wire) -> Wire {
        self.push(Gate::Xor(x.0, y.0))
    }

    /// Whether x AND y is a product: neither is constant, and they are not equal or each other's complements.
    fn is_product(&self, x: Wire, y: Wire) -> bool {
        let (x, y) = (self.forms[x.0], self.forms[y.0]);
        x != 0 && y != 0 && x != y
    }

    /// x AND y.
    ///
    /// # Panics
    /// If it is no product. That is so if x or y is constant, as the XOR of a wire with itself or its complement is.
    /// Nor is it a product if x and y are equal or each other's complements. A constant has the same label in every
    /// row, zero or the offset; rows are garbled under one key, so tables of two rows would differ by the offset.
    pub fn and(&mut self, x: Wire, y: Wire) -> Wire {
        assert!(self.is_product(x, y), "an AND whose operands are constant or each other");
        self.push(Gate::And(x.0, y.0))
    }

    /// NOT x. Free.
    pub fn not(&mut self, x: Wire) -> Wire {
        self.push(Gate::Not(x.0))
    }

    /// Ends the circuit.
    pub fn finish(self, outputs: &[Wire]) -> Circuit {
        let outputs: Vec<usize> = outputs.iter().map(|wire| wire.0).collect();
        let ands = self.gates.iter().filter(|gate| matches!(gate, Gate::And(..))).count();
        let fused = self.fused(&outputs);
        let mut last_use = vec![0; self.inputs + self.gates.len()];
        for (number, step) in fused.iter().enumerate() {
            step.reads().for_each(|wire| last_use[wire] = number);
        }
        // Outputs and inputs stay: the inputs' places are filled once a tile by the caller.
        outputs.iter().for_each(|&wire| last_use[wire] = usize::MAX);
        last_use[..self.inputs].fill(usize::MAX);
        let mut place: Vec<usize> = (0..last_use.len()).collect();
        let (mut free, mut places, mut steps) = (vec![], self.inputs, vec![]);
        for (number, &step) in fused.iter().enumerate() {
            // The result's place differs from the operands', which are freed behind it.
            let to = free.pop().unwrap_or_else(|| {
                places += 1;
                places - 1
            });
            steps.push(step.renamed(|wire| place[wire], to));
            place[step.writes()] = to;
            let mut done: Vec<usize> = step.reads().filter(|&wire| last_use[wire] == number).collect();
            done.sort_unstable();
            done.dedup();
            free.extend(done.into_iter().map(|wire| place[wire]));
        }
        Circuit { inputs: self.inputs, ands, steps, outputs: outputs.iter().map(|&wire| place[wire]).collect(), places }
    }

    /// The gates as steps over wires. An XOR that only one gate reads becomes part of that gate where it can; one that
    /// only reads an AND and something older, part of the AND.
    fn fused(&self, outputs: &[usize]) -> Vec<Step> {
        let mut uses = vec![0; self.inputs + self.gates.len()];
        self.gates.iter().flat_map(operands).chain(outputs.iter().copied()).for_each(|wire| uses[wire] += 1);
        // By wire; inputs and what became part of another step have none.
        let mut steps: Vec<Option<Step>> = vec![None; self.inputs];
        for gate in &self.gates {
            let to = steps.len();
            let once = |wire: usize| uses[wire] == 1;
            let step = match *gate {
                Gate::Not(x) => Some(Step::Not { x, to }),
                Gate::And(x, y) => {
                    let [x, y] = [x, y].map(|wire| absorbed(&mut steps, wire, once));
                    Some(Step::And { x, y, plus: None, to })
                }
                Gate::Xor(x, y) => match added(&mut steps, [x, y], to, once) {
                    true => None,
                    false => Some(Step::Xor { x: absorbed(&mut steps, x, once), y, to }),
                },
            };
            steps.push(step);
        }
        steps.into_iter().flatten().collect()
    }
}

impl Gates for Builder {
    type Wire = Wire;
    type Error = Infallible;

    fn xor(&mut self, x: &Wire, y: &Wire) -> Wire {
        Self::xor(self, *x, *y)
    }

    fn not(&mut self, x: &Wire) -> Wire {
        Self::not(self, *x)
    }

    fn and_xor(&mut self, x: &[&Wire], y: &[&Wire], base: &[Option<&Wire>]) -> Result<Vec<Wire>, Infallible> {
        let products = x.iter().zip(y).zip(base).map(|((x, y), base)| {
            let product = Self::and(self, **x, **y);
            base.map_or(product, |base| Self::xor(self, product, *base))
        });
        Ok(products.collect())
    }
}

/// What a step reads to get a wire: its XOR's operands, which then is no step any more, or the wire.
fn absorbed(steps: &mut [Option<Step>], wire: usize, once: impl Fn(usize) -> bool) -> Sum {
    match steps[wire] {
        Some(Step::Xor { x: Sum(x, None), y, .. }) if once(wire) => {
            steps[wire] = None;
            Sum(x, Some(y))
        }
        _ => Sum(wire, None),
    }
}

/// Whether an XOR could become part of the AND that is one of its operands.
fn added(steps: &mut [Option<Step>], [x, y]: [usize; 2], to: usize, once: impl Fn(usize) -> bool) -> bool {
    for (wire, other) in [(x, y), (y, x)] {
        if let Some(Step::And { plus: plus @ None, to: result, .. }) = &mut steps[wire]
            && once(wire)
            && other < wire
        {
            (*plus, *result) = (Some(other), to);
            return true;
        }
    }
    false
}

fn operands(gate: &Gate) -> impl Iterator<Item = usize> {
    let (first, second) = match *gate {
        Gate::Xor(x, y) | Gate::And(x, y) => (x, Some(y)),
        Gate::Not(x) => (x, None),
    };
    std::iter::once(first).chain(second)
}

impl Circuit {
    /// How many inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many outputs.
    pub fn outputs(&self) -> usize {
        self.outputs.len()
    }

    /// How many ANDs, each of which costs 32 bytes a row.
    pub fn ands(&self) -> usize {
        self.ands
    }
}

#[cfg(test)]
mod tests {
    use tacit_math::{Prg, Seed};

    use super::{Builder, Circuit, Gate, Infallible, Step, Sum, Wire};
    use crate::circuits::{mux, small};

    /// The outputs by the steps, from any 64 rows of inputs; places are reused as in garbling.
    fn by_steps(circuit: &Circuit, inputs: &[u64]) -> Vec<u64> {
        let mut places = inputs.to_vec();
        places.resize(circuit.places, 0);
        for step in &circuit.steps {
            let sum = |Sum(first, second): Sum| places[first] ^ second.map_or(0, |second| places[second]);
            let (value, to) = match *step {
                Step::Xor { x, y, to } => (sum(x) ^ places[y], to),
                Step::And { x, y, plus, to } => (sum(x) & sum(y) ^ plus.map_or(0, |plus| places[plus]), to),
                Step::Not { x, to } => (!places[x], to),
            };
            places[to] = value;
        }
        circuit.outputs.iter().map(|&place| places[place]).collect()
    }

    #[test]
    fn steps_compute_what_the_gates_say() {
        let mut prg = Prg::new(&Seed::from_bytes([77; 16]));
        for _ in 0..300 {
            let inputs: Vec<u64> = prg.vector(5);
            let (mut build, mut wires) = Builder::new(inputs.len());
            let mut values = inputs.clone();
            for choice in prg.vector::<[u32; 3]>(40) {
                // Mostly young wires, so that there are chains.
                let [x, y] = [choice[1], choice[2]].map(|c| wires.len() - 1 - c as usize % wires.len().min(8));
                let product = build.is_product(wires[x], wires[y]);
                let (wire, value) = match choice[0] % 5 {
                    0 | 1 if product => (build.and(wires[x], wires[y]), values[x] & values[y]),
                    2 | 3 => (build.xor(wires[x], wires[y]), values[x] ^ values[y]),
                    _ => (build.not(wires[x]), !values[x]),
                };
                wires.push(wire);
                values.push(value);
            }
            let picked: Vec<usize> = prg.vector::<u32>(6).into_iter().map(|c| c as usize % wires.len()).collect();
            let ands = build.gates.iter().filter(|gate| matches!(gate, Gate::And(..))).count();
            let circuit = build.finish(&picked.iter().map(|&wire| wires[wire]).collect::<Vec<_>>());
            let expected: Vec<u64> = picked.iter().map(|&wire| values[wire]).collect();
            assert_eq!(by_steps(&circuit, &inputs), expected, "{:?}", circuit.steps);
            let kept = circuit.steps.iter().filter(|step| matches!(step, Step::And { .. })).count();
            assert_eq!(kept, ands, "every AND is a step");
        }
    }

    #[test]
    fn xors_of_the_usual_circuits_become_part_of_the_ands() {
        let circuit = |outputs: fn(&mut Builder, &[Wire], &[Wire]) -> Result<Vec<Wire>, Infallible>| {
            let (mut build, inputs) = Builder::new(16);
            let (x, y) = inputs.split_at(8);
            let Ok(outputs) = outputs(&mut build, x, y);
            build.finish(&outputs).steps.len()
        };
        assert_eq!(circuit(|build, x, y| Ok(vec![small::less_than(build, x, y)?])), 8);
        assert_eq!(circuit(|build, x, y| mux(build, &x[0], &x[1..], &y[1..])), 7);
        assert_eq!(circuit(small::add), 7 + 8, "a step for each carry and each bit of the sum");
    }

    /// Every shape of an operand that is the same in all rows, or of two operands that are one.
    #[test]
    fn ands_that_are_no_products_are_refused() {
        let refused = |make: fn(&mut Builder, Wire, Wire) -> [Wire; 2]| {
            let and = || {
                let (mut build, inputs) = Builder::new(2);
                let [x, y] = make(&mut build, inputs[0], inputs[1]);
                build.and(x, y);
            };
            std::panic::catch_unwind(and).is_err()
        };
        assert!(refused(|_, x, _| [x, x]));
        assert!(refused(|build, x, _| [x, build.not(x)]));
        assert!(refused(|build, x, y| [build.xor(x, x), y]));
        assert!(refused(|build, x, y| [y, build.xor(x, x)]));
        assert!(refused(|build, x, y| {
            let not = build.not(x);
            [build.xor(x, not), y]
        }));
        assert!(refused(|build, x, y| {
            let both = build.and(x, y);
            let sum = build.xor(both, x);
            let again = build.xor(sum, both);
            let not = build.not(again);
            [not, x]
        }));
        assert!(!refused(|_, x, y| [x, y]));
        assert!(!refused(|build, x, y| [build.xor(x, y), y]));
        assert!(!refused(|build, x, y| {
            let both = build.and(x, y);
            [both, x]
        }));
    }
}
