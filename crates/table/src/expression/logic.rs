//! Three-valued logic. A clean truth value with bits (true, null) is false exactly where neither is set, so its
//! complement is local: not_false = true xor null.

use tacit_math::Plane;
use tacit_mpc::{Backend, circuits, linear};

use super::{Scope, Term};
use crate::convert::planes;
use crate::error::Result;
use crate::operator::{Call, Expression, Function, Kind};
use crate::table::Value;

/// A clean three-valued truth value. Without a null bit it is never NULL.
struct Truth<B: Backend> {
    yes: B::Bits,
    null: Option<B::Bits>,
}

impl<B: Backend> Truth<B> {
    fn not_false(&self) -> B::Bits {
        match &self.null {
            Some(null) => linear::xor(&self.yes, null),
            None => self.yes.clone(),
        }
    }
}

impl<B: Backend> Scope<'_, B> {
    /// Where a predicate is TRUE. Cheaper than its value, since it needs no null bits of AND and OR.
    pub fn is_true(&mut self, b: &mut B, predicate: &Expression) -> Result<B::Bits> {
        self.compare_ahead(b, &[predicate])?;
        self.decided(b, predicate, true)
    }

    /// Where a predicate is TRUE, or where it is FALSE.
    pub(super) fn decided(&mut self, b: &mut B, predicate: &Expression, as_what: bool) -> Result<B::Bits> {
        if let Expression::Call(call) = predicate {
            let function = call.function;
            if function == Function::Not {
                return self.decided(b, &call.arguments[0], !as_what);
            }
            if matches!(function, Function::And | Function::Or) {
                let parts =
                    call.arguments.iter().map(|part| self.decided(b, part, as_what)).collect::<Result<Vec<_>>>()?;
                let all = (function == Function::And) == as_what;
                let rows = self.table.rows;
                return Ok(if all { circuits::and_all(b, rows, parts)? } else { circuits::or_all(b, rows, &parts)? });
            }
        }
        let truth = self.truth(b, predicate)?;
        Ok(if as_what { truth.yes } else { b.not(&truth.not_false()) })
    }

    /// and, or, not.
    pub(super) fn logic(&mut self, b: &mut B, call: &Call) -> Result<Term<B>> {
        let mut parts = call.arguments.iter().map(|part| self.truth(b, part)).collect::<Result<Vec<_>>>()?;
        let truth = match call.function {
            Function::Not => {
                let part = parts.swap_remove(0);
                Truth { yes: b.not(&part.not_false()), null: part.null }
            }
            function => self.connected(b, &parts, function == Function::And)?,
        };
        Ok(Term::computed(Value::truth(truth.yes, truth.null), true))
    }

    /// Conjunction or disjunction. The planes "true" and "not false" are connected one by one, in the same rounds.
    fn connected(&self, b: &mut B, parts: &[Truth<B>], all: bool) -> Result<Truth<B>> {
        let rows = self.table.rows;
        let mut columns: Vec<B::Bits> = parts.iter().map(|part| part.yes.clone()).collect();
        let nullable = parts.iter().any(|part| part.null.is_some());
        if !nullable {
            let yes = if all { circuits::and_all(b, rows, columns)? } else { circuits::or_all(b, rows, &columns)? };
            return Ok(Truth { yes, null: None });
        }
        let not_false: Vec<B::Bits> = parts.iter().map(Truth::not_false).collect();
        columns =
            columns.iter().zip(&not_false).map(|(yes, not_false)| linear::concat_bits(&[yes, not_false])).collect();
        let both =
            if all { circuits::and_all(b, 2 * rows, columns)? } else { circuits::or_all(b, 2 * rows, &columns)? };
        let yes = crate::table::slice_bits::<B>(&both, 0, rows);
        let not_false = crate::table::slice_bits::<B>(&both, rows, rows);
        Ok(Truth { null: Some(linear::xor(&yes, &not_false)), yes })
    }

    fn truth(&mut self, b: &mut B, predicate: &Expression) -> Result<Truth<B>> {
        let term = self.term(b, predicate)?;
        let term = self.clean(b, term)?;
        let value = self.convert(b, &term, Kind::TRUTH)?;
        let yes = planes(b, &value)?.swap_remove(0);
        Ok(Truth { yes, null: value.null.clone() })
    }

    pub(super) fn is_null(&self, b: &B, term: &Term<B>) -> Term<B> {
        let rows = self.table.rows;
        let null = self.null(b, term).unwrap_or_else(|| b.public_bits(rows, || Plane::zeros(rows)));
        Term::computed(Value::truth(null, None), true)
    }
}
