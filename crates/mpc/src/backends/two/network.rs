//! Waksman's permutation network for any number of rows: its switches' settings and its evaluation.
//!
//! For n rows, n/2 switches exchange the rows of each pair or not; the first row of each pair goes on to a network of half the
//! size, the second one to another; their outputs meet in pairs again at (n - 1)/2 switches. With n odd, the last row goes to the
//! second, larger network alone. About n log2(n) - n switches. Source: Beauquier, Darrot, "On arbitrary size Waksman
//! networks and their vulnerability", Parallel Processing Letters 2002; routing by the looping algorithm (Opferman,
//! Tsao-Wu, 1971).
//!
//! Settings and evaluation go through the switches in the same order: those before, the first half, the second half, those after.

use crate::Result;

/// The number of switches for n rows.
pub(super) fn switches(n: usize) -> usize {
    match n {
        0 | 1 => 0,
        2 => 1,
        _ => n / 2 + switches(n / 2) + switches(n - n / 2) + (n - 1) / 2,
    }
}

/// The settings, packed, that move row i to the place p[i]: a bit is one where a switch exchanges its rows.
pub(super) fn settings(p: &[u32]) -> Vec<u64> {
    let mut out = Settings { words: vec![0; switches(p.len()).div_ceil(64)], count: 0 };
    route(p, &mut out);
    out.words
}

struct Settings {
    words: Vec<u64>,
    count: usize,
}

impl Settings {
    fn push(&mut self, bit: bool) {
        self.words[self.count / 64] |= u64::from(bit) << (self.count % 64);
        self.count += 1;
    }
}

/// To which half a row goes.
const FIRST: u8 = 0;
const SECOND: u8 = 1;
const OPEN: u8 = 2;

fn route(p: &[u32], out: &mut Settings) {
    let n = p.len();
    if n < 2 {
        return;
    }
    if n == 2 {
        out.push(p[0] == 1);
        return;
    }
    let inverse = tacit_math::permutation::invert(p);
    let side = sides(p, &inverse);
    (0..n / 2).for_each(|i| out.push(side[2 * i] == SECOND));
    let mut halves = [vec![0; n / 2], vec![0; n - n / 2]];
    for (i, &to) in p.iter().enumerate() {
        halves[usize::from(side[i])][i / 2] = to / 2;
    }
    halves.iter().for_each(|half| route(half, out));
    (0..(n - 1) / 2).for_each(|o| out.push(side[inverse[2 * o] as usize] == SECOND));
}

/// The half for each row, such that rows of one pair before or after go to different halves.
fn sides(p: &[u32], inverse: &[u32]) -> Vec<u8> {
    let n = p.len();
    let mut side = vec![OPEN; n];
    // The last place is reached from the second half; other loops may start anywhere.
    follow(p, inverse, &mut side, n - 1, SECOND);
    for place in (0..n - 1).step_by(2) {
        follow(p, inverse, &mut side, place, FIRST);
    }
    side
}

/// Settles the loop through a place that is to be reached from a half.
fn follow(p: &[u32], inverse: &[u32], side: &mut [u8], mut place: usize, half: u8) {
    let n = p.len();
    loop {
        let row = inverse[place] as usize;
        if side[row] != OPEN {
            return;
        }
        side[row] = half;
        let partner = row ^ 1;
        if partner >= n {
            return;
        }
        side[partner] = 1 - half;
        place = p[partner] as usize ^ 1;
        if place >= n {
            return;
        }
    }
}

/// What the switches do to a pair of rows, called in the order of the settings.
pub(super) trait Switches {
    /// Lanes of a row.
    fn lanes(&self) -> usize;

    fn switch(&mut self, a: &mut [u64], b: &mut [u64]) -> Result<()>;
}

/// Sends rows through the network.
pub(super) fn evaluate(rows: &mut [u64], switches: &mut impl Switches) -> Result<()> {
    if switches.lanes() == 0 {
        return Ok(());
    }
    let mut scratch = vec![0; rows.len()];
    pass(rows, &mut scratch, switches)
}

fn pass<S: Switches>(rows: &mut [u64], scratch: &mut [u64], switches: &mut S) -> Result<()> {
    let width = switches.lanes();
    let n = rows.len() / width;
    if n < 2 {
        return Ok(());
    }
    if n == 2 {
        let (a, b) = rows.split_at_mut(width);
        return switches.switch(a, b);
    }
    let pairs = n / 2;
    let (first, second) = scratch.split_at_mut(pairs * width);
    let halves = first.chunks_exact_mut(width).zip(second.chunks_exact_mut(width));
    for (pair, (a, b)) in rows.chunks_exact(2 * width).zip(halves) {
        a.copy_from_slice(&pair[..width]);
        b.copy_from_slice(&pair[width..]);
        switches.switch(a, b)?;
    }
    // The last row, if it is in no pair.
    second[pairs * width..].copy_from_slice(&rows[2 * pairs * width..]);
    let (free, other) = rows.split_at_mut(pairs * width);
    pass(first, free, switches)?;
    pass(second, other, switches)?;
    let switched = (n - 1) / 2;
    let halves = first.chunks_exact(width).zip(second.chunks_exact(width));
    for (number, (pair, (a, b))) in rows.chunks_exact_mut(2 * width).zip(halves).enumerate() {
        let (to_a, to_b) = pair.split_at_mut(width);
        to_a.copy_from_slice(a);
        to_b.copy_from_slice(b);
        if number < switched {
            switches.switch(to_a, to_b)?;
        }
    }
    rows[2 * pairs * width..].copy_from_slice(&second[pairs * width..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use tacit_math::{Prg, Seed, permutation};

    use super::{Switches, evaluate, settings, switches};
    use crate::Result;

    struct InClear {
        settings: Vec<u64>,
        next: usize,
        lanes: usize,
    }

    impl Switches for InClear {
        fn lanes(&self) -> usize {
            self.lanes
        }

        fn switch(&mut self, a: &mut [u64], b: &mut [u64]) -> Result<()> {
            if self.settings[self.next / 64] >> (self.next % 64) & 1 == 1 {
                a.swap_with_slice(b);
            }
            self.next += 1;
            Ok(())
        }
    }

    #[test]
    fn every_permutation_is_routed() {
        let mut prg = Prg::new(&Seed::from_bytes([7; 16]));
        for n in (0..70).chain([127, 128, 129, 1000, 4097]) {
            let p = permutation::random(n, &mut prg);
            let mut rows: Vec<u64> = (0..n as u64).flat_map(|i| [i, i + 1000]).collect();
            let mut network = InClear { settings: settings(&p), next: 0, lanes: 2 };
            evaluate(&mut rows, &mut network).expect("no message is needed");
            assert_eq!(network.next, switches(n), "{n} rows");
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
            let mut rows: Vec<u64> = (0..5).collect();
            let mut network = InClear { settings: settings(&p), next: 0, lanes: 1 };
            evaluate(&mut rows, &mut network).expect("no message is needed");
            let expected = permutation::invert(&p).into_iter().map(u64::from).collect::<Vec<_>>();
            assert_eq!(rows, expected);
        }
    }
}
