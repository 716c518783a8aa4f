//! Calls whose transfers are streamed, which they are where there are many: as many calls are made together as that
//! takes, and looked at one by one.

use tacit_math::plane::words_for;
use tacit_views::{Kind, View, runs_needed};

use super::{NODES, Own, Protocol, Simulator, Source, findings, joined, lanes, runs_of, shape, told_apart, watch};
use crate::backends::two::Two;
use crate::{Block, Link, Rows, Shape};

/// Calls that were made together, on columns one behind the other, as calls of their own.
fn apart(own: &Own, calls: usize) -> Vec<Own> {
    let blocks = |block: &Block| -> Vec<Block> {
        let share = |count: usize, call: usize| count / calls * call..count / calls * (call + 1);
        let of_call = |call| Block {
            rows: block.rows,
            bits: block.bits[share(block.bits.len(), call)].to_vec(),
            r64: block.r64[share(block.r64.len(), call)].to_vec(),
            ..Block::default()
        };
        (0..calls).map(of_call).collect()
    };
    let messages = own.seen.only(&[Kind::Received]);
    let mut seen: Vec<View> = vec![View::default(); calls];
    for (number, message) in messages.parts().iter().enumerate() {
        seen[number / (messages.parts().len() / calls)].add(message.kind, "message", message.bytes.clone());
    }
    for drawn in own.seen.only(&[Kind::Drawn]).parts() {
        let of_calls = drawn.bytes.chunks(drawn.bytes.len() / calls);
        seen.iter_mut().zip(of_calls).for_each(|(seen, bytes)| seen.add(drawn.kind, &drawn.name, bytes));
    }
    let columns = blocks(&own.input).into_iter().zip(blocks(&own.output));
    let own = |((input, output), seen)| Own { input, output, public: View::default(), seen };
    columns.zip(seen).map(own).collect()
}

/// A link on which transfers are streamed where they are many.
const NEAR: Link = Link { latency: 0.0, bandwidth: 1e9 };

/// OTs of each direction that are streamed.
const STREAMED: usize = 1 << 18;

/// Calls that are looked at as one run, so that what one has in common with the next is a relation within it.
pub(super) const AT_ONCE: usize = 2;

/// What each node had of calls whose OTs are streamed: of as many as that takes together, those that the battery needs.
/// A call takes an OT of each direction for each row.
pub(super) fn watch_streamed(protocol: &Protocol<'_>, rows: usize) -> [Vec<Own>; NODES] {
    let calls = STREAMED.div_ceil(64 * words_for(rows));
    let Shape { bits, r64, .. } = protocol.shape;
    let run = |b: &mut Two, x: Rows<Two>| {
        let used = b.stock.used();
        let out = (protocol.run)(b, x)?;
        assert_eq!(b.stock.used(), used, "all OTs are streamed");
        Ok(out)
    };
    let together = Protocol { shape: shape(calls * bits, calls * r64), run: &run, ..*protocol };
    let mut owns = watch(&together, rows, Source::Dealt, NEAR, 1).map(|own| apart(own.first().expect("a run"), calls));
    let needed = |node| {
        let run = &joined(&runs_of(&owns, node)[..AT_ONCE], AT_ONCE)[0];
        runs_needed(&run.lanes(lanes(run, rows)))
    };
    let runs = needed(0).max(needed(1));
    assert!(AT_ONCE * runs <= calls, "{calls} calls for {runs} runs");
    owns.iter_mut().for_each(|own| own.truncate(AT_ONCE * runs));
    owns
}

/// Asserts that neither node's view of streamed calls tells anything, nor is told from a simulated one.
pub(super) fn check_streamed(protocol: &Protocol<'_>, rows: usize, simulator: Simulator) {
    let owns = watch_streamed(protocol, rows);
    for node in 0..NODES {
        let found = findings(&joined(&runs_of(&owns, node), AT_ONCE), rows);
        assert!(found.is_empty(), "{}, {rows} rows, node {node}:\n{}", protocol.name, found.join("\n"));
    }
    let found = told_apart(protocol.name, &owns, simulator, AT_ONCE);
    assert_eq!(found, [const { vec![] }; NODES], "{}, {rows} rows", protocol.name);
}
