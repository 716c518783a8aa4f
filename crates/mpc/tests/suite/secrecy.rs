//! What must not be possible, and what must not depend on secrets.

use std::fmt::{Debug, Display};
use std::sync::Barrier;
use std::thread;

use super::world::{FAR, Program, THIN, transcripts};
use serde::Serialize;
use static_assertions::assert_not_impl_any;
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::{Clear, Four, Networked, Rep3, Two, four, rep3, two};
use tacit_mpc::{
    Backend, Block, Link, MpcError, OpenedColumn, OpenedKind, Permit, PermitKind, Permits, Result, Rows, Shape,
    Sharing, circuits, ops,
};
use tacit_net::{Message, NetError, Options, PartyId, Record, Seen, Session, Source, memory};

assert_not_impl_any!(rep3::Share<Plane>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(rep3::Share<Vec<u64>>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(Rows<Rep3>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(two::Share<Plane>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(two::Share<Vec<u64>>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(Rows<Two>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(four::Share<Plane>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(four::Share<Vec<u64>>: Debug, Display, PartialEq, Serialize);
assert_not_impl_any!(Rows<Four>: Debug, Display, PartialEq, Serialize);
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
    assert_eq!(sizes::<Rep3>(&zeros, THIN), sizes::<Rep3>(&ones, THIN));
    assert_eq!(sizes::<Four>(&zeros, THIN), sizes::<Four>(&ones, THIN));
    for link in [THIN, FAR, Link::UNDECLARED] {
        assert_eq!(sizes::<Two>(&zeros, link), sizes::<Two>(&ones, link));
    }
}

/// Step, round, peer and size of every message that each node saw.
fn sizes<B: Networked>(input: &Block, link: Link) -> Vec<Vec<(String, u64, String, usize)>> {
    let line = |m: &Message| (m.step.clone(), m.round, format!("{:?} {:?}", m.peer, m.direction), m.bytes);
    transcripts::<B>(&Everything, input, link).iter().map(|t| t.iter().map(line).collect()).collect()
}

/// What every node sent and drew from secrets in common when it set its engine up.
fn setups<B: Networked>() -> Vec<Vec<Seen>> {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let sessions = memory::mesh(&["a", "b", "c", "d"][..B::NODES], &options);
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

/// A list of one answer to a and b: a nullable number n of 40 bits modulo 2^64, of at most 5 rows.
const APPROVED: &str = r#"[{"site": "3.release", "kind": "answer", "recipients": ["a", "b"], "rows": 5, "columns": [
    {"name": "n", "kind": {"repr": "ring64", "width": 40, "signed": true, "nullable": true}}]}]"#;

const N: OpenedKind = OpenedKind { repr: Sharing::Ring64, width: 40, signed: true, nullable: true };

fn column(name: &str, kind: OpenedKind) -> OpenedColumn {
    OpenedColumn { name: name.into(), kind }
}

fn take(permits: &mut Permits, site: &str, to: &[&str], columns: &[OpenedColumn]) -> Result<Permit> {
    let to: Vec<String> = to.iter().map(ToString::to_string).collect();
    permits.take(site, &[PermitKind::Answer, PermitKind::Value], &to, columns)
}

#[test]
fn only_what_is_approved_is_permitted_and_only_once() {
    let fresh = || Permits::from_json(APPROVED).expect("a list");
    let n = || column("n", N);
    for (site, to, columns) in [
        ("4.release", &["a", "b"][..], vec![n()]),
        ("3.release", &["a"], vec![n()]),
        ("3.release", &["a", "b", "c"], vec![n()]),
        ("3.release", &["a", "b"], vec![n(), column("m", N)]),
        ("3.release", &["a", "b"], vec![]),
        ("3.release", &["a", "b"], vec![column("n", OpenedKind { repr: Sharing::Ring128, ..N })]),
        ("3.release", &["a", "b"], vec![column("n", OpenedKind { width: 41, ..N })]),
        ("3.release", &["a", "b"], vec![column("n", OpenedKind { signed: false, ..N })]),
        ("3.release", &["a", "b"], vec![column("n", OpenedKind { nullable: false, ..N })]),
    ] {
        let refused = take(&mut fresh(), site, to, &columns);
        assert!(matches!(refused, Err(MpcError::NotPermitted { .. })), "{site} to {to:?} of {columns:?}");
    }
    let mut permits = fresh();
    let _permit = take(&mut permits, "3.release", &["b", "a"], &[n()])
        .expect("the approved disclosure, in any order of recipients");
    assert!(take(&mut permits, "3.release", &["a", "b"], &[n()]).is_err(), "a permit serves once");
    let size = fresh().take("3.release", &[PermitKind::Size], &["a".into(), "b".into()], &[n()]);
    assert!(size.is_err(), "an approved answer is not an approved size");
}

/// What every node makes of an attempt with a bundle of this shape that no permit allows; nothing is sent by who
/// refuses at once.
fn refused<B: Networked>(shape: Shape, attempt: impl Fn(&mut B, &Rows<B>) -> Result<()> + Sync) {
    tried::<B>(shape, |b, rows| {
        let told = b.step("attempt", |b| Ok(attempt(b, rows))).expect("a step");
        assert!(matches!(told, Err(MpcError::NotPermitted { .. })), "{told:?} of {shape:?}");
        assert_eq!(b.session().meter().snapshot().under("attempt").bytes_sent, 0);
    });
}

/// An attempt of every node with a bundle of this shape.
fn tried<B: Networked>(shape: Shape, attempt: impl Fn(&mut B, &Rows<B>) + Sync) {
    let sessions = memory::mesh(&["a", "b", "c", "d"][..B::NODES], &Options::default());
    let one = |session: Session| {
        let mut b = B::start(session).expect("an engine");
        let data = (b.session().me() == PartyId(0)).then(|| Block::zeros(shape));
        let rows = b.step("input", |b| b.input(PartyId(0), shape, data)).expect("input");
        attempt(&mut b, &rows);
        b.into_session().close().expect("an orderly end");
    };
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| one(session))).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("a node"));
    });
}

