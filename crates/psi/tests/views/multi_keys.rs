//! The blind join of rows with several identifiers, and ids from it. Each party plays with its exponents and orders in
//! the open, and derives what it can raise, read by its own rows, and compute of identifiers that it guesses.

use crate::relatives::{
    ENTRY, LANE, agree, assert_distinct, bit_entries, compare_entries, everything, exponent, one, raise, random_points,
    receive, send, tag_entries, words,
};
use crate::world::{Played, inputs, play_once};
use tacit_math::{Prg, permutation};
use tacit_net::{PartyId, Session};
use tacit_psi::blind_join::Shape;
use tacit_psi::group::{Encoding, Exponent, HashToGroup};
use tacit_psi::tags::TagHash;
use tacit_psi::{Item, Role, Sizes, multi_key};
use tacit_views::{Kind, Run, View, leaks, repeats, runs_needed};

/// Identifiers a row.
const COLUMNS: usize = 2;
/// Rows of the sender and of the receiver.
const ROWS: [usize; 2] = [3, 4];
const SHAPE: Shape =
    Shape { rows: Sizes { sender: ROWS[0], receiver: ROWS[1] }, columns: Sizes { sender: COLUMNS, receiver: COLUMNS } };
/// Identifiers that both have: both of the sender's first row, in two rows of the receiver, and the first one of its
/// second row.
const LINKS: usize = 3;
/// Pairs of rows: the sender's first row has one counterpart.
const PAIRS: usize = 2;
const UNION: usize = ROWS[0] + ROWS[1] - PAIRS;
const RUNS: usize = 230;

type Row<T> = [T; COLUMNS];

/// Rows with these identifiers that both have: those that no link names are `other`'s, by a number of their own. Each
/// row of the receiver has its identifiers in an order of its own, and both tables are in a random order.
fn tables<T: Copy>(links: &[T], other: impl Fn(usize, usize) -> T, prg: &mut Prg) -> [Vec<Row<T>>; 2] {
    let sender = vec![[links[0], links[1]], [links[2], other(0, 0)], [other(0, 1), other(0, 2)]];
    let mut receiver: Vec<Row<T>> = links.iter().enumerate().map(|(at, &link)| [link, other(1, at)]).collect();
    receiver.push([other(1, 3), other(1, 4)]);
    receiver.iter_mut().for_each(|row| turn(row, prg));
    [shuffled(&sender, prg), shuffled(&receiver, prg)]
}

fn shuffled<T: Copy>(rows: &[Row<T>], prg: &mut Prg) -> Vec<Row<T>> {
    permutation::gather(rows, &permutation::random(rows.len(), prg))
}

/// Swaps a row's columns, or not.
fn turn<T>(row: &mut Row<T>, prg: &mut Prg) {
    row.rotate_left(usize::from(prg.vector::<u8>(1)[0] & 1));
}

/// Both parties' rows of a run. Identifiers in both are drawn anew, the others are the same in all runs; the last row
/// of each party lacks some.
fn rows(run: usize) -> [Vec<Row<Option<Item>>>; 2] {
    let mut prg = inputs("rows of several identifiers", run);
    let links: Vec<Option<Item>> = prg.vector::<Item>(LINKS).into_iter().map(Some).collect();
    let alone = |party, number| match (party, number) {
        (0, 1 | 2) | (1, 4) => None,
        _ => Some(guess(party, number)),
    };
    tables(&links, alone, &mut prg)
}

/// An identifier that one party alone has.
fn guess(party: usize, number: usize) -> Item {
    (1000 * (1 + party) + number) as Item
}

/// All of a party's that the other may guess.
fn guesses(party: usize) -> Vec<Item> {
    [vec![0], (0..4).collect()][party].iter().map(|&number| guess(party, number)).collect()
}

fn links(run: usize) -> Vec<Item> {
    inputs("rows of several identifiers", run).vector(LINKS)
}

/// Which identifiers of each party are in both, by its own rows and columns, and what they are.
fn secrets(run: usize) -> View {
    let links = links(run);
    let both = |rows: &[Row<Option<Item>>]| {
        words(rows.as_flattened().iter().map(|item| item.is_some_and(|item| links.contains(&item))))
    };
    let [sender, receiver] = rows(run);
    View::default()
        .with(Kind::Own, "sender's in both", both(&sender))
        .with(Kind::Own, "receiver's in both", both(&receiver))
        .with(Kind::Own, "identifiers in both", bytemuck::cast_slice(&links))
}

/// What a party has of the blind join.
struct Blind {
    context: [u8; 32],
    k: Exponent,
    /// Its order of its own rows, and of the peer's.
    mine: Vec<u32>,
    theirs: Vec<u32>,
    points: Vec<Encoding>,
    /// By positions.
    own_tags: Vec<Row<u128>>,
    their_tags: Vec<Row<u128>>,
}

