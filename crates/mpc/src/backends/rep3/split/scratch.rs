//! Room for what is computed of a split product piece by piece, within the first-level cache.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tacit_math::Ring;

use super::Dealt;

/// Elements that are computed at a time, within the first-level cache: whole blocks of a generator, for any ring.
pub(super) const PIECE: usize = 512;

/// The fewest elements that are computed at a time, of a function with many words: whole blocks and vectors, too.
const LEAST: usize = 64;

/// Bytes of words that are computed at a time. There are as many masks or factors beside them.
const WORDS: usize = 16 << 10;

/// Elements that are computed at a time of a function: the dealer's and the others' pieces are the same.
pub(super) fn piece_of<R: Ring, D: Dealt<R>>(f: &D) -> usize {
    let fitting = WORDS / (size_of::<D::Word>() * f.products().max(1));
    (fitting / LEAST * LEAST).clamp(LEAST, PIECE)
}

/// Room for what is computed of a piece.
pub(super) struct Scratch<R, W> {
    s: Vec<R>,
    summand: Vec<R>,
    words: Vec<W>,
    factors: Vec<W>,
    h: Vec<W>,
    bytes: Vec<u8>,
}

impl<R: Ring, W: Ring> Scratch<R, W> {
    fn new<D: Dealt<R, Word = W>>(f: &D) -> Self {
        let (piece, products) = (piece_of(f), f.products());
        let words = || vec![W::ZERO; piece * products];
        let (elements, bytes) = (|| vec![R::ZERO; piece], narrow_bytes::<W>(f.width()) * piece * products);
        Self {
            s: elements(),
            summand: elements(),
            words: words(),
            factors: words(),
            h: vec![W::ZERO; piece],
            bytes: vec![0; bytes],
        }
    }

    /// The room for a piece of as many numbers.
    pub fn cut(&mut self, len: usize, products: usize, width: usize) -> Cut<'_, R, W> {
        Cut {
            s: &mut self.s[..len],
            summand: &mut self.summand[..len],
            words: &mut self.words[..len * products],
            factors: &mut self.factors[..len * products],
            h: &mut self.h[..len],
            bytes: &mut self.bytes[..narrow_bytes::<W>(width) * len * products],
        }
    }
}

pub(super) struct Cut<'a, R, W> {
    pub s: &'a mut [R],
    pub summand: &'a mut [R],
    pub words: &'a mut [W],
    pub factors: &'a mut [W],
    pub h: &'a mut [W],
    pub bytes: &'a mut [u8],
}

/// Rooms that no thread uses now. A chunk takes that of an earlier one, which is in the cache and needs no clearing.
pub(super) struct Scratches<R, W>(Mutex<Vec<Scratch<R, W>>>);

impl<R: Ring, W: Ring> Scratches<R, W> {
    pub fn new() -> Self {
        Self(Mutex::default())
    }

    pub fn take<D: Dealt<R, Word = W>>(&self, f: &D) -> Scratch<R, W> {
        let unused = self.unused().pop();
        unused.unwrap_or_else(|| Scratch::new(f))
    }

    pub fn give(&self, scratch: Scratch<R, W>) {
        self.unused().push(scratch);
    }

    fn unused(&self) -> MutexGuard<'_, Vec<Scratch<R, W>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of a word that is sent in part. Whole words lie in memory as they are sent.
pub(super) fn narrow_bytes<W: Ring>(width: usize) -> usize {
    if width == size_of::<W>() { 0 } else { width }
}
