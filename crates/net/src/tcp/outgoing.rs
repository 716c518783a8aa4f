//! The connection on which this party sends to one peer. Used by one thread.

use super::exporter::{Exported, Purpose};
use super::parley::Parley;
use super::socket::Socket;
use super::tls;
use rustls::{ClientConfig, ClientConnection, Stream};
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A dialled connection.
pub(super) struct Outgoing {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
}

impl Outgoing {
    /// Speak over `socket`, under TLS where `config` is given: complete the handshake.
    pub fn open(socket: Socket, config: Option<Arc<ClientConfig>>) -> io::Result<Self> {
        let mut outgoing = Self { socket, tls: None };
        if let Some(config) = config {
            let mut tls = ClientConnection::new(config, tls::no_name()).map_err(io::Error::other)?;
            tls.set_buffer_limit(None);
            while tls.is_handshaking() {
                tls.complete_io(&mut outgoing.socket)?;
            }
            outgoing.tls = Some(Box::new(tls));
        }
        Ok(outgoing)
    }

    /// The socket, to be released from its deadline.
    pub fn socket(&mut self) -> &mut Socket {
        &mut self.socket
    }

    /// The socket, for ending the connection from another thread.
    pub fn stream(&self) -> &TcpStream {
        self.socket.stream()
    }

    /// Write both parts one behind the other and return how many bytes this took on the wire.
    pub fn write(&mut self, head: &[u8], body: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => write_both(&mut self.socket, head, body),
            Some(tls) => {
                let parts = [IoSlice::new(head), IoSlice::new(body)];
                let taken = tls.writer().write_vectored(&parts)?;
                debug_assert_eq!(taken, head.len() + body.len(), "the buffer has no limit");
                let mut written = 0;
                while tls.wants_write() {
                    match tls.write_tls(&mut self.socket) {
                        Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                        Ok(count) => written += count,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok(written)
            }
        }
    }

    /// Change the keys now, which otherwise happens after some hundred gigabytes.
    #[cfg(test)]
    pub fn change_keys(&mut self) {
        self.tls.as_mut().expect("under TLS").refresh_traffic_keys().expect("a complete handshake");
    }

    /// Let the peer read everything to the end: it closes first. What it may have sent meanwhile (answers to a change
    /// of keys) has to be read, because closing over unread bytes resets the connection and loses what is under way.
    pub fn finish(mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        let _ = self.stream().shutdown(Shutdown::Write);
        let _ = self.stream().set_read_timeout(Some(patience));
        while Instant::now() < deadline && self.socket.read(&mut [0; 1024]).is_ok_and(|count| count > 0) {}
    }
}

/// The peer's hello, the only bytes that come this way.
impl Read for Outgoing {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.read(out),
            Some(tls) => Stream::new(&mut **tls, &mut self.socket).read(out),
        }
    }
}

impl Parley for Outgoing {
    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write(bytes, &[]).map(drop)
    }

    fn export(&self, purpose: Purpose) -> io::Result<Option<Exported>> {
        let Some(tls) = &self.tls else { return Ok(None) };
        let mut out = Exported::default();
        tls.export_keying_material(&mut out[..], purpose.label(), None).map_err(io::Error::other)?;
        Ok(Some(out))
    }
}

fn write_both(socket: &mut Socket, mut head: &[u8], mut body: &[u8]) -> io::Result<usize> {
    let total = head.len() + body.len();
    while !head.is_empty() || !body.is_empty() {
        match socket.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                let from_head = count.min(head.len());
                head = &head[from_head..];
                body = &body[count - from_head..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(total)
}
