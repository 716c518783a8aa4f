//! Public constants.

use tacit_math::Plane;
use tacit_mpc::Backend;

use crate::convert::constant_planes;
use crate::error::Result;
use crate::operator::{Encoding, Kind, Repr};
use crate::table::{Shares, Value};
use crate::wrong_input::WrongInput;

/// The same public value in every row.
pub(crate) struct Constant {
    /// Its kind.
    pub kind: Kind,
    encoding: Encoding,
    /// The encoding, `kind.width` bits, least significant first; all zero for NULL.
    bits: Vec<bool>,
}

impl Constant {
    /// A constant of given bits, `kind.width` of them.
    pub fn new(bits: Vec<bool>, encoding: Encoding, kind: Kind) -> Self {
        Self { kind: Kind { nullable: false, ..kind }, encoding, bits }
    }

    /// NULL of a kind.
    pub fn null(kind: Kind) -> Self {
        Self { kind: Kind { nullable: true, ..kind }, encoding: Encoding::Int, bits: vec![false; kind.width] }
    }

    /// Ones in every row for NULL, otherwise nothing.
    pub fn null_plane<B: Backend>(&self, b: &B, rows: usize) -> Option<B::Bits> {
        self.kind.nullable.then(|| b.public_bits(rows, || Plane::ones(rows)))
    }

    /// The number; None if it is NULL.
    pub fn number(&self) -> Option<i128> {
        if self.kind.nullable {
            None
        } else {
            Some((0..128).fold(0, |number, j| number | i128::from(self.bit(j)) << j))
        }
    }

    /// A bit of the infinite two's complement.
    fn bit(&self, j: usize) -> bool {
        match self.bits.get(j) {
            Some(&bit) => bit,
            None => self.kind.signed && self.bits[self.bits.len() - 1],
        }
    }

    /// The constant in every row, in a kind. Local.
    pub fn value<B: Backend>(&self, b: &B, rows: usize, kind: Kind) -> Result<Value<B>> {
        let number = self.number().unwrap_or_default();
        let shares = match kind.repr {
            Repr::Bits => Shares::Bits(constant_planes(b, rows, self.bits_of_width(kind.width))),
            _ if self.kind.width > 128 => {
                return Err(WrongInput::NoNumber.into());
            }
            Repr::Ring64 => Shares::Ring64(b.public_vector(rows, || vec![number as u64; rows])),
            Repr::Ring128 => Shares::Ring128(b.public_vector(rows, || vec![number as u128; rows])),
        };
        Ok(Value::new(kind, self.encoding, self.null_plane(b, rows), shares))
    }

    /// As many bits as asked for. Strings are padded behind their last byte.
    fn bits_of_width(&self, width: usize) -> impl Iterator<Item = bool> {
        let behind = if self.encoding == Encoding::Bytes { width as isize - self.bits.len() as isize } else { 0 };
        (0..width as isize).map(move |j| usize::try_from(j - behind).is_ok_and(|j| self.bit(j)))
    }
}
