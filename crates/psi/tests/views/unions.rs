//! Unions, ids by unions, and shares of joined rows: what a receiver of a union opens at each place, and what both
//! parties of the others get.

use crate::relatives::{compare, words};
use crate::world::{Played, inputs, play_once, play_pair};
use tacit_math::{Prg, Seed, permutation};
use tacit_net::{PartyId, Session};
use tacit_ot::{Adversary, softspoken};
use tacit_psi::blind_join::{Rule, Shape};
use tacit_psi::okvs::Okvs;
use tacit_psi::permute_share::Owner;
use tacit_psi::private_id_oprf::Party;
use tacit_psi::ps3i::{self, Table};
use tacit_psi::tags::tag_bits;
use tacit_psi::vole_psi::oprf::{self, Function};
use tacit_psi::{Item, Role, Sizes, cuckoo, set_union};
use tacit_views::{Kind, Part, Run, View, biased, leaks, repeats};

const ITEMS: usize = 4;
const COMMON: usize = 2;
const SIZES: Sizes = Sizes { sender: ITEMS, receiver: ITEMS };

/// Both parties' numbers, each in a random order.
fn sets(run: usize) -> [Vec<Item>; 2] {
    let mut prg = inputs("unions", run);
    let common: Vec<Item> = prg.vector(COMMON);
    [(), ()].map(|()| {
        let all = [common.clone(), prg.vector(ITEMS - COMMON)].concat();
        permutation::gather(&all, &permutation::random(ITEMS, &mut prg))
    })
}

fn members([a, b]: &[Vec<Item>; 2]) -> View {
    let members = |own: &[Item], other: &[Item]| words(own.iter().map(|item| other.contains(item)));
    View::default().with(Kind::Own, "sender's in both", members(a, b)).with(
        Kind::Own,
        "receiver's in both",
        members(b, a),
    )
}

/// What a receiver of a union opens at each place, and whether it has the number there.
struct Opened {
    numbers: Vec<u128>,
    common: Vec<bool>,
}

impl Opened {
    fn view(&self) -> View {
        let low: Vec<u64> = self.numbers.iter().map(|&number| number as u64).collect();
        View::default().with(Kind::Derived, "in both", words(self.common.iter().copied())).with(
            Kind::Derived,
            "opened",
            bytemuck::cast_slice(&low),
        )
    }

    /// The numbers that the receiver lacks and nothing, and random ones where it has what is there; in a random order.
    fn simulated(bins: usize, new: &[u128], prg: &mut Prg) -> Self {
        let empty = vec![0; bins - COMMON - new.len()];
        let all = [prg.vector(COMMON), new.to_vec(), empty].concat();
        let common: Vec<bool> = (0..bins).map(|place| place < COMMON).collect();
        let order = permutation::random(bins, prg);
        Self { numbers: permutation::gather(&all, &order), common: permutation::gather(&common, &order) }
    }
}

/// A receiver after its setup, made of the parts of the protocol.
struct Uniting {
    in_bins: oprf::Sender,
    owner: Owner,
    at_places: oprf::Receiver,
    ots: softspoken::Receiver,
}

fn set_up(session: &mut Session, sender: PartyId) -> Uniting {
    Uniting {
        in_bins: oprf::Sender::setup(session, sender).expect("set up"),
        owner: Owner::setup(session, sender).expect("set up"),
        at_places: oprf::Receiver::setup(session, sender).expect("set up"),
        ots: softspoken::Receiver::setup(session, sender, Adversary::SemiHonest, 4).expect("set up"),
    }
}

