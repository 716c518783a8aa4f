//! Unions from the sender's view: all that it holds and decodes about its numbers and those that it guesses of the
//! receiver's is uniform.

use crate::enacted::Functions;
use crate::relatives::{compare, words};
use crate::world::{Played, inputs, play_once};
use std::collections::BTreeSet;
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session};
use tacit_ot::{Adversary, softspoken};
use tacit_psi::okvs::Okvs;
use tacit_psi::permute_share::Permuter;
use tacit_psi::tags::tag_bits;
use tacit_psi::vole_psi::oprf;
use tacit_psi::{Item, Sizes, cuckoo, set_union};
use tacit_views::{Kind, Part, Run, View, biased, correlated, leaks, repeats};

const ITEMS: usize = 4;
/// The receiver has these of the sender's, and one number for each of the sender's that it shares a bin with.
const COMMON: usize = 2;
const SIZES: Sizes = Sizes { sender: ITEMS, receiver: COMMON + ITEMS };
/// Enough runs to tell views apart: [`compare`] asks for as many.
const RUNS: usize = 150;

/// A run's numbers: the sender's, those of the receiver that the sender lacks, and which of the sender's the receiver
/// has.
struct Sets {
    numbers: Vec<Item>,
    /// Each can be in the bin in which the sender's number is, so that one secret stands for both.
    guesses: Vec<Item>,
    common: Vec<bool>,
}

impl Sets {
    fn new(run: usize) -> Self {
        let mut prg = inputs("a sender's unions", run);
        let numbers: Vec<Item> = prg.vector(ITEMS);
        let homes = homes(&numbers);
        let guess = |home: &usize| {
            let mut numbers = std::iter::repeat_with(|| prg.vector::<Item>(1)[0]);
            numbers.find(|&number| cuckoo::choices(number, bins()).contains(home)).expect("one in twenty")
        };
        let guesses = homes.iter().map(guess).collect();
        let order = permutation::random(ITEMS, &mut prg);
        Self { numbers, guesses, common: order.iter().map(|&at| (at as usize) < COMMON).collect() }
    }

    /// In an order that is no number's own.
    fn of_receiver(&self, run: usize) -> Vec<Item> {
        let common = self.numbers.iter().zip(&self.common).filter(|(_, common)| **common).map(|(&number, _)| number);
        let all: Vec<Item> = common.chain(self.guesses.iter().copied()).collect();
        permutation::gather(&all, &permutation::random(all.len(), &mut inputs("a receiver's order", run)))
    }

    fn secret(&self) -> View {
        let members = View::default().with(Kind::Own, "in both", words(self.common.iter().copied()));
        members.with(Kind::Own, "the receiver's alone", bytemuck::cast_slice(&self.guesses))
    }
}

fn bins() -> usize {
    cuckoo::bins(ITEMS, 1)
}

/// The bin of each number.
fn homes(numbers: &[Item]) -> Vec<usize> {
    let table = cuckoo::table(numbers, bins()).expect("an assignment");
    let home = |at| table.iter().position(|&index| index == at).expect("a bin");
    (0..numbers.len() as u32).map(home).collect()
}

/// What a sender has of each of its numbers, in the number's bin and at the bin's place.
#[derive(Default)]
struct Offered {
    /// What the store has for it less the function's value: the bin's secret, if the receiver has the number.
    values: Vec<u64>,
    /// What the store has for the guess in that bin: the secret under a value that the sender has not.
    guesses: Vec<u64>,
    /// What the store has for the number in its other bins, and for the guess.
    elsewhere: Vec<u64>,
    /// The secret as it comes to be permuted.
    masked: Vec<u64>,
    /// The sender's share of it.
    shares: Vec<u64>,
    /// What the receiver's question about places has for the value less the share: for the receiver's share, if it has
    /// the number.
    asked: Vec<u64>,
    /// The receiver's choice, as it travels.
    flips: Vec<bool>,
}

