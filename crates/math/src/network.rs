//! Waksman's permutation network for any number of rows: its switches' settings and its evaluation.
//!
//! For n rows, n/2 switches exchange the rows of each pair or not. The first row of each pair goes on to a network of
//! half the size, the second one to another; their outputs meet in pairs again at (n - 1)/2 switches. With n odd, the
//! last row goes to the second, larger network alone. About n log2(n) - n switches. Source: Beauquier, Darrot, "On
//! arbitrary size Waksman networks and their vulnerability", Parallel Processing Letters 2002; routing by the looping
//! algorithm (Opferman, Tsao-Wu, 1971).
//!
//! Settings and evaluation go through the switches in the same order: those before, the first half, the second half,
//! those after.

use std::collections::VecDeque;
use std::ops::Range;

/// The number of switches for n rows: the sum over all i up to n of log2(i), rounded up.
pub fn switches(n: usize) -> usize {
    let layers = usize::BITS - n.saturating_sub(1).leading_zeros();
    (n * layers as usize + 1).saturating_sub(1 << layers)
}

/// The settings, packed, that move row i to position `p[i]`: a bit is one where a switch exchanges its rows.
///
/// Whoever knows a permutation addresses memory by it, also to find its settings. Transfers must not show it: from here
/// on it is secret.
pub fn settings(p: &[u32]) -> Vec<u64> {
    let n = p.len();
    let mut router = Router { words: vec![0; switches(n).div_ceil(64)], inverse: vec![0; n], side: vec![OPEN; n] };
    router.route(0, &mut p.to_vec(), &mut vec![0; n]);
    tacit_marks::secret(&mut router.words);
    router.words
}

/// To which half a row goes.
const FIRST: u8 = 0;
const SECOND: u8 = 1;
const OPEN: u8 = 2;

struct Router {
    words: Vec<u64>,
    /// Of the network that is being routed: its inverse, and the half for each row.
    inverse: Vec<u32>,
    side: Vec<u8>,
}

impl Router {
    /// Settings of a network for p, whose first one has this number. What p and the scratch hold is used up.
    fn route(&mut self, number: usize, p: &mut [u32], scratch: &mut [u32]) {
        let n = p.len();
        if n < 2 {
            return;
        }
        if n == 2 {
            return self.set(number, p[0] == 1);
        }
        self.part(p);
        let (half, first) = (n / 2, number + n / 2);
        let second = first + switches(half);
        let after = second + switches(n - half);
        (0..half).for_each(|i| self.set(number + i, self.side[2 * i] == SECOND));
        (0..(n - 1) / 2).for_each(|o| self.set(after + o, self.side[self.inverse[2 * o] as usize] == SECOND));
        for (i, (&to, &side)) in p.iter().zip(&self.side).enumerate() {
            scratch[usize::from(side) * half + i / 2] = to / 2;
        }
        let halves = scratch.split_at_mut(half);
        let free = p.split_at_mut(half);
        self.route(first, halves.0, free.0);
        self.route(second, halves.1, free.1);
    }

    fn set(&mut self, number: usize, bit: bool) {
        self.words[number / 64] |= u64::from(bit) << (number % 64);
    }

    /// The half for each row, such that rows of one pair before or after go to different halves.
    fn part(&mut self, p: &[u32]) {
        let n = p.len();
        p.iter().zip(0..).for_each(|(&place, row)| self.inverse[place as usize] = row);
        self.side[..n].fill(OPEN);
        // The last place is reached from the second half; other loops may start anywhere.
        self.follow(p, self.inverse[n - 1] as usize, SECOND);
        (0..n - 1).step_by(2).for_each(|row| self.follow(p, row, FIRST));
    }

    /// Settles the loop through a row that is to go to a half, if it is open.
    fn follow(&mut self, p: &[u32], mut row: usize, half: u8) {
        let n = p.len();
        while self.side[row] == OPEN {
            self.side[row] = half;
            let partner = row ^ 1;
            if partner >= n {
                return;
            }
            self.side[partner] = 1 - half;
            let place = p[partner] as usize ^ 1;
            if place >= n {
                return;
            }
            row = self.inverse[place] as usize;
        }
    }
}

/// Pairs of rows that are parted or brought together at a time: they stay in the first-level cache.
const RUN: usize = 512;

/// What the switches do to pairs of rows.
pub trait Switches {
    /// Why switches may be missing.
    type Error;

