//! Eight points of ristretto255 side by side, in extended coordinates of the Edwards curve -x^2 + y^2 = 1 + d x^2 y^2.
//!
//! Formulas: Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited", ASIACRYPT 2008; encodings and the map:
//! RFC 9496, section 4.3.

use core::arch::x86_64::*;

use super::field::{
    self, Constant, Field, Mask, absolute, add, mul, negate_where, product, select, splat, sqrt_ratio, square, squared,
    sub,
};

const D: Constant = [929955233495203, 466365720129213, 1662059464998953, 2033849074728123, 1442794654840575];
const TWICE_D: Constant = [1859910466990425, 932731440258426, 1072319116312658, 1815898335770999, 633789495995903];
const ONE_MINUS_D_SQUARED: Constant =
    [1136626929484150, 1998550399581263, 496427632559748, 118527312129759, 45110755273534];
const D_MINUS_ONE_SQUARED: Constant =
    [1507062230895904, 1572317787530805, 683053064812840, 317374165784489, 1572899562415810];
const SQRT_AD_MINUS_ONE: Constant =
    [2241493124984347, 425987919032274, 2207028919301688, 1220490630685848, 974799131293748];
const INVSQRT_A_MINUS_D: Constant =
    [278908739862762, 821645201101625, 8113234426968, 1777959178193151, 2118520810568447];

/// Eight points x = X / Z, y = Y / Z, x y = T / Z.
#[derive(Clone, Copy)]
pub(super) struct Point {
    x: Field,
    y: Field,
    z: Field,
    t: Field,
}

/// What adding a point needs: Y + X, Y - X, 2 Z, 2 d T.
#[derive(Clone, Copy)]
struct Addend([Field; 4]);

#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn addend(p: &Point) -> Addend {
    Addend([add(&p.y, &p.x), sub(&p.y, &p.x), add(&p.z, &p.z), mul(&p.t, &splat(&TWICE_D))])
}

/// Points without T.
#[derive(Clone, Copy)]
struct Projective {
    x: Field,
    y: Field,
    z: Field,
}

/// What the formulas end with: X = E F, Y = G H, Z = F G, T = E H.
struct Completed {
    e: Field,
    f: Field,
    g: Field,
    h: Field,
}

impl Completed {
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn projective(&self) -> Projective {
        let Self { e, f, g, h } = self;
        Projective { x: mul(e, f), y: mul(g, h), z: mul(f, g) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
    fn extended(&self) -> Point {
        let Projective { x, y, z } = self.projective();
        Point { x, y, z, t: mul(&self.e, &self.h) }
    }
}

/// p + q.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn plus(p: &Point, q: &Addend) -> Completed {
    let [sum, difference, z, t] = &q.0;
    let a = product(&sub(&p.y, &p.x), difference);
    let b = product(&add(&p.y, &p.x), sum);
    let c = product(&p.t, t);
    let d = product(&p.z, z);
    let (e, f) = (b.minus(&a).carried(), d.minus(&c).carried());
    Completed { e, f, g: d.plus(&c).carried(), h: b.plus(&a).carried() }
}

/// 2 p.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn double(p: &Projective) -> Completed {
    let (a, b, zz) = (squared(&p.x), squared(&p.y), squared(&p.z));
    let h = a.plus(&b).carried();
    let e = product(&p.x, &p.y).twice().carried();
    let g = b.minus(&a).carried();
    // The formula's F and H with their signs turned: every coordinate changes its sign, the point stays.
    let f = zz.twice().plus(&a).minus(&b).carried();
    Completed { e, f, g, h }
}

/// Points in affine coordinates, as adding them needs them: y + x, y - x, 2 d x y.
#[derive(Clone, Copy)]
pub(super) struct Affine(pub(super) [Field; 3]);

impl Affine {
    /// The negatives in the lanes of the mask.
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq")]
    pub(super) fn negate_where(&self, mask: Mask) -> Self {
        let [sum, difference, t] = &self.0;
        Self([select(mask, difference, sum), select(mask, sum, difference), negate_where(mask, t)])
    }
}

/// The identity in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn affine_identity() -> Affine {
    Affine([splat(&field::ONE), splat(&field::ONE), splat(&field::ZERO)])
}

