//! Two parties whose sessions record what messages say, and inputs that are drawn anew for each run.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use tacit_math::Prg;
use tacit_net::{Options, PartyId, Record, Session, memory};
use tacit_psi::{Item, Prepared, Protocol, Role, Sizes};
use tacit_views::{View, play, seed};

/// What both parties saw and returned, by run.
pub struct Played<A, B> {
    pub sender: Vec<(View, A)>,
    pub receiver: Vec<(View, B)>,
}

/// Runs both sides `runs` times; each gets its session, its peer and the number of the run.
pub fn play_pair<A: Send, B: Send>(
    runs: usize,
    sender: impl Fn(&mut Session, PartyId, usize) -> A + Sync,
    receiver: impl Fn(&mut Session, PartyId, usize) -> B + Sync,
) -> Played<A, B> {
    let played = play(&["sender", "receiver"], runs, |mut session, run| {
        let returned = match session.me() {
            PartyId(0) => (Some(sender(&mut session, PartyId(1), run)), None),
            _ => (None, Some(receiver(&mut session, PartyId(0), run))),
        };
        (session, returned)
    });
    let [first, second]: [Vec<_>; 2] = played.try_into().ok().expect("two parties");
    Played {
        sender: first.into_iter().map(|(view, (returned, _))| (view, returned.expect("the sender's"))).collect(),
        receiver: second.into_iter().map(|(view, (_, returned))| (view, returned.expect("the receiver's"))).collect(),
    }
}

/// A generator for the inputs of a run.
pub fn inputs(purpose: &str, run: usize) -> Prg {
    Prg::new(&seed(purpose).derive(&run.to_string()))
}

/// Both sides once, in a session that nobody records; a side may leave the other alone.
pub fn pair<A: Send, B: Send>(
    sender: impl FnOnce(&mut Session, PartyId) -> A + Send,
    receiver: impl FnOnce(&mut Session, PartyId) -> B + Send,
) -> (A, B) {
    let sessions = memory::mesh(&["sender", "receiver"], &Options::default());
    let [a, b]: [Session; 2] = sessions.try_into().expect("two parties");
    let ((of_a, at_b), (of_b, at_a)) = (channel(), channel());
    thread::scope(|scope| {
        let sender = scope.spawn(move || lone(a, PartyId(1), sender, of_a, &at_a));
        let receiver = scope.spawn(move || lone(b, PartyId(0), receiver, of_b, &at_b));
        (sender.join().expect("the sender"), receiver.join().expect("the receiver"))
    })
}

/// One side: its session stays open until the other side is done too, which may still have to receive. A side that
/// fails is known at once.
fn lone<T>(
    mut session: Session,
    peer: PartyId,
    side: impl FnOnce(&mut Session, PartyId) -> T,
    done: Sender<()>,
    peers: &Receiver<()>,
) -> T {
    let result = side(&mut session, peer);
    drop(done);
    let _ = peers.recv();
    result
}

/// One setup, then `runs` runs of a protocol between honest parties; `sets` gives the sender's and the receiver's items
/// of a run.
pub fn play_online(
    protocol: &dyn Protocol,
    runs: usize,
    sets: impl Fn(usize) -> [Vec<Item>; 2] + Sync,
) -> [Vec<(View, ())>; 2] {
    let set_up =
        |role| move |session: &mut Session, peer: PartyId| protocol.setup(role, session, peer).expect("set up");
    let online = |prepared: &mut Box<dyn Prepared>, session: &mut Session, _: PartyId, run: usize| {
        let sets = sets(run);
        let sizes = Sizes { sender: sets[0].len(), receiver: sets[1].len() };
        let own = session.me().0;
        prepared.online(session, &sets[own], sizes).map(drop).expect("an outcome");
    };
    let Played { sender, receiver } = play_once(set_up(Role::Sender), set_up(Role::Receiver), runs, online, online);
    [sender, receiver]
}

/// Both sides set up once, then `runs` calls of each, whose views and results are kept.
pub fn play_once<A: Send, B: Send, T: Send, U: Send>(
    set_up_sender: impl Fn(&mut Session, PartyId) -> A + Sync,
    set_up_receiver: impl Fn(&mut Session, PartyId) -> B + Sync,
    runs: usize,
    sender: impl Fn(&mut A, &mut Session, PartyId, usize) -> T + Sync,
    receiver: impl Fn(&mut B, &mut Session, PartyId, usize) -> U + Sync,
) -> Played<T, U> {
    let options = Options { record: Record::ContentsForTests, ..Options::default() };
    let [a, b]: [Session; 2] = memory::mesh(&["sender", "receiver"], &options).try_into().expect("two parties");
    thread::scope(|scope| {
        let sender = scope.spawn(|| calls(a, PartyId(1), &set_up_sender, runs, &sender));
        let receiver = scope.spawn(|| calls(b, PartyId(0), &set_up_receiver, runs, &receiver));
        Played { sender: sender.join().expect("the sender"), receiver: receiver.join().expect("the receiver") }
    })
}

fn calls<P, T>(
    mut session: Session,
    peer: PartyId,
    set_up: impl Fn(&mut Session, PartyId) -> P,
    runs: usize,
    call: impl Fn(&mut P, &mut Session, PartyId, usize) -> T,
) -> Vec<(View, T)> {
    let transcript = session.transcript().expect("recorded");
    let mut party = set_up(&mut session, peer);
    drop(View::of(&transcript));
    let mut seen = Vec::with_capacity(runs);
    for run in 0..runs {
        let returned = call(&mut party, &mut session, peer, run);
        seen.push((View::of(&transcript), returned));
    }
    session.close().expect("an orderly end");
    seen
}
