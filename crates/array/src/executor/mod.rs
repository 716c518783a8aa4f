//! Execution of instructions on an engine. Instructions that are ready and of one kind share their rounds.

mod along;
mod arithmetic;
mod bilinear;
mod call;
mod choices;
mod comparisons;
mod division;
mod functions;
mod logic;
mod products;
mod read;
mod repeated;
mod rings;
mod sample;
mod schedule;
mod shaping;
mod sorting;
mod tournament;

use std::collections::HashMap;

use tacit_mpc::{Backend, Result};

use crate::array::Array;
use crate::program::{Instruction, Instructions, Operation, Ring};
use call::Call;
use read::Read;

/// The results of some instructions, for the arrays that a program is given. Every node calls it with the same
/// instructions; what is sent follows from them alone.
///
/// # Errors
/// As the engine's.
///
/// # Panics
/// When an array that is to be given is missing, or has another ring or number of elements than its instruction. When
/// there is no instruction at the position of an output.
pub fn execute<B: Backend>(
    b: &mut B,
    program: &Instructions,
    given: Vec<Array<B>>,
    outputs: &[usize],
) -> Result<Vec<Array<B>>> {
    let (all, read) = (program.all(), Read::of(program.all()));
    let (groups, mut given) = (schedule::groups(all, &read, outputs), given.into_iter().map(Some).collect::<Vec<_>>());
    let mut uses = uses(&read, &groups, outputs);
    let mut made: HashMap<usize, Array<B>> = HashMap::new();
    for group in groups {
        let calls: Vec<Call<'_, B>> = group.iter().map(|&place| Call::new(all, &read, place, &made)).collect();
        let results = match all[group[0]].operation {
            Operation::Input { index } => vec![taken(program, &all[group[0]], &mut given, index)],
            _ => b.step(&all[group[0]].operation.name(), |b| group_of(b, &all[group[0]], &calls))?,
        };
        drop(calls);
        made.extend(group.iter().copied().zip(results));
        for place in group.iter().flat_map(|&place| read.args(place)) {
            let left = uses.get_mut(place).expect("it is counted");
            *left -= 1;
            if *left == 0 {
                made.remove(place);
            }
        }
    }
    Ok(outputs.iter().map(|place| made[place].clone()).collect())
}

/// How often each result is taken. Those that are asked for are taken once more, at the end.
fn uses(read: &Read<'_>, groups: &[Vec<usize>], outputs: &[usize]) -> HashMap<usize, usize> {
    let mut uses = HashMap::new();
    let args = groups.iter().flatten().flat_map(|&place| read.args(place));
    args.chain(outputs).for_each(|&place| *uses.entry(place).or_insert(0) += 1);
    uses
}

/// A given array, in the shape of the instruction that takes it. A sole taker gets the array itself, others a copy.
fn taken<B: Backend>(
    program: &Instructions,
    instruction: &Instruction,
    given: &mut [Option<Array<B>>],
    index: usize,
) -> Array<B> {
    let once = program.given().filter(|(taken, _)| *taken == index).count() == 1;
    let array = if once { given[index].take() } else { given[index].clone() };
    let array = array.expect("an array for each that is to be given");
    assert!(array.ring() == instruction.ring, "an array of the ring of its instruction");
    assert!(array.elements() == instruction.elements(), "an array with as many elements as its instruction says");
    array.reshaped(&instruction.shape)
}

/// One function of a ring's vectors, for the ring that there is.
macro_rules! in_ring {
    ($ring:expr, $module:ident :: $function:ident ( $($argument:expr),* )) => {
        match $ring {
            Ring::Ring64 => $module::$function::<u64, B>($($argument),*),
            Ring::Ring128 => $module::$function::<u128, B>($($argument),*),
            Ring::Bits => unreachable!("rings are checked when a program is read"),
        }
    };
}

