//! The portable loops, compiled for 512-bit registers (x86-64 with AVX-512).

/// Proof that the processor has 512-bit registers.
#[derive(Clone, Copy)]
pub(super) struct Wide(());

impl Wide {
    pub(super) fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx512f").then_some(Self(()))
    }

    pub(super) fn add(self, a: &mut [u64], b: &[u64]) {
        // SAFETY: self exists, so the processor has AVX-512F.
        unsafe { add(a, b) }
    }

    pub(super) fn sum(self, out: &mut [u64], a: &[u64], b: &[u64]) {
        // SAFETY: self exists, so the processor has AVX-512F.
        unsafe { sum(out, a, b) }
    }

    pub(super) fn fold_four(self, first: &mut [u64], others: [&[u64]; 3], low: &mut [u64], high: &mut [u64]) {
        // SAFETY: self exists, so the processor has AVX-512F.
        unsafe { fold_four(first, others, low, high) }
    }

    pub(super) fn join_four(self, first: &mut [u64], low: &mut [u64], high: &mut [u64], last: &[u64]) {
        // SAFETY: self exists, so the processor has AVX-512F.
        unsafe { join_four(first, low, high, last) }
    }
}

#[target_feature(enable = "avx512f")]
fn add(a: &mut [u64], b: &[u64]) {
    super::add_portable(a, b);
}

#[target_feature(enable = "avx512f")]
fn sum(out: &mut [u64], a: &[u64], b: &[u64]) {
    super::sum_portable(out, a, b);
}

#[target_feature(enable = "avx512f")]
fn fold_four(first: &mut [u64], others: [&[u64]; 3], low: &mut [u64], high: &mut [u64]) {
    super::fold_four_portable(first, others, low, high);
}

#[target_feature(enable = "avx512f")]
fn join_four(first: &mut [u64], low: &mut [u64], high: &mut [u64], last: &[u64]) {
    super::join_four_portable(first, low, high, last);
}
