//! The thread that receives from one peer, and so notices at once when that peer ends.

use super::incoming::Incoming;
use crate::error::NetError;
use crate::frame::{FRAME_HEADER, Frame, Header, Kind};
use crate::hub::Hub;
use crate::meter::Meter;
use crate::pool::Pool;
use std::io::{self, Read};
use std::net::Shutdown;
use std::sync::Arc;
use std::time::Duration;

/// How long a peer's abort waits for this party to notice the reason itself: that another peer has gone, which it then
/// names.
const ECHO: Duration = Duration::from_millis(200);

/// The thread that owns the connection from one peer.
pub(super) struct Reader {
    pub connection: Incoming,
    pub peer: usize,
    pub hub: Arc<Hub>,
    pub pool: Arc<Pool>,
    pub meter: Arc<Meter>,
    pub idle_timeout: Duration,
}

/// Why nothing more can be read.
enum Stop {
    Socket(io::Error),
    /// Something that is no frame.
    Nonsense(String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Socket(error)
    }
}

impl Reader {
    /// Read frames until a farewell, an abort or the end of the connection.
    pub fn run(mut self) {
        self.read_all();
        let _ = self.connection.stream().shutdown(Shutdown::Both);
    }

    fn read_all(&mut self) {
        loop {
            let frame = match self.read_frame() {
                Ok(frame) => frame,
                Err(stop) => return self.report(stop),
            };
            self.meter.read(self.connection.take_count());
            let last = matches!(frame.kind, Kind::Farewell | Kind::Abort);
            if frame.kind == Kind::Abort {
                self.hub.await_failure(ECHO);
            }
            self.hub.deliver_bounded(self.peer, frame);
            if last {
                return;
            }
        }
    }

    fn read_frame(&mut self) -> Result<Frame, Stop> {
        let mut header = [0; FRAME_HEADER];
        self.connection.read_exact(&mut header)?;
        let header = Header::decode(&header).map_err(Stop::Nonsense)?;
        let mut payload = self.pool.take_filled(header.length);
        self.connection.read_exact(&mut payload)?;
        Ok(Frame::new(header.kind, header.round, payload))
    }

    fn report(&self, stop: Stop) {
        let (peer, step) = (self.hub.name(self.peer), String::new());
        let detail = match stop {
            Stop::Nonsense(detail) => detail,
            Stop::Socket(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                    let seconds = self.idle_timeout.as_secs();
                    self.hub.fail(NetError::TimedOut { peer, step, seconds });
                    return;
                }
                io::ErrorKind::InvalidData => format!("what it sends cannot be decrypted ({error})"),
                io::ErrorKind::UnexpectedEof => return self.hub.ended(self.peer, "its connection closed".to_owned()),
                _ => return self.hub.ended(self.peer, format!("its connection broke ({error})")),
            },
        };
        self.hub.fail(NetError::Desynchronised { peer, step, detail });
    }
}

#[cfg(test)]
mod tests {
    use super::super::socket::Socket;
    use super::*;
    use crate::options::Shape;
    use proptest::prelude::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::time::Instant;

    /// What a session makes of a peer that sends `bytes` and closes.
    fn after(bytes: &[u8]) -> NetError {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut peer = TcpStream::connect(listener.local_addr().expect("bound")).expect("a listener");
        let (socket, _) = listener.accept().expect("a caller");
        peer.write_all(bytes).expect("room for a few bytes");
        drop(peer);
        let hub = Arc::new(Hub::new(vec!["me".to_owned(), "peer".to_owned()], Shape::default(), Duration::ZERO));
        let socket = Socket::until(Instant::now() + Duration::from_secs(60), socket).expect("a socket");
        let connection = Incoming::open(socket, None).expect("nothing to agree on");
        let (pool, meter, idle_timeout) = (Arc::default(), Arc::new(Meter::new()), Duration::from_secs(5));
        Reader { connection, peer: 1, hub: Arc::clone(&hub), pool, meter, idle_timeout }.run();
        hub.failure().expect("the peer never took its leave")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn arbitrary_bytes_end_the_session_with_an_error(bytes: Vec<u8>, kind in 1u8..8, length in 1u8..64) {
            let framed = [&[kind, 0, 0, 0, length, 0, 0, 0][..], &bytes].concat();
            for bytes in [bytes, framed] {
                let fault = after(&bytes);
                let expected = matches!(
                    fault,
                    NetError::Gone { .. } | NetError::Desynchronised { .. } | NetError::Aborted { .. }
                );
                prop_assert!(expected, "{}", fault);
            }
        }
    }
}
