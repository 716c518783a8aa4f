//! Permuting, input and opening.

use tacit_views::{Kind, Run, View};

use super::{NODES, Protocol, Source, Strings, check, findings, runs_for, runs_of, shape, watch, with_columns, words};
use crate::backends::two::{Two, network};
use crate::{PermitKind, Permits, Result, Rows, Shape};

fn shuffled(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    b.shuffle_by_both(x)
}

/// Both nodes give what they hold: the planes of node 0, then those of node 1.
fn given(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let own = super::component(x);
    let mut out = Rows::empty(own.rows);
    for owner in 0..NODES {
        let data = (b.me() == owner).then(|| own.clone());
        out.bits.extend(b.input_block(tacit_net::PartyId(owner), own.shape(), data).bits);
    }
    Ok(out)
}

/// Opened to node 0 alone, whose output it is; node 1 has none.
fn opened(b: &mut Two, x: Rows<Two>) -> Result<Rows<Two>> {
    let list = r#"[{"site": "out", "kind": "answer", "recipients": ["a"], "columns": ["all"]}]"#;
    let mut permits = Permits::from_json(list).expect("a list");
    let permit = permits.take("out", &[PermitKind::Answer], &["a".into()], &["all".into()])?;
    let none = crate::Block::zeros(x.shape());
    Ok(super::share_rows(b.open_rows(&x, permit)?.unwrap_or(none)))
}

/// The strings of rows of two lanes: 64 planes and a number.
const SHUFFLE: Protocol<'_> = Protocol {
    name: "shuffle",
    shape: shape(64, 1),
    strings: Strings::Blocks(1),
    used: Some(network::switches),
    run: &shuffled,
};

/// As rows of more than a block, which are expanded.
const WIDE: Protocol<'_> = Protocol {
    name: "shuffle of long rows",
    shape: Shape { r128: 1, ..shape(1, 1) },
    strings: Strings::Blocks(2),
    used: Some(network::switches),
    run: &shuffled,
};

const INPUT: Protocol<'_> =
    Protocol { name: "input", shape: shape(2, 0), strings: Strings::None, used: None, run: &given };
const OPEN: Protocol<'_> =
    Protocol { name: "open", shape: shape(3, 0), strings: Strings::None, used: None, run: &opened };

// views: Two::shuffle
// views: crates/mpc/src/backends/two/permute.rs
// views: crates/mpc/src/backends/two/lanes.rs
// views: crates/mpc/src/backends/two/network.rs
#[test]
fn shuffles_tell_nothing() {
    for protocol in [SHUFFLE, WIDE] {
        check(&protocol, 3, Source::Slice, None);
    }
    check(&SHUFFLE, 10, Source::Kept, None);
}

/// What a node gets of the other one's data says nothing of it; no message is sent.
// views: Two::input
#[test]
fn inputs_send_nothing() {
    let owns = watch(&INPUT, 3, Source::Dealt, None, 500);
    for (node, mine) in owns.iter().enumerate() {
        let runs = mine.iter().zip(&owns[1 - node]).map(|(own, peer)| {
            let gets = &own.output.bits[2 * (1 - node)..][..2];
            let gets = gets.iter().flat_map(|plane| words(plane.words())).collect::<Vec<u8>>();
            Run {
                view: with_columns(own.seen.clone().with(Kind::Drawn, "component", gets), &own.input),
                known: View::default(),
                secret: with_columns(View::default(), &peer.input),
            }
        });
        assert_eq!(findings(&runs.collect::<Vec<_>>(), 3), Vec::<String>::new(), "node {node}");
        assert!(mine.iter().all(|own| own.seen.bits() == 0), "no message");
    }
}

/// The recipient sees the opened rows and nothing behind them, however they came about; the other node sees nothing.
// views: Two::open
// views: crates/mpc/src/backends/two/open.rs
#[test]
fn openings_show_their_rows() {
    for source in Source::ALL {
        for rows in [3, 65] {
            let owns = watch(&OPEN, rows, source, None, runs_for(&OPEN, rows, source, None));
            // The values are opened: node 0 may know them, which are its output.
            let mut runs = runs_of(&owns, 0);
            runs.iter_mut().for_each(|run| run.view = run.view.filter(|part| part.kind != Kind::Opened));
            let found = findings(&runs, rows);
            assert!(found.is_empty(), "{rows} rows, {source:?}: {found:?}");
            assert!(owns[1].iter().all(|own| own.seen.bits() == 0), "node 1 receives nothing");
        }
    }
}
