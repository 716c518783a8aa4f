//! What goes with an intersection: keys of tokens, questions about a published set, who matches in which order, counts
//! of rows, and rounds that move as blobs.

use crate::relatives::{compare, words};
use crate::world::{Played, inputs, play_online, play_pair};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_TABLE;
use curve25519_dalek::ristretto::CompressedRistretto;
use curve25519_dalek::{RistrettoPoint, Scalar};
use std::sync::Arc;
use tacit_math::permutation;
use tacit_net::{PartyId, Session};
use tacit_psi::alignment::{self, Learns};
use tacit_psi::group::{Encoding, Exponent, HashToGroup};
use tacit_psi::tags::{SortedTags, TagHash, tag_bits};
use tacit_psi::tokens::agree_key;
use tacit_psi::unbalanced::{PreparedSet, PublishedSet, receive_set, send_set};
use tacit_psi::{DhPsi, Driven, Item, Protocol, PsiError, Relayed, Role, Rounds, Sizes, row_counts};
use tacit_views::{Kind, Run, View, biased, correlated, leaks, play, repeats, runs_needed};

const ITEMS: usize = 6;
const SIZES: Sizes = Sizes { sender: ITEMS, receiver: ITEMS };

fn received(seen: &View) -> View {
    seen.only(&[Kind::Received])
}

/// Before a party has opened its own bytes it must not be able to compute the key: it sees a commitment alone.
// views: crates/psi/src/parts/tokens.rs
#[test]
fn commitments_to_a_key_tell_nothing_of_it() {
    let played = play(&["a", "b", "c"], 300, |mut session, _| {
        let key = *agree_key(&mut session).expect("honest peers").expose();
        (session, key)
    });
    for (me, seen) in played.iter().enumerate() {
        let first = |view: &View| {
            View::default().with(Kind::Received, "commitments", [0, 1].map(|at| &*view.parts()[at].bytes).concat())
        };
        let all: Vec<View> = seen.iter().map(|(view, _)| received(view)).collect();
        let runs: Vec<Run> = all
            .iter()
            .zip(seen)
            .map(|(view, (_, key))| {
                assert_eq!(view.parts().iter().map(|part| part.bytes.len()).collect::<Vec<_>>(), [32; 4]);
                // The others' bytes, and the key.
                let bytes = [2, 3].map(|at| &*view.parts()[at].bytes).concat();
                let secret = View::default().with(Kind::Own, "others' bytes", bytes).with(Kind::Own, "key", key);
                Run { view: first(view), known: View::default(), secret: secret.lanes(1) }
            })
            .collect();
        let mut prg = inputs("commitments", me);
        compare("commitments", &runs, 0b11, |_, real| {
            View::default().with(Kind::Received, "commitments", prg.vector::<u8>(real.bits() / 8))
        });
        assert_eq!((biased(&all), repeats(&all, 8), repeats(&all, 16)), (vec![], vec![], vec![]), "{me}");
    }
}

/// Of the client's items those that the set has.
const KNOWN: usize = 2;
const BUDGET: u64 = 1 << 20;

fn exponent_one() -> Exponent {
    let mut bytes = [0; 32];
    bytes[0] = 1;
    Exponent::from_bytes(&bytes).expect("one")
}

/// The server's items, the same in all runs, and those that a client asks about, in two questions alike.
fn asked(run: usize) -> [Vec<Item>; 2] {
    let server: Vec<Item> = (0..ITEMS as Item).collect();
    let own: Vec<Item> = inputs("asked items", run).vector(ITEMS - KNOWN);
    let all = [own, server[..KNOWN].to_vec()].concat();
    [server, permutation::gather(&all, &permutation::random(ITEMS, &mut inputs("order of questions", run)))]
}

fn decoded(points: &[Encoding]) -> Vec<RistrettoPoint> {
    points.iter().map(|point| CompressedRistretto(*point).decompress().expect("a point")).collect()
}

fn scalars(count: usize) -> Vec<Scalar> {
    let random = |_| Exponent::random().expect("a scalar").expose();
    (0..count).map(random).map(|bytes| Scalar::from_bytes_mod_order(*bytes)).collect()
}

/// Twice the sum of each item's point and of the base point times its blind.
fn blinded(blinds: &[Scalar], hash: &HashToGroup, items: &[Item]) -> Vec<Encoding> {
    let points = decoded(&exponent_one().mask(hash, items)).into_iter().zip(blinds);
    points.map(|(point, blind)| point + RISTRETTO_BASEPOINT_TABLE * blind).map(|sum| (sum + sum).compress().0).collect()
}

