//! In what arguments and results are shared.

use super::{Instruction, Operation, Ring};

/// Checks that an instruction's ring follows from its arguments' rings.
pub fn check(next: &Instruction, args: &[&Instruction]) -> Result<(), String> {
    let rings: Vec<Ring> = args.iter().map(|arg| arg.ring).collect();
    let ring = next.ring;
    let fits = match &next.operation {
        Operation::Input { .. } | Operation::Constant { .. } | Operation::Sample { .. } => true,
        Operation::Reshape {}
        | Operation::Transpose { .. }
        | Operation::Broadcast {}
        | Operation::Slice { .. }
        | Operation::Take { .. }
        | Operation::Concatenate { .. }
        | Operation::Maximum {}
        | Operation::Minimum {}
        | Operation::Largest { .. }
        | Operation::Smallest { .. }
        | Operation::Sort { .. } => rings.iter().all(|&arg| arg == ring),
        Operation::Multiply { cut, .. } => {
            product(ring, &rings) && rings.contains(&ring) && (ring != Ring::Bits || *cut == 0)
        }
        Operation::Matmul { .. } | Operation::Convolve { .. } => ring != Ring::Bits && product(ring, &rings),
        Operation::Less {} | Operation::Equal {} => ring == Ring::Bits && rings[0] == rings[1],
        Operation::Outside { .. } => ring == Ring::Bits && rings[0] != Ring::Bits,
        Operation::Not {} | Operation::Both {} | Operation::Either {} | Operation::Differ {} => {
            ring == Ring::Bits && rings.iter().all(|&arg| arg == Ring::Bits)
        }
        Operation::Count {} => ring != Ring::Bits && rings == [Ring::Bits],
        Operation::Select {} => rings == [Ring::Bits, ring, ring],
        Operation::Widen {} => ring == Ring::Ring128 && rings == [Ring::Ring64],
        Operation::Narrow {} => ring == Ring::Ring64 && rings == [Ring::Ring128],
        Operation::Place { .. } | Operation::Order { .. } => ring != Ring::Bits,
        Operation::Add {}
        | Operation::Subtract {}
        | Operation::Negate {}
        | Operation::Truncate { .. }
        | Operation::Floor { .. }
        | Operation::Shift { .. }
        | Operation::Sum { .. }
        | Operation::CumulativeSum { .. }
        | Operation::Absolute {}
        | Operation::Clip {}
        | Operation::Function { .. }
        | Operation::Divide {}
        | Operation::FloorDivide {} => ring != Ring::Bits && rings.iter().all(|&arg| arg == ring),
    };
    let bits: Vec<usize> = rings.iter().map(|arg| arg.bits()).collect();
    if fits { Ok(()) } else { Err(format!("rings of {bits:?} bits give none of {}", ring.bits())) }
}

/// Whether factors give a product in a ring: those of bits choose.
fn product(ring: Ring, factors: &[Ring]) -> bool {
    factors.iter().all(|&factor| factor == ring || factor == Ring::Bits)
}
