//! Protocols on ring elements: products of bits and elements, products of elements, chosen elements, and planes that become numbers.

use tacit_math::Prg;
use tacit_math::plane::words_for;
use tacit_ot::silent::lookup::STRINGS;

use super::{
    FEW, Own, Protocol, Source, Strings, check, check_rows, check_simulator, check_sources, plane, shape, words,
};
use crate::backends::two::choose::exchange;
use crate::backends::two::conjunction::ENTRIES;
use crate::backends::two::multiply::{chosen, packed_elements, weighted_sum};
use crate::backends::two::{Share, Two};
use crate::bits::planes_of;
use crate::{Result, Rows};

fn selected(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let r64 = b.bits_times_vectors(&[&x.bits[0]], &[&x.r64[0]])?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

fn injected(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let r64 = b.inject_bits(&[&x.bits[0], &x.bits[1]])?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

fn multiplied(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let r64 = b.inner_products_of_vectors(&[vec![(&x.r64[0], &x.r64[1])]])?;
    Ok(Rows { r64, ..Rows::empty(x.rows) })
}

/// One of seven elements, or zero.
fn looked_up(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let factors: Vec<&[u64]> = x.r64.iter().map(|share| &share.0[..]).collect();
    let chosen = b.chosen(&x.bits.iter().collect::<Vec<_>>(), &factors)?;
    Ok(Rows { r64: vec![Share(chosen)], ..Rows::empty(x.rows) })
}

/// The number that node 1 gets, as planes: what is opened to it, and nothing at node 0.
fn unmasked(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let mask = if b.me() == 0 { x.r64[0].0.clone() } else { vec![0; x.rows] };
    let number: Share<Vec<u64>> = b.ring_unmask(Share(mask), &x.bits.iter().collect::<Vec<_>>())?;
    let number = if b.me() == 0 { vec![0; x.rows] } else { number.0 };
    Ok(Rows { bits: planes_of(&number, 64).into_iter().map(Share).collect(), ..Rows::empty(x.rows) })
}

const ELEMENTS: Strings = Strings::Elements(8);

const SELECT: Protocol<'_> =
    Protocol { name: "select", shape: shape(1, 1), strings: ELEMENTS, used: None, run: &selected };
const INJECT: Protocol<'_> =
    Protocol { name: "inject", shape: shape(2, 0), strings: ELEMENTS, used: None, run: &injected };
const MULTIPLY: Protocol<'_> =
    Protocol { name: "multiply", shape: shape(0, 2), strings: ELEMENTS, used: None, run: &multiplied };
const CHOOSE: Protocol<'_> =
    Protocol { name: "choose", shape: shape(3, 7), strings: Strings::None, used: None, run: &looked_up };
const UNMASK: Protocol<'_> =
    Protocol { name: "unmask", shape: shape(64, 1), strings: Strings::None, used: None, run: &unmasked };

// views: Two::inject
// views: Two::select
// views: crates/mpc/src/backends/two/bit_product.rs
// views: crates/mpc/src/backends/two/batches.rs
#[test]
fn products_tell_nothing() {
    check(&SELECT, 3, Source::Slice, None);
    check(&INJECT, 10, Source::Dealt, None);
    check(&MULTIPLY, 1, Source::Dealt, None);
}

// views: crates/mpc/src/backends/two/choose.rs
#[test]
fn chosen_elements_tell_nothing() {
    check(&CHOOSE, 3, Source::Slice, None);
}

// views: Two::unmask
// views: crates/mpc/src/backends/two/convert.rs
#[test]
fn conversions_open_what_is_masked_and_nothing_behind_it() {
    for source in [Source::Slice, Source::Concat, Source::Kept] {
        check(&UNMASK, 3, source, None);
    }
}

#[test]
#[ignore = "minutes: make nightly"]
fn numbers_of_many_rows_tell_nothing() {
    for protocol in [SELECT, INJECT, CHOOSE, UNMASK] {
        check_rows(&protocol, FEW.into_iter().chain([130]));
    }
    check_sources(&MULTIPLY, 3);
}

fn bytes(numbers: &[u64]) -> Vec<u8> {
    words(numbers)
}

fn bit(words: &[u64], row: usize) -> u64 {
    words[row / 64] >> (row % 64) & 1
}

/// x (1 - 2 bit).
fn signed(bit: u64, x: u64) -> u64 {
    if bit == 1 { x.wrapping_neg() } else { x }
}

/// The first string of each OT that this node offered is what makes its output right; all else is random.
fn simulated_selection(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let (rows, all) = (own.input.rows, words_for(own.input.rows));
    let [flips, choices] = [(); 2].map(|()| prg.vector::<u64>(all));
    let masked: Vec<u64> = prg.vector(rows);
    let [strings, mut zero, one] = [(); 3].map(|()| prg.vector::<u64>(64 * all));
    for row in 0..rows {
        let (x, b) = (own.input.r64[0][row], bit(plane(&own.input, 0), row));
        let (c, d) = (bit(&choices, row), bit(&flips, row));
        let received = signed(c ^ b, strings[row].wrapping_add(c.wrapping_mul(masked[row])));
        let sent = x.wrapping_mul(b).wrapping_add(signed(b, x).wrapping_mul(d));
        zero[row] = signed(d, sent.wrapping_add(received).wrapping_sub(own.output.r64[0][row]));
    }
    [flips, masked, choices, strings, zero, one].iter().map(|part| bytes(part)).collect()
}

/// As [`simulated_selection`]: the first of the first strings of each product.
fn simulated_product(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let rows = own.input.rows;
    let packed = packed_elements(64);
    let [differences, choices] = [(); 2].map(|()| prg.vector::<u64>(rows));
    let masked: Vec<u64> = prg.vector(rows * packed);
    let [strings, mut zero, one] = [(); 3].map(|()| prg.vector::<u64>(64 * rows));
    let sum = |strings: &[u64]| weighted_sum::<u64>(&strings.iter().map(|&s| s.into()).collect::<Vec<u128>>());
    for row in 0..rows {
        let [x, y] = [0, 1].map(|which| own.input.r64[which][row]);
        let product = 64 * row..64 * (row + 1);
        let received = sum(&strings[product.clone()])
            .wrapping_add(chosen(&masked[packed * row..packed * (row + 1)], choices[row]));
        let share = x.wrapping_mul(y).wrapping_add(x.wrapping_mul(differences[row])).wrapping_add(received);
        zero[product.start] = 0;
        let others = sum(&zero[product.clone()]);
        zero[product.start] = share.wrapping_sub(own.output.r64[0][row]).wrapping_sub(others);
    }
    [differences, masked, choices, strings, zero, one].iter().map(|part| bytes(part)).collect()
}

/// The first element of the table that this node offered is what makes its output right.
fn simulated_choice(_node: usize, own: &Own, prg: &mut Prg) -> Vec<Vec<u8>> {
    let (rows, all) = (own.input.rows, words_for(own.input.rows));
    let places: [Vec<u64>; 3] = [(); 3].map(|()| prg.vector(all));
    let flips: Vec<u64> = prg.vector(3 * all);
    let entries: Vec<u64> = prg.vector(ENTRIES * rows);
    let found: Vec<u64> = prg.vector(64 * all);
    let mut tables: Vec<u64> = prg.vector(STRINGS * 64 * all);
    for row in 0..rows {
        let mut table: [u64; STRINGS] = std::array::from_fn(|t| if t == 0 { 0 } else { own.input.r64[t - 1][row] });
        for i in 0..3 {
            exchange(&mut table, i, bit(plane(&own.input, i), row) ^ bit(&flips[i * all..], row));
        }
        let place = (0..3).fold(0, |place, i| place | (bit(&places[i], row) as usize) << i);
        let entry = if place == 0 { 0 } else { entries[ENTRIES * row + place - 1] };
        let received = found[row].wrapping_add(entry);
        tables[STRINGS * row] = table[0].wrapping_add(received).wrapping_sub(own.output.r64[0][row]);
    }
    let mut parts = places.to_vec();
    parts.extend([found, tables, flips, entries]);
    parts.iter().map(|part| bytes(part)).collect()
}

/// Node 1 gets what its output is more than its own components.
fn simulated_unmasking(node: usize, own: &Own, _prg: &mut Prg) -> Vec<Vec<u8>> {
    let message = |j: usize| own.output.bits[j].xor(&own.input.bits[j]).words().to_vec();
    if node == 0 { vec![] } else { (0..64).map(|j| words(&message(j))).collect() }
}

#[test]
fn numbers_are_simulated() {
    check_simulator(&SELECT, 3, simulated_selection);
    check_simulator(&SELECT, 65, simulated_selection);
    check_simulator(&MULTIPLY, 2, simulated_product);
    check_simulator(&UNMASK, 3, simulated_unmasking);
    check_simulator(&CHOOSE, 3, simulated_choice);
}
