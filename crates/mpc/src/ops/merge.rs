//! Merging two sorted runs by secret keys, and going back.
//!
//! Functionality: rows of two runs, each in ascending order of an unsigned key, come in ascending order of it. Among
//! equal keys those of the first run come before those of the second, in any order otherwise. Discloses nothing. A run
//! that is not sorted comes out in a wrong order, and nobody learns of it.
//!
//! Method: the first run backwards and then the second one descend and then ascend. A network of comparators sorts
//! that. Its layers compare the rows i and i + s where i has no bit of s, for s = N/2, N/4, ..., 1. That is the bitonic
//! merge (Batcher, "Sorting networks and their applications", AFIPS 1968; Knuth, TAOCP vol. 3, section 5.3.4). For N
//! that is no power of two, behind the rows there are as many as are missing, greater than all others. They never move,
//! so what they are compared by is left out. Which comparators exchanged their rows stays with the nodes as shared
//! bits, so that rows can go the same way back: the layers in reverse order, without a comparison.
//!
//! For N rows with W bits, keys of w: about N/2 log2 N comparators, for each a comparison of w + 1 bits and one bit
//! times W. That is an AND of planes with a common factor, or a selection for ring elements. On the way back the latter
//! alone. Where the engine compares ring elements in less ([`Backend::SIGNS`]), keys are converted first: one injection
//! a plane.

use tacit_math::plane::words_for;
use tacit_math::{Plane, Ring};

use crate::circuits::{self, Planes};
use crate::{Backend, Linear, Result, Rows, linear};

/// Which rows were exchanged when two runs were merged: by it others are merged alike, or taken apart again.
pub struct Merging<B: Backend> {
    /// Rows of the first run, and of both.
    first: usize,
    rows: usize,
    /// For each layer which pairs of rows were exchanged.
    exchanged: Vec<B::Bits>,
}

/// How keys are compared, and which columns of the bundle they are: the last ones of their kind.
enum Key {
    /// A number of planes.
    Planes(usize),
    /// Elements of Z/2^64 or Z/2^128, with the number of bits of their differences.
    Ring64(usize),
    Ring128(usize),
}

/// Both runs as one. `key` has the planes of all rows' keys, least significant first, and `moving` what goes with them:
/// the `first` rows of the first run, and then those of the second.
pub fn merge<B: Backend>(b: &mut B, first: usize, key: &[B::Bits], moving: Rows<B>) -> Result<(Rows<B>, Merging<B>)> {
    b.step("merge", |b| {
        let mut merging = Merging { first, rows: moving.rows, exchanged: vec![] };
        let mut rows = moving;
        let key = with_key(b, first, key, &mut rows)?;
        rows = merging.turned(&rows);
        for stride in merging.strides() {
            let exchange = out_of_order(b, &rows, &key, stride)?;
            exchange_rows(b, &mut rows, &exchange, stride)?;
            merging.exchanged.push(exchange);
        }
        match key {
            Key::Planes(width) => rows.bits.truncate(rows.bits.len() - width),
            Key::Ring64(_) => rows.r64.truncate(rows.r64.len() - 1),
            Key::Ring128(_) => rows.r128.truncate(rows.r128.len() - 1),
        }
        Ok((rows, merging))
    })
}

impl<B: Backend> Merging<B> {
    /// Brings rows that are where the two runs had theirs into the merged order.
    pub fn again(&self, b: &mut B, rows: Rows<B>) -> Result<Rows<B>> {
        b.step("again", |b| {
            let mut rows = self.turned(&rows);
            for (stride, exchange) in self.strides().into_iter().zip(&self.exchanged) {
                exchange_rows(b, &mut rows, exchange, stride)?;
            }
            Ok(rows)
        })
    }

    /// Brings rows that are in the merged order back to where the two runs had them.
    pub fn back(&self, b: &mut B, mut rows: Rows<B>) -> Result<Rows<B>> {
        b.step("back", |b| {
            for (stride, exchange) in self.strides().into_iter().zip(&self.exchanged).rev() {
                exchange_rows(b, &mut rows, exchange, stride)?;
            }
            Ok(self.turned(&rows))
        })
    }

    /// How far apart the rows are that a layer compares, layer by layer. None if a run is empty: there is nothing to
    /// merge.
    fn strides(&self) -> Vec<usize> {
        if self.first == 0 || self.first == self.rows {
            return vec![];
        }
        let layers = self.rows.next_power_of_two().ilog2();
        (0..layers).rev().map(|layer| 1 << layer).collect()
    }

