//! Loops compiled once for each vector unit, chosen when they run.

/// A loop over slices. Its [`Kernel::run`] must be `#[inline(always)]`, and so must all that it calls: only what is
/// inlined into [`dispatch`] is compiled for the wider vector units.
pub trait Kernel {
    /// What the loop gives.
    type Output;
    /// The loop.
    fn run(self) -> Self::Output;
}

/// Runs a kernel with the widest vector instructions of this processor.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
            // SAFETY: the processor has AVX-512F and AVX-512DQ.
            return unsafe { avx512(kernel) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { avx2(kernel) };
        }
    }
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
fn avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(test)]
mod tests {
    use super::{Kernel, dispatch};
    use crate::{Prg, Seed};

    struct Products<'a>(&'a [u64], &'a [u64], &'a mut [u64]);

    impl Kernel for Products<'_> {
        type Output = u64;
        #[inline(always)]
        fn run(self) -> u64 {
            let Self(x, y, out) = self;
            out.iter_mut().zip(x.iter().zip(y)).for_each(|(z, (&a, &b))| *z = a.wrapping_mul(b));
            out.iter().fold(0, |sum, &z| sum ^ z)
        }
    }

    fn plain(kernel: Products<'_>) -> u64 {
        kernel.run()
    }

    fn widest(kernel: Products<'_>) -> u64 {
        dispatch(kernel)
    }

    #[test]
    fn every_vector_unit_gives_what_plain_code_gives() {
        let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
        for len in [0, 1, 7, 8, 9, 1000] {
            let (x, y): (Vec<u64>, Vec<u64>) = (prg.vector(len), prg.vector(len));
            let with = |run: fn(Products<'_>) -> u64| {
                let mut out = vec![0; len];
                (run(Products(&x, &y, &mut out)), out)
            };
            let expected = with(plain);
            assert_eq!(with(widest), expected);
            #[cfg(target_arch = "x86_64")]
            {
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    assert_eq!(with(|kernel| unsafe { super::avx2(kernel) }), expected);
                }
                if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq") {
                    // SAFETY: the processor has AVX-512F and AVX-512DQ.
                    assert_eq!(with(|kernel| unsafe { super::avx512(kernel) }), expected);
                }
            }
        }
    }
}
