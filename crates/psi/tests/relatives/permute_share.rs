//! Permute and share: shares add up to the owner's data in the permuter's order.

use crate::pair::{RECEIVER, SENDER, generator, run};
use tacit_math::permutation;
use tacit_psi::permute_share::{Owner, Permuter, cost, setup_cost};

#[test]
fn shares_are_of_the_data_in_the_order_at_the_declared_cost() {
    let mut prg = generator("permute and share");
    // The last takes more switches than one batch of OTs.
    for n in [0, 1, 2, 3, 5, 64, 127, 1000, 70_000] {
        let data: [Vec<u64>; 2] = [prg.vector(n), prg.vector(n)];
        let order = permutation::random(n, &mut prg);
        let (owner, permuter) = run(
            |session| {
                let mut owner = Owner::setup(session, RECEIVER).expect("set up");
                data.each_ref().map(|column| owner.share(session, RECEIVER, column).expect("shared"))
            },
            |session| {
                let mut permuter = Permuter::setup(session, SENDER).expect("set up");
                [(); 2].map(|()| permuter.share(session, SENDER, &order).expect("shared"))
            },
        );
        for (column, (a, b)) in data.iter().zip(owner.result.iter().zip(&permuter.result)) {
            let sum: Vec<u64> = a.iter().zip(b).map(|(a, b)| a.wrapping_add(*b)).collect();
            assert_eq!(sum, permutation::gather(column, &order), "{n} numbers");
        }
        let (setup, share) = (setup_cost(), cost(n));
        assert_eq!(owner.traffic.rounds, setup.rounds + 2 * share.rounds, "{n} numbers");
        assert_eq!(owner.traffic.sender, setup.sender + 2 * share.sender, "{n} numbers");
        assert_eq!(owner.traffic.receiver, setup.receiver + 2 * share.receiver, "{n} numbers");
    }
}

#[test]
fn the_permuters_share_alone_is_masked() {
    let shared = || {
        let (_, permuter) = run(
            |session| Owner::setup(session, RECEIVER).and_then(|mut owner| owner.share(session, RECEIVER, &[7; 50])),
            |session| {
                Permuter::setup(session, SENDER)
                    .and_then(|mut p| p.share(session, SENDER, &(0..50).collect::<Vec<_>>()))
            },
        );
        permuter.result.expect("shared")
    };
    let (one, other) = (shared(), shared());
    // 50 equal words in two runs: by chance two are equal with probability below 2^-50.
    let mut all = [one, other].concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 100);
}
