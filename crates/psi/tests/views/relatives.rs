//! Relatives of intersection by Diffie-Hellman: each party plays against an honest one with its exponents in the open,
//! and derives all that it can raise. A simulator draws what a party receives from sizes and outputs, and derives the
//! same.

use crate::world::{Played, inputs, play_pair};
use tacit_math::{Prg, permutation};
use tacit_net::{PartyId, Session};
use tacit_psi::blind_join::Shape;
use tacit_psi::group::{Encoding, Exponent, HashToGroup};
use tacit_psi::tags::{SortedTags, TagHash, tag_bits};
use tacit_psi::{Item, Role, Sizes, cardinality_sum, multi_key, private_id};
use tacit_views::{Kind, Run, View, correlated, indistinguishable, leaks, repeats, runs_needed};

pub const ITEMS: usize = 6;
pub const COMMON: usize = 3;
pub const SIZES: Sizes = Sizes { sender: ITEMS, receiver: ITEMS };
/// Bytes of everything in a view.
pub const ENTRY: usize = 32;

/// A bit of each entry, which is no constant in points or in tags.
pub const LANE: usize = 5;

/// Bits as words of 64 equal bits, so that any lane has them.
pub fn words(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    bits.flat_map(|bit| [0u8.wrapping_sub(u8::from(bit)); 8]).collect()
}

/// Real views, cut to these lanes, lean to no secret and are what a simulator makes of a run's number and its view.
pub fn compare(what: &str, real: &[Run], lanes: u64, mut simulate: impl FnMut(usize, &View) -> View) {
    let made: Vec<Run> =
        real.iter().enumerate().map(|(run, real)| real.seeing(simulate(run, &real.view)).lanes(lanes)).collect();
    let cut: Vec<Run> = real.iter().map(|run| run.lanes(lanes)).collect();
    compare_cut(what, &cut, &made);
}

fn compare_cut(what: &str, real: &[Run], made: &[Run]) {
    assert!(real.len() >= runs_needed(&real[0]), "{what}: {} runs", runs_needed(&real[0]));
    assert_eq!(leaks(real), [], "{what}");
    assert_eq!(correlated(real), [], "{what}");
    assert_eq!(indistinguishable(real, made), [], "{what}");
}

/// Real views beside simulated ones, of each entry one bit.
pub fn compare_entries(what: &str, real: &[(View, View)], simulate: impl FnMut() -> View) {
    let cut = |view: &View| view.cut(|_, bit| bit % (8 * ENTRY) == LANE);
    let run = |(view, secret): &(View, View)| Run {
        view: cut(view),
        known: View::default(),
        secret: secret.lanes(1 << LANE),
    };
    let real: Vec<Run> = real.iter().map(run).collect();
    let made = std::iter::repeat_with(simulate).zip(&real).map(|(view, real)| real.seeing(cut(&view)));
    compare_cut(what, &real, &made.collect::<Vec<_>>());
}

/// Both parties' items of a run: `COMMON` in common, drawn anew, the others the same in all runs; each in a random
/// order.
pub fn sets(run: usize) -> [Vec<Item>; 2] {
    let mut prg = inputs("relatives", run);
    let common: Vec<Item> = prg.vector(COMMON);
    [1000, 2000].map(|start| {
        let all = [common.clone(), (start..start + (ITEMS - COMMON) as Item).collect()].concat();
        permutation::gather(&all, &permutation::random(ITEMS, &mut prg))
    })
}

/// Which rows of each party are in both, by its own order, and the items.
fn secrets(run: usize) -> View {
    let [a, b] = sets(run);
    let members = |own: &[Item], other: &[Item]| words(own.iter().map(|item| other.contains(item)));
    View::default()
        .with(Kind::Own, "sender's in both", members(&a, &b))
        .with(Kind::Own, "receiver's in both", members(&b, &a))
        .with(Kind::Own, "common items", bytemuck::cast_slice(&a))
}

