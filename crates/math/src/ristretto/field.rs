//! Eight elements of GF(2^255 - 19) side by side, five limbs of 51 bits in five 512-bit registers.
//!
//! Between operations every limb is below 2^51 + 2^17. The multiplier takes the low 52 bits of each limb, so sums and
//! differences are carried before they are multiplied again.

use core::arch::x86_64::*;

/// Bits of a limb.
const LIMB: u32 = 51;
/// The low 51 bits.
const MASK: i64 = (1 << LIMB) - 1;

/// Eight field elements.
#[derive(Clone, Copy)]
pub(super) struct Field([__m512i; 5]);

/// A bit for each lane.
pub(super) type Mask = __mmask8;

/// A constant of the field, by its limbs.
pub(super) type Constant = [i64; 5];

/// 0.
pub(super) const ZERO: Constant = [0; 5];
/// 1.
pub(super) const ONE: Constant = [1, 0, 0, 0, 0];
/// 2.
pub(super) const TWO: Constant = [2, 0, 0, 0, 0];
/// A square root of -1, the even one (RFC 9496, section 4.1, as all that follow).
pub(super) const SQRT_M1: Constant =
    [1718705420411056, 234908883556509, 2233514472574048, 2117202627021982, 765476049583133];

/// The same limbs in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn splat(limbs: &Constant) -> Field {
    Field(limbs.map(|limb| _mm512_set1_epi64(limb)))
}

/// The 255 low bits of eight numbers of 32 bytes, little-endian. Bit 255 is ignored.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn from_bytes(bytes: [&[u8; 32]; 8]) -> Field {
    let limbs = bytes.map(|bytes| {
        let (words, _) = bytes.as_chunks::<8>();
        let w = [0, 1, 2, 3].map(|i| u64::from_le_bytes(words[i]));
        let limbs = [w[0], w[0] >> 51 | w[1] << 13, w[1] >> 38 | w[2] << 26, w[2] >> 25 | w[3] << 39, w[3] >> 12];
        limbs.map(|limb| limb as i64 & MASK)
    });
    let lane = |k: usize| {
        let x = limbs.map(|limbs| limbs[k]);
        _mm512_setr_epi64(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
    };
    Field([lane(0), lane(1), lane(2), lane(3), lane(4)])
}

/// Eight canonical encodings of 32 bytes, little-endian.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn to_bytes(x: &Field) -> [[u8; 32]; 8] {
    // SAFETY: a register of 512 bits is eight words of 64 bits; every value of either is one of the other.
    let limbs = canonical(x).0.map(|limb| unsafe { core::mem::transmute::<__m512i, [u64; 8]>(limb) });
    let mut out = [[0; 32]; 8];
    for (lane, out) in out.iter_mut().enumerate() {
        let x = limbs.map(|limb| limb[lane]);
        let words = [x[0] | x[1] << 51, x[1] >> 13 | x[2] << 38, x[2] >> 26 | x[3] << 25, x[3] >> 39 | x[4] << 12];
        for (bytes, word) in out.as_chunks_mut::<8>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
    out
}

/// Limbs below 2^63 to limbs below 2^51 + 2^17: all carries move up one limb at once.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn carry(x: [__m512i; 5]) -> Field {
    let mask = _mm512_set1_epi64(MASK);
    let high = x.map(|limb| _mm512_srli_epi64::<LIMB>(limb));
    let low = x.map(|limb| _mm512_and_si512(limb, mask));
    let wrapped = _mm512_mullo_epi64(high[4], _mm512_set1_epi64(19));
    Field([
        _mm512_add_epi64(low[0], wrapped),
        _mm512_add_epi64(low[1], high[0]),
        _mm512_add_epi64(low[2], high[1]),
        _mm512_add_epi64(low[3], high[2]),
        _mm512_add_epi64(low[4], high[3]),
    ])
}

/// The one representative below 2^255 - 19.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn canonical(x: &Field) -> Field {
    let mask = _mm512_set1_epi64(MASK);
    let nineteen = _mm512_set1_epi64(19);
    let mut x = carry(carry(x.0).0).0;
    // Below 2^256 - 38 now. 1 where 19 more reach 2^255, so where the modulus is to be taken off.
    let mut over = _mm512_srli_epi64::<LIMB>(_mm512_add_epi64(x[0], nineteen));
    for limb in &x[1..] {
        over = _mm512_srli_epi64::<LIMB>(_mm512_add_epi64(*limb, over));
    }
    let mut rest = _mm512_mullo_epi64(over, nineteen);
    for limb in &mut x {
        let sum = _mm512_add_epi64(*limb, rest);
        *limb = _mm512_and_si512(sum, mask);
        rest = _mm512_srli_epi64::<LIMB>(sum);
    }
    Field(x)
}

