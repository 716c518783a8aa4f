//! Intersection of many sets against the clear one, at its declared cost.

use std::collections::HashSet;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{Cost, Counters, Options, PartyId, Session, memory};
use tacit_psi::multi_party::{Owners, intersect};
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

fn run(sets: &[Vec<Item>], owners: &Owners) -> (Vec<Vec<u32>>, Cost) {
    let party = |mut session: Session, items: &[Item]| -> Result<_, PsiError> {
        let numbers = intersect(&mut session, owners, items)?;
        let total = session.meter().snapshot().total;
        session.close()?;
        Ok((numbers, total))
    };
    let names = ["a", "b", "c", "d", "e"];
    let sessions = memory::mesh(&names[..sets.len()], &Options::default());
    let (numbers, totals): (Vec<_>, Vec<Counters>) = std::thread::scope(|scope| {
        let threads: Vec<_> =
            sessions.into_iter().zip(sets).map(|(session, items)| scope.spawn(move || party(session, items))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic").expect("honest parties")).unzip()
    });
    let rounds = totals[0].rounds;
    assert!(totals.iter().all(|total| total.rounds == rounds), "all parties count the same rounds");
    (numbers, Cost { rounds, sent: totals.iter().map(|total| total.bytes_sent).collect() })
}

#[test]
fn the_recipients_learn_what_all_have_in_one_order() {
    let cases: [(&[usize], usize, usize, &[usize]); 9] = [
        (&[300, 300, 300], 100, 0, &[0]),
        (&[300, 300, 300], 100, 1, &[0, 1, 2]),
        (&[1000, 20, 300, 5], 3, 1, &[1, 3]),
        (&[257, 255, 256, 300, 1], 1, 4, &[0, 1, 2, 3, 4]),
        (&[1, 1, 1], 1, 2, &[0, 1, 2]),
        (&[100, 100], 50, 1, &[0, 1]),
        (&[64, 64, 64], 64, 2, &[0, 2]),
        (&[500, 500, 500], 0, 0, &[0, 1]),
        (&[5, 0, 7], 0, 0, &[0, 1, 2]),
    ];
    for (seed, (sizes, common, leader, recipients)) in (0..).zip(cases) {
        let sets = sets(sizes, common, seed);
        let recipients = recipients.iter().copied().map(PartyId).collect();
        let owners = Owners { sizes: sizes.to_vec(), leader: PartyId(leader), recipients };
        let others: Vec<HashSet<Item>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
        let mut expected: Vec<Item> =
            sets[leader].iter().copied().filter(|item| others.iter().all(|set| set.contains(item))).collect();
        expected.sort_unstable();
        assert!(expected.len() >= common.min(sizes[leader]));
        let (all, measured) = run(&sets, &owners);
        assert_eq!(measured, owners.cost(), "{owners:?}");
        for (party, numbers) in all.iter().enumerate() {
            let found: Vec<Item> = numbers.iter().map(|&number| sets[party][number as usize]).collect();
            let wanted = if owners.recipients.contains(&PartyId(party)) { expected.clone() } else { Vec::new() };
            assert_eq!(found, wanted, "{owners:?}, party {party}");
        }
    }
}

#[test]
fn other_sizes_than_announced_are_refused() {
    let mut sessions = memory::mesh(&["a", "b"], &Options::default());
    let session = &mut sessions[0];
    let refused = |session: &mut Session, sizes: &[usize], leader: usize, recipients: &[usize]| {
        let recipients = recipients.iter().copied().map(PartyId).collect();
        let owners = Owners { sizes: sizes.to_vec(), leader: PartyId(leader), recipients };
        assert!(matches!(intersect(session, &owners, &[7]), Err(PsiError::Input(_))), "{owners:?}");
    };
    for sizes in [&[1][..], &[2, 1], &[1, 1, 1]] {
        refused(session, sizes, 0, &[0]);
    }
    refused(session, &[1, 1], 0, &[1]);
    refused(session, &[1, 1], 0, &[0, 2]);
    refused(session, &[1, 1], 2, &[2]);
}
