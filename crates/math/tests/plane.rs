//! Bit planes against vectors of booleans.

use proptest::prelude::*;
use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg, Seed, permutation, transpose};

/// Sizes around word borders.
const SIZES: [usize; 8] = [0, 1, 63, 64, 65, 127, 128, 1000];

/// A plane over random words, and its rows.
fn random(rows: usize, prg: &mut Prg) -> (Plane, Vec<bool>) {
    let plane = Plane::from_words(rows, prg.vector(words_for(rows)));
    let bools = plane.to_bools();
    (plane, bools)
}

/// Runs a check on a random plane of every size, with the generator for more randomness.
fn at_every_size(mut check: impl FnMut(Plane, Vec<bool>, &mut Prg)) {
    let mut prg = Prg::new(&Seed::from_bytes([11; 16]));
    for rows in SIZES {
        for _ in 0..5 {
            let (plane, bools) = random(rows, &mut prg);
            check(plane, bools, &mut prg);
        }
    }
}

#[test]
fn constructors() {
    for rows in SIZES {
        assert_eq!(Plane::zeros(rows).to_bools(), vec![false; rows]);
        assert_eq!(Plane::ones(rows).to_bools(), vec![true; rows]);
        assert_eq!(Plane::constant(rows, false).to_bools(), vec![false; rows]);
        assert_eq!(Plane::constant(rows, true).to_bools(), vec![true; rows]);
        assert_eq!(Plane::zeros(rows).words().len(), words_for(rows));
        let thirds = Plane::from_fn(rows, |i| i % 3 == 0);
        assert_eq!(thirds.to_bools(), (0..rows).map(|i| i % 3 == 0).collect::<Vec<_>>());
        assert!((0..rows).all(|i| thirds.get(i) == (i % 3 == 0)));
    }
    assert_eq!((Plane::default().rows(), words_for(64), words_for(65)), (0, 1, 2));
}

#[test]
fn logic() {
    at_every_size(|a, x, prg| {
        let (b, y) = random(a.rows(), prg);
        let pairs = || x.iter().copied().zip(y.iter().copied());
        assert_eq!(a.xor(&b).to_bools(), pairs().map(|(x, y)| x ^ y).collect::<Vec<_>>());
        assert_eq!(a.and(&b).to_bools(), pairs().map(|(x, y)| x & y).collect::<Vec<_>>());
        assert_eq!(a.not().to_bools(), x.iter().map(|x| !x).collect::<Vec<_>>());
        let mut sum = a.clone();
        sum.xor_assign(&b);
        assert_eq!(sum.to_bools(), a.xor(&b).to_bools());
        sum.change_words(|words| words.fill(0));
        assert_eq!(sum.to_bools(), vec![false; a.rows()]);
    });
}

#[test]
fn slices_everywhere() {
    let mut prg = Prg::new(&Seed::from_bytes([12; 16]));
    let (plane, bools) = random(200, &mut prg);
    for start in 0..=200 {
        for rows in 0..=200 - start {
            let slice = plane.slice(start, rows);
            assert_eq!(slice.words().len(), words_for(rows));
            assert_eq!(slice.to_bools(), bools[start..start + rows], "{rows} rows from {start}");
        }
    }
}

#[test]
fn shifts() {
    at_every_size(|plane, bools, _| {
        let rows = bools.len();
        let down: Vec<bool> = (0..rows).map(|i| i > 0 && bools[i - 1]).collect();
        let up: Vec<bool> = (0..rows).map(|i| i + 1 < rows && bools[i + 1]).collect();
        assert_eq!(plane.shift_down().to_bools(), down);
        assert_eq!(plane.shift_up().to_bools(), up);
    });
}

#[test]
fn prefix_xor() {
    at_every_size(|plane, bools, _| {
        let mut parity = false;
        let expected: Vec<bool> = bools
            .iter()
            .map(|bit| {
                parity ^= bit;
                parity
            })
            .collect();
        assert_eq!(plane.prefix_xor().to_bools(), expected);
    });
}

#[test]
fn gathers() {
    at_every_size(|plane, bools, prg| {
        for rows in SIZES {
            let rows = if bools.is_empty() { 0 } else { rows };
            let indices: Vec<u32> = prg.vector(rows).iter().map(|x: &u32| x % bools.len() as u32).collect();
            let expected: Vec<bool> = indices.iter().map(|&i| bools[i as usize]).collect();
            let gathered = plane.gather(&indices);
            assert_eq!(gathered.words().len(), words_for(rows));
            assert_eq!(gathered.to_bools(), expected);
        }
    });
}

#[test]
#[should_panic(expected = "index 70 in a plane of 70 rows")]
fn gather_refuses_rows_beyond_the_last() {
    Plane::zeros(70).gather(&[3, 70]);
}

#[test]
#[should_panic(expected = "slice within the plane")]
fn slice_refuses_rows_beyond_the_last() {
    Plane::zeros(70).slice(6, 65);
}

#[test]
#[should_panic(expected = "planes of one length")]
fn logic_refuses_other_lengths() {
    Plane::zeros(64).and(&Plane::zeros(63));
}

#[test]
#[should_panic(expected = "words of a plane of 65 rows")]
fn words_must_fit() {
    Plane::from_words(65, vec![0]);
}

#[test]
fn nothing_of_the_rows_is_printed() {
    assert_eq!(format!("{:?}", Plane::ones(65)), "Plane(65 rows)");
}