fn pairs<T: Copy>(list: &[T]) -> Vec<Row<T>> {
    list.as_chunks().0.to_vec()
}

/// Identifiers as they are masked: fresh ones in the place of missing ones, a receiver's in random columns.
fn items(rows: &[Row<Option<Item>>], role: Role, prg: &mut Prg) -> Vec<Item> {
    let mut rows: Vec<Row<Item>> =
        rows.iter().map(|row| row.map(|item| item.unwrap_or_else(|| prg.vector(1)[0]))).collect();
    if role == Role::Receiver {
        rows.iter_mut().for_each(|row| turn(row, prg));
    }
    rows.concat()
}

impl Blind {
    fn run(session: &mut Session, peer: PartyId, role: Role, run: usize) -> Self {
        session.enter("blind-join");
        let me = session.me().0;
        let mut prg = inputs("a party's shuffles of several", 2 * run + me);
        let [mine, theirs] = [me, 1 - me].map(|party| permutation::random(ROWS[party], &mut prg));
        let context = agree(session, peer, "blind-join");
        let (k, tags) = (exponent(), TagHash::new(&context, SHAPE.tag_bits()));
        session.next_round();
        let own = items(&permutation::gather(&rows(run)[me], &mine), role, &mut prg);
        send(session, peer, &k.mask(&HashToGroup::new(&context), &own));
        let points = receive(session, peer, COLUMNS * ROWS[1 - me]);
        let places: Vec<u128> = raise(&k, &points).iter().map(|point| tags.of_point(point)).collect();
        let their_tags = permutation::gather(&pairs(&places), &theirs);
        let width = SHAPE.tag_bits().div_ceil(8) as usize;
        session.next_round();
        let written = their_tags.as_flattened().iter().flat_map(|tag| tag.to_le_bytes()[..width].to_vec());
        session.send(peer, written.collect()).expect("sent");
        let mut bytes = vec![0; width * COLUMNS * ROWS[me]];
        session.recv(peer, &mut bytes).expect("tags");
        let tag = |bytes: &[u8]| bytes.iter().rev().fold(0, |tag, &byte| tag << 8 | u128::from(byte));
        let own_tags = pairs(&bytes.chunks(width).map(tag).collect::<Vec<u128>>());
        session.leave();
        Self { context, k, mine, theirs, points, own_tags, their_tags }
    }

    /// From the graph of equal identifiers alone, with the sender's columns in order.
    fn simulated(role: Role, prg: &mut Prg) -> Self {
        let identifiers = COLUMNS * (ROWS[0] + ROWS[1]) - LINKS;
        let tags: Vec<u128> =
            prg.vector::<u128>(identifiers).into_iter().map(|tag| tag >> (128 - SHAPE.tag_bits())).collect();
        let (links, alone) = tags.split_at(LINKS);
        let [sender, receiver] = tables(links, |party, number| alone[3 * party + number], prg);
        let (own_tags, their_tags) = if role == Role::Sender { (sender, receiver) } else { (receiver, sender) };
        let points = random_points(COLUMNS * their_tags.len(), prg);
        let [mine, theirs] = [&own_tags, &their_tags].map(|rows| permutation::random(rows.len(), prg));
        Self { context: [0; 32], k: exponent(), mine, theirs, points, own_tags, their_tags }
    }

    /// Tags, what is in both of them, and which rows share one; own rows read as if positions were places, the peer's
    /// by the places in which they came.
    fn view(&self) -> View {
        let view = everything(View::default(), "points", &self.points, &[&self.k]);
        let [own, theirs] = [(&self.own_tags, &self.their_tags), (&self.their_tags, &self.own_tags)]
            .map(|(rows, others)| rows.iter().map(|row| row.map(|tag| others.as_flattened().contains(&tag))));
        let own: Vec<Row<bool>> = permutation::scatter(&own.collect::<Vec<_>>(), &self.mine);
        let theirs: Vec<Row<bool>> = permutation::scatter(&theirs.collect::<Vec<_>>(), &self.theirs);
        let (rows, others) =
            (permutation::scatter(&self.own_tags, &self.mine), permutation::scatter(&self.their_tags, &self.theirs));
        let share = |row: &Row<u128>, other: &Row<u128>| row.iter().any(|tag| other.contains(tag));
        let graph = rows.iter().flat_map(|row| others.iter().map(move |other| share(row, other)));
        view.with(Kind::Received, "own tags", tag_entries(self.own_tags.as_flattened()))
            .with(Kind::Derived, "the peer's tags", tag_entries(self.their_tags.as_flattened()))
            .with(Kind::Derived, "own in both", bit_entries(own.concat().into_iter()))
            .with(Kind::Derived, "the peer's in both", bit_entries(theirs.concat().into_iter()))
            .with(Kind::Derived, "graph", bit_entries(graph))
    }

