//! Times of the relatives of set intersection between two threads of this process: `relatives [log2 of the items]`.
//! Each party uses all cores that it finds; CPU is that of both.

use std::time::{Duration, Instant};
use tacit_math::{Prg, Seed};
use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::blind_join::{Rule, Shape};
use tacit_psi::cardinality_sum::{self, Sums};
use tacit_psi::ps3i::{self, Table};
use tacit_psi::unbalanced::{PreparedSet, PublishedSet};
use tacit_psi::{DhPsi, Item, Protocol, Role, Sizes, private_id, private_id_oprf};

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);

/// Seconds of all cores that this process has used, its ended threads included (Linux; zero elsewhere).
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(") ").next().unwrap_or_default();
    let ticks = after_name.split(' ').skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}

/// Runs both parties and prints a line.
fn measure(name: &str, elements: usize, a: impl FnOnce(&mut Session) + Send, b: impl FnOnce(&mut Session) + Send) {
    let [mut first, mut second]: [Session; 2] =
        memory::mesh(&["sender", "receiver"], &Options::default()).try_into().expect("two parties");
    let (start, before) = (Instant::now(), cpu());
    let sent = std::thread::scope(|scope| {
        let sender = scope.spawn(move || {
            a(&mut first);
            let total = first.meter().snapshot().total;
            first.close().expect("an orderly end");
            total.bytes_sent + total.bytes_received
        });
        b(&mut second);
        second.close().expect("an orderly end");
        sender.join().expect("the sender")
    });
    report(name, elements, start.elapsed(), cpu() - before, sent);
}

fn report(name: &str, elements: usize, time: Duration, cpu: f64, bytes: u64) {
    let each = |amount: f64| amount / elements as f64;
    let time = time.as_secs_f64();
    println!(
        "{name:<32} {time:>8.3} s, CPU {cpu:>7.2} s; an element {:>7.2} us, CPU {:>6.2} us, {:>6.1} B",
        each(1e6 * time),
        each(1e6 * cpu),
        each(bytes as f64)
    );
}

fn main() {
    let log: u32 = std::env::args().nth(1).and_then(|arg| arg.parse().ok()).unwrap_or(16);
    let n = 1usize << log;
    let mut prg = Prg::new(&Seed::random().expect("randomness"));
    let sender: Vec<Item> = prg.vector(n);
    let receiver: Vec<Item> = [&sender[..n / 2], &prg.vector::<Item>(n / 2)].concat();
    let values: Vec<u64> = prg.vector(n);
    let sizes = Sizes { sender: n, receiver: n };
    println!("2^{log} items each, half of them common");

    let intersect = |session: &mut Session, peer, role, items: &[Item]| {
        let mut pair = DhPsi { bins: 1 }.setup(role, session, peer).expect("set up");
        pair.online(session, items, sizes).expect("an outcome");
    };
    measure(
        "intersection",
        n,
        |session| intersect(session, RECEIVER, Role::Sender, &sender),
        |session| intersect(session, SENDER, Role::Receiver, &receiver),
    );

    let (start, before) = (Instant::now(), cpu());
    let (mut set, published) = PreparedSet::prepare(&sender, 1 << 30).expect("prepared");
    report("unbalanced: prepare", n, start.elapsed(), cpu() - before, published.len() as u64);
    let known = PublishedSet::from_bytes(&published).expect("a set");
    let asked = &receiver[n / 2 - (n / 4).min(2048)..][..(n / 2).min(4096)];
    measure(
        &format!("unbalanced: ask about {}", asked.len()),
        asked.len(),
        |session| set.answer(session, RECEIVER, asked.len()).expect("answered"),
        |session| drop(known.query(session, SENDER, asked).expect("asked")),
    );

    let sums = Some(Sums { columns: 1, to: Role::Receiver, least: 1 });
    measure(
        "size and sum",
        n,
        |session| drop(cardinality_sum::send(session, RECEIVER, &sender, std::slice::from_ref(&values), sizes, sums)),
        |session| drop(cardinality_sum::receive(session, SENDER, &receiver, sizes, sums)),
    );

    let shape = Shape { rows: sizes, columns: Sizes { sender: 1, receiver: 1 } };
    let share = |session: &mut Session, peer, role, items: &[Item]| {
        let identifiers: Vec<_> = items.iter().copied().map(Some).collect();
        let table = Table { identifiers: &identifiers, payload: std::slice::from_ref(&values) };
        let payload = Sizes { sender: 1, receiver: 1 };
        ps3i::run(session, peer, role, table, shape, payload, Rule::Single).expect("shares");
    };
    measure(
        "PS3I, one column each",
        n,
        |session| share(session, RECEIVER, Role::Sender, &sender),
        |session| share(session, SENDER, Role::Receiver, &receiver),
    );

    measure(
        "Private-ID",
        n,
        |session| drop(private_id::run(session, RECEIVER, &sender, n).expect("ids")),
        |session| drop(private_id::run(session, SENDER, &receiver, n).expect("ids")),
    );
    measure(
        "Private-ID by OPRF and union",
        n,
        |session| drop(private_id_oprf::run(session, RECEIVER, Role::Sender, &sender, n).expect("ids")),
        |session| drop(private_id_oprf::run(session, SENDER, Role::Receiver, &receiver, n).expect("ids")),
    );
}
