//! The value of another row of the partition.

use tacit_math::{Plane, Ring};
use tacit_mpc::{Backend, Linear, circuits, linear};

use super::frames::{Copied, Copies, Copy, Edge, Ordered, Position};
use super::neighbours::moved_value;
use crate::error::{Result, TableError};
use crate::mask::keep;
use crate::operator::Frame;
use crate::table::{Shares, Value};

/// What a row has in whose partition there is no row at the distance.
pub(crate) enum Otherwise<B: Backend> {
    /// NULL.
    Null,
    /// Its own value of another column, of the same kind.
    Own(Value<B>),
    /// That of the first or last row of the partition.
    Copied(Copy),
}

enum Look<B: Backend> {
    /// At a first or last row.
    Copied(Copy),
    /// At a row at this distance behind.
    Near { value: Value<B>, by: isize, otherwise: Otherwise<B> },
}

/// A value of another row. needs: NULL where there is no row at this distance behind in the partition.
pub(crate) struct Picked<B: Backend> {
    look: Look<B>,
    needs: Option<isize>,
}

impl<B: Backend> Picked<B> {
    /// That of the row at this distance behind.
    pub fn near(value: Value<B>, by: isize, otherwise: Otherwise<B>) -> Self {
        Self { look: Look::Near { value, by, otherwise }, needs: None }
    }

    /// That at a bound of a frame; NULL where the frame has no row.
    pub fn of_frame(value: Value<B>, at: Position, frame: Frame, copies: &mut Copies<B>) -> Self {
        let needs = frame.needs();
        let look = match at {
            Position::First => Look::Copied(copies.value(Edge::First, value)),
            Position::Last => Look::Copied(copies.value(Edge::Last, value)),
            Position::FirstPeer => Look::Copied(copies.value(Edge::FirstPeer, value)),
            Position::LastPeer => Look::Copied(copies.value(Edge::LastPeer, value)),
            Position::Row(by) if by == 0 || needs == Some(by) => {
                return Self::near(value, by, Otherwise::Null);
            }
            Position::Row(by) => {
                let edge = if by < 0 { Edge::First } else { Edge::Last };
                let otherwise = Otherwise::Copied(copies.value(edge, value.clone()));
                Look::Near { value, by, otherwise }
            }
        };
        Self { look, needs }
    }

    /// The column, once other rows' values are there.
    pub fn finish(self, b: &mut B, ordered: &mut Ordered<B>, copied: &Copied<B>) -> Result<Value<B>> {
        let found = match self.look {
            Look::Copied(copy) => copied.value(copy).clone(),
            Look::Near { value, by: 0, .. } => value,
            Look::Near { value, by, otherwise } => {
                let (there, moved) = (ordered.partition.within(b, by)?, moved_value(&value, by));
                match otherwise {
                    Otherwise::Null => only_where(b, &there, &moved)?,
                    Otherwise::Own(own) => chosen(b, &there, &moved, &own)?,
                    Otherwise::Copied(copy) => chosen(b, &there, &moved, copied.value(copy))?,
                }
            }
        };
        match self.needs {
            None => Ok(found),
            Some(by) => {
                let there = ordered.partition.within(b, by)?;
                only_where(b, &there, &found)
            }
        }
    }
}

/// The value where a bit is one, NULL elsewhere.
fn only_where<B: Backend>(b: &mut B, bit: &B::Bits, x: &Value<B>) -> Result<Value<B>> {
    let shares = keep(b, bit, &x.shares)?;
    let present = match &x.null {
        None => bit.clone(),
        Some(null) => {
            let filled = b.not(null);
            b.and(&[bit], &[&filled])?.swap_remove(0)
        }
    };
    Ok(Value::new(x.kind, x.encoding, Some(b.not(&present)), shares))
}

/// x where a bit is one, else y. Both are of one kind, but for NULLs.
fn chosen<B: Backend>(b: &mut B, bit: &B::Bits, x: &Value<B>, y: &Value<B>) -> Result<Value<B>> {
    let shares = match (&x.shares, &y.shares) {
        (Shares::Bits(x), Shares::Bits(y)) => Shares::Bits(circuits::mux(b, bit, x, y)?),
        (Shares::Ring64(x), Shares::Ring64(y)) => Shares::Ring64(chosen_numbers(b, bit, x, y)?),
        (Shares::Ring128(x), Shares::Ring128(y)) => Shares::Ring128(chosen_numbers(b, bit, x, y)?),
        _ => return Err(TableError::Internal("alternatives of two kinds".into())),
    };
    let rows = bit.rows();
    let zero = || b.public_bits(rows, || Plane::zeros(rows));
    let nulls = [&x.null, &y.null];
    let null = match nulls.iter().any(|null| null.is_some()) {
        false => None,
        true => {
            let [u, v] = nulls.map(|null| null.clone().unwrap_or_else(zero));
            circuits::mux(b, bit, &[u], &[v])?.pop()
        }
    };
    Ok(Value::new(x.kind, x.encoding, null, shares))
}

/// y + bit (x - y).
fn chosen_numbers<R: Ring, B: Backend>(
    b: &mut B,
    bit: &B::Bits,
    x: &B::Vector<R>,
    y: &B::Vector<R>,
) -> Result<B::Vector<R>> {
    let difference = b.select(&[bit], &[&linear::sub(x, y)])?.swap_remove(0);
    Ok(linear::add(y, &difference))
}
