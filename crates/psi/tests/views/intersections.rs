//! Intersections between honest parties: what each receives is what a simulator makes from the sizes alone.
//!
//! A party's outcome needs no place in these views. Which tags are its own is what the party may know, and shows only
//! beside its own tags. [`crate::enacted`] computes those in a test of its own.

use crate::world::{inputs, play_online};
use std::sync::Arc;
use tacit_math::Prg;
use tacit_psi::group::{Exponent, HashToGroup};
use tacit_psi::tags::{SortedTags, tag_bits};
use tacit_psi::vole_psi::{Strength, Variant, VolePsi};
use tacit_psi::{DhPsi, Item, Kkrt, Protocol, Sizes};
use tacit_views::{Kind, Run, View, biased, correlated, indistinguishable, leaks, repeats, runs_needed};

/// Items that both have, of all.
const COMMON: usize = 3;

/// What a protocol sends that depends on items, and how it looks to who knows nothing.
struct Case {
    protocol: Arc<dyn Protocol>,
    sizes: Sizes,
    /// Bits of each word of a message that are looked at. All bits are in the end; relations take as many runs as there
    /// are bits.
    lanes: u64,
    /// The steps in which the sender receives such messages, and the receiver.
    steps: [&'static str; 2],
    /// These messages, made from the sizes.
    simulated: [fn(Sizes, &mut Prg) -> Vec<u8>; 2],
    /// Whether messages are uniform strings.
    uniform: [bool; 2],
}

const EIGHT: Sizes = Sizes { sender: 8, receiver: 8 };
const SMALLER: Sizes = Sizes { sender: 8, receiver: 5 };

fn strength(variant: Variant, sizes: Sizes) -> Strength {
    VolePsi { variant, bins: 1 }.strength(sizes)
}

/// A seed and columns; in the malicious variant coins, too.
fn columns(variant: Variant, sizes: Sizes, prg: &mut Prg) -> Vec<u8> {
    let Strength { scalar_bits, layout, .. } = strength(variant, sizes);
    let head = if variant == Variant::Malicious { 32 } else { 16 };
    prg.vector(head + layout.columns() * scalar_bits / 8)
}

fn whole_tags(count: usize, bits: u32, prg: &mut Prg) -> Vec<u8> {
    prg.vector(count * bits.div_ceil(8) as usize)
}

/// Tags of bits that are no whole bytes: the bits above are zero.
fn tags(count: usize, sizes: Sizes, prg: &mut Prg) -> Vec<u8> {
    let bits = tag_bits(sizes.pairs(1));
    let tag = |word: u128| (word >> (128 - bits)).to_le_bytes()[..bits.div_ceil(8) as usize].to_vec();
    prg.vector(count).into_iter().flat_map(tag).collect()
}

fn sorted_tags(count: usize, sizes: Sizes, prg: &mut Prg) -> Vec<u8> {
    let bits = tag_bits(sizes.pairs(1));
    let mut tags: Vec<u128> = prg.vector::<u128>(count).into_iter().map(|tag| tag >> (128 - bits)).collect();
    tags.sort_unstable();
    SortedTags::write(&tags, bits)
}

/// Random points: masks of anything.
fn points(count: usize, prg: &mut Prg) -> Vec<u8> {
    let items: Vec<Item> = prg.vector(count);
    let context: Vec<u8> = prg.vector(16);
    Exponent::random().expect("an exponent").mask(&HashToGroup::new(&context), &items).concat()
}

fn kkrt_rows(sizes: Sizes, prg: &mut Prg) -> Vec<u8> {
    let online = Kkrt { bins: 1 }.declared(sizes).online;
    prg.vector(online.receiver as usize)
}

fn cases() -> Vec<Case> {
    let vole = |variant| Arc::new(VolePsi { variant, bins: 1 }) as Arc<dyn Protocol>;
    vec![
        Case {
            protocol: Arc::new(DhPsi { bins: 1 }),
            sizes: EIGHT,
            lanes: 0b10,
            steps: ["dh", "dh"],
            simulated: [
                |sizes, prg| points(sizes.receiver, prg),
                |sizes, prg| [points(sizes.sender, prg), tags(sizes.receiver, sizes, prg)].concat(),
            ],
            uniform: [false, false],
        },
        Case {
            protocol: Arc::new(DhPsi { bins: 1 }),
            sizes: SMALLER,
            lanes: 0b10,
            steps: ["dh", "dh"],
            simulated: [
                |sizes, prg| points(sizes.receiver, prg),
                |sizes, prg| [sorted_tags(sizes.sender, sizes, prg), points(sizes.receiver, prg)].concat(),
            ],
            uniform: [false, false],
        },
        Case {
            protocol: Arc::new(Kkrt { bins: 1 }),
            sizes: EIGHT,
            lanes: 1,
            steps: ["kkrt", "kkrt"],
            simulated: [kkrt_rows, |sizes, prg| tags(3 * sizes.sender, sizes, prg)],
            uniform: [true, false],
        },
        Case {
            protocol: vole(Variant::Fast),
            sizes: EIGHT,
            lanes: 1,
            steps: ["columns", "tags"],
            simulated: [
                |sizes, prg| columns(Variant::Fast, sizes, prg),
                |sizes, prg| whole_tags(sizes.sender, strength(Variant::Fast, sizes).tag_bits, prg),
            ],
            uniform: [true, true],
        },
        Case {
            protocol: vole(Variant::Compact),
            sizes: EIGHT,
            lanes: 1,
            steps: ["columns", "tags"],
            simulated: [
                |sizes, prg| columns(Variant::Compact, sizes, prg),
                |sizes, prg| sorted_tags(sizes.sender, sizes, prg),
            ],
            uniform: [true, false],
        },
        Case {
            protocol: vole(Variant::Malicious),
            sizes: EIGHT,
            lanes: 1,
            steps: ["columns", "tags"],
            simulated: [
                |sizes, prg| columns(Variant::Malicious, sizes, prg),
                // The opened half of the coins, and tags.
                |sizes, prg| prg.vector(16 + 16 * sizes.sender),
            ],
            uniform: [true, true],
        },
    ]
}

/// Both sets of a run.
fn sets(sizes: Sizes, run: usize) -> [Vec<Item>; 2] {
    let mut prg = inputs("intersections", run);
    let sender: Vec<Item> = prg.vector(sizes.sender);
    let mut receiver: Vec<Item> = prg.vector(sizes.receiver);
    receiver[..COMMON].copy_from_slice(&sender[..COMMON]);
    [sender, receiver]
}

/// All that a party receives in a step, as one part.
fn received(seen: &View, step: &str) -> View {
    let parts = seen.parts().iter().filter(|part| part.kind == Kind::Received && part.name.contains(step));
    View::default().with(Kind::Received, step, parts.flat_map(|part| part.bytes.clone()).collect::<Vec<u8>>())
}

fn items(name: &str, items: &[Item]) -> View {
    View::default().with(Kind::Own, name, bytemuck::cast_slice(items))
}

// views: crates/psi/src/intersection/dh_psi.rs
// views: crates/psi/src/intersection/kkrt.rs
// views: crates/psi/src/parts/tags.rs
// views: crates/psi/src/intersection/vole_psi.rs
// views: crates/psi/src/intersection/vole_psi/sender.rs
// views: crates/psi/src/intersection/vole_psi/receiver.rs
#[test]
fn what_a_party_receives_is_made_from_the_sizes() {
    for Case { protocol, sizes, lanes, steps, simulated, uniform } in cases() {
        let name = protocol.name();
        let runs = if name == "kkrt" { 800 } else { 200 };
        let views = play_online(&*protocol, runs, |run| sets(sizes, run));
        for (party, seen) in views.iter().enumerate() {
            let what = format!("{name}, what the {} receives", ["sender", "receiver"][party]);
            let of_run = |(run, (seen, ())): (usize, &(View, ()))| {
                let sets = sets(sizes, run);
                // Of the receiver's items the sender may know none; of the sender's the receiver may know those in
                // common.
                let (known, secret) = match party {
                    0 => (View::default(), items("receiver's items", &sets[1])),
                    _ => (items("common items", &sets[0][..COMMON]), items("sender's items", &sets[0][COMMON..])),
                };
                Run { view: received(seen, steps[party]), known, secret }
            };
            let real: Vec<Run> = seen.iter().enumerate().map(of_run).collect();
            let mut prg = inputs(&what, 0);
            let make = |run: &Run| {
                let bytes = simulated[party](sizes, &mut prg);
                run.seeing(View::default().with(Kind::Received, steps[party], bytes))
            };
            let made: Vec<Run> = real.iter().map(make).collect();
            assert_eq!(real[0].view.bits(), made[0].view.bits(), "{what}");
            let [cut, made] = [&real, &made].map(|runs| runs.iter().map(|run| run.lanes(lanes)).collect::<Vec<_>>());
            assert!(runs >= runs_needed(&cut[0]), "{what}: {} runs", runs_needed(&cut[0]));
            assert_eq!(leaks(&cut), [], "{what}");
            assert_eq!(correlated(&cut), [], "{what}");
            assert_eq!(indistinguishable(&cut, &made), [], "{what}");
            let views: Vec<View> = real.into_iter().map(|run| run.view).collect();
            if uniform[party] {
                assert_eq!(biased(&views), [], "{what}");
            }
            if uniform[party] || name == "dh" && party == 0 {
                assert_eq!(repeats(&views, 8), [], "{what}");
            }
        }
    }
}
