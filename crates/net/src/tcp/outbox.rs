//! What waits to be sent to one peer, and the thread that sends it.
//!
//! A small frame for which nothing has to wait leaves in the thread that posts it, as far as the socket takes it at
//! once. A round between near parties is then a switch of threads shorter. All else is the writer's.

use super::outgoing::Outgoing;
use crate::error::NetError;
use crate::frame::{Frame, Header, Kind, MAX_FRAME_PAYLOAD};
use crate::hub::Hub;
use crate::lock::lock;
use crate::meter::Meter;
use crate::pool::Pool;
use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Payloads up to this length are copied behind their header, so that many small messages leave in one write.
const GATHERED: usize = 16 << 10;

/// How long a broken connection may stay unexplained: the reason may still be on its way on the other connection.
const EXPLANATION: Duration = Duration::from_secs(1);

/// How long to wait for another thread that writes at once, which no socket holds up.
const BRIEFLY: Duration = Duration::from_millis(10);

/// How long the peer may take to read the last bytes.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Frames that wait for the writer.
#[derive(Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    posted: Condvar,
    written: Condvar,
    /// The connection, from when it stands until it ends. Held by who has set `writing`.
    sender: Mutex<Option<Sending>>,
}

#[derive(Default)]
struct State {
    frames: VecDeque<Frame>,
    /// Payload of frames that were posted and not yet written, in bytes.
    backlog: usize,
    /// Whether somebody waits for the backlog to shrink.
    settling: bool,
    /// Whether a thread writes.
    writing: bool,
    /// Whether the connection stands.
    connected: bool,
    /// The end of a write at once that the writer takes over: the socket is full, or is broken.
    left: Option<io::Result<()>>,
    /// The reason of an abort; it goes before everything in `frames`, which then never goes.
    abort: Option<Frame>,
    done: bool,
}

impl State {
    /// Whether a new frame may leave at once.
    fn is_idle(&self) -> bool {
        self.connected && !self.writing && !self.has_work() && !self.done
    }

    fn has_work(&self) -> bool {
        self.abort.is_some() || self.left.is_some() || !self.frames.is_empty()
    }
}

/// What the writer has to do next.
enum Work {
    Frames(VecDeque<Frame>),
    Abort(Frame),
    Rest,
    Nothing,
}

impl Outbox {
    /// A connection to write to.
    pub fn open(&self, sender: Sending) {
        *lock(&self.sender) = Some(sender);
        lock(&self.state).connected = true;
    }

    pub fn post(&self, frame: Frame) {
        let mut state = lock(&self.state);
        state.backlog += frame.payload.len();
        if frame.kind != Kind::Farewell && frame.payload.len() <= GATHERED && state.is_idle() {
            state.writing = true;
            drop(state);
            return self.write_at_once(frame);
        }
        state.frames.push_back(frame);
        drop(state);
        self.posted.notify_all();
    }

    /// Write a frame in this thread, and leave to the writer what the socket does not take.
    fn write_at_once(&self, frame: Frame) {
        let mut sender = lock(&self.sender);
        let written = sender.as_mut().expect("a connection that is not ended").write_at_once(frame);
        drop(sender);
        let mut state = lock(&self.state);
        state.writing = false;
        match written {
            Ok(Some(bytes)) => state.backlog = state.backlog.saturating_sub(bytes),
            Ok(None) => state.left = Some(Ok(())),
            Err(error) => state.left = Some(Err(error)),
        }
        let (settled, work) = (mem::take(&mut state.settling), state.has_work());
        drop(state);
        if settled {
            self.written.notify_all();
        }
        if work {
            self.posted.notify_all();
        }
    }

    /// Wait until at most `bytes` bytes are not yet written, or until they never will be, for `patience` at most.
    pub fn settle(&self, bytes: usize, patience: Duration) {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.state);
        while state.backlog > bytes && state.abort.is_none() && !state.done {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return };
            state.settling = true;
            state = self.written.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn wrote(&self, bytes: usize) {
        let mut state = lock(&self.state);
        // A reason for an abort was never part of it.
        state.backlog = state.backlog.saturating_sub(bytes);
        if mem::take(&mut state.settling) {
            drop(state);
            self.written.notify_all();
        }
    }

    pub fn abort(&self, reason: &str) {
        lock(&self.state).abort = Some(Frame::abort(reason));
        self.posted.notify_all();
        self.written.notify_all();
    }