/// A question with its blinds in the open: the unblinded answers.
fn question(
    session: &mut Session,
    server: PartyId,
    context: &[u8; 32],
    half_key: Encoding,
    items: &[Item],
) -> Vec<Encoding> {
    let blinds = scalars(items.len());
    session.enter("unbalanced");
    session.next_round();
    session.send(server, blinded(&blinds, &HashToGroup::new(context), items).concat()).expect("sent");
    session.next_round();
    let mut answers = vec![[0; 32]; items.len()];
    session.recv(server, answers.as_flattened_mut()).expect("answers");
    session.leave();
    let key = decoded(&[half_key])[0];
    let points = decoded(&answers).into_iter().zip(blinds).map(|(answer, blind)| answer - blind * key);
    points.map(|rest| (rest + rest).compress().0).collect()
}

/// All that a client computes: tags of the server's other items under every point that it has, beside the published
/// ones.
fn client(session: &mut Session, server: PartyId, run: usize) -> View {
    let [others, own] = asked(run);
    let published = receive_set(session, server, ITEMS as u32, BUDGET).expect("a set");
    let context: [u8; 32] = published[8..40].try_into().expect("a context");
    let half_key: Encoding = published[56..88].try_into().expect("a point");
    let bits = tag_bits(ITEMS as u128 * u128::from(BUDGET));
    let tags: Vec<u128> = SortedTags::read(&published[88..], ITEMS, bits).expect("tags").iter().collect();
    let hash = TagHash::new(&context, bits);
    let first = question(session, server, &context, half_key, &own);
    assert_eq!(first, question(session, server, &context, half_key, &own), "one function");
    let found: Vec<u128> = own
        .iter()
        .zip(&first)
        .map(|(&item, point)| hash.of_item(item, point))
        .filter(|tag| tags.contains(tag))
        .collect();
    assert_eq!(found.len(), KNOWN);
    let guesses = exponent_one().mask(&HashToGroup::new(&context), &others);
    let points: Vec<Encoding> = first.iter().copied().chain([half_key]).chain(guesses).collect();
    let computed = others[KNOWN..].iter().flat_map(|&item| points.iter().map(move |point| (item, point)));
    let computed: Vec<u64> = computed.map(|(item, point)| hash.of_item(item, point) as u64).collect();
    let unasked: Vec<u64> = tags.iter().filter(|tag| !found.contains(tag)).map(|&tag| tag as u64).collect();
    assert!(unasked.len() == ITEMS - KNOWN);
    View::default()
        .with(Kind::Derived, "other tags", bytemuck::cast_slice(&unasked))
        .with(Kind::Derived, "computed", bytemuck::cast_slice(&computed))
        .with(Kind::Derived, "answers", first.concat())
}

fn serve(session: &mut Session, client: PartyId, run: usize) {
    let (mut set, published) = PreparedSet::prepare(&asked(run)[0], BUDGET).expect("prepared");
    send_set(session, client, &published).expect("sent");
    (0..2).for_each(|_| set.answer(session, client, ITEMS).expect("answered"));
}

/// Everything that a server sees of questions, raised to a key and its quarter.
fn questions(seen: &View, key: &Exponent) -> View {
    let points = received(seen);
    let points: Vec<Encoding> =
        points.parts().iter().flat_map(|part| part.bytes.as_chunks::<32>().0.to_vec()).collect();
    assert_eq!(points.len(), 2 * ITEMS);
    with_raised(&points, key)
}

fn with_raised(points: &[Encoding], key: &Exponent) -> View {
    let raised = [key, &key.half().half()].map(|key| key.raise(points).expect("points").concat());
    View::default().with(Kind::Received, "questions", points.concat()).with(Kind::Derived, "raised", raised.concat())
}

// views: crates/psi/src/intersection/unbalanced.rs crates/psi/src/parts/blinding.rs
#[test]
fn questions_are_random_points_and_other_tags_cannot_be_computed() {
    let runs = 300;
    let honest_client = |session: &mut Session, server, run: usize| {
        let bytes = receive_set(session, server, ITEMS as u32, BUDGET).expect("a set");
        let set = PublishedSet::from_bytes(&bytes).expect("a set");
        (0..2).for_each(|_| assert_eq!(set.query(session, server, &asked(run)[1]).expect("asked").len(), KNOWN));
    };
    // The server's key does not show in what it is asked: any exponent stands for it.
    let key = Exponent::random().expect("a key");
    let Played { sender, .. } = play_pair(runs, serve, honest_client);
    let of_server: Vec<Run> = sender
        .iter()
        .enumerate()
        .map(|(run, (seen, ()))| {
            let [server, own] = asked(run);
            let known = words(own.iter().map(|item| server.contains(item)));
            let secret = View::default().with(Kind::Own, "whether the set has it", known);
            Run {
                view: questions(seen, &key),
                known: View::default(),
                secret: secret.with(Kind::Own, "items", bytemuck::cast_slice(&own)),
            }
        })
        .collect();
    let mut prg = inputs("simulated questions", 0);
    let mut random = |_: usize, _: &View| {
        let items: Vec<Item> = prg.vector(2 * ITEMS);
        let points = Exponent::random().expect("an exponent").mask(&HashToGroup::new(&prg.vector::<u8>(16)), &items);
        with_raised(&points, &key)
    };
    let views: Vec<View> = of_server.iter().map(|run| run.view.clone()).collect();
    assert_eq!(repeats(&views, 8), []);
    compare("the server", &of_server, 0b10, &mut random);
    let Played { receiver, .. } = play_pair(100, serve, client);
    let views: Vec<View> = receiver.into_iter().map(|(_, view)| view).collect();
    // The low words of tags are whole: equal ones would show.
    assert_eq!(repeats(&views, 8), []);
}