    /// What it computes of the identifiers that it guesses.
    fn dictionary(&self, view: View, peer: usize, exponents: &[&Exponent]) -> View {
        let (hash, one) = (HashToGroup::new(&self.context), one());
        let all = exponents.iter().copied().chain([&one]).flat_map(|exponent| exponent.mask(&hash, &guesses(peer)));
        view.with(Kind::Derived, "dictionary", all.collect::<Vec<_>>().concat())
    }

    /// For the receiver's positions the row of the union, and the sender's rows that are single.
    fn spine(&self, role: Role) -> (Vec<u32>, Vec<u32>) {
        let (sender, receiver) = match role {
            Role::Sender => (&self.own_tags, &self.their_tags),
            Role::Receiver => (&self.their_tags, &self.own_tags),
        };
        let mut of_receiver = vec![None; receiver.len()];
        for column in 0..COLUMNS {
            for (at, row) in
                receiver.iter().enumerate().filter(|(at, _)| of_receiver[*at].is_none()).collect::<Vec<_>>()
            {
                let free = |found: &usize| !of_receiver.contains(&Some(*found as u32));
                let found = sender.iter().position(|tags| row.contains(&tags[column])).filter(free);
                of_receiver[at] = found.map(|found| found as u32);
            }
        }
        let single = (0..sender.len() as u32).filter(|at| !of_receiver.contains(&Some(*at))).collect();
        let mut next = sender.len() as u32..;
        let row = |row: Option<u32>| row.unwrap_or_else(|| next.next().expect("endless"));
        (of_receiver.into_iter().map(row).collect(), single)
    }
}

/// A party's view, and what it computes of guesses beside all that it raises.
fn assign(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("multi-key-private-id");
    let blind = Blind::run(session, peer, Role::Sender, run);
    let (of_receiver, single) = blind.spine(Role::Sender);
    let (points, k) = (random_points(UNION, &mut inputs("points of several", run)), exponent());
    session.next_round();
    send(session, peer, &permutation::gather(&points, &permutation::scatter(&of_receiver, &blind.theirs)));
    let mut alone = permutation::gather(&points, &single);
    alone.sort_unstable();
    send(session, peer, &alone);
    send(session, peer, &raise(&k, &points));
    session.next_round();
    let own = receive(session, peer, ROWS[0]);
    let others = receive(session, peer, UNION - ROWS[0]);
    session.leave();
    let returned = [permutation::scatter(&own, &blind.mine), others].concat();
    let exponents = [&k, &blind.k];
    let ids = everything(View::default(), "returned", &returned, &exponents)
        .with(Kind::Own, "points of ids", points.concat())
        .with(Kind::Own, "blinded", raise(&k, &points).concat());
    let guessed = blind.dictionary(everything(ids, "points", &blind.points, &exponents), 1, &exponents);
    [everything(blind.view(), "returned", &returned, &exponents), guessed]
}

fn evaluate(session: &mut Session, peer: PartyId, run: usize) -> [View; 2] {
    session.enter("multi-key-private-id");
    let blind = Blind::run(session, peer, Role::Receiver, run);
    let r = exponent();
    session.next_round();
    let own = receive(session, peer, ROWS[1]);
    let alone = receive(session, peer, ROWS[0] - PAIRS);
    let blinded = receive(session, peer, UNION);
    session.next_round();
    let raised = raise(&r, &blinded);
    send(session, peer, &permutation::scatter(&raised[..ROWS[0]], &blind.theirs));
    send(session, peer, &raised[ROWS[0]..]);
    session.leave();
    let received = [permutation::scatter(&own, &blind.mine), alone, blinded].concat();
    let exponents = [&r, &blind.k];
    let ids = everything(View::default(), "points of ids", &received, &exponents);
    let guessed = blind.dictionary(everything(ids, "points", &blind.points, &exponents), 0, &exponents);
    [everything(blind.view(), "points of ids", &received, &[&r]), guessed]
}

