//! Quotients and remainders. By a public constant: in a ring, as a product with its reciprocal, where that fits. By
//! secret numbers, and of numbers too wide for a ring: on planes.

use std::sync::Arc;

use tacit_math::{Plane, Ring};
use tacit_mpc::circuits::{self, Planes, Reciprocal};
use tacit_mpc::{Backend, Linear, linear};

use super::{Scope, SharedTerm, Term};
use crate::convert::{constant_planes, planes_of_width, to_kind};
use crate::error::{Result, TableError};
use crate::operator::{Call, Encoding, Function, Kind, Repr};
use crate::table::{Shares, Value};

/// What is added to a number before it is divided and rounded down.
#[derive(Clone, Copy)]
struct Offset {
    /// In every row.
    always: i128,
    /// In rows where the number is negative.
    negative: i128,
}

impl Offset {
    const NONE: Self = Self { always: 0, negative: 0 };

    /// Of a quotient by `by`, rounded as a function says.
    fn of(function: Function, by: i128) -> Self {
        match function {
            Function::Ceil => Self { always: by - 1, ..Self::NONE },
            // The middle between two numbers, which only an even divisor has, is rounded away from zero.
            Function::Round => Self { always: by / 2, negative: -i128::from(by % 2 == 0) },
            Function::Quotient | Function::Remainder => Self { negative: by - 1, ..Self::NONE },
            _ => Self::NONE,
        }
    }

    /// The bounds of numbers of a kind with what is added; None beyond 127 bits.
    fn bounds(self, kind: Kind) -> Option<(i128, i128)> {
        let low = kind.low().checked_add(self.always)?.checked_add(self.negative.min(0))?;
        let high = kind.high().checked_add(self.always)?.checked_add(self.negative.max(0))?;
        (kind.width < 127).then_some((low, high))
    }
}

