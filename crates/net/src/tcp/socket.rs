//! A TCP socket on which, at first, everything has to be over by one moment.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A socket under a deadline or released from it.
pub(super) struct Socket {
    stream: TcpStream,
    /// All reads and writes together are over by then: a peer that sends a byte now and then gains nothing by it.
    deadline: Option<Instant>,
}

impl Socket {
    /// A socket on which a handshake has to be over by `deadline`.
    ///
    /// # Errors
    /// When the socket takes no settings.
    pub fn until(deadline: Instant, stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, deadline: Some(deadline) })
    }

    /// From now on a read ends after `idle_timeout` without a byte, where there is one, and a write when its peer is
    /// gone.
    ///
    /// # Errors
    /// When the socket takes no settings.
    pub fn release(&mut self, idle_timeout: Option<Duration>) -> io::Result<()> {
        self.deadline = None;
        self.stream.set_read_timeout(idle_timeout)?;
        self.stream.set_write_timeout(None)
    }

    /// The socket itself, for ending the connection from another thread.
    pub fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Let the next read or write take what is left of the time.
    fn arm(&self) -> io::Result<()> {
        let Some(deadline) = self.deadline else { return Ok(()) };
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        self.stream.set_write_timeout(Some(left))
    }
}

impl Read for Socket {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.arm()?;
        self.stream.read(out)
    }

    fn read_vectored(&mut self, out: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.arm()?;
        self.stream.read_vectored(out)
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.arm()?;
        self.stream.write(bytes)
    }

    fn write_vectored(&mut self, bytes: &[IoSlice<'_>]) -> io::Result<usize> {
        self.arm()?;
        self.stream.write_vectored(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}
