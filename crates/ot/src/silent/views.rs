//! What either party of silent correlations can compute from its view, where the OTs behind trees are ideal: those of a
//! dealer.
//!
//! One tree a run, and its vector of values: all trees of a vector are made alike, under keys of their own.

use tacit_math::gf::{Field, Gf128};
use tacit_math::{CorrelationRobustHash, Prg, Seed};
use tacit_views::{Kind, Run, View, biased, constants, correlated, indistinguishable, leaks};

use super::attacks::{Seen, candidates};
use super::check::{Evaluated, Weights};
use super::lookup;
use super::noise::{Codes, Noise};
use super::tree::{Grower, Hole, LeafHash, Product};

const DEPTH: u32 = 2;
/// The number of every tree, as each has an offset of its own.
const TREE: u128 = 0;
const LEAVES: usize = 1 << DEPTH;

/// One tree between a sender and a receiver: zero blocks, choices, delta; a value a of the receiver, with a delta + b
/// and b.
struct Tree {
    delta: u128,
    keys: Vec<u128>,
    choices: u32,
    product: u128,
    zero_product: u128,
    corrections: Vec<u128>,
    leaves: Vec<u128>,
}

/// What is common to a kind of correlation: which deltas there are, what the receiver's value adds, and which bits of
/// leaves count.
#[derive(Clone, Copy)]
struct Shape {
    delta: fn(u128) -> u128,
    /// A multiple of delta by a random number, as an honest receiver has it or as a corrupted one chooses it.
    multiple: fn(u128, u8) -> u128,
    mask: u128,
}

/// VOLE over GF(2^128) of a receiver that chose its value: one.
const VOLE: Shape = Shape { delta: |random| random, multiple: |delta, _| delta, mask: !0 };

/// Lookups of an honest receiver.
const LOOKUPS: Shape = Shape {
    delta: lookup::delta,
    multiple: |delta, random| lookup::multiples(delta)[usize::from(random & 7)],
    mask: !7,
};

impl Tree {
    fn random(prg: &mut Prg, shape: Shape) -> Self {
        let delta = (shape.delta)(prg.vector::<u128>(1)[0]);
        let keys: Vec<u128> = prg.vector(DEPTH as usize);
        let choices = prg.vector::<u32>(1)[0] & (LEAVES as u32 - 1);
        let zero_product = prg.vector::<u128>(1)[0] & shape.mask;
        let product = zero_product ^ (shape.multiple)(delta, prg.vector::<u8>(1)[0]);
        let (mut leaves, mut corrections) = (vec![0; LEAVES], vec![]);
        Grower::new(DEPTH).plant(TREE, delta, &keys, &mut leaves, &mut corrections);
        Self { delta, keys, choices, product, zero_product, corrections, leaves }
    }

    /// The receiver's blocks.
    fn blocks(&self) -> Vec<u128> {
        let chosen = |i: usize| u128::from(self.choices >> (DEPTH as usize - 1 - i) & 1);
        self.keys.iter().enumerate().map(|(i, key)| key ^ (self.delta * chosen(i))).collect()
    }

    /// The sender's last block of the message, by a hash of leaves.
    fn message(&self, hash: impl Fn(&mut [u128]), mask: u128) -> u128 {
        let mut leaves = self.leaves.clone();
        hash(&mut leaves);
        leaves.iter().fold(self.zero_product, |sum, leaf| sum ^ leaf & mask)
    }

    /// The receiver's view of these messages, and all that it computes: leaves, what lies at the hole, and delta if H
    /// fed its input forward.
    fn run(&self, corrections: &[u128], message: u128, hash: impl Fn(&mut [u128]), mask: u128, secret: u128) -> Run {
        let mut leaves = vec![0; LEAVES];
        let Hole { place, sum } =
            Grower::new(DEPTH).evaluate(TREE, self.choices, &self.blocks(), corrections, &mut leaves);
        let mut hashed = leaves.clone();
        hash(&mut hashed);
        hashed[place as usize] = 0;
        let at_hole = hashed.iter().fold(self.product ^ message, |sum, leaf| sum ^ leaf & mask);
        let inverted = candidates(&Seen { sum, at_hole }, 0);
        Run {
            view: View::default()
                .with(Kind::Own, "blocks", bytes(&self.blocks()))
                .with(Kind::Own, "value times delta", bytes(&[self.product]))
                .with(Kind::Received, "corrections", bytes(corrections))
                .with(Kind::Received, "sum", bytes(&[message]))
                .with(Kind::Derived, "leaves", bytes(&leaves))
                .with(Kind::Derived, "hashed", bytes(&hashed))
                .with(Kind::Derived, "at the hole", bytes(&[at_hole]))
                .with(Kind::Derived, "inverted", bytes(&inverted)),
            known: View::default().with(Kind::Own, "choices", [self.choices as u8]),
            secret: View::default().with(Kind::Own, "secret", bytes(&[secret])),
        }
    }
}

