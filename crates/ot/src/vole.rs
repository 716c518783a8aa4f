//! Vector oblivious linear evaluation: c = a delta + b, the sender with (delta, b), the receiver with (a, c).

use tacit_math::gf::Field;

/// The sender's side of n correlations. b, delta and c are elements of the 128-bit module over F ([`tacit_math::gf`]).
#[derive(Clone, Default)]
pub struct VoleSender {
    /// The secret factor, random.
    pub delta: u128,
    /// One pseudorandom element for each correlation.
    pub b: Vec<u128>,
}

/// The receiver's side of n correlations over a field F.
#[derive(Clone, Default)]
pub struct VoleReceiver<F> {
    /// Pseudorandom scalars.
    pub a: Vec<F>,
    /// `c[i] = a[i] * delta + b[i]`.
    pub c: Vec<u128>,
}

impl std::fmt::Debug for VoleSender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VoleSender({} correlations)", self.b.len())
    }
}

impl<F: Field> std::fmt::Debug for VoleReceiver<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VoleReceiver({} correlations over {} bits)", self.c.len(), F::BITS)
    }
}
