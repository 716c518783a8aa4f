//! What both ends of a new connection do before frames flow.

use super::group::Group;
use super::hello::Received;
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use super::tls;
use crate::error::NetError;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Longest time for the handshake of one connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a connection did not come about.
pub(super) enum Refusal {
    /// Nobody there, or not the party: worth another attempt.
    Unreachable(String),
    /// The party is there and will not fit at the next attempt either.
    Unfit(NetError),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Unreachable(error.to_string())
    }
}

impl Group {
    /// Make a dialled socket a connection of a session to `peer`.
    pub fn greet(&self, socket: TcpStream, peer: usize, session: usize) -> Result<Outgoing, Refusal> {
        self.prepare(&socket)?;
        let config = self.tls.as_ref().map(|tls| tls.clients[peer].clone());
        let located = |error| self.judge(error, peer);
        let mut outgoing = Outgoing::open(socket, config).map_err(located)?;
        outgoing.write(&self.hello_bytes[session], &[]).map_err(located)?;
        let theirs = Received::read(&mut outgoing.reading()).map_err(located)?;
        self.compare(&theirs, peer)?;
        outgoing.socket().set_read_timeout(None)?;
        outgoing.socket().set_write_timeout(None)?;
        Ok(outgoing)
    }

    /// Make an accepted socket a connection from a peer, and tell from which and of which session. `None` for a stranger: anybody may
    /// knock, and only a party of this group may end a session by being unfit for it.
    pub fn answer(&self, socket: TcpStream) -> Result<Option<(usize, usize, Incoming)>, NetError> {
        let Ok(spare) = socket.try_clone() else { return Ok(None) };
        match self.receive(socket) {
            Ok(met) => Ok(Some(met)),
            Err(refusal) => {
                drain(spare);
                match refusal {
                    Refusal::Unreachable(_) => Ok(None),
                    Refusal::Unfit(error) => Err(error),
                }
            }
        }
    }

    fn receive(&self, socket: TcpStream) -> Result<(usize, usize, Incoming), Refusal> {
        self.prepare(&socket)?;
        let mut incoming = Incoming::open(socket, self.tls.as_ref().map(|tls| tls.server.clone()))?;
        let proven = incoming.certificate().map(|shown| self.certificates.iter().position(|known| known == shown));
        incoming.reply(&self.hello_bytes[0])?;
        let theirs = Received::read(&mut incoming)?;
        let claimed = || self.names.iter().position(|name| Some(name.as_str()) == theirs.name());
        let stranger = || Refusal::Unreachable("a stranger".to_owned());
        let peer = proven.unwrap_or_else(claimed).filter(|&party| party != self.me).ok_or_else(stranger)?;
        self.compare(&theirs, peer)?;
        incoming.socket().set_read_timeout(Some(self.idle_timeout))?;
        incoming.socket().set_write_timeout(None)?;
        Ok((peer, theirs.session(), incoming))
    }

    fn prepare(&self, socket: &TcpStream) -> io::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let patience = left.clamp(Duration::from_millis(100), PATIENCE);
        socket.set_nonblocking(false)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))
    }

    fn compare(&self, theirs: &Received, peer: usize) -> Result<(), Refusal> {
        self.hello.compare(theirs, &self.names[peer]).map_err(Refusal::Unfit)?;
        match theirs.name() {
            Some(name) if name == self.names[peer] => Ok(()),
            other => {
                let detail = format!("the party there calls itself {:?}", other.unwrap_or_default());
                Err(self.wrong_key(peer, detail))
            }
        }
    }

    fn judge(&self, error: io::Error, peer: usize) -> Refusal {
        match tls::wrong_key(&error) {
            Some(detail) => self.wrong_key(peer, detail),
            None if error.kind() == io::ErrorKind::InvalidData => {
                Refusal::Unreachable(format!("what answers there is no party of this kind: {error}"))
            }
            None => error.into(),
        }
    }

    fn wrong_key(&self, peer: usize, detail: String) -> Refusal {
        Refusal::Unfit(NetError::WrongKey { peer: self.names[peer].clone(), step: String::new(), detail })
    }
}

/// Let the other side read why it is refused: closing over its unread bytes would reset the connection.
fn drain(mut socket: TcpStream) {
    let deadline = Instant::now() + Duration::from_secs(1);
    let _ = socket.flush();
    let _ = socket.shutdown(Shutdown::Write);
    let _ = socket.set_read_timeout(Some(Duration::from_secs(1)));
    while Instant::now() < deadline && socket.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}