/// A receiver's part with all that it opens.
fn unite(parts: &mut Uniting, session: &mut Session, sender: PartyId, numbers: &[u128]) -> Opened {
    let bins = cuckoo::bins(ITEMS, 1);
    let mut prg = Prg::new(&Seed::random().expect("randomness"));
    let secrets: Vec<u64> = prg.vector(bins);
    let (keys, of_keys) = cuckoo::in_all_bins(numbers, bins);
    let functions = set_union::functions(ITEMS, ITEMS);
    let masks = parts.in_bins.evaluate(session, &keys, functions.in_bins).expect("values");
    let seed = Seed::random().expect("randomness");
    let store = Okvs::<4>::with_layout(set_union::store_layout(ITEMS), &seed);
    let place = |chosen: &[u32], out: &mut [u64]| {
        for (out, &at) in out.iter_mut().zip(chosen) {
            *out = secrets[of_keys[at as usize] as usize] ^ masks[at as usize] as u64;
        }
    };
    let columns = store.encode(&keys, &store.order(&keys), &mut prg, place).expect("distinct keys");
    session.next_round();
    session.send(sender, seed.expose().to_vec()).expect("sent");
    session.send(sender, bytemuck::cast_slice(&columns).to_vec()).expect("sent");
    let shares = parts.owner.share(session, sender, &secrets).expect("shared");
    let points: Vec<Item> = (0..).zip(&shares).map(|(place, &share)| place << 64 | Item::from(share)).collect();
    let values = parts.at_places.evaluate(session, &points, functions.at_places).expect("values");
    let bits = tag_bits(bins as u128);
    let mut tags = vec![0; bits.div_ceil(8) as usize * bins];
    session.next_round();
    session.recv(sender, &mut tags).expect("tags");
    let tag = |bytes: &[u8]| bytes.iter().rev().fold(0, |tag, &byte| tag << 8 | u128::from(byte));
    let tags = tags.chunks(bits.div_ceil(8) as usize).map(tag);
    let common: Vec<bool> = values.iter().zip(tags).map(|(value, tag)| value >> (128 - bits) == tag).collect();
    let mut ots = parts.ots.extend(session, bins).expect("transfers");
    let choices = common.iter().zip(0..).fold(0, |choices, (&both, place)| choices | u64::from(both) << place);
    ots.choose(session, sender, &[choices]).expect("chosen");
    session.next_round();
    let mut masked = vec![0u128; bins];
    session.recv(sender, bytemuck::cast_slice_mut(&mut masked)).expect("masked");
    let numbers = ots.random().into_iter().zip(masked).map(|(key, masked)| key ^ masked).collect();
    Opened { numbers, common }
}

/// What the sender and the receiver of a union see in `runs` runs.
fn played(runs: usize) -> Played<(), Opened> {
    play_once(
        |session, peer| set_union::Sender::setup(session, peer, SIZES).expect("set up"),
        set_up,
        runs,
        |sender, session, _, run| sender.send(session, &sets(run)[0]).expect("sent"),
        |parts, session, peer, run| unite(parts, session, peer, &sets(run)[1]),
    )
}

/// The sender's numbers that the receiver lacks.
fn new(run: usize) -> Vec<Item> {
    let [a, b] = sets(run);
    a.into_iter().filter(|number| !b.contains(number)).collect()
}

// views: crates/psi/src/relatives/set_union.rs
#[test]
fn a_receiver_of_a_union_opens_nothing_that_both_have() {
    let Played { receiver, sender } = played(80);
    for (run, (_, opened)) in receiver.iter().enumerate() {
        assert_eq!(opened.common.iter().filter(|&&both| both).count(), COMMON);
        let [theirs, own] = sets(run);
        assert!(opened.numbers.iter().all(|number| !theirs.contains(number) || !own.contains(number)), "run {run}");
        assert_eq!(opened.numbers.iter().filter(|number| new(run).contains(number)).count(), ITEMS - COMMON);
    }
    // The sender gets columns, whose keys are the receiver's numbers: uniform, and other ones each time.
    let columns = set_union::store_layout(ITEMS).columns() * 8;
    let stores: Vec<View> = sender
        .iter()
        .map(|(seen, ())| {
            seen.filter(|part: &Part| {
                part.kind == Kind::Received && part.name.ends_with("\"\"") && part.bytes.len() == columns
            })
        })
        .collect();
    assert_eq!(stores[0].parts().len(), 1, "{:?}", sender[0].0);
    assert_eq!((biased(&stores), repeats(&stores, 8)), (vec![], vec![]));
}

#[test]
#[ignore = "minutes: make nightly"]
fn a_receiver_of_a_union_opens_what_it_lacks_at_random_places() {
    let bins = cuckoo::bins(ITEMS, 1);
    assert!(bins <= 64);
    // Enough for every place to have a number in some runs: four of them are in about sixty places.
    let runs = 4 * bins + 4 * ITEMS + 80;
    let view = |(run, (_, opened)): (usize, &(View, Opened))| Run {
        view: opened.view(),
        known: View::default(),
        secret: members(&sets(run)),
    };
    let real: Vec<Run> = played(runs).receiver.iter().enumerate().map(view).collect();
    let mut prg = inputs("simulated unions", 0);
    compare("the receiver", &real, 1, |run, _| Opened::simulated(bins, &new(run), &mut prg).view());
}