/// a + b.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn add(a: &Field, b: &Field) -> Field {
    Loose(a.0).plus(&Loose(b.0)).carried()
}

/// a - b.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn sub(a: &Field, b: &Field) -> Field {
    Loose(a.0).minus(&Loose(b.0)).carried()
}

/// -a.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn negate(a: &Field) -> Field {
    sub(&splat(&ZERO), a)
}

/// Eight elements whose carries are still to be done: limbs below 2^63. What is only added is carried once, at the end.
#[derive(Clone, Copy)]
pub(super) struct Loose([__m512i; 5]);

impl Loose {
    /// The sum. A product's limbs are below 2^59.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn plus(&self, other: &Self) -> Self {
        let mut out = self.0;
        for (x, y) in out.iter_mut().zip(other.0) {
            *x = _mm512_add_epi64(*x, y);
        }
        Self(out)
    }

    /// The difference, for an element with limbs below 2^59 to be taken off: 2^9 times the modulus keeps every limb
    /// positive and adds less than 2^60.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn minus(&self, other: &Self) -> Self {
        let modulus = [MASK - 18, MASK, MASK, MASK, MASK];
        let mut out = self.0;
        for ((x, y), p) in out.iter_mut().zip(other.0).zip(modulus) {
            *x = _mm512_sub_epi64(_mm512_add_epi64(*x, _mm512_set1_epi64(p << 9)), y);
        }
        Self(out)
    }

    /// Twice as much.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn twice(&self) -> Self {
        Self(self.0.map(|limb| _mm512_slli_epi64::<1>(limb)))
    }

    /// An element as it is.
    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn of(x: &Field) -> Self {
        Self(x.0)
    }

    /// Ready to be multiplied.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn carried(&self) -> Field {
        carry(self.0)
    }
}

/// a b.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn mul(a: &Field, b: &Field) -> Field {
    product(a, b).carried()
}

/// a^2.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn square(a: &Field) -> Field {
    squared(a).carried()
}

/// a b, to be carried.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn product(a: &Field, b: &Field) -> Loose {
    let zero = _mm512_setzero_si512();
    let (mut low, mut high) = ([zero; 9], [zero; 9]);
    for i in 0..5 {
        for j in 0..5 {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.0[i], b.0[j]);
            high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.0[i], b.0[j]);
        }
    }
    fold(&low, &high)
}

/// a^2, to be carried.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn squared(a: &Field) -> Loose {
    let zero = _mm512_setzero_si512();
    let (mut low, mut high) = ([zero; 9], [zero; 9]);
    for i in 0..5 {
        for j in i + 1..5 {
            low[i + j] = _mm512_madd52lo_epu64(low[i + j], a.0[i], a.0[j]);
            high[i + j] = _mm512_madd52hi_epu64(high[i + j], a.0[i], a.0[j]);
        }
    }
    for k in 1..8 {
        low[k] = _mm512_add_epi64(low[k], low[k]);
        high[k] = _mm512_add_epi64(high[k], high[k]);
    }
    for i in 0..5 {
        low[2 * i] = _mm512_madd52lo_epu64(low[2 * i], a.0[i], a.0[i]);
        high[2 * i] = _mm512_madd52hi_epu64(high[2 * i], a.0[i], a.0[i]);
    }
    fold(&low, &high)
}

/// The sum of low halves at 2^51k and high halves at 2^(51k + 52), modulo 2^255 - 19. A low half is below 2^52, a high
/// one about 2^50. The largest limb, the lowest, is below (1 + 19 (4 + 5 / 2)) 2^52 and a little more, so below 2^59.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn fold(low: &[__m512i; 9], high: &[__m512i; 9]) -> Loose {
    let nineteen = _mm512_set1_epi64(19);
    let twice = |k: usize| _mm512_slli_epi64::<1>(high[k]);
    let upper = |k: usize| if k == 4 { twice(8) } else { _mm512_add_epi64(low[k + 5], twice(k + 4)) };
    let lower = |k: usize| if k == 0 { low[0] } else { _mm512_add_epi64(low[k], twice(k - 1)) };
    let limb = |k: usize| _mm512_add_epi64(lower(k), _mm512_mullo_epi64(upper(k), nineteen));
    Loose([limb(0), limb(1), limb(2), limb(3), limb(4)])
}

