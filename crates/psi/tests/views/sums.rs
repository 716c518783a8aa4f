//! Sums over an intersection: what the receiver makes of its keys and the sender's corrections, and the sender of
//! masked choices.

use crate::relatives::{COMMON, ITEMS, SIZES, agree, bits, compare, exponent, raise, receive, send, sets, tell, words};
use crate::world::{Played, inputs, play_pair};
use tacit_math::{Prg, permutation};
use tacit_net::{PartyId, Session};
use tacit_ot::{Adversary, softspoken};
use tacit_psi::Role;
use tacit_psi::cardinality_sum::{self, Sums};
use tacit_psi::group::HashToGroup;
use tacit_psi::tags::{SortedTags, TagHash};
use tacit_views::{Kind, Run, View, leaks};

const RUNS: usize = 120;

/// One column, for a party.
fn asked(to: Role) -> Option<Sums> {
    Some(Sums { columns: 1, to, least: 2 })
}

/// The values of the sender's rows.
fn values(run: usize) -> Vec<u64> {
    inputs("values", run).vector(ITEMS)
}

/// Which rows of the sender are in both.
fn members(run: usize) -> Vec<bool> {
    let [sender, receiver] = sets(run);
    sender.iter().map(|item| receiver.contains(item)).collect()
}

/// What the party learns that is named.
fn sum(run: usize) -> u64 {
    let counted = values(run).into_iter().zip(members(run)).filter(|(_, both)| *both);
    counted.fold(0, |sum, (value, _)| sum.wrapping_add(value))
}

/// A run of a party that learns the sum; by their places rather than rows, members are secret to the sender too.
fn run_of(run: usize, view: View, members: Vec<bool>) -> Run {
    let secret = View::default().with(Kind::Own, "values", bytemuck::cast_slice(&values(run)));
    Run {
        view,
        known: View::default().with(Kind::Opened, "sum", sum(run).to_le_bytes()),
        secret: secret.with(Kind::Own, "in both", words(members.into_iter())),
    }
}

