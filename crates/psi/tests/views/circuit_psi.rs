//! Intersection into shares: the receiver's view with all that it can decode, and the sender's.

use std::sync::Arc;

use crate::curious::{self, Look};
use crate::world::{Played, inputs, play_pair};
use tacit_math::{Prg, Seed, transpose};
use tacit_mpc::{Block, Shape};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::okvs::{Layout, Okvs};
use tacit_psi::{Item, Role, Sizes};
use tacit_views::{
    Kind, Part, Run, View, biased, constants, correlated, indistinguishable, leaks, repeats, runs_needed,
};

/// Items, and as many bins: every item has every bin among its three.
const COUNT: usize = 3;
const SIZES: Sizes = Sizes { sender: COUNT, receiver: COUNT };
/// Bits of a tag for three bins; behind them is the payload.
const TAG: usize = 44;
/// What is equal in all payloads fills the first word behind the tag, so that equal tags are equal words.
const EQUAL: usize = 64 - TAG;
/// Of each decoded value two bits of the tag and one of the payload, in the first word; two of the payload and one that
/// holds nothing, in the second.
const LANES: u64 = 1 << 63 | 0b11;

/// A run's items and the sender's payloads: the sender has all of the receiver's items.
struct Input {
    items: Vec<Item>,
    payloads: Vec<u64>,
}

impl Input {
    fn of(run: usize) -> Self {
        let mut prg = inputs("circuit-psi", run);
        let payloads = prg.vector::<u32>(COUNT).into_iter().map(|word| u64::from(word) << EQUAL);
        Self { payloads: payloads.collect(), items: prg.vector(COUNT) }
    }

    /// What nobody may learn: payloads, where they stand behind tags.
    fn secret(&self) -> View {
        let placed: Vec<u128> = self.payloads.iter().map(|&payload| u128::from(payload) << TAG).collect();
        View::default().with(Kind::Own, "payloads", bytemuck::cast_slice(&placed))
    }
}

/// The receiver's view of a store, and what it derives: all that it can decode.
fn view(store: View, decoded: &[u128]) -> View {
    store.with(Kind::Derived, "decoded", bytemuck::cast_slice(decoded))
}

/// What checks find in what a receiver decodes: equal words, relations with payloads, relations among bits, bits that
/// lean by themselves or between two items in one bin.
fn findings(runs: &[Run]) -> [usize; 5] {
    let derived: Vec<View> = runs.iter().map(|run| run.view.only(&[Kind::Derived])).collect();
    let cut: Vec<Run> = runs.iter().zip(&derived).map(|(run, view)| run.seeing(view.clone()).lanes(LANES)).collect();
    let lanes: Vec<View> = cut.iter().map(|run| run.view.clone()).collect();
    // The XOR of what is decoded of two items in one bin, for each bin: of a match and another one it has no tag.
    let pairs: Vec<View> = derived.iter().map(in_one_bin).collect();
    [
        repeats(&derived, 8).len(),
        leaks(&cut).len(),
        constants(&lanes).len(),
        biased(&derived).len(),
        biased(&pairs).len(),
    ]
}

/// For each bin the XOR of what is decoded there of the first two items. Derived words are sorted by item and bin.
fn in_one_bin(derived: &View) -> View {
    let words: Vec<u128> = bytemuck::pod_collect_to_vec(&derived.parts()[0].bytes);
    let xor: Vec<u128> = (0..COUNT).map(|bin| words[bin] ^ words[COUNT + bin]).collect();
    View::default().with(Kind::Derived, "of two items", bytemuck::cast_slice(&xor))
}

/// Decoded words in the order of items and bins.
fn by_item_and_bin(looks: &[Look], values: &[u128]) -> Vec<u128> {
    let mut sorted: Vec<(usize, usize, u128)> =
        looks.iter().zip(values).map(|(look, &value)| (look.item, look.bin, value)).collect();
    sorted.sort_unstable();
    sorted.into_iter().map(|(_, _, value)| value).collect()
}

/// What the receiver's view is made from if the protocol is secure: from nothing. Not even the number of matches is
/// needed.
fn simulated(real: &View, prg: &mut Prg) -> View {
    let uniform = |view: View, part: &Arc<Part>| view.with(part.kind, &part.name, prg.vector::<u8>(part.bytes.len()));
    real.parts().iter().fold(View::default(), uniform)
}