fn bytes(blocks: &[u128]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_le_bytes()).collect()
}

fn leaf_hash(leaves: &mut [u128]) {
    LeafHash::of(Product::Vole, 0).hash(leaves);
}

fn feeding_forward(leaves: &mut [u128]) {
    CorrelationRobustHash::new().hash_blocks(leaves);
}

/// More runs than there are bits.
const RUNS: usize = 2_400;

fn generator(number: u8) -> Prg {
    Prg::new(&Seed::from_bytes([number; 16]))
}

/// Whoever has all leaves but one, hashes and sums learns nothing of delta, nor of the missing leaf; a simulator draws
/// corrections and the sum at random.
// views: crates/ot/src/silent/tree.rs
#[test]
fn a_receiver_sees_neither_delta_nor_the_missing_leaf() {
    for (number, shape) in [(71, VOLE), (72, LOOKUPS)] {
        let mut prg = generator(number);
        let trees: Vec<Tree> = (0..RUNS).map(|_| Tree::random(&mut prg, shape)).collect();
        let secrets: [fn(&Tree) -> u128; 2] = [|tree| tree.delta, |tree| tree.leaves[!tree.choices as usize % LEAVES]];
        for (secret, simulate) in secrets.into_iter().zip([true, false]) {
            let real: Vec<Run> = trees
                .iter()
                .map(|tree| {
                    tree.run(
                        &tree.corrections,
                        tree.message(leaf_hash, shape.mask),
                        leaf_hash,
                        shape.mask,
                        secret(tree),
                    )
                })
                .collect();
            let real = without_constants(&real, shape);
            assert_eq!(leaks(&real), []);
            if simulate {
                let received: Vec<View> = real.iter().map(|run| run.view.only(&[Kind::Received])).collect();
                assert_eq!(constants(&received), []);
                assert_eq!(biased(&received), []);
                let made: Vec<Run> = trees
                    .iter()
                    .map(|tree| {
                        let corrections: Vec<u128> = prg.vector(DEPTH as usize - 1);
                        let message = prg.vector::<u128>(1)[0] & shape.mask;
                        tree.run(&corrections, message, leaf_hash, shape.mask, secret(tree))
                    })
                    .collect();
                let [real, made] = [real, without_constants(&made, shape)].map(|runs| {
                    let some = runs[..1_000].iter().map(|run| run.lanes(0x0f0f_0f0f));
                    some.collect::<Vec<_>>()
                });
                assert_eq!(indistinguishable(&real, &made), []);
            }
        }
    }
}

/// Bits of blocks that are no element's, or the lowest one's, are constant by design: of the sum, of the secret delta
/// and of the value's block.
fn without_constants(runs: &[Run], shape: Shape) -> Vec<Run> {
    let counts = |bit: usize| shape.mask >> (bit % 128) & 1 == 1 && (shape.mask == !0 || bit % 128 < 126);
    let cut = |run: &Run| Run {
        view: run.view.cut(|part, bit| !matches!(part, 1 | 3 | 6) || counts(bit)),
        known: run.known.cut(|_, bit| bit < DEPTH as usize),
        secret: run.secret.cut(|_, bit| counts(bit)),
    };
    runs.iter().map(cut).collect()
}

/// The same receiver, where leaves are hashed by what feeds its input forward: all bits of delta are found, in what it
/// inverts.
#[test]
fn a_hash_that_is_not_circular_is_found() {
    let mut prg = generator(73);
    let one = |prg: &mut Prg| {
        let tree = Tree::random(prg, VOLE);
        tree.run(&tree.corrections, tree.message(feeding_forward, !0), feeding_forward, !0, tree.delta)
    };
    let runs: Vec<Run> = (0..RUNS).map(|_| one(&mut prg)).collect();
    assert_eq!(leaks(&without_constants(&runs, VOLE)).len(), 128);
}