fn total(words: &[u64]) -> u64 {
    words.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

/// What a receiver has: which places count, a key for each, corrections, and what the sender opens of the sum.
struct Counted {
    common: Vec<bool>,
    keys: Vec<u64>,
    corrections: Vec<u64>,
    opened: u64,
}

impl Counted {
    /// The receiver's shares, and what it would take for shares with the other choices.
    fn shares(&self, of_common: bool) -> Vec<u64> {
        let corrected = self.keys.iter().zip(&self.corrections).zip(&self.common);
        corrected.map(|((key, more), &both)| if both == of_common { key.wrapping_add(*more) } else { *key }).collect()
    }

    fn view(&self) -> View {
        View::default()
            .with(Kind::Derived, "places that count", words(self.common.iter().copied()))
            .with(Kind::Received, "corrections", bytemuck::cast_slice(&self.corrections))
            .with(Kind::Derived, "shares", bytemuck::cast_slice(&self.shares(true)))
            .with(Kind::Derived, "shares of others", bytemuck::cast_slice(&self.shares(false)))
            .with(Kind::Received, "the sender's share", self.opened.to_le_bytes())
    }

    /// From the number of items in both and the sum alone.
    fn simulated(sum: u64, prg: &mut Prg) -> Self {
        let common: Vec<bool> = (0..ITEMS).map(|place| place < COMMON).collect();
        let common = permutation::gather(&common, &permutation::random(ITEMS, prg));
        let made = Self { common, keys: prg.vector(ITEMS), corrections: prg.vector(ITEMS), opened: 0 };
        Self { opened: sum.wrapping_sub(total(&made.shares(true))), ..made }
    }
}

/// A receiver's part, with its keys in the open.
fn count(session: &mut Session, peer: PartyId, run: usize) -> Counted {
    session.enter("cardinality");
    let context = agree(session, peer, "cardinality");
    let (k, hash, tags) = (exponent(), HashToGroup::new(&context), TagHash::new(&context, bits()));
    session.next_round();
    send(session, peer, &k.mask(&hash, &sets(run)[1]));
    let points = receive(session, peer, ITEMS);
    session.next_round();
    let mut written = vec![0; SortedTags::bytes(ITEMS, bits())];
    session.recv(peer, &mut written).expect("tags");
    let own: Vec<u128> = SortedTags::read(&written, ITEMS, bits()).expect("sorted").iter().collect();
    let common: Vec<bool> = raise(&k, &points).iter().map(|point| own.contains(&tags.of_point(point))).collect();
    let mut ots = softspoken::Receiver::setup(session, peer, Adversary::SemiHonest, 4).expect("set up");
    let mut ots = ots.extend(session, ITEMS).expect("transfers");
    let choices = common.iter().zip(0..).fold(0, |choices, (&both, place)| choices | u64::from(both) << place);
    ots.choose(session, peer, &[choices]).expect("chosen");
    let keys = ots.random().into_iter().map(|key| key as u64).collect();
    session.next_round();
    let mut corrections = vec![0u64; ITEMS];
    session.recv(peer, bytemuck::cast_slice_mut(&mut corrections)).expect("corrections");
    session.next_round();
    let mut opened = [0; 8];
    session.recv(peer, &mut opened).expect("a share");
    session.leave();
    Counted { common, keys, corrections, opened: u64::from_le_bytes(opened) }
}

/// What a sender has: both keys of each place, by how much choices differ from random ones, its order, and what the
/// receiver opens of the sum.
struct Offered {
    order: Vec<u32>,
    keys: Vec<[u64; 2]>,
    flips: Vec<bool>,
    opened: u64,
}

impl Offered {
    fn first_keys(&self) -> Vec<u64> {
        self.keys.iter().map(|keys| keys[0]).collect()
    }

    fn view(&self) -> View {
        View::default()
            .with(Kind::Received, "flips", words(self.flips.iter().copied()))
            .with(Kind::Own, "keys", bytemuck::cast_slice(&self.keys))
            .with(Kind::Received, "the receiver's share", self.opened.to_le_bytes())
    }

    /// From the sum alone.
    fn simulated(sum: u64, prg: &mut Prg) -> Self {
        let flips = prg.vector::<u8>(ITEMS).into_iter().map(|byte| byte & 1 == 1).collect();
        let made = Self { order: Vec::new(), keys: prg.vector(ITEMS), flips, opened: 0 };
        Self { opened: sum.wrapping_add(total(&made.first_keys())), ..made }
    }
}

/// A sender's part, with its keys in the open.
fn offer(session: &mut Session, peer: PartyId, run: usize) -> Offered {
    session.enter("cardinality");
    let order = tell(session, peer, run).order;
    let mut ots = softspoken::Sender::setup(session, peer, Adversary::SemiHonest, 4).expect("set up");
    let mut ots = ots.extend(session, ITEMS).expect("transfers");
    let before = ots.zero.clone();
    ots.adjust(session, peer).expect("flips");
    let flips = before.iter().zip(&ots.zero).map(|(before, after)| before != after).collect();
    let keys: Vec<[u64; 2]> = ots.random().into_iter().map(|keys| keys.map(|key| key as u64)).collect();
    let values = permutation::gather(&values(run), &order);
    session.next_round();
    session.send(peer, bytemuck::cast_slice(&corrections(&keys, &values)).to_vec()).expect("sent");
    session.next_round();
    let (mut enough, mut opened) = ([0], [0; 8]);
    session.recv(peer, &mut enough).expect("an answer");
    session.recv(peer, &mut opened).expect("a share");
    session.leave();
    assert_eq!(enough, [1]);
    Offered { order, keys, flips, opened: u64::from_le_bytes(opened) }
}

/// What turns keys of random transfers into those of values.
fn corrections(keys: &[[u64; 2]], values: &[u64]) -> Vec<u64> {
    keys.iter().zip(values).map(|([k, other], value)| value.wrapping_add(*k).wrapping_sub(*other)).collect()
}

// views: crates/psi/src/relatives/cardinality_sum.rs
#[test]
fn a_sum_is_all_that_transfers_of_values_tell() {
    let honest = |session: &mut Session, peer, run: usize| {
        let values = [values(run)];
        let found = cardinality_sum::send(session, peer, &sets(run)[0], &values, SIZES, asked(Role::Receiver));
        assert_eq!(found.expect("honest").sums, None);
    };
    let Played { receiver, .. } = play_pair(RUNS, honest, count);
    let of_receiver: Vec<Run> = receiver
        .iter()
        .enumerate()
        .map(|(run, (_, counted))| {
            assert_eq!(total(&counted.shares(true)).wrapping_add(counted.opened), sum(run));
            run_of(run, counted.view(), members(run))
        })
        .collect();
    let mut prg = inputs("simulated sums", 0);
    compare("the receiver", &of_receiver, 1, |run, _| Counted::simulated(sum(run), &mut prg).view());
    let honest = |session: &mut Session, peer, run: usize| {
        let found = cardinality_sum::receive(session, peer, &sets(run)[1], SIZES, asked(Role::Sender));
        assert_eq!(found.expect("honest").cardinality, Some(COMMON));
    };
    let Played { sender, .. } = play_pair(RUNS, offer, honest);
    let of_sender: Vec<Run> = sender
        .iter()
        .enumerate()
        .map(|(run, (_, offered))| {
            assert_eq!(offered.opened.wrapping_sub(total(&offered.first_keys())), sum(run));
            let by_place = permutation::gather(&members(run), &offered.order);
            let known = run_of(run, offered.view(), by_place);
            Run { secret: known.secret.filter(|part| part.name == "in both"), ..known }
        })
        .collect();
    compare("the sender", &of_sender, 1, |run, _| Offered::simulated(sum(run), &mut prg).view());
}

/// What is wrong in a twin of the transfers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Both keys of a place are one.
    OneKey,
    /// Choices travel as they are.
    BareChoices,
}

#[test]
fn corrections_under_one_key_and_bare_choices_are_found() {
    for (fault, found) in [(Fault::None, 0), (Fault::OneKey, ITEMS), (Fault::BareChoices, ITEMS - 1)] {
        let runs: Vec<Run> = (0..RUNS)
            .map(|run| {
                let mut prg = inputs("a twin of sums", run);
                let mut keys: Vec<[u64; 2]> = prg.vector(ITEMS);
                if fault == Fault::OneKey {
                    keys.iter_mut().for_each(|keys| keys[1] = keys[0]);
                }
                let masks =
                    prg.vector::<u8>(ITEMS).into_iter().map(|mask| mask & 1 == 1 && fault != Fault::BareChoices);
                let choices = words(members(run).into_iter().zip(masks).map(|(both, mask)| both ^ mask));
                let corrections = corrections(&keys, &values(run));
                let view = View::default().with(Kind::Received, "choices", choices);
                let view = view.with(Kind::Received, "corrections", bytemuck::cast_slice(&corrections));
                Run { known: View::default(), ..run_of(run, view, members(run)) }.lanes(1)
            })
            .collect();
        assert_eq!(leaks(&runs).len(), found, "{fault:?}");
    }
}
