//! ristretto255 (RFC 9496) as matching needs it: many items or points, one secret exponent.
//!
//! Items are hashed to the group by 64 uniform bytes of keyed BLAKE3 and the map of RFC 9496, section 4.3.4. Together
//! they are a random oracle into the group, whose key binds it to one protocol and session. Points move as canonical
//! encodings of 32 bytes. Work is spread over the processor's cores; on processors with AVX-512 IFMA eight points go at
//! a time ([`tacit_math::ristretto`]), elsewhere `curve25519-dalek` computes the same.

use crate::error::PsiError;
use crate::interface::protocol::Item;
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::traits::IsIdentity;
use curve25519_dalek::{RistrettoPoint, Scalar};
use std::num::NonZero;
use std::ops::Range;
use std::thread;
use tacit_math::randomness;
use tacit_net::{PartyId, Session};
use zeroize::{Zeroize, Zeroizing};

/// Bytes of a point.
pub const ENCODING_BYTES: usize = 32;

/// The canonical encoding of a point.
pub type Encoding = [u8; ENCODING_BYTES];

/// Fewest points worth a thread of their own.
const SHARE: usize = 64;

/// A random oracle from items to the group.
pub struct HashToGroup([u8; 32]);

impl HashToGroup {
    /// The oracle of a context: equal contexts give equal oracles, different ones independent oracles.
    pub fn new(context: &[u8]) -> Self {
        Self(blake3::derive_key("tacit 2026 psi: items to ristretto255", context))
    }

    /// What the map takes, 64 uniform bytes for each item.
    pub(crate) fn uniform(&self, items: &[Item]) -> Zeroizing<Vec<[u8; 64]>> {
        let hash = |item: &Item| {
            let mut bytes = [0; 64];
            blake3::Hasher::new_keyed(&self.0).update(&item.to_le_bytes()).finalize_xof().fill(&mut bytes);
            bytes
        };
        Zeroizing::new(items.iter().map(hash).collect())
    }
}

/// The position of an encoding that is not canonical, is no point of the group, or is its identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InvalidPoint(pub usize);

impl InvalidPoint {
    /// The error that names the peer who sent it.
    pub fn sent_by(self, session: &Session, peer: PartyId) -> PsiError {
        PsiError::cheating(session, peer, &format!("point {} of its message is not in the group", self.0))
    }
}

/// A secret exponent, which is never zero. It is erased when dropped.
pub struct Exponent(Scalar);

impl Drop for Exponent {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl Exponent {
    /// A uniformly random exponent from the operating system.
    ///
    /// # Errors
    /// [`PsiError::Randomness`] when there is none.
    pub fn random() -> Result<Self, PsiError> {
        let mut wide = Zeroizing::new([0; 64]);
        loop {
            randomness::fill(&mut *wide)?;
            let scalar = Scalar::from_bytes_mod_order_wide(&wide);
            // Never zero in practice (2^-252).
            if tacit_marks::published(scalar != Scalar::ZERO) {
                return Ok(Self(scalar));
            }
        }
    }

    /// The exponent of 32 bytes that [`Self::expose`] gave; None for other bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let scalar = Option::from(Scalar::from_canonical_bytes(*bytes))?;
        (scalar != Scalar::ZERO).then_some(Self(scalar))
    }

    /// Its bytes, to keep it.
    pub fn expose(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The exponent that undoes this one.
    pub fn inverse(&self) -> Self {
        Self(self.0.invert())
    }

    /// The exponent whose double this one is.
    pub fn half(&self) -> Self {
        Self(self.0.div_by_2())
    }

    /// The group's base point raised to this exponent.
    pub fn of_base(&self) -> Encoding {
        (RISTRETTO_BASEPOINT_TABLE * &self.0).compress().to_bytes()
    }

    /// One exponent for this one and another in turn.
    pub fn then(&self, other: &Self) -> Self {
        Self(self.0 * other.0)
    }

    /// The items hashed to the group and raised to this exponent.
    pub fn mask(&self, hash: &HashToGroup, items: &[Item]) -> Vec<Encoding> {
        let result = in_parallel(items.len(), |part, out| {
            Kernel::best().mask(&self.0, &hash.uniform(&items[part]), out);
            Ok(())
        });
        result.expect("every item has a point")
    }

    /// Points raised to this exponent.
    ///
    /// # Errors
    /// The position of an encoding that is no point other than the identity.
    pub fn raise(&self, points: &[Encoding]) -> Result<Vec<Encoding>, InvalidPoint> {
        in_parallel(points.len(), |part, out| Kernel::best().raise(&self.0, &points[part], out))
    }
}

/// Runs `work` on parts of `count` inputs in as many threads as there are cores.
pub(crate) fn in_parallel(
    count: usize,
    work: impl Fn(Range<usize>, &mut [Encoding]) -> Result<(), InvalidPoint> + Sync,
) -> Result<Vec<Encoding>, InvalidPoint> {
    let mut out = vec![[0; ENCODING_BYTES]; count];
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let share = count.div_ceil(cores).next_multiple_of(SHARE);
    if count <= share {
        return work(0..count, &mut out).map(|()| out);
    }
    thread::scope(|scope| {
        let run = |(number, out): (usize, &mut [Encoding])| {
            let from = number * share;
            work(from..from + out.len(), out).map_err(|InvalidPoint(place)| InvalidPoint(from + place))
        };
        let threads: Vec<_> = out.chunks_mut(share).enumerate().map(|part| scope.spawn(move || run(part))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a worker does not panic"))
    })?;
    Ok(out)
}

/// What computes.
pub(crate) enum Kernel {
    Library,
    #[cfg(target_arch = "x86_64")]
    Wide(tacit_math::ristretto::Wide),
}

impl Kernel {
    pub(crate) fn best() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(wide) = tacit_math::ristretto::Wide::detect() {
            return Self::Wide(wide);
        }
        Self::Library
    }

    fn mask(&self, exponent: &Scalar, uniform: &[[u8; 64]], out: &mut [Encoding]) {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(wide) => wide.map_and_multiply(exponent.as_bytes(), uniform, out),
            Self::Library => {
                let half = Zeroizing::new(exponent.div_by_2());
                let halves: Vec<_> = uniform.iter().map(|u| RistrettoPoint::from_uniform_bytes(u) * *half).collect();
                double_and_encode(&halves, out);
            }
        }
    }