/// a squared n times.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn square_times(a: &Field, n: usize) -> Field {
    let mut out = *a;
    for _ in 0..n {
        out = square(&out);
    }
    out
}

/// a to the power (p - 5) / 8 = 2^252 - 3, by 2^k - 1 for k = 5, 10, 20, 40, 50, 100, 200, 250.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn power_p58(a: &Field) -> Field {
    let a2 = square(a);
    let a9 = mul(a, &square_times(&a2, 2));
    let a11 = mul(&a2, &a9);
    let k5 = mul(&a9, &square(&a11));
    let k10 = mul(&square_times(&k5, 5), &k5);
    let k20 = mul(&square_times(&k10, 10), &k10);
    let k40 = mul(&square_times(&k20, 20), &k20);
    let k50 = mul(&square_times(&k40, 10), &k10);
    let k100 = mul(&square_times(&k50, 50), &k50);
    let k200 = mul(&square_times(&k100, 100), &k100);
    let k250 = mul(&square_times(&k200, 50), &k50);
    mul(&square_times(&k250, 2), a)
}

/// 1 / a = a^(p - 2), p - 2 = 8 (2^252 - 3) + 3; 0 for 0.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn invert(a: &Field) -> Field {
    mul(&square_times(&power_p58(a), 3), &mul(&square(a), a))
}

/// The inverses of all, none of which may be zero in any lane, by one inversion (Montgomery's trick).
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn invert_all(all: &[Field]) -> Vec<Field> {
    let mut product = splat(&ONE);
    let mut inverses = Vec::with_capacity(all.len());
    for a in all {
        inverses.push(product);
        product = mul(&product, a);
    }
    let mut inverse = invert(&product);
    for (out, a) in inverses.iter_mut().zip(all).rev() {
        *out = mul(&inverse, out);
        inverse = mul(&inverse, a);
    }
    inverses
}

/// The non-negative square root of u / v and whether there is one; if there is none, that of i u / v (RFC 9496,
/// section 4.2).
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn sqrt_ratio(u: &Field, v: &Field) -> (Mask, Field) {
    let i = splat(&SQRT_M1);
    let v3 = mul(&square(v), v);
    let v7 = mul(&square(&v3), v);
    let r = mul(&mul(u, &v3), &power_p58(&mul(u, &v7)));
    let check = mul(v, &square(&r));
    let minus_u = negate(u);
    let correct = equal(&check, u);
    let flipped = equal(&check, &minus_u);
    let flipped_i = equal(&check, &mul(&minus_u, &i));
    let r = select(flipped | flipped_i, &mul(&r, &i), &r);
    (correct | flipped, absolute(&r))
}

/// Lanes that are odd, "negative" in RFC 9496.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn negative(a: &Field) -> Mask {
    _mm512_test_epi64_mask(canonical(a).0[0], _mm512_set1_epi64(1))
}

/// Lanes that are zero.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn zero(a: &Field) -> Mask {
    let x = canonical(a).0;
    let bits = x.iter().fold(_mm512_setzero_si512(), |bits, limb| _mm512_or_si512(bits, *limb));
    _mm512_testn_epi64_mask(bits, bits)
}

/// Lanes where a = b.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn equal(a: &Field, b: &Field) -> Mask {
    zero(&sub(a, b))
}

/// `yes` in the lanes of the mask, `no` in the others.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn select(mask: Mask, yes: &Field, no: &Field) -> Field {
    let mut out = no.0;
    for (x, y) in out.iter_mut().zip(yes.0) {
        *x = _mm512_mask_mov_epi64(*x, mask, y);
    }
    Field(out)
}

/// Each lane's entry of a table of sixteen, the first eight in the lanes of `low`. Only the low four bits of an index
/// count.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn look_up(low: &Field, high: &Field, index: __m512i) -> Field {
    let mut out = low.0;
    for (x, y) in out.iter_mut().zip(high.0) {
        *x = _mm512_permutex2var_epi64(*x, index, y);
    }
    Field(out)
}

/// -a in the lanes of the mask.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) fn negate_where(mask: Mask, a: &Field) -> Field {
    select(mask, &negate(a), a)
}

/// a or -a, whichever is not negative.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn absolute(a: &Field) -> Field {
    negate_where(negative(a), a)
}
