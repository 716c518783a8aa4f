//! A test world: plans of functions, numbers to run them on, and engines that do.

use std::thread;

use tacit_array::functions::{Circle, Divide, Exp, Interval, Log, Odd, Root};
use tacit_math::{Prg, Ring};
use tacit_mpc::backends::{Clear, Components, Networked, Tally};
use tacit_mpc::{Backend, Block, Result, Rows, Shape};
use tacit_net::{Cost, Options, PartyId, memory};

/// The parties.
const PARTIES: [&str; 3] = ["a", "b", "c"];

/// A ring of which bundles have columns.
pub trait Columned: Ring {
    fn block(columns: Vec<Vec<Self>>) -> Block;
    fn columns(block: Block) -> Vec<Vec<Self>>;
    fn of<B: Backend>(rows: &Rows<B>) -> &[B::Vector<Self>];
    fn rows<B: Backend>(rows: usize, column: B::Vector<Self>) -> Rows<B>;
}

macro_rules! columned {
    ($ring:ty, $columns:ident) => {
        impl Columned for $ring {
            fn block(columns: Vec<Vec<Self>>) -> Block {
                Block { rows: columns[0].len(), $columns: columns, ..Block::default() }
            }
            fn columns(block: Block) -> Vec<Vec<Self>> {
                block.$columns
            }
            fn of<B: Backend>(rows: &Rows<B>) -> &[B::Vector<Self>] {
                &rows.$columns
            }
            fn rows<B: Backend>(rows: usize, column: B::Vector<Self>) -> Rows<B> {
                Rows { $columns: vec![column], ..Rows::empty(rows) }
            }
        }
    };
}

columned!(u64, r64);
columned!(u128, r128);

/// A planned function.
#[derive(Clone, Debug)]
pub enum Plan {
    Exp(Exp),
    Circle(Circle),
    Odd(Odd),
    Reciprocal(Divide),
    Quotient(Divide),
    Root(Root),
    Log(Log),
}

impl Plan {
    pub fn error(&self) -> f64 {
        match self {
            Self::Exp(plan) => plan.error(),
            Self::Circle(plan) => plan.error(),
            Self::Odd(plan) => plan.error(),
            Self::Reciprocal(plan) | Self::Quotient(plan) => plan.error(),
            Self::Root(plan) => plan.error(),
            Self::Log(plan) => plan.error(),
        }
    }

    /// Columns that go in.
    pub fn columns(&self) -> usize {
        if let Self::Quotient(_) = self { 2 } else { 1 }
    }

    pub fn run<R: Columned, B: Backend>(&self, b: &mut B, x: &Rows<B>) -> Result<Rows<B>> {
        let (rows, x) = (x.rows, R::of::<B>(x));
        let out = match self {
            Self::Exp(plan) => plan.run::<R, B>(b, &x[0])?,
            Self::Circle(plan) => plan.run::<R, B>(b, &x[0])?,
            Self::Odd(plan) => plan.run::<R, B>(b, &x[0])?,
            Self::Reciprocal(plan) => plan.run::<R, B>(b, None, &x[0])?,
            Self::Quotient(plan) => plan.run::<R, B>(b, Some(&x[0]), &x[1])?,
            Self::Root(plan) => plan.run::<R, B>(b, &x[0])?,
            Self::Log(plan) => plan.run::<R, B>(b, &x[0])?,
        };
        Ok(R::rows(rows, out))
    }
}

/// An element as an integer from -2^(k-1) on.
pub fn signed<R: Ring>(x: R) -> i128 {
    let shift = 128 - R::BITS;
    (x.to_u128() << shift) as i128 >> shift
}

pub fn element<R: Ring>(x: i128) -> R {
    R::from_u128(x as u128)
}

