//! Garbled circuits on two nodes: what they compute, exactly what they send, and nothing that depends on a secret.

use std::thread;
use std::time::{Duration, Instant};

use super::permits::permit;
use tacit_math::{Plane, Prg, Seed};
use tacit_mpc::backends::two::{Builder, Circuit, Input, TwoCosts};
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::circuits::{mux, small};
use tacit_mpc::{Backend, Block, Linear, Link, Rows, Shape, circuits};
use tacit_net::{Cost, Options, PartyId, Shape as Shaping, memory};

const NODES: [&str; 2] = ["a", "b"];

/// Who knows what of the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// All inputs are shared.
    Shared,
    /// The first half is node a's, the second half node b's.
    Halves,
    /// Node a knows all.
    ByGarbler,
}

/// The opened outputs, and what was sent in which rounds.
fn run(circuit: &Circuit, input: &Block, known: Known) -> (Vec<Vec<bool>>, Cost) {
    let sessions = memory::mesh(&NODES, &Options::default());
    let node = |session| {
        let mut b = Two::new(session).expect("an engine");
        let me = b.session().me();
        let half = input.bits.len() / 2;
        let shares: Vec<_> = match known {
            Known::Shared => {
                b.input(PartyId(1), input.shape(), (me.0 == 1).then(|| input.clone())).expect("input").bits
            }
            _ => (0..input.bits.len())
                .map(|j| {
                    let owner = PartyId(usize::from(known == Known::Halves && j >= half));
                    b.known(owner, input.rows, (me == owner).then(|| input.bits[j].clone()))
                })
                .collect(),
        };
        let wrap = |(j, share)| match known {
            Known::Shared => Input::Shared(share),
            Known::Halves if j >= half => Input::Shared(share),
            _ => Input::OfGarbler(share),
        };
        let inputs: Vec<Input<'_>> = shares.iter().enumerate().map(wrap).collect();
        let bits = b.step("garbled", |b| b.garbled(circuit, &inputs)).expect("a result");
        let counters = b.session().meter().snapshot().under("garbled");
        let rows = Rows { bits, ..Rows::empty(input.rows) };
        let opened = b.open(&rows, permit(&NODES, rows.shape())).expect("opened").expect("a recipient");
        b.into_session().close().expect("an orderly end");
        (opened.bits.iter().map(Plane::to_bools).collect::<Vec<_>>(), counters)
    };
    let views: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    });
    assert_eq!(views[0].0, views[1].0);
    assert_eq!(views[0].1.rounds, views[1].1.rounds);
    let cost = Cost { rounds: views[0].1.rounds, sent: views.iter().map(|view| view.1.bytes_sent).collect() };
    (views.into_iter().next().expect("a node").0, cost)
}

/// x + y, whether x < y, the smaller one, and x / y with what remains.
fn circuit(width: usize) -> Circuit {
    let (mut build, inputs) = Builder::new(2 * width);
    let (x, y) = inputs.split_at(width);
    let Ok(sum) = small::add(&mut build, x, y);
    let Ok(less) = small::less_than(&mut build, x, y);
    let Ok(least) = mux(&mut build, &less, x, y);
    let Ok(quotient) = small::divide(&mut build, x, y);
    let outputs = [sum, vec![less], least, quotient].concat();
    let circuit = build.finish(&outputs);
    assert_eq!(circuit.ands(), 3 * width - 1 + 2 * width * width);
    circuit
}

