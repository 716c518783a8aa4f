//! Faults planted in the protocols: the battery finds what a node could compute if they were not what they are.

use std::mem::MaybeUninit;

use tacit_math::half_gates::{Gate, GateKeys, Sum};
use tacit_math::{Prg, Seed};
use tacit_views::{Kind, View, repeats};

use super::numbers::{bit, signed};
use super::streamed::{AT_ONCE, watch_streamed};
use super::{
    NODES, Own, Protocol, Simulator, Source, Strings, THIN, findings, gates, numbers, plane, runs_for, runs_of, shape,
    told_apart, watch, words,
};
use crate::backends::two::Two;
use crate::backends::two::lookups::parts;
use crate::{Result, Rows};

/// Two ANDs from the same OTs.
fn twice(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let used = b.stock.used();
    let mut bits = b.and_planes(&[&x.bits[0]], &[&x.bits[1]], &[None])?;
    b.stock.rewind(used);
    bits.extend(b.and_planes(&[&x.bits[2]], &[&x.bits[3]], &[None])?);
    Ok(Rows { bits, ..Rows::empty(x.rows) })
}

#[test]
fn ots_that_serve_twice_are_found() {
    let protocol =
        Protocol { name: "and twice", shape: shape(4, 0), strings: Strings::Bits(1), used: None, run: &twice };
    let owns = watch(&protocol, 10, Source::Dealt, THIN, runs_for(&protocol, 10, Source::Dealt, THIN));
    for node in 0..NODES {
        let found = findings(&runs_of(&owns, node), 10).join("\n");
        assert!(found.contains("linear relations with secrets"), "node {node}: {found}");
    }
}

#[test]
fn a_lane_without_a_mask_is_found() {
    let protocol = gates::PRODUCT;
    let runs = runs_for(&protocol, 10, Source::Dealt, THIN);
    let mut owns = watch(&protocol, 10, Source::Dealt, THIN, runs);
    assert_eq!(findings(&runs_of(&owns, 0), 10), Vec::<String>::new());
    // Row 3 of e as it would be if node 1 did not mask it.
    let [first, second] = &mut owns;
    for (own, peer) in first.iter_mut().zip(second) {
        let mut view = View::default();
        for (number, part) in own.seen.parts().iter().enumerate() {
            let mut bytes = part.bytes.clone();
            if number == 1 {
                bytes[0] = bytes[0] & !(1 << 3) | plane(&peer.input, 1)[0] as u8 & 1 << 3;
            }
            view.add(part.kind, &part.name, bytes);
        }
        own.seen = view;
    }
    let found = findings(&runs_of(&owns, 0), 10).join("\n");
    assert!(found.contains("linear relations with secrets"), "{found}");
}

/// What a node sends in a call whose masks come from these correlations: the protocols' own steps.
type Send = fn(node: usize, own: &Own, masks: &[Vec<u64>]) -> Vec<Vec<u64>>;

/// What the correlations gave a node, part by part.
fn drawn(own: &Own) -> Vec<Vec<u64>> {
    own.seen.only(&[Kind::Drawn]).parts().iter().map(|part| bytemuck::pod_collect_to_vec(&part.bytes)).collect()
}

/// The calls of both nodes, had each sent what it has masked by what `masks` says.
fn resent(owns: &[Vec<Own>; NODES], send: Send, masks: impl Fn(&[Own], usize) -> Vec<Vec<u64>>) -> [Vec<Own>; NODES] {
    std::array::from_fn(|node| {
        let peer = &owns[1 - node];
        let received = |(call, own): (usize, &Own)| {
            let mut messages = send(1 - node, &peer[call], &masks(peer, call)).into_iter();
            let mut seen = View::default();
            for part in own.seen.parts() {
                let bytes = match part.kind {
                    Kind::Received => words(&messages.next().expect("as many messages")),
                    _ => part.bytes.clone(),
                };
                assert_eq!(bytes.len(), part.bytes.len());
                seen.add(part.kind, &part.name, bytes);
            }
            Own { seen, ..own.clone() }
        };
        owns[node].iter().enumerate().map(received).collect()
    })
}

/// Asserts that the steps are those of the protocol. Asserts also that the protocol's simulator is told from what the
/// steps send under masks that are not what they are. Every `count` calls are a run.
fn check_faults(
    name: &str,
    owns: &[Vec<Own>; NODES],
    (send, simulator, count): (Send, Simulator, usize),
    faults: [(&str, fn(&[Own], usize) -> Vec<Vec<u64>>); 2],
) {
    let honest = resent(owns, send, |calls, call| drawn(&calls[call]));
    assert!(honest.iter().flatten().zip(owns.iter().flatten()).all(|(own, sent)| own.seen == sent.seen), "{name}");
    assert_eq!(told_apart(name, &honest, simulator, count), [const { vec![] }; NODES], "{name}");
    for (fault, masks) in faults {
        let found = told_apart(name, &resent(owns, send, masks), simulator, count);
        assert!(found.iter().all(|found| !found.is_empty()), "{name}, {fault}: {found:?}");
    }
}

/// Those of the call before, in every other call.
fn again(calls: &[Own], call: usize) -> Vec<Vec<u64>> {
    drawn(&calls[call - call % AT_ONCE])
}

fn none(calls: &[Own], call: usize) -> Vec<Vec<u64>> {
    drawn(&calls[call]).iter().map(|part| vec![0; part.len()]).collect()
}

/// The pad of one string of a table for the next one, too.
fn one_for_two(calls: &[Own], call: usize) -> Vec<Vec<u64>> {
    let mut parts = drawn(&calls[call]);
    parts[0].as_chunks_mut::<16>().0.iter_mut().for_each(|pads| pads[2] = pads[1]);
    parts
}

