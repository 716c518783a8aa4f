//! Times of the engine of two nodes and of intersection into its shares, between two threads of this process:
//! `two_party [log2 of the rows]`. CPU is that of both nodes; a session's own setup is outside, making its stock of
//! transfers inside.

use std::time::Instant;
use tacit_math::{Prg, Seed};
use tacit_mpc::backends::two::{Builder, Circuit, Input};
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::circuits::small;
use tacit_mpc::{Backend, Block, Rows, Shape, circuits, ops};
use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::{Item, Role, Sizes};

/// Seconds of all cores that this process has used, its ended threads included (Linux; zero elsewhere).
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

fn sessions() -> Vec<Session> {
    memory::mesh(&["a", "b"], &Options::default())
}

/// Runs a computation on random shares at both nodes and prints a line.
fn measure(name: &str, units: usize, shape: Shape, run: impl Fn(&mut Two, Rows<Two>) + Sync) {
    let node = |session: Session| {
        let mut b = Two::new(session).expect("an engine");
        let data =
            (b.session().me() == PartyId(0)).then(|| Block::random(shape, &mut Prg::new(&Seed::from_bytes([1; 16]))));
        let rows = b.input(PartyId(0), shape, data).expect("input");
        let (start, before) = (Instant::now(), cpu());
        b.step("measured", |b| {
            run(b, rows);
            Ok(())
        })
        .expect("a result");
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
        let counters = b.session().meter().snapshot().under("measured");
        b.into_session().close().expect("an orderly end");
        (seconds, cpu, counters.bytes_sent + counters.bytes_received, counters.rounds)
    };
    let (seconds, cpu, bytes, rounds) = std::thread::scope(|scope| {
        let threads: Vec<_> = sessions().into_iter().map(|session| scope.spawn(|| node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).next().expect("a node")
    });
    report(name, units, seconds, cpu, bytes, rounds);
}

fn report(name: &str, units: usize, seconds: f64, cpu: f64, bytes: u64, rounds: u64) {
    let n = units as f64;
    println!(
        "{name:<28} {units:>10}  {seconds:>7.3} s  CPU {cpu:>6.2} s  {:>8.3} M/s  {:>8.2} B  {rounds} rounds",
        n / seconds / 1e6,
        bytes as f64 / n
    );
}

/// A chain of adders with at least `ands` ANDs.
fn deep(ands: usize) -> Circuit {
    let (mut build, inputs) = Builder::new(64);
    let (mut x, y) = (inputs[..32].to_vec(), inputs[32..].to_vec());
    for _ in 0..ands.div_ceil(31) {
        let Ok(sum) = small::add(&mut build, &x, &y);
        x = sum;
    }
    build.finish(&x)
}

fn garbled(name: &str, circuit: &Circuit, rows: usize, units: usize) {
    measure(name, units, Shape { rows, bits: 64, ..Shape::default() }, |b, x| {
        let inputs: Vec<Input<'_>> = x.bits.iter().map(Input::Shared).collect();
        drop(b.garbled(circuit, &inputs).expect("a result"));
    });
}

fn intersect(n: usize) {
    let payload = Shape { bits: 64, ..Shape::default() };
    let psi = CircuitPsi::new(Sizes { sender: n, receiver: n }, Payloads { sender: payload, receiver: payload });
    let node = |mut session: Session| {
        let role = if session.me() == PartyId(0) { Role::Sender } else { Role::Receiver };
        let mut prg = Prg::new(&Seed::from_bytes([2; 16]));
        let mut items: Vec<Item> = prg.vector(n);
        if role == Role::Receiver {
            items[..n / 2].copy_from_slice(&prg.vector::<Item>(n / 2));
        }
        let (start, before) = (Instant::now(), cpu());
        let peer = PartyId(1 - session.me().0);
        let binned =
            psi.bin(role, &mut session, peer, &items, &Block::zeros(Shape { rows: n, ..payload })).expect("binned");
        let stores = (start.elapsed().as_secs_f64(), cpu() - before);
        let mut b = Two::new(session).expect("an engine");
        drop(psi.join(&mut b, PartyId(0), PartyId(1), Some(binned)).expect("joined"));
        let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu() - before);
        let total = b.session().meter().snapshot().total;
        b.into_session().close().expect("an orderly end");
        (stores, seconds, cpu, total.bytes_sent + total.bytes_received, total.rounds)
    };
    let (stores, seconds, cpu, bytes, rounds) = std::thread::scope(|scope| {
        let threads: Vec<_> = sessions().into_iter().map(|session| scope.spawn(|| node(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).next().expect("a node")
    });
    report("circuit-psi", n, seconds, cpu, bytes, rounds);
    let (wall, processor) = stores;
    println!("{:<28} of that {wall:.3} s, CPU {processor:.2} s until tags are compared", "");
}

fn main() {
    // With a second argument only the intersection.
    let alone = std::env::args().nth(2).is_some();
    let log: usize = std::env::args().nth(1).map_or(16, |log| log.parse().expect("the logarithm of the rows, like 16"));
    let n = 1 << log;
    if alone {
        return intersect(n);
    }
    let bits = |rows, bits| Shape { rows, bits, ..Shape::default() };
    measure("and", 64 * n, bits(n, 128), |b, x| {
        let (x, y) = x.bits.split_at(64);
        drop(b.and(&x.iter().collect::<Vec<_>>(), &y.iter().collect::<Vec<_>>()).expect("products"));
    });
    measure("mux of 64 bits", n, bits(n, 129), |b, x| {
        drop(circuits::mux(b, &x.bits[128], &x.bits[..64], &x.bits[64..128]).expect("choices"));
    });
    measure("multiply 64 bits", n / 4, Shape { rows: n / 4, r64: 2, ..Shape::default() }, |b, x| {
        drop(b.mul(&[&x.r64[0]], &[&x.r64[1]]).expect("products"));
    });
    measure("less than, 32 bits", n, bits(n, 64), |b, x| {
        drop(circuits::less_than(b, &x.bits[..32], &x.bits[32..], false).expect("an order"));
    });
    let (mut build, inputs) = Builder::new(64);
    let Ok(less) = small::less_than(&mut build, &inputs[..32], &inputs[32..]);
    garbled("less than, 32 bits, garbled", &build.finish(&[less]), n, n);
    let deep = deep(2000);
    garbled("garbled and", &deep, n / 4, n / 4 * deep.ands());
    measure("shuffle of 64 bits", n, Shape { rows: n, r64: 1, ..Shape::default() }, |b, x| {
        drop(b.shuffle(x).expect("shuffled"));
    });
    measure("sort by 32 bits", n, bits(n, 32), |b, x| {
        let order = ops::sort_order(b, n, &x.bits).expect("an order");
        drop(ops::apply(b, x, order).expect("sorted"));
    });
    intersect(n);
}
