//! Intersection of many sets against the clear one, at its declared cost.

use std::collections::HashSet;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{Options, PartyId, Session, memory};
use tacit_psi::multi_party::{PartyCost, cost, intersect};
use tacit_psi::{Item, PsiError};

/// Random sets; each has the first `common` items of one pool, and every other item of the rest of it with a chance.
fn sets(sizes: &[usize], common: usize, seed: u8) -> Vec<Vec<Item>> {
    let mut prg = Prg::new(&Seed::from_bytes([seed; 16]));
    let pool: Vec<Item> = prg.vector(2 * sizes.iter().copied().max().unwrap_or(0));
    let draw = |&size: &usize| {
        let mut rest = pool[common.min(size)..].to_vec();
        let order = permutation::random(rest.len(), &mut prg);
        rest = permutation::gather(&rest, &order);
        let mut set: Vec<Item> = pool[..common.min(size)].iter().chain(&rest).copied().take(size).collect();
        let order = permutation::random(size, &mut prg);
        set = permutation::gather(&set, &order);
        set
    };
    sizes.iter().map(draw).collect()
}

fn run(sets: &[Vec<Item>], leader: PartyId) -> Vec<(Vec<u32>, PartyCost)> {
    let sizes: Vec<usize> = sets.iter().map(Vec::len).collect();
    let party = |mut session: Session, items: &[Item]| -> Result<_, PsiError> {
        let numbers = intersect(&mut session, leader, items, &sizes)?;
        let total = session.meter().snapshot().total;
        session.close()?;
        Ok((numbers, PartyCost { rounds: total.rounds, sent: total.bytes_sent }))
    };
    let names = ["a", "b", "c", "d", "e"];
    let sessions = memory::mesh(&names[..sets.len()], &Options::default());
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            sessions.into_iter().zip(sets).map(|(session, items)| scope.spawn(move || party(session, items))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic").expect("honest parties")).collect()
    })
}

#[test]
fn the_leader_learns_what_all_have() {
    let cases: [(&[usize], usize, usize); 7] = [
        (&[300, 300, 300], 100, 0),
        (&[1000, 20, 300, 5], 3, 1),
        (&[257, 255, 256, 300, 1], 1, 4),
        (&[100, 100], 50, 1),
        (&[64, 64, 64], 64, 2),
        (&[500, 500, 500], 0, 0),
        (&[5, 0, 7], 0, 0),
    ];
    for (seed, (sizes, common, leader)) in (0..).zip(cases) {
        let (sets, leader) = (sets(sizes, common, seed), PartyId(leader));
        let results = run(&sets, leader);
        let others: Vec<HashSet<Item>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
        let expected: Vec<u32> = (0..)
            .zip(&sets[leader.0])
            .filter(|(_, item)| others.iter().all(|set| set.contains(item)))
            .map(|(number, _)| number)
            .collect();
        assert!(expected.len() >= common.min(sizes[leader.0]));
        for (party, (numbers, measured)) in results.iter().enumerate() {
            assert_eq!(*measured, cost(sizes, leader, PartyId(party)), "{sizes:?}, party {party}");
            let wanted = if PartyId(party) == leader { expected.clone() } else { Vec::new() };
            assert_eq!(*numbers, wanted, "{sizes:?}, party {party}");
        }
    }
}

#[test]
fn other_sizes_than_announced_are_refused() {
    let mut sessions = memory::mesh(&["a", "b"], &Options::default());
    let session = &mut sessions[0];
    for sizes in [&[1][..], &[2, 1], &[1, 1, 1]] {
        assert!(matches!(intersect(session, PartyId(0), &[7], sizes), Err(PsiError::Input(_))));
    }
}
