//! Circuits for garbling: gates over wires of one row, with few ANDs rather than few levels.

/// A gate whose inputs are wires: inputs of the circuit first, then one wire a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gate {
    Xor(usize, usize),
    And(usize, usize),
    Not(usize),
}

/// A gate of which operands and result have places that are used again when nobody needs their old content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Xor(usize, usize, usize),
    And(usize, usize, usize),
    Not(usize, usize),
}

/// A circuit being built.
pub struct Builder {
    inputs: usize,
    gates: Vec<Gate>,
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
    /// A circuit of so many inputs, and their wires.
    pub fn new(inputs: usize) -> (Self, Vec<Wire>) {
        (Self { inputs, gates: vec![] }, (0..inputs).map(Wire).collect())
    }

    fn push(&mut self, gate: Gate) -> Wire {
        self.gates.push(gate);
        Wire(self.inputs + self.gates.len() - 1)
    }

    /// x XOR y. Free.
    pub fn xor(&mut self, x: Wire, y: Wire) -> Wire {
        self.push(Gate::Xor(x.0, y.0))
    }

    /// x AND y.
    pub fn and(&mut self, x: Wire, y: Wire) -> Wire {
        self.push(Gate::And(x.0, y.0))
    }

    /// NOT x. Free.
    pub fn not(&mut self, x: Wire) -> Wire {
        self.push(Gate::Not(x.0))
    }

    /// The carry into every position of x + y and out of the last: an AND a position.
    fn carries(&mut self, x: &[Wire], y: &[Wire]) -> Vec<Option<Wire>> {
        let mut carries = vec![None];
        for (&x, &y) in x.iter().zip(y) {
            let next = match *carries.last().expect("at least one") {
                None => self.and(x, y),
                Some(carry) => {
                    let (of_x, of_y) = (self.xor(x, carry), self.xor(y, carry));
                    let both = self.and(of_x, of_y);
                    self.xor(both, carry)
                }
            };
            carries.push(Some(next));
        }
        carries
    }

    /// x + y modulo 2^width: width - 1 ANDs.
    pub fn add(&mut self, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
        let top = x.len() - 1;
        let carries = self.carries(&x[..top], &y[..top]);
        let sums = x.iter().zip(y).zip(carries).map(|((&x, &y), carry)| {
            let sum = self.xor(x, y);
            carry.map_or(sum, |carry| self.xor(sum, carry))
        });
        sums.collect()
    }

    /// x < y as unsigned numbers: width ANDs.
    ///
    /// From the lowest bit: where the bits of x and y differ, y's decides; where they are equal, those below do.
    pub fn less_than(&mut self, x: &[Wire], y: &[Wire]) -> Wire {
        assert!(x.len() == y.len() && !x.is_empty(), "numbers of one positive width");
        let mut less = None;
        for (&x, &y) in x.iter().zip(y) {
            let differ = self.xor(x, y);
            less = Some(match less {
                None => self.and(differ, y),
                Some(less) => {
                    let change = self.xor(y, less);
                    let change = self.and(differ, change);
                    self.xor(less, change)
                }
            });
        }
        less.expect("at least one bit")
    }

    /// Per bit: x where the choice is one, else y. An AND a bit.
    pub fn mux(&mut self, choice: Wire, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        let one = |(&x, &y): (&Wire, &Wire)| {
            let difference = self.xor(x, y);
            let chosen = self.and(choice, difference);
            self.xor(chosen, y)
        };
        x.iter().zip(y).map(one).collect()
    }

    /// Ends the circuit.
    pub fn finish(self, outputs: &[Wire]) -> Circuit {
        let outputs: Vec<usize> = outputs.iter().map(|wire| wire.0).collect();
        let mut last_use = vec![0; self.inputs + self.gates.len()];
        for (number, gate) in self.gates.iter().enumerate() {
            operands(gate).for_each(|wire| last_use[wire] = number);
        }
        // Outputs and inputs stay: the inputs' places are filled once a tile by the caller.
        outputs.iter().for_each(|&wire| last_use[wire] = usize::MAX);
        last_use[..self.inputs].fill(usize::MAX);
        let mut place: Vec<usize> = (0..self.inputs).collect();
        let (mut free, mut places, mut steps) = (vec![], self.inputs, vec![]);
        for (number, gate) in self.gates.iter().enumerate() {
            // The result's place differs from the operands', which are freed behind it.
            let to = free.pop().unwrap_or_else(|| {
                places += 1;
                places - 1
            });
            steps.push(match *gate {
                Gate::Xor(x, y) => Step::Xor(place[x], place[y], to),
                Gate::And(x, y) => Step::And(place[x], place[y], to),
                Gate::Not(x) => Step::Not(place[x], to),
            });
            place.push(to);
            let mut done: Vec<usize> = operands(gate).filter(|&wire| last_use[wire] == number).collect();
            done.dedup();
            free.extend(done.into_iter().map(|wire| place[wire]));
        }
        let ands = self.gates.iter().filter(|gate| matches!(gate, Gate::And(..))).count();
        Circuit { inputs: self.inputs, ands, steps, outputs: outputs.iter().map(|&wire| place[wire]).collect(), places }
    }
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
