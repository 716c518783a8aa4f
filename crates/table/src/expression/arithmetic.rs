//! Sums and products. Rings are where they are cheap; planes stay planes for sums.

use tacit_math::Ring;
use tacit_mpc::{Backend, circuits, linear};

use super::{Scope, SharedTerm, Term};
use crate::convert::{planes_of_width, to_kind};
use crate::error::{Result, TableError};
use crate::operator::{Call, Encoding, Function, Kind, Repr};
use crate::table::{Shares, Value};
use crate::wrong_input::WrongInput;

impl<B: Backend> Scope<'_, B> {
    /// add, sub, mul, neg, scale.
    pub(super) fn arithmetic(&mut self, b: &mut B, call: &Call) -> Result<Term<B>> {
        let terms = self.terms(b, &call.arguments)?;
        match (call.function, &terms[..]) {
            (Function::Neg, [x]) => self.scaled(b, x, -1, call.kind),
            (Function::Scale, [x]) => self.scaled(b, x, call.by, call.kind),
            (Function::Mul, [x, y]) => {
                match (x.constant().and_then(|c| c.number()), y.constant().and_then(|c| c.number())) {
                    (_, Some(factor)) => self.scaled(b, x, factor, call.kind),
                    (Some(factor), _) => self.scaled(b, y, factor, call.kind),
                    _ => self.product(b, x, y, call.kind),
                }
            }
            (function, [x, y]) => self.sum(b, x, y, function == Function::Sub, call.kind),
            _ => Err(TableError::Internal("a function of a wrong number of arguments".into())),
        }
    }

    fn sum(&mut self, b: &mut B, x: &Term<B>, y: &Term<B>, subtract: bool, kind: Kind) -> Result<Term<B>> {
        let null = self.any_null(b, &[x, y])?;
        let (x, y) = (self.convert(b, x, kind)?, self.convert(b, y, kind)?);
        let shares = match (&x.shares, &y.shares) {
            (Shares::Ring64(x), Shares::Ring64(y)) => {
                Shares::Ring64(if subtract { linear::sub(x, y) } else { linear::add(x, y) })
            }
            (Shares::Ring128(x), Shares::Ring128(y)) => {
                Shares::Ring128(if subtract { linear::sub(x, y) } else { linear::add(x, y) })
            }
            _ => {
                let (mut x, y) = (planes_of_width(b, &x, kind.width)?, planes_of_width(b, &y, kind.width)?);
                // x - y = not(not(x) + y)
                if subtract {
                    x = x.iter().map(|plane| b.not(plane)).collect();
                }
                let sum = circuits::add(b, &x, &y)?;
                Shares::Bits(if subtract { sum.iter().map(|plane| b.not(plane)).collect() } else { sum })
            }
        };
        Ok(Term::computed(Value::new(kind, Encoding::Int, null, shares), false))
    }

    fn product(&mut self, b: &mut B, x: &Term<B>, y: &Term<B>, kind: Kind) -> Result<Term<B>> {
        let null = self.any_null(b, &[x, y])?;
        let clean = [x, y].iter().all(|term| !matches!(term, Term::Shared(SharedTerm { clean: false, .. })));
        let ring = ring_kind(kind)?;
        let (x, y) = (self.convert(b, x, ring)?, self.convert(b, y, ring)?);
        let shares = match (&x.shares, &y.shares) {
            (Shares::Ring64(x), Shares::Ring64(y)) => Shares::Ring64(b.mul(&[x], &[y])?.swap_remove(0)),
            (Shares::Ring128(x), Shares::Ring128(y)) => Shares::Ring128(b.mul(&[x], &[y])?.swap_remove(0)),
            _ => return Err(TableError::Internal("a product outside of a ring".into())),
        };
        let product = Value::new(ring, Encoding::Int, null, shares);
        Ok(Term::computed(to_kind(b, &product, kind)?, clean))
    }

    /// A product with a public constant: local in a ring.
    fn scaled(&mut self, b: &mut B, x: &Term<B>, factor: i128, kind: Kind) -> Result<Term<B>> {
        let clean = !matches!(x, Term::Shared(SharedTerm { clean: false, .. }));
        let x = self.convert(b, x, ring_kind(kind)?)?;
        let shares = match &x.shares {
            Shares::Ring64(x) => Shares::Ring64(linear::scale(x, u64::from_u128(factor as u128))),
            Shares::Ring128(x) => Shares::Ring128(linear::scale(x, factor as u128)),
            Shares::Bits(_) => return Err(TableError::Internal("a product outside of a ring".into())),
        };
        let product = Value::new(x.kind, Encoding::Int, x.null.clone(), shares);
        let product = Value { kind: Kind { width: kind.width, signed: kind.signed, ..product.kind }, ..product };
        Ok(Term::computed(to_kind(b, &product, kind)?, clean))
    }
}

/// The kind itself, or the smallest ring that holds it.
fn ring_kind(kind: Kind) -> Result<Kind> {
    match kind.repr {
        Repr::Bits if kind.width <= 64 => Ok(Kind { repr: Repr::Ring64, ..kind }),
        Repr::Bits if kind.width <= 128 => Ok(Kind { repr: Repr::Ring128, ..kind }),
        Repr::Bits => Err(WrongInput::ProductWidth { width: kind.width }.into()),
        _ => Ok(kind),
    }
}