fn check(width: usize, rows: usize, known: Known) {
    let circuit = circuit(width);
    let seed = *Seed::random().expect("randomness").expose();
    println!("{width} bits, {rows} rows, {known:?}: seed {seed:?}");
    let mut input =
        Block::random(Shape { rows, bits: 2 * width, ..Shape::default() }, &mut Prg::new(&Seed::from_bytes(seed)));
    // Every other row compares equal numbers.
    for j in 0..width {
        let (x, y) = (input.bits[j].clone(), &input.bits[width + j]);
        input.bits[width + j] = Plane::from_fn(rows, |i| if i % 2 == 0 { x.get(i) } else { y.get(i) });
    }
    let (opened, cost) = run(&circuit, &input, known);
    let number =
        |planes: &dyn Fn(usize, usize) -> bool, row| (0..width).map(|j| u64::from(planes(j, row)) << j).sum::<u64>();
    for row in 0..rows {
        let x = number(&|j, row| input.bits[j].get(row), row);
        let y = number(&|j, row| input.bits[width + j].get(row), row);
        assert_eq!(number(&|j, row| opened[j][row], row), (x + y) & ((1 << width) - 1), "{x} + {y}");
        assert_eq!(opened[width][row], x < y, "{x} < {y}");
        assert_eq!(number(&|j, row| opened[width + 1 + j][row], row), x.min(y), "the smaller of {x} and {y}");
        if let Some(quotient) = x.checked_div(y) {
            let first = 2 * width + 1;
            assert_eq!(number(&|j, row| opened[first + j][row], row), quotient, "{x} / {y}");
            assert_eq!(number(&|j, row| opened[first + width + j][row], row), x % y, "what {x} / {y} leaves");
        }
    }
    let transferred = match known {
        Known::Shared => 2 * width,
        Known::Halves => width,
        Known::ByGarbler => 0,
    };
    assert_eq!(cost, TwoCosts::default().garbled(&circuit, rows, transferred), "{width} bits, {rows} rows, {known:?}");
}

#[test]
fn garbled_circuits_compute_and_cost_what_they_say() {
    for known in [Known::Shared, Known::Halves, Known::ByGarbler] {
        for rows in [0, 1, 64, 255, 256, 257, 1000] {
            check(9, rows, known);
        }
        check(1, 70, known);
    }
}

/// Rounds of two comparisons of 32 bits, one behind the other, on a network with so much latency, and their time.
fn comparisons(link: Link, latency: Duration) -> ([u64; 2], Duration) {
    let options = Options { shape: Shaping { latency, bandwidth: None }, ..Options::default() };
    let node = |session| {
        let mut b = Two::new(session).expect("an engine");
        b.declare(link);
        let planes = |b: &Two, owner| (0..32).map(|_| b.known(PartyId(owner), 1000, None)).collect::<Vec<_>>();
        let (x, y) = (planes(&b, 0), planes(&b, 1));
        let start = Instant::now();
        let rounds = ["first", "second"].map(|name| {
            let less = b.step(name, |b| circuits::less_than(b, &x, &y, false)).expect("a result");
            assert_eq!(less.rows(), 1000);
            b.session().meter().snapshot().under(name).rounds
        });
        let time = start.elapsed();
        b.into_session().close().expect("an orderly end");
        (rounds, time)
    };
    let views: Vec<_> = thread::scope(|scope| {
        let sessions = memory::mesh(&NODES, &options);
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(move || node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    });
    assert_eq!(views[0].0, views[1].0);
    (views[0].0, views[0].1.max(views[1].1))
}

#[test]
fn comparisons_are_garbled_where_rounds_are_slow_or_tables_fast() {
    let latency = Duration::from_millis(60);
    let slow = Link { latency: latency.as_secs_f64(), bandwidth: 125e6 };
    let (rounds, time) = comparisons(slow, latency);
    assert_eq!(rounds, [4, 2], "the first one sets the transfers up");
    assert!(time >= 4 * latency, "node 1 hears of tables that node 0 makes of what it asked for");
    let (rounds, _) = comparisons(Link::UNDECLARED, Duration::ZERO);
    assert_eq!(rounds, [4, 2], "tables take less time than these OTs");
    let (rounds, _) = comparisons(Link { bandwidth: 50e6, ..Link::UNDECLARED }, Duration::ZERO);
    assert!(rounds.iter().all(|&rounds| rounds >= 6), "gate by gate: {rounds:?}");
}

#[test]
fn many_rows_go_in_batches() {
    check(12, 50_000, Known::Shared);
}
