//! Protocols on planes: ANDs, conjunctions, carries, and the tables that the last two are looked up in.

use tacit_math::plane::words_for;
use tacit_math::{Plane, Prg};

use super::streamed::check_streamed;
use super::{
    FEW, MANY, Own, Protocol, Source, Strings, THIN, check, check_rows, check_simulator, check_sources, plane, shape,
    words,
};
use crate::backends::two::Two;
use crate::backends::two::lookups::table::one_hot;
use crate::backends::two::lookups::{ENTRIES, carry, parts};
use crate::backends::two::strategy::Way;
use crate::{Result, Rows};

/// x AND y, for each pair of planes.
fn product(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let (first, second): (Vec<_>, Vec<_>) = x.bits.as_chunks::<2>().0.iter().map(|[x, y]| (x, y)).unzip();
    let bits = b.and_planes(&first, &second, &vec![None; first.len()])?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

/// x AND y XOR z, x AND z, x AND x.
fn group(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let [x0, x1, x2] = [0, 1, 2].map(|i| &x.bits[i]);
    let bits = b.and_planes(&[x0, x0, x0], &[x1, x2, x0], &[Some(x2), None, None])?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

fn silent_conjunctions(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let bits = b.conjunctions(x.bits, Way::Silent(1))?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

fn streamed_conjunctions(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let bits = b.conjunctions(x.bits, Way::Streamed(1))?;
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

/// Carries of the sum of the nodes' own components.
fn carries(b: &mut Two, x: Rows<Two>, way: Way) -> Result<Rows<Two>> {
    let own = x.bits.into_iter().map(|share| share.0).collect();
    let bits = b.carries_of(x.rows, own, way)?.into_iter().flatten().collect();
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

fn silent_carries(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    carries(b, x, Way::Silent(1))
}

fn streamed_carries(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    carries(b, x, Way::Streamed(1))
}

fn carries_of_shared(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let bits = b.carries_of_shared(&x.bits[..2], &x.bits[2..])?.into_iter().flatten().collect();
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

pub(super) const PRODUCT: Protocol<'_> =
    Protocol { name: "and", shape: shape(2, 0), strings: Strings::Bits(1), used: None, run: &product };

const GROUP: Protocol<'_> = Protocol {
    name: "and with a common factor",
    shape: shape(3, 0),
    strings: Strings::Bits(3),
    used: None,
    run: &group,
};

const CONJUNCTION: Protocol<'_> = Protocol {
    name: "silent conjunction",
    shape: shape(3, 0),
    strings: Strings::None,
    used: None,
    run: &silent_conjunctions,
};

const CARRY: Protocol<'_> = Protocol { name: "silent carry", run: &silent_carries, ..CONJUNCTION };

pub(super) const STREAMED_CONJUNCTION: Protocol<'_> =
    Protocol { name: "streamed conjunction", shape: shape(4, 0), run: &streamed_conjunctions, ..CONJUNCTION };

pub(super) const STREAMED_CARRY: Protocol<'_> =
    Protocol { name: "streamed carry", run: &streamed_carries, ..STREAMED_CONJUNCTION };

const OF_SHARED: Protocol<'_> =
    Protocol { name: "carries of shared numbers", run: &carries_of_shared, ..STREAMED_CONJUNCTION };

const ANDS: [Protocol<'_>; 2] = [PRODUCT, GROUP];

const LOOKUPS: [Protocol<'_>; 5] = [CONJUNCTION, STREAMED_CONJUNCTION, CARRY, STREAMED_CARRY, OF_SHARED];

// views: Two::and
// views: Two::and_xor
// views: crates/mpc/src/backends/two/products/and.rs
#[test]
fn ands_tell_nothing() {
    for protocol in &ANDS {
        FEW.into_iter().for_each(|rows| drop(check(protocol, rows, Source::Dealt, THIN)));
        check_sources(protocol, 10);
    }
}

#[test]
fn streamed_ands_tell_nothing() {
    [3, 64, 65].into_iter().for_each(|rows| check_streamed(&PRODUCT, rows, simulated_product));
}

/// Lookups are made in every run, which takes time.
// views: Two::evaluate
// views: crates/mpc/src/backends/two/lookups/conjunction.rs
// views: crates/mpc/src/backends/two/lookups/carry.rs
// views: crates/mpc/src/backends/two/lookups/table.rs
#[test]
fn lookups_tell_nothing() {
    LOOKUPS.iter().for_each(|protocol| drop(check(protocol, 3, Source::Slice, THIN)));
}

#[test]
#[ignore = "minutes: make nightly"]
fn ands_of_many_rows_tell_nothing() {
    for protocol in &ANDS {
        check_rows(protocol, FEW.into_iter().chain(MANY));
    }
}

/// A run makes lookups, whatever the row count, and a row count takes about a thousand: the ends of words for either
/// part of the rows.
#[test]
#[ignore = "minutes: make nightly"]
fn lookups_of_many_rows_tell_nothing() {
    for protocol in &LOOKUPS {
        check_rows(protocol, [1, 64, 65, 577].into_iter());
    }
}

/// The first string of each OT that this node offered is what makes its output right; all else is random.
pub(super) fn simulated_product(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let count = words_for(own.input.rows);
    let [d, e, choices, chosen, one, rest] = [(); 6].map(|()| prg.vector::<u64>(count));
    let [x, y] = [0, 1].map(|which| plane(&own.input, which));
    let out = plane(&own.output, 0);
    let kept = own.input.rows % 64;
    // Behind the last row the output is cut, and the string is as random as any.
    let last = if kept == 0 { !0 } else { (1 << kept) - 1 };
    let zero: Vec<u64> = (0..count)
        .map(|w| {
            let right = out[w] ^ chosen[w] ^ (d[w] ^ x[w]) & y[w] ^ choices[w] & e[w];
            let rows = if w + 1 == count { last } else { !0 };
            right & rows | rest[w] & !rows
        })
        .collect();
    [d, e, choices, chosen, zero, one].iter().map(|part| words(part)).collect()
}

/// As [`simulated_product`]: the sender's first table and what the receiver found are what makes the output right.
fn simulated_conjunction(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let [sending, receiving] = [node, 1 - node].map(|node| parts(own.input.rows)[node].clone());
    let rows = |word: usize| Plane::ones(own.input.rows).words()[word];
    let out = plane(&own.output, 0);
    let flips: Vec<u64> = prg.vector(3 * sending.len());
    let entries: Vec<u64> = prg.vector(ENTRIES * receiving.len());
    let places: [Vec<u64>; 3] = [(); 3].map(|()| prg.vector(receiving.len()));
    let mut tables: Vec<Vec<u64>> = (0..8).map(|_| prg.vector(sending.len())).collect();
    for (at, word) in sending.clone().enumerate() {
        let bits = std::array::from_fn(|i| !(plane(&own.input, i)[word] ^ flips[i * sending.len() + at]));
        let here: [u64; 8] = one_hot::<3, 8>(bits);
        tables[0][at] = (out[word] ^ here[0]) & rows(word) | tables[0][at] & !rows(word);
    }
    let mut found: Vec<u64> = prg.vector(receiving.len());
    for (at, word) in receiving.enumerate() {
        let here: [u64; 8] = one_hot::<3, 8>(places.each_ref().map(|place| place[at]));
        let entry = here[1..].iter().zip(&entries[ENTRIES * at..]).fold(0, |sum, (here, entry)| sum ^ here & entry);
        found[at] = (out[word] ^ entry) & rows(word) | found[at] & !rows(word);
    }
    let mut parts: Vec<Vec<u64>> = places.to_vec();
    parts.push(found);
    parts.extend(tables);
    parts.extend([flips, entries]);
    parts.iter().map(|part| words(part)).collect()
}

/// As [`simulated_conjunction`], of pairs of bits.
fn simulated_carry(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let [sending, receiving] = [node, 1 - node].map(|node| parts(own.input.rows)[node].clone());
    let rows = |word: usize| Plane::ones(own.input.rows).words()[word];
    let flips: Vec<u64> = prg.vector(3 * sending.len());
    let entries: Vec<u64> = prg.vector(carry::SENT * receiving.len());
    let places: [Vec<u64>; 3] = [(); 3].map(|()| prg.vector(receiving.len()));
    let mut tables: Vec<[Vec<u64>; carry::BITS]> =
        (0..8).map(|_| [(); carry::BITS].map(|()| prg.vector(sending.len()))).collect();
    for (at, word) in sending.clone().enumerate() {
        let z: [u64; 3] = std::array::from_fn(|i| !plane(&own.input, i)[word]);
        let d: [u64; 3] = std::array::from_fn(|i| flips[i * sending.len() + at]);
        let entries: [[u64; 8]; carry::BITS] = carry::sums(z).map(|table| carry::moved(table, d));
        for (bit, table) in tables[0].iter_mut().enumerate() {
            table[at] = (plane(&own.output, bit)[word] ^ entries[bit][0]) & rows(word) | table[at] & !rows(word);
        }
    }
    let mut found: [Vec<u64>; carry::BITS] = [(); carry::BITS].map(|()| prg.vector(receiving.len()));
    for (at, word) in receiving.enumerate() {
        let here: [u64; 8] = one_hot::<3, 8>(places.each_ref().map(|place| place[at]));
        for (bit, found) in found.iter_mut().enumerate() {
            let entries = &entries[carry::SENT * at + ENTRIES * bit..];
            let entry = here[1..].iter().zip(entries).fold(0, |sum, (here, entry)| sum ^ here & entry);
            found[at] = (plane(&own.output, bit)[word] ^ entry) & rows(word) | found[at] & !rows(word);
        }
    }
    let tables = tables.into_iter().flatten();
    places.into_iter().chain(found).chain(tables).chain([flips, entries]).map(|part| words(&part)).collect()
}

/// Streamed tables of one digit of the node's own planes: the first pad that the sender has and what the receiver found
/// make the output right.
fn simulated_table<const BITS: usize>(
    node: usize,
    own: &Own,
    prg: &mut Prg,
    strings: impl Fn([u64; 4]) -> [[u64; 16]; BITS],
) -> Vec<Vec<u8>> {
    const SENT: usize = 15;
    let [sending, receiving] = [node, 1 - node].map(|node| parts(own.input.rows)[node].clone());
    let rows = |word: usize| Plane::ones(own.input.rows).words()[word];
    let digit = |word: usize| -> [u64; 4] { std::array::from_fn(|i| plane(&own.input, i)[word]) };
    let mut pads: Vec<u64> = prg.vector(16 * BITS * sending.len());
    for (at, word) in sending.enumerate() {
        for (bit, table) in strings(digit(word)).iter().enumerate() {
            let first = &mut pads[16 * (BITS * at + bit)];
            *first = (plane(&own.output, bit)[word] ^ table[0]) & rows(word) | *first & !rows(word);
        }
    }
    let entries: Vec<u64> = prg.vector(SENT * BITS * receiving.len());
    let mut found: Vec<u64> = prg.vector(BITS * receiving.len());
    for (at, word) in receiving.enumerate() {
        let here: [u64; 16] = one_hot(digit(word));
        for bit in 0..BITS {
            let entries = &entries[SENT * (BITS * at + bit)..];
            let entry = here[1..].iter().zip(entries).fold(0, |sum, (here, entry)| sum ^ here & entry);
            let found = &mut found[BITS * at + bit];
            *found = (plane(&own.output, bit)[word] ^ entry) & rows(word) | *found & !rows(word);
        }
    }
    [pads, found, entries].iter().map(|part| words(part)).collect()
}

/// The tables of a streamed digit, by the sender's part of it.
pub(super) fn conjunction_table(s: [u64; 4]) -> [[u64; 16]; 1] {
    [one_hot(s.map(|s| !s))]
}

pub(super) fn carry_table(s: [u64; 4]) -> [[u64; 16]; carry::BITS] {
    carry::sums(s.map(|s| !s))
}

pub(super) fn simulated_streamed_conjunction(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    simulated_table(node, own, prg, conjunction_table)
}

pub(super) fn simulated_streamed_carry(node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    simulated_table(node, own, prg, carry_table)
}

#[test]
fn gates_are_simulated() {
    for rows in [3, 64, 65] {
        check_simulator(&PRODUCT, rows, simulated_product);
    }
    check_simulator(&CONJUNCTION, 65, simulated_conjunction);
    check_simulator(&CARRY, 65, simulated_carry);
    check_simulator(&STREAMED_CONJUNCTION, 3, simulated_streamed_conjunction);
    check_simulator(&STREAMED_CARRY, 65, simulated_streamed_carry);
}
