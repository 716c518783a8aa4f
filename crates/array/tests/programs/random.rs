//! Random programs: the same on every engine as on plain integers.

use serde_json::{Value, json};
use tacit_array::Instructions;
use tacit_math::Prg;
use tacit_mpc::backends::{Four, Networked, Rep3, Two};
use tacit_views::seed;

use super::plain::results;
use super::world::{Writer, declared, drawn, in_clear, metered, on_nodes};

/// What a generator knows of a node.
#[derive(Clone)]
struct Known {
    node: usize,
    shape: Vec<usize>,
    ring: u32,
    bounds: (i128, i128),
}

/// Writes programs whose bounds hold.
struct Generator<'a> {
    writer: Writer,
    prg: &'a mut Prg,
    known: Vec<Known>,
}

/// Numbers stay below this.
const MOST: i128 = 1 << 58;

impl Generator<'_> {
    fn below(&mut self, count: usize) -> usize {
        self.prg.vector::<u32>(1)[0] as usize % count
    }

    fn write(&mut self, operation: Value, args: &[&Known], shape: &[usize], ring: u32, bounds: (i128, i128)) {
        let places: Vec<usize> = args.iter().map(|arg| arg.node).collect();
        let node = self.writer.node(operation, &places, shape, ring, bounds);
        self.known.push(Known { node, shape: shape.to_vec(), ring, bounds });
    }

    fn input(&mut self) {
        let shape: Vec<usize> = [vec![3, 4], vec![4], vec![3, 1], vec![]][self.below(4)].clone();
        let ring = [64, 64, 128, 1][self.below(4)];
        let bounds = if ring == 1 { (0, 1) } else { [(-5, 5), (0, 1000), (-(1 << 20), 1 << 19)][self.below(3)] };
        let node = self.writer.input(&shape, ring, bounds);
        self.known.push(Known { node, shape, ring, bounds });
    }

    fn any(&mut self) -> Known {
        let place = self.below(self.known.len());
        self.known[place].clone()
    }

    /// A node of this ring, if one is drawn soon.
    fn of(&mut self, ring: u32) -> Option<Known> {
        (0..10).map(|_| self.any()).find(|known| known.ring == ring)
    }

    /// One more node, or none where what is drawn does not fit.
    fn next(&mut self) -> Option<()> {
        let x = self.any();
        let y = self.of(x.ring)?;
        let shape = repeated(&x.shape, &y.shape)?;
        match (self.below(4), x.ring) {
            (0, _) => self.choice(&x, &y, &shape),
            (1, _) => self.moved(&x),
            (_, 1) => self.of_bits(&x, &y, &shape),
            _ => self.of_numbers(&x, &y, &shape),
        }
    }

    fn choice(&mut self, x: &Known, y: &Known, shape: &[usize]) -> Option<()> {
        let bit = self.of(1)?;
        let shape = repeated(&bit.shape, shape)?;
        let hull = (x.bounds.0.min(y.bounds.0), x.bounds.1.max(y.bounds.1));
        self.write(json!({"op": "select"}), &[&bit, x, y], &shape, x.ring, hull);
        Some(())
    }

    fn moved(&mut self, x: &Known) -> Option<()> {
        let axes: Vec<usize> = (0..x.shape.len()).rev().collect();
        let shape: Vec<usize> = x.shape.iter().rev().copied().collect();
        self.write(json!({"op": "transpose", "axes": axes}), &[x], &shape, x.ring, x.bounds);
        Some(())
    }

    fn of_bits(&mut self, x: &Known, y: &Known, shape: &[usize]) -> Option<()> {
        match self.below(5) {
            0 => self.write(json!({"op": "count"}), &[x], &x.shape, 64, (0, 1)),
            1 => self.write(json!({"op": "not"}), &[x], &x.shape, 1, (0, 1)),
            which => {
                let op = ["both", "either", "differ"][which - 2];
                self.write(json!({"op": op}), &[x, y], shape, 1, (0, 1));
            }
        }
        Some(())
    }

    fn of_numbers(&mut self, x: &Known, y: &Known, shape: &[usize]) -> Option<()> {
        let ((a, b), (c, d)) = (x.bounds, y.bounds);
        let corners = || [a.checked_mul(c), a.checked_mul(d), b.checked_mul(c), b.checked_mul(d)];
        let small = |bounds: (i128, i128)| (-MOST < bounds.0 && bounds.1 < MOST).then_some(bounds);
        let ring = x.ring;
        match self.below(9) {
            0 => self.write(json!({"op": "add"}), &[x, y], shape, ring, small((a + c, b + d))?),
            1 => self.write(json!({"op": "subtract"}), &[x, y], shape, ring, small((a - d, b - c))?),
            2 | 3 => {
                let corners: Vec<i128> = corners().into_iter().collect::<Option<_>>()?;
                let bounds = small((*corners.iter().min()?, *corners.iter().max()?))?;
                let cut = self.below(2) * 3;
                let operation = json!({"op": "multiply", "cut": cut, "floor": true});
                self.write(operation, &[x, y], shape, ring, (bounds.0 >> cut, bounds.1 >> cut));
            }
            4 => self.write(json!({"op": "less"}), &[x, y], shape, 1, (0, 1)),
            5 => self.write(json!({"op": "equal"}), &[x, y], shape, 1, (0, 1)),
            6 => self.write(json!({"op": "maximum"}), &[x, y], shape, ring, (a.max(c), b.max(d))),
            7 => {
                let axis = self.below(x.shape.len().max(1)).min(x.shape.len().checked_sub(1)?);
                let without = [&x.shape[..axis], &x.shape[axis + 1..]].concat();
                let size = x.shape[axis] as i128;
                self.write(json!({"op": "sum", "axis": axis}), &[x], &without, ring, small((a * size, b * size))?);
            }
            _ => {
                let other = if ring == 64 { ("widen", 128) } else { ("narrow", 64) };
                self.write(json!({"op": other.0}), &[x], &x.shape, other.1, x.bounds);
            }
        }
        Some(())
    }
}