impl Offered {
    fn view(&self) -> View {
        let less = |values: &[u64], by: &dyn Fn(u64, u64) -> u64| -> Vec<u64> {
            self.values.iter().zip(values).map(|(&value, &other)| by(value, other)).collect()
        };
        let view = View::default().with(Kind::Received, "flips", words(self.flips.iter().copied()));
        let derived = [
            ("values", &self.values),
            ("guesses", &self.guesses),
            ("guesses less values", &less(&self.guesses, &|value, guess| value ^ guess)),
            ("elsewhere", &self.elsewhere),
            ("masked secrets", &self.masked),
            ("masked secrets less values", &less(&self.masked, &|value, masked| masked.wrapping_sub(value))),
            ("shares", &self.shares),
            ("values less shares", &less(&self.shares, &|value, share| value.wrapping_sub(share))),
            ("asked", &self.asked),
        ];
        derived.iter().fold(view, |view, (name, words)| view.with(Kind::Derived, name, bytemuck::cast_slice(words)))
    }

    /// From nothing: the sender has no output.
    fn simulated(prg: &mut Prg) -> Self {
        Self {
            values: prg.vector(ITEMS),
            guesses: prg.vector(ITEMS),
            elsewhere: prg.vector(2 * (cuckoo::CHOICES - 1) * ITEMS),
            masked: prg.vector(ITEMS),
            shares: prg.vector(ITEMS),
            asked: prg.vector(ITEMS),
            flips: coins(ITEMS, prg),
        }
    }
}

fn coins(count: usize, prg: &mut Prg) -> Vec<bool> {
    prg.vector::<u8>(count).into_iter().map(|byte| byte & 1 == 1).collect()
}

/// A sender after its setup, made of the parts of the protocol.
struct Offering {
    in_bins: oprf::Receiver,
    permuter: Permuter,
    at_places: oprf::Sender,
    ots: softspoken::Sender,
}

fn set_up(session: &mut Session, receiver: PartyId) -> Offering {
    Offering {
        in_bins: oprf::Receiver::setup(session, receiver).expect("set up"),
        permuter: Permuter::setup(session, receiver).expect("set up"),
        at_places: oprf::Sender::setup(session, receiver).expect("set up"),
        ots: softspoken::Sender::setup(session, receiver, Adversary::SemiHonest, 4).expect("set up"),
    }
}

/// What a sender has after its part but for what its transcript has: where its numbers are, too, and the points at
/// which it evaluates for them.
struct Sent {
    offered: Offered,
    homes: Vec<usize>,
    points: Vec<Item>,
}

