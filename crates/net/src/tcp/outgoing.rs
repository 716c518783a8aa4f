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
    /// Without TLS, what the socket has not taken yet; under TLS the connection keeps that.
    rest: Vec<u8>,
}

impl Outgoing {
    /// Speak over `socket`, under TLS where `config` is given: complete the handshake.
    pub fn open(socket: Socket, config: Option<Arc<ClientConfig>>) -> io::Result<Self> {
        let mut outgoing = Self { socket, tls: None, rest: Vec::new() };
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
            None => {
                let rest = write_both(&mut self.socket, &std::mem::take(&mut self.rest), &[])?;
                Ok(rest + write_both(&mut self.socket, head, body)?)
            }
            Some(tls) => {
                let parts = [IoSlice::new(head), IoSlice::new(body)];
                let taken = tls.writer().write_vectored(&parts)?;
                debug_assert_eq!(taken, head.len() + body.len(), "the buffer has no limit");
                write_records(tls, &mut self.socket)
            }
        }
    }

    /// Write what the socket takes at once of these bytes, and keep the rest for [`Self::write`]. Returns how many
    /// bytes this took on the wire, and whether that is all.
    pub fn write_at_once(&mut self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        match &mut self.tls {
            None => self.rest.extend_from_slice(bytes),
            Some(tls) => tls.writer().write_all(bytes)?,
        }
        self.stream().set_nonblocking(true)?;
        let mut written = 0;
        let last = loop {
            let taken = match &mut self.tls {
                None if self.rest.is_empty() => break Ok(true),
                None => self.socket.write(&self.rest).inspect(|&count| drop(self.rest.drain(..count))),
                Some(tls) if !tls.wants_write() => break Ok(true),
                Some(tls) => tls.write_tls(&mut self.socket),
            };
            match taken {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Ok(false),
                Err(error) => break Err(error),
            }
        };
        self.stream().set_nonblocking(false)?;
        last.map(|all| (written, all))
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

/// Write the records that a connection holds, and return how many bytes they are.
fn write_records(tls: &mut ClientConnection, socket: &mut Socket) -> io::Result<usize> {
    let mut written = 0;
    while tls.wants_write() {
        match tls.write_tls(socket) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
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