    /// Lanes of a row.
    fn lanes(&self) -> usize;

    /// Has some of the next switches ready, in the order of the settings: one at least and at most that many. They are
    /// named by their positions among those that were made ready together.
    ///
    /// # Errors
    /// When they cannot be had.
    fn ready(&mut self, most: usize) -> Result<Range<usize>, Self::Error>;

    /// Does what these switches do: one for every row of a with that of b.
    fn switch(&mut self, rows: [&mut [u64]; 2], switches: Range<usize>);
}

/// Sizes of the batches in which switches are prepared, of `batch` switches at most.
pub fn batches(switches: usize, batch: usize) -> impl Iterator<Item = usize> {
    (0..switches).step_by(batch).map(move |start| batch.min(switches - start))
}

/// Where a party is in the sequence of switches: batches, in them pieces, in them single switches.
pub struct Progress {
    /// Sizes of later batches.
    later: VecDeque<usize>,
    /// Switches of the present batch, and those of a piece at most.
    batch: usize,
    most: usize,
    /// The present piece of the batch, and the next one of its switches.
    piece: Range<usize>,
    next: usize,
}

impl Progress {
    /// Before the first of `switches` switches.
    pub fn new(switches: usize, batch: usize, piece: usize) -> Self {
        Self { later: batches(switches, batch).collect(), batch: 0, most: piece, piece: 0..0, next: 0 }
    }

    /// Switches of the present piece that were taken.
    pub fn taken(&self) -> usize {
        self.next
    }

    /// Whether all of the present piece were.
    pub fn ends_piece(&self) -> bool {
        self.next == self.piece.len()
    }

    /// Whether the present piece is the last one of its batch.
    pub fn ends_batch(&self) -> bool {
        self.piece.end == self.batch
    }

    /// Opens the next batch if the present one has no further piece; gives its size.
    ///
    /// # Panics
    /// If there is none.
    pub fn next_batch(&mut self) -> Option<usize> {
        if !self.ends_batch() {
            return None;
        }
        self.batch = self.later.pop_front().expect("as many switches as counted");
        self.piece = 0..0;
        Some(self.batch)
    }

    /// Opens the batch's next piece; gives its place in the batch.
    pub fn next_piece(&mut self) -> Range<usize> {
        self.piece = self.piece.end..self.batch.min(self.piece.end + self.most);
        self.next = 0;
        self.piece.clone()
    }

    /// Takes the piece's next switches, at most `most`; gives their positions in the piece.
    pub fn take(&mut self, most: usize) -> Range<usize> {
        let first = self.next;
        self.next = self.piece.len().min(first + most);
        first..self.next
    }
}

/// Sends rows through the network.
///
/// # Errors
/// The first one of the switches.
pub fn evaluate<S: Switches>(rows: &mut [u64], switches: &mut S) -> Result<(), S::Error> {
    if switches.lanes() == 0 {
        return Ok(());
    }
    let mut scratch = vec![0; rows.len()];
    pass(rows, &mut scratch, switches)
}

/// Switches every row of a with that of b, as switches become ready.
fn switch<S: Switches>(mut rows: [&mut [u64]; 2], switches: &mut S) -> Result<(), S::Error> {
    let lanes = switches.lanes();
    while !rows[0].is_empty() {
        let ready = switches.ready(rows[0].len() / lanes)?;
        let words = ready.len() * lanes;
        switches.switch(rows.each_mut().map(|rows| rows.split_off_mut(..words).expect("as many as asked for")), ready);
    }
    Ok(())
}