pub fn exponent() -> Exponent {
    Exponent::random().expect("an exponent")
}

/// The exponent one: what is raised to it stays.
pub fn one() -> Exponent {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    Exponent::from_bytes(&bytes).expect("one")
}

pub fn random_points(count: usize, prg: &mut Prg) -> Vec<Encoding> {
    exponent().mask(&HashToGroup::new(&prg.vector::<u8>(16)), &prg.vector::<Item>(count))
}

/// A context, as every protocol here agrees on one.
pub fn agree(session: &mut Session, peer: PartyId, protocol: &str) -> [u8; 32] {
    session.next_round();
    let (mine, mut theirs) = (Prg::new(&tacit_math::Seed::random().expect("randomness")).vector::<u8>(16), [0; 16]);
    session.send(peer, mine.clone()).expect("sent");
    session.recv(peer, &mut theirs).expect("received");
    let ordered = if session.me() < peer { [&mine[..], &theirs] } else { [&theirs[..], &mine] };
    let mut hasher = blake3::Hasher::new_derive_key("tacit 2026 psi: a context of two parties");
    hasher.update(&ordered.concat()).update(protocol.as_bytes());
    *hasher.finalize().as_bytes()
}

pub fn send(session: &mut Session, peer: PartyId, points: &[Encoding]) {
    session.send(peer, points.concat()).expect("sent");
}

pub fn receive(session: &mut Session, peer: PartyId, count: usize) -> Vec<Encoding> {
    let mut points = vec![[0; ENTRY]; count];
    session.recv(peer, points.as_flattened_mut()).expect("received");
    points
}

pub fn raise(exponent: &Exponent, points: &[Encoding]) -> Vec<Encoding> {
    exponent.raise(points).expect("points")
}

/// Points received, and all of them raised to all exponents that the party has, and to their inverses.
pub fn everything(view: View, name: &str, received: &[Encoding], exponents: &[&Exponent]) -> View {
    let all = exponents.iter().flat_map(|exponent| [raise(exponent, received), raise(&exponent.inverse(), received)]);
    view.with(Kind::Received, name, received.concat()).with(
        Kind::Derived,
        &format!("{name}, raised"),
        all.flatten().collect::<Vec<_>>().concat(),
    )
}

pub fn tag_entries(tags: &[u128]) -> Vec<u8> {
    tags.iter().flat_map(|tag| [tag.to_le_bytes(), tag.to_le_bytes()].concat()).collect()
}

pub fn bit_entries(bits: impl Iterator<Item = bool>) -> Vec<u8> {
    bits.flat_map(|bit| [0u8.wrapping_sub(u8::from(bit)); ENTRY]).collect()
}

/// Two lists of tags with what is in both marked in each.
fn tag_view(view: View, own: &[u128], theirs: &[u128]) -> View {
    let marks = |list: &[u128], other: &[u128]| bit_entries(list.iter().map(|tag| other.contains(tag)));
    view.with(Kind::Received, "own tags", tag_entries(own))
        .with(Kind::Derived, "the peer's tags", tag_entries(theirs))
        .with(Kind::Derived, "own in both", marks(own, theirs))
        .with(Kind::Derived, "the peer's in both", marks(theirs, own))
}

pub fn bits() -> u32 {
    tag_bits((ITEMS * ITEMS) as u128)
}

/// Random tags, of which `COMMON` are in both lists, at random places.
fn random_tags(prg: &mut Prg) -> [Vec<u128>; 2] {
    let mut draw = |count| prg.vector::<u128>(count).into_iter().map(|tag| tag >> (128 - bits())).collect::<Vec<_>>();
    let (common, first, second) = (draw(COMMON), draw(ITEMS - COMMON), draw(ITEMS - COMMON));
    [first, second].map(|rest| permutation::gather(&[common.clone(), rest].concat(), &permutation::random(ITEMS, prg)))
}