/// A sender's part with what it has in the open.
fn offer(parts: &mut Offering, session: &mut Session, receiver: PartyId, sets: &Sets) -> Sent {
    let (numbers, homes, functions) =
        (&sets.numbers, homes(&sets.numbers), set_union::functions(SIZES.sender, SIZES.receiver));
    let table = cuckoo::table(numbers, bins()).expect("an assignment");
    let mut prg = Prg::new(&Seed::random().expect("randomness"));
    let keys = cuckoo::in_own_bins(numbers, &table, &mut prg);
    let masks = parts.in_bins.evaluate(session, &keys, functions.in_bins).expect("values");
    session.next_round();
    let mut seed = [0; 16];
    session.recv(receiver, &mut seed).expect("a seed");
    let store = Okvs::<4>::with_layout(set_union::store_layout(SIZES.receiver), &Seed::from_bytes(seed));
    let mut columns = vec![0u64; store.layout().columns()];
    session.recv(receiver, bytemuck::cast_slice_mut(&mut columns)).expect("columns");
    let decode = |keys: &[Item]| store.decode(keys, &store.order(keys), &columns);
    let values: Vec<u64> = decode(&keys).iter().zip(&masks).map(|(value, mask)| value ^ *mask as u64).collect();

    let order = permutation::random(bins(), &mut prg);
    let shares = parts.permuter.share(session, receiver, &order).expect("shares");
    let rest = |place: usize| values[order[place] as usize].wrapping_sub(shares[place]);
    let points: Vec<Item> = (0..bins()).map(|place| (place as Item) << 64 | Item::from(rest(place))).collect();
    let tags = parts.at_places.evaluate(session, &points, functions.at_places).expect("values");
    let bits = tag_bits(bins() as u128);
    let tags =
        tags.iter().flat_map(|value| (value >> (128 - bits)).to_le_bytes()[..bits.div_ceil(8) as usize].to_vec());
    session.next_round();
    session.send(receiver, tags.collect()).expect("sent");

    let mut ots = parts.ots.extend(session, bins()).expect("transfers");
    let before = ots.zero.clone();
    ots.adjust(session, receiver).expect("flips");
    let flips: Vec<bool> = before.iter().zip(&ots.zero).map(|(before, after)| before != after).collect();
    let offered = |(keys, &bin): ([u128; 2], &u32)| {
        keys[0] ^ homes.iter().position(|&home| home == bin as usize).map_or(0, |at| numbers[at])
    };
    let masked: Vec<u128> = ots.random().into_iter().zip(&order).map(offered).collect();
    session.next_round();
    session.send(receiver, bytemuck::cast_slice(&masked).to_vec()).expect("sent");

    let of_bin = |bins: &[usize], all: &[u64]| bins.iter().map(|&bin| all[bin]).collect::<Vec<u64>>();
    let places: Vec<usize> = homes.iter().map(|&home| place_of(&order, home)).collect();
    // All bins of the guesses, then of the numbers; the first in a number's bin is at hand.
    let mut looked =
        Offered { values: of_bin(&homes, &values), shares: of_bin(&places, &shares), ..Offered::default() };
    for (all, of_guesses) in [(&sets.guesses, true), (numbers, false)] {
        let (keys, bins) = cuckoo::in_all_bins(all, bins());
        for ((value, bin), at) in decode(&keys).into_iter().zip(bins).zip(0..) {
            match bin as usize == homes[at / cuckoo::CHOICES] {
                true if of_guesses => looked.guesses.push(value),
                true => {}
                false => looked.elsewhere.push(value),
            }
        }
    }
    looked.flips = places.iter().map(|&place| flips[place]).collect();
    Sent { offered: looked, points: places.iter().map(|&place| points[place]).collect(), homes }
}

fn place_of(order: &[u32], bin: usize) -> usize {
    order.iter().position(|&at| at as usize == bin).expect("a place")
}

/// What the receiver sends in clear words: the seed and the columns of its store, masked secrets, and the question
/// about places.
fn received(seen: &View) -> View {
    let columns = 8 * set_union::store_layout(SIZES.receiver).columns();
    seen.filter(|part: &Part| {
        let of_union = part.name.ends_with("\"\"") && [columns, 8 * bins()].contains(&part.bytes.len());
        part.kind == Kind::Received && (of_union || part.name.contains("columns"))
    })
}

impl Sent {
    /// With what is decoded from messages.
    fn whole(self, seen: &View) -> Offered {
        let received = received(seen);
        let [_, masked, seed, question] = received.parts() else { panic!("four messages: {received:?}") };
        let all: &[u64] = &bytemuck::pod_collect_to_vec(&masked.bytes);
        assert_eq!(all.len(), bins(), "{received:?}");
        let functions = set_union::functions(SIZES.sender, SIZES.receiver);
        let asked = Functions::of(functions.at_places, *seed.bytes.first_chunk().expect("16 bytes"));
        let question: Vec<u64> = bytemuck::pod_collect_to_vec(&question.bytes);
        Offered {
            masked: self.homes.iter().map(|&home| all[home]).collect(),
            asked: asked.rest(&self.points, &question),
            ..self.offered
        }
    }
}

fn run_of(offered: &Offered, sets: &Sets) -> Run {
    Run { view: offered.view(), known: View::default(), secret: sets.secret() }
}

/// Bits that lean, and equal words. A flip is a word of 64 equal bits, of which one counts.
fn leaning(views: &[View]) -> [usize; 2] {
    let words: Vec<View> = views.iter().map(|view| view.filter(|part| part.name != "flips")).collect();
    let flips: Vec<View> = views.iter().map(|view| view.filter(|part| part.name == "flips").lanes(1)).collect();
    [biased(&words).len() + biased(&flips).len(), repeats(&words, 8).len()]
}

