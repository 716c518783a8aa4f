//! Every decoder of this room against changed messages; and in the malicious variant no change makes a match.

#[path = "../../ot/tests/fuzz/tampered.rs"]
mod tampered;

use std::panic::RefUnwindSafe;
use std::sync::Arc;
use tacit_mpc::Block;
use tacit_net::{PartyId, Session};
use tacit_ot::Adversary;
use tacit_psi::alignment::{Learns, intersect};
use tacit_psi::blind_join::{Rule, Shape};
use tacit_psi::cardinality_sum::{self, Sums};
use tacit_psi::circuit_psi::{CircuitPsi, Payloads};
use tacit_psi::permute_share::{Owner, Permuter};
use tacit_psi::unbalanced::{PreparedSet, PublishedSet, receive_set, send_set};
use tacit_psi::vole_psi::Variant;
use tacit_psi::{
    DhPsi, Item, Kkrt, Protocol, PsiError, Role, Sizes, VolePsi, multi_key, multi_party, private_id, private_id_oprf,
    ps3i, tokens,
};
use tampered::{Network, Target, fuzz};

const SENDER: PartyId = PartyId(0);
const RECEIVER: PartyId = PartyId(1);

/// Items that both parties have, and all items of each.
const COMMON: usize = 5;
const SIZES: Sizes = Sizes { sender: 14, receiver: 11 };

fn items(role: Role) -> Vec<Item> {
    let (salt, size) = if role == Role::Sender { (1, SIZES.sender) } else { (2, SIZES.receiver) };
    (0..size).map(|i| ((i as Item) << 96) | (if i < COMMON { 7 } else { salt } << 8)).collect()
}

/// A target of two parties, each of which has its items.
fn target<A: Send, B: Send>(
    sender: impl Fn(&mut Session, &[Item]) -> Result<A, PsiError> + Send + Sync + RefUnwindSafe + 'static,
    receiver: impl Fn(&mut Session, &[Item]) -> Result<B, PsiError> + Send + Sync + RefUnwindSafe + 'static,
) -> Target {
    Box::new(move |network: &Network<'_>| {
        let (sent, received) = network
            .run(|session| sender(session, &items(Role::Sender)), |session| receiver(session, &items(Role::Receiver)));
        sent.is_ok() && received.is_ok()
    })
}

/// A whole intersection that both parties learn.
fn intersection(protocol: impl Protocol + RefUnwindSafe + 'static) -> Target {
    let (protocol, again) = {
        let shared = Arc::new(protocol);
        (Arc::clone(&shared), shared)
    };
    let sender = move |session: &mut Session, items: &[Item]| {
        let mut prepared = protocol.setup(Role::Sender, session, RECEIVER)?;
        intersect(prepared.as_mut(), Learns::Both, session, RECEIVER, items, SIZES)
    };
    let receiver = move |session: &mut Session, items: &[Item]| {
        let mut prepared = again.setup(Role::Receiver, session, SENDER)?;
        let found = intersect(prepared.as_mut(), Learns::Both, session, SENDER, items, SIZES)?;
        let wrong = found.iter().any(|&item| item as usize >= COMMON);
        assert!(!wrong || again.adversary() == Adversary::SemiHonest, "a changed message made a match");
        Ok(found)
    };
    target(sender, receiver)
}

fn shared_join() -> [Target; 2] {
    let shape = Shape { rows: SIZES, columns: Sizes { sender: 1, receiver: 1 } };
    let identifiers = |items: &[Item]| items.iter().copied().map(Some).collect::<Vec<_>>();
    let ids = move |session: &mut Session, items: &[Item]| {
        let (peer, role) = other(session);
        multi_key::run(session, peer, role, &identifiers(items), shape)
    };
    let shares = move |session: &mut Session, items: &[Item]| {
        let (peer, role) = other(session);
        let payload = [vec![3; items.len()]];
        let table = ps3i::Table { identifiers: &identifiers(items), payload: &payload };
        ps3i::run(session, peer, role, table, shape, Sizes { sender: 1, receiver: 1 }, Rule::Single)
    };
    [target(ids, ids), target(shares, shares)]
}

