//! No branch and no address depends on a payload, a mask, a value of the function or a share of what comes out, under
//! memcheck. A party's own items steer its local computations by design (docs/security/constant-time.md): they are not
//! marked.

use std::hint::black_box;
use std::thread;

use tacit_marks::{found, marked};
use tacit_mpc::backends::{Components, Rep3};
use tacit_net::{Options, memory};
use tacit_psi::row_counts;

use super::*;

const COUNTS: (usize, usize) = (7, 5);
const COMMON: usize = 3;

/// What a node does with the shares, before they are opened.
type Work<B> = fn(&Joined<B>);

/// What memcheck finds in a run for sets of these sizes. The opened result is checked.
fn of_run<B: Components>(name: &str, counts: (usize, usize), work: Work<B>) -> Vec<(String, usize)> {
    let name = format!("{name}, {}", B::NAME);
    let (sender, receiver) = sets(&mut generator(&name), counts, COMMON);
    let psi = psi(counts);
    let node = |mut session: Session| {
        let own = [(SENDER, Role::Sender, &sender), (RECEIVER, Role::Receiver, &receiver)];
        let own = own.into_iter().find(|&(party, ..)| party == session.me());
        let binned = own
            .map(|(_, role, items)| binned(psi, role, &mut session, items, &marked((0..items.len() as u64).collect())));
        if binned.is_none() {
            row_counts::stand_by(&mut session, psi.declared().rounds);
        }
        let opened = open_after(psi, session, binned, work);
        assert_eq!(opened.iter().filter(|(matches, ..)| *matches).count(), COMMON);
    };
    found(&name, || {
        let sessions = memory::mesh(&NODES[..B::NODES], &Options::default());
        thread::scope(|scope| sessions.into_iter().for_each(|session| drop(scope.spawn(|| node(session)))));
    })
}

#[test]
fn intersections_into_shares() {
    let of = "into shares";
    assert_eq!([of_run::<Two>(of, COUNTS, |_| ()), of_run::<Rep3>(of, COUNTS, |_| ())].concat(), []);
}

/// The sender's store has three keys for each item.
#[test]
fn intersections_into_shares_by_stores_of_several_clusters() {
    let counts = (22_000, COUNTS.1);
    assert_eq!(psi(counts).layout().clusters, 2);
    assert_eq!(of_run::<Two>("into shares by stores of two clusters", counts, |_| ()), []);
}

/// A call, so that no compiler makes a conditional move of the branch.
#[inline(never)]
fn odd() -> u64 {
    black_box(1)
}

/// A branch on a share of the matches and on one of either payload, in each component.
fn planted<B: Components>(joined: &Joined<B>) {
    let matches = Rows { bits: vec![joined.matches.clone()], ..Rows::empty(joined.of_sender.rows) };
    for shares in [matches, joined.of_sender.clone(), joined.of_receiver.clone()] {
        for share in B::take_apart(shares) {
            black_box(if black_box(share.bits[0].words()[0]) & 1 == 1 { odd() } else { 0 });
        }
    }
}

/// What comes out is marked: each branch is found each time, at all nodes. Of an input, as the receiver's payload is
/// one, `rep3` has a component of zeros at two nodes.
#[test]
fn planted_faults_of_shares_are_found() {
    fn found<B: Components>(expected: usize) {
        assert_eq!(of_run("planted", COUNTS, planted::<B>), [(format!("planted, {}", B::NAME), expected)]);
    }
    found::<Two>(3 * 2);
    found::<Rep3>(3 * 2 * 3 - 2);
}
