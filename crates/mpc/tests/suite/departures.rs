//! Attacks on what departs from a published protocol, from one node's view: docs/security/departures.md tells the
//! games.

use std::thread;

use tacit_math::Plane;
use tacit_mpc::backends::{Components, Networked, Rep3, Two};
use tacit_mpc::{Backend, Block, Rows};
use tacit_net::{Options, PartyId, memory};

/// The parties; an engine's nodes are the first of them.
const PARTIES: [&str; 3] = ["a", "b", "c"];

/// What every node of an engine computes with the others.
fn on_nodes<B: Networked, T: Send>(node: impl Fn(&mut B) -> T + Sync) -> Vec<T> {
    let sessions = memory::mesh(&PARTIES[..B::NODES], &Options::default());
    let run = |session| {
        let mut b = B::start(session).expect("an engine");
        let out = node(&mut b);
        b.into_session().close().expect("an orderly end");
        out
    };
    thread::scope(|scope| {
        let threads: Vec<_> = sessions.into_iter().map(|session| scope.spawn(|| run(session))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a node")).collect()
    })
}

/// Shares of a bundle that node 0 owns.
fn shared<B: Networked>(b: &mut B, data: &Block) -> Rows<B> {
    let own = (b.session().me() == PartyId(0)).then(|| data.clone());
    b.input(PartyId(0), data.shape(), own).expect("input")
}

/// How often each arrangement of four rows is revealed when a secret permutation is applied, over many applications.
fn arrangements<B: Networked>(permutation: [u32; 4]) -> Vec<[usize; 256]> {
    let data = Block { rows: 4, r32: vec![permutation.to_vec()], ..Block::default() };
    on_nodes::<B, _>(|b| {
        let mut counts = [0; 256];
        for _ in 0..APPLICATIONS {
            let reveal = shared(b, &data);
            let (_, revealed) = b.shuffle_reveal(Rows::empty(4), reveal).expect("revealed");
            counts[revealed.r32[0].iter().fold(0, |code, &row| 4 * code + row as usize)] += 1;
        }
        counts
    })
}

const APPLICATIONS: usize = 1200;

/// Every node sees all 24 arrangements alike, whatever permutation is applied: 23 degrees of freedom, of which chance
/// exceeds 95 once in 10^10 tries.
fn says_nothing<B: Networked>() {
    for permutation in [[0, 1, 2, 3], [3, 1, 0, 2]] {
        for counts in arrangements::<B>(permutation) {
            let seen: Vec<usize> = counts.into_iter().filter(|&count| count > 0).collect();
            let mean = APPLICATIONS as f64 / 24.0;
            let deviation: f64 = seen.iter().map(|&count| (count as f64 - mean).powi(2) / mean).sum();
            assert!(seen.len() == 24 && deviation < 95.0, "{permutation:?}: {seen:?}");
        }
    }
}

#[test]
fn a_revealed_arrangement_says_nothing_of_the_permutation() {
    says_nothing::<Rep3>();
    says_nothing::<Two>();
}

/// Row numbers in vectors over two rings: both have the same masks at the node that sends and at the one that stays.
#[test]
fn numbers_of_all_kinds_are_revealed_together() {
    let numbers: [u32; 4] = [2, 0, 3, 1];
    let data =
        Block { rows: 4, r32: vec![numbers.to_vec()], r64: vec![numbers.map(u64::from).to_vec()], ..Block::default() };
    let revealed = on_nodes::<Rep3, _>(|b| {
        let reveal = shared(b, &data);
        b.shuffle_reveal(Rows::empty(4), reveal).expect("revealed").1
    });
    for revealed in revealed {
        let wide: Vec<u64> = revealed.r32[0].iter().map(|&number| number.into()).collect();
        assert_eq!(wide, revealed.r64[0], "the same row's number");
    }
}

/// Bits of the components that a node holds of a secret, over many inputs of it: one word each of a plane and a vector.
fn components<B: Networked + Components>(secret: u64) -> Vec<Vec<[u64; 2]>> {
    let data = Block {
        rows: 64,
        bits: vec![Plane::from_words(64, vec![secret])],
        r64: vec![vec![secret; 64]],
        ..Block::default()
    };
    let held = on_nodes::<B, _>(|b| {
        let inputs = (0..INPUTS).map(|_| {
            let mut words =
                B::take_apart(shared(b, &data)).into_iter().map(|part| [part.bits[0].words()[0], part.r64[0][0]]);
            let both: Vec<[u64; 2]> = words.by_ref().collect();
            both
        });
        inputs.collect::<Vec<_>>()
    });
    // The views of the nodes that are not the owner, one list for each component they hold.
    let others = held.into_iter().skip(1);
    others
        .flat_map(|inputs| {
            (0..B::COUNT).map(|part| inputs.iter().map(|parts| parts[part]).collect()).collect::<Vec<_>>()
        })
        .collect()
}

const INPUTS: usize = 1024;

/// Each component is zero in all inputs or uniform in all of its bits. A bit that is one in half of 1024 tries is so
/// between 352 and 672 times but with probability 2^-75. No two inputs have one word.
fn uniform_or_zero<B: Networked + Components>() {
    for secret in [0, u64::MAX, 0x0123_4567_89ab_cdef] {
        for words in components::<B>(secret) {
            for kind in 0..2 {
                let words: Vec<u64> = words.iter().map(|word| word[kind]).collect();
                if words.iter().all(|&word| word == 0) {
                    continue;
                }
                for bit in 0..64 {
                    let ones = words.iter().filter(|&&word| word >> bit & 1 == 1).count();
                    assert!((352..=672).contains(&ones), "bit {bit} is one {ones} times");
                }
                assert_eq!(words.iter().collect::<std::collections::HashSet<_>>().len(), INPUTS, "no word comes twice");
            }
        }
    }
}

#[test]
fn a_node_sees_uniform_components_of_an_input() {
    uniform_or_zero::<Rep3>();
    uniform_or_zero::<Two>();
}
