//! CASE, as nested choices by a secret bit.

use tacit_math::{Plane, Ring};
use tacit_mpc::{Backend, circuits, linear};

use super::{Scope, SharedTerm, Term};
use crate::convert::{common_kind, planes_of_width};
use crate::error::Result;
use crate::operator::{Call, Encoding, Kind, Repr};
use crate::table::{Shares, Value};

impl<B: Backend> Scope<'_, B> {
    /// if (condition, then, else). Planes are chosen as planes, whatever the result's representation: that is cheaper.
    pub(super) fn choice(&mut self, b: &mut B, call: &Call) -> Result<Term<B>> {
        let condition = self.decided(b, &call.arguments[0], true)?;
        let terms = self.terms(b, &call.arguments[1..])?;
        let (x, y) = (&terms[0], &terms[1]);
        let clean = terms.iter().all(|term| !matches!(term, Term::Shared(SharedTerm { clean: false, .. })));
        let kind = chosen_kind(x, y, call.kind);
        let nulls = [self.null(b, x), self.null(b, y)];
        let (x, y) = (self.convert(b, x, kind)?, self.convert(b, y, kind)?);
        let (shares, null) = match (&x.shares, &y.shares) {
            (Shares::Ring64(u), Shares::Ring64(v)) => {
                (Shares::Ring64(chosen_vector(b, &condition, u, v)?), self.chosen_null(b, &condition, nulls)?)
            }
            (Shares::Ring128(u), Shares::Ring128(v)) => {
                (Shares::Ring128(chosen_vector(b, &condition, u, v)?), self.chosen_null(b, &condition, nulls)?)
            }
            _ => {
                let (x, y) = (planes_of_width(b, &x, kind.width)?, planes_of_width(b, &y, kind.width)?);
                self.chosen_planes(b, &condition, x, y, nulls)?
            }
        };
        let encoding = if x.encoding == Encoding::Int { y.encoding } else { x.encoding };
        Ok(Term::computed(Value::new(kind, encoding, null, shares), clean))
    }

    /// The planes and the null plane in one round.
    fn chosen_planes(
        &self,
        b: &mut B,
        condition: &B::Bits,
        mut x: Vec<B::Bits>,
        mut y: Vec<B::Bits>,
        nulls: [Option<B::Bits>; 2],
    ) -> Result<(Shares<B>, Option<B::Bits>)> {
        let nullable = self.with_nulls(b, nulls).map(|[u, v]| {
            x.push(u);
            y.push(v);
        });
        let mut chosen = circuits::mux(b, condition, &x, &y)?;
        let null = if nullable.is_some() { chosen.pop() } else { None };
        Ok((Shares::Bits(chosen), null))
    }

    fn chosen_null(&self, b: &mut B, condition: &B::Bits, nulls: [Option<B::Bits>; 2]) -> Result<Option<B::Bits>> {
        let Some([x, y]) = self.with_nulls(b, nulls) else { return Ok(None) };
        Ok(circuits::mux(b, condition, &[x], &[y])?.pop())
    }

    /// Both null planes, if there is one.
    fn with_nulls(&self, b: &B, nulls: [Option<B::Bits>; 2]) -> Option<[B::Bits; 2]> {
        let zero = || b.public_bits(self.table.rows, || Plane::zeros(self.table.rows));
        nulls.iter().any(Option::is_some).then(|| nulls.map(|null| null.unwrap_or_else(zero)))
    }
}

/// In what a choice is made: planes if no alternative is in a ring, else the result's kind.
fn chosen_kind<B: Backend>(x: &Term<B>, y: &Term<B>, kind: Kind) -> Kind {
    let in_planes = |term: &Term<B>| term.constant().is_some() || term.kind().repr == Repr::Bits;
    let both_constant = x.constant().is_some() && y.constant().is_some();
    if kind.repr == Repr::Bits || both_constant || !(in_planes(x) && in_planes(y)) {
        return kind;
    }
    common_kind(x.kind(), y.kind())
}

/// y + condition (x - y).
fn chosen_vector<R: Ring, B: Backend>(
    b: &mut B,
    condition: &B::Bits,
    x: &B::Vector<R>,
    y: &B::Vector<R>,
) -> Result<B::Vector<R>> {
    let chosen = b.select(&[condition], &[&linear::sub(x, y)])?.swap_remove(0);
    Ok(linear::add(y, &chosen))
}
