//! Two parties in this process, one thread each.

use std::thread;
use tacit_math::{Prg, Seed};
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
    let seed = std::env::var("TACIT_SEED").ok().and_then(|s| u128::from_str_radix(&s, 16).ok());
    let seed = seed.map_or_else(|| *Seed::random().expect("randomness").expose(), u128::to_be_bytes);
    println!("{name}: rerun with TACIT_SEED={:032x}", u128::from_be_bytes(seed));
    Prg::new(&Seed::from_bytes(seed))
}