/// What an adversary with a dictionary computes of the peer's items, none of which it may meet: their points, and
/// raised to its exponents.
fn dictionary(view: View, context: &[u8; 32], run: usize, peer: usize, exponents: &[&Exponent]) -> View {
    let items: Vec<Item> = sets(run)[peer].iter().copied().filter(|item| *item < 3000).collect();
    let hash = HashToGroup::new(context);
    let one = one();
    let all = exponents.iter().copied().chain([&one]).flat_map(|exponent| exponent.mask(&hash, &items));
    view.with(Kind::Derived, "dictionary", all.collect::<Vec<_>>().concat())
}

/// No point meets another, in a run or in two, but for those that both have.
pub fn assert_distinct(what: &str, views: &[View], known: impl Fn(&str) -> bool) {
    let views: Vec<View> = views.iter().map(|view| view.filter(|part| !known(&part.name))).collect();
    assert_eq!(repeats(&views, 8), [], "{what}");
}

/// A receiver's part of the size of the intersection, and its view.
fn count_as_receiver(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("cardinality");
    let context = agree(session, peer, "cardinality");
    let (k, hash, tags) = (exponent(), HashToGroup::new(&context), TagHash::new(&context, bits()));
    session.next_round();
    send(session, peer, &k.mask(&hash, &sets(run)[1]));
    let points = receive(session, peer, ITEMS);
    session.next_round();
    let mut written = vec![0; SortedTags::bytes(ITEMS, bits())];
    session.recv(peer, &mut written).expect("tags");
    session.leave();
    let own: Vec<u128> = SortedTags::read(&written, ITEMS, bits()).expect("sorted").iter().collect();
    let theirs: Vec<u128> = raise(&k, &points).iter().map(|point| tags.of_point(point)).collect();
    let view = everything(View::default(), "points", &points, &[&k]);
    let guessed = dictionary(view.clone(), &context, run, 0, &[&k]);
    [tag_view(view, &own, &theirs), guessed]
}

fn simulated_count(prg: &mut Prg, sorted: bool) -> View {
    let [mut own, theirs] = random_tags(prg);
    if sorted {
        own.sort_unstable();
    }
    tag_view(everything(View::default(), "points", &random_points(ITEMS, prg), &[&exponent()]), &own, &theirs)
}

/// What a sender has once the receiver can count.
pub struct Told {
    context: [u8; 32],
    key: Exponent,
    points: Vec<Encoding>,
    /// Of its items.
    pub order: Vec<u32>,
}

/// A sender's part up to the receiver's count.
pub fn tell(session: &mut Session, peer: PartyId, run: usize) -> Told {
    let context = agree(session, peer, "cardinality");
    let (key, hash, tags) = (exponent(), HashToGroup::new(&context), TagHash::new(&context, bits()));
    let order = permutation::random(ITEMS, &mut inputs("a sender's order", run));
    session.next_round();
    send(session, peer, &key.mask(&hash, &permutation::gather(&sets(run)[0], &order)));
    let points = receive(session, peer, ITEMS);
    let mut theirs: Vec<u128> = raise(&key, &points).iter().map(|point| tags.of_point(point)).collect();
    theirs.sort_unstable();
    session.next_round();
    session.send(peer, SortedTags::write(&theirs, bits())).expect("sent");
    Told { context, key, points, order }
}

/// A sender's part, and its view.
fn count_as_sender(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("cardinality");
    let Told { context, key, points, .. } = tell(session, peer, run);
    session.leave();
    let view = everything(View::default(), "points", &points, &[&key]);
    [view.clone(), dictionary(view, &context, run, 1, &[&key])]
}

/// Views with what stays secret, and views with what an adversary guesses.
fn by_run(seen: Vec<(View, [View; 2])>) -> (Vec<(View, View)>, Vec<View>) {
    let of_run = |(run, (_, [view, guessed])): (usize, (View, [View; 2]))| ((view, secrets(run)), guessed);
    seen.into_iter().enumerate().map(of_run).unzip()
}