// views: crates/psi/src/relatives/multi_key.rs crates/psi/src/relatives/blind_join.rs
#[test]
fn rows_of_several_identifiers_tell_the_graph_and_no_row_or_column_of_it() {
    let honest = |role| {
        move |(): &mut (), session: &mut Session, peer: PartyId, run: usize| {
            let own = rows(run)[session.me().0].concat();
            let (found, contaminated) = multi_key::run(session, peer, role, &own, SHAPE).expect("honest");
            assert_eq!((found.union.len(), contaminated), (UNION, (1, 0)));
        }
    };
    let curious = |part: fn(&mut Session, PartyId, usize) -> [View; 2]| {
        move |(): &mut (), session: &mut Session, peer: PartyId, run: usize| part(session, peer, run)
    };
    let nothing = |_: &mut Session, _: PartyId| ();
    let by_run = |seen: Vec<(View, [View; 2])>| -> (Vec<(View, View)>, Vec<View>) {
        let of_run = |(run, (_, [view, guessed])): (usize, (View, [View; 2]))| ((view, secrets(run)), guessed);
        seen.into_iter().enumerate().map(of_run).unzip()
    };
    let mut prg = inputs("simulated joins of several", 0);

    let Played { sender, .. } = play_once(nothing, nothing, RUNS, curious(assign), honest(Role::Receiver));
    let (real, guessed) = by_run(sender);
    compare_entries("the sender", &real, || {
        let (blind, k, points) = (Blind::simulated(Role::Sender, &mut prg), exponent(), random_points(UNION, &mut prg));
        everything(blind.view(), "returned", &points, &[&k, &blind.k])
    });
    assert_distinct("the sender", &guessed, |_| false);

    let Played { receiver, .. } = play_once(nothing, nothing, RUNS, honest(Role::Sender), curious(evaluate));
    let (real, guessed) = by_run(receiver);
    compare_entries("the receiver", &real, || {
        let (blind, r) = (Blind::simulated(Role::Receiver, &mut prg), exponent());
        let mut points = random_points(2 * UNION, &mut prg);
        points[ROWS[1]..UNION].sort_unstable();
        everything(blind.view(), "points of ids", &points, &[&r])
    });
    assert_distinct("the receiver", &guessed, |_| false);
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// The peer's rows come in their own order.
    RowsInOrder,
    /// The identifiers of a receiver's rows come in their own columns.
    ColumnsInOrder,
    /// What stands for a missing identifier is the same for all.
    MissingAlike,
}

/// What a party has of a blind join made in one place.
fn twin(run: usize, role: Role, fault: Fault) -> Blind {
    let me = usize::from(role == Role::Receiver);
    let mut prg = inputs("a twin of a blind join", 2 * run + me);
    let context: [u8; 32] = prg.vector(32).try_into().expect("32 bytes");
    let (hash, tags) = (HashToGroup::new(&context), TagHash::new(&context, SHAPE.tag_bits()));
    let [k, other] = [exponent(), exponent()];
    let rows = rows(run);
    let [mine, theirs, mut sent, back] =
        [me, 1 - me, 1 - me, me].map(|party| permutation::random(ROWS[party], &mut prg));
    if fault == Fault::RowsInOrder {
        sent = (0..ROWS[1 - me] as u32).collect();
    }
    let mut ordered = permutation::gather(&rows[1 - me], &sent);
    if fault == Fault::MissingAlike {
        ordered.iter_mut().flatten().for_each(|item| *item = item.or(Some(0)));
    }
    let turned = role == Role::Sender && fault != Fault::ColumnsInOrder;
    let points = other.mask(&hash, &items(&ordered, if turned { Role::Receiver } else { Role::Sender }, &mut prg));
    let tags_of = |points: &[Encoding]| pairs(&points.iter().map(|point| tags.of_point(point)).collect::<Vec<u128>>());
    let their_tags = permutation::gather(&tags_of(&raise(&k, &points)), &theirs);
    let own = items(&permutation::gather(&rows[me], &mine), role, &mut prg);
    let own_tags = permutation::gather(&tags_of(&k.then(&other).mask(&hash, &own)), &back);
    Blind { context, k, mine, theirs, points, own_tags, their_tags }
}

#[test]
fn orders_of_rows_and_columns_and_equal_stand_ins_are_found() {
    let of_receiver =
        [(Fault::None, [false; 2]), (Fault::RowsInOrder, [true, false]), (Fault::MissingAlike, [false, true])];
    let of_sender = [(Fault::None, [false; 2]), (Fault::ColumnsInOrder, [true, false])];
    let cases =
        of_receiver.map(|case| (Role::Receiver, case)).into_iter().chain(of_sender.map(|case| (Role::Sender, case)));
    for (role, (fault, found)) in cases {
        let views: Vec<View> = (0..RUNS).map(|run| twin(run, role, fault).view()).collect();
        let points: Vec<View> = views.iter().map(|view| view.filter(|part| part.name == "points")).collect();
        let cut = |(run, view): (usize, &View)| Run {
            view: view.cut(|_, bit| bit % (8 * ENTRY) == LANE),
            known: View::default(),
            secret: secrets(run).lanes(1 << LANE),
        };
        let runs: Vec<Run> = views.iter().enumerate().map(cut).collect();
        assert!(RUNS >= runs_needed(&runs[0]));
        assert_eq!([!leaks(&runs).is_empty(), !repeats(&points, 8).is_empty()], found, "{role:?}: {fault:?}");
    }
}
