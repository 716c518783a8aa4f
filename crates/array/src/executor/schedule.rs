//! Which instructions are executed together, and when: a function of the program alone.
//!
//! What is local is done as soon as it can be. Of what sends, a group of one kind goes first that has the instruction
//! with the most sending ones behind it (list scheduling by the critical path).

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, HashSet};

use super::choices::clip_bits;
use super::comparisons::{difference_bits, distance_bits, outside_bits, signed_bits};
use super::read::Read;
use crate::program::{Instruction, Operation, Ring};

/// What instructions agree in that share their rounds.
#[derive(PartialEq, Eq, Hash)]
struct Kind {
    operation: Operation,
    rings: Vec<Ring>,
    /// Whether each argument is public.
    public: Vec<bool>,
    /// What the work depends on besides: bits that numbers have, or all that is known of them.
    depends: Vec<i128>,
}

/// The groups in their order. They have all instructions on which the outputs depend.
pub(super) fn groups(all: &[Instruction], read: &Read<'_>, outputs: &[usize]) -> Vec<Vec<usize>> {
    let (needed, public) = (needed(all, read, outputs), public(all));
    let mut kinds = HashMap::new();
    let kinds: Vec<Option<usize>> = all
        .iter()
        .map(|each| {
            let next = kinds.len();
            kind(all, each, &public).map(|kind| *kinds.entry(kind).or_insert(next))
        })
        .collect();
    let behind = behind(all, read, &needed, |place| kinds[place].is_some());
    let mut ready = Ready::default();
    let (mut waits_for, mut takers) = (vec![0; all.len()], vec![vec![]; all.len()]);
    for place in (0..all.len()).filter(|place| needed.contains(place)) {
        waits_for[place] = read.args(place).len();
        read.args(place).iter().for_each(|&arg| takers[arg].push(place));
        if read.args(place).is_empty() {
            ready.add(place, kinds[place], behind[place]);
        }
    }
    let mut groups = vec![];
    while let Some(group) = ready.take() {
        for &taker in group.iter().flat_map(|&place| &takers[place]) {
            waits_for[taker] -= 1;
            if waits_for[taker] == 0 {
                ready.add(taker, kinds[taker], behind[taker]);
            }
        }
        groups.extend(within_positions(all, group));
    }
    groups
}

/// Most elements of the arrays of a group together: their positions among all of these take 32 bits.
const MOST: usize = 1 << 32;

/// A group in as many as have no more elements, in order.
fn within_positions(all: &[Instruction], group: Vec<usize>) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = vec![];
    let mut left = 0;
    for place in group {
        let arrays = all[place].args.iter().map(|&arg| &all[arg]).chain([&all[place]]);
        let elements = arrays.map(Instruction::elements).max().unwrap_or(0);
        if elements > left || parts.is_empty() {
            parts.push(vec![]);
            left = MOST;
        }
        left = left.saturating_sub(elements);
        parts.last_mut().expect("it was begun").push(place);
    }
    parts
}

/// Instructions of which all arguments are there.
#[derive(Default)]
struct Ready {
    local: BinaryHeap<Reverse<usize>>,
    /// By how many sending ones are behind each, and among equals the first.
    sending: BinaryHeap<(usize, Reverse<usize>, usize)>,
    by_kind: HashMap<usize, BTreeSet<usize>>,
}

impl Ready {
    fn add(&mut self, place: usize, kind: Option<usize>, behind: usize) {
        let Some(kind) = kind else { return self.local.push(Reverse(place)) };
        self.sending.push((behind, Reverse(place), kind));
        self.by_kind.entry(kind).or_default().insert(place);
    }

    /// The next group: what is local first.
    fn take(&mut self) -> Option<Vec<usize>> {
        if let Some(Reverse(place)) = self.local.pop() {
            return Some(vec![place]);
        }
        while let Some((_, Reverse(place), kind)) = self.sending.pop() {
            let group = self.by_kind.entry(kind).or_default();
            if group.contains(&place) {
                return Some(std::mem::take(group).into_iter().collect());
            }
        }
        None
    }
}

/// All on which the outputs depend.
fn needed(all: &[Instruction], read: &Read<'_>, outputs: &[usize]) -> HashSet<usize> {
    let mut needed: HashSet<usize> = outputs.iter().copied().collect();
    for place in (0..all.len()).rev() {
        if needed.contains(&place) {
            needed.extend(read.args(place));
        }
    }
    needed
}

/// Which results are public: constants, and elements of these in another shape.
fn public(all: &[Instruction]) -> Vec<bool> {
    let mut public: Vec<bool> = vec![];
    for each in all {
        public.push(match each.operation {
            Operation::Constant { .. } => true,
            Operation::Reshape {}
            | Operation::Transpose { .. }
            | Operation::Broadcast {}
            | Operation::Slice { .. }
            | Operation::Take { .. } => public[each.args[0]],
            _ => false,
        });
    }
    public
}

/// How many sending instructions are on the longest way from each to an output, itself included.
fn behind(all: &[Instruction], read: &Read<'_>, needed: &HashSet<usize>, sends: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut behind = vec![0; all.len()];
    for place in (0..all.len()).rev().filter(|place| needed.contains(place)) {
        behind[place] += usize::from(sends(place));
        for &arg in read.args(place) {
            behind[arg] = behind[arg].max(behind[place]);
        }
    }
    behind
}

