//! The connection on which this party receives from one peer. Used by one thread.
//!
//! Under TLS it works on rustls' unbuffered interface. Records are read from the socket in large pieces and decrypted
//! where they lie, which saves a copy and many small reads against the buffered one.

use super::exporter::{Exported, ExporterSecret, Purpose};
use super::parley::Parley;
use super::socket::Socket;
use rustls::pki_types::CertificateDer;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, InsufficientSizeError, UnbufferedStatus};
use rustls::{KeyLog, ServerConfig};
use std::io::{self, IoSliceMut, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Bytes asked from the socket at once, under TLS.
const READ_AHEAD: usize = 256 << 10;

/// Bytes asked beyond those that the reader wants, without TLS: several small frames, but little of a large one, whose
/// payload is read to where it belongs.
const READ_BEYOND: usize = 16 << 10;

/// An accepted connection.
pub(super) struct Incoming {
    socket: Socket,
    tls: Option<Box<UnbufferedServerConnection>>,
    exporter: Arc<ExporterSecret>,
    /// Bytes from the socket; `start..end` are unread.
    ahead: Vec<u8>,
    start: usize,
    end: usize,
    /// Decrypted bytes that nobody asked for yet, from `plain_used` on.
    plain: Vec<u8>,
    plain_used: usize,
    /// Handshake bytes to be sent.
    reply: Vec<u8>,
    /// A part of this party's hello, until it is sent.
    hello: Vec<u8>,
    taken: usize,
}

/// What processing the bytes at hand came to.
enum Progress {
    /// Something happened, look again.
    Moved,
    /// More bytes are needed.
    Starving,
    /// The peer closed the connection in order.
    Closed,
}

impl Incoming {
    /// Speak over `socket`, under TLS where `config` is given: complete the handshake.
    pub fn open(socket: Socket, config: Option<&ServerConfig>) -> io::Result<Self> {
        let ahead = if config.is_some() { READ_AHEAD } else { READ_BEYOND };
        let exporter = Arc::<ExporterSecret>::default();
        let open = |config: &ServerConfig| {
            let mut config = config.clone();
            config.key_log = Arc::clone(&exporter) as Arc<dyn KeyLog>;
            UnbufferedServerConnection::new(Arc::new(config)).map(Box::new)
        };
        let tls = config.map(open).transpose().map_err(io::Error::other)?;
        let mut incoming = Self {
            socket,
            tls,
            exporter,
            ahead: vec![0; ahead],
            start: 0,
            end: 0,
            plain: Vec::new(),
            plain_used: 0,
            reply: Vec::new(),
            hello: Vec::new(),
            taken: 0,
        };
        incoming.shake_hands()?;
        Ok(incoming)
    }

    /// The socket, to be released from its deadline.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// The socket, for ending the connection from another thread.
    pub fn stream(&self) -> &TcpStream {
        self.socket.stream()
    }

    /// The certificate of the dialler; there is one under TLS.
    pub fn certificate(&self) -> Option<&CertificateDer<'static>> {
        self.tls.as_ref()?.peer_certificates()?.first()
    }

    /// Bytes read from the socket since this was last asked.
    pub fn take_count(&mut self) -> usize {
        std::mem::take(&mut self.taken)
    }

    fn shake_hands(&mut self) -> io::Result<()> {
        while self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) {
            match self.advance(&mut [])?.0 {
                Progress::Moved => {}
                // The dialler's last words may have ended the handshake, and it may say nothing before this party does.
                Progress::Starving if self.tls.as_ref().is_some_and(|tls| tls.is_handshaking()) => self.read_ahead()?,
                Progress::Starving => {}
                Progress::Closed => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(())
    }

    fn read_ahead(&mut self) -> io::Result<()> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        } else if self.ahead.len() - self.end < READ_AHEAD / 2 {
            self.ahead.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        match self.socket.read(&mut self.ahead[self.end..])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.end += count;
                self.taken += count;
                Ok(())
            }
        }
    }

    /// Let TLS process the bytes at hand, at most one record of data: into `out`, and what does not fit there into
    /// `plain`. Returns how many bytes are in `out`.
    fn advance(&mut self, out: &mut [u8]) -> io::Result<(Progress, usize)> {
        let Some(tls) = &mut self.tls else { return Ok((Progress::Starving, 0)) };
        let mut filled = 0;
        let UnbufferedStatus { discard, state } = tls.process_tls_records(&mut self.ahead[self.start..self.end]);
        let progress = match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(record) = traffic.next_record() {
                    let payload = record.map_err(io::Error::other)?.payload;
                    let direct = payload.len().min(out.len() - filled);
                    out[filled..filled + direct].copy_from_slice(&payload[..direct]);
                    filled += direct;
                    self.plain.extend_from_slice(&payload[direct..]);
                }
                Progress::Moved
            }
            Ok(ConnectionState::EncodeTlsData(mut message)) => {
                let used = self.reply.len();
                if let Err(EncodeError::InsufficientSize(InsufficientSizeError { required_size })) =
                    message.encode(&mut [])
                {
                    self.reply.resize(used + required_size, 0);
                    message.encode(&mut self.reply[used..]).map_err(io::Error::other)?;
                }
                Progress::Moved
            }
            Ok(ConnectionState::TransmitTlsData(sending)) => {
                self.socket.write_all(&self.reply)?;
                self.reply.clear();
                sending.done();
                Progress::Moved
            }
            Ok(ConnectionState::WriteTraffic(mut traffic)) if !self.hello.is_empty() => {
                let mut encrypted = vec![0; self.hello.len() + 256];
                let length = traffic.encrypt(&self.hello, &mut encrypted).map_err(io::Error::other)?;
                self.socket.write_all(&encrypted[..length])?;
                self.hello.clear();
                Progress::Moved
            }
            Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => Progress::Closed,
            Ok(_) => Progress::Starving,
            Err(error) => {
                self.start += discard;
                self.send_alert();
                return Err(io::Error::new(io::ErrorKind::InvalidData, error));
            }
        };
        self.start += discard;
        Ok((progress, filled))
    }

    /// Send the alert that a failed connection still holds, as far as that is possible.
    fn send_alert(&mut self) {
        let Some(tls) = &mut self.tls else { return };
        let mut alert = [0; 256];
        if let Ok(ConnectionState::EncodeTlsData(mut message)) =
            tls.process_tls_records(&mut self.ahead[self.start..self.end]).state
            && let Ok(length) = message.encode(&mut alert)
        {
            let _ = self.socket.write_all(&alert[..length]);
        }
    }

    fn read_plain(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.start == self.end {
            let wanted = out.len();
            let count = self.socket.read_vectored(&mut [IoSliceMut::new(out), IoSliceMut::new(&mut self.ahead)])?;
            self.taken += count;
            (self.start, self.end) = (0, count.saturating_sub(wanted));
            return Ok(count.min(wanted));
        }
        let count = out.len().min(self.end - self.start);
        out[..count].copy_from_slice(&self.ahead[self.start..self.start + count]);
        self.start += count;
        Ok(count)
    }

    fn read_decrypted(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let waiting = &self.plain[self.plain_used..];
        if !waiting.is_empty() {
            let count = waiting.len().min(out.len());
            out[..count].copy_from_slice(&waiting[..count]);
            self.plain_used += count;
            return Ok(count);
        }
        self.plain.clear();
        self.plain_used = 0;
        loop {
            match self.advance(out)? {
                (_, filled) if filled > 0 => return Ok(filled),
                (Progress::Moved, _) => {}
                (Progress::Starving, _) => self.read_ahead()?,
                (Progress::Closed, _) => return Ok(0),
            }
        }
    }
}

