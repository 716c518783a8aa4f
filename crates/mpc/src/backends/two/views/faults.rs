//! Faults planted in the protocols: the battery finds what a node could compute if they were not what they are.

use std::mem::MaybeUninit;

use tacit_math::half_gates::{Gate, GateKeys, Sum};
use tacit_math::{Prg, Seed};
use tacit_views::{Kind, View, repeats};

use super::{NODES, Protocol, Source, Strings, findings, gates, plane, runs_for, runs_of, shape, watch};
use crate::backends::two::Two;
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
    let owns = watch(&protocol, 10, Source::Dealt, None, runs_for(&protocol, 10, Source::Dealt, None));
    for node in 0..NODES {
        let found = findings(&runs_of(&owns, node), 10).join("\n");
        assert!(found.contains("linear relations with secrets"), "node {node}: {found}");
    }
}

#[test]
fn a_lane_without_a_mask_is_found() {
    let protocol = gates::PRODUCT;
    let runs = runs_for(&protocol, 10, Source::Dealt, None);
    let mut owns = watch(&protocol, 10, Source::Dealt, None, runs);
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