/// The peer and this party's role.
fn other(session: &Session) -> (PartyId, Role) {
    if session.me() == SENDER { (RECEIVER, Role::Sender) } else { (SENDER, Role::Receiver) }
}

fn unbalanced() -> Target {
    target(
        |session, items| {
            let (mut set, published) = PreparedSet::prepare(items, 100)?;
            send_set(session, RECEIVER, &published)?;
            set.answer(session, RECEIVER, SIZES.receiver)
        },
        |session, items| {
            let bytes = receive_set(session, SENDER, SIZES.sender as u32, 100)?;
            PublishedSet::from_bytes(&bytes)?.query(session, SENDER, items)
        },
    )
}

fn sums() -> Target {
    let sums = Some(Sums { columns: 1, to: Role::Receiver, least: 1 });
    target(
        move |session, items| cardinality_sum::send(session, RECEIVER, items, &[vec![1; items.len()]], SIZES, sums),
        move |session, items| cardinality_sum::receive(session, SENDER, items, SIZES, sums),
    )
}

fn permuted_shares() -> Target {
    target(
        |session, items| Owner::setup(session, RECEIVER)?.share(session, RECEIVER, &vec![9; items.len()]),
        |session, _| {
            let order: Vec<u32> = (0..SIZES.sender as u32).rev().collect();
            Permuter::setup(session, SENDER)?.share(session, SENDER, &order)
        },
    )
}

/// The owner of each role; the receiver leads. All messages are between the leader and one owner, however many owners
/// there are.
fn owners() -> Target {
    let play = |session: &mut Session, items: &[Item]| {
        let sizes = vec![SIZES.sender, SIZES.receiver];
        let recipients = vec![SENDER, RECEIVER];
        multi_party::intersect(session, &multi_party::Owners { sizes, leader: RECEIVER, recipients }, items)
    };
    target(play, play)
}

fn symmetric() -> [(&'static str, Target); 4] {
    let theirs = |role| if role == Role::Sender { SIZES.receiver } else { SIZES.sender };
    let by_group = move |session: &mut Session, items: &[Item]| {
        let (peer, role) = other(session);
        private_id::run(session, peer, items, theirs(role))
    };
    let by_oprf = move |session: &mut Session, items: &[Item]| {
        let (peer, role) = other(session);
        private_id_oprf::run(session, peer, role, items, theirs(role))
    };
    let binned = move |session: &mut Session, items: &[Item]| {
        let (peer, role) = other(session);
        let shape = tacit_mpc::Shape { bits: 64, r64: 1, ..Default::default() };
        let payload = Block::zeros(tacit_mpc::Shape { rows: items.len(), ..shape });
        CircuitPsi::new(SIZES, Payloads { sender: shape, receiver: shape }).bin(role, session, peer, items, &payload)
    };
    let key = |session: &mut Session, _: &[Item]| tokens::agree_key(session);
    [
        ("Private-ID by Diffie-Hellman", target(by_group, by_group)),
        ("Private-ID by OPRF", target(by_oprf, by_oprf)),
        ("circuit-PSI", target(binned, binned)),
        ("the key of a run", target(key, key)),
    ]
}

#[test]
fn no_message_of_a_peer_makes_a_panic() {
    let [ids, shares] = shared_join();
    let mut targets = vec![
        ("dh", intersection(DhPsi { bins: 1 })),
        ("kkrt", intersection(Kkrt { bins: 1 })),
        ("vole", intersection(VolePsi { variant: Variant::Fast, bins: 1 })),
        ("vole-compact", intersection(VolePsi { variant: Variant::Compact, bins: 1 })),
        ("vole-malicious", intersection(VolePsi { variant: Variant::Malicious, bins: 1 })),
        ("ids by several keys", ids),
        ("PS3I", shares),
        ("unbalanced", unbalanced()),
        ("sums", sums()),
        ("permuted shares", permuted_shares()),
        ("many owners", owners()),
    ];
    targets.extend(symmetric());
    fuzz(&targets);
}