/// The kind of an instruction that sends; None for a local one.
fn kind(all: &[Instruction], each: &Instruction, public: &[bool]) -> Option<Kind> {
    let args: Vec<&Instruction> = each.args.iter().map(|&arg| &all[arg]).collect();
    let rings: Vec<Ring> = args.iter().map(|arg| arg.ring).collect();
    let public: Vec<bool> = each.args.iter().map(|&arg| public[arg]).collect();
    let of_bits = rings.contains(&Ring::Bits);
    let sends = match each.operation {
        Operation::Multiply { cut, .. } | Operation::Matmul { cut, .. } | Operation::Convolve { cut, .. } => {
            cut > 0 || of_bits || !public.contains(&true)
        }
        Operation::Truncate { .. } | Operation::Floor { .. } | Operation::Widen {} => true,
        Operation::Less {} | Operation::Equal {} => !of_bits || matches!(each.operation, Operation::Less {}),
        Operation::Outside { .. } => true,
        Operation::Both {} | Operation::Either {} | Operation::Count {} | Operation::Select {} => true,
        Operation::Maximum {} | Operation::Minimum {} | Operation::Clip {} | Operation::Absolute {} => true,
        Operation::FloorDivide {} => true,
        Operation::Largest { .. } | Operation::Smallest { .. } | Operation::Place { .. } => true,
        Operation::Sort { .. } | Operation::Order { .. } | Operation::Sample { .. } => true,
        Operation::Function { .. } | Operation::Divide {} => true,
        Operation::Input { .. }
        | Operation::Constant { .. }
        | Operation::Add {}
        | Operation::Subtract {}
        | Operation::Negate {}
        | Operation::Shift { .. }
        | Operation::Narrow {}
        | Operation::Sum { .. }
        | Operation::CumulativeSum { .. }
        | Operation::Not {}
        | Operation::Differ {}
        | Operation::Reshape {}
        | Operation::Transpose { .. }
        | Operation::Broadcast {}
        | Operation::Slice { .. }
        | Operation::Take { .. }
        | Operation::Concatenate { .. } => false,
    };
    // Of a convolution and a product of matrices an engine computes the same but for what is local.
    let operation = || match each.operation {
        Operation::Convolve { cut, floor, .. } => Operation::Matmul { cut, floor },
        ref operation => operation.clone(),
    };
    sends.then(|| Kind { operation: operation(), rings, public, depends: depends(each, &args) })
}

/// What an instruction's work depends on besides its operation and rings.
fn depends(each: &Instruction, args: &[&Instruction]) -> Vec<i128> {
    let bounds: Vec<(i128, i128)> = args.iter().map(|arg| (arg.low, arg.high)).collect();
    let width = match each.operation {
        Operation::Less {} | Operation::Maximum {} | Operation::Minimum {} => difference_bits(bounds[0], bounds[1]),
        Operation::Clip {} => clip_bits([bounds[0], bounds[1], bounds[2]]),
        Operation::Equal {} => distance_bits(bounds[0], bounds[1]),
        Operation::Outside { from, to } => {
            let ends = (from.0, to.0);
            let sides = [bounds[0].0 < ends.0, bounds[0].1 > ends.1].map(i128::from);
            return [&[outside_bits(bounds[0], ends) as i128], &sides[..]].concat();
        }
        Operation::Absolute {} | Operation::Widen {} => signed_bits(bounds[0]),
        Operation::Largest { axis } | Operation::Smallest { axis } | Operation::Place { axis, .. } => {
            return vec![difference_bits(bounds[0], bounds[0]) as i128, args[0].shape[axis] as i128];
        }
        Operation::Sort { axis } | Operation::Order { axis } => {
            return vec![bounds[0].0, bounds[0].1, args[0].shape[axis] as i128];
        }
        Operation::FloorDivide {} => return bounds.iter().map(|&bounds| signed_bits(bounds) as i128).collect(),
        Operation::Function { .. } | Operation::Divide {} => {
            let known = |of: &Instruction| [of.low, of.high, of.fraction.into(), i128::from(of.elements() > 0)];
            return args.iter().copied().chain([each]).flat_map(known).collect();
        }
        _ => 0,
    };
    vec![width as i128]
}

#[cfg(test)]
mod tests {
    use super::{MOST, Read, groups};
    use crate::program::{Instruction, Operation, Ring};

    fn of(operation: Operation, args: Vec<usize>, elements: usize) -> Instruction {
        Instruction { operation, args, shape: vec![elements], ring: Ring::Ring64, fraction: 0, low: 0, high: 1 }
    }

    /// Of more elements a position would be that of another one.
    #[test]
    fn positions_among_the_elements_of_a_group_take_32_bits() {
        for (elements, expected) in [(8, vec![5]), (MOST / 2, vec![2, 2, 1])] {
            let input = of(Operation::Input { index: 0 }, vec![], elements);
            let sort = |_| of(Operation::Sort { axis: 0 }, vec![0], elements);
            let all: Vec<Instruction> = [input].into_iter().chain((0..5).map(sort)).collect();
            let found = groups(&all, &Read::of(&all), &[1, 2, 3, 4, 5]);
            assert_eq!(found.iter().skip(1).map(Vec::len).collect::<Vec<_>>(), expected);
            assert_eq!(found.concat(), [0, 1, 2, 3, 4, 5]);
        }
    }
}
