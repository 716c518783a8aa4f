//! VOLE-PSI against malicious adversaries: parties that deviate in scripted ways and then compute.

use crate::enacted::{self, Asked, Functions, Held, strength};
use crate::world::{inputs, pair};
use std::collections::BTreeSet;
use tacit_math::gf::Gf128;
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::silent::vole;
use tacit_ot::{Adversary, softspoken};
use tacit_psi::vole_psi::{Variant, VolePsi};
use tacit_psi::{Item, Match, Outcome, Protocol, Role, Sizes};
use tacit_views::{Kind, View, biased, repeats};

const PSI: VolePsi = VolePsi { variant: Variant::Malicious, bins: 1 };

/// The honest party's run; an error as it would be printed.
fn honest(session: &mut Session, role: Role, peer: PartyId, items: &[Item], sizes: Sizes) -> Result<Outcome, String> {
    let mut prepared = PSI.setup(role, session, peer).map_err(|error| error.to_string())?;
    prepared.online(session, items, sizes).map_err(|error| error.to_string())
}

fn matches(outcome: Result<Outcome, String>) -> Result<Vec<Match>, String> {
    outcome.map(|outcome| match outcome {
        Outcome::Receiver(matches) => matches,
        Outcome::Sender { .. } => panic!("the outcome of a receiver"),
    })
}

// ----
// senders ----------------------------------------------------------------------------------------------------------

const ITEMS: usize = 8;
const EQUAL: Sizes = Sizes { sender: ITEMS, receiver: ITEMS };

/// How a sender deviates.
struct Script {
    what: &'static str,
    /// Its delta, from random bits.
    delta: fn(u128) -> u128,
    /// The half of the coins that it opens, from the one to which it committed.
    opens: fn(u128) -> u128,
    /// What it sends in place of its tags.
    tags: fn(&Held, &[Item]) -> Vec<u128>,
    /// Whether an honest receiver ends the run.
    ends: bool,
}

const HONEST: Script =
    Script { what: "nothing", delta: |random| random, opens: |half| half, tags: Held::tags_of, ends: false };

fn senders() -> Vec<Script> {
    vec![
        HONEST,
        Script { what: "delta zero", delta: |_| 0, ..HONEST },
        Script { what: "delta one", delta: |_| 1, ..HONEST },
        Script { what: "a delta of few bits", delta: |random| random & 0xff, ..HONEST },
        Script {
            what: "one tag twice",
            tags: |held, items| {
                let mut tags = held.tags_of(items);
                tags[1] = tags[0];
                tags
            },
            ..HONEST
        },
        Script { what: "one tag in all places", tags: |held, items| vec![held.tags_of(items)[0]; ITEMS], ..HONEST },
        Script {
            what: "tags missing",
            tags: |held, items| {
                held.tags_of(items).into_iter().enumerate().map(|(i, tag)| tag * (i as u128 % 2)).collect()
            },
            ..HONEST
        },
        Script {
            what: "tags of other items",
            tags: |held, items| held.tags_of(&items.iter().map(|item| !item).collect::<Vec<_>>()),
            ..HONEST
        },
        Script {
            what: "tags under a guessed delta",
            tags: |held, items| held.tags_under(items, &held.columns, held.vole.delta ^ 1),
            ..HONEST
        },
        Script {
            what: "tags of other columns",
            tags: |held, items| held.tags_under(items, &vec![Gf128(1); held.columns.len()], held.vole.delta),
            ..HONEST
        },
        Script { what: "a wrong opening", opens: |half| half ^ 1, ends: true, ..HONEST },
    ]
}

/// A malicious sender with these items against an honest receiver with those; what the receiver ends with, and what the
/// sender holds.
fn against_receiver(script: &Script, sender: &[Item], receiver: &[Item]) -> (Result<Vec<Match>, String>, Held) {
    let delta = (script.delta)(u128::from_le_bytes(*Seed::random().expect("randomness").expose()));
    let (held, outcome) = pair(
        |session, peer| {
            enacted::send(session, peer, EQUAL, delta, |held| ((script.opens)(held.half), (script.tags)(held, sender)))
        },
        |session, peer| honest(session, Role::Receiver, peer, receiver, EQUAL),
    );
    (matches(outcome), held)
}