fn pass<S: Switches>(rows: &mut [u64], scratch: &mut [u64], switches: &mut S) -> Result<(), S::Error> {
    let width = switches.lanes();
    let n = rows.len() / width;
    if n < 2 {
        return Ok(());
    }
    if n == 2 {
        let (a, b) = rows.split_at_mut(width);
        return switch([a, b], switches);
    }
    let in_pairs = n / 2 * width;
    let (first, second) = scratch.split_at_mut(in_pairs);
    let runs = first.chunks_mut(RUN * width).zip(second[..in_pairs].chunks_mut(RUN * width));
    for (pairs, (a, b)) in rows[..2 * in_pairs].chunks(2 * RUN * width).zip(runs) {
        for (pair, (a, b)) in
            pairs.chunks_exact(2 * width).zip(a.chunks_exact_mut(width).zip(b.chunks_exact_mut(width)))
        {
            a.copy_from_slice(&pair[..width]);
            b.copy_from_slice(&pair[width..]);
        }
        switch([a, b], switches)?;
    }
    // The last row, if it is in no pair.
    second[in_pairs..].copy_from_slice(&rows[2 * in_pairs..]);
    let (free, other) = rows.split_at_mut(in_pairs);
    pass(first, free, switches)?;
    pass(second, other, switches)?;
    let mut left = (n - 1) / 2 * width;
    let runs = first.chunks_mut(RUN * width).zip(second[..in_pairs].chunks_mut(RUN * width));
    for (pairs, (a, b)) in rows[..2 * in_pairs].chunks_mut(2 * RUN * width).zip(runs) {
        let switched = a.len().min(left);
        left -= switched;
        switch([&mut a[..switched], &mut b[..switched]], switches)?;
        for (pair, (a, b)) in pairs.chunks_exact_mut(2 * width).zip(a.chunks_exact(width).zip(b.chunks_exact(width))) {
            pair[..width].copy_from_slice(a);
            pair[width..].copy_from_slice(b);
        }
    }
    rows[2 * in_pairs..].copy_from_slice(&second[in_pairs..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::ops::Range;

    use super::{Switches, evaluate, settings, switches};
    use crate::{Prg, Seed, permutation};

    struct InClear {
        settings: Vec<u64>,
        next: usize,
        lanes: usize,
    }

    impl Switches for InClear {
        type Error = Infallible;

        fn lanes(&self) -> usize {
            self.lanes
        }

        /// No more than three at a time, so that runs of rows are cut.
        fn ready(&mut self, most: usize) -> Result<Range<usize>, Infallible> {
            let first = self.next;
            self.next += most.min(3);
            Ok(first..self.next)
        }

        fn switch(&mut self, [a, b]: [&mut [u64]; 2], switches: Range<usize>) {
            let rows = a.chunks_exact_mut(self.lanes).zip(b.chunks_exact_mut(self.lanes));
            for (number, (a, b)) in switches.zip(rows) {
                if self.settings[number / 64] >> (number % 64) & 1 == 1 {
                    a.swap_with_slice(b);
                }
            }
        }
    }

    /// The rows behind a network with these settings.
    fn sent(rows: &[u64], settings: Vec<u64>, lanes: usize) -> Vec<u64> {
        let (mut rows, mut network) = (rows.to_vec(), InClear { settings, next: 0, lanes });
        let Ok(()) = evaluate(&mut rows, &mut network);
        assert_eq!(network.next, switches(rows.len() / lanes), "{} rows", rows.len() / lanes);
        rows
    }

    #[test]
    fn every_permutation_is_routed() {
        let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
        assert_eq!([0, 1, 2, 3, 4, 5, 1 << 16].map(switches), [0, 0, 1, 3, 5, 8, 15 * (1 << 16) + 1]);
        for n in (0..70).chain([127, 128, 129, 1000, 1025, 2048, 4097]) {
            let p = permutation::random(n, &mut prg);
            let rows: Vec<u64> = (0..n as u64).flat_map(|i| [i, i + 1000]).collect();
            let rows = sent(&rows, settings(&p), 2);
            let expected = permutation::scatter(&(0..n as u64).collect::<Vec<_>>(), &p);
            assert_eq!(rows.chunks(2).map(|row| row[0]).collect::<Vec<_>>(), expected, "{n} rows");
            assert!(rows.chunks(2).all(|row| row[1] == row[0] + 1000), "rows stay whole");
        }
    }

    #[test]
    fn all_permutations_of_five_rows() {
        fn all(left: &[u32]) -> Vec<Vec<u32>> {
            if left.is_empty() {
                return vec![vec![]];
            }
            let with = |i: usize| {
                let mut rest = left.to_vec();
                let first = rest.remove(i);
                all(&rest).into_iter().map(move |tail| [vec![first], tail].concat())
            };
            (0..left.len()).flat_map(with).collect()
        }
        for p in all(&[0, 1, 2, 3, 4]) {
            let expected: Vec<u64> =
                permutation::invert(&p).expect("a permutation").into_iter().map(u64::from).collect();
            assert_eq!(sent(&[0, 1, 2, 3, 4], settings(&p), 1), expected);
        }
    }
}