// views: crates/psi/src/intersection/circuit_psi.rs
#[test]
fn a_receiver_decodes_nothing_but_uniform_words() {
    let shape = Shape { bits: 64, ..Shape::default() };
    let psi = CircuitPsi::new(SIZES, Payloads { sender: shape, receiver: Shape::default() });
    assert_eq!((psi.bins(), psi.tag_bits()), (COUNT, TAG));
    let runs = 250;
    let Played { sender, receiver } = play_pair(
        runs,
        |session, peer, run| {
            let Input { items, payloads } = Input::of(run);
            let block = Block { rows: COUNT, bits: transpose::planes_of_rows(&payloads, 64), ..Block::default() };
            psi.bin(Role::Sender, session, peer, &items, &block).map(drop).expect("binned");
        },
        |session, peer, run| {
            let items = Input::of(run).items;
            let looks =
                curious::looks(session, peer, &items, SIZES, &mut Prg::new(&Seed::random().expect("randomness")));
            session.enter("store");
            let values = curious::decoded(session, peer, &looks, SIZES, 1).remove(0);
            session.leave();
            by_item_and_bin(&looks, &values)
        },
    );
    let of_receiver: Vec<Run> = receiver
        .into_iter()
        .enumerate()
        .map(|(run, (seen, decoded))| {
            let store = seen.filter(|part| part.kind == Kind::Received && part.name.contains("store"));
            Run { view: view(store, &decoded), known: View::default(), secret: Input::of(run).secret() }
        })
        .collect();
    assert_eq!(findings(&of_receiver), [0; 5]);
    let lanes: Vec<Run> = of_receiver.iter().map(|run| run.lanes(1)).collect();
    assert!(lanes.len() >= runs_needed(&lanes[0]));
    let mut prg = inputs("simulated stores", 0);
    let made: Vec<Run> = of_receiver.iter().map(|run| run.seeing(simulated(&run.view, &mut prg)).lanes(1)).collect();
    assert_eq!(indistinguishable(&lanes, &made), []);
    assert_eq!(correlated(&lanes), []);
    // The sender gets a half of the toss, and what the function's receiver sends: its own test is beside this one.
    let of_sender: Vec<View> = sender
        .iter()
        .map(|(seen, ())| seen.filter(|part| part.kind == Kind::Received && part.bytes.len() == 16))
        .collect();
    assert!(of_sender[0].bits() >= 128);
    assert_eq!(repeats(&of_sender, 16), []);
    assert_eq!(biased(&of_sender), []);
}

/// All that a receiver decodes, every bit of it, with payloads of this shape: where it has put its items, of which the
/// sender has about a half, then elsewhere.
fn all_bits(shape: Shape, runs: usize) -> Vec<View> {
    let psi = CircuitPsi::new(SIZES, Payloads { sender: shape, receiver: Shape::default() });
    let stores = curious::unused(&psi, shape).len();
    let set = |run: usize| -> [Vec<Item>; 2] {
        let mut prg = inputs("circuit-psi, all bits", run);
        let [own, mut theirs]: [Vec<Item>; 2] = [prg.vector(COUNT), prg.vector(COUNT)];
        let matches = prg.vector::<u8>(COUNT).into_iter().map(|byte| byte & 1 == 1);
        theirs
            .iter_mut()
            .zip(&own)
            .zip(matches)
            .filter(|(_, both)| *both)
            .for_each(|((theirs, own), _)| *theirs = *own);
        [own, theirs]
    };
    let played = play_pair(
        runs,
        |session, peer, run| {
            let payloads = Block::random(Shape { rows: COUNT, ..shape }, &mut inputs("payloads of any width", run));
            psi.bin(Role::Sender, session, peer, &set(run)[1], &payloads).map(drop).expect("binned");
        },
        |session, peer, run| {
            let mut random = Prg::new(&Seed::random().expect("randomness"));
            let looks = curious::looks(session, peer, &set(run)[0], SIZES, &mut random);
            let stores = curious::decoded(session, peer, &looks, SIZES, stores);
            let words = |home: bool| -> Vec<u128> {
                let all = stores.iter().flat_map(|store| looks.iter().zip(store));
                all.filter(|(look, _)| look.home == home).map(|(_, &value)| value).collect()
            };
            [words(true), words(false)]
        },
    );
    let view = |[home, elsewhere]: [Vec<u128>; 2]| {
        let view = View::default().with(Kind::Derived, "at home", bytemuck::cast_slice(&home));
        view.with(Kind::Derived, "elsewhere", bytemuck::cast_slice(&elsewhere))
    };
    played.receiver.into_iter().map(|(_, decoded)| view(decoded)).collect()
}

#[test]
fn every_bit_of_a_store_is_uniform() {
    every_bit_is_uniform(&[(32, 0), (0, 2)]);
}

