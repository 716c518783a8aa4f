//! No branch and no address depends on a secret of a transfer: every protocol of this room, under memcheck.

use crate::pair::{ALICE, BOB, generator, run};
use crate::silent::deal;
use tacit_marks::{found, marked, secret};
use tacit_math::Ring;
use tacit_math::code::Symbol;
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_net::{PartyId, Session};
use tacit_ot::Adversary::{self, Malicious, SemiHonest};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::ole::Ole;
use tacit_ot::ole::matrices::{Product, Sizes};
use tacit_ot::silent::{cot, lookup, vole};
use tacit_ot::{OtError, base, iknp, softspoken};

/// What memcheck finds in a run of two parties.
fn of_pair<A: Send, B: Send>(
    name: &str,
    alice: impl FnOnce(&mut Session) -> Result<A, OtError> + Send,
    bob: impl FnOnce(&mut Session) -> Result<B, OtError> + Send,
) -> Vec<(String, usize)> {
    found(name, || {
        let ((a, _), (b, _)) = run(alice, bob);
        assert!(a.is_ok() && b.is_ok(), "{name}: {:?}, {:?}", a.err(), b.err());
    })
}

fn mark(sender: &mut CotSender, receiver: &mut CotReceiver) {
    secret(&mut sender.zero);
    secret(std::slice::from_mut(&mut sender.delta));
    secret(&mut receiver.choices);
    secret(&mut receiver.blocks);
}

#[test]
fn base_transfers() {
    let choices = marked((0..9).map(|i| i % 3 == 0).collect());
    let found =
        of_pair("base", |session| base::send(session, BOB, 9), |session| base::receive(session, ALICE, &choices));
    assert_eq!(found, []);
}

fn softspoken(k: usize, adversary: Adversary) -> Vec<(String, usize)> {
    of_pair(
        &format!("softspoken {k} {adversary:?}"),
        |session| softspoken::Sender::setup(session, BOB, adversary, k)?.extend(session, 130),
        |session| softspoken::Receiver::setup(session, ALICE, adversary, k)?.extend(session, 130),
    )
}

#[test]
fn extensions() {
    let mut all: Vec<_> =
        [(2, SemiHonest), (2, Malicious), (5, Malicious)].into_iter().flat_map(|(k, a)| softspoken(k, a)).collect();
    for adversary in [SemiHonest, Malicious] {
        all.extend(of_pair(
            &format!("iknp {adversary:?}"),
            |session| iknp::Sender::setup(session, BOB, adversary)?.extend(session, 70),
            |session| iknp::Receiver::setup(session, ALICE, adversary)?.extend(session, 70),
        ));
    }
    assert_eq!(all, []);
}

#[test]
fn extensions_of_both_directions_and_of_chosen_bits() {
    let bits = |words: usize| marked(vec![0x9e37_79b9_7f4a_7c15_u64; words]);
    let both = |session: &mut Session| {
        let (me, adversary) = (session.me().0, SemiHonest);
        let peer = PartyId(1 - me);
        let first = (me == 0).then(|| softspoken::Sender::setup(session, peer, adversary, 2)).transpose()?;
        let mut receiver = softspoken::Receiver::setup(session, peer, adversary, 2)?;
        let mut sender = match first {
            Some(sender) => sender,
            None => softspoken::Sender::setup(session, peer, adversary, 2)?,
        };
        session.next_round();
        softspoken::extend_both(session, (&mut sender, 128), (&mut receiver, 128), |_| (), |_, _| ())?;
        session.next_round();
        let own = bits(2);
        softspoken::extend_both_chosen(session, (&mut sender, 128), (&mut receiver, &own), |_| (), |_, _| ())?;
        session.next_round();
        let mut chosen = vec![0; 128];
        if me == 0 {
            sender.extend_chosen(session, &bits(2), &mut chosen)
        } else {
            receiver.extend_chosen(session, &bits(2), &mut chosen)
        }
    };
    assert_eq!(of_pair("both directions", both, both), []);
}