impl<B: Backend> Scope<'_, B> {
    /// quotient, remainder, floor, ceil, round. Each is made once.
    pub(super) fn division(&mut self, b: &mut B, call: &Call) -> Result<Term<B>> {
        let value = match self.divided.get(call) {
            Some(value) => Arc::clone(value),
            None => {
                let value = Arc::new(self.divide(b, call)?);
                self.divided.insert(call.clone(), Arc::clone(&value));
                value
            }
        };
        Ok(Term::Shared(SharedTerm { clean: value.null.is_none(), value, column: None }))
    }

    fn divide(&mut self, b: &mut B, call: &Call) -> Result<Value<B>> {
        let terms = self.terms(b, &call.arguments)?;
        let value = match &terms[..] {
            [x] => self.with_floor(b, x, call.by, Offset::of(call.function, call.by))?.1.with(self.null(b, x)),
            [x, y] => match y.constant().and_then(|y| y.number()).filter(|&by| by > 0 && y.kind().width <= 128) {
                Some(by) => self.by_constant(b, call.function, x, by)?.with(self.null(b, x)),
                None => self.by_number(b, call, x, y)?,
            },
            _ => return Err(TableError::Internal("a division of a wrong number of arguments".into())),
        };
        to_kind(b, &value, call.kind)
    }

    /// A quotient rounded towards zero, or what it leaves.
    fn by_constant(&mut self, b: &mut B, function: Function, x: &Term<B>, by: i128) -> Result<Number<B>> {
        let signed = x.kind().signed;
        let (x, quotient) = self.with_floor(b, x, by, Offset::of(function, by))?;
        if function == Function::Quotient {
            return Ok(quotient);
        }
        let width = bits(by - 1) + usize::from(signed);
        let planes = match &x.shares {
            Shares::Ring64(x) => left(b, x, &quotient, by, width)?,
            Shares::Ring128(x) => left(b, x, &quotient, by, width)?,
            Shares::Bits(planes) => {
                let x = circuits::to_ring::<u128, B>(b, &planes[..width.min(planes.len())], x.kind.signed)?;
                left(b, &x, &quotient, by, width)?
            }
        };
        Ok(Number { planes, signed })
    }

    /// floor((x + offset) / by), and x as it was divided.
    fn with_floor(&mut self, b: &mut B, x: &Term<B>, by: i128, offset: Offset) -> Result<(Arc<Value<B>>, Number<B>)> {
        let kind = x.kind();
        let offset = if kind.signed { offset } else { Offset { negative: 0, ..offset } };
        let bounds = offset.bounds(kind);
        let reciprocal = bounds.and_then(|(low, high)| Reciprocal::new(low, high, by));
        let repr = match reciprocal {
            None => Repr::Bits,
            Some(found) if found.width() <= 64 && kind.repr != Repr::Ring128 => Repr::Ring64,
            Some(_) => Repr::Ring128,
        };
        let sign = if offset.negative == 0 { None } else { Some(self.sign(b, x)?) };
        let x = self.convert(b, x, Kind { repr, ..kind })?;
        let planes = match (&x.shares, reciprocal) {
            (Shares::Ring64(x), Some(found)) => {
                let x = moved(b, x, sign.as_ref(), offset)?;
                found.floor(b, &x)?
            }
            (Shares::Ring128(x), Some(found)) => {
                let x = moved(b, x, sign.as_ref(), offset)?;
                found.floor(b, &x)?
            }
            _ => floor_of_planes(b, &x, sign.as_ref(), by, offset)?,
        };
        let signed = bounds.is_none_or(|(low, _)| low < 0);
        Ok((x, Number { planes, signed }))
    }

    /// Where a number is negative.
    fn sign(&mut self, b: &mut B, x: &Term<B>) -> Result<B::Bits> {
        let kind = x.kind();
        let x = self.convert(b, x, kind)?;
        Ok(match &x.shares {
            Shares::Bits(planes) => planes[kind.width - 1].clone(),
            Shares::Ring64(x) => circuits::sign(b, x, kind.width)?,
            Shares::Ring128(x) => circuits::sign(b, x, kind.width)?,
        })
    }

    /// A quotient by a secret number, or what it leaves. NULL where that is 0, unless bounds exclude it.
    fn by_number(&mut self, b: &mut B, call: &Call, x: &Term<B>, y: &Term<B>) -> Result<Value<B>> {
        let mut nulls: Vec<B::Bits> = [x, y].into_iter().filter_map(|term| self.null(b, term)).collect();
        let ((x, of_x), (y, of_y)) = (self.magnitude(b, x)?, self.magnitude(b, y)?);
        if call.kind.nullable {
            let nonzero = circuits::or_all(b, self.table.rows, &y)?;
            nulls.push(b.not(&nonzero));
        }
        let null = if nulls.is_empty() { None } else { Some(circuits::or_all(b, self.table.rows, &nulls)?) };
        let [quotient, rest] = circuits::divide(b, &x, &y)?;
        let (planes, sign) = match call.function {
            Function::Remainder => (rest, of_x),
            _ => (quotient, either(of_x, of_y)),
        };
        let number = match sign {
            None => Number { planes, signed: false },
            Some(sign) => {
                let wider = circuits::resize(b, &planes, planes.len() + 1, false);
                Number { planes: negated_where(b, &sign, &wider)?, signed: true }
            }
        };
        Ok(number.with(null))
    }

    /// The planes of |x|, and where x is negative, if it may be.
    fn magnitude(&mut self, b: &mut B, x: &Term<B>) -> Result<(Planes<B>, Option<B::Bits>)> {
        let kind = Kind { repr: Repr::Bits, ..x.kind() };
        let x = self.convert(b, x, kind)?;
        let planes = planes_of_width(b, &x, kind.width)?;
        if !kind.signed {
            return Ok((planes, None));
        }
        let sign = planes[kind.width - 1].clone();
        Ok((negated_where(b, &sign, &planes)?, Some(sign)))
    }
}

/// A number on planes.
struct Number<B: Backend> {
    planes: Planes<B>,
    signed: bool,
}