// views: crates/psi/src/relatives/set_union.rs
#[test]
fn a_sender_of_a_union_sees_uniform_words_whatever_the_receiver_has() {
    let Played { sender, receiver } = play_once(
        set_up,
        |session, peer| set_union::Receiver::setup(session, peer, SIZES).expect("set up"),
        RUNS,
        |parts, session, peer, run| offer(parts, session, peer, &Sets::new(run)),
        |receiver, session, _, run| receiver.receive(session, &Sets::new(run).of_receiver(run)).expect("a union"),
    );
    let messages: Vec<View> = sender.iter().map(|(seen, _)| received(seen)).collect();
    let real: Vec<Run> = sender
        .into_iter()
        .zip(receiver)
        .enumerate()
        .map(|(run, ((seen, sent), (_, mut new)))| {
            let sets = Sets::new(run);
            // The curious sender is as good as an honest one.
            let lacked = sets.numbers.iter().zip(&sets.common).filter(|(_, common)| !**common);
            let mut lacked: Vec<Item> = lacked.map(|(&number, _)| number).collect();
            new.sort_unstable();
            lacked.sort_unstable();
            assert_eq!(new, lacked, "run {run}");
            run_of(&sent.whole(&seen), &sets)
        })
        .collect();
    let mut prg = inputs("simulated senders", 0);
    compare("the sender", &real, 1, |_, _| Offered::simulated(&mut prg).view());
    let views: Vec<View> = real.into_iter().map(|run| run.view).collect();
    assert_eq!(leaning(&views), [0, 0]);
    assert_eq!((biased(&messages), repeats(&messages, 8)), (vec![], vec![]));
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The store has secrets without the function's values.
    BareStore,
    /// Secrets come to be permuted without masks.
    BareSecrets,
    /// The question about places travels without masks.
    BareQuestion,
    /// Choices travel as they are.
    BareChoices,
}

/// What a sender has, made in one place from the secrets of bins.
fn twin(run: usize, fault: Fault) -> Run {
    let (sets, mut prg) = (Sets::new(run), inputs("a twin of a sender", run));
    let secrets: Vec<u64> = prg.vector(ITEMS);
    let mut offered = Offered::simulated(&mut prg);
    for (at, (&both, &secret)) in sets.common.iter().zip(&secrets).enumerate() {
        if both {
            offered.values[at] = secret;
        }
        match fault {
            Fault::None => {}
            Fault::BareStore => offered.guesses[at] = secret,
            Fault::BareSecrets => offered.masked[at] = secret,
            Fault::BareQuestion if both => offered.asked[at] = 0,
            Fault::BareQuestion => {}
            Fault::BareChoices => offered.flips[at] = both,
        }
    }
    run_of(&offered, &sets)
}

/// Without a mask a difference is zero where both have the number, and random where not: its bit is one in none and in
/// half of these runs. Over this many runs that half is ten standard deviations beyond the bound of `correlated`.
const TWINS: usize = 1024;

#[test]
fn what_comes_to_a_sender_without_a_mask_is_found() {
    for fault in [Fault::None, Fault::BareStore, Fault::BareSecrets, Fault::BareQuestion, Fault::BareChoices] {
        let runs: Vec<Run> = (0..TWINS).map(|run| twin(run, fault)).collect();
        let cut: Vec<Run> = runs.iter().map(|run| run.lanes(1)).collect();
        let views: Vec<View> = runs.into_iter().map(|run| run.view).collect();
        // Half of all numbers are in both, so that the last one's choice follows from the others'.
        let choices = fault == Fault::BareChoices;
        assert_eq!(leaks(&cut).len(), if choices { ITEMS - 1 } else { 0 }, "{fault:?}");
        // For the same reason what leans to one number's secret leans a little to the others' too, within the bound or
        // not. So secrets count, and not what leans to them.
        let told: BTreeSet<String> = correlated(&cut).into_iter().map(|found| found.secret).collect();
        let in_both = |at: usize| format!("Own in both (part 0), bit {at}");
        let expected = if fault == Fault::None { 0 } else { ITEMS };
        assert_eq!(told, (0..expected).map(in_both).collect(), "{fault:?}");
        let found = leaning(&views).map(|found| found > 0);
        assert_eq!(found, [fault != Fault::None && !choices; 2], "{fault:?}");
    }
}