#[test]
fn blinds_and_keys_that_stay_are_found() {
    let views = |fresh: bool| {
        let blinds = scalars(ITEMS);
        let view = |run: usize| {
            let blinds = if fresh { &scalars(ITEMS) } else { &blinds };
            let hash = HashToGroup::new(b"one published set");
            let points = blinded(blinds, &hash, &(0..ITEMS as Item).collect::<Vec<_>>());
            let mut prg = inputs("other questions", run);
            let others = Exponent::random().expect("an exponent").mask(&hash, &prg.vector::<Item>(ITEMS));
            // Not all questions are the same.
            View::default().with(
                Kind::Received,
                "questions",
                if run.is_multiple_of(2) { points.concat() } else { others.concat() },
            )
        };
        repeats(&(0..64).map(view).collect::<Vec<_>>(), 8).len()
    };
    assert_eq!(views(true), 0);
    assert!(views(false) >= ITEMS);
}

/// Both sets, and which of the sender's are in both.
fn sets(run: usize) -> ([Vec<Item>; 2], Vec<bool>) {
    let mut prg = inputs("aligned", run);
    let sender: Vec<Item> = prg.vector(ITEMS);
    let mut receiver: Vec<Item> = prg.vector(ITEMS);
    let both: Vec<bool> = prg.vector::<u8>(ITEMS).into_iter().map(|coin| coin % 2 == 1).collect();
    (0..ITEMS).filter(|&at| both[at]).for_each(|at| receiver[at] = sender[at]);
    ([sender, permutation::gather(&receiver, &permutation::random(ITEMS, &mut prg))], both)
}

/// The sender learns its matches, which are its output, and that is all that the bits say: with a receiver who learns
/// alone no message comes.
// views: crates/psi/src/intersection/alignment.rs
#[test]
fn bits_that_tell_matches_tell_the_output_alone() {
    for learns in [Learns::Both, Learns::Receiver] {
        let play_role = |role, own: usize| {
            move |session: &mut Session, peer: PartyId, run: usize| {
                let mut prepared = DhPsi { bins: 1 }.setup(role, session, peer).expect("set up");
                alignment::intersect(&mut *prepared, learns, session, peer, &sets(run).0[own], SIZES).expect("matches")
            }
        };
        let Played { sender, receiver } = play_pair(200, play_role(Role::Sender, 0), play_role(Role::Receiver, 1));
        let told = |view: &View| view.filter(|part| part.kind == Kind::Received && part.bytes.len() == 1);
        let runs: Vec<Run> = sender
            .iter()
            .enumerate()
            .map(|(run, (seen, found))| {
                let ([own, others], both) = sets(run);
                let (view, matches) =
                    (told(seen), (0..ITEMS as u32).filter(|&at| both[at as usize]).collect::<Vec<_>>());
                let mut sorted = found.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, if learns == Learns::Both { matches } else { vec![] });
                // As many bits as items match; which positions these are the sender's own order says.
                let ones: u32 = view.parts().iter().map(|part| part.bytes[0].count_ones()).sum();
                assert_eq!(ones as usize, found.len());
                // Where the receiver has the items that match.
                let places = words(others.iter().map(|item| own.contains(item)));
                let secret = View::default().with(Kind::Own, "receiver's places", places).lanes(1);
                Run { view, known: View::default().with(Kind::Own, "output", words(both.into_iter())).lanes(1), secret }
            })
            .collect();
        assert_eq!(runs[0].view.bits(), if learns == Learns::Both { 8 } else { 0 });
        assert!(runs.len() >= runs_needed(&runs[0]));
        assert_eq!((leaks(&runs), correlated(&runs)), (vec![], vec![]));
        // Both list the same matches in one order, and it is not the sender's own.
        let ascending = receiver.iter().zip(0..).filter(|((_, found), run)| {
            let ([own, others], _) = sets(*run);
            found.is_sorted_by_key(|&mine| own.iter().position(|item| *item == others[mine as usize]))
        });
        assert!(ascending.count() < 150);
    }
}

