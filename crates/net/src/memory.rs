//! Parties that are threads of one process: the transport of tests and of single-process runs.

use crate::hub::{Hub, apart};
use crate::meter::Meter;
use crate::options::Options;
use crate::pool::Pool;
use crate::route::{Links, MemoryRoute, Route};
use crate::secret::Chain;
use crate::session::Session;
use crate::tape::{Tape, Taped};
use std::sync::Arc;

/// Connect one party per name; element `i` is the session of party `i`. Each is to be used by a thread of its own.
///
/// Messages move without a copy, and their buffers return to whichever party asks next. Counting, rounds, shaping and
/// failures are those of the other transports.
///
/// # Panics
/// If the operating system gives no randomness.
pub fn mesh(names: &[&str], options: &Options) -> Vec<Session> {
    joined(&hubs(names, options), options, random())
}

/// As [`mesh`], with two sessions for each party, which share shaped links and nothing else.
pub fn mesh_of_two(names: &[&str], options: &Options) -> Vec<[Session; 2]> {
    let hubs = hubs(names, options);
    of_two(&hubs, options, random())
}

/// Nodes with as many sessions among them, one or two, and clients, each of which has one session with all nodes. The
/// first session of a node has that with the clients beside it ([`Session::clients`]).
///
/// # Panics
/// If there are no nodes or the operating system gives no randomness.
pub fn mesh_with_clients(nodes: &[&str], clients: &[&str], sessions: usize, options: &Options) -> Vec<Vec<Session>> {
    let (among, drawn) = (hubs(nodes, options), random());
    let mut ends: Vec<Vec<Session>> = match sessions {
        1 => joined(&among, options, drawn).into_iter().map(|session| vec![session]).collect(),
        _ => of_two(&among, options, drawn).into_iter().map(Vec::from).collect(),
    };
    if clients.is_empty() {
        return ends;
    }
    let names: Vec<String> = nodes.iter().chain(clients).map(|&name| name.to_owned()).collect();
    let hub =
        |me| Hub::new(names.clone(), options.shape, options.pulse()).apart_from(apart(me, nodes.len(), names.len()));
    let hubs: Vec<_> = (0..names.len()).map(|me| Arc::new(hub(me))).collect();
    for (me, session) in joined(&hubs, options, drawn).into_iter().enumerate() {
        match ends.get_mut(me) {
            Some(sessions) => sessions[0].attach(session),
            None => ends.push(vec![session]),
        }
    }
    ends
}

/// As [`mesh`], where a tape keeps what passes between one party and its peers. With the chains of that party and what
/// the nodes have drawn.
pub(crate) fn taped(
    names: &[&str],
    options: &Options,
    recorded: usize,
    tape: &Arc<Tape>,
) -> (Vec<Session>, Vec<Option<Chain>>, [u8; 32]) {
    let (hubs, drawn, chains) = (hubs(names, options), random(), chains(names.len()));
    let same = chains[recorded].iter().map(|chain| chain.as_ref().map(Chain::again)).collect();
    let way = |me: usize, peer: usize, route: Box<dyn Route>| match [me, peer].contains(&recorded) {
        true => Box::new(Taped { route, tape: Arc::clone(tape), peer: me + peer - recorded, sends: me == recorded }),
        false => route,
    };
    (linked(&hubs, options, drawn, chains, way), same, drawn)
}

fn hubs(names: &[&str], options: &Options) -> Vec<Arc<Hub>> {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    names.iter().map(|_| Arc::new(Hub::new(names.clone(), options.shape, options.pulse()))).collect()
}

/// What the nodes have drawn together.
fn random() -> [u8; 32] {
    let mut drawn = [0; 32];
    getrandom::fill(&mut drawn[..]).expect("randomness of the operating system");
    drawn
}

fn of_two(hubs: &[Arc<Hub>], options: &Options, drawn: [u8; 32]) -> Vec<[Session; 2]> {
    let others: Vec<_> = hubs.iter().map(|hub| Arc::new(hub.beside())).collect();
    joined(hubs, options, drawn).into_iter().zip(joined(&others, options, drawn)).map(<[Session; 2]>::from).collect()
}

fn joined(hubs: &[Arc<Hub>], options: &Options, drawn: [u8; 32]) -> Vec<Session> {
    linked(hubs, options, drawn, chains(hubs.len()), |_, _, route| route)
}

/// `way`: what the route of a party to a peer becomes.
fn linked(
    hubs: &[Arc<Hub>],
    options: &Options,
    drawn: [u8; 32],
    mut chains: Vec<Vec<Option<Chain>>>,
    way: impl Fn(usize, usize, Box<dyn Route>) -> Box<dyn Route>,
) -> Vec<Session> {
    let pool = Arc::<Pool>::default();
    let mut session = |me: usize| {
        let route = |peer: usize| -> Option<Box<dyn Route>> {
            let linked = peer != me && !hubs[me].is_apart(peer);
            linked.then(|| way(me, peer, Box::new(MemoryRoute { me, peer: Arc::clone(&hubs[peer]) })))
        };
        let routes = (0..hubs.len()).map(route).collect();
        let chains = std::mem::take(&mut chains[me]);
        let links = Links { hub: Arc::clone(&hubs[me]), routes, pool: Arc::clone(&pool), chains, drawn };
        Session::new(me, links, Arc::new(Meter::new()), options.record)
    };
    (0..hubs.len()).map(&mut session).collect()
}

/// What each party has in common with each other one.
fn chains(parties: usize) -> Vec<Vec<Option<Chain>>> {
    let mut chains: Vec<Vec<Option<Chain>>> = Vec::new();
    for _ in 0..parties {
        let mut own = Vec::with_capacity(parties);
        for earlier in &mut chains {
            let [a, b] = Chain::pair().expect("randomness of the operating system");
            earlier.push(Some(a));
            own.push(Some(b));
        }
        own.push(None);
        chains.push(own);
    }
    chains
}
