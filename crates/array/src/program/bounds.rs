//! What numbers an instruction may have: within its ring, with two bits to spare, and cut by no more bits than it has.

use super::{Instruction, Integer, Operation, Ring};

/// Checks bounds and the parameters that are about them.
pub fn check(next: &Instruction, args: &[&Instruction]) -> Result<(), String> {
    let limit = limit(next.ring);
    let within = |number: i128| -limit < number && number < limit;
    let bounded = if next.ring == Ring::Bits { next.low >= 0 && next.high <= 1 } else { within(next.low) };
    if !bounded || !within(next.high) {
        return Err(format!("its bounds {} and {} leave the ring", next.low, next.high));
    }
    if next.low > next.high && next.elements() > 0 {
        return Err(format!("its lower bound {} is above its upper bound {}", next.low, next.high));
    }
    match &next.operation {
        Operation::Constant { values } => constants(next, values),
        Operation::Multiply { cut, .. } | Operation::Matmul { cut, .. } | Operation::Convolve { cut, .. }
            if *cut > 0 =>
        {
            product(next, *cut)
        }
        Operation::Truncate { bits, .. } | Operation::Floor { bits } => cut(next.ring, *bits),
        Operation::Shift { bits } if *bits >= next.ring.bits() => Err(format!("it moves by {bits} bits")),
        Operation::Sample { bits } => sample(next, *bits),
        Operation::Outside { from, to } => interval(args[0], from.0, to.0),
        Operation::Clip {} if args[1].high > args[2].low => Err("its lower end may be above its upper end".into()),
        Operation::FloorDivide {} if args[1].low <= 0 => Err("its divisor may be zero or less".into()),
        _ => Ok(()),
    }
}

/// Numbers are nearer to zero than this. Bits are zero or one.
fn limit(ring: Ring) -> i128 {
    match ring {
        Ring::Bits => 2,
        Ring::Ring64 => 1 << 62,
        Ring::Ring128 => 1 << 126,
    }
}

fn constants(next: &Instruction, values: &[Integer]) -> Result<(), String> {
    match values.iter().find(|value| value.0 < next.low || value.0 > next.high) {
        Some(Integer(outside)) => Err(format!("the constant {outside} is not within its bounds")),
        None => Ok(()),
    }
}

/// An interval within the ring of an array.
fn interval(of: &Instruction, from: i128, to: i128) -> Result<(), String> {
    let limit = limit(of.ring);
    let within = -limit < from && from <= to && to < limit;
    if within { Ok(()) } else { Err(format!("no numbers of the ring are from {from} to {to}")) }
}

fn sample(next: &Instruction, bits: usize) -> Result<(), String> {
    let fits = bits > 0 && bits <= next.ring.bits().saturating_sub(2).max(1);
    let holds = fits && next.low <= 0 && next.high >= (1 << bits) - 1;
    if holds { Ok(()) } else { Err(format!("its bounds do not hold all numbers of {bits} bits")) }
}

fn cut(ring: Ring, bits: usize) -> Result<(), String> {
    let most = ring.bits().saturating_sub(2);
    if (1..=most).contains(&bits) { Ok(()) } else { Err(format!("it cuts off {bits} bits; 1 to {most} are possible")) }
}

/// Whether a product that is cut fits the ring before: it is less than one unit of the result beyond its bounds.
fn product(next: &Instruction, bits: usize) -> Result<(), String> {
    cut(next.ring, bits)?;
    let most = (next.high - 1).max(-(next.low + 1));
    if most < limit(next.ring) >> bits { Ok(()) } else { Err("its product leaves the ring before it is cut".into()) }
}
