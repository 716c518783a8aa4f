//! Expressions over one table, computed for all rows at once.
//!
//! A NULL's encoding is zero wherever a column is stored. Inside an expression it may be anything ("dirty"), so that a
//! chain of arithmetic is masked once, at its end, and not at every step.

mod arithmetic;
mod choice;
mod compare;
mod constant;
mod division;
mod logic;

pub(crate) use compare::is_zero;

use std::collections::HashMap;
use std::sync::Arc;

use tacit_math::KeyedHash;
use tacit_mpc::{Backend, circuits};

use crate::convert::to_kind;
use crate::encode::text_bits;
use crate::error::Result;
use crate::expression::constant::Constant;
use crate::mask::keep;
use crate::operator::{Call, Encoding, Expression, Function, Kind, Repr};
use crate::table::{Table, Value};

/// The columns an expression may name, with the conversions made so far.
pub(crate) struct Scope<'a, B: Backend> {
    table: &'a Table<B>,
    hash: &'a KeyedHash,
    converted: HashMap<(String, Repr), Arc<Value<B>>>,
    /// Comparisons made ahead, together with others, by the address of their call.
    compared: HashMap<*const Call, Value<B>>,
    /// Quotients and remainders made so far: each is made once.
    divided: HashMap<Call, Arc<Value<B>>>,
}

/// The value of a subexpression.
pub(crate) enum Term<B: Backend> {
    /// The same public value in every row.
    Constant(Constant),
    /// A shared value.
    Shared(SharedTerm<B>),
}

/// A shared value of a subexpression.
pub(crate) struct SharedTerm<B: Backend> {
    value: Arc<Value<B>>,
    /// Whether the encoding of a NULL is zero.
    clean: bool,
    /// The column that it is.
    column: Option<String>,
}

impl<B: Backend> Term<B> {
    fn computed(value: Value<B>, clean: bool) -> Self {
        Self::Shared(SharedTerm { clean: clean || value.null.is_none(), value: Arc::new(value), column: None })
    }

    /// Its own kind.
    fn kind(&self) -> Kind {
        match self {
            Self::Constant(constant) => constant.kind,
            Self::Shared(term) => term.value.kind,
        }
    }

    fn constant(&self) -> Option<&Constant> {
        if let Self::Constant(constant) = self { Some(constant) } else { None }
    }
}

impl<'a, B: Backend> Scope<'a, B> {
    /// The columns of a table. The hash encodes string constants.
    pub fn new(table: &'a Table<B>, hash: &'a KeyedHash) -> Self {
        Self { table, hash, converted: HashMap::new(), compared: HashMap::new(), divided: HashMap::new() }
    }

    /// The expression as a column of a kind.
    pub fn value(&mut self, b: &mut B, expression: &Expression, kind: Kind) -> Result<Arc<Value<B>>> {
        let term = self.term(b, expression)?;
        let clean = self.clean(b, term)?;
        self.convert(b, &clean, kind)
    }

    /// The expression in whatever representation it comes.
    fn term(&mut self, b: &mut B, expression: &Expression) -> Result<Term<B>> {
        Ok(match expression {
            Expression::Column(name) => {
                let value = Arc::clone(self.table.value(name)?);
                Term::Shared(SharedTerm { value, clean: true, column: Some(name.clone()) })
            }
            Expression::Integer { bits, kind, .. } => Term::Constant(Constant::new(bits.clone(), Encoding::Int, *kind)),
            Expression::Text { text, encoding, kind } => {
                Term::Constant(Constant::new(text_bits(text, *encoding, *kind, self.hash)?, *encoding, *kind))
            }
            Expression::Null(kind) => Term::Constant(Constant::null(*kind)),
            Expression::Call(call) => self.call(b, call)?,
        })
    }

    fn terms(&mut self, b: &mut B, expressions: &[Expression]) -> Result<Vec<Term<B>>> {
        expressions.iter().map(|expression| self.term(b, expression)).collect()
    }