fn only_the_approved_shape_is_opened<B: Networked>() {
    let approved = Shape { rows: 5, bits: 1, r64: 1, ..Shape::default() };
    let others = [
        Shape { rows: 6, ..approved },
        Shape { bits: 3, ..approved },
        Shape { bits: 0, ..approved },
        Shape { r64: 2, ..approved },
        Shape { r64: 0, r128: 1, ..approved },
        Shape { r32: 1, ..approved },
    ];
    for other in others {
        refused::<B>(other, |b, rows| {
            let mut permits = Permits::from_json(APPROVED).expect("a list");
            let permit = take(&mut permits, "3.release", &["a", "b"], &[column("n", N)]).expect("approved");
            b.open(rows, permit).map(drop)
        });
    }
}

#[test]
fn engines_open_only_the_approved_shape() {
    only_the_approved_shape_is_opened::<Rep3>();
    only_the_approved_shape_is_opened::<Two>();
    only_the_approved_shape_is_opened::<Four>();
    let mut clear = Clear::new().expect("an engine");
    let shape = Shape { rows: 5, bits: 3, r64: 1, ..Shape::default() };
    let rows = clear.input(PartyId(0), shape, Some(Block::zeros(shape))).expect("input");
    let mut permits = Permits::from_json(APPROVED).expect("a list");
    let permit = take(&mut permits, "3.release", &["a", "b"], &[column("n", N)]).expect("approved");
    assert!(matches!(clear.open(&rows, permit), Err(MpcError::NotPermitted { .. })));
}

/// A permit for a row count, or what is given instead of one.
fn of_rows(kind: &str, recipients: &[&str], rows: &str) -> Permit {
    let list = format!(
        r#"[{{"site": "1.input", "kind": "{kind}", "recipients": {recipients:?}, "columns": [], "rows": {rows}}}]"#
    );
    let mut permits = Permits::from_json(&list).expect("a list");
    let to: Vec<String> = recipients.iter().map(ToString::to_string).collect();
    permits.take("1.input", &[PermitKind::Size, PermitKind::Answer], &to, &[]).expect("approved")
}

fn only_approved_sizes_are_announced<B: Networked>() {
    let nodes = &["a", "b", "c", "d"][..B::NODES];
    let shape = Shape { rows: 1, bits: 1, ..Shape::default() };
    let own = |b: &B| (b.session().me() == PartyId(0)).then_some(6);
    for permit in [("answer", nodes, "null"), ("size", &nodes[1..], "null")] {
        refused::<B>(shape, |b, _| b.announce(PartyId(0), own(b), of_rows(permit.0, permit.1, permit.2)).map(drop));
    }
}

