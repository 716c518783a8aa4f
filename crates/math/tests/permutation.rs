//! Permutations: uniformity on small sizes, and the laws of scatter, gather and invert.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tacit_math::permutation::{gather, invert, is_permutation, random, scatter};
use tacit_math::{Prg, Seed};

/// Chi-square over all n! outcomes: (expected mean = degrees of freedom k, deviation sqrt(2k)); six deviations.
#[test]
fn every_permutation_is_as_likely() {
    let mut prg = Prg::new(&Seed::from_bytes([31; 16]));
    for (n, outcomes) in [(2, 2), (3, 6), (4, 24), (5, 120)] {
        let draws = 2000 * outcomes;
        let mut counts = BTreeMap::new();
        for _ in 0..draws {
            *counts.entry(random(n, &mut prg)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), outcomes);
        let deviations: f64 = counts.values().map(|&count| (f64::from(count) - 2000.0).powi(2) / 2000.0).sum();
        let freedom = (outcomes - 1) as f64;
        assert!(deviations < freedom + 6.0 * (2.0 * freedom).sqrt(), "chi-square {deviations} for n = {n}");
    }
}

/// Every row is as likely to land in every eighth of a longer vector.
#[test]
fn rows_land_everywhere() {
    let mut prg = Prg::new(&Seed::from_bytes([32; 16]));
    let mut counts = [[0_u32; 8]; 8];
    for _ in 0..100 {
        for (i, to) in random(1000, &mut prg).into_iter().enumerate() {
            counts[i / 125][to as usize / 125] += 1;
        }
    }
    let expected = 100_000.0 / 64.0;
    let deviations: f64 = counts.iter().flatten().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
    assert!(deviations < 49.0 + 6.0 * 98_f64.sqrt(), "chi-square {deviations}");
}

#[test]
fn holders_of_a_seed_draw_the_same() {
    let seed = Seed::from_bytes([33; 16]);
    assert_eq!(random(5000, &mut Prg::new(&seed)), random(5000, &mut Prg::new(&seed)));
}

#[test]
fn edges() {
    let mut prg = Prg::new(&Seed::from_bytes([34; 16]));
    assert!(random(0, &mut prg).is_empty());
    assert_eq!(random(1, &mut prg), [0]);
    assert!(is_permutation(&random(1 << 16, &mut prg)));
}

#[test]
fn directions() {
    let p = [2, 0, 1];
    assert_eq!(scatter(&['a', 'b', 'c'], &p), ['b', 'c', 'a']);
    assert_eq!(gather(&['a', 'b', 'c'], &p), ['c', 'a', 'b']);
    assert_eq!(invert(&p), Some(vec![1, 2, 0]));
    assert_eq!(gather(&[7, 8], &[1, 1, 0]), [8, 8, 7], "a gather may repeat rows");
}

#[test]
fn what_is_no_permutation_has_no_inverse() {
    assert_eq!(invert(&[]), Some(vec![]));
    for p in [&[1][..], &[0, 0], &[0, 2], &[2, 0, 0], &[0, 1, u32::MAX], &[u32::MAX; 3]] {
        assert_eq!(invert(p), None, "{p:?}");
        assert!(!is_permutation(p), "{p:?}");
    }
}

#[test]
#[should_panic(expected = "one destination per row")]
fn scatter_needs_a_destination_per_row() {
    scatter(&[1, 2], &[0]);
}

proptest! {
    #[test]
    fn laws(n in 0usize..3000, seed: [u8; 16]) {
        let mut prg = Prg::new(&Seed::from_bytes(seed));
        let (p, q) = (random(n, &mut prg), random(n, &mut prg));
        let x: Vec<u64> = prg.vector(n);
        let mut sorted = p.clone();
        sorted.sort_unstable();
        prop_assert!(sorted.iter().copied().eq(0..n as u32) && is_permutation(&p));
        let mut wrong = p.clone();
        wrong.extend(p.first());
        prop_assert_eq!(is_permutation(&wrong), n == 0);
        prop_assert_eq!(&gather(&scatter(&x, &p), &p), &x);
        prop_assert_eq!(&scatter(&gather(&x, &p), &p), &x);
        let inverse = invert(&p).expect("a permutation");
        prop_assert_eq!(&gather(&x, &p), &scatter(&x, &inverse));
        prop_assert_eq!(invert(&inverse), Some(p.clone()));
        // Scattering by p then q is scattering by q after p.
        prop_assert_eq!(scatter(&scatter(&x, &p), &q), scatter(&x, &gather(&q, &p)));
    }
}