/// The shape to which two are repeated, if it is small.
fn repeated(x: &[usize], y: &[usize]) -> Option<Vec<usize>> {
    let length = x.len().max(y.len());
    let size = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(length).map_or(1, |at| shape[at]);
    let both = |axis: usize| match (size(x, axis), size(y, axis)) {
        (a, 1) => Some(a),
        (1, b) => Some(b),
        (a, b) => (a == b).then_some(a),
    };
    (0..length).map(both).collect()
}

/// A program of about `size` nodes, and its last ones.
pub fn program(prg: &mut Prg, size: usize) -> (Instructions, Vec<usize>) {
    let mut generator = Generator { writer: Writer::default(), prg, known: vec![] };
    (0..5).for_each(|_| generator.input());
    (0..4 * size).for_each(|_| {
        if generator.known.len() < size + 5 {
            generator.next();
        }
    });
    let program = generator.writer.program();
    let last = program.all().len();
    (program, (last.saturating_sub(4)..last).collect())
}

fn check<B: Networked>(program: &Instructions, prg: &mut Prg, outputs: &[usize]) {
    let given = drawn(program, prg);
    let all = results(program, &given);
    let expected: Vec<_> = outputs.iter().map(|&output| all[output].values.clone()).collect();
    assert_eq!(in_clear(program, &given, outputs), expected, "in clear");
    let seen = on_nodes::<B>(program, &given, outputs);
    assert!(
        seen.iter().all(|seen| seen.results == expected),
        "on {}: {:?}, not {expected:?}",
        B::NAME,
        seen[0].results
    );
    assert_eq!(metered(&seen), declared::<B>(program, outputs), "metered cost against declared cost on {}", B::NAME);
}

#[test]
fn random_programs_agree_with_plain_integers() {
    let mut prg = Prg::new(&seed("random programs"));
    for _ in 0..12 {
        let (program, outputs) = program(&mut prg, 20);
        check::<Rep3>(&program, &mut prg, &outputs);
        check::<Two>(&program, &mut prg, &outputs);
        check::<Four>(&program, &mut prg, &outputs);
    }
}

#[test]
fn programs_are_written_as_they_are_read() {
    let mut prg = Prg::new(&seed("written programs"));
    for _ in 0..50 {
        let (program, _) = program(&mut prg, 20);
        let text = serde_json::to_string(&program).expect("a text");
        assert_eq!(serde_json::from_str::<Instructions>(&text).expect("a program"), program, "{text}");
    }
}
