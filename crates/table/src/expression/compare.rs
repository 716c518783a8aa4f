//! Comparisons. Between ring elements: the sign of the difference, or whether it is zero. Otherwise on planes.
//!
//! The comparisons of an expression that do not wait for each other are made at once, those of one kind as one long
//! column.

use std::sync::Arc;

use tacit_math::Ring;
use tacit_mpc::circuits::{self, Planes};
use tacit_mpc::{Backend, Linear, linear};

use super::{Scope, Term};
use crate::convert::{common_kind, planes_of_width};
use crate::error::Result;
use crate::operator::{Call, Expression, Function, Kind, Repr};
use crate::table::{Shares, Value, slice_bits};

/// One of the two comparisons to which all are reduced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relation {
    Equal,
    Less,
}

/// A comparison whose operands are there, of one kind.
struct Pending<B: Backend> {
    relation: Relation,
    kind: Kind,
    x: Arc<Value<B>>,
    y: Arc<Value<B>>,
}

impl<B: Backend> Scope<'_, B> {
    /// eq, ne, lt, le, gt, ge.
    pub(super) fn comparison(&mut self, b: &mut B, call: &Call) -> Result<Term<B>> {
        self.compare(b, &[call])?;
        let lost = || crate::error::TableError::Internal("a comparison was not made".into());
        let truth = self.compared.remove(&std::ptr::from_ref(call)).ok_or_else(lost)?;
        Ok(Term::computed(truth, false))
    }

    /// Makes all comparisons in expressions that do not wait for another one.
    pub fn compare_ahead(&mut self, b: &mut B, expressions: &[&Expression]) -> Result<()> {
        let mut calls = Vec::new();
        expressions.iter().for_each(|expression| ready_comparisons(expression, &mut calls));
        self.compare(b, &calls)
    }

    /// Makes comparisons that were not made ahead.
    fn compare(&mut self, b: &mut B, calls: &[&Call]) -> Result<()> {
        let (mut pending, mut nulls) = (Vec::new(), Vec::new());
        let open = |call: &&&Call| !self.compared.contains_key(&std::ptr::from_ref(**call));
        let calls: Vec<&Call> = calls.iter().filter(open).copied().collect();
        for call in &calls {
            let terms = self.terms(b, &call.arguments)?;
            nulls.push(self.any_null(b, &[&terms[0], &terms[1]])?);
            pending.push(self.pending(b, call.function, &terms[0], &terms[1])?);
        }
        let mut open: Vec<usize> = (0..pending.len()).collect();
        while let Some(&first) = open.first() {
            let like_first =
                |&i: &usize| pending[i].relation == pending[first].relation && pending[i].kind == pending[first].kind;
            let (alike, others): (Vec<usize>, Vec<usize>) = open.into_iter().partition(like_first);
            let bits = related(b, self.table.rows, &alike.iter().map(|&i| &pending[i]).collect::<Vec<_>>())?;
            for (i, holds) in alike.into_iter().zip(bits) {
                let negated = matches!(calls[i].function, Function::Ne | Function::Le | Function::Ge);
                let bit = if negated { b.not(&holds) } else { holds };
                self.compared.insert(std::ptr::from_ref(calls[i]), Value::truth(bit, nulls[i].take()));
            }
            open = others;
        }
        Ok(())
    }

    fn pending(&mut self, b: &mut B, function: Function, x: &Term<B>, y: &Term<B>) -> Result<Pending<B>> {
        let (x, y) = if matches!(function, Function::Gt | Function::Le) { (y, x) } else { (x, y) };
        let relation = if matches!(function, Function::Eq | Function::Ne) { Relation::Equal } else { Relation::Less };
        let common = common_kind(x.kind(), y.kind());
        let kind = Kind { repr: common_repr(x, y, common.width), ..common };
        Ok(Pending { relation, kind, x: self.convert(b, x, kind)?, y: self.convert(b, y, kind)? })
    }
}

/// The comparisons in an expression whose operands need no other comparison.
fn ready_comparisons<'e>(expression: &'e Expression, out: &mut Vec<&'e Call>) {
    let Expression::Call(call) = expression else { return };
    let before = out.len();
    call.arguments.iter().for_each(|part| ready_comparisons(part, out));
    if out.len() == before && is_comparison(call.function) {
        out.push(call);
    }
}

