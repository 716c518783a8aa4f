//! Parties that are processes or hosts, joined by TCP under TLS 1.3 with mutual authentication.
//!
//! Every ordered pair of parties has a connection of its own that carries frames in one direction: the sender dials,
//! the receiver accepts. So each connection is used by one thread only (a writer that encrypts, a reader that
//! decrypts), and both directions use both cores. A connection carries, in this order: the TLS handshake, in which each
//! side compares the other's certificate with the one agreed for it; both [`Hello`]s; frames of the dialler. Parties
//! may have two sessions with each other ([`connect_two`]): the dialler's hello says of which one the connection is.

mod accept;
mod callers;
mod dial;
mod exporter;
mod group;
mod handshake;
mod hello;
mod identity;
mod incoming;
mod link;
mod outbox;
mod outgoing;
mod parley;
mod reader;
mod rendezvous;
mod socket;
mod tls;

pub use hello::Hello;
pub use identity::Identity;

use crate::error::NetError;
use crate::options::Options;
use crate::session::Session;
use group::Sessions;
use std::net::TcpListener;

/// Where a party is and how it proves who it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The party's name, different from every other one's.
    pub name: String,
    /// `host:port` on which the party listens and under which the others dial it.
    pub address: String,
    /// The certificate agreed for the party, as PEM. Not used with [`crate::Security::PlaintextForBenchmarks`].
    pub certificate_pem: String,
}

/// Listen on exactly `address`.
///
/// # Errors
/// [`NetError::BadConfiguration`] if the address names no host and port, or cannot be bound here.
pub fn listen(address: &str) -> Result<TcpListener, NetError> {
    let failed = |detail: String| NetError::BadConfiguration { detail };
    if address.ends_with(":0") {
        return Err(failed(format!("address {address} has port 0; name the port that the other parties dial")));
    }
    TcpListener::bind(address).map_err(|error| {
        failed(format!("this party cannot listen on its address {address} ({error}); free the port or choose another"))
    })
}

/// Join the group `parties` as number `me`: listen on the own address, dial every other party until all are connected,
/// compare keys, versions and plans.
///
/// # Errors
/// [`NetError::BadConfiguration`] before anything is sent; [`NetError::NotReachable`] after
/// [`Options::connect_timeout`]; [`NetError::WrongKey`], [`NetError::DifferentVersion`] and [`NetError::DifferentPlan`]
/// at both parties that they concern; [`NetError::Aborted`], [`NetError::Gone`] or [`NetError::TimedOut`] when a peer
/// fails meanwhile. The step of these errors is `connect`.
pub fn connect(
    parties: &[Endpoint],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
) -> Result<Session, NetError> {
    let own = own(parties, me)?;
    connect_with_listener(listen(&own.address)?, parties, me, identity, hello, options)
}

/// As [`connect`], with a listener that exists already: for callers that let the system choose free ports.
///
/// # Errors
/// Those of [`connect`].
pub fn connect_with_listener(
    listener: TcpListener,
    parties: &[Endpoint],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
) -> Result<Session, NetError> {
    let sessions = rendezvous::join(listener, parties, me, identity, hello, options, among(parties, 1))?;
    Ok(sessions.into_iter().next().expect("as many sessions as asked for"))
}

/// As [`connect`], two sessions between the same parties: each with connections of its own, dialled at the same
/// addresses and compared in the same way. They begin together, share shaped links, and fail each by itself.
///
/// # Errors
/// Those of [`connect`].
pub fn connect_two(
    parties: &[Endpoint],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
) -> Result<[Session; 2], NetError> {
    let own = own(parties, me)?;
    connect_two_with_listener(listen(&own.address)?, parties, me, identity, hello, options)
}

/// As [`connect_two`], with a listener that exists already.
///
/// # Errors
/// Those of [`connect`].
pub fn connect_two_with_listener(
    listener: TcpListener,
    parties: &[Endpoint],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
) -> Result<[Session; 2], NetError> {
    let sessions = rendezvous::join(listener, parties, me, identity, hello, options, among(parties, 2))?;
    Ok(<[Session; 2]>::try_from(sessions).expect("as many sessions as asked for"))
}

/// As [`connect`] and [`connect_two`], with clients: the first `nodes` parties have as many sessions with each other,
/// and all nodes one with all others, which have no links among them. A node has it beside its first session
/// ([`Session::clients`]); it is a client's only one. All nodes have compared what they agree on with everybody before
/// the first session begins.
///
/// # Errors
/// Those of [`connect`].
pub fn connect_with_clients(
    parties: &[Endpoint],
    [nodes, sessions]: [usize; 2],
    me: usize,
    identity: Identity,
    hello: Hello,
    options: &Options,
) -> Result<Vec<Session>, NetError> {
    let own = own(parties, me)?;
    let sessions = Sessions { nodes, among_nodes: sessions };
    rendezvous::join(listen(&own.address)?, parties, me, identity, hello, options, sessions)
}

fn among(nodes: &[Endpoint], sessions: usize) -> Sessions {
    Sessions { nodes: nodes.len(), among_nodes: sessions }
}

fn own(parties: &[Endpoint], me: usize) -> Result<&Endpoint, NetError> {
    parties.get(me).ok_or_else(|| NetError::BadConfiguration {
        detail: format!("there is no party number {me} among {}", parties.len()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Security, keys};
    use std::thread;

    #[test]
    fn another_version_is_named_at_both_sides() {
        let names = ["alice", "bob"];
        let listeners = names.map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let pairs = names.map(|name| keys::generate(name).expect("randomness"));
        let parties = [0, 1].map(|party| Endpoint {
            name: names[party].to_owned(),
            address: listeners[party].local_addr().expect("bound").to_string(),
            certificate_pem: pairs[party].1.clone(),
        });
        let mut newer = Hello::new([0; 32], "rep3");
        newer.version = "9.0.0".to_owned();
        let options = Options { security: Security::MutualTls, ..Options::default() };
        let join = &|me: usize, listener, hello| {
            let identity = Identity::from_pem(&pairs[me].0, &pairs[me].1).expect("our own PEM");
            connect_with_listener(listener, &parties, me, identity, hello, &options).expect_err("versions differ")
        };
        let [left, right] = listeners;
        let errors = thread::scope(|scope| {
            let right = scope.spawn(move || join(1, right, newer));
            [join(0, left, Hello::new([0; 32], "rep3")), right.join().expect("no panic")]
        });
        for (error, peer) in errors.iter().zip(["bob", "alice"]) {
            assert!(matches!(error, NetError::DifferentVersion { .. }), "{error}");
            assert_eq!((error.peer(), error.step()), (Some(peer), Some("connect")));
        }
    }
}
