//! Rings with products of matrices, and the micro-kernels that a processor has for them.

use super::kernel::MicroKernel;
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::{limbs::Limbs, narrow::Narrow, wide::Wide};
use crate::Ring;

/// A ring with products of matrices.
pub trait Element: Ring {
    /// The micro-kernels of this processor, the fastest first.
    #[doc(hidden)]
    fn kernels() -> impl Iterator<Item = &'static dyn MicroKernel<Self>>;
}

impl Element for u64 {
    fn kernels() -> impl Iterator<Item = &'static dyn MicroKernel<Self>> {
        #[cfg(target_arch = "x86_64")]
        let wider = [Wide::detect(), Narrow::detect()].into_iter().flatten();
        #[cfg(not(target_arch = "x86_64"))]
        let wider = std::iter::empty();
        wider.chain(std::iter::once(&Portable as _))
    }
}

impl Element for u128 {
    fn kernels() -> impl Iterator<Item = &'static dyn MicroKernel<Self>> {
        #[cfg(target_arch = "x86_64")]
        let wider = Limbs::detect().into_iter();
        #[cfg(not(target_arch = "x86_64"))]
        let wider = std::iter::empty();
        wider.chain(std::iter::once(&Portable as _))
    }
}