/// Row counts at and around the ends of words and of the tiles in which rows are transposed.
fn around_borders() -> impl Strategy<Value = usize> {
    let near = |border: usize| (border - 2..border + 3).boxed();
    prop_oneof![0..200usize, near(64), near(128), near(512), near(576), near(1024), 500..1100usize]
}

/// What is in the words behind the last row, which is nothing.
fn behind(plane: &Plane) -> u64 {
    let kept = plane.rows() % 64;
    plane.words().last().map_or(0, |last| if kept == 0 { 0 } else { last >> kept })
}

proptest! {
    #[test]
    fn nothing_is_behind_the_last_row(rows in around_borders(), other in around_borders(), seed: [u8; 16]) {
        let mut prg = Prg::new(&Seed::from_bytes(seed));
        let (a, b) = (random(rows, &mut prg).0, random(rows, &mut prg).0);
        let c = random(other, &mut prg).0;
        let mut assigned = a.clone();
        assigned.xor_assign(&b);
        let mut changed = a.clone();
        changed.change_words(|words| words.fill(!0));
        let start = prg.vector::<u64>(1)[0] as usize % (rows + 1);
        let indices: Vec<u32> = prg.vector(if rows == 0 { 0 } else { other });
        let indices: Vec<u32> = indices.into_iter().map(|index| index % rows.max(1) as u32).collect();
        let planes = [
            Plane::ones(rows),
            Plane::constant(rows, true),
            Plane::from_words(rows, vec![!0; words_for(rows)]),
            Plane::random(rows, &mut prg),
            Plane::from_fn(rows, |_| true),
            a.xor(&b),
            a.and(&b),
            a.not(),
            assigned,
            changed,
            a.slice(0, start),
            a.slice(start, rows - start),
            a.slice(start / 2, start - start / 2),
            Plane::concat(&[&a, &c, &b]),
            Plane::concat(&[&a, &Plane::zeros(0)]),
            a.shift_down(),
            a.shift_up(),
            a.prefix_xor(),
            a.gather(&indices),
            a,
        ];
        for (number, plane) in planes.iter().enumerate() {
            prop_assert_eq!(behind(plane), 0, "plane {} of {} rows", number, plane.rows());
        }
    }

    #[test]
    fn transposes_leave_nothing_behind_the_last_row(rows in around_borders(), width in 0..129usize, other in around_borders(), seed: [u8; 16]) {
        let mut prg = Prg::new(&Seed::from_bytes(seed));
        let (narrow, wide): (Vec<u64>, Vec<u128>) = (prg.vector(rows), prg.vector(rows));
        let narrow = transpose::planes_of_rows(&narrow, width.min(64));
        let from: Vec<u32> = prg.vector(if rows == 0 { 0 } else { other });
        let from: Vec<u32> = from.into_iter().map(|row| row % rows.max(1) as u32).collect();
        let gathered = transpose::gather_planes(&narrow.iter().collect::<Vec<_>>(), &from);
        let to = permutation::random(rows, &mut prg);
        let scattered = transpose::scatter_planes(&narrow.iter().collect::<Vec<_>>(), &to);
        let wide = transpose::planes_of_wide_rows(&wide, width);
        for plane in narrow.iter().chain(&wide).chain(&gathered).chain(&scattered) {
            prop_assert_eq!(behind(plane), 0, "{} planes of {} rows", width, plane.rows());
        }
    }

    #[test]
    fn scattered_planes_are_scattered_columns(rows in 0..1500usize, width in 0..65usize, seed: [u8; 16]) {
        let mut prg = Prg::new(&Seed::from_bytes(seed));
        let planes: Vec<Plane> = (0..width).map(|_| Plane::random(rows, &mut prg)).collect();
        let to = permutation::random(rows, &mut prg);
        let scattered = transpose::scatter_planes(&planes.iter().collect::<Vec<_>>(), &to);
        prop_assert_eq!(scattered.len(), width);
        for (plane, scattered) in planes.iter().zip(scattered) {
            prop_assert_eq!(scattered.to_bools(), permutation::scatter(&plane.to_bools(), &to));
        }
    }

    #[test]
    fn concat_joins_any_lengths(lengths in prop::collection::vec(prop_oneof![0usize..200, Just(64), Just(128)], 0..6), seed: [u8; 16]) {
        let mut prg = Prg::new(&Seed::from_bytes(seed));
        let parts: Vec<(Plane, Vec<bool>)> = lengths.iter().map(|&rows| random(rows, &mut prg)).collect();
        let whole = Plane::concat(&parts.iter().map(|(plane, _)| plane).collect::<Vec<_>>());
        let expected: Vec<bool> = parts.iter().flat_map(|(_, bools)| bools.iter().copied()).collect();
        prop_assert_eq!(whole.words().len(), words_for(expected.len()));
        prop_assert_eq!(whole.to_bools(), expected);
        let mut start = 0;
        for (plane, bools) in &parts {
            prop_assert_eq!(&whole.slice(start, plane.rows()).to_bools(), bools);
            start += plane.rows();
        }
    }

    #[test]
    fn words_hold_64_rows(bools in prop::collection::vec(any::<bool>(), 0..300)) {
        let plane = Plane::from_fn(bools.len(), |i| bools[i]);
        prop_assert_eq!(plane.to_bools(), bools.clone());
        for (i, bit) in bools.iter().enumerate() {
            prop_assert_eq!(plane.words()[i / 64] >> (i % 64) & 1 == 1, *bit);
        }
    }
}