    /// Wait until the writer has ended, at most `patience`.
    pub fn await_done(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.state);
        while !state.done {
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return false };
            state = self.posted.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// The writer's next work, once no other thread writes. The caller alone writes until its next call.
    fn work(&self, patience: Duration) -> io::Result<Work> {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.state);
        state.writing = false;
        let work = loop {
            if !state.writing {
                if let Some(abort) = state.abort.take() {
                    break Work::Abort(abort);
                }
                if let Some(left) = state.left.take() {
                    state.writing = true;
                    left?;
                    break Work::Rest;
                }
                if !state.frames.is_empty() {
                    break Work::Frames(mem::take(&mut state.frames));
                }
            }
            match deadline.checked_duration_since(Instant::now()) {
                Some(left) => {
                    state = self.posted.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
                }
                None if state.writing => {
                    state = self.posted.wait_timeout(state, BRIEFLY).unwrap_or_else(PoisonError::into_inner).0;
                }
                None => break Work::Nothing,
            }
        };
        state.writing = true;
        Ok(work)
    }

    fn aborting(&self) -> bool {
        lock(&self.state).abort.is_some()
    }

    fn end(&self) {
        let mut state = lock(&self.state);
        state.done = true;
        state.frames.clear();
        drop(state);
        self.posted.notify_all();
        self.written.notify_all();
    }
}

/// The connection to a peer, and what is about to be written to it.
pub(super) struct Sending {
    connection: Outgoing,
    pool: Arc<Pool>,
    meter: Arc<Meter>,
    gathered: Vec<u8>,
    /// Payload that the next write takes with it, in bytes.
    leaving: usize,
}

impl Sending {
    pub fn new(connection: Outgoing, pool: Arc<Pool>, meter: Arc<Meter>) -> Self {
        Self { connection, pool, meter, gathered: Vec::with_capacity(2 * GATHERED), leaving: 0 }
    }

    /// Write a small frame as far as the socket takes it at once. Returns the length of its payload if that is all.
    fn write_at_once(&mut self, frame: Frame) -> io::Result<Option<usize>> {
        let Frame { kind, round, payload, .. } = frame;
        self.gathered.extend_from_slice(&Header { kind, length: payload.len(), round }.encode());
        self.gathered.extend_from_slice(&payload);
        self.leaving += payload.len();
        self.pool.give(payload);
        let (written, all) = self.connection.write_at_once(&self.gathered)?;
        self.gathered.clear();
        self.meter.wrote(written);
        Ok(all.then(|| mem::take(&mut self.leaving)))
    }

    fn write_frame(&mut self, frame: Frame, outbox: &Outbox) -> io::Result<()> {
        let Frame { kind, round, payload, .. } = frame;
        if payload.is_empty() {
            self.gathered.extend_from_slice(&Header { kind, length: 0, round }.encode());
        }
        for part in payload.chunks(MAX_FRAME_PAYLOAD) {
            self.leaving += part.len();
            self.gathered.extend_from_slice(&Header { kind, length: part.len(), round }.encode());
            if part.len() > GATHERED {
                self.write(part, outbox)?;
            } else {
                self.gathered.extend_from_slice(part);
            }
        }
        self.pool.give(payload);
        if self.gathered.len() >= GATHERED { self.write(&[], outbox) } else { Ok(()) }
    }

    /// Write all that is gathered, if anything is.
    fn flush(&mut self, outbox: &Outbox) -> io::Result<()> {
        if self.gathered.is_empty() { Ok(()) } else { self.write(&[], outbox) }
    }

    /// Write all that is gathered, a part behind it, and first what an earlier write at once has left.
    fn write(&mut self, part: &[u8], outbox: &Outbox) -> io::Result<()> {
        let written = self.connection.write(&self.gathered, part)?;
        self.meter.wrote(written);
        outbox.wrote(mem::take(&mut self.leaving));
        self.gathered.clear();
        Ok(())
    }
}

/// The thread that sends to one peer what does not leave at once.
pub(super) struct Writer {
    pub outbox: Arc<Outbox>,
    pub peer: usize,
    pub hub: Arc<Hub>,
}

impl Writer {
    /// Write frames until a farewell, an abort or a broken connection.
    pub fn run(self) {
        let ended = self.write_all();
        // Nobody writes at once any more: to whoever posts, this thread still writes.
        let sender = lock(&self.outbox.sender).take();
        match ended {
            Ok(()) => sender.expect("a connection").connection.finish(LAST_WORDS),
            Err(error) => {
                self.hub.await_failure(EXPLANATION);
                let (peer, step) = (self.hub.name(self.peer), String::new());
                self.hub.fail(NetError::Gone { peer, step, detail: format!("sending to it failed ({error})") });
            }
        }
        self.outbox.end();
    }

