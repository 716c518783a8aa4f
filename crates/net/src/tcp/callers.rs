//! Callers that have yet to prove who they are.

use crate::lock::lock;
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Callers that are heard at once, beyond the connections that the group itself needs: in all, and from one network.
const STRANGERS: usize = 64;
const NEIGHBOURS: usize = 16;

/// Who is in the middle of a handshake. When there is no place for another caller, the oldest one of the network that
/// holds most places loses its own: whoever waits holds up nobody who does not.
pub(super) struct Callers {
    strangers: usize,
    neighbours: usize,
    /// Oldest first.
    unproven: Mutex<VecDeque<Caller>>,
    threads: AtomicUsize,
    admitted: AtomicUsize,
}

struct Caller {
    number: usize,
    network: IpAddr,
    socket: TcpStream,
}

/// A caller's place. It is free again when this is dropped.
pub(super) struct Place {
    callers: Arc<Callers>,
    number: usize,
}

impl Callers {
    /// Places for a group in which peers dial this party `expected` times.
    pub fn new(expected: usize) -> Arc<Self> {
        Arc::new(Self {
            strangers: STRANGERS + expected,
            neighbours: NEIGHBOURS + expected,
            unproven: Mutex::default(),
            threads: AtomicUsize::new(0),
            admitted: AtomicUsize::new(0),
        })
    }

    /// Whether the next caller has to wait. Callers that have lost their places and are about to leave count as being
    /// answered.
    pub fn full(&self) -> bool {
        self.threads.load(Relaxed) >= 2 * self.strangers
    }

    /// A place for a caller, whoever loses its own for it.
    pub fn admit(self: &Arc<Self>, socket: TcpStream, from: SocketAddr) -> Place {
        let network = network(from);
        let mut unproven = lock(&self.unproven);
        let held = |network| unproven.iter().filter(|caller| caller.network == network).count();
        let crowded = match held(network) >= self.neighbours {
            true => Some(network),
            false if unproven.len() < self.strangers => None,
            false => unproven.iter().rev().map(|caller| caller.network).max_by_key(|&network| held(network)),
        };
        let oldest = crowded.and_then(|crowded| unproven.iter().position(|caller| caller.network == crowded));
        if let Some(caller) = oldest.and_then(|oldest| unproven.remove(oldest)) {
            // Its thread reads the end of the connection and leaves.
            let _ = caller.socket.shutdown(Shutdown::Both);
        }
        let number = self.admitted.fetch_add(1, Relaxed);
        unproven.push_back(Caller { number, network, socket });
        self.threads.fetch_add(1, Relaxed);
        Place { callers: Arc::clone(self), number }
    }
}

impl Place {
    /// The caller has proven to be a party of the group: nobody takes its place, and it takes nobody's.
    pub fn proven(&self) {
        lock(&self.callers.unproven).retain(|caller| caller.number != self.number);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.proven();
        self.callers.threads.fetch_sub(1, Relaxed);
    }
}

/// What one stranger has many of counts as one: of IPv6, the network of 64 bits.
fn network(from: SocketAddr) -> IpAddr {
    match from.ip().to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Admits callers from these addresses, in this order, and tells which of them are still connected.
    fn standing(callers: &Arc<Callers>, from: &[&str]) -> Vec<bool> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let pairs: Vec<(TcpStream, Place)> = from
            .iter()
            .map(|from| {
                let far = TcpStream::connect(address).expect("a listener");
                let (near, _) = listener.accept().expect("a caller");
                (far, callers.admit(near, SocketAddr::new(from.parse().expect("an address"), 7)))
            })
            .collect();
        let stands = |(far, _place): &(TcpStream, Place)| {
            far.set_nonblocking(true).expect("a socket");
            far.peek(&mut [0]).is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock)
        };
        pairs.iter().map(stands).collect()
    }

    fn small() -> Arc<Callers> {
        let [threads, admitted] = std::array::from_fn(|_| AtomicUsize::new(0));
        Arc::new(Callers { strangers: 4, neighbours: 2, unproven: Mutex::default(), threads, admitted })
    }

    #[test]
    fn a_network_has_so_many_places_and_its_oldest_caller_leaves() {
        assert_eq!(standing(&small(), &["10.0.0.1", "10.0.0.1", "10.0.0.2", "10.0.0.1"]), [false, true, true, true]);
        let neighbours = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8::2", "2001:db8:0:1::1"];
        assert_eq!(standing(&small(), &neighbours), [false, true, true, true]);
        assert_eq!(standing(&small(), &["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1"]), [false, true, true]);
    }

    #[test]
    fn the_network_with_most_places_makes_room_for_another() {
        let (a, b, c, d) = ("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4");
        assert_eq!(standing(&small(), &[a, b, b, c, d]), [true, false, true, true, true]);
        let e = "10.0.0.5";
        assert_eq!(standing(&small(), &[a, b, c, d, e]), [false, true, true, true, true]);
    }

    #[test]
    fn who_has_proven_who_it_is_stays_and_leaves_room() {
        let callers = small();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let mut admitted = Vec::new();
        for _ in 0..3 {
            let far = TcpStream::connect(address).expect("a listener");
            let (near, from) = listener.accept().expect("a caller");
            let place = callers.admit(near, from);
            place.proven();
            admitted.push((far, place));
        }
        assert_eq!((callers.threads.load(Relaxed), lock(&callers.unproven).len()), (3, 0));
        admitted.clear();
        assert_eq!(callers.threads.load(Relaxed), 0);
        assert!(!callers.full());
    }
}