#[test]
fn places_in_the_senders_order_are_found() {
    let runs: Vec<Run> = (0..100)
        .map(|run| {
            let [numbers, others] = sets(run);
            let common = numbers.iter().map(|number| others.contains(number)).collect();
            Run { view: Opened { numbers, common }.view(), known: View::default(), secret: members(&sets(run)) }
                .lanes(1)
        })
        .collect();
    assert!(leaks(&runs).len() >= ITEMS - 1);
}

const UNION: usize = 2 * ITEMS - COMMON;

/// Both parties' items: those in common are drawn anew, the others are the same in all runs, so that a party can guess
/// them; each in a random order.
fn listed(run: usize) -> [Vec<Item>; 2] {
    let mut prg = inputs("listed items", run);
    let common: Vec<Item> = prg.vector(COMMON);
    [0, 1].map(|party| {
        let all = [&common[..], &alone(party)].concat();
        permutation::gather(&all, &permutation::random(ITEMS, &mut prg))
    })
}

/// A party's items that the other lacks.
fn alone(party: usize) -> Vec<Item> {
    let start = 1000 * (1 + party as Item);
    (start..start + (ITEMS - COMMON) as Item).collect()
}

/// What a party has of ids: those of its rows, the union, and its own function at the other's items that it lacks.
struct Ids {
    own: Vec<u128>,
    union: Vec<u128>,
    guessed: Vec<u128>,
}

impl Ids {
    fn view(&self) -> View {
        let low = |ids: &[u128]| ids.iter().map(|&id| id as u64).collect::<Vec<_>>();
        let others: Vec<u128> = self.union.iter().copied().filter(|id| !self.own.contains(id)).collect();
        let rest: Vec<u128> =
            others.iter().flat_map(|other| self.guessed.iter().map(move |value| other ^ value)).collect();
        View::default()
            .with(Kind::Own, "own in the union", words(self.union.iter().map(|id| self.own.contains(id))))
            .with(Kind::Own, "own ids", bytemuck::cast_slice(&low(&self.own)))
            .with(Kind::Received, "others' ids", bytemuck::cast_slice(&low(&others)))
            .with(Kind::Derived, "others' ids less guesses", bytemuck::cast_slice(&low(&rest)))
    }

    /// Random ids, as many as the union has. With a fault, ids are one function's values, that of the party that
    /// guesses.
    fn simulated(prg: &mut Prg, one_function: bool) -> Self {
        let (own, guessed): (Vec<u128>, Vec<u128>) = (prg.vector(ITEMS), prg.vector(ITEMS - COMMON));
        let others = if one_function { guessed.clone() } else { prg.vector(ITEMS - COMMON) };
        let mut union = [&own[..], &others].concat();
        union.sort_unstable();
        Self { own, union, guessed }
    }
}

/// A party of Private-ID after its setup, made of the parts of the protocol.
struct Identifying {
    mine: oprf::Sender,
    theirs: oprf::Receiver,
    union: Union,
}

enum Union {
    Sender(set_union::Sender),
    Receiver(set_union::Receiver),
}

impl Identifying {
    fn setup(session: &mut Session, peer: PartyId, role: Role) -> Self {
        session.enter("private-id-oprf");
        let sender = |session: &mut Session| oprf::Sender::setup(session, peer).expect("set up");
        let receiver = |session: &mut Session| oprf::Receiver::setup(session, peer).expect("set up");
        let parts = match role {
            Role::Sender => {
                let (mine, theirs) = (sender(session), receiver(session));
                let union = set_union::Sender::setup(session, peer, SIZES).expect("set up");
                Self { mine, theirs, union: Union::Sender(union) }
            }
            Role::Receiver => {
                let (theirs, mine) = (receiver(session), sender(session));
                let union = set_union::Receiver::setup(session, peer, SIZES).expect("set up");
                Self { mine, theirs, union: Union::Receiver(union) }
            }
        };
        session.leave();
        parts
    }

