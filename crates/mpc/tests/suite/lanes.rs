//! What a node sends does not depend on how many threads it has.

use tacit_math::matrix::Convolution;
use tacit_math::{Plane, Prg, Workers};
use tacit_mpc::backends::{Networked, Rep3};
use tacit_mpc::{Backend, Bilinear, Block, Form, MatrixProduct, Result, Rows, Shape, circuits, linear, ops};
use tacit_net::replay::{self, Told};
use tacit_net::{Options, PartyId, Session};

/// Enough rows for several lanes of every kind, and none that fills its last word.
const ROWS: usize = 70_003;

/// Bits of a key.
const KEY: usize = 6;

/// What the nodes run.
type Program = fn(&mut Rep3, Rows<Rep3>) -> Result<()>;

const PROGRAMS: [(&str, Program); 6] = [
    ("AND", |b, x| {
        let planes: Vec<_> = x.bits.iter().collect();
        let _product = b.and(&planes, &planes)?;
        Ok(())
    }),
    ("products", |b, x| {
        let [r64, r128] = [b.mul(&[&x.r64[0]], &[&x.r64[1]])?.len(), b.mul(&[&x.r128[0]], &[&x.r128[0]])?.len()];
        assert_eq!([r64, r128], [1, 1]);
        Ok(())
    }),
    ("comparison", |b, x| {
        let _sign = circuits::sign(b, &linear::sub(&x.r64[0], &x.r64[1]), 64)?;
        Ok(())
    }),
    ("conversions", |b, x| {
        let planes = circuits::to_planes(b, &x.r64[0], 64)?;
        let _narrow = circuits::to_ring::<u64, _>(b, &x.bits, false)?;
        let _wide = circuits::to_ring::<u64, _>(b, &planes, true)?;
        Ok(())
    }),
    ("sort", |b, mut x| {
        let key = std::mem::take(&mut x.bits);
        let order = ops::sort_order(b, x.rows, &key)?;
        let _sorted = ops::apply(b, x, order)?;
        Ok(())
    }),
    ("shuffle", |b, x| {
        let _shuffled = b.shuffle(x)?;
        Ok(())
    }),
];

const ARRAYS: [(&str, Program); 3] = [
    ("matrix products", |b, x| {
        let _products = b.matrix_products(&matrices(&x.r64[0], &x.r64[1]))?;
        let _wide = b.matrix_products(&matrices(&x.r128[0], &x.r128[0]))?;
        Ok(())
    }),
    ("truncated matrix products", |b, x| {
        let _products = b.matrix_products_truncate(&matrices(&x.r64[0], &x.r64[1]), 16)?;
        Ok(())
    }),
    ("convolution", |b, x| {
        let sizes = Convolution {
            images: 8,
            channels: 2,
            size: [32, 32],
            filters: 16,
            window: [5, 5],
            stride: [1, 1],
            padding: [2, 2],
        };
        let map = Bilinear { x: &x.r64[0], y: &x.r64[1], starts: [0, 0], form: Form::Convolution(sizes) };
        let _images = b.bilinear(&[map])?;
        Ok(())
    }),
];

/// Several messages, a product bound by memory, and many small ones.
fn matrices<'a, V>(x: &'a V, y: &'a V) -> Vec<MatrixProduct<'a, V>> {
    let [large, thin] = [[520, 30, 510], [3, 300, 200]].map(|sizes| MatrixProduct::new(x, y, sizes));
    let small = MatrixProduct::new(x, y, [7, 40, 5]).with_x_transposed();
    [vec![large, thin], vec![small; 50]].concat()
}

fn data() -> Block {
    let shape = Shape { rows: ROWS, bits: KEY, r32: 1, r64: 2, r128: 1 };
    Block::random(shape, &mut Prg::new(&tacit_views::seed("lanes")))
}

fn drive(session: Session, data: &Block, program: Program) {
    let mut node = Rep3::start(session).expect("a session");
    let own = (node.session().me() == PartyId(0)).then(|| data.clone());
    let rows = node.input(PartyId(0), data.shape(), own).expect("input");
    program(&mut node, rows).expect("peers");
    node.into_session().close().expect("an orderly end");
}

fn run(sessions: Vec<Session>, data: &Block, program: Program) {
    std::thread::scope(|scope| {
        for session in sessions {
            scope.spawn(move || drive(session, data, program));
        }
    });
}

/// What a party sends in a run with one thread each, and what it sends again with several.
fn sent(me: PartyId, threads: usize, data: &Block, program: Program) -> [Vec<Told>; 2] {
    let (sessions, recording) = replay::mesh(&["a", "b", "c"], &Options::default(), me);
    run(sessions, data, program);
    let (session, again) = recording.replay(&Options::default(), true).into_parts();
    Workers::new(threads).expect("threads").run(|| drive(session, data, program));
    [recording.sent(), again()]
}

#[test]
fn any_number_of_threads_sends_the_same_messages() {
    let data = data();
    PROGRAMS.into_iter().for_each(|program| assert_same(&data, program, 3));
    for threads in [2, 3] {
        ARRAYS.into_iter().for_each(|program| assert_same(&data, program, threads));
    }
}

fn assert_same(data: &Block, (name, program): (&str, Program), threads: usize) {
    for me in 0..3 {
        let [one, several] = sent(PartyId(me), threads, data, program);
        assert!(!one.is_empty() || name == "comparison", "{name}: node {me} sends");
        let sizes = |messages: &[Told]| messages.iter().map(|told| (told.0, told.1, told.2.len())).collect::<Vec<_>>();
        assert_eq!(sizes(&one), sizes(&several), "{name}: messages of node {me}");
        assert!(one == several, "{name}: node {me} sends other bytes with {threads} threads");
    }
}

/// The comparison above finds a byte that differs: the owner shares something else against the same messages.
#[test]
fn other_inputs_are_other_messages() {
    let (data, mut other) = (data(), data());
    other.bits[0] = Plane::zeros(ROWS);
    let (sessions, recording) = replay::mesh(&["a", "b", "c"], &Options::default(), PartyId(0));
    run(sessions, &data, PROGRAMS[0].1);
    let (session, again) = recording.replay(&Options::default(), true).into_parts();
    drive(session, &other, PROGRAMS[0].1);
    assert!(again() != recording.sent());
}