#[test]
fn whatever_a_sender_does_the_receiver_ends_the_same_for_all_items() {
    let mut prg = inputs("malicious senders", 0);
    for script in senders() {
        let [items, others]: [Vec<Item>; 2] = [prg.vector(ITEMS), prg.vector(ITEMS)];
        let ends = [&items, &others].map(|receiver| against_receiver(&script, &items, receiver).0);
        let seen = ends.each_ref().map(|end| end.as_ref().map(drop).map_err(Clone::clone));
        assert_eq!(seen[0], seen[1], "{}: the end tells the sender what the receiver has", script.what);
        assert_eq!(seen[0].is_err(), script.ends, "{}", script.what);
        // No deviation makes a match where the receiver has none of the sender's items.
        assert!(
            ends[1].as_ref().is_err() || ends[1].as_ref().is_ok_and(Vec::is_empty),
            "{}: a match from nothing",
            script.what
        );
    }
}

/// All that a sender can compute about the receiver's items from the columns: if they are its own, and if not. Its
/// delta is zero or random.
#[test]
fn what_a_sender_derives_of_candidates_is_uniform_whatever_the_receiver_has() {
    let delta_zero = Script { what: "delta zero", delta: |_| 0, ..HONEST };
    let mut views = Vec::new();
    for run in 0..48 {
        let mut prg = inputs("a sender's candidates", run);
        let [items, others]: [Vec<Item>; 2] = [prg.vector(ITEMS), prg.vector(ITEMS)];
        let script = if run % 2 == 0 { HONEST } else { Script { ..delta_zero } };
        let derive = |receiver: &[Item]| against_receiver(&script, &items, receiver).1.masked(&items);
        let view = View::default()
            .with(Kind::Derived, "of items that the receiver has", bytemuck::cast_slice(&derive(&items)))
            .with(Kind::Derived, "of items that it lacks", bytemuck::cast_slice(&derive(&others)));
        views.push(view);
    }
    assert_eq!(repeats(&views, 16), []);
    assert_eq!(biased(&views), []);
}

// ----
// receivers --------------------------------------------------------------------------------------------------------

/// A malicious receiver that encodes what it likes; what it has in the end, and how the honest sender's run ends.
fn against_sender(
    sender: &[Item],
    declared: usize,
    columns: impl FnMut(&Functions) -> Option<Vec<Gf128>> + Send,
) -> (Asked<Gf128>, Result<(), String>) {
    let sizes = Sizes { sender: sender.len(), receiver: declared };
    let (outcome, asked) = pair(
        |session, peer| honest(session, Role::Sender, peer, sender, sizes).map(drop),
        |session, peer| enacted::receive(session, peer, sizes, columns),
    );
    (asked, outcome)
}

fn fresh_prg() -> Prg {
    Prg::new(&Seed::random().expect("randomness"))
}

/// What a receiver finds that asks these items with these values, among all items that it can think of.
fn found(sender: &[Item], declared: usize, asked: &[Item], value_of: &[Item], all: &[Item]) -> BTreeSet<Item> {
    let (seen, end) = against_sender(sender, declared, |functions| {
        functions.encode::<Gf128>(asked, &functions.scalars(value_of), &mut fresh_prg())
    });
    assert_eq!(end, Ok(()), "the sender's run ends as any");
    seen.found(all).into_iter().collect()
}

#[test]
fn a_receiver_learns_of_as_many_items_as_its_store_has_columns_and_of_no_other() {
    let mut prg = inputs("a receiver that asks more", 0);
    let (sender, others): (Vec<Item>, Vec<Item>) = (prg.vector(200), prg.vector(200));
    let all = [&sender[..], &others].concat();
    let declared = 10;
    let columns = strength::<Gf128>(Sizes { sender: 200, receiver: declared }).layout.columns();
    assert_eq!(columns, 55, "as the documents say");
    // Half of what it asks, in place of ten items, the sender has.
    let asked = [&sender[..columns / 2], &others[columns / 2..columns]].concat();
    let expected: BTreeSet<Item> = sender[..columns / 2].iter().copied().collect();
    assert_eq!(found(&sender, declared, &asked, &asked, &all), expected);
    // One item more has no store, under no seed.
    let more = [&asked[..], &others[columns..][..1]].concat();
    let sizes = Sizes { sender: 200, receiver: declared };
    let stores = (0..200).filter(|_| {
        let functions = Functions::drawn::<Gf128>(sizes);
        functions.encode::<Gf128>(&more, &functions.scalars(&more), &mut fresh_prg()).is_some()
    });
    assert_eq!(stores.count(), 0, "{} items in {columns} columns", more.len());
}

