//! Two parties in this process, one thread each.

use std::thread;
use tacit_math::Prg;
use tacit_net::{Counters, Options, PartyId, Session, memory};

pub const ALICE: PartyId = PartyId(0);
pub const BOB: PartyId = PartyId(1);

/// Runs both sides and closes both sessions; each side's result comes with its counters.
pub fn run<A: Send, B: Send>(
    alice: impl FnOnce(&mut Session) -> A + Send,
    bob: impl FnOnce(&mut Session) -> B + Send,
) -> ((A, Counters), (B, Counters)) {
    let [a, b]: [Session; 2] = memory::mesh(&["alice", "bob"], &Options::default()).try_into().expect("two parties");
    thread::scope(|scope| {
        let alice = scope.spawn(move || party(a, alice));
        let bob = scope.spawn(move || party(b, bob));
        (alice.join().expect("alice"), bob.join().expect("bob"))
    })
}

fn party<T>(mut session: Session, body: impl FnOnce(&mut Session) -> T) -> (T, Counters) {
    session.enter("protocol");
    let result = body(&mut session);
    session.leave();
    let counters = session.meter().snapshot().under("protocol");
    session.close().expect("an orderly end");
    (result, counters)
}

/// Rounds and bytes sent.
pub fn cost(counters: &Counters) -> (u64, u64) {
    (counters.rounds, counters.bytes_sent)
}

/// A generator whose seed is printed; `TACIT_SEED` replays a run.
pub fn generator(name: &str) -> Prg {
    Prg::new(&tacit_views::seed(name))
}
