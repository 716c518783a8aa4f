//! What a message takes between the parties of a federation, measured on a session as a run has.
//!
//! Pairs are measured one after another: round trips of small messages, then large messages in both directions at once,
//! as nodes exchange them. All messages are zeros. In the end everybody tells everybody, so that all know the same
//! numbers.

use std::ops::RangeInclusive;
use std::time::Instant;

use tacit_net::tcp::{self, Hello, Identity};
use tacit_net::{AbortHandle, Link, NetError, PartyId, Session};

use super::fit::median;
use crate::connection::Network;
use crate::error::{Result, RunError};

/// How parties name what they are about to do: others run a plan, on an engine.
const NAME: &str = "calibrate --link";

/// Domain of the digest of who is measured.
const PARTIES: &str = "tacit 2026-11-24 run: parties of a measured link";

/// Round trips that count. Their median does.
const TRIPS: usize = 50;

/// Round trips before them, in which the other one may still measure another link.
const FIRST_TRIPS: usize = 5;

/// Bytes of a large message.
const MESSAGE: usize = 64 << 10;

/// Large messages in each direction at first.
const FEW: usize = 4;

/// Large messages in each direction at most: a gigabyte.
const MANY: usize = 1 << 14;

/// Large messages that may be under way: enough for 600 MB/s and 0.1 s of latency.
const AHEAD: usize = 1 << 10;

/// The latencies in seconds, and the bandwidths in bytes a second, that a peer may tell: what it tells is declared.
const LATENCIES: RangeInclusive<f64> = 1e-7..=60.0;
const BANDWIDTHS: RangeInclusive<f64> = 1e4..=1e13;

/// Seconds after which an exchange of large messages was long enough. Until then there are twice as many each time, so
/// that the last one begins on a connection that has found its speed.
const LONG: f64 = 1.0;

/// A link between two parties, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Their names.
    pub names: [String; 2],
    /// Latency, and the bandwidth of the slower direction.
    pub link: Link,
}

/// The links of all pairs of parties.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    /// Each pair once, in the order of the parties.
    pub pairs: Vec<Pair>,
    /// The highest latency and the lowest bandwidth of all pairs.
    pub worst: Link,
}

/// Connects to all parties of `network` and measures the links between them. watch: gets what ends it from elsewhere.
///
/// # Errors
/// When the parties do not come together, one of them is lost, or one tells numbers that nobody measures.
pub fn measure(network: Network, watch: impl FnOnce(AbortHandle)) -> Result<Links> {
    let Network { parties, me, private_key_pem, options, .. } = network;
    let Some(own) = parties.iter().position(|party| party.name == me) else {
        return Err(RunError::NoPart { party: me });
    };
    let identity = Identity::from_pem(&*private_key_pem, &parties[own].certificate_pem)?;
    let mut who = blake3::Hasher::new_derive_key(PARTIES);
    for party in &parties {
        who.update(&(party.name.len() as u64).to_le_bytes()).update(party.name.as_bytes());
    }
    let hello = Hello::new(*who.finalize().as_bytes(), NAME);
    let session = tcp::connect(&parties, own, identity, hello, &options)?;
    watch(session.abort_handle());
    among(session)
}

/// The links between the parties of a session, all of which call this.
///
/// # Errors
/// As [`measure`].
pub fn among(mut session: Session) -> Result<Links> {
    session.enter("link");
    let (me, parties) = (session.me(), session.parties());
    let pairs = (0..parties).flat_map(|first| (first + 1..parties).map(move |second| [first, second].map(PartyId)));
    let mut own = Vec::new();
    for pair in pairs.clone() {
        own.extend(between(&mut session, pair)?);
    }
    session.next_round();
    for peer in (0..parties).map(PartyId).filter(|&peer| peer != me) {
        own.iter().try_for_each(|&link| tell(&mut session, peer, link))?;
    }
    let mut own = own.into_iter();
    let mut found = Vec::new();
    for [first, second] in pairs {
        let told = if first == me { own.next() } else { None };
        let link = told.map_or_else(|| hear(&mut session, first), Ok)?;
        found.push(Pair { names: [first, second].map(|party| session.name(party).to_owned()), link });
    }
    let best = Link { latency: 0.0, bandwidth: f64::INFINITY };
    let worst = found.iter().fold(best, |worst, pair| worse(worst, pair.link));
    session.leave();
    session.close()?;
    Ok(Links { pairs: found, worst })
}