// views: crates/psi/src/parts/masking.rs
#[test]
fn the_size_of_the_intersection_is_all_that_is_told() {
    let runs = 160;
    let honest = |session: &mut Session, peer, run: usize| {
        let found = cardinality_sum::send(session, peer, &sets(run)[0], &[], SIZES, None).expect("honest");
        assert_eq!(found.cardinality, None);
    };
    let Played { receiver, .. } = play_pair(runs, honest, count_as_receiver);
    let (real, guessed) = by_run(receiver);
    let mut prg = inputs("a simulated receiver", 0);
    compare_entries("the receiver", &real, || simulated_count(&mut prg, true));
    assert_distinct("the receiver", &guessed, |_| false);
    let honest = |session: &mut Session, peer, run: usize| {
        let found = cardinality_sum::receive(session, peer, &sets(run)[1], SIZES, None).expect("honest");
        assert_eq!(found.cardinality, Some(COMMON));
    };
    let Played { sender, .. } = play_pair(runs, count_as_sender, honest);
    let (real, guessed) = by_run(sender);
    let made = || everything(View::default(), "points", &random_points(ITEMS, &mut prg), &[&exponent()]);
    compare_entries("the sender", &real, made);
    assert_distinct("the sender", &guessed, |_| false);
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The sender masks under one exponent and context in all runs.
    SameExponent,
    /// The sender's items come in their own order.
    NoShuffle,
    /// The receiver's tags come back in its own order.
    NoSort,
}

/// A receiver's view of the size of the intersection, made in one place.
fn twin(run: usize, fault: Fault) -> (View, View) {
    let [sender, receiver] = sets(run);
    let fixed = [7; 32];
    let (k, context) = match fault {
        Fault::SameExponent => (
            Exponent::from_bytes(&{
                let mut bytes = fixed;
                bytes[31] = 0;
                bytes
            })
            .expect("k"),
            fixed,
        ),
        _ => (exponent(), inputs("contexts", run).vector::<u8>(32).try_into().expect("32 bytes")),
    };
    let (hash, tags, own) = (HashToGroup::new(&context), TagHash::new(&context, bits()), exponent());
    let order = permutation::random(ITEMS, &mut inputs("a twin's order", run));
    let sent = if fault == Fault::NoShuffle { sender } else { permutation::gather(&sender, &order) };
    let points = k.mask(&hash, &sent);
    let tags_of = |points: &[Encoding]| points.iter().map(|point| tags.of_point(point)).collect::<Vec<u128>>();
    let theirs = tags_of(&raise(&own, &points));
    let mut mine = tags_of(&k.then(&own).mask(&hash, &receiver));
    if fault != Fault::NoSort {
        mine.sort_unstable();
    }
    (tag_view(everything(View::default(), "points", &points, &[&own]), &mine, &theirs), secrets(run))
}

#[test]
fn exponents_that_stay_and_orders_that_show_are_found() {
    let runs = 160;
    let cut = |view: &View| view.cut(|_, bit| bit % (8 * ENTRY) == LANE);
    let points = |view: &View| view.filter(|part| part.name == "points");
    for (fault, found) in [
        (Fault::None, [false; 2]),
        (Fault::SameExponent, [true, false]),
        (Fault::NoShuffle, [false, true]),
        (Fault::NoSort, [false, true]),
    ] {
        let views: Vec<(View, View)> = (0..runs).map(|run| twin(run, fault)).collect();
        let repeated = repeats(&views.iter().map(|(view, _)| points(view)).collect::<Vec<_>>(), 8);
        let runs: Vec<Run> = views
            .iter()
            .map(|(view, secret)| Run { view: cut(view), known: View::default(), secret: secret.lanes(1 << LANE) })
            .collect();
        assert_eq!([!repeated.is_empty(), !leaks(&runs).is_empty()], found, "{}", fault as usize);
        assert_eq!(!correlated(&runs).is_empty(), found[1], "{}", fault as usize);
    }
}