    /// A party's part, which evaluates its own function at the items that it guesses, too.
    fn identify(&mut self, session: &mut Session, peer: PartyId, run: usize) -> Ids {
        let me = session.me().0;
        let own = &listed(run)[me];
        let asked = [&own[..], &alone(1 - me)].concat();
        let got = set_union::functions(ITEMS, ITEMS).of_sender;
        let sent = Function { sizes: Sizes { sender: asked.len(), receiver: ITEMS }, ..got };
        session.enter("private-id-oprf");
        let mut mine = |session: &mut Session| self.mine.evaluate(session, &asked, sent).expect("values");
        let mut theirs = |session: &mut Session| self.theirs.evaluate(session, own, got).expect("values");
        let [mine, theirs] = match self.union {
            Union::Sender(_) => [mine(session), theirs(session)],
            Union::Receiver(_) => {
                let theirs = theirs(session);
                [mine(session), theirs]
            }
        };
        let ids: Vec<u128> = mine.iter().zip(&theirs).map(|(mine, theirs)| mine ^ theirs).collect();
        let union = match &mut self.union {
            Union::Sender(union) => {
                union.send(session, &ids).expect("sent");
                session.next_round();
                let (mut count, mut union) = ([0; 8], vec![0; UNION]);
                session.recv(peer, &mut count).expect("a number");
                assert_eq!(u64::from_le_bytes(count), UNION as u64);
                session.recv(peer, bytemuck::cast_slice_mut(&mut union)).expect("the union");
                union
            }
            Union::Receiver(union) => {
                let others = union.receive(session, &ids).expect("others' ids");
                let mut union = [&ids[..], &others].concat();
                union.sort_unstable();
                session.next_round();
                session.send(peer, (union.len() as u64).to_le_bytes().to_vec()).expect("sent");
                session.send(peer, bytemuck::cast_slice(&union).to_vec()).expect("sent");
                union
            }
        };
        session.leave();
        Ids { own: ids, union, guessed: mine[ITEMS..].to_vec() }
    }
}

/// Nothing says which of a party's rows the other has, and no id is one that a party computes by itself of an item that
/// it guesses.
// views: crates/psi/src/relatives/private_id_oprf.rs
#[test]
fn ids_by_unions_are_random_numbers_in_no_order() {
    ids_are_random_numbers(&[Role::Sender]);
}

#[test]
#[ignore = "as long as all others: make nightly"]
fn ids_by_unions_are_random_numbers_in_no_order_to_either_party() {
    ids_are_random_numbers(&[Role::Sender, Role::Receiver]);
}

/// In the views of parties of these roles.
fn ids_are_random_numbers(roles: &[Role]) {
    let runs = 92;
    let party =
        |role| move |session: &mut Session, peer| Party::setup(session, peer, role, [ITEMS; 2]).expect("set up");
    let honest = |party: &mut Party, session: &mut Session, _: PartyId, run: usize| {
        let found = party.run(session, &listed(run)[session.me().0]).expect("ids");
        assert_eq!(found.union.len(), UNION);
    };
    let parts = |role| move |session: &mut Session, peer| Identifying::setup(session, peer, role);
    let curious = |parts: &mut Identifying, session: &mut Session, peer, run| parts.identify(session, peer, run);
    for (me, &role) in roles.iter().enumerate() {
        let seen = match role {
            Role::Sender => play_once(parts(role), party(Role::Receiver), runs, curious, honest).sender,
            Role::Receiver => play_once(party(Role::Sender), parts(role), runs, honest, curious).receiver,
        };
        let real: Vec<Run> = seen
            .iter()
            .enumerate()
            .map(|(run, (_, ids))| Run { view: ids.view(), known: View::default(), secret: members(&listed(run)) })
            .collect();
        let mut prg = inputs("simulated ids by unions", me);
        compare("ids", &real, 1, |_, _| Ids::simulated(&mut prg, false).view());
        assert_eq!(leaning(&real), [0, 0]);
    }
}

/// Bits that lean, and equal ids.
fn leaning(runs: &[Run]) -> [usize; 2] {
    let some =
        |keep: &dyn Fn(&Part) -> bool| runs.iter().map(|run| run.view.filter(|part| keep(part))).collect::<Vec<_>>();
    let uniform = some(&|part| part.name != "own in the union");
    let ids = some(&|part| part.name.ends_with(" ids"));
    [biased(&uniform).len(), repeats(&ids, 8).len()]
}

