//! Intersection into shares: what the shares open to, on every engine, and exact costs.

mod attack;
#[cfg(tacit_memcheck)]
mod constant_time;
#[allow(dead_code, reason = "each test file uses its part of what a receiver sees")]
mod curious;
#[path = "../relatives/pair.rs"]
#[allow(dead_code, reason = "each test file uses its part of the world")]
mod pair;
#[path = "../../../mpc/tests/permits/mod.rs"]
mod permits;

use pair::{RECEIVER, SENDER, SIZES, generator, run, sets};
use permits::permit;
use std::collections::HashMap;
use tacit_math::{Plane, transpose};
use tacit_mpc::backends::{Networked, Two};
use tacit_mpc::{Block, Rows, Shape};
use tacit_net::Session;
use tacit_psi::circuit_psi::{Binned, CircuitPsi, Joined, Payloads};
use tacit_psi::{Item, Role, Sizes};

/// What an item stands for: the same number in every column, as far as it holds it.
const PAYLOADS: Payloads = Payloads {
    sender: Shape { rows: 0, bits: 70, r32: 0, r64: 1, r128: 1 },
    receiver: Shape { rows: 0, bits: 64, r32: 0, r64: 0, r128: 0 },
};

/// A row of the opened result: match, the sender's payload (every column of it), the receiver's.
type Opened = Vec<(bool, [u64; 3], u64)>;

fn psi(sizes: (usize, usize)) -> CircuitPsi {
    CircuitPsi::new(Sizes { sender: sizes.0, receiver: sizes.1 }, PAYLOADS)
}

/// The payload of a party whose items have these numbers.
fn block(role: Role, numbers: &[u64]) -> Block {
    let rows = numbers.len();
    let bits = transpose::planes_of_rows(numbers, 64);
    match role {
        Role::Receiver => Block { rows, bits, ..Block::default() },
        Role::Sender => Block {
            rows,
            bits: [bits, vec![Plane::ones(rows); 6]].concat(),
            r64: vec![numbers.to_vec()],
            r128: vec![numbers.iter().map(|&x| u128::from(x) << 64 | 3).collect()],
            ..Block::default()
        },
    }
}

fn binned(psi: CircuitPsi, role: Role, session: &mut Session, items: &[Item], numbers: &[u64]) -> Binned {
    let peer = if role == Role::Sender { RECEIVER } else { SENDER };
    psi.bin(role, session, peer, items, &block(role, numbers)).expect("binned")
}

/// The nodes; an engine of two has no helper.
const NODES: [&str; 3] = ["sender", "receiver", "helper"];

/// Compares under the engine and opens everything.
fn open(psi: CircuitPsi, session: Session, binned: Binned) -> Opened {
    open_after::<Two>(psi, session, Some(binned), |_| ())
}

/// The same under any engine, whose helper has put nothing into bins; `work` sees the shares before.
fn open_after<B: Networked>(
    psi: CircuitPsi,
    session: Session,
    binned: Option<Binned>,
    work: impl FnOnce(&Joined<B>),
) -> Opened {
    let mut b = B::start(session).expect("an engine");
    let joined = psi.join(&mut b, SENDER, RECEIVER, binned).expect("joined");
    work(&joined);
    let Joined { matches, of_sender, of_receiver } = joined;
    let bits = [vec![matches], of_sender.bits, of_receiver.bits].concat();
    let (r64, r128) = (of_sender.r64, of_sender.r128);
    let rows = Rows { bits, r64, r128, ..Rows::empty(psi.bins()) };
    let opened = b.open(&rows, permit(&NODES[..B::NODES], rows.shape())).expect("opened").expect("a recipient");
    b.into_session().close().expect("an orderly end");
    let number = |row: usize, first: usize| (0..64).map(|j| u64::from(opened.bits[first + j].get(row)) << j).sum();
    let of_sender = |row: usize| [number(row, 1), opened.r64[0][row], (opened.r128[0][row] >> 64) as u64];
    let sound = |row: usize| (65..71).all(|j| opened.bits[j].get(row)) && opened.r128[0][row] as u64 == 3;
    (0..psi.bins())
        .map(|row| {
            let matches = opened.bits[0].get(row);
            assert!(!matches || sound(row), "the other bits of the payload in row {row}");
            (matches, of_sender(row), number(row, 71))
        })
        .collect()
}

fn payload(item: Item, salt: u64) -> u64 {
    (item as u64 ^ salt).rotate_left(7)
}

#[test]
fn matches_and_payloads_are_those_of_the_intersection() {
    // The last ones take stores of several clusters.
    for (sizes, common) in SIZES.into_iter().chain([((45_000, 100), 40)]) {
        let (sender, receiver) = sets(&mut generator(&format!("{sizes:?}")), sizes, common);
        let psi = psi(sizes);
        let payloads = |items: &[Item], salt| items.iter().map(|&item| payload(item, salt)).collect::<Vec<_>>();
        let sessions = tacit_net::memory::mesh(&["sender", "receiver"], &tacit_net::Options::default());
        let opened: Vec<Opened> = std::thread::scope(|scope| {
            let sides = [(Role::Sender, &sender, 1), (Role::Receiver, &receiver, 2)];
            let node = |mut session: Session, (role, items, salt): (Role, &Vec<Item>, u64)| {
                let binned = binned(psi, role, &mut session, items, &payloads(items, salt));
                open(psi, session, binned)
            };
            let threads: Vec<_> = sessions
                .into_iter()
                .zip(sides)
                .map(|(session, side)| scope.spawn(move || node(session, side)))
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("a party")).collect()
        });
        assert_eq!(opened[0], opened[1], "{sizes:?}");
        let by_payload: HashMap<u64, Item> = receiver.iter().map(|&item| (payload(item, 2), item)).collect();
        let mut found: Vec<Item> = Vec::new();
        for &(matches, of_sender, of_receiver) in &opened[0] {
            if matches {
                let item = by_payload[&of_receiver];
                assert_eq!(of_sender, [payload(item, 1); 3], "{sizes:?}");
                found.push(item);
            }
        }
        let mut expected: Vec<Item> = receiver.iter().copied().filter(|item| sender.contains(item)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected, "{sizes:?}");
        assert_eq!(found.len(), common, "{sizes:?}");
    }
}

#[test]
fn binning_costs_what_it_declares() {
    for sizes in [(0, 5), (3, 0), (1, 1), (100, 40)] {
        let (sender, receiver) = sets(&mut generator(&format!("costs {sizes:?}")), sizes, 0);
        let psi = psi(sizes);
        let (a, b) = run(
            |session| binned(psi, Role::Sender, session, &sender, &vec![0; sizes.0]),
            |session| binned(psi, Role::Receiver, session, &receiver, &vec![0; sizes.1]),
        );
        assert_eq!((a.traffic, b.traffic), (psi.declared(), psi.declared()), "{sizes:?}");
    }
}

#[test]
fn wrong_counts_are_refused_before_anything_is_sent() {
    let psi = psi((2, 2));
    let (a, b) = run(
        |session| {
            psi.bin(Role::Sender, session, RECEIVER, &[1], &block(Role::Sender, &[1])).err().map(|e| e.to_string())
        },
        |session| {
            psi.bin(Role::Receiver, session, SENDER, &[1, 2], &block(Role::Receiver, &[1])).err().map(|e| e.to_string())
        },
    );
    assert_eq!(
        a.result.expect("refused"),
        "1 items and 1 payloads are given where 2 were announced; give one payload for each item"
    );
    assert!(b.result.is_some() && a.messages.is_empty() && b.messages.is_empty());
}
