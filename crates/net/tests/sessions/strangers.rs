//! Whoever can reach a party's port, and is no party.

use crate::world::{Seat, seats};
use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use tacit_net::{Options, Session};

/// Connections that strangers hold at the first party.
const STRANGERS: usize = 64;

/// A run starts this soon whoever holds connections, on a machine that is busy.
const SOON: Duration = Duration::from_secs(12);

/// What a stranger does with its connection.
#[derive(Clone, Copy, Debug)]
enum Conduct {
    /// It says nothing.
    Idle,
    /// It begins a long TLS record and sends a byte of it now and then.
    Dripping,
}

impl Conduct {
    /// Hold connections at an address until `over`. Whoever is dropped comes again.
    fn besiege(self, address: &str, over: &AtomicBool) {
        let mut held: Vec<Option<TcpStream>> = (0..STRANGERS).map(|_| None).collect();
        while !over.load(Relaxed) {
            for place in &mut held {
                let stands = match (self, place.as_mut()) {
                    (_, None) => false,
                    (Self::Idle, Some(socket)) => is_open(socket),
                    (Self::Dripping, Some(socket)) => is_open(socket) && socket.write_all(&[0]).is_ok(),
                };
                if !stands {
                    *place = TcpStream::connect(address).ok();
                    if let (Self::Dripping, Some(socket)) = (self, place.as_mut()) {
                        let _ = socket.write_all(&[0x16, 3, 1, 0x3f, 0xff]);
                    }
                }
            }
            thread::sleep(Duration::from_millis(500));
        }
    }
}

fn is_open(socket: &TcpStream) -> bool {
    socket.set_nonblocking(true).expect("a socket");
    let closed = matches!(socket.peek(&mut [0]), Ok(0)) || socket.take_error().is_ok_and(|error| error.is_some());
    socket.set_nonblocking(false).expect("a socket");
    !closed
}

fn join_among_strangers(conduct: Conduct) {
    let seats = seats();
    let address = seats[0].parties[0].address.clone();
    let over = AtomicBool::new(false);
    let (options, start) = (Options { connect_timeout: SOON, ..Options::default() }, Instant::now());
    let sessions: Vec<Session> = thread::scope(|scope| {
        // The listener exists, so the strangers stand in line before the party answers anybody.
        let strangers = scope.spawn(|| conduct.besiege(&address, &over));
        thread::sleep(Duration::from_millis(300));
        let join = |seat: Seat| scope.spawn(|| seat.join(&options));
        let parties: Vec<_> = seats.into_iter().map(join).collect();
        let joined: Vec<_> = parties.into_iter().map(|party| party.join().expect("no party panics")).collect();
        over.store(true, Relaxed);
        strangers.join().expect("strangers do not panic");
        joined.into_iter().map(|session| session.unwrap_or_else(|error| panic!("{conduct:?}: {error}"))).collect()
    });
    assert!(start.elapsed() < SOON, "it took {:?}", start.elapsed());
    drop(sessions);
}

#[test]
fn idle_strangers_keep_no_run_from_starting() {
    join_among_strangers(Conduct::Idle);
}

#[test]
fn strangers_that_send_a_byte_now_and_then_keep_no_run_from_starting() {
    join_among_strangers(Conduct::Dripping);
}
