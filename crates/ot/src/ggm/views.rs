//! What the receiver of trees can compute from its view, where base OTs are ideal: two random keys, of which it has
//! one. And who may abort when.

use tacit_math::{Prg, Seed};
use tacit_views::{Kind, Run, View, biased, correlated, indistinguishable, leaks};

use super::{children, digest, grow, regrow, restored, sum, witnesses};

const DEPTH: usize = 3;
const RUNS: usize = 2_300;

/// One tree, and what its receiver has of it.
struct Tree {
    keys: [[u128; 2]; DEPTH],
    hidden: [bool; DEPTH],
    corrections: Vec<[u128; 2]>,
    leaves: Vec<u128>,
}

impl Tree {
    fn random(prg: &mut Prg) -> Self {
        let keys: [[u128; 2]; DEPTH] = std::array::from_fn(|_| prg.vector::<[u128; 2]>(1)[0]);
        let hidden = std::array::from_fn(|_| prg.vector::<u8>(1)[0] & 1 == 1);
        let mut corrections = vec![];
        let leaves = grow(&keys, &mut corrections);
        Self { keys, hidden, corrections, leaves }
    }

    fn missing(&self) -> usize {
        (0..DEPTH).map(|level| usize::from(self.hidden[level]) << level).sum()
    }

    /// The keys of base OTs: those that the receiver asked for, or the others.
    fn chosen(&self, other: bool) -> [u128; DEPTH] {
        std::array::from_fn(|level| self.keys[level][usize::from(self.hidden[level] == other)])
    }

    /// What the receiver sees, and all leaves that it can compute from it.
    fn view(&self, corrections: &[[u128; 2]]) -> View {
        let keys = self.chosen(false);
        let known = regrow(&keys, &self.hidden, corrections);
        assert_eq!(known[0], 0);
        View::default()
            .with(Kind::Own, "keys", bytes(&keys))
            .with(Kind::Received, "corrections", bytes(corrections.as_flattened()))
            .with(Kind::Derived, "leaves", bytes(&known[1..]))
    }

    fn run(&self, corrections: &[[u128; 2]], secret: &[u128]) -> Run {
        let known = View::default().with(Kind::Own, "hidden", self.hidden.map(u8::from));
        Run { view: self.view(corrections), known, secret: View::default().with(Kind::Own, "secret", bytes(secret)) }
    }

    /// The corrections that a simulator makes, which knows what the functionality gives the receiver, that is all
    /// leaves but one. They are each level's sum on the receiver's side, which its key must open to, and a random block
    /// on the other.
    fn simulated(&self, prg: &mut Prg) -> Vec<[u128; 2]> {
        self.corrections
            .iter()
            .zip((0..DEPTH - 1).rev())
            .map(|(pair, level)| {
                let mut pair = *pair;
                pair[usize::from(self.hidden[level])] = prg.vector::<u128>(1)[0];
                pair
            })
            .collect()
    }
}

fn bytes(blocks: &[u128]) -> Vec<u8> {
    blocks.iter().flat_map(|block| block.to_le_bytes()).collect()
}

fn trees() -> (Prg, Vec<Tree>) {
    let mut prg = Prg::new(&Seed::from_bytes([33; 16]));
    let trees = (0..RUNS).map(|_| Tree::random(&mut prg)).collect();
    (prg, trees)
}

// views: crates/ot/src/ggm.rs
#[test]
fn a_receiver_does_not_see_the_missing_leaf() {
    let (mut prg, trees) = trees();
    let missing = |tree: &Tree| [tree.leaves[tree.missing()]];
    let real: Vec<Run> = trees.iter().map(|tree| tree.run(&tree.corrections, &missing(tree))).collect();
    assert_eq!(leaks(&real), []);
    assert_eq!(correlated(&real), []);
    let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
    assert_eq!(biased(&views), []);
    let simulated: Vec<Run> = trees.iter().map(|tree| tree.run(&tree.simulated(&mut prg), &missing(tree))).collect();
    assert_eq!(indistinguishable(&real, &simulated), []);
}

#[test]
fn a_receiver_does_not_see_the_other_keys() {
    let runs: Vec<Run> = trees().1.iter().map(|tree| tree.run(&tree.corrections, &tree.chosen(true))).collect();
    assert_eq!(leaks(&runs), []);
    assert_eq!(correlated(&runs), []);
}

/// Without the mask of a base OT's key the missing leaf follows from the sum of its side.
#[test]
fn a_sum_that_is_not_masked_is_found() {
    let faulty = |tree: &Tree| {
        let mut corrections = tree.corrections.clone();
        let side = usize::from(tree.hidden[0]);
        corrections[DEPTH - 2][side] ^= tree.keys[0][side];
        tree.run(&corrections, &[tree.leaves[tree.missing()]])
    };
    let mut both = vec![];
    // The side on which the leaf is missing is fixed, so that the relation is linear.
    for tree in trees().1.iter().filter(|tree| !tree.hidden[0]) {
        both.push(faulty(tree));
    }
    let lanes: Vec<Run> = both.iter().map(|run| run.lanes(0xff)).collect();
    // Where the missing leaf lies among those of its side does not matter: the others' sum is known.
    assert!(!leaks(&lanes).is_empty());
}

/// A sender that sends a wrong correction is caught by those receivers alone that use it, for whom D has one value of
/// one bit. So it learns one bit of D at most, and is caught with probability one half.
#[test]
fn a_wrong_correction_is_noticed_by_half_of_the_places() {
    let mut prg = Prg::new(&Seed::from_bytes([34; 16]));
    for level in 0..DEPTH - 1 {
        for side in 0..2 {
            let mut noticed = vec![];
            for place in 0..1_usize << DEPTH {
                let mut tree = Tree::random(&mut prg);
                tree.hidden = std::array::from_fn(|bit| place >> bit & 1 == 1);
                let mut of_sender = tree.leaves.clone();
                let proof = witnesses(&mut of_sender);
                // Corrections go from the highest level but one down to the lowest.
                tree.corrections[DEPTH - 2 - level][side] ^= 1 << 77;
                let mut known = regrow(&tree.chosen(false), &tree.hidden, &tree.corrections);
                let seen = restored(&mut known, &tree.hidden, &sum(&proof));
                let of = |witnesses: &[[u8; 32]]| {
                    let mut hasher = digest();
                    hasher.update(witnesses.as_flattened());
                    hasher.finalize()
                };
                if of(&seen) != of(&proof) {
                    noticed.push(place);
                }
            }
            let users: Vec<usize> = (0..1 << DEPTH).filter(|place| place >> level & 1 != side).collect();
            assert_eq!(noticed, users, "level {level}, side {side}");
        }
    }
}

/// Both children of a node are drawn under a key of their own: no leaf is a function of another one that the battery
/// sees.
#[test]
fn children_do_not_show_their_parent() {
    let mut prg = Prg::new(&Seed::from_bytes([35; 16]));
    let run = |node: u128| Run {
        view: View::default().with(Kind::Derived, "children", bytes(&children(node))),
        known: View::default(),
        secret: View::default().with(Kind::Own, "parent", node.to_le_bytes()),
    };
    let runs: Vec<Run> = prg.vector::<u128>(600).into_iter().map(run).collect();
    assert_eq!(leaks(&runs), []);
    assert_eq!(correlated(&runs), []);
}