    fn raise(&self, exponent: &Scalar, points: &[Encoding], out: &mut [Encoding]) -> Result<(), InvalidPoint> {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Wide(wide) => wide.multiply(exponent.as_bytes(), points, out).map_err(InvalidPoint),
            Self::Library => {
                let half = Zeroizing::new(exponent.div_by_2());
                let halves: Vec<_> = decode(points)?.into_iter().map(|point| point * *half).collect();
                double_and_encode(&halves, out);
                Ok(())
            }
        }
    }
}

pub(crate) fn decode(points: &[Encoding]) -> Result<Vec<RistrettoPoint>, InvalidPoint> {
    let decode = |(place, &bytes): (usize, &Encoding)| {
        let point = CompressedRistretto(bytes).decompress().filter(|point| !point.is_identity());
        point.ok_or(InvalidPoint(place))
    };
    points.iter().enumerate().map(decode).collect()
}

/// The encodings of doubled points: the library encodes these, and only these, in batches.
pub(crate) fn double_and_encode(halves: &[RistrettoPoint], out: &mut [Encoding]) {
    for (out, encoding) in out.iter_mut().zip(RistrettoPoint::double_and_compress_batch(halves)) {
        *out = encoding.to_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(n: u128) -> Vec<Item> {
        (0..n).map(|i| i * 0x0123_4567_89ab_cdef_0123_4567).collect()
    }

    #[test]
    fn both_kernels_agree() {
        let hash = HashToGroup::new(b"test");
        let uniform = hash.uniform(&items(21));
        let exponent = Exponent::random().expect("randomness");
        let mut expected = [[0; 32]; 21];
        Kernel::Library.mask(&exponent.0, &uniform, &mut expected);
        assert_eq!(exponent.mask(&hash, &items(21)), expected);
        let mut raised = [[0; 32]; 21];
        Kernel::Library.raise(&exponent.0, &expected, &mut raised).expect("points");
        assert_eq!(exponent.raise(&expected), Ok(raised.to_vec()));
        expected[13] = [0; 32];
        assert_eq!(Kernel::Library.raise(&exponent.0, &expected, &mut raised), Err(InvalidPoint(13)));
        assert_eq!(exponent.raise(&expected), Err(InvalidPoint(13)));
    }

    #[test]
    fn exponents_commute_and_are_undone() {
        let hash = HashToGroup::new(b"test");
        let [a, b] = [(); 2].map(|()| Exponent::random().expect("randomness"));
        let masked = a.mask(&hash, &items(500));
        let twice = b.raise(&masked).expect("points");
        assert_eq!(a.raise(&b.mask(&hash, &items(500))), Ok(twice.clone()));
        assert_eq!(a.then(&b).mask(&hash, &items(500)), twice);
        assert_eq!(b.inverse().raise(&twice), Ok(masked));
        let again = Exponent::from_bytes(&a.expose()).expect("its own bytes");
        assert_eq!(again.mask(&hash, &items(500)), a.mask(&hash, &items(500)));
        assert!(Exponent::from_bytes(&[0; 32]).is_none() && Exponent::from_bytes(&[0xff; 32]).is_none());
    }

    #[test]
    fn the_place_of_an_invalid_point_is_that_of_the_whole_message() {
        let exponent = Exponent::random().expect("randomness");
        let mut points = exponent.mask(&HashToGroup::new(b"test"), &items(1000));
        points[901][31] |= 0x80;
        assert_eq!(exponent.raise(&points), Err(InvalidPoint(901)));
    }

    #[test]
    fn contexts_separate() {
        let exponent = Exponent::random().expect("randomness");
        let [a, b] = [b"1", b"2"].map(|context| exponent.mask(&HashToGroup::new(context), &items(3)));
        assert!(a.iter().all(|point| !b.contains(point)));
    }

    /// The random oracle into the group is fixed: another hash of items would match nothing of an older party's file.
    #[test]
    fn the_hash_to_the_group_stays() {
        let one = Exponent(Scalar::ONE);
        let points = one.mask(&HashToGroup::new(b"known answer"), &[0, 1]);
        let hex: Vec<String> = points.iter().map(|p| p.iter().map(|b| format!("{b:02x}")).collect()).collect();
        let expected = [
            "1e3a6280e36f3426adced7727a7e71d9635d8a1b88a482a5987aa6c1fee2c263",
            "5a52ff1b01316ebdb9e4abaca67cbcb05556ec8cc4e26bb0938a2e83d0bfcb7e",
        ];
        assert_eq!(hex, expected);
    }
}