#[test]
fn ids_of_one_function_are_found() {
    let [sound, faulty] = [false, true].map(|one_function| {
        let mut prg = inputs("a twin of ids", 0);
        let run = |_| Run { view: Ids::simulated(&mut prg, one_function).view(), ..Run::default() };
        leaning(&(0..92).map(run).collect::<Vec<_>>())
    });
    assert_eq!(sound, [0, 0]);
    assert!(faulty[0] > 0, "{faulty:?}");
}

/// Shares of both payloads, of pairs in an order that is nobody's, beside a party's own payload.
// views: crates/psi/src/relatives/ps3i.rs
#[test]
fn shares_of_joined_rows_are_uniform() {
    let runs = 86;
    let payload = |run: usize, me: usize| inputs("payloads", 2 * run + me).vector::<u64>(ITEMS);
    let one = Sizes { sender: 1, receiver: 1 };
    let shape = Shape { rows: Sizes { sender: ITEMS, receiver: ITEMS }, columns: one };
    let party = |role| {
        move |session: &mut Session, peer: PartyId, run: usize| {
            let me = session.me().0;
            let identifiers: Vec<Option<Item>> = sets(run)[me].iter().copied().map(Some).collect();
            let payload = [payload(run, me)];
            let table = Table { identifiers: &identifiers, payload: &payload };
            ps3i::run(session, peer, role, table, shape, one, Rule::Single).expect("shares")
        }
    };
    let Played { sender, receiver } = play_pair(runs, party(Role::Sender), party(Role::Receiver));
    for (me, seen) in [sender, receiver].into_iter().enumerate() {
        let shares = |words: &[u64]| View::default().with(Kind::Own, "shares", bytemuck::cast_slice(words));
        let real: Vec<Run> = seen
            .iter()
            .enumerate()
            .map(|(run, (_, found))| {
                assert_eq!(found.pairs, COMMON);
                let [own, theirs] = [me, 1 - me].map(|party| payload(run, party));
                let secret = members(&sets(run)).with(Kind::Own, "the peer's payload", bytemuck::cast_slice(&theirs));
                let known = View::default().with(Kind::Own, "own payload", bytemuck::cast_slice(&own));
                let both = [&found.sender[0][..], &found.receiver[0]].concat();
                Run { view: shares(&both), known, secret }
            })
            .collect();
        let mut prg = inputs("simulated shares", me);
        compare("shares", &real, 1, |_, _| shares(&prg.vector::<u64>(2 * COMMON)));
        let views: Vec<View> = real.iter().map(|run| run.view.clone()).collect();
        assert_eq!((biased(&views), repeats(&views, 8)), (vec![], vec![]));
    }
}

/// How two columns of a payload are shared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Masked {
    Each,
    /// Under one mask.
    Alike,
    /// Not at all.
    Never,
}

#[test]
fn columns_under_one_mask_and_columns_in_clear_are_found() {
    for (masked, found) in [(Masked::Each, 0), (Masked::Alike, COMMON), (Masked::Never, 2 * COMMON)] {
        let runs: Vec<Run> = (0..86)
            .map(|run| {
                let mut prg = inputs("a twin of shares", run);
                let [columns, mut masks]: [[Vec<u64>; 2]; 2] = [(); 2].map(|()| [(); 2].map(|()| prg.vector(COMMON)));
                match masked {
                    Masked::Each => {}
                    Masked::Alike => masks[1] = masks[0].clone(),
                    Masked::Never => masks.iter_mut().for_each(|masks| masks.fill(0)),
                }
                let shares = columns
                    .concat()
                    .iter()
                    .zip(masks.concat())
                    .map(|(x, mask)| x.wrapping_sub(mask))
                    .collect::<Vec<_>>();
                let own = |name, words: &[u64]| View::default().with(Kind::Own, name, bytemuck::cast_slice(words));
                Run { view: own("shares", &shares), known: View::default(), secret: own("columns", &columns.concat()) }
                    .lanes(1)
            })
            .collect();
        assert_eq!(leaks(&runs).len(), found, "{masked:?}");
    }
}