/// The link of a pair, at its first party. One round for all messages: others do not know how many it takes.
fn between(session: &mut Session, [first, second]: [PartyId; 2]) -> Result<Option<Link>> {
    session.next_round();
    let begins = session.me() == first;
    if !begins && session.me() != second {
        return Ok(None);
    }
    let peer = if begins { second } else { first };
    let latency = round_trip(session, peer, begins)? / 2.0;
    let mut messages = FEW;
    loop {
        let (seconds, bandwidth) = exchange(session, peer, messages)?;
        // The clocks of both count, so that nobody can make the other one go on for long.
        let mine = Link { latency: seconds, bandwidth };
        tell(session, peer, mine)?;
        let both = worse(mine, hear(session, peer)?);
        if both.latency >= LONG || messages == MANY {
            return Ok(begins.then_some(Link { latency, ..both }));
        }
        messages *= 2;
    }
}

/// Seconds of a round trip, the median of many.
fn round_trip(session: &mut Session, peer: PartyId, begins: bool) -> Result<f64> {
    let mut trips = Vec::with_capacity(FIRST_TRIPS + TRIPS);
    for _ in 0..FIRST_TRIPS + TRIPS {
        let begin = Instant::now();
        if begins {
            session.send(peer, vec![0])?;
        }
        session.recv(peer, &mut [0])?;
        if !begins {
            session.send(peer, vec![0])?;
        }
        trips.push(begin.elapsed().as_secs_f64());
    }
    Ok(median(trips.split_off(FIRST_TRIPS)))
}

/// Seconds that large messages take in both directions at once, and with how many bytes a second the last three
/// quarters of the peer's came.
fn exchange(session: &mut Session, peer: PartyId, messages: usize) -> Result<(f64, f64)> {
    let begin = Instant::now();
    let mut quarter = begin;
    for turn in 0..messages + AHEAD {
        if turn < messages {
            let mut message = session.buffer(MESSAGE);
            message.resize(MESSAGE, 0);
            session.send(peer, message)?;
            session.settle(peer, AHEAD * MESSAGE)?;
        }
        if (AHEAD..).contains(&turn) {
            session.recv_pieces(peer, MESSAGE, |_| ())?;
            if turn - AHEAD + 1 == messages / 4 {
                quarter = Instant::now();
            }
        }
    }
    let bytes = (messages - messages / 4) * MESSAGE;
    Ok((begin.elapsed().as_secs_f64(), bytes as f64 / quarter.elapsed().as_secs_f64().max(1e-9)))
}

fn worse(one: Link, other: Link) -> Link {
    Link { latency: one.latency.max(other.latency), bandwidth: one.bandwidth.min(other.bandwidth) }
}

/// Tells a peer of a link.
///
/// # Errors
/// When the connection is lost.
pub fn tell(session: &mut Session, peer: PartyId, link: Link) -> Result<()> {
    let numbers = [link.latency, link.bandwidth].map(f64::to_le_bytes);
    Ok(session.send(peer, numbers.concat())?)
}

/// What a peer tells of a link.
///
/// # Errors
/// When the connection is lost, or no link has such numbers.
pub fn hear(session: &mut Session, peer: PartyId) -> Result<Link> {
    let mut numbers = [[0; 8]; 2];
    session.recv(peer, numbers.as_flattened_mut())?;
    let [latency, bandwidth] = numbers.map(f64::from_le_bytes);
    if LATENCIES.contains(&latency) && BANDWIDTHS.contains(&bandwidth) {
        return Ok(Link { latency, bandwidth });
    }
    let detail = format!("it measured {latency} s and {bandwidth} bytes a second, which no link has");
    Err(NetError::Desynchronised { peer: session.name(peer).to_owned(), step: session.path().to_owned(), detail }
        .into())
}