#[test]
fn what_is_made_of_transfers() {
    let (mut sender, mut receiver) = deal(&mut generator("transfers"), 1 << 77 | 5, 70);
    mark(&mut sender, &mut receiver);
    let (choices, messages) = (marked(vec![7; 2]), marked(vec![[1, 2]; 70]));
    let found = of_pair(
        "correlated",
        |session| {
            sender.random();
            sender.adjust(session, BOB)?;
            sender.send(session, BOB, &messages)
        },
        |session| {
            receiver.random();
            receiver.choose(session, ALICE, &choices)?;
            receiver.receive(session, ALICE)
        },
    );
    assert_eq!(found, []);
}

#[test]
fn silent_transfers() {
    let all = [SemiHonest, Malicious].map(|adversary| {
        let name = format!("silent transfers {adversary:?}");
        let send = |session: &mut Session| cot::send(session, BOB, 100, adversary);
        of_pair(&name, send, |session| cot::receive(session, ALICE, 100, adversary))
    });
    assert_eq!(all.concat(), []);
}

fn vole<F: Field + Symbol>() -> Vec<(String, usize)> {
    let of = |adversary| {
        let name = format!("VOLE over {} bits {adversary:?}", F::BITS);
        let send = |session: &mut Session| vole::send::<F>(session, BOB, 100, adversary);
        of_pair(&name, send, |session| vole::receive::<F>(session, ALICE, 100, adversary))
    };
    [SemiHonest, Malicious].map(of).concat()
}

#[test]
fn vector_oblivious_linear_evaluation() {
    assert_eq!([vole::<Gf64>(), vole::<Gf128>()].concat(), []);
}

#[test]
fn silent_lookups() {
    let mut prg = generator("lookups");
    let mut dealt = || {
        let delta = lookup::delta(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
        let (mut sender, mut receiver) = deal(&mut prg, delta, lookup::ots(true, 64));
        mark(&mut sender, &mut receiver);
        // Its constant bits are no secret.
        sender.delta = lookup::delta(sender.delta);
        (sender, receiver)
    };
    let directions = [dealt(), dealt()];
    let party = |session: &mut Session| {
        let me = session.me().0;
        let ((ours, _), (_, theirs)) = (&directions[me], &directions[1 - me]);
        let (mut sender, mut receiver) = (lookup::Sender::default(), lookup::Receiver::default());
        let ends = ((&mut sender, 64, ours), (&mut receiver, 64, theirs));
        lookup::extend(session, PartyId(1 - me), ends.0, ends.1, |_| (), |_| ())
    };
    assert_eq!(of_pair("silent lookups", party, party), []);
}

fn ole<R: Ring>(session: &mut Session) -> Result<(), OtError> {
    let mut ole = Ole::setup(session, PartyId(1 - session.me().0))?;
    let numbers = |range: std::ops::Range<usize>| marked(range.map(|i| i as i64 - 50).collect());
    ole.cross_products::<R>(session, 100, numbers, numbers).map(drop)
}

#[test]
fn oblivious_linear_evaluation() {
    let all = [of_pair("OLE of 64 bits", ole::<u64>, ole::<u64>), of_pair("OLE of 128 bits", ole::<u128>, ole::<u128>)];
    assert_eq!(all.concat(), []);
}

fn matrices<R: Ring>(session: &mut Session) -> Result<(), OtError> {
    let mut ole = Ole::setup(session, PartyId(1 - session.me().0))?;
    let elements = marked((0..12).map(|i| R::from_u128(i * 0x9e37_79b9_7f4a_7c15)).collect());
    let [left, right] = [4, 3].map(|stride| {
        let elements = &elements;
        move |row: usize, column: usize| elements[(row * stride + column) % 12]
    });
    let product = Product { sizes: Sizes { rows: 3, inner: 4, columns: 3 }, left: &left, right: &right };
    ole.matrix_products::<R>(session, &[product]).map(drop)
}

#[test]
fn products_of_matrices() {
    let all = [
        of_pair("matrices of 64 bits", matrices::<u64>, matrices::<u64>),
        of_pair("matrices of 128 bits", matrices::<u128>, matrices::<u128>),
    ];
    assert_eq!(all.concat(), []);
}
