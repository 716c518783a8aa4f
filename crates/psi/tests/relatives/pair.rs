//! Two parties in this process, one thread each, and random sets from a printed seed.

use std::sync::mpsc::channel;
use std::thread;
use tacit_math::{Prg, permutation};
use tacit_net::{Message, Options, PartyId, Record, Session, Traffic, memory};
use tacit_psi::Item;

/// The party that tests give the role of sender.
pub const SENDER: PartyId = PartyId(0);
/// The party that tests give the role of receiver.
pub const RECEIVER: PartyId = PartyId(1);

/// What one party did: its result, what was sent by both, and each message.
pub struct Party<T> {
    pub result: T,
    pub traffic: Traffic,
    pub messages: Vec<Message>,
}

/// Runs both sides, the sender's first, and closes both sessions.
pub fn run<A: Send, B: Send>(
    sender: impl FnOnce(&mut Session) -> A + Send,
    receiver: impl FnOnce(&mut Session) -> B + Send,
) -> (Party<A>, Party<B>) {
    let options = Options { record: Record::Sizes, ..Options::default() };
    let [a, b]: [Session; 2] = memory::mesh(&["sender", "receiver"], &options).try_into().expect("two parties");
    thread::scope(|scope| {
        let sender = scope.spawn(move || party(a, sender));
        let receiver = scope.spawn(move || party(b, receiver));
        (sender.join().expect("the sender"), receiver.join().expect("the receiver"))
    })
}

fn party<T>(mut session: Session, body: impl FnOnce(&mut Session) -> T) -> Party<T> {
    let result = body(&mut session);
    let total = session.meter().snapshot().total;
    let sender = Traffic { rounds: total.rounds, sender: total.bytes_sent, receiver: total.bytes_received };
    let traffic = if session.me() == SENDER { sender } else { sender.swapped() };
    let messages = session.transcript().expect("recorded").messages();
    session.close().expect("an orderly end");
    Party { result, traffic, messages }
}

/// Runs an honest receiver against a sender that sends these bytes in each round; what the receiver returns.
pub fn against<B: Send>(rounds: Vec<Vec<u8>>, receiver: impl FnOnce(&mut Session) -> B + Send) -> B {
    let [mut a, mut b]: [Session; 2] =
        memory::mesh(&["sender", "receiver"], &Options::default()).try_into().expect("two parties");
    let (done, finished) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            for bytes in rounds {
                a.next_round();
                a.send(RECEIVER, bytes).expect("the receiver listens");
            }
            // The session stays open until the receiver has ended.
            let _ = finished.recv();
        });
        let result = receiver(&mut b);
        drop(done);
        result
    })
}

/// A generator whose seed is printed; `TACIT_SEED` replays a run.
pub fn generator(name: &str) -> Prg {
    Prg::new(&tacit_views::seed(name))
}

/// Two shuffled sets of distinct items with `common` in both.
pub fn sets(prg: &mut Prg, sizes: (usize, usize), common: usize) -> (Vec<Item>, Vec<Item>) {
    let mut sender: Vec<Item> = prg.vector(sizes.0);
    let mut receiver: Vec<Item> = prg.vector(sizes.1);
    receiver[..common].copy_from_slice(&sender[..common]);
    for set in [&mut sender, &mut receiver] {
        let order = permutation::random(set.len(), prg);
        *set = permutation::gather(set, &order);
    }
    (sender, receiver)
}

/// Sizes of both sets and of their intersection at which protocols break.
pub const SIZES: [((usize, usize), usize); 9] = [
    ((0, 0), 0),
    ((0, 3), 0),
    ((4, 0), 0),
    ((1, 1), 0),
    ((1, 1), 1),
    ((7, 9), 4),
    ((65, 64), 64),
    ((1, 300), 1),
    ((257, 255), 0),
];