fn is_comparison(function: Function) -> bool {
    matches!(function, Function::Eq | Function::Ne | Function::Lt | Function::Le | Function::Gt | Function::Ge)
}

/// The outcomes of comparisons of one relation and one kind, computed as one of as many times the rows.
fn related<B: Backend>(b: &mut B, rows: usize, pairs: &[&Pending<B>]) -> Result<Vec<B::Bits>> {
    let Some(Pending { relation, kind, .. }) = pairs.first() else { return Ok(vec![]) };
    let (mut r64, mut r128) = (Vec::new(), Vec::new());
    for pair in pairs {
        match (&pair.x.shares, &pair.y.shares) {
            (Shares::Ring64(x), Shares::Ring64(y)) => r64.push(linear::sub(x, y)),
            (Shares::Ring128(x), Shares::Ring128(y)) => r128.push(linear::sub(x, y)),
            _ => {}
        }
    }
    let bits = if !r64.is_empty() {
        of_difference(b, *relation, &linear::concat_vectors(&r64.iter().collect::<Vec<_>>()), kind.width)?
    } else if !r128.is_empty() {
        of_difference(b, *relation, &linear::concat_vectors(&r128.iter().collect::<Vec<_>>()), kind.width)?
    } else {
        let (x, y) = (long_planes(b, pairs, |pair| &pair.x)?, long_planes(b, pairs, |pair| &pair.y)?);
        match relation {
            Relation::Equal => circuits::equal(b, rows * pairs.len(), &x, &y)?,
            Relation::Less => circuits::less_than(b, &x, &y, kind.signed)?,
        }
    };
    Ok((0..pairs.len()).map(|k| slice_bits::<B>(&bits, k * rows, rows)).collect())
}

/// One side of all pairs, one below the other.
fn long_planes<B: Backend>(
    b: &mut B,
    pairs: &[&Pending<B>],
    side: impl Fn(&Pending<B>) -> &Arc<Value<B>>,
) -> Result<Planes<B>> {
    let width = pairs[0].kind.width;
    let columns = pairs.iter().map(|pair| planes_of_width(b, side(pair), width)).collect::<Result<Vec<_>>>()?;
    Ok((0..width).map(|j| linear::concat_bits(&columns.iter().map(|c| &c[j]).collect::<Vec<_>>())).collect())
}

/// A ring if both sides are of it (constants are of any) and it holds the difference; otherwise planes.
fn common_repr<B: Backend>(x: &Term<B>, y: &Term<B>, width: usize) -> Repr {
    let repr = |term: &Term<B>| if term.constant().is_some() { None } else { Some(term.kind().repr) };
    let both = match (repr(x), repr(y)) {
        (Some(x), Some(y)) if x != y => Repr::Bits,
        (x, y) => x.or(y).unwrap_or(Repr::Bits),
    };
    match both {
        Repr::Ring64 if width < 64 => Repr::Ring64,
        Repr::Ring128 if width < 128 => Repr::Ring128,
        _ => Repr::Bits,
    }
}

/// From d = x - y, for numbers of `width` bits: whether d is zero, or whether its bit `width`, its sign, is one.
fn of_difference<R: Ring, B: Backend>(
    b: &mut B,
    relation: Relation,
    difference: &B::Vector<R>,
    width: usize,
) -> Result<B::Bits> {
    if relation == Relation::Equal {
        return is_zero(b, difference, width);
    }
    Ok(circuits::sign(b, difference, width + 1)?)
}

/// Where a number is zero modulo 2^width: exactly where x - 1 = s + t has s = not(t) in all of its low bits.
/// width - 1 ANDs, 1 + log2(width) rounds, and no adder.
pub(crate) fn is_zero<R: Ring, B: Backend>(b: &mut B, x: &B::Vector<R>, width: usize) -> Result<B::Bits> {
    let rows = x.rows();
    let one = b.public_vector(rows, || vec![R::ONE; rows]);
    let summands = b.summands(&[&linear::sub(x, &one)], width)?;
    let [s, t] = &summands[0];
    let opposite = s.iter().zip(t).map(|(s, t)| linear::xor(s, t)).collect();
    Ok(circuits::and_all(b, rows, opposite)?)
}