/// What a party has of Private-ID: exponents for matching and for ids, and four lists of points.
struct Ids {
    k: Exponent,
    r: Exponent,
    /// The peer's masked items; this party's, masked by both, sorted; its points for ids, by its rows; the peer's that
    /// it lacks, for ids.
    received: [Vec<Encoding>; 4],
}

const LISTS: [&str; 4] = ["masked", "untraceable", "for own ids", "for others' ids"];

impl Ids {
    fn view(&self) -> View {
        let exponents = [&self.k, &self.r];
        let lists = LISTS.iter().zip(&self.received);
        let view = lists.fold(View::default(), |view, (name, points)| everything(view, name, points, &exponents));
        let twice = raise(&self.k, &self.received[0]);
        let marks = |list: &[Encoding], other: &[Encoding]| bit_entries(list.iter().map(|point| other.contains(point)));
        view.with(Kind::Derived, "the peer's in both", marks(&twice, &self.received[1])).with(
            Kind::Derived,
            "own in both",
            marks(&self.received[1], &twice),
        )
    }

    fn simulated(prg: &mut Prg) -> Self {
        let (k, r, masked) = (exponent(), exponent(), random_points(ITEMS, prg));
        let mut untraceable = [raise(&k, &masked[..COMMON]), random_points(ITEMS - COMMON, prg)].concat();
        untraceable.sort_unstable();
        let masked = permutation::gather(&masked, &permutation::random(ITEMS, prg));
        let mut others = random_points(ITEMS - COMMON, prg);
        others.sort_unstable();
        Self { k, r, received: [masked, untraceable, random_points(ITEMS, prg), others] }
    }
}

fn identify(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("private-id");
    let context = agree(session, peer, "private-id");
    let (k, r) = (exponent(), exponent());
    let order = permutation::random(ITEMS, &mut inputs("a party's order", run));
    session.next_round();
    let own = &sets(run)[session.me().0];
    send(session, peer, &k.mask(&HashToGroup::new(&context), &permutation::gather(own, &order)));
    let masked = receive(session, peer, ITEMS);
    let mut twice = raise(&k, &masked);
    session.next_round();
    twice.sort_unstable();
    send(session, peer, &twice);
    send(session, peer, &raise(&k.then(&r), &masked));
    let (untraceable, for_ids) = (receive(session, peer, ITEMS), receive(session, peer, ITEMS));
    session.next_round();
    let alone: Vec<Encoding> = untraceable.iter().copied().filter(|point| !twice.contains(point)).collect();
    let mut alone = raise(&r, &alone);
    alone.sort_unstable();
    send(session, peer, &alone);
    let others = receive(session, peer, ITEMS - COMMON);
    session.leave();
    let ids = Ids { received: [masked, untraceable, permutation::scatter(&for_ids, &order), others], k, r };
    let guessed = dictionary(ids.view(), &context, run, peer.0, &[&ids.k, &ids.r]);
    [ids.view(), guessed]
}

// views: crates/psi/src/relatives/private_id.rs crates/psi/src/parts/masking.rs
#[test]
fn ids_tell_no_party_which_of_its_rows_are_in_both() {
    let runs = 240;
    let honest = |session: &mut Session, peer, run: usize| {
        let own = &sets(run)[session.me().0];
        let found = private_id::run(session, peer, own, ITEMS).expect("honest");
        assert_eq!(found.union.len(), 2 * ITEMS - COMMON);
    };
    let Played { receiver, .. } = play_pair(runs, honest, identify);
    let (real, guessed) = by_run(receiver);
    let mut prg = inputs("simulated ids", 0);
    compare_entries("Private-ID", &real, || Ids::simulated(&mut prg).view());
    // The masked items raised to k and untraceable ones meet where both have them, and with the inverse the other way
    // about.
    let meets = |name: &str| ["masked, raised", "untraceable, raised"].contains(&name) || name.ends_with("in both");
    assert_distinct("Private-ID", &guessed, meets);
}

