//! What must not be possible, and what must not depend on secrets.

mod world;

use std::fmt::{Debug, Display};

use serde::Serialize;
use static_assertions::assert_not_impl_any;
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::{Networked, Rep3, Two, rep3, two};
use tacit_mpc::{Backend, Block, Link, MpcError, Permit, PermitKind, Permits, Result, Rows, Shape, circuits, ops};
use tacit_net::{Message, Options, Record, Seen, Session, Source, memory};
use world::{FAR, Program, transcripts};

assert_not_impl_any!(rep3::Share<Plane>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(rep3::Share<Vec<u64>>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(Rows<Rep3>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(two::Share<Plane>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(two::Share<Vec<u64>>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(Rows<Two>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(Permit: Clone, PartialEq, Serialize);

#[test]
fn seeds_and_blocks_print_no_content() {
    let seed = Seed::from_bytes([0xab; 16]);
    let block = Block::random(Shape { rows: 3, bits: 1, r64: 1, ..Shape::default() }, &mut Prg::new(&seed));
    assert_eq!(format!("{seed:?} {:?}", block.bits[0]), "Seed(secret) Plane(3 rows)");
    assert!(!format!("{block:?}").contains(&block.r64[0][0].to_string()));
}

/// A bit of everything that communicates.
struct Everything;

impl Program for Everything {
    fn run<B: Backend>(&self, b: &mut B, x: Rows<B>) -> Result<Rows<B>> {
        let planes = circuits::to_planes(b, &x.r64[0], 20)?;
        let smaller = circuits::less_than(b, &planes, &x.bits, false)?;
        let order = ops::sort_order(b, x.rows, &x.bits[..5])?;
        let sum = circuits::to_ring(b, &x.bits, false)?;
        let product = b.mul(&[&sum], &[&x.r64[0]])?;
        let front = ops::partition(b, &smaller)?;
        let moved = ops::apply(b, Rows { bits: vec![smaller], r64: product, ..Rows::empty(x.rows) }, order)?;
        ops::apply(b, moved, front)
    }

    fn model(&self, _input: &Block) -> Option<Block> {
        None
    }
}

#[test]
fn messages_depend_on_sizes_alone() {
    let shape = Shape { rows: 77, bits: 20, r64: 1, ..Shape::default() };
    let zeros = Block::zeros(shape);
    let mut ones = Block::zeros(shape);
    ones.bits = (0..20).map(|_| Plane::ones(77)).collect();
    ones.r64[0].fill(u64::MAX);
    assert_eq!(sizes::<Rep3>(&zeros, None), sizes::<Rep3>(&ones, None));
    for link in [None, Some(FAR)] {
        assert_eq!(sizes::<Two>(&zeros, link), sizes::<Two>(&ones, link));
    }
}

/// Step, round, peer and size of every message that each node saw.
fn sizes<B: Networked>(input: &Block, link: Option<Link>) -> Vec<Vec<(String, u64, String, usize)>> {
    let line = |m: &Message| (m.step.clone(), m.round, format!("{:?} {:?}", m.peer, m.direction), m.bytes);
    transcripts::<B>(&Everything, input, link).iter().map(|t| t.iter().map(line).collect()).collect()
}

/// What every node sent and drew from secrets in common when it set its engine up.
fn setups<B: Networked>() -> Vec<Vec<Seen>> {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let sessions = memory::mesh(&["a", "b", "c"][..B::NODES], &options);
    std::thread::scope(|scope| {
        let start = |session: Session| {
            scope.spawn(move || {
                let transcript = session.transcript().expect("recording");
                let node = B::start(session).expect("honest peers");
                node.into_session().close().expect("honest peers");
                transcript.take_seen()
            })
        };
        let nodes: Vec<_> = sessions.into_iter().map(start).collect();
        nodes.into_iter().map(|node| node.join().expect("no panic")).collect()
    })
}

#[test]
fn no_seed_of_a_generator_is_sent() {
    let of = |seen: &Vec<Seen>, which: fn(&Source) -> bool| {
        seen.iter().filter(|seen| which(&seen.source)).map(|seen| seen.bytes.clone()).collect::<Vec<_>>()
    };
    for (views, secrets) in [(setups::<Rep3>(), 2), (setups::<Two>(), 1)] {
        let drawn: Vec<_> = views.iter().flat_map(|seen| of(seen, |source| matches!(source, Source::Drawn))).collect();
        let sent: Vec<_> = views.iter().flat_map(|seen| of(seen, |source| matches!(source, Source::Sent(_)))).collect();
        assert_eq!(drawn.len(), views.len() * secrets);
        let shown = |seed: &[u8]| sent.iter().any(|message| message.windows(16).any(|window| window == seed));
        assert!(!drawn.iter().any(|secret| secret.windows(16).any(shown)));
        assert!(views.len() == 2 || sent.is_empty(), "three nodes agree on generators without a message");
    }
}

#[test]
fn only_what_is_approved_is_permitted_and_only_once() {
    let list = r#"[{"site": "3.release", "kind": "answer", "recipients": ["a", "b"], "columns": ["n"]}]"#;
    let take = |permits: &mut Permits, site: &str, to: &[&str], columns: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        permits.take(site, &[PermitKind::Answer, PermitKind::Value], &owned(to), &owned(columns)).map(|_| ())
    };
    let fresh = || Permits::from_json(list).expect("a list");
    for (site, to, columns) in [
        ("4.release", &["a", "b"][..], &["n"][..]),
        ("3.release", &["a"], &["n"]),
        ("3.release", &["a", "b", "c"], &["n"]),
        ("3.release", &["a", "b"], &["n", "m"]),
        ("3.release", &["a", "b"], &[]),
    ] {
        let refused = take(&mut fresh(), site, to, columns);
        assert!(matches!(refused, Err(MpcError::NotPermitted { .. })), "{site} to {to:?} of {columns:?}");
    }
    let mut permits = fresh();
    take(&mut permits, "3.release", &["b", "a"], &["n"]).expect("the approved disclosure, in any order of recipients");
    assert!(take(&mut permits, "3.release", &["a", "b"], &["n"]).is_err(), "a permit serves once");
    let size = fresh().take("3.release", &[PermitKind::Size], &["a".into(), "b".into()], &["n".into()]);
    assert!(size.is_err(), "an approved answer is not an approved size");
}
