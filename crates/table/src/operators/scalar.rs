//! `broadcast`: the columns of a table of one row beside every row of another.

use tacit_math::Plane;
use tacit_mpc::Backend;

use crate::convert::{constant_planes, repeat};
use crate::error::Result;
use crate::mask::keep;
use crate::operator::Repr;
use crate::table::{Column, Shares, Table, Value};
use crate::wrong_input::WrongInput;

/// All columns of input, then those of scalar. A scalar without a row, or whose row is not valid, is NULL.
pub(crate) fn broadcast<B: Backend>(b: &mut B, input: &Table<B>, scalar: &Table<B>) -> Result<Table<B>> {
    if scalar.rows > 1 {
        return Err(WrongInput::ScalarRows { rows: scalar.rows }.into());
    }
    let mut columns = input.columns.clone();
    for column in &scalar.columns {
        let value = match &scalar.valid {
            _ if scalar.rows == 0 => null_of(b, &column.value),
            Some(valid) => null_unless(b, valid, &column.value)?,
            None => Value::clone(&column.value),
        };
        columns.push(Column::new(&column.name, repeat(&value, input.rows)));
    }
    Ok(Table { rows: input.rows, valid: input.valid.clone(), columns, order: input.order.clone() })
}

/// The value where the bit is one, NULL elsewhere.
fn null_unless<B: Backend>(b: &mut B, bit: &B::Bits, value: &Value<B>) -> Result<Value<B>> {
    let null = match &value.null {
        None => b.not(bit),
        Some(null) => {
            let present = b.not(null);
            let both = b.and(&[bit], &[&present])?.swap_remove(0);
            b.not(&both)
        }
    };
    let shares = keep(b, bit, &value.shares)?;
    Ok(Value::new(value.kind, value.encoding, Some(null), shares))
}

/// One row of NULL. Local.
fn null_of<B: Backend>(b: &B, like: &Value<B>) -> Value<B> {
    let shares = match like.kind.repr {
        Repr::Bits => Shares::Bits(constant_planes(b, 1, (0..like.kind.width).map(|_| false))),
        Repr::Ring64 => Shares::Ring64(b.public_vector(1, || vec![0])),
        Repr::Ring128 => Shares::Ring128(b.public_vector(1, || vec![0])),
    };
    let null = b.public_bits(1, || Plane::ones(1));
    Value::new(like.kind, like.encoding, Some(null), shares)
}
