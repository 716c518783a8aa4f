//! What only large sets take, or runs of many bins: wider words, stores of several clusters, padding of bins. Values
//! that come out are marked: a branch that is planted on one is found each time, and nothing else.

use super::*;
use tacit_math::Seed;
use tacit_psi::binning::{bin_of, capacity, pad};
use tacit_psi::chance::MOST_WORDS;
use tacit_psi::kkrt;

/// With this number of bins, words of 64 bits and the shorter code are too short for sets of a few items in each.
const BINS: usize = 1 << 21;

/// A little more than a cluster has keys.
const TWO: usize = 66_000;

/// Of the function at both parties' items, with a branch on the values of two items of each.
fn planted(name: &str, function: Function) -> Vec<(String, usize)> {
    let counts = (function.sizes.sender, function.sizes.receiver);
    let (sender, receiver) = sets(&mut generator(name), counts, ITEMS.1);
    let branches = |values: Vec<u128>| {
        [0, values.len() - 1].into_iter().for_each(|at| branch(values[at] as u64));
        Ok(())
    };
    of_pair(
        name,
        |session| branches(oprf::send(session, RECEIVER, &sender, function)?),
        |session| branches(oprf::receive(session, SENDER, &receiver, function)?),
    )
}

#[test]
fn wide_words() {
    let vole = |variant| VolePsi { variant, bins: BINS };
    assert_eq!(vole(Variant::Fast).strength(SIZES).scalar_bits, 128);
    assert_eq!(kkrt::Parameters { sizes: SIZES, pairs: BINS }.code_words(), 8);
    let function = Function { words: MOST_WORDS + 1, ..Function::only(SIZES) };
    assert_eq!(function.strength().scalar_bits, 128);
    let all = [
        of_sets("wide vole", &vole(Variant::Fast), ITEMS),
        of_sets("wide compact vole", &vole(Variant::Compact), ITEMS),
        of_sets("wide kkrt", &Kkrt { bins: BINS }, ITEMS),
        planted("a wide function", function),
    ];
    assert_eq!(all.concat(), [("a wide function".to_owned(), 2 * 2)]);
}

#[test]
fn stores_of_several_clusters() {
    let function = Function::only(Sizes { sender: TWO, receiver: TWO });
    assert_eq!(function.strength().layout.clusters, 2);
    let all = [
        planted("a function of two clusters", function),
        of_several("intersection of three by a store of two clusters", ((TWO, 9), 4)),
    ];
    assert_eq!(all.concat(), [("a function of two clusters".to_owned(), 2 * 2)]);
}

/// Bins, each filled up with random items, take their turns after one setup. Where matches are proved, the planted
/// branch is on a proof.
#[test]
fn bins_of_a_run() {
    const BINS: usize = 2;
    let in_bins = |items: Vec<Item>| {
        let mut bins = [const { Vec::new() }; BINS];
        // Tokens end in two zeros.
        items.into_iter().map(|item| item & !3).for_each(|item| bins[bin_of(item, BINS)].push(item));
        bins
    };
    let (sender, receiver) = sets(&mut generator("bins"), ITEMS.0, ITEMS.1);
    let (sender, receiver) = (in_bins(sender), in_bins(receiver));
    let sizes = Sizes { sender: capacity(SIZES.sender, BINS), receiver: capacity(SIZES.receiver, BINS) };
    let party = |protocol: &dyn Protocol, role, session: &mut Session, peer, bins: &[Vec<Item>]| {
        let mut prepared = protocol.setup(role, session, peer)?;
        let mut matches = 0;
        for bin in bins {
            let mut items = bin.clone();
            pad(&mut items, if role == Role::Sender { sizes.sender } else { sizes.receiver }, role, &Seed::random()?);
            if protocol.proves() {
                prepared.online(session, &items, sizes)?;
                branch(prepared.proofs().expect("proofs")[0]);
            } else {
                matches += intersect(&mut *prepared, Learns::Both, session, peer, &items, sizes)?.len();
            }
        }
        assert!(protocol.proves() || matches == ITEMS.1);
        Ok::<(), PsiError>(())
    };
    let run = |protocol: &dyn Protocol| {
        of_pair(
            &format!("bins of {}", protocol.name()),
            |session| party(protocol, Role::Sender, session, RECEIVER, &sender),
            |session| party(protocol, Role::Receiver, session, SENDER, &receiver),
        )
    };
    let vole = |variant| VolePsi { variant, bins: BINS };
    let all = [
        run(&DhPsi { bins: BINS }),
        run(&Kkrt { bins: BINS }),
        run(&vole(Variant::Fast)),
        run(&vole(Variant::Malicious)),
    ];
    assert_eq!(all.concat(), [("bins of vole-malicious".to_owned(), 2 * BINS)]);
}
