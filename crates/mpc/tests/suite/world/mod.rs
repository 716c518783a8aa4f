//! A test world: runs a program on every engine over inputs from a printed seed and compares results, models and costs.

use std::thread;

use super::permits::permit;

use tacit_math::{Plane, Prg};
use tacit_mpc::backends::{Clear, Four, Networked, Rep3, Tally, Two};
use tacit_mpc::{Backend, Block, Link, Result, Rows, Shape};
use tacit_net::{Cost, Counters, Message, Options, PartyId, Record, memory};

/// The parties; an engine's nodes are the first of them.
const PARTIES: [&str; 4] = ["a", "b", "c", "d"];

/// Row counts around the ends of words.
pub const SIZES: [usize; 8] = [0, 1, 2, 63, 64, 65, 200, 1000];

/// A bundle of `rows` rows without columns.
pub fn shape(rows: usize) -> Shape {
    Shape { rows, ..Shape::default() }
}

/// The numbers whose bits planes hold, lowest first.
pub fn numbers(planes: &[Plane], rows: usize) -> Vec<u128> {
    (0..rows).map(|i| planes.iter().enumerate().map(|(j, p)| u128::from(p.get(i)) << j).sum()).collect()
}

/// A network so slow that every circuit which can be garbled is.
pub const FAR: Link = Link { latency: 1e6, bandwidth: 1e9 };

/// A network so thin that every circuit goes gate by gate.
pub const THIN: Link = Link { latency: 0.0, bandwidth: 1e6 };

/// A network so fast that nothing is garbled which can be streamed.
const NEAR: Link = Link { latency: 0.0, bandwidth: 1e9 };

/// Rows from which on operations may be streamed.
const MANY: usize = 8000;

/// The nodes of an engine.
fn names<B: Networked>() -> &'static [&'static str] {
    &PARTIES[..B::NODES]
}

/// A computation on shared columns, written once for all engines.
pub trait Program: Sync {
    fn run<B: Backend>(&self, b: &mut B, input: Rows<B>) -> Result<Rows<B>>;

    /// What it computes, in clear Rust.
    fn model(&self, input: &Block) -> Option<Block>;
}

/// Checks a program on random columns of a shape.
pub fn check(name: &str, program: &impl Program, shape: Shape) {
    check_with(name, program, |prg| Block::random(shape, prg));
}

/// Checks a program on columns drawn by a function.
pub fn check_with(name: &str, program: &impl Program, draw: impl Fn(&mut Prg) -> Block) {
    let seed = tacit_views::seed(name);
    let input = draw(&mut Prg::new(&seed));
    let drawn = seed.expose()[0];
    let expected = program.model(&input).expect("a model");
    let clear = on_clear(program, &input);
    assert_same(name, "clear", &clear, &expected);
    check_on::<Rep3>(name, program, &input, &expected, drawn, Link::UNDECLARED);
    check_on::<Four>(name, program, &input, &expected, drawn, Link::UNDECLARED);
    for link in [THIN, FAR, Link::UNDECLARED] {
        check_on::<Two>(name, program, &input, &expected, drawn, link);
    }
    if input.rows >= MANY {
        check_on::<Two>(name, program, &input, &expected, drawn, NEAR);
    }
}

fn check_on<B: Networked>(name: &str, program: &impl Program, input: &Block, expected: &Block, owner: u8, link: Link) {
    let (opened, metered) = on_nodes::<B>(program, input, PartyId(usize::from(owner) % B::NODES), link);
    assert_same(name, B::NAME, &opened, expected);
    let declared = declared::<B>(program, input.shape(), link);
    assert_eq!(metered, declared, "{name} on {}: metered cost against declared cost", B::NAME);
}

fn on_clear(program: &impl Program, input: &Block) -> Block {
    let mut b = Clear::new().expect("an engine");
    let rows = b.input(PartyId(0), input.shape(), Some(input.clone())).expect("input");
    let out = program.run(&mut b, rows).expect("a result");
    open_clear(&mut b, &out)
}

/// What the engine without security holds.
pub fn open_clear(b: &mut Clear, rows: &Rows<Clear>) -> Block {
    b.open(rows, permit(&["a"], rows.shape())).expect("opened").expect("the clear engine is every recipient")
}

/// What one node saw of a run.
struct View {
    opened: Block,
    counters: Counters,
    messages: Vec<Message>,
}

fn on_nodes<B: Networked>(program: &impl Program, input: &Block, owner: PartyId, link: Link) -> (Block, Cost) {
    let views = views::<B>(program, input, owner, link);
    let rounds = views[0].counters.rounds;
    assert!(views.iter().all(|view| view.counters.rounds == rounds), "all nodes count the same rounds");
    for (view, node) in views.iter().zip(names::<B>()) {
        assert_same("opened", node, &view.opened, &views[0].opened);
    }
    let cost = Cost { rounds, sent: views.iter().map(|view| view.counters.bytes_sent).collect() };
    (views.into_iter().next().expect("a node").opened, cost)
}

/// The messages that each node of a run saw.
pub fn transcripts<B: Networked>(program: &impl Program, input: &Block, link: Link) -> Vec<Vec<Message>> {
    views::<B>(program, input, PartyId(0), link).into_iter().map(|view| view.messages).collect()
}

fn views<B: Networked>(program: &impl Program, input: &Block, owner: PartyId, link: Link) -> Vec<View> {
    let sessions = memory::mesh(names::<B>(), &Options { record: Record::Sizes, ..Options::default() });
    let node = |session| {
        let mut b = B::start(session).expect("an engine");
        b.declare(link);
        let data = (b.session().me() == owner).then(|| input.clone());
        let rows = b.input(owner, input.shape(), data).expect("input");
        let out = b.step("program", |b| program.run(b, rows)).expect("a result");
        let opened =
            b.open(&out, permit(names::<B>(), out.shape())).expect("opened").expect("every node is a recipient");
        let counters = b.session().meter().snapshot().under("program");
        let messages = b.session().transcript().expect("a transcript").messages();
        b.into_session().close().expect("an orderly end");
        View { opened, counters, messages }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

fn declared<B: Networked>(program: &impl Program, shape: Shape, link: Link) -> Cost {
    let mut b = Tally::<B::Formulas>::new(names::<B>().iter().copied().map(String::from).collect());
    b.declare(link);
    let rows = b.columns(shape);
    b.take();
    program.run(&mut b, rows).expect("a tally");
    b.take()
}

fn assert_same(name: &str, engine: &str, got: &Block, expected: &Block) {
    let bits = |block: &Block| block.bits.iter().map(Plane::to_bools).collect::<Vec<_>>();
    assert_eq!(got.shape(), expected.shape(), "{name}: shape on {engine}");
    assert!(bits(got) == bits(expected), "{name}: planes on {engine}");
    assert!(
        got.r32 == expected.r32 && got.r64 == expected.r64 && got.r128 == expected.r128,
        "{name}: vectors on {engine}"
    );
}