const SHAPE: Shape = Shape { rows: SIZES, columns: Sizes { sender: 1, receiver: 1 } };

/// What a party has of the blind join.
struct Blind {
    context: [u8; 32],
    k: Exponent,
    mine: Vec<u32>,
    theirs: Vec<u32>,
    points: Vec<Encoding>,
    own_tags: Vec<u128>,
    their_tags: Vec<u128>,
}

impl Blind {
    fn run(session: &mut Session, peer: PartyId, run: usize) -> Self {
        session.enter("blind-join");
        let mut prg = inputs("a party's shuffles", run);
        let [mine, theirs] = [(), ()].map(|()| permutation::random(ITEMS, &mut prg));
        let context = agree(session, peer, "blind-join");
        let (k, tags) = (exponent(), TagHash::new(&context, bits()));
        session.next_round();
        let own = permutation::gather(&sets(run)[session.me().0], &mine);
        send(session, peer, &k.mask(&HashToGroup::new(&context), &own));
        let points = receive(session, peer, ITEMS);
        let places: Vec<u128> = raise(&k, &points).iter().map(|point| tags.of_point(point)).collect();
        let their_tags = permutation::gather(&places, &theirs);
        let width = bits().div_ceil(8) as usize;
        session.next_round();
        let written = their_tags.iter().flat_map(|tag| tag.to_le_bytes()[..width].to_vec());
        session.send(peer, written.collect()).expect("sent");
        let mut bytes = vec![0; width * ITEMS];
        session.recv(peer, &mut bytes).expect("tags");
        let tag = |bytes: &[u8]| bytes.iter().rev().fold(0, |tag, &byte| tag << 8 | u128::from(byte));
        session.leave();
        Self { context, k, mine, theirs, points, own_tags: bytes.chunks(width).map(tag).collect(), their_tags }
    }

    /// Positions of own rows that are in both, read as if positions were places, by the own row at that place.
    fn guessed_rows(&self) -> Vec<u8> {
        let both: Vec<bool> = self.own_tags.iter().map(|tag| self.their_tags.contains(tag)).collect();
        bit_entries(permutation::scatter(&both, &self.mine).into_iter())
    }

    fn view(&self) -> View {
        let view = everything(View::default(), "points", &self.points, &[&self.k]);
        tag_view(view, &self.own_tags, &self.their_tags).with(Kind::Derived, "own rows in both", self.guessed_rows())
    }

    fn simulated(prg: &mut Prg) -> Self {
        let [own_tags, their_tags] = random_tags(prg);
        let points = random_points(ITEMS, prg);
        let [mine, theirs] = [(), ()].map(|()| permutation::random(ITEMS, prg));
        Self { context: [0; 32], k: exponent(), mine, theirs, points, own_tags, their_tags }
    }

    /// For the receiver's positions the row of the union, and the sender's rows that are single.
    fn spine(&self, role: Role) -> (Vec<u32>, Vec<u32>) {
        let (sender, receiver) = match role {
            Role::Sender => (&self.own_tags, &self.their_tags),
            Role::Receiver => (&self.their_tags, &self.own_tags),
        };
        let mut next = ITEMS as u32;
        let row = |tag: &u128| {
            let at = sender.iter().position(|other| other == tag).map(|at| at as u32);
            at.unwrap_or_else(|| {
                next += 1;
                next - 1
            })
        };
        let of_receiver = receiver.iter().map(row).collect();
        let single = (0..ITEMS as u32).filter(|&at| !receiver.contains(&sender[at as usize])).collect();
        (of_receiver, single)
    }
}

const UNION: usize = 2 * ITEMS - COMMON;

