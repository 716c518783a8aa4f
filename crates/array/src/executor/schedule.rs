//! Which instructions are executed together, and when: a function of the program alone.
//!
//! What is local is done as soon as it can be. Of what sends, a group of one kind goes first that has the instruction
//! with the most sending ones behind it (list scheduling by the critical path).

use std::collections::HashSet;

use super::comparisons::{difference_bits, distance_bits};
use crate::program::{Instruction, Operation, Ring};

/// What instructions agree in that share their rounds.
#[derive(PartialEq, Eq)]
struct Kind<'a> {
    operation: &'a Operation,
    rings: Vec<Ring>,
    /// Whether each argument is public.
    public: Vec<bool>,
    /// The bits that numbers have.
    width: usize,
}

/// The groups in their order. They have all instructions on which the outputs depend.
pub(super) fn groups(all: &[Instruction], outputs: &[usize]) -> Vec<Vec<usize>> {
    let needed = needed(all, outputs);
    let public = public(all);
    let kinds: Vec<Option<Kind<'_>>> = all.iter().map(|each| kind(all, each, &public)).collect();
    let behind = behind(all, &needed, |place| kinds[place].is_some());
    let mut left: Vec<usize> = (0..all.len()).filter(|place| needed.contains(place)).collect();
    let (mut done, mut groups) = (HashSet::new(), vec![]);
    while !left.is_empty() {
        let is_ready = |place: &usize, done: &HashSet<usize>| all[*place].args.iter().all(|arg| done.contains(arg));
        let mut waiting = vec![];
        for place in left {
            if kinds[place].is_none() && is_ready(&place, &done) {
                done.insert(place);
                groups.push(vec![place]);
            } else {
                waiting.push(place);
            }
        }
        let ready: Vec<usize> = waiting.iter().copied().filter(|place| is_ready(place, &done)).collect();
        if let Some(&first) = ready.iter().max_by_key(|&&place| (behind[place], std::cmp::Reverse(place))) {
            let group: Vec<usize> = ready.into_iter().filter(|&place| kinds[place] == kinds[first]).collect();
            waiting.retain(|place| !group.contains(place));
            done.extend(group.iter().copied());
            groups.push(group);
        }
        left = waiting;
    }
    groups
}

/// All on which the outputs depend.
fn needed(all: &[Instruction], outputs: &[usize]) -> HashSet<usize> {
    let mut needed: HashSet<usize> = outputs.iter().copied().collect();
    for place in (0..all.len()).rev().filter(|place| *place < all.len()) {
        if needed.contains(&place) {
            needed.extend(&all[place].args);
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
fn behind(all: &[Instruction], needed: &HashSet<usize>, sends: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut behind = vec![0; all.len()];
    for place in (0..all.len()).rev().filter(|place| needed.contains(place)) {
        behind[place] += usize::from(sends(place));
        for &arg in &all[place].args {
            behind[arg] = behind[arg].max(behind[place]);
        }
    }
    behind
}

/// The kind of an instruction that sends; None for a local one.
fn kind<'a>(all: &[Instruction], each: &'a Instruction, public: &[bool]) -> Option<Kind<'a>> {
    let args: Vec<&Instruction> = each.args.iter().map(|&arg| &all[arg]).collect();
    let rings: Vec<Ring> = args.iter().map(|arg| arg.ring).collect();
    let public: Vec<bool> = each.args.iter().map(|&arg| public[arg]).collect();
    let of_bits = rings.contains(&Ring::Bits);
    let sends = match each.operation {
        Operation::Multiply { cut, .. } | Operation::Matmul { cut, .. } => {
            cut > 0 || of_bits || !public.contains(&true)
        }
        Operation::Truncate { .. } | Operation::Floor { .. } | Operation::Widen {} => true,
        Operation::Less {} | Operation::Equal {} => !of_bits || matches!(each.operation, Operation::Less {}),
        Operation::Both {} | Operation::Either {} | Operation::Count {} | Operation::Select {} => true,
        Operation::Maximum {} | Operation::Minimum {} | Operation::Absolute {} | Operation::FloorDivide {} => true,
        Operation::Largest { .. } | Operation::Smallest { .. } | Operation::Place { .. } => true,
        Operation::Sort { .. } | Operation::Order { .. } => true,
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
    sends.then(|| Kind { operation: &each.operation, rings, public, width: width(each, &args) })
}

/// The bits that an instruction's work depends on.
fn width(each: &Instruction, args: &[&Instruction]) -> usize {
    let bounds: Vec<(i128, i128)> = args.iter().map(|arg| (arg.low, arg.high)).collect();
    match each.operation {
        Operation::Less {} | Operation::Maximum {} | Operation::Minimum {} => difference_bits(bounds[0], bounds[1]),
        Operation::Equal {} => distance_bits(bounds[0], bounds[1]),
        Operation::Absolute {} => super::comparisons::signed_bits(bounds[0]),
        Operation::Widen {} => super::comparisons::signed_bits(bounds[0]),
        _ => 0,
    }
}
