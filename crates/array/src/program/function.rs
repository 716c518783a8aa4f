//! Functions of every element, and how each is computed within the bounds that are known.

use tacit_math::Ring as Element;
use tacit_mpc::Backend;

use super::{Function, Instruction, Operation};
use crate::functions::{Angle, Circle, Curve, Divide, Exp, Interval, Log, Odd, Refused, Root};

/// Checks that a function or a quotient can be computed within its bounds.
pub(super) fn check(next: &Instruction, args: &[&Instruction]) -> Result<(), String> {
    match next.operation {
        _ if next.elements() == 0 => Ok(()),
        Operation::Function { name } => Way::of(name, args[0], next).map(|_| ()),
        Operation::Divide {} => quotient(args[0], args[1], next).map(|_| ()),
        _ => Ok(()),
    }
}

/// The error of a quotient that the planner declares, in units of the last place.
const QUOTIENT_ERROR: f64 = 2.0;

/// How a function is computed.
pub(crate) enum Way {
    Exp(Exp),
    Circle(Circle),
    Odd(Odd),
    Root(Root),
    Log(Log),
}

impl Way {
    /// For an argument's bounds and a result's bits behind the point, with no larger error than is declared.
    pub fn of(function: Function, argument: &Instruction, result: &Instruction) -> Result<Self, String> {
        let (bits, [from, to]) = (argument.ring.bits(), fractions([argument, result])?);
        let interval = interval(argument)?;
        let odd = |curve| Odd::new(bits, from, interval, to, curve).map(|plan| (plan.error(), Self::Odd(plan)));
        let circle =
            |angle| Circle::new(bits, from, interval, to, angle).map(|plan| (plan.error(), Self::Circle(plan)));
        let root = |plan: Result<Root, Refused>| plan.map(|plan| (plan.error(), Self::Root(plan)));
        let found = match function {
            Function::Exp => Exp::new(bits, from, interval, to).map(|plan| (plan.error(), Self::Exp(plan))),
            Function::Log => Log::new(bits, from, interval, to).map(|plan| (plan.error(), Self::Log(plan))),
            Function::Sqrt => root(Root::of(bits, from, interval, to)),
            Function::Rsqrt => root(Root::inverse(bits, from, interval, to)),
            Function::Sigmoid => odd(Curve::Sigmoid),
            Function::Tanh => odd(Curve::Tanh),
            Function::Erf => odd(Curve::Erf),
            Function::Sin => circle(Angle::Sine),
            Function::Cos => circle(Angle::Cosine),
        };
        let (error, way) = found.map_err(|refused| refused.to_string())?;
        within(error, function.declared_error()).map(|()| way)
    }

    /// The function of a vector.
    pub fn run<R: Element, B: Backend>(&self, b: &mut B, x: &B::Vector<R>) -> tacit_mpc::Result<B::Vector<R>> {
        match self {
            Self::Exp(plan) => plan.run(b, x),
            Self::Circle(plan) => plan.run(b, x),
            Self::Odd(plan) => plan.run(b, x),
            Self::Root(plan) => plan.run(b, x),
            Self::Log(plan) => plan.run(b, x),
        }
    }
}

/// How a / b is computed, with no larger error than is declared.
pub(crate) fn quotient(x: &Instruction, y: &Instruction, result: &Instruction) -> Result<Divide, String> {
    if y.low <= 0 && 0 <= y.high {
        return Err("its divisor may be zero".into());
    }
    let [x_fraction, y_fraction, to] = fractions([x, y, result])?;
    let (least, largest) = (y.low.unsigned_abs().min(y.high.unsigned_abs()), interval(result)?.size());
    let operands = [(x_fraction, interval(x)?), (y_fraction, interval(y)?)];
    let plan = Divide::quotient(x.ring.bits(), operands, least, Some(largest), to);
    let plan = plan.map_err(|refused| refused.to_string())?;
    within(plan.error(), QUOTIENT_ERROR).map(|()| plan)
}

fn fractions<const N: usize>(instructions: [&Instruction; N]) -> Result<[usize; N], String> {
    let one = |of: &Instruction| usize::try_from(of.fraction).ok().filter(|&bits| bits < of.ring.bits());
    match instructions.map(one) {
        found if found.iter().all(Option::is_some) => Ok(found.map(Option::unwrap_or_default)),
        _ => Err("it takes and gives numbers with bits behind the point, and with fewer than the ring has".into()),
    }
}

/// The bounds of a number. Of no numbers any will do.
fn interval(of: &Instruction) -> Result<Interval, String> {
    if of.low <= of.high { Ok(Interval::new(of.low, of.high)) } else { Err("it is of no numbers".into()) }
}

fn within(error: f64, declared: f64) -> Result<(), String> {
    if error <= declared {
        return Ok(());
    }
    Err(format!("its error is up to {error:.2} units of the last place, more than the {declared} declared"))
}

#[cfg(test)]
mod tests;
