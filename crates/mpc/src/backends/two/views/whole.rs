//! Methods one after the other, and what a session begins with.

use tacit_math::Plane;
use tacit_ot::silent::lookup::multiples;
use tacit_views::{Kind, Run, View, correlated, leaks, play, runs_needed};

use super::{NODES, Protocol, Source, Strings, THIN, blocks, meetings, note_order, runs_of, shape, watch};
use crate::backends::Networked;
use crate::backends::two::Two;
use crate::circuits::and_pairs;
use crate::{Backend, Result, Rows, linear};

/// Results of one method are factors of the next, and what comes of them is moved.
fn everything(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    note_order(b, x.rows);
    let [x0, x1, x2] = [0, 1, 2].map(|which| &x.bits[which]);
    let mixed = b.and_xor(&[x0], &[x1], &[Some(x2)])?.swap_remove(0);
    let selected = b.select(&[&mixed], &[&x.r64[0]])?.swap_remove(0);
    let bits = and_pairs(b, vec![x0.clone(), x1.clone(), mixed])?;
    let flags = b.inject::<u64>(&[&bits[0], x2])?;
    let r64 = flags.iter().map(|flag| linear::sub(&selected, flag)).collect();
    let moved = b.shuffle(Rows { r64, ..Rows::empty(x.rows) })?;
    Ok(Rows { bits, ..moved })
}

const EVERYTHING: Protocol<'_> =
    Protocol { name: "everything", shape: shape(3, 1), strings: Strings::Blocks(1), used: None, run: &everything };

/// A run of many methods tells no more than each of them: relations in the first row of planes and the lowest bit of
/// numbers, over all messages and OTs.
// views: crates/mpc/src/backends/two/node.rs
#[test]
fn a_whole_run_tells_nothing() {
    let lowest = |owns: &[Vec<super::Own>; NODES], node: usize| -> Vec<Run> {
        runs_of(owns, node).iter().map(|run| run.lanes(1)).collect()
    };
    let pilot = watch(&EVERYTHING, 3, Source::Slice, THIN, 1);
    let runs = (0..NODES).map(|node| runs_needed(&lowest(&pilot, node)[0])).max().expect("two nodes");
    let owns = watch(&EVERYTHING, 3, Source::Slice, THIN, runs);
    for node in 0..NODES {
        let runs = lowest(&owns, node);
        assert_eq!(leaks(&runs), [], "node {node}");
        let received: Vec<Run> = runs.iter().map(|run| run.seeing(run.view.only(&[Kind::Received]))).collect();
        assert_eq!(correlated(&received), [], "node {node}");
    }
}

/// What a node draws when a session begins.
struct Begun {
    offsets: [u128; 2],
    own: Vec<u128>,
    common: Vec<u128>,
}

/// Offsets and generators are new in every session; the peer sees neither offset, as a block or a difference of two,
/// nor what the node's own generator gives. Public values are component 0, without a message.
#[test]
fn a_session_begins_with_secrets_of_its_own() {
    let begin = |session, _| {
        let mut b = Two::new(session).expect("a session");
        let offsets = [b.stock.offset(), *b.garbling];
        let begun = Begun { offsets, own: b.own.vector(4), common: b.common.vector(4) };
        let planes = b.public_bits(3, || Plane::ones(3));
        let numbers = b.public_vector::<u64>(1, || vec![9]);
        let first = b.me() == 0;
        assert!(planes.0.words() == [if first { 7 } else { 0 }] && numbers.0 == [if first { 9 } else { 0 }]);
        (b.into_session(), begun)
    };
    let played = play(&["a", "b"], 8, begin);
    let messages = |view: &View| -> Vec<u128> {
        view.only(&[Kind::Received]).parts().iter().flat_map(|part| blocks(&part.bytes)).collect()
    };
    let mut secrets = vec![];
    for nodes in played[0].iter().zip(&played[1]).map(|(first, second)| [first, second]) {
        for node in 0..NODES {
            let [(view, own), (_, peer)] = [nodes[node], nodes[1 - node]];
            assert_eq!(own.common, peer.common);
            let [offset, garbling] = peer.offsets;
            let hidden = [&multiples(offset)[1..], &[garbling]].concat();
            let mut seen: Vec<u128> = messages(view).into_iter().chain(own.common.iter().copied()).collect();
            assert!(seen.len() > 100, "base OTs");
            let all = seen.iter().chain(&hidden).chain(&peer.own).chain(&own.own);
            assert_eq!(meetings(all.copied(), &[]), Vec::<[usize; 2]>::new(), "node {node}");
            assert_eq!(meetings(seen.iter().copied(), &hidden), Vec::<[usize; 2]>::new(), "node {node}");
            // A message that is another one plus an offset.
            seen.push(seen[9] ^ garbling);
            assert_eq!(meetings(seen, &hidden).len(), 2, "from either side");
            secrets.extend(own.offsets.iter().chain(&own.own));
            secrets.extend(own.common.iter().filter(|_| node == 0));
        }
    }
    assert_eq!(meetings(secrets, &[]), Vec::<[usize; 2]>::new());
}