    fn write_all(&self) -> io::Result<()> {
        loop {
            let work = self.outbox.work(self.hub.pulse())?;
            let mut sender = lock(&self.outbox.sender);
            let sender = sender.as_mut().expect("a connection");
            match work {
                Work::Nothing => sender.write_frame(Frame::control(Kind::Heartbeat), &self.outbox)?,
                Work::Rest => sender.write(&[], &self.outbox)?,
                Work::Abort(reason) => {
                    sender.write_frame(reason, &self.outbox)?;
                    return sender.flush(&self.outbox);
                }
                Work::Frames(frames) => {
                    for frame in frames {
                        if self.outbox.aborting() {
                            break;
                        }
                        let last = frame.kind == Kind::Farewell;
                        sender.write_frame(frame, &self.outbox)?;
                        if last {
                            return sender.flush(&self.outbox);
                        }
                    }
                }
            }
            sender.flush(&self.outbox)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::socket::Socket;
    use super::*;
    use crate::frame::FRAME_HEADER;
    use crate::options::Shape;
    use std::io::Read;
    use std::net::{TcpListener, TcpStream};

    /// An outbox with its writer, and the peer's end of the connection.
    fn connected() -> (Arc<Outbox>, std::thread::JoinHandle<()>, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let dialled = TcpStream::connect(listener.local_addr().expect("bound")).expect("a listener");
        let (peer, _) = listener.accept().expect("a caller");
        let mut socket = Socket::until(Instant::now() + Duration::from_secs(60), dialled).expect("a socket");
        socket.release(None).expect("a socket");
        let connection = Outgoing::open(socket, None).expect("nothing to agree on");
        let outbox = Arc::<Outbox>::default();
        outbox.open(Sending::new(connection, Arc::default(), Arc::new(Meter::new())));
        let hub = Hub::new(vec!["me".to_owned(), "peer".to_owned()], Shape::default(), Duration::from_secs(3600));
        let writer = Writer { outbox: Arc::clone(&outbox), peer: 1, hub: Arc::new(hub) };
        (outbox, std::thread::spawn(move || writer.run()), peer)
    }

    /// The payloads of as many frames.
    fn payloads(peer: &mut TcpStream, count: usize) -> Vec<Vec<u8>> {
        let frame = |_| {
            let mut header = [0; FRAME_HEADER];
            peer.read_exact(&mut header).expect("a header");
            let mut payload = vec![0; Header::decode(&header).expect("a header").length];
            peer.read_exact(&mut payload).expect("a payload");
            payload
        };
        (0..count).map(frame).collect()
    }

    #[test]
    fn a_small_frame_leaves_in_the_thread_that_posts_it() {
        let (outbox, writer, mut peer) = connected();
        outbox.post(Frame::new(Kind::Data, 1, vec![7; 10]));
        assert_eq!(lock(&outbox.state).backlog, 0, "it has left, and nobody has waited for the writer");
        assert_eq!(payloads(&mut peer, 1), [vec![7; 10]]);
        outbox.post(Frame::control(Kind::Farewell));
        assert_eq!(payloads(&mut peer, 1), [vec![]]);
        drop(peer);
        writer.join().expect("no panic");
    }

    #[test]
    fn posting_never_waits_and_frames_stay_in_order_when_the_socket_is_full() {
        let (outbox, writer, mut peer) = connected();
        let sent: Vec<Vec<u8>> = (0..4000_u32)
            .map(|number| {
                let length = if number % 7 == 0 { 3 * GATHERED } else { 5000 + number as usize };
                number.to_le_bytes().into_iter().cycle().take(length).collect()
            })
            .collect();
        for payload in &sent {
            outbox.post(Frame::new(Kind::Data, 1, payload.clone()));
        }
        assert!(lock(&outbox.state).backlog > 0, "nobody reads");
        assert!(payloads(&mut peer, sent.len()) == sent);
        outbox.settle(0, Duration::from_secs(3600));
        // All is idle again.
        outbox.post(Frame::new(Kind::Data, 2, vec![1; 3]));
        assert_eq!(payloads(&mut peer, 1), [vec![1; 3]]);
        outbox.abort("it is over");
        assert_eq!(payloads(&mut peer, 1), [b"it is over".to_vec()]);
        drop(peer);
        writer.join().expect("no panic");
    }

    #[test]
    fn a_connection_that_breaks_ends_the_writer_whoever_writes() {
        let (outbox, writer, peer) = connected();
        drop(peer);
        while !lock(&outbox.state).done {
            outbox.post(Frame::new(Kind::Data, 1, vec![0; 100]));
        }
        writer.join().expect("no panic");
        outbox.post(Frame::new(Kind::Data, 1, vec![0; 100]));
    }

    #[test]
    fn settling_waits_for_the_writer_but_not_for_ever() {
        let (outbox, patience) = (Outbox::default(), Duration::from_millis(30));
        let waits = |bytes: usize| {
            let start = Instant::now();
            outbox.settle(bytes, patience);
            start.elapsed() >= patience
        };
        outbox.post(Frame::new(Kind::Data, 1, vec![0; 10]));
        outbox.post(Frame::new(Kind::Data, 1, vec![0; 20]));
        assert!(waits(29), "nobody writes");
        outbox.settle(30, Duration::from_secs(3600));
        outbox.wrote(10);
        assert!(waits(19));
        outbox.settle(20, Duration::from_secs(3600));
        std::thread::scope(|scope| {
            scope.spawn(|| outbox.settle(0, Duration::from_secs(3600)));
            outbox.wrote(20);
        });
        outbox.post(Frame::new(Kind::Data, 1, vec![0; 10]));
        outbox.abort("it is over");
        outbox.settle(0, Duration::from_secs(3600));
    }
}