impl<B: Backend> Number<B> {
    fn with(self, null: Option<B::Bits>) -> Value<B> {
        let kind = Kind { repr: Repr::Bits, width: self.planes.len(), signed: self.signed, nullable: null.is_some() };
        Value::new(kind, Encoding::Int, null, Shares::Bits(self.planes))
    }
}

/// x with what is added to it. sign: where it is negative.
fn moved<R: Ring, B: Backend>(
    b: &mut B,
    x: &B::Vector<R>,
    sign: Option<&B::Bits>,
    offset: Offset,
) -> Result<B::Vector<R>> {
    let always = b.public_vector(x.rows(), || vec![R::from_u128(offset.always as u128); x.rows()]);
    let sum = linear::add(x, &always);
    let Some(sign) = sign else { return Ok(sum) };
    let negative = b.inject::<R>(&[sign])?.swap_remove(0);
    Ok(linear::add(&sum, &linear::scale(&negative, R::from_u128(offset.negative as u128))))
}

/// floor((x + offset) / by) on planes. Of a negative x it is the complement of floor(y / by), where y is that of x.
fn floor_of_planes<B: Backend>(
    b: &mut B,
    x: &Value<B>,
    sign: Option<&B::Bits>,
    by: i128,
    offset: Offset,
) -> Result<Planes<B>> {
    let width = x.kind.width.max(bits(by)) + 2;
    let mut x = planes_of_width(b, x, width)?;
    let rows = x[0].rows();
    if (offset.always, offset.negative) != (0, 0) {
        let bit = |number: i128, j: usize| number >> j.min(127) & 1 == 1;
        let [plain, negative] = [offset.always, offset.always + offset.negative];
        let planes = constant_planes(b, rows, (0..width).map(|j| bit(plain, j)));
        let chosen = |(j, plane): (usize, B::Bits)| match sign {
            Some(sign) if bit(plain, j) != bit(negative, j) => linear::xor(&plane, sign),
            _ => plane,
        };
        let added: Planes<B> = planes.into_iter().enumerate().map(chosen).collect();
        x = circuits::add(b, &x, &added)?;
    }
    let sign = x[width - 1].clone();
    let x: Planes<B> = x[..width - 1].iter().map(|plane| linear::xor(plane, &sign)).collect();
    let by = constant_planes(b, rows, (0..bits(by)).map(|j| by >> j & 1 == 1));
    let [quotient, _] = circuits::divide(b, &x, &by)?;
    Ok(quotient.iter().map(|plane| linear::xor(plane, &sign)).chain([sign.clone()]).collect())
}

/// x - by q, of which `width` low bits are all.
fn left<R: Ring, B: Backend>(
    b: &mut B,
    x: &B::Vector<R>,
    quotient: &Number<B>,
    by: i128,
    width: usize,
) -> Result<Planes<B>> {
    let low = &quotient.planes[..width.min(quotient.planes.len())];
    let whole = low.len() == quotient.planes.len() && quotient.signed;
    let product = linear::scale(&circuits::to_ring::<R, B>(b, low, whole)?, R::from_u128(by as u128));
    Ok(circuits::to_planes(b, &linear::sub(x, &product), width)?)
}

/// The negative of a number where a bit is one: (x XOR s) + s.
fn negated_where<B: Backend>(b: &mut B, sign: &B::Bits, x: &[B::Bits]) -> Result<Planes<B>> {
    let flipped: Planes<B> = x.iter().map(|plane| linear::xor(plane, sign)).collect();
    let one = circuits::resize(b, std::slice::from_ref(sign), x.len(), false);
    Ok(circuits::add(b, &flipped, &one)?)
}

/// Which of two signs is that of a product.
fn either<P: Linear<Plane>>(x: Option<P>, y: Option<P>) -> Option<P> {
    match (x, y) {
        (Some(x), Some(y)) => Some(linear::xor(&x, &y)),
        (x, y) => x.or(y),
    }
}

/// Bits of a number that is not negative, at least one.
fn bits(number: i128) -> usize {
    (128 - number.leading_zeros() as usize).max(1)
}
