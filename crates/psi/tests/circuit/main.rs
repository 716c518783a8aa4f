//! Intersection into shares: what the shares open to, on every engine, and exact costs.

#[path = "../relatives/pair.rs"]
#[allow(dead_code, reason = "each test file uses its part of the world")]
mod pair;

use pair::{RECEIVER, SENDER, SIZES, generator, run, sets};
use std::collections::HashMap;
use tacit_mpc::backends::Two;
use tacit_mpc::{Backend, Permit, PermitKind, Permits, Rows};
use tacit_net::Session;
use tacit_psi::circuit_psi::{CircuitPsi, Joined};
use tacit_psi::{Item, Role, Sizes};

/// A row of the opened result: match, the sender's payload, the receiver's.
type Opened = Vec<(bool, u64, u64)>;

fn permit() -> Permit {
    let names = ["sender", "receiver"].map(String::from);
    let list = r#"[{"site": "out", "kind": "answer", "recipients": ["sender", "receiver"], "columns": ["all"]}]"#;
    let mut permits = Permits::from_json(list).expect("a list");
    permits.take("out", &[PermitKind::Answer], &names, &["all".into()]).expect("a permit")
}

fn joined(
    psi: CircuitPsi,
    role: Role,
    session: &mut Session,
    items: &[Item],
    payloads: &[u64],
) -> tacit_psi::circuit_psi::Binned {
    let peer = if role == Role::Sender { RECEIVER } else { SENDER };
    psi.bin(role, session, peer, items, payloads).expect("binned")
}

/// Compares under the engine and opens everything.
fn open(psi: CircuitPsi, session: Session, binned: tacit_psi::circuit_psi::Binned) -> Opened {
    let mut b = Two::new(session).expect("an engine");
    let Joined { matches, of_sender, of_receiver } = psi.join(&mut b, SENDER, RECEIVER, Some(binned)).expect("joined");
    let bits = [vec![matches], of_sender, of_receiver].concat();
    let opened = b.open(&Rows { bits, ..Rows::empty(psi.bins()) }, permit()).expect("opened").expect("a recipient");
    b.into_session().close().expect("an orderly end");
    let number = |row: usize, first: usize| (0..64).map(|j| u64::from(opened.bits[first + j].get(row)) << j).sum();
    (0..psi.bins()).map(|row| (opened.bits[0].get(row), number(row, 1), number(row, 65))).collect()
}

fn payload(item: Item, salt: u64) -> u64 {
    (item as u64 ^ salt).rotate_left(7)
}

#[test]
fn matches_and_payloads_are_those_of_the_intersection() {
    for (sizes, common) in SIZES {
        let (sender, receiver) = sets(&mut generator(&format!("{sizes:?}")), sizes, common);
        let psi = CircuitPsi::new(Sizes { sender: sizes.0, receiver: sizes.1 });
        let payloads = |items: &[Item], salt| items.iter().map(|&item| payload(item, salt)).collect::<Vec<_>>();
        let sessions = tacit_net::memory::mesh(&["sender", "receiver"], &tacit_net::Options::default());
        let opened: Vec<Opened> = std::thread::scope(|scope| {
            let sides = [(Role::Sender, &sender, 1), (Role::Receiver, &receiver, 2)];
            let node = |mut session: Session, (role, items, salt): (Role, &Vec<Item>, u64)| {
                let binned = joined(psi, role, &mut session, items, &payloads(items, salt));
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
                assert_eq!(of_sender, payload(item, 1), "{sizes:?}");
                found.push(item);
            } else {
                assert_eq!((of_sender, of_receiver), (0, 0), "{sizes:?}: a bin without a match shows nothing");
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
        let psi = CircuitPsi::new(Sizes { sender: sizes.0, receiver: sizes.1 });
        let (a, b) = run(
            |session| joined(psi, Role::Sender, session, &sender, &vec![0; sizes.0]),
            |session| joined(psi, Role::Receiver, session, &receiver, &vec![0; sizes.1]),
        );
        assert_eq!((a.traffic, b.traffic), (psi.declared(), psi.declared()), "{sizes:?}");
    }
}

#[test]
fn wrong_counts_are_refused_before_anything_is_sent() {
    let psi = CircuitPsi::new(Sizes { sender: 2, receiver: 2 });
    let (a, b) = run(
        |session| psi.bin(Role::Sender, session, RECEIVER, &[1], &[1]).err().map(|e| e.to_string()),
        |session| psi.bin(Role::Receiver, session, SENDER, &[1, 2], &[1]).err().map(|e| e.to_string()),
    );
    assert_eq!(
        a.result.expect("refused"),
        "1 items and 1 payloads are given where 2 were announced; give one payload for each item"
    );
    assert!(b.result.is_some() && a.messages.is_empty() && b.messages.is_empty());
}