/// Affine coordinates of points, by one inversion.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn affine(points: &[Point]) -> Vec<Affine> {
    let inverses = field::invert_all(&points.iter().map(|p| p.z).collect::<Vec<_>>());
    let mut out = Vec::with_capacity(points.len());
    for (p, inverse) in points.iter().zip(&inverses) {
        let (x, y, t) = (mul(&p.x, inverse), mul(&p.y, inverse), mul(&p.t, inverse));
        out.push(Affine([add(&y, &x), sub(&y, &x), mul(&t, &splat(&TWICE_D))]));
    }
    out
}

/// p + q.
#[inline]
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn plus_affine(p: &Point, q: &Affine) -> Point {
    let [sum, difference, t] = &q.0;
    let a = product(&sub(&p.y, &p.x), difference);
    let b = product(&add(&p.y, &p.x), sum);
    let c = product(&p.t, t);
    let d = field::Loose::of(&p.z).twice();
    let (e, f) = (b.minus(&a).carried(), d.minus(&c).carried());
    Completed { e, f, g: d.plus(&c).carried(), h: b.plus(&a).carried() }.extended()
}

/// The identity in every lane.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) fn identity() -> Point {
    let (one, zero) = (splat(&field::ONE), splat(&field::ZERO));
    Point { x: zero, y: one, z: one, t: zero }
}

/// 2 p.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn twice(p: &Point) -> Point {
    double(&Projective { x: p.x, y: p.y, z: p.z }).extended()
}

/// `yes` in the lanes of the mask, `no` in the others.
#[target_feature(enable = "avx512f")]
pub(super) fn select_points(mask: Mask, yes: &Point, no: &Point) -> Point {
    let pick = [(&yes.x, &no.x), (&yes.y, &no.y), (&yes.z, &no.z), (&yes.t, &no.t)];
    let [x, y, z, t] = pick.map(|(yes, no)| select(mask, yes, no));
    Point { x, y, z, t }
}

/// p + q.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn sum(p: &Point, q: &Point) -> Point {
    plus(p, &addend(q)).extended()
}

/// The addend digit times p, for a digit of -8..=8 that steers neither branch nor address: the whole table is read.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn look_up(table: &[Addend; 8], digit: i8) -> Addend {
    let digit = _mm512_set1_epi64(i64::from(digit));
    let size = _mm512_abs_epi64(digit);
    let (one, zero) = (splat(&field::ONE), splat(&field::ZERO));
    let mut out = [one, one, splat(&field::TWO), zero];
    for (times, entry) in (1..).zip(table) {
        let here = _mm512_cmpeq_epi64_mask(size, _mm512_set1_epi64(times));
        for (out, entry) in out.iter_mut().zip(&entry.0) {
            *out = select(here, entry, out);
        }
    }
    let below = _mm512_movepi64_mask(digit);
    let [sum, difference, z, t] = &out;
    Addend([select(below, difference, sum), select(below, sum, difference), *z, negate_where(below, t)])
}

/// The multiple of every point by one scalar, given by 64 digits of -8..=8 to base 16, least significant first.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn multiply(p: &Point, digits: &[i8; 64]) -> Point {
    let first = addend(p);
    let mut table = [first; 8];
    let mut multiple = *p;
    for entry in &mut table[1..] {
        multiple = plus(&multiple, &first).extended();
        *entry = addend(&multiple);
    }
    let mut out = plus(&identity(), &look_up(&table, digits[63]));
    for &digit in digits[..63].iter().rev() {
        for _ in 0..4 {
            out = double(&out.projective());
        }
        out = plus(&out.extended(), &look_up(&table, digit));
    }
    out.extended()
}

/// The points of eight encodings, and the lanes whose encoding is valid. The identity, whose encoding is zero, is not.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn decode(encodings: [&[u8; 32]; 8]) -> (Mask, Point) {
    let one = splat(&field::ONE);
    let s = field::from_bytes(encodings);
    let encoded_again = field::to_bytes(&s);
    let mut valid = !field::negative(&s) & !field::zero(&s);
    for (lane, (given, again)) in encodings.iter().zip(&encoded_again).enumerate() {
        valid &= !(Mask::from(*given != again) << lane);
    }
    let ss = square(&s);
    let (u1, u2) = (sub(&one, &ss), add(&one, &ss));
    let u2_squared = square(&u2);
    let v = sub(&field::negate(&mul(&splat(&D), &square(&u1))), &u2_squared);
    let (was_square, root) = sqrt_ratio(&one, &mul(&v, &u2_squared));
    let den_x = mul(&root, &u2);
    let den_y = mul(&mul(&root, &den_x), &v);
    let x = absolute(&mul(&add(&s, &s), &den_x));
    let y = mul(&u1, &den_y);
    let t = mul(&x, &y);
    (valid & was_square & !field::negative(&t) & !field::zero(&y), Point { x, y, z: one, t })
}

