//! No branch and no address depends on a payload, a mask, a value of the function or a share of what comes out, under memcheck. A party's own items
//! steer its local computations by design (docs/security/constant-time.md): they are not marked.

use std::hint::black_box;
use std::thread;

use tacit_marks::{found, marked};
use tacit_mpc::backends::Components;
use tacit_net::{Options, memory};

use super::*;

const COUNTS: (usize, usize) = (7, 5);
const COMMON: usize = 3;

/// What a party does with the shares, before they are opened.
type Work = fn(&Joined<Two>);

/// What memcheck finds in a run whose opened result is right.
fn of_run(name: &str, work: Work) -> Vec<(String, usize)> {
    let (sender, receiver) = sets(&mut generator(name), COUNTS, COMMON);
    let psi = psi(COUNTS);
    let node = |mut session: Session, role, items: &[Item]| {
        let binned = binned(psi, role, &mut session, items, &marked((0..items.len() as u64).collect()));
        let opened = open_after(psi, session, binned, work);
        assert_eq!(opened.iter().filter(|(matches, ..)| *matches).count(), COMMON);
    };
    found(name, || {
        let [a, b]: [Session; 2] =
            memory::mesh(&["sender", "receiver"], &Options::default()).try_into().expect("two parties");
        thread::scope(|scope| {
            scope.spawn(|| node(a, Role::Sender, &sender));
            scope.spawn(|| node(b, Role::Receiver, &receiver));
        });
    })
}

#[test]
fn intersections_into_shares() {
    assert_eq!(of_run("into shares", |_| ()), []);
}

/// A call, so that no compiler makes a conditional move of the branch.
#[inline(never)]
fn odd() -> u64 {
    black_box(1)
}

/// What comes out is marked: one branch on a share of the matches and on one of either payload is found each time, at both nodes.
#[test]
fn planted_faults_of_shares_are_found() {
    let found = of_run("planted", |joined| {
        let matches = Rows { bits: vec![joined.matches.clone()], ..Rows::empty(joined.of_sender.rows) };
        for shares in [matches, joined.of_sender.clone(), joined.of_receiver.clone()] {
            let share = Two::take_apart(shares).swap_remove(0);
            black_box(if black_box(share.bits[0].words()[0]) & 1 == 1 { odd() } else { 0 });
        }
    });
    assert_eq!(found, [("planted".to_owned(), 2 * 3)]);
}
