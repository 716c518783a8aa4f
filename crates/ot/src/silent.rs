//! Silent correlations: pseudorandom vectors of correlated OT and VOLE from traffic that grows with the logarithm of
//! their length.
//!
//! A few correlated OTs are stretched in two steps. **Trees** ([`tree`]) turn h of them into a vector of 2^h blocks of
//! which the receiver lacks one: a correlation whose scalars are zero but for one secret position. **Compression**
//! ([`tacit_math::code`]) of hundreds of such vectors, laid end to end, gives half as many correlations whose scalars
//! look random. That they do is the dual form of the assumption of learning parity with (regular) noise. [`noise`]
//! derives its parameters; docs/decisions/0010 says why this code.
//!
//! [`vole`] makes VOLE over GF(2^64) and GF(2^128), [`cot`] correlated OT, [`lookup`] transfers of one string of
//! several.

#[cfg(test)]
mod attacks;
mod check;
pub mod cot;
pub mod lookup;
pub mod noise;
mod supply;
mod tree;
#[cfg(test)]
mod views;
pub mod vole;