/// Eight points on their way to the encodings of their doubles, which take one inversion for any number of points. They
/// hold the ratios that the isogeny behind ristretto255 gives (Hamburg, "Decaf", CRYPTO 2015, section 4;
/// `double_and_compress_batch` of curve25519-dalek).
#[derive(Clone, Copy)]
pub(super) struct Doubling {
    e: Field,
    f: Field,
    g: Field,
    h: Field,
    eg: Field,
    fh: Field,
    /// e f g h, or 1 where that is zero.
    all: Field,
    /// Where it is zero: points of order 4 at most, whose doubles are encoded as the identity.
    torsion: Mask,
}

/// The doubles of eight points, to be encoded.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn doubling(p: &Point) -> Doubling {
    let (xx, yy, zz) = (squared(&p.x), squared(&p.y), squared(&p.z));
    let dtt = product(&square(&p.t), &splat(&D));
    let e = product(&p.x, &p.y).twice().carried();
    let (f, g, h) = (zz.plus(&dtt).carried(), yy.plus(&xx).carried(), zz.minus(&dtt).carried());
    let (eg, fh) = (mul(&e, &g), mul(&f, &h));
    let all = mul(&eg, &fh);
    let torsion = field::zero(&all);
    Doubling { e, f, g, h, eg, fh, all: select(torsion, &splat(&field::ONE), &all), torsion }
}

/// The canonical encodings of doubles, group by group, by one inversion.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn encode(doublings: &[Doubling], mut take: impl FnMut(usize, [[u8; 32]; 8])) {
    let inverses = field::invert_all(&doublings.iter().map(|doubling| doubling.all).collect::<Vec<_>>());
    for (group, (doubling, inverse)) in doublings.iter().zip(&inverses).enumerate() {
        take(group, encode_with(doubling, inverse));
    }
}

/// The encodings of eight doubles with the inverse of e f g h.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn encode_with(doubling: &Doubling, inverse: &Field) -> [[u8; 32]; 8] {
    let Doubling { e, f, g, h, eg, fh, torsion, .. } = doubling;
    let (z_inverse, t_inverse) = (mul(eg, inverse), mul(fh, inverse));
    let rotate = field::negative(&mul(eg, &z_inverse));
    let i = splat(&field::SQRT_M1);
    let (x, y) = (select(rotate, g, e), select(rotate, &field::negate(e), g));
    let z = select(rotate, &mul(f, &i), h);
    let factor = select(rotate, &i, &splat(&INVSQRT_A_MINUS_D));
    let y = negate_where(field::negative(&mul(&mul(&z, &x), &z_inverse)), &y);
    let s = mul(&sub(&z, &y), &mul(&factor, &mul(&y, &t_inverse)));
    field::to_bytes(&select(*torsion, &splat(&field::ZERO), &absolute(&s)))
}

/// The points of eight uniform numbers of 255 bits: MAP of RFC 9496, section 4.3.4.
#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
pub(super) fn map(uniform: [&[u8; 32]; 8]) -> Point {
    let one = splat(&field::ONE);
    let minus_one = field::negate(&one);
    let d = splat(&D);
    let t = field::from_bytes(uniform);
    let r = mul(&splat(&field::SQRT_M1), &square(&t));
    let u = mul(&add(&r, &one), &splat(&ONE_MINUS_D_SQUARED));
    let v = mul(&sub(&minus_one, &mul(&r, &d)), &add(&r, &d));
    let (was_square, root) = sqrt_ratio(&u, &v);
    let s = select(was_square, &root, &field::negate(&absolute(&mul(&root, &t))));
    let c = select(was_square, &minus_one, &r);
    let n = sub(&mul(&mul(&c, &sub(&r, &one)), &splat(&D_MINUS_ONE_SQUARED)), &v);
    let sv = mul(&s, &v);
    let ss = square(&s);
    let w0 = add(&sv, &sv);
    let w1 = mul(&n, &splat(&SQRT_AD_MINUS_ONE));
    let (w2, w3) = (sub(&one, &ss), add(&one, &ss));
    Point { x: mul(&w0, &w3), y: mul(&w2, &w1), z: mul(&w1, &w3), t: mul(&w0, &w2) }
}