    fn call(&mut self, b: &mut B, call: &Call) -> Result<Term<B>> {
        match call.function {
            Function::Add | Function::Sub | Function::Mul | Function::Neg | Function::Scale => self.arithmetic(b, call),
            Function::Quotient | Function::Remainder | Function::Floor | Function::Ceil | Function::Round => {
                self.division(b, call)
            }
            Function::Eq | Function::Ne | Function::Lt | Function::Le | Function::Gt | Function::Ge => {
                self.comparison(b, call)
            }
            Function::And | Function::Or | Function::Not => self.logic(b, call),
            Function::IsNull => {
                let term = self.term(b, &call.arguments[0])?;
                Ok(self.is_null(b, &term))
            }
            Function::If => self.choice(b, call),
            Function::Convert => {
                let term = self.term(b, &call.arguments[0])?;
                let clean = matches!(&term, Term::Constant(_)) || matches!(&term, Term::Shared(term) if term.clean);
                let value = self.convert(b, &term, call.kind)?;
                Ok(Term::Shared(SharedTerm { value, clean, column: None }))
            }
        }
    }

    /// A term in another kind. A column's conversion to another representation is made once.
    fn convert(&mut self, b: &mut B, term: &Term<B>, kind: Kind) -> Result<Arc<Value<B>>> {
        let term = match term {
            Term::Constant(constant) => return constant.value(b, self.table.rows, kind).map(Arc::new),
            Term::Shared(term) => term,
        };
        let value = match (&term.column, term.value.kind.repr == kind.repr) {
            (_, true) => Arc::clone(&term.value),
            (None, false) => Arc::new(to_kind(b, &term.value, kind)?),
            (Some(column), false) => self.converted(b, column, &term.value, kind)?,
        };
        let same_planes = (value.kind.width, value.kind.signed) == (kind.width, kind.signed);
        if kind.repr != Repr::Bits || same_planes { Ok(value) } else { Ok(Arc::new(to_kind(b, &value, kind)?)) }
    }

    fn converted(&mut self, b: &mut B, column: &str, value: &Value<B>, kind: Kind) -> Result<Arc<Value<B>>> {
        let key = (column.to_owned(), kind.repr);
        if let Some(value) = self.converted.get(&key) {
            return Ok(Arc::clone(value));
        }
        let full = Kind { width: value.kind.width, signed: value.kind.signed, ..kind };
        let value = Arc::new(to_kind(b, value, full)?);
        self.converted.insert(key, Arc::clone(&value));
        Ok(value)
    }

    /// The term with zeros where it is NULL.
    fn clean(&mut self, b: &mut B, term: Term<B>) -> Result<Term<B>> {
        match term {
            Term::Shared(SharedTerm { value, clean: false, .. }) => {
                let Value { kind, encoding, null: Some(null), shares } = &*value else { return Ok(shared(value)) };
                let present = b.not(null);
                let shares = keep(b, &present, shares)?;
                Ok(Term::computed(Value::new(*kind, *encoding, Some(null.clone()), shares), true))
            }
            clean => Ok(clean),
        }
    }

    /// Where any of several terms is NULL.
    fn any_null(&self, b: &mut B, terms: &[&Term<B>]) -> Result<Option<B::Bits>> {
        let nulls: Vec<B::Bits> = terms.iter().filter_map(|term| self.null(b, term)).collect();
        match nulls.len() {
            0 => Ok(None),
            _ => Ok(Some(circuits::or_all(b, self.table.rows, &nulls)?)),
        }
    }

    /// Where a term is NULL.
    fn null(&self, b: &B, term: &Term<B>) -> Option<B::Bits> {
        match term {
            Term::Constant(constant) => constant.null_plane(b, self.table.rows),
            Term::Shared(term) => term.value.null.clone(),
        }
    }
}

fn shared<B: Backend>(value: Arc<Value<B>>) -> Term<B> {
    Term::Shared(SharedTerm { value, clean: true, column: None })
}
