//! Faults that memcheck must find, and correct code of which it must say nothing.
#![cfg(tacit_memcheck)]

use std::hint::black_box;

use tacit_marks::{findings, public, published, secret};

fn secrets() -> [u8; 64] {
    let mut bytes: [u8; 64] = std::array::from_fn(|i| i as u8);
    secret(black_box(&mut bytes));
    bytes
}

/// Calls, so that no compiler makes a conditional move of the branch.
#[inline(never)]
fn left() -> u64 {
    black_box(1)
}

#[inline(never)]
fn right() -> u64 {
    black_box(2)
}

#[test]
fn a_planted_branch_is_found() {
    let found = findings("planted branch", || {
        let bytes = secrets();
        black_box(if black_box(bytes[3]) & 1 == 1 { left() } else { right() });
    });
    assert!(found > 0, "memcheck does not see a branch on a secret");
}

#[test]
fn a_planted_index_is_found() {
    let found = findings("planted index", || {
        let (bytes, table) = (secrets(), black_box([7_u32; 256]));
        black_box(table[usize::from(black_box(bytes[3]))]);
    });
    assert!(found > 0, "memcheck does not see an address made of a secret");
}

#[test]
fn a_planted_early_end_of_a_comparison_is_found() {
    let found = findings("planted comparison", || {
        let bytes = secrets();
        black_box(bytes.iter().position(|&byte| byte == 200));
    });
    assert!(found > 0, "memcheck does not see where a search ends");
}

#[test]
fn arithmetic_and_masks_are_no_finding() {
    let found = findings("arithmetic", || {
        let mut bytes = secrets();
        let mask = (bytes[0] & 1).wrapping_neg();
        bytes.iter_mut().for_each(|byte| *byte = (*byte ^ 0x55).wrapping_mul(3) & mask | 9 & !mask);
        black_box(&bytes);
    });
    assert_eq!(found, 0);
}

#[test]
fn what_was_made_public_is_no_finding() {
    let found = findings("published", || {
        let mut bytes = secrets();
        let sum = bytes.iter().fold(0_u8, |sum, &byte| sum.wrapping_add(byte));
        black_box(if published(sum) & 1 == 1 { left() } else { right() });
        public(&mut bytes);
        black_box(bytes.iter().position(|&byte| byte == 200));
    });
    assert_eq!(found, 0);
}
