//! Operations on bare columns, over any engine.

use crate::operation::Operation;
use tacit_array::functions::{Curve, Divide, Exp, Interval, Odd};
use tacit_mpc::{Backend, Linear, MatrixProduct, Result, Rows, Shape, circuits, linear, ops};

/// Width of a number in planes.
const WORD: usize = 64;

/// Width of a narrow number.
const NARROW: usize = 32;

/// Width of a number in the ring of 128 bits.
const WIDE: usize = 40;

/// Fractional bits.
const FRACTION: usize = 16;

/// Width of a sort key.
const KEY: usize = 32;

/// Payload columns that move along.
const PAYLOADS: usize = 4;

/// The columns that an operation takes; None if it takes something else.
pub fn inputs(operation: Operation, rows: usize) -> Option<Shape> {
    let none = Shape { rows, ..Shape::default() };
    match operation {
        Operation::And | Operation::LessPlanes | Operation::Equal => Some(Shape { bits: 2 * WORD, ..none }),
        Operation::Multiply | Operation::Less | Operation::MultiplyDither | Operation::MultiplyFloor => {
            Some(Shape { r64: 2, ..none })
        }
        Operation::LessNarrow | Operation::Matrix => Some(Shape { r64: 2, ..none }),
        Operation::Exp | Operation::Sigmoid | Operation::SigmoidBounded => Some(Shape { r64: 1, ..none }),
        Operation::Divide => Some(Shape { r64: 2, ..none }),
        Operation::MultiplyWide | Operation::LessWide => Some(Shape { r128: 2, ..none }),
        Operation::Shuffle => Some(Shape { r64: PAYLOADS, ..none }),
        Operation::Sort => Some(Shape { bits: KEY, r64: PAYLOADS, ..none }),
        Operation::Exchange | Operation::Join | Operation::JoinUnsorted | Operation::GroupBy | Operation::Trial => None,
    }
}

/// Runs an operation on columns of that shape.
///
/// # Panics
/// If the operation takes something else.
pub fn run<B: Backend>(operation: Operation, b: &mut B, mut input: Rows<B>) -> Result<Rows<B>> {
    let rows = input.rows;
    let (x, y) = input.bits.split_at(input.bits.len() / 2);
    let bits = match operation {
        Operation::And => b.and(&x.iter().collect::<Vec<_>>(), &y.iter().collect::<Vec<_>>())?,
        Operation::LessPlanes => vec![circuits::less_than(b, x, y, false)?],
        Operation::Equal => vec![circuits::equal(b, rows, x, y)?],
        Operation::Less => vec![less_by_sign(b, &input.r64[0], &input.r64[1], WORD)?],
        Operation::LessNarrow => vec![less_by_sign(b, &input.r64[0], &input.r64[1], NARROW + 1)?],
        Operation::Multiply | Operation::MultiplyDither | Operation::MultiplyFloor | Operation::Matrix => {
            let r64 = vec![product(operation, b, &input.r64[0], &input.r64[1])?];
            return Ok(Rows { r64, ..Rows::empty(rows) });
        }
        Operation::MultiplyWide => {
            let [x, y] = [&input.r128[0], &input.r128[1]];
            let r128 = b.multiply_within(&[vec![(x, y)]], FRACTION, &[[1 << (WIDE - 1); 2]])?;
            return Ok(Rows { r128, ..Rows::empty(rows) });
        }
        Operation::LessWide => {
            // Values fill the ring: what comes out says nothing, and takes as long.
            vec![circuits::negative(b, &linear::sub::<u128, _>(&input.r128[0], &input.r128[1]), WIDE + 1)?]
        }
        Operation::Exp | Operation::Sigmoid | Operation::SigmoidBounded | Operation::Divide => {
            let r64 = vec![function(operation, b, &input.r64)?];
            return Ok(Rows { r64, ..Rows::empty(rows) });
        }
        Operation::Shuffle => return b.shuffle(input),
        Operation::Sort => {
            let key = std::mem::take(&mut input.bits);
            let order = ops::sort_order(b, rows, &key)?;
            return ops::apply(b, input, order);
        }
        Operation::Exchange | Operation::Join | Operation::JoinUnsorted | Operation::GroupBy | Operation::Trial => {
            unreachable!("{operation:?} takes no columns")
        }
    };
    Ok(Rows { bits, ..Rows::empty(rows) })
}

/// x < y by the sign of x - y, a number of `width` bits.
fn less_by_sign<B: Backend>(b: &mut B, x: &B::Vector<u64>, y: &B::Vector<u64>, width: usize) -> Result<B::Bits> {
    circuits::sign(b, &linear::sub(x, y), width)
}

/// A function of numbers. They fill the ring rather than the bounds: what comes out says nothing, and takes as long.
fn function<B: Backend>(operation: Operation, b: &mut B, x: &[B::Vector<u64>]) -> Result<B::Vector<u64>> {
    let within = |least: i128, most: i128| Interval::new(least << FRACTION, most << FRACTION);
    let sigmoid = |most: i128| Odd::new(WORD, FRACTION, within(-most, most), FRACTION, Curve::Sigmoid);
    match operation {
        Operation::Exp => Exp::new(WORD, FRACTION, within(-8, 8), FRACTION).expect(PLANNED).run(b, &x[0]),
        Operation::Sigmoid => sigmoid(1 << 20).expect(PLANNED).run(b, &x[0]),
        Operation::SigmoidBounded => sigmoid(8).expect(PLANNED).run(b, &x[0]),
        _ => {
            let operands = [(FRACTION, within(-1024, 1024)), (FRACTION, within(1, 1024))];
            let plan = Divide::quotient(WORD, operands, 1 << FRACTION, None, FRACTION).expect(PLANNED);
            plan.run(b, Some(&x[0]), &x[1])
        }
    }
}

/// Why there is a plan.
const PLANNED: &str = "bounds that fit the ring";

/// A product of one of four kinds.
fn product<B: Backend>(
    operation: Operation,
    b: &mut B,
    x: &B::Vector<u64>,
    y: &B::Vector<u64>,
) -> Result<B::Vector<u64>> {
    let mut products = match operation {
        Operation::MultiplyDither => b.multiply_truncate(&[vec![(x, y)]], FRACTION)?,
        Operation::Matrix => {
            let sizes = [x.rows().isqrt(); 3];
            b.matrix_products_truncate(&[MatrixProduct::new(x, y, sizes)], FRACTION)?
        }
        _ => b.mul(&[x], &[y])?,
    };
    let product = products.swap_remove(0);
    if operation == Operation::MultiplyFloor { circuits::floor(b, &product, FRACTION) } else { Ok(product) }
}