/// One number modulo 2^32, and nothing else, is a count. So it is where the number can only be 0.
fn only_a_count_is_opened_as_one<B: Networked>() {
    let nodes = &["a", "b", "c", "d"][..B::NODES];
    let count = Shape { rows: 1, r32: 1, ..Shape::default() };
    let of_kind = |kind: &str, is: PermitKind| {
        let list =
            format!(r#"[{{"site": "3.resize", "kind": "{kind}", "recipients": {nodes:?}, "columns": [], "rows": 0}}]"#);
        let to: Vec<String> = nodes.iter().map(ToString::to_string).collect();
        Permits::from_json(&list).expect("a list").take("3.resize", &[is], &to, &[]).expect("approved")
    };
    for other in [
        Shape { rows: 2, ..count },
        Shape { r32: 2, ..count },
        Shape { bits: 1, ..count },
        Shape { r32: 0, r64: 1, ..count },
        Shape { rows: 1, bits: 1, ..Shape::default() },
    ] {
        refused::<B>(other, |b, rows| b.open(rows, of_kind("count", PermitKind::Count)).map(drop));
    }
    tried::<B>(count, |b, rows| {
        let permit = of_kind("count", PermitKind::Count);
        let opened = b.step("count", |b| b.open(rows, permit)).expect("as approved").expect("every node is told");
        assert_eq!(opened.r32, [[0]]);
    });
    refused::<B>(count, |b, rows| b.open(rows, of_kind("size", PermitKind::Size)).map(drop));
    refused::<B>(count, |b, _| {
        let own = (b.session().me() == PartyId(0)).then_some(6);
        b.announce(PartyId(0), own, of_kind("count", PermitKind::Count)).map(drop)
    });
}

#[test]
fn engines_open_only_an_approved_count() {
    only_a_count_is_opened_as_one::<Rep3>();
    only_a_count_is_opened_as_one::<Two>();
    only_a_count_is_opened_as_one::<Four>();
}

#[test]
fn engines_announce_only_approved_sizes() {
    only_approved_sizes_are_announced::<Rep3>();
    only_approved_sizes_are_announced::<Two>();
    only_approved_sizes_are_announced::<Four>();
}

/// How many rows a node may be told, and what it makes of 6 of node 0.
fn told_six<B: Networked>(most: impl Fn(usize) -> &'static str + Sync) -> Vec<Result<u64>> {
    let nodes = &["a", "b", "c", "d"][..B::NODES];
    let all = Barrier::new(B::NODES);
    let one = |session: Session| {
        let mut b = B::start(session).expect("an engine");
        let me = b.session().me().0;
        // No node ends before all engines are set up.
        all.wait();
        let told = b.announce(PartyId(0), (me == 0).then_some(6), of_rows("size", nodes, most(me)));
        // An owner that has told stays until all have heard it.
        if most(0) == "6" {
            all.wait();
        }
        drop(b.into_session());
        told
    };
    let sessions = memory::mesh(nodes, &Options::default());
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| one(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

fn more_rows_than_approved<B: Networked>() {
    assert!(told_six::<B>(|_| "6").into_iter().all(|told| told.expect("approved") == 6));
    let refused = |told: &Result<u64>| matches!(told, Err(MpcError::NotPermitted { .. }));
    // The owner tells nobody.
    let told = told_six::<B>(|_| "5");
    assert!(refused(&told[0]), "{told:?}");
    assert!(told[1..].iter().all(|told| matches!(told, Err(MpcError::Net(_)))), "{told:?}");
    // Whoever is told more by an owner that approved more goes no further.
    let told = told_six::<B>(|node| if node == 0 { "6" } else { "5" });
    let blamed =
        |told: &Result<u64>| matches!(told, Err(MpcError::Net(NetError::Desynchronised { peer, .. })) if peer == "a");
    assert!(told[1..].iter().all(blamed), "{told:?}");
}

#[test]
fn a_size_beyond_the_approved_one_is_neither_told_nor_taken() {
    more_rows_than_approved::<Rep3>();
    more_rows_than_approved::<Two>();
}