    /// The rows with the first run backwards. Local.
    fn turned(&self, rows: &Rows<B>) -> Rows<B> {
        if self.strides().is_empty() {
            return rows.clone();
        }
        let from: Vec<u32> = (0..self.first).rev().chain(self.first..self.rows).map(|row| row as u32).collect();
        rows.gather_public(&from)
    }
}

/// Appends what rows are compared by: the key, and below it whether they are of the second run.
fn with_key<B: Backend>(b: &mut B, first: usize, key: &[B::Bits], rows: &mut Rows<B>) -> Result<Key> {
    let (count, bits) = (rows.rows, key.len() + 2);
    if B::SIGNS && bits <= u64::BITS as usize {
        rows.r64.push(as_ring(b, first, key, count)?);
        return Ok(Key::Ring64(bits));
    }
    if B::SIGNS && bits <= u128::BITS as usize {
        rows.r128.push(as_ring(b, first, key, count)?);
        return Ok(Key::Ring128(bits));
    }
    rows.bits.push(b.public_bits(count, || Plane::from_fn(count, |row| row >= first)));
    rows.bits.extend(key.iter().cloned());
    Ok(Key::Planes(key.len() + 1))
}

fn as_ring<R: Ring, B: Backend>(b: &mut B, first: usize, key: &[B::Bits], rows: usize) -> Result<B::Vector<R>> {
    let side = b.public_vector(rows, || (0..rows).map(|row| R::from_u128((row >= first).into())).collect());
    Ok(linear::add(&linear::scale(&circuits::to_ring(b, key, false)?, R::ONE.shl(1)), &side))
}

/// Which pairs of rows are in the wrong order.
fn out_of_order<B: Backend>(b: &mut B, rows: &Rows<B>, key: &Key, stride: usize) -> Result<B::Bits> {
    let found = "the key is behind the other columns";
    match *key {
        Key::Planes(width) => {
            let key = &rows.bits[rows.bits.len() - width..];
            let half = |upper| -> Planes<B> {
                let pairs = pairs(rows.rows, stride);
                key.iter().map(|plane| plane.map(pairs, |plane| half(plane, stride, upper))).collect()
            };
            let (lower, upper) = (half(false), half(true));
            circuits::less_than(b, &upper, &lower, false)
        }
        Key::Ring64(bits) => circuits::sign(b, &differences::<u64, B>(rows.r64.last().expect(found), stride), bits),
        Key::Ring128(bits) => circuits::sign(b, &differences::<u128, B>(rows.r128.last().expect(found), stride), bits),
    }
}

/// Exchanges both rows of the pairs that are marked.
fn exchange_rows<B: Backend>(b: &mut B, rows: &mut Rows<B>, exchange: &B::Bits, stride: usize) -> Result<()> {
    let count = exchange.rows();
    let apart = |plane: &Plane| half(plane, stride, false).xor(&half(plane, stride, true));
    let apart: Planes<B> = rows.bits.iter().map(|plane| plane.map(count, apart)).collect();
    if !apart.is_empty() {
        let moved = circuits::mask_all(b, exchange, &apart)?;
        for (plane, moved) in rows.bits.iter_mut().zip(&moved) {
            *plane = plane.zip(moved, |plane, moved| added(plane, moved, stride));
        }
    }
    exchange_vectors::<u32, B>(b, &mut rows.r32, exchange, stride)?;
    exchange_vectors::<u64, B>(b, &mut rows.r64, exchange, stride)?;
    exchange_vectors::<u128, B>(b, &mut rows.r128, exchange, stride)
}

fn exchange_vectors<R: Ring, B: Backend>(
    b: &mut B,
    vectors: &mut [B::Vector<R>],
    exchange: &B::Bits,
    stride: usize,
) -> Result<()> {
    if vectors.is_empty() {
        return Ok(());
    }
    let apart: Vec<_> = vectors.iter().map(|vector| differences::<R, B>(vector, stride)).collect();
    let moved = b.select::<R>(&vec![exchange; apart.len()], &apart.iter().collect::<Vec<_>>())?;
    for (vector, moved) in vectors.iter_mut().zip(&moved) {
        *vector = vector.zip(moved, |vector, moved| added_to(vector, moved, stride));
    }
    Ok(())
}

/// For each pair, its upper row less its lower one.
fn differences<R: Ring, B: Backend>(vector: &B::Vector<R>, stride: usize) -> B::Vector<R> {
    let count = pairs(vector.rows(), stride);
    vector.map(count, |x| lower_rows(stride, count).map(|row| x[row + stride].sub(x[row])).collect())
}

