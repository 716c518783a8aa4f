//! Faults planted in an engine: the battery finds what a node could compute if messages were not what they are.

use tacit_math::{Plane, Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_views::{Kind, Run, View, leaks, play};

/// What three nodes hold of a word: component i and i + 1 of three, by a dealer whose numbers the test has.
fn components(word: u64, prg: &mut Prg) -> [u64; 3] {
    let [a, b] = prg.vector::<u64>(2).try_into().expect("two words");
    [a, b, word ^ a ^ b]
}

/// Nodes 1 and 2 open a word to each other, each sending the component that the other lacks, and give what they hold of
/// it.
fn open_between(session: &mut Session, components: [u64; 3], mask: u64) -> [u64; 2] {
    let me = session.me().0;
    let own = [components[me], components[(me + 1) % 3]];
    session.next_round();
    if me > 0 {
        let (sent, peer) = if me == 1 { (own[0], PartyId(2)) } else { (own[1], PartyId(1)) };
        session.send(peer, (sent & mask).to_le_bytes().to_vec()).expect("a peer");
        session.recv(peer, &mut [0; 8]).expect("a peer");
    }
    own
}

/// Views of nodes 1 and 2 of an opening of `rows` masked numbers that were cut out of 64, in runs as many as relations
/// take.
fn openings(rows: usize, cut: impl Fn(u64) -> u64 + Sync, sent: u64) -> [Vec<Run>; 2] {
    let seed = Seed::random().expect("randomness");
    let input = |run: usize| -> ([u64; 3], u64) {
        let mut prg = Prg::new(&seed.derive(&run.to_string()));
        let plain: u64 = prg.vector(1)[0];
        (components(plain, &mut prg).map(&cut), plain)
    };
    let played = play(&["a", "b", "c"], 500, |mut session, run| {
        let own = open_between(&mut session, input(run).0, sent);
        (session, own)
    });
    let opened = !0 >> (64 - rows);
    [1, 2].map(|node| {
        let runs = played[node].iter().enumerate().map(|(run, (view, own))| {
            let plain = input(run).1;
            let bytes = own.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
            Run {
                view: view.only(&[Kind::Received]).with(Kind::Own, "components", bytes),
                known: View::default().with(Kind::Opened, "rows", (plain & opened).to_le_bytes()),
                secret: View::default().with(Kind::Own, "all rows", plain.to_le_bytes()),
            }
        });
        runs.collect()
    })
}

#[test]
fn bits_behind_the_last_row_would_be_other_rows() {
    // A cut that keeps whole words, opened as it is: nodes 1 and 2 read all 61 rows that were cut off.
    for runs in openings(3, |word| word, !0) {
        let found = leaks(&runs);
        assert_eq!(found.len(), 61);
        assert!(
            found.iter().any(|relation| relation.bits.last().is_some_and(|bit| bit == "Own all rows (part 0), bit 63"))
        );
    }
    // The same rows, cut as planes are: nothing but what is opened.
    let cut = |word: u64| Plane::from_words(64, vec![word]).slice(0, 3).words()[0];
    for runs in openings(3, cut, !0) {
        assert_eq!(leaks(&runs), []);
    }
}

#[test]
fn one_lane_too_many_is_seen() {
    for runs in openings(3, |word| word & 0xf, !0) {
        assert_eq!(leaks(&runs).len(), 1, "row 3 was not to be opened");
    }
}

#[test]
fn a_product_whose_mask_is_used_again_is_seen() {
    // Two ANDs as in crates/mpc/src/backends/rep3/and.rs, but with one sharing of zero for both.
    let seed = Seed::random().expect("randomness");
    for (masks, expected) in [([0, 1], 0), ([0, 0], 64)] {
        let drawn = |run: usize| {
            let mut prg = Prg::new(&seed.derive(&run.to_string()));
            let inputs = [(); 4].map(|()| prg.vector::<u64>(1)[0]);
            let shares = inputs.map(|word| components(word, &mut prg));
            let zeros = [(); 2].map(|()| components(0, &mut prg));
            (inputs, shares, zeros)
        };
        let played = play(&["a", "b", "c"], 900, |mut session, run| {
            let (_, shares, zeros) = drawn(run);
            let (me, next) = (session.me().0, (session.me().0 + 1) % 3);
            session.next_round();
            for (product, mask) in masks.into_iter().enumerate() {
                let [x, y] = [shares[2 * product], shares[2 * product + 1]];
                let z = x[me] & y[me] ^ x[me] & y[next] ^ x[next] & y[me] ^ zeros[mask][me];
                session.send(PartyId((me + 2) % 3), z.to_le_bytes().to_vec()).expect("a peer");
            }
            (0..2).for_each(|_| session.recv(PartyId(next), &mut [0; 8]).expect("a peer"));
            (session, [me, next])
        });
        let runs = played[0].iter().enumerate().map(|(run, (view, own))| {
            let (inputs, shares, _) = drawn(run);
            // What node 0 lacks: the third component of every factor, and products of these with what it holds.
            let words = |words: Vec<u64>| words.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
            let hidden = |k: usize| shares[k][2];
            let known = |k: usize| own.map(|which| shares[k][which]);
            let part = |k: usize| {
                let [[_, x1], [_, y1]] = [known(k), known(k + 1)];
                x1 & y1 ^ x1 & hidden(k + 1) ^ hidden(k) & y1
            };
            Run {
                view: view.only(&[Kind::Received]),
                known: View::default(),
                secret: View::default().with(Kind::Own, "inputs", words(inputs.to_vec())).with(
                    Kind::Own,
                    "what node 1 adds up of both products",
                    words(vec![part(0) ^ part(2)]),
                ),
            }
        });
        assert_eq!(leaks(&runs.collect::<Vec<_>>()).len(), expected);
    }
}