/// The results of instructions of one kind.
fn group_of<B: Backend>(b: &mut B, kind: &Instruction, calls: &[Call<'_, B>]) -> Result<Vec<Array<B>>> {
    let ring = calls[0].args.first().map_or(kind.ring, |arg| arg.ring());
    let shares = match &kind.operation {
        Operation::Input { .. } => unreachable!("what is given is there"),
        Operation::Constant { .. }
        | Operation::Reshape {}
        | Operation::Transpose { .. }
        | Operation::Broadcast {}
        | Operation::Slice { .. }
        | Operation::Take { .. }
        | Operation::Concatenate { .. } => return Ok(calls.iter().map(|call| shaping::moved(b, call)).collect()),
        Operation::Add {} | Operation::Subtract {} | Operation::Negate {} | Operation::Shift { .. } => {
            in_ring!(ring, arithmetic::linear(calls))
        }
        Operation::Sum { .. } | Operation::CumulativeSum { .. } => in_ring!(ring, along::sums(calls)),
        Operation::Multiply { cut, floor } if kind.ring != Ring::Bits => {
            in_ring!(kind.ring, products::multiply(b, calls, *cut, *floor))?
        }
        Operation::Matmul { cut, floor } | Operation::Convolve { cut, floor, .. } => {
            in_ring!(kind.ring, bilinear::products(b, calls, *cut, *floor))?
        }
        Operation::Truncate { bits, floor } => in_ring!(ring, products::truncate(b, calls, *bits, *floor))?,
        Operation::Floor { bits } => in_ring!(ring, products::truncate(b, calls, *bits, true))?,
        Operation::Widen {} => rings::widen(b, calls)?,
        Operation::Narrow {} => rings::narrow(b, calls),
        Operation::Count {} => in_ring!(kind.ring, logic::count(b, calls))?,
        Operation::Less {} if ring != Ring::Bits => in_ring!(ring, comparisons::less(b, calls))?,
        Operation::Equal {} if ring != Ring::Bits => in_ring!(ring, comparisons::equal(b, calls))?,
        Operation::Outside { from, to } => in_ring!(ring, comparisons::outside(b, calls, (from.0, to.0)))?,
        Operation::Select {} if kind.ring != Ring::Bits => in_ring!(kind.ring, choices::select(b, calls))?,
        Operation::Maximum {} if ring != Ring::Bits => in_ring!(ring, choices::extreme(b, calls, true))?,
        Operation::Minimum {} if ring != Ring::Bits => in_ring!(ring, choices::extreme(b, calls, false))?,
        Operation::Clip {} => in_ring!(ring, choices::clip(b, calls))?,
        Operation::Absolute {} => in_ring!(ring, choices::absolute(b, calls))?,
        Operation::Function { .. } | Operation::Divide {} if kind.elements() == 0 => shaping::nothing(b, calls),
        Operation::Function { name } => in_ring!(ring, functions::function(b, calls, *name))?,
        Operation::Divide {} => in_ring!(ring, functions::divide(b, calls))?,
        Operation::Sample { bits } => calls.iter().map(|call| sample::drawn(b, call, *bits)).collect::<Result<_>>()?,
        Operation::FloorDivide {} => in_ring!(ring, division::floor_divide(b, calls))?,
        Operation::Largest { axis } if ring != Ring::Bits => {
            in_ring!(ring, tournament::extreme(b, calls, *axis, true))?
        }
        Operation::Smallest { axis } if ring != Ring::Bits => {
            in_ring!(ring, tournament::extreme(b, calls, *axis, false))?
        }
        Operation::Place { axis, largest } => tournament::place(b, calls, *axis, *largest)?,
        Operation::Sort { axis } => sorting::sort(b, calls, *axis)?,
        Operation::Order { axis } => sorting::order(b, calls, *axis)?,
        Operation::Multiply { .. }
        | Operation::Less {}
        | Operation::Equal {}
        | Operation::Not {}
        | Operation::Both {}
        | Operation::Either {}
        | Operation::Differ {}
        | Operation::Select {}
        | Operation::Maximum {}
        | Operation::Minimum {}
        | Operation::Largest { .. }
        | Operation::Smallest { .. } => logic::of_bits(b, calls, &kind.operation)?,
    };
    Ok(calls.iter().zip(shares).map(|(call, shares)| Array::new(&call.instruction.shape, shares)).collect())
}