fn sent_of_product(_node: usize, own: &Own, masks: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let [choices, _, zero, one] = masks else { unreachable!("what OTs give") };
    let [x, y] = [0, 1].map(|which| plane(&own.input, which));
    let d = x.iter().zip(choices).map(|(x, c)| x ^ c).collect();
    let e = y.iter().zip(zero.iter().zip(one)).map(|(y, (zero, one))| y ^ zero ^ one).collect();
    vec![d, e]
}

/// The bits of one plane, and elements under a node's own strings.
fn flips_and_masked(bits: &[u64], elements: &[u64], masks: &[Vec<u64>]) -> [Vec<u64>; 2] {
    let [choices, _, zero, one] = masks else { unreachable!("what OTs give") };
    let flips = bits.iter().zip(choices).map(|(b, c)| b ^ c).collect();
    let masked =
        elements.iter().zip(zero.iter().zip(one)).map(|(s, (zero, one))| zero.wrapping_sub(*one).wrapping_add(*s));
    [flips, masked.collect()]
}

fn sent_of_selection(_node: usize, own: &Own, masks: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let bits = plane(&own.input, 0);
    let elements: Vec<u64> = own.input.r64[0].iter().enumerate().map(|(row, &x)| signed(bit(bits, row), x)).collect();
    flips_and_masked(bits, &elements, masks).to_vec()
}

fn sent_of_injection(node: usize, own: &Own, masks: &[Vec<u64>]) -> Vec<Vec<u64>> {
    // Node 1 gives the elements for the first plane, node 0 for the second.
    let [bits, given] = [node, 1 - node].map(|which| plane(&own.input, which));
    let elements: Vec<u64> = (0..own.input.rows).map(|row| signed(bit(given, row), 1)).collect();
    let [flips, masked] = flips_and_masked(bits, &elements, masks);
    if node == 0 { vec![flips, masked] } else { vec![masked, flips] }
}

#[test]
fn streamed_ots_that_serve_twice_or_not_at_all_are_found() {
    const ROWS: usize = 3;
    for (protocol, send, simulator) in [
        (gates::PRODUCT, sent_of_product as Send, gates::simulated_product as Simulator),
        (numbers::SELECT, sent_of_selection, numbers::simulated_selection),
        (numbers::INJECT, sent_of_injection, numbers::simulated_injection),
    ] {
        let faults = [("a mask that serves twice", again as fn(&[Own], usize) -> _), ("no mask", none)];
        check_faults(protocol.name, &watch_streamed(&protocol, ROWS), (send, simulator, AT_ONCE), faults);
    }
}

/// The entries of one digit's table.
fn sent_of_table<const BITS: usize>(
    node: usize,
    own: &Own,
    masks: &[Vec<u64>],
    table: fn([u64; 4]) -> [[u64; 16]; BITS],
) -> Vec<Vec<u64>> {
    let words = parts(own.input.rows)[node].clone();
    let tables = words.flat_map(|word| table(std::array::from_fn(|i| plane(&own.input, i)[word])));
    let entries = tables.zip(masks[0].as_chunks::<16>().0).flat_map(|(table, pads)| {
        let kept = table[0] ^ pads[0];
        (1..16).map(move |v| table[v] ^ pads[v] ^ kept)
    });
    vec![entries.collect()]
}

fn sent_of_conjunction(node: usize, own: &Own, masks: &[Vec<u64>]) -> Vec<Vec<u64>> {
    sent_of_table(node, own, masks, gates::conjunction_table)
}

fn sent_of_carry(node: usize, own: &Own, masks: &[Vec<u64>]) -> Vec<Vec<u64>> {
    sent_of_table(node, own, masks, gates::carry_table)
}

#[test]
fn pads_of_streamed_tables_that_serve_twice_or_not_at_all_are_found() {
    // Each node has a table for one word of rows.
    const ROWS: usize = 65;
    for (protocol, send, simulator) in [
        (gates::STREAMED_CONJUNCTION, sent_of_conjunction as Send, gates::simulated_streamed_conjunction as Simulator),
        (gates::STREAMED_CARRY, sent_of_carry, gates::simulated_streamed_carry),
    ] {
        let owns = watch(&protocol, ROWS, Source::Dealt, THIN, runs_for(&protocol, ROWS, Source::Dealt, THIN));
        let faults = [("a pad that serves twice", one_for_two as fn(&[Own], usize) -> _), ("no pad", none)];
        check_faults(protocol.name, &owns, (send, simulator, 1), faults);
    }
}

/// The tables of an AND whose first operand is the XOR of a wire and another one, as the evaluator receives them.
fn tables(same: bool) -> Vec<View> {
    let mut prg = Prg::new(&Seed::from_bytes([3; 16]));
    let delta = prg.vector::<u128>(1)[0] | 1;
    let tables = (0..300).map(|run: u128| {
        const ROWS: usize = 8;
        let [x, y, z] = [(); 3].map(|()| prg.vector::<u128>(ROWS));
        let second = Some(if same { &x[..] } else { &z[..] });
        let gate = Gate { x: Sum { first: &x, second }, y: Sum { first: &y, second: None }, plus: None };
        let (mut out, mut table) = ([0; ROWS], [MaybeUninit::uninit(); 2 * ROWS]);
        let table = GateKeys { x: 2 * run, y: 2 * run + 1 }.garble(delta, gate, &mut out, &mut table);
        View::default().with(Kind::Received, "tables", bytemuck::cast_slice(table).to_vec())
    });
    tables.collect()
}

#[test]
fn an_operand_that_is_constant_is_found() {
    assert_eq!(repeats(&tables(false), 16), []);
    assert!(!repeats(&tables(true), 16).is_empty());
}