impl Parley for Incoming {
    /// Send a part of this party's hello, the only bytes that go this way.
    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.tls.is_none() {
            return self.socket.write_all(bytes);
        }
        self.hello = bytes.to_vec();
        while !self.hello.is_empty() {
            if let (Progress::Starving | Progress::Closed, _) = self.advance(&mut [])? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    fn export(&self, purpose: Purpose) -> io::Result<Option<Exported>> {
        let Some(tls) = &self.tls else { return Ok(None) };
        let exported = tls
            .negotiated_cipher_suite()
            .and_then(|suite| suite.tls13())
            .and_then(|suite| self.exporter.export(suite, purpose));
        exported.map(Some).ok_or_else(|| io::Error::other("the connection gives no keys"))
    }
}

impl Read for Incoming {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match (out.is_empty(), &self.tls) {
            (true, _) => Ok(0),
            (false, None) => self.read_plain(out),
            (false, Some(_)) => self.read_decrypted(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::outgoing::Outgoing;
    use super::super::tls::Tls;
    use super::*;
    use crate::keys;
    use crate::tcp::Identity;
    use std::collections::HashSet;
    use std::net::TcpListener;
    use std::thread;
    use std::time::{Duration, Instant};

    /// A socket with time enough.
    fn socket(stream: TcpStream) -> Socket {
        Socket::until(Instant::now() + Duration::from_secs(60), stream).expect("a socket")
    }

    /// What two parties with keys of their own do at the ends of a connection, the dialler first.
    fn joined<T: Send>(dialler: impl FnOnce(Outgoing) -> T + Send, answerer: impl FnOnce(Incoming) -> T) -> [T; 2] {
        let pairs = ["left", "right"].map(|name| keys::generate(name).expect("randomness"));
        let certificates = pairs.each_ref().map(|(_, pem)| keys::certificate(pem).expect("our own PEM"));
        let [left, right] = [0, 1].map(|me| {
            let identity = Identity::from_pem(&pairs[me].0, &pairs[me].1).expect("our own PEM");
            Tls::new(&identity, &certificates, me).expect("a fitting pair")
        });
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let dialled = TcpStream::connect(listener.local_addr().expect("bound")).expect("a listener");
        thread::scope(|scope| {
            let config = Some(left.clients[1].clone());
            let dialler = scope.spawn(move || dialler(Outgoing::open(socket(dialled), config).expect("a handshake")));
            let (answered, _) = listener.accept().expect("a caller");
            let answered = answerer(Incoming::open(socket(answered), Some(&right.server)).expect("a handshake"));
            [dialler.join().expect("no panic"), answered]
        })
    }

    #[test]
    fn both_ends_export_the_same_keys_and_no_two_connections_do() {
        fn keys(connection: &impl Parley) -> [[u8; 32]; 2] {
            [Purpose::Pair, Purpose::Hello]
                .map(|purpose| *connection.export(purpose).expect("a handshake").expect("under TLS"))
        }
        let connect = || {
            let dialler = |mut outgoing: Outgoing| {
                outgoing.say(&[1]).expect("a reader");
                let exported = keys(&outgoing);
                outgoing.finish(Duration::from_secs(60));
                exported
            };
            let [dialled, answered] = joined(dialler, |mut incoming| {
                incoming.read_exact(&mut [0]).expect("a sender");
                keys(&incoming)
            });
            assert_eq!(dialled, answered);
            dialled
        };
        let all: HashSet<[u8; 32]> = [connect(), connect()].into_iter().flatten().collect();
        assert_eq!(all.len(), 4, "one for each purpose and connection");
    }

    #[test]
    fn the_stream_survives_changes_of_keys_at_any_read_size() {
        let sent: Vec<u8> = (0..300_000u32).map(|index| index as u8).collect();
        let expected = sent.clone();
        let sender = |mut outgoing: Outgoing| {
            for piece in sent.chunks(70_000) {
                outgoing.write(&piece[..10], &piece[10..]).expect("a reader");
                outgoing.change_keys();
            }
            outgoing.finish(Duration::from_secs(5));
        };
        joined(sender, |mut incoming| {
            let mut received = vec![0; expected.len()];
            for piece in received.chunks_mut(33_333) {
                let (first, rest) = piece.split_at_mut(2);
                incoming.read_exact(first).expect("a sender");
                incoming.read_exact(rest).expect("a sender");
            }
            assert_eq!(received, expected);
        });
    }
}