/// Counts are disclosed; the message is a function of them alone.
// views: crates/psi/src/parts/row_counts.rs
#[test]
fn counts_of_rows_are_made_from_the_counts() {
    let counts = |run: usize| {
        inputs("counts", run).vector::<u8>(4).into_iter().map(|count| u32::from(count % 3) + 1).collect::<Vec<u32>>()
    };
    let padded =
        |counts: &[u32]| counts.iter().copied().chain([12 - counts.iter().sum::<u32>() + 1]).collect::<Vec<_>>();
    let tell =
        |session: &mut Session, peer, run: usize| row_counts::tell(session, peer, &padded(&counts(run))).expect("told");
    let hear = |session: &mut Session, peer, run: usize| {
        assert_eq!(row_counts::hear(session, peer, 5, 13).expect("heard"), padded(&counts(run)));
    };
    let Played { sender, receiver } = play_pair(60, tell, hear);
    assert!(sender.iter().all(|(seen, ())| received(seen).bits() == 0));
    for (run, (seen, ())) in receiver.iter().enumerate() {
        let simulated = padded(&counts(run)).into_iter().scan(0, |row, count| {
            let first = *row;
            *row += count;
            Some(1u16 << first)
        });
        let seen = received(seen);
        let [part] = seen.parts() else { panic!("one message: {seen:?}") };
        assert_eq!(part.bytes, simulated.sum::<u16>().to_le_bytes());
    }
}

/// Bytes before each message in a blob: its round and its length.
const HEADER: usize = 16;

/// Lengths of blobs and headers of messages, and the messages.
fn split(view: &View) -> (Vec<u8>, Vec<u8>) {
    let (mut around, mut messages, mut left) = (Vec::new(), Vec::new(), 0);
    for part in received(view).parts() {
        if left == 0 {
            left = u64::from_le_bytes(part.bytes[..].try_into().expect("a length"));
            around.extend_from_slice(&part.bytes);
        } else {
            left -= part.bytes.len() as u64;
            let (header, message) = part.bytes.split_at(HEADER);
            around.extend_from_slice(header);
            messages.extend_from_slice(message);
        }
    }
    (around, messages)
}

/// Blobs have the messages of the protocol itself, between lengths and headers that follow from the sizes.
// views: crates/psi/src/interface/rounds/driven.rs crates/psi/src/interface/rounds/relayed.rs
#[test]
fn blobs_have_the_protocols_messages_and_nothing_else() {
    let psi = || Arc::new(DhPsi { bins: 1 });
    let party = move |role| -> Result<Box<dyn Rounds>, PsiError> { Ok(Box::new(Relayed::new(psi(), role)?)) };
    let framed = move |sizes| {
        let mut declared = psi().declared(sizes);
        for traffic in [&mut declared.setup, &mut declared.online] {
            traffic.sender += HEADER as u64 * traffic.rounds;
            traffic.receiver += HEADER as u64 * traffic.rounds;
        }
        declared
    };
    let driven = Driven::new("driven", psi().adversary(), framed, party);
    let runs = 200;
    let bare = play_online(&*psi(), runs, |run| sets(run).0);
    let [seen, others] = [0, runs].map(|from| play_online(&driven, runs, move |run| sets(from + run).0));
    for me in [0, 1] {
        let around = |seen: &[Vec<(View, ())>; 2]| seen[me].iter().map(|(view, ())| split(view).0).collect::<Vec<_>>();
        assert_eq!(
            around(&seen),
            around(&others),
            "what is around messages follows from the sizes and the run's number"
        );
        let run = |(run, (view, ())): (usize, &(View, ()))| {
            let ([sender, receiver], _) = sets(run);
            let secret = if me == 0 { receiver } else { sender };
            Run {
                view: View::default().with(Kind::Received, "messages", split(view).1),
                known: View::default(),
                secret: View::default().with(Kind::Own, "the peer's items", bytemuck::cast_slice(&secret)),
            }
        };
        let real: Vec<Run> = seen[me].iter().enumerate().map(run).collect();
        // The protocol's simulator makes these messages; runs of the protocol with other items stand for it.
        compare("blobs", &real, 0b10, |run, _| {
            let parts = received(&bare[me][(run + 1) % runs].0);
            let bytes = parts.parts().iter().flat_map(|part| part.bytes.clone()).collect::<Vec<u8>>();
            View::default().with(Kind::Received, "messages", bytes)
        });
    }
}
