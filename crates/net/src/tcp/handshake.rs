//! What both ends of a new connection do before frames flow.

use super::exporter::{Exported, Purpose};
use super::group::Group;
use super::hello::{End, Greeting, Opening};
use super::incoming::Incoming;
use super::outgoing::Outgoing;
use super::parley::Parley;
use super::socket::Socket;
use super::tls;
use crate::error::NetError;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// Longest time for the whole handshake of one connection, TLS and hellos.
const PATIENCE: Duration = Duration::from_secs(3);

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

/// A connection of a session with a peer that fits.
pub(super) struct Met<C> {
    pub peer: usize,
    pub session: usize,
    pub connection: C,
    /// The connection's part of what the two parties have in common.
    pub contribution: Exported,
    /// The peer's part of what the nodes draw together.
    pub part: [u8; 32],
}

impl Group {
    /// Make a dialled socket a connection of a session to `peer`.
    pub fn greet(&self, stream: TcpStream, peer: usize, session: usize) -> Result<Met<Outgoing>, Refusal> {
        let config = self.tls.as_ref().map(|tls| tls.clients[peer].clone());
        let outgoing = Outgoing::open(self.limited(stream)?, config).map_err(|error| self.judge(error, peer))?;
        let mut met = self.meet(outgoing, End::Dialler, session, Some(peer))?;
        met.connection.socket().release(None)?;
        Ok(Met { session, ..met })
    }

    /// Make an accepted socket a connection from a peer, and tell from which and of which session. `None` for a
    /// stranger: anybody may knock, and only a party of this group may end a session by being unfit for it. `proven` is
    /// told when it is none.
    pub fn answer(&self, stream: TcpStream, proven: impl FnOnce()) -> Result<Option<Met<Incoming>>, NetError> {
        let Ok(spare) = stream.try_clone() else { return Ok(None) };
        match self.receive(stream, proven) {
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

    fn receive(&self, stream: TcpStream, proven: impl FnOnce()) -> Result<Met<Incoming>, Refusal> {
        let incoming = Incoming::open(self.limited(stream)?, self.tls.as_ref().map(|tls| &*tls.server))?;
        let peer = match incoming.certificate() {
            Some(shown) => Some(self.certificates.iter().position(|known| known == shown).ok_or_else(stranger)?),
            // Over TLS nobody is known by a claimed name.
            None if self.tls.is_some() => return Err(stranger()),
            None => None,
        };
        if peer.is_some() {
            proven();
        }
        let mut met = self.meet(incoming, End::Answerer, 0, peer)?;
        met.connection.socket().release(Some(self.idle_timeout))?;
        Ok(met)
    }

    /// A socket on which the handshake, TLS and hellos, is over in time.
    fn limited(&self, stream: TcpStream) -> io::Result<Socket> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        Socket::until(Instant::now() + left.clamp(Duration::from_millis(100), PATIENCE), stream)
    }

    /// Exchange hellos: both commit before either reveals. peer: who is there, where TLS has proven it.
    fn meet<C: Parley>(
        &self,
        mut connection: C,
        end: End,
        session: usize,
        peer: Option<usize>,
    ) -> Result<Met<C>, Refusal> {
        let located = |error: io::Error| match peer.filter(|_| end == End::Dialler) {
            Some(peer) => self.judge(error, peer),
            None => error.into(),
        };
        let channel = connection.export(Purpose::Hello)?.unwrap_or_default();
        let ours = self.said[session].on(end, &channel).map_err(Refusal::Unfit)?;
        connection.say(&ours.greeting).map_err(located)?;
        let greeting = Greeting::read(&mut connection).map_err(located)?;
        let claimed = || self.names.iter().position(|name| Some(name.as_str()) == greeting.name());
        let peer = peer.or_else(claimed).filter(|&party| party != self.me).ok_or_else(stranger)?;
        self.hello.compare_version(&greeting, &self.names[peer]).map_err(Refusal::Unfit)?;
        connection.say(&ours.opening).map_err(located)?;
        let opening = Opening::read(&mut connection, &greeting, end.other(), &channel).map_err(located)?;
        let theirs = opening.ok_or_else(|| self.cheats(peer))?;
        self.compare(&greeting, &theirs, peer)?;
        let contribution = match connection.export(Purpose::Pair)? {
            Some(exported) => exported,
            None => end.in_order([&ours.nonce, theirs.nonce()]),
        };
        Ok(Met { peer, session: theirs.session(), connection, contribution, part: *theirs.part() })
    }

    fn compare(&self, greeting: &Greeting, theirs: &Opening, peer: usize) -> Result<(), Refusal> {
        self.hello.compare(theirs, &self.names[peer]).map_err(Refusal::Unfit)?;
        match greeting.name() {
            Some(name) if name == self.names[peer] => Ok(()),
            other => {
                let detail = format!("the party there calls itself {:?}", other.unwrap_or_default());
                Err(self.wrong_key(peer, detail))
            }
        }
    }

    fn cheats(&self, peer: usize) -> Refusal {
        let detail = "what it revealed of its plan is not what it had committed to".to_owned();
        Refusal::Unfit(NetError::Cheating { peer: self.names[peer].clone(), step: String::new(), detail })
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

fn stranger() -> Refusal {
    Refusal::Unreachable("a stranger".to_owned())
}

/// Let the other side read why it is refused: closing over its unread bytes would reset the connection.
fn drain(mut socket: TcpStream) {
    let deadline = Instant::now() + Duration::from_secs(1);
    let _ = socket.flush();
    let _ = socket.shutdown(Shutdown::Write);
    let _ = socket.set_read_timeout(Some(Duration::from_secs(1)));
    while Instant::now() < deadline && socket.read(&mut [0; 4096]).is_ok_and(|count| count > 0) {}
}