/// The vector with something added to the lower row of each pair and taken from its upper one.
fn added_to<R: Ring>(vector: &[R], moved: &[R], stride: usize) -> Vec<R> {
    let mut out = vector.to_vec();
    for (row, &moved) in lower_rows(stride, moved.len()).zip(moved) {
        out[row] = out[row].add(moved);
        out[row + stride] = out[row + stride].sub(moved);
    }
    out
}

/// How many of `rows` rows have a partner `stride` rows above.
fn pairs(rows: usize, stride: usize) -> usize {
    rows / (2 * stride) * stride + (rows % (2 * stride)).saturating_sub(stride)
}

/// The lower rows of the first `count` pairs.
fn lower_rows(stride: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).map(move |pair| pair / stride * 2 * stride + pair % stride)
}

/// The lower or upper rows of all pairs.
fn half(plane: &Plane, stride: usize, upper: bool) -> Plane {
    let (count, words) = (pairs(plane.rows(), stride), plane.words());
    let word = |at: usize| words.get(at).copied().unwrap_or_default();
    let away = if upper { stride } else { 0 };
    let packed = |out: usize| match stride {
        64.. => word(lower_word(stride, out) + away / 64),
        _ => compressed(word(2 * out) >> away, stride) | compressed(word(2 * out + 1) >> away, stride) << 32,
    };
    Plane::from_words(count, (0..words_for(count)).map(packed).collect())
}

/// A plane with another one, a row for each pair, XORed to both rows of the pairs.
fn added(plane: &Plane, moved: &Plane, stride: usize) -> Plane {
    let mut out = plane.clone();
    out.change_words(|words| {
        for (at, &moved) in moved.words().iter().enumerate() {
            if stride >= 64 {
                let low = lower_word(stride, at);
                words[low] ^= moved;
                words[low + stride / 64] ^= moved;
            } else {
                for (word, moved) in words[2 * at..].iter_mut().zip([moved & mask(32), moved >> 32]) {
                    let lower = expanded(moved, stride);
                    *word ^= lower | lower << stride;
                }
            }
        }
    });
    out
}

/// The word of the lower rows of 64 pairs.
fn lower_word(stride: usize, out: usize) -> usize {
    let words = stride / 64;
    out / words * 2 * words + out % words
}

/// Alternating runs of `run` ones and `run` zeros, the ones lowest.
fn mask(run: usize) -> u64 {
    u64::MAX / ((1 << run) + 1)
}

/// The bits of a word at places without the bit of the stride, which is below 64, next to each other.
fn compressed(word: u64, stride: usize) -> u64 {
    let mut out = word & mask(stride);
    let mut run = stride;
    while run < 32 {
        out = (out | out >> run) & mask(2 * run);
        run *= 2;
    }
    out
}

/// The inverse of [`compressed`]: 32 bits at their places.
fn expanded(bits: u64, stride: usize) -> u64 {
    let (mut out, mut run) = (bits, 16);
    while run >= stride {
        out = (out | out << run) & mask(run);
        run /= 2;
    }
    out
}

#[cfg(test)]
mod tests {
    use tacit_math::{Plane, Prg, Seed};

    use super::{added, half, lower_rows, pairs};

    #[test]
    fn halves_are_the_rows_of_pairs() {
        let mut prg = Prg::new(&Seed::from_bytes([1; 16]));
        for rows in [1usize, 2, 3, 31, 64, 65, 100, 127, 128, 129, 200, 1000] {
            let mut words = vec![0; rows.div_ceil(64)];
            prg.fill(&mut words);
            let plane = Plane::from_words(rows, words);
            for stride in (0..rows.next_power_of_two().ilog2()).map(|layer| 1usize << layer) {
                let lower: Vec<usize> = (0..rows).filter(|row| row & stride == 0 && row + stride < rows).collect();
                assert_eq!(lower_rows(stride, pairs(rows, stride)).collect::<Vec<_>>(), lower);
                for upper in [false, true] {
                    let away = if upper { stride } else { 0 };
                    let expected: Vec<bool> = lower.iter().map(|row| plane.get(row + away)).collect();
                    assert_eq!(half(&plane, stride, upper).to_bools(), expected, "{rows} rows, stride {stride}");
                }
                let ones = added(&Plane::zeros(rows), &Plane::ones(lower.len()), stride);
                let expected: Vec<bool> =
                    (0..rows).map(|row| lower.contains(&row) || lower.contains(&row.wrapping_sub(stride))).collect();
                assert_eq!(ones.to_bools(), expected, "{rows} rows, stride {stride}");
            }
        }
    }
}