/// Two trees with equal leaves and two values of the receiver, which a corrupted one reaches where it chooses its OTs'
/// blocks. Under one number for both leaves a multiple of delta would be left; numbers go on from tree to tree.
#[test]
fn equal_trees_of_two_values_do_not_show_delta() {
    let shown = |hash: &mut dyn FnMut(&mut [u128]), tree: &Tree| {
        let mut message = |value: u128| {
            let mut leaves = tree.leaves.clone();
            hash(&mut leaves);
            leaves.iter().fold(value, |sum, leaf| sum ^ leaf)
        };
        // Values zero and one, of which it has b and b + delta.
        let [first, second] = [tree.zero_product, tree.zero_product].map(&mut message);
        first ^ tree.zero_product ^ second ^ tree.product
    };
    let mut prg = generator(74);
    let trees: Vec<Tree> = (0..400).map(|_| Tree::random(&mut prg, VOLE)).collect();
    let runs = |make: &dyn Fn() -> Box<dyn FnMut(&mut [u128])>| -> Vec<Run> {
        let run = |tree: &Tree| Run {
            view: View::default().with(Kind::Derived, "difference", bytes(&[shown(&mut *make(), tree)])),
            known: View::default(),
            secret: View::default().with(Kind::Own, "delta", bytes(&[tree.delta])),
        };
        trees.iter().map(run).collect()
    };
    let protocol = runs(&|| {
        let mut hash = LeafHash::of(Product::Vole, 0);
        Box::new(move |leaves| hash.hash(leaves))
    });
    assert_eq!(leaks(&protocol), []);
    let repeated = runs(&|| Box::new(|leaves| LeafHash::of(Product::Vole, 0).hash(leaves)));
    assert_eq!(leaks(&repeated).len(), 128);
}

/// What a malicious sender is shown of the noise: y, a weighted sum under weights that it knows, of which it can
/// compute what each place would give. The mask hides it; without a mask the place follows.
// views: crates/ot/src/silent/check.rs
#[test]
fn the_check_does_not_show_the_places() {
    let noise = Noise { segments: 1, depth: DEPTH, outputs: 1 };
    let mut prg = generator(75);
    let mut runs = |masked: bool| -> Vec<Run> {
        (0..1_500)
            .map(|_| {
                let (seed, place) = (prg.vector::<[u8; 16]>(1)[0], prg.vector::<u32>(1)[0] % LEAVES as u32);
                let mask = Gf128(if masked { prg.vector::<u128>(1)[0] } else { 0 });
                let (places, values) = (vec![place], vec![Gf128::ONE]);
                let vector = Evaluated { noise, places, values, mask: (mask, 0) };
                let shown = vector.shown(&Weights::new(&noise, &Seed::from_bytes(seed)));
                let weights = Weights::<Gf128>::new(&noise, &Seed::from_bytes(seed));
                let fits: Vec<u8> = (0..LEAVES as u32).map(|j| u8::from(weights.at(0, j) == shown)).collect();
                Run {
                    view: View::default()
                        .with(Kind::Received, "seed", seed)
                        .with(Kind::Received, "y", shown.bits().to_le_bytes())
                        .with(Kind::Derived, "places that fit", fits),
                    known: View::default(),
                    secret: View::default().with(Kind::Own, "place", [place as u8]).cut(|_, bit| bit < DEPTH as usize),
                }
            })
            .collect()
    };
    let real = runs(true);
    assert_eq!(leaks(&real), []);
    assert_eq!(correlated(&real), []);
    let received: Vec<View> = real.iter().map(|run| run.view.only(&[Kind::Received])).collect();
    assert_eq!((constants(&received), biased(&received)), (vec![], vec![]));
    assert!(!leaks(&runs(false)).is_empty());
}

/// All that a semi-honest sender receives in silent correlations is the seed of the code, drawn by the receiver apart
/// from its noise.
// views: crates/ot/src/silent/noise.rs
#[test]
fn a_sender_is_told_a_random_seed() {
    let played = tacit_views::play(&["alice", "bob"], 400, |mut session: tacit_net::Session, _| {
        session.next_round();
        let codes = match session.me().0 {
            0 => Codes::hear(&mut session, tacit_net::PartyId(1)),
            _ => Codes::draw(&mut session, tacit_net::PartyId(0)),
        };
        let seed = codes.expect("an honest peer").seed();
        (session, seed)
    });
    let seeds: Vec<View> = played[0].iter().map(|(view, _)| view.only(&[Kind::Received])).collect();
    assert!(played[0].iter().zip(&played[1]).all(|((_, heard), (_, drawn))| heard == drawn));
    assert_eq!((constants(&seeds), biased(&seeds), tacit_views::repeats(&seeds, 16)), (vec![], vec![], vec![]));
}
