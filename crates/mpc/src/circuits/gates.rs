//! Gates, which circuits are written in.

use std::collections::HashSet;
use std::convert::Infallible;

use crate::{Backend, MpcError, Result, linear};

/// Gates on wires of one kind: shared planes of an engine, wires of a circuit that will be garbled, or wires of which
/// only the gates are counted.
pub trait Gates {
    /// What gates are between.
    type Wire: Clone;
    /// Why a gate may fail.
    type Error;

    /// x XOR y.
    fn xor(&mut self, x: &Self::Wire, y: &Self::Wire) -> Self::Wire;

    /// out[k] = x[k] XOR y[k].
    fn xor_all(&mut self, x: &[&Self::Wire], y: &[&Self::Wire]) -> Vec<Self::Wire> {
        x.iter().zip(y).map(|(x, y)| self.xor(x, y)).collect()
    }

    /// The complement of x.
    fn not(&mut self, x: &Self::Wire) -> Self::Wire;

    /// out[k] = (x[k] AND y[k]) XOR base[k], where there is one: one level of ANDs.
    ///
    /// # Errors
    /// That of the gates.
    fn and_xor(
        &mut self,
        x: &[&Self::Wire],
        y: &[&Self::Wire],
        base: &[Option<&Self::Wire>],
    ) -> Result<Vec<Self::Wire>, Self::Error>;

    /// out[k] = x[k] AND y[k]: one level of ANDs.
    ///
    /// # Errors
    /// That of the gates.
    fn and(&mut self, x: &[&Self::Wire], y: &[&Self::Wire]) -> Result<Vec<Self::Wire>, Self::Error> {
        self.and_xor(x, y, &vec![None; x.len()])
    }
}

impl<B: Backend> Gates for B {
    type Wire = B::Bits;
    type Error = MpcError;

    fn xor(&mut self, x: &B::Bits, y: &B::Bits) -> B::Bits {
        linear::xor(x, y)
    }

    fn xor_all(&mut self, x: &[&B::Bits], y: &[&B::Bits]) -> Vec<B::Bits> {
        linear::xor_all(x, y)
    }

    fn not(&mut self, x: &B::Bits) -> B::Bits {
        Backend::not(self, x)
    }

    fn and_xor(&mut self, x: &[&B::Bits], y: &[&B::Bits], base: &[Option<&B::Bits>]) -> Result<Vec<B::Bits>, MpcError> {
        Backend::and_xor(self, x, y, base)
    }

    fn and(&mut self, x: &[&B::Bits], y: &[&B::Bits]) -> Result<Vec<B::Bits>, MpcError> {
        Backend::and(self, x, y)
    }
}

/// The ANDs of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Levels of them: rounds.
    pub levels: usize,
    /// All of them; those on one level with the same first factor count once.
    pub ands: usize,
}

/// A wire of which nothing is known. It has a size, so that each has an address of its own.
#[derive(Clone)]
pub struct Blank(#[expect(dead_code, reason = "an address is all that is looked at")] u8);

impl Blank {
    /// New wires.
    pub fn wires(count: usize) -> Vec<Self> {
        vec![Self(0); count]
    }
}

impl Gates for Counts {
    type Wire = Blank;
    type Error = Infallible;

    fn xor(&mut self, _x: &Blank, _y: &Blank) -> Blank {
        Blank(0)
    }

    fn not(&mut self, _x: &Blank) -> Blank {
        Blank(0)
    }

    fn and_xor(&mut self, x: &[&Blank], _y: &[&Blank], _base: &[Option<&Blank>]) -> Result<Vec<Blank>, Infallible> {
        self.levels += 1;
        self.ands += x.iter().map(|&factor| std::ptr::from_ref(factor)).collect::<HashSet<_>>().len();
        Ok(Blank::wires(x.len()))
    }
}
