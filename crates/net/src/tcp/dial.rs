//! Dialling one peer until it answers.

use super::group::Group;
use super::handshake::{Met, Refusal};
use super::outgoing::Outgoing;
use crate::error::NetError;
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::thread;
use std::time::{Duration, Instant};

/// First and longest pause between attempts.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

/// Longest wait for an answer to one attempt.
const ANSWER: Duration = Duration::from_secs(5);

/// Dial `peer` for a session until it answers, the deadline passes or `over` says to stop (then `None`). `tried` is
/// told why each attempt failed.
pub(super) fn dial(
    group: &Group,
    (peer, session): (usize, usize),
    over: impl Fn() -> bool,
    tried: impl Fn(String),
) -> Option<Result<Met<Outgoing>, NetError>> {
    let mut pause = PAUSES.0;
    while !over() {
        match attempt(group, peer, session) {
            Ok(met) => return Some(Ok(met)),
            Err(Refusal::Unfit(error)) => return Some(Err(error)),
            Err(Refusal::Unreachable(reason)) => tried(reason),
        }
        thread::sleep(pause);
        pause = (2 * pause).min(PAUSES.1);
    }
    None
}

fn attempt(group: &Group, peer: usize, session: usize) -> Result<Met<Outgoing>, Refusal> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in group.addresses[peer].to_socket_addrs()? {
        let left = group.deadline.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.clamp(Duration::from_millis(100), ANSWER)) {
            Ok(socket) => return group.greet(socket, peer, session),
            Err(error) => last = error,
        }
    }
    Err(last.into())
}