/// A sender's part of Private-ID by several identifiers.
fn assign(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("multi-key-private-id");
    let blind = Blind::run(session, peer, run);
    let (of_receiver, single) = blind.spine(Role::Sender);
    let (points, k) = (random_points(UNION, &mut inputs("points of ids", run)), exponent());
    session.next_round();
    send(session, peer, &permutation::gather(&points, &permutation::scatter(&of_receiver, &blind.theirs)));
    let mut alone = permutation::gather(&points, &single);
    alone.sort_unstable();
    send(session, peer, &alone);
    send(session, peer, &raise(&k, &points));
    session.next_round();
    let own = receive(session, peer, ITEMS);
    let others = receive(session, peer, ITEMS - COMMON);
    session.leave();
    let returned = [permutation::scatter(&own, &blind.mine), others].concat();
    let view = everything(blind.view(), "returned", &returned, &[&k, &blind.k]);
    let guessed = everything(View::default(), "returned", &returned, &[&k, &blind.k])
        .with(Kind::Own, "points of ids", points.concat())
        .with(Kind::Own, "blinded", raise(&k, &points).concat());
    [
        view,
        dictionary(
            everything(guessed, "points", &blind.points, &[&k, &blind.k]),
            &blind.context,
            run,
            1,
            &[&k, &blind.k],
        ),
    ]
}

/// A receiver's part.
fn evaluate(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("multi-key-private-id");
    let blind = Blind::run(session, peer, run);
    let r = exponent();
    session.next_round();
    let own = receive(session, peer, ITEMS);
    let alone = receive(session, peer, ITEMS - COMMON);
    let blinded = receive(session, peer, UNION);
    session.next_round();
    let raised = raise(&r, &blinded);
    send(session, peer, &permutation::scatter(&raised[..ITEMS], &blind.theirs));
    send(session, peer, &raised[ITEMS..]);
    session.leave();
    let received = [permutation::scatter(&own, &blind.mine), alone, blinded].concat();
    let view = everything(blind.view(), "points of ids", &received, &[&r]);
    let guessed = everything(View::default(), "points of ids", &received, &[&r, &blind.k]);
    [
        view,
        dictionary(
            everything(guessed, "points", &blind.points, &[&r, &blind.k]),
            &blind.context,
            run,
            0,
            &[&r, &blind.k],
        ),
    ]
}

fn simulated_ids(prg: &mut Prg, sorted: std::ops::Range<usize>, count: usize, two: bool) -> View {
    let (blind, exponent) = (Blind::simulated(prg), exponent());
    let mut points = random_points(count, prg);
    points[sorted].sort_unstable();
    let (name, exponents) =
        if two { ("returned", vec![&exponent, &blind.k]) } else { ("points of ids", vec![&exponent]) };
    everything(blind.view(), name, &points, &exponents)
}

// views: crates/psi/src/relatives/multi_key.rs crates/psi/src/relatives/blind_join.rs
#[test]
fn a_blind_join_tells_the_graph_of_shuffled_rows() {
    let runs = 240;
    let identifiers = |items: &[Item]| items.iter().copied().map(Some).collect::<Vec<_>>();
    let honest = |role| {
        move |session: &mut Session, peer: PartyId, run: usize| {
            let own = &sets(run)[session.me().0];
            let (found, _) = multi_key::run(session, peer, role, &identifiers(own), SHAPE).expect("honest");
            assert_eq!(found.union.len(), UNION);
        }
    };
    let mut prg = inputs("simulated joins", 0);
    let Played { sender, .. } = play_pair(runs, assign, honest(Role::Receiver));
    let (real, guessed) = by_run(sender);
    compare_entries("the sender", &real, || simulated_ids(&mut prg, 0..0, UNION, true));
    assert_distinct("the sender", &guessed, |_| false);
    let Played { receiver, .. } = play_pair(runs, honest(Role::Sender), evaluate);
    let (real, guessed) = by_run(receiver);
    let count = 2 * UNION;
    compare_entries("the receiver", &real, || simulated_ids(&mut prg, ITEMS..UNION, count, false));
    assert_distinct("the receiver", &guessed, |_| false);
}