#[test]
fn a_receiver_that_encodes_something_else_learns_nothing() {
    let mut prg = inputs("a receiver that deviates", 0);
    let (sender, others): (Vec<Item>, Vec<Item>) = (prg.vector(30), prg.vector(30));
    let all = [&sender[..], &others].concat();
    let nothing = BTreeSet::new();
    // The values of other items in items' places.
    let turned: Vec<Item> = sender.iter().cycle().skip(1).take(sender.len()).copied().collect();
    assert_eq!(found(&sender, 30, &sender, &turned, &all), nothing, "other inputs in other places");
    assert_eq!(found(&sender, 30, &sender, &others, &all), nothing, "values of items that the sender lacks");
    let count = strength::<Gf128>(Sizes { sender: 30, receiver: 30 }).layout.columns();
    for (what, column) in [("columns of zeros", Gf128(0)), ("columns of ones", Gf128(1))] {
        let (seen, end) = against_sender(&sender, 30, |_| Some(vec![column; count]));
        assert_eq!((end, seen.found(&all)), (Ok(()), vec![]), "{what}");
    }
    let (seen, end) = against_sender(&sender, 30, |_| Some(fresh_prg().vector(count)));
    assert_eq!((end, seen.found(&all)), (Ok(()), vec![]), "random columns");
}

/// What the tags say of items that a receiver did not ask: uniform words, whatever the items are, also where the
/// sender's items are near each other.
#[test]
fn tags_of_items_that_were_not_asked_are_uniform() {
    let views: Vec<View> = (0..48)
        .map(|run| {
            let mut prg = inputs("tags of others", run);
            // The same items in all runs, neighbours.
            let sender: Vec<Item> = (0..ITEMS as u128).collect();
            let asked: Vec<Item> = prg.vector(ITEMS);
            let (seen, end) = against_sender(&sender, ITEMS, |functions| {
                functions.encode::<Gf128>(&asked, &functions.scalars(&asked), &mut fresh_prg())
            });
            assert_eq!(end, Ok(()));
            View::default().with(Kind::Received, "tags", bytemuck::cast_slice(&seen.tags)).with(
                Kind::Derived,
                "what it computes for the sender's items",
                bytemuck::cast_slice(&seen.tags_of(&sender)),
            )
        })
        .collect();
    assert_eq!(repeats(&views, 16), []);
    assert_eq!(biased(&views), []);
}

/// A receiver that was caught is not heard again: each try would be another guess at delta.
#[test]
fn a_sender_that_has_failed_does_not_begin_again() {
    let ots = vole::ots::<Gf128>(PSI.strength(EQUAL).layout.columns(), Adversary::Malicious);
    let items: Vec<Item> = (0..ITEMS as Item).collect();
    let (tries, ()) = pair(
        |session, peer| {
            let mut prepared = PSI.setup(Role::Sender, session, peer).expect("set up");
            [(); 2].map(|()| prepared.online(session, &items, EQUAL).map(drop).expect_err("no proof").to_string())
        },
        |session, peer| {
            session.enter("ot");
            softspoken::Receiver::setup(session, peer, Adversary::Malicious, 4).expect("set up");
            session.leave();
            let (all, proof) = (softspoken::extension_cost(4, Adversary::Malicious, ots), 8 + 8 * softspoken::COLUMNS);
            session.next_round();
            session.send(peer, vec![0; all.receiver as usize - proof]).expect("sent");
            session.next_round();
            session.recv(peer, &mut [0; 16]).expect("a challenge");
            session.next_round();
            session.send(peer, vec![0; proof]).expect("sent");
        },
    );
    assert!(tries[0].contains("contradict each other"), "{}", tries[0]);
    assert!(tries[1].contains("have ended with an earlier error"), "{}", tries[1]);
}