/// Numbers of an interval: its ends, powers of two and their neighbours, and others of any size.
pub fn numbers(count: usize, Interval { low, high }: Interval, prg: &mut Prg) -> Vec<i128> {
    let powers = (0..100).map(|place| 1i128 << place).flat_map(|x| [x - 1, x, x + 1, -x, 1 - x, -1 - x]);
    let edges: Vec<i128> =
        [low, high, low + 1, high - 1, 0].into_iter().chain(powers).filter(|x| (low..=high).contains(x)).collect();
    // Half of the numbers at most, from all over the interval but for its ends.
    let step = edges.len().div_ceil((count / 2).max(1)).max(1);
    let edges = edges.iter().copied().enumerate().filter(|(i, _)| *i < 5 || i % step == 0).map(|(_, x)| x);
    let random: Vec<u128> = prg.vector(2 * count);
    let drawn = random.chunks(2).map(|words| {
        let size = words[1] % 100;
        let near = if words[1] >> 64 & 1 == 0 { low } else { high };
        let within = low + ((words[0] >> 2) % (high - low + 1) as u128) as i128;
        if words[1] >> 65 & 1 == 0 { within } else { near + ((within - near) >> (size % 40)) }
    });
    let mut all: Vec<i128> = edges.chain(drawn).take(count).collect();
    all.sort_unstable();
    all
}

/// Results of the engine without security.
pub fn on_clear<R: Columned>(plan: &Plan, columns: &[Vec<R>]) -> Vec<R> {
    let mut b = Clear::new().expect("an engine");
    let block = R::block(columns.to_vec());
    let x = b.input(PartyId(0), block.shape(), Some(block)).expect("input");
    let out = plan.run::<R, _>(&mut b, &x).expect("a result");
    let out = &R::of::<Clear>(&out)[0];
    // What is held in clear is read by a linear map.
    let held = std::cell::RefCell::new(vec![]);
    let _ = tacit_mpc::Linear::map(out, columns[0].len(), |values: &Vec<R>| {
        held.borrow_mut().clone_from(values);
        values.clone()
    });
    held.into_inner()
}

/// Components of numbers: uniform ones, and in some rows one that is all of the number.
fn shared<R: Ring>(column: &[R], nodes: usize, prg: &mut Prg) -> Vec<Vec<R>> {
    let random: Vec<u128> = prg.vector(nodes * column.len());
    let mut components = vec![Vec::with_capacity(column.len()); nodes];
    for (i, &x) in column.iter().enumerate() {
        let mut left = x;
        for which in 1..nodes {
            let part = if i % 5 == 0 { R::ZERO } else { R::from_u128(random[nodes * i + which]) };
            left = left.sub(part);
            components[(which + i) % nodes].push(part);
        }
        components[i % nodes].push(left);
    }
    components
}

/// Results of an engine's nodes, and what they cost.
pub fn on_nodes<B: Components, R: Columned>(plan: &Plan, columns: &[Vec<R>], prg: &mut Prg) -> (Vec<R>, Cost) {
    let shares: Vec<Vec<Vec<R>>> = columns.iter().map(|column| shared(column, B::NODES, prg)).collect();
    let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
    let run = |session| {
        let mut b = B::start(session).expect("an engine");
        let me = b.session().me().0;
        let component = |which: usize| R::block(shares.iter().map(|column| column[which % B::NODES].clone()).collect());
        let x = B::put_together((me..me + B::COUNT).map(component).collect());
        let out = b.step("plan", |b| plan.run::<R, _>(b, &x)).expect("peers");
        let counters = b.session().meter().snapshot().under("plan");
        b.into_session().close().expect("an orderly end");
        (R::columns(B::take_apart(out).swap_remove(0)).swap_remove(0), counters)
    };
    let held: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| run(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    });
    assert!(held.iter().all(|(_, counters)| counters.rounds == held[0].1.rounds), "all nodes count the same rounds");
    let cost = Cost { rounds: held[0].1.rounds, sent: held.iter().map(|(_, counters)| counters.bytes_sent).collect() };
    let sum = |i: usize| held.iter().fold(R::ZERO, |sum, (component, _)| sum.add(component[i]));
    ((0..columns[0].len()).map(sum).collect(), cost)
}

/// The engine that adds up what an engine's nodes declare.
pub fn counting<B: Networked>() -> Tally<B::Formulas> {
    Tally::new(PARTIES[..B::NODES].iter().copied().map(String::from).collect())
}

/// What an engine's nodes declare.
pub fn declared<B: Networked, R: Columned>(plan: &Plan, rows: usize) -> Cost {
    let mut b = counting::<B>();
    let shape: Shape = R::block(vec![vec![R::ZERO; rows]; plan.columns()]).shape();
    let x = b.columns(shape);
    b.take();
    plan.run::<R, _>(&mut b, &x).expect("a tally");
    b.take()
}