#[test]
#[ignore = "seconds for each width: make nightly"]
fn every_bit_of_a_store_is_uniform_whatever_the_width_of_the_payload() {
    every_bit_is_uniform(&[(0, 0), (32, 0), (64, 0), (0, 1), (0, 2)]);
}

/// With payloads of these numbers of planes and vectors.
fn every_bit_is_uniform(widths: &[(usize, usize)]) {
    for &(bits, r64) in widths {
        let views = all_bits(Shape { bits, r64, ..Shape::default() }, 80);
        assert_eq!((biased(&views), repeats(&views, 8)), (vec![], vec![]), "{bits} planes, {r64} vectors");
    }
}

/// What is wrong in a twin of the protocol.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The function is evaluated at the item alone, not at the item and the bin.
    NoBin,
    /// Masks are as wide as tag and payload, not as the word that holds them.
    NarrowMasks,
}

/// The store of one run, of a sender that has the receiver's items, under an ideal function; and all that the receiver
/// can decode.
fn twin(fault: Fault, run: usize) -> Run {
    let input = Input::of(run);
    let mut prg = inputs("circuit-psi twin", run);
    let function = tacit_math::KeyedHash::new(&{
        let mut key = [0; 32];
        prg.fill(&mut key);
        key
    });
    let value = |item: usize, bin: usize| {
        let bin = if fault == Fault::NoBin { u64::MAX } else { bin as u64 };
        function.hash(&[&input.items[item].to_le_bytes()[..], &bin.to_le_bytes()].concat())
    };
    let everywhere = (0..COUNT).flat_map(|item| (0..COUNT).map(move |bin| (item, bin)));
    let stored: Vec<Look> =
        everywhere.clone().map(|(item, bin)| Look { item, bin, home: item == bin, number: value(item, bin) }).collect();
    let mut masks: Vec<u128> = prg.vector(COUNT);
    if fault == Fault::NarrowMasks {
        masks.iter_mut().for_each(|mask| *mask &= u128::MAX >> (64 - TAG));
    }
    let pads = curious::hashes(&stored, 1, 1);
    let under_masks =
        |(look, pad): (&Look, u128)| (u128::from(input.payloads[look.item]) << TAG) ^ masks[look.bin] ^ pad;
    let values: Vec<u128> = stored.iter().zip(pads).map(under_masks).collect();
    let store = Okvs::<4>::with_layout(
        Layout::new(stored.len(), 256),
        &Seed::from_bytes(prg.vector(16).try_into().expect("16")),
    );
    let keys = curious::hashes(&stored, 1, 0);
    let place = |numbers: &[u32], out: &mut [u128]| {
        numbers.iter().zip(out).for_each(|(&number, out)| *out = values[number as usize]);
    };
    let columns = store.encode(&keys, &store.order(&keys), &mut prg, place).expect("distinct keys");
    // The receiver has the function's value of item i in bin i.
    let looks: Vec<Look> =
        everywhere.map(|(item, bin)| Look { item, bin, home: item == bin, number: value(item, item) }).collect();
    let keys = curious::hashes(&looks, 1, 0);
    let decoded = store.decode(&keys, &store.order(&keys), &columns);
    let decoded: Vec<u128> =
        decoded.iter().zip(curious::hashes(&looks, 1, 1)).map(|(value, pad)| value ^ pad).collect();
    let columns = View::default().with(Kind::Received, "store", bytemuck::cast_slice(&columns));
    Run { view: view(columns, &decoded), known: View::default(), secret: input.secret() }
}

#[test]
fn a_function_evaluated_once_an_item_and_narrow_masks_are_found_at_once() {
    let [sound, no_bin, narrow] = [Fault::None, Fault::NoBin, Fault::NarrowMasks]
        .map(|fault| findings(&(0..250).map(|run| twin(fault, run)).collect::<Vec<_>>()));
    println!("found in equal words, relations with payloads, relations and biases: {sound:?}, {no_bin:?}, {narrow:?}");
    assert_eq!(sound, [0; 5]);
    // Two differences of payloads of two bits each; equal tags of two pairs of items in each bin, two bits of them.
    // Each bit is uniform by itself.
    let least = [1, 2 * 2, 2 * COUNT * 2, 0, 1];
    assert!(no_bin.iter().zip(least).all(|(found, least)| *found >= least), "{no_bin:?}");
    // One bit of the lanes and all bits behind tag and payload that are zero wherever the receiver decodes an item of
    // the sender.
    assert!(narrow[2] >= COUNT && narrow[3] >= EQUAL * COUNT, "{narrow:?}");
}
