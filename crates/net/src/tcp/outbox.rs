//! What waits to be sent to one peer, and the thread that sends it.

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

/// How long the peer may take to read the last bytes.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Frames that wait for the writer.
#[derive(Default)]
pub(super) struct Outbox {
    state: Mutex<State>,
    posted: Condvar,
    written: Condvar,
}

#[derive(Default)]
struct State {
    frames: VecDeque<Frame>,
    /// Payload of frames that were posted and not yet written, in bytes.
    backlog: usize,
    /// Whether somebody waits for the backlog to shrink.
    settling: bool,
    /// The reason of an abort; it goes before everything in `frames`, which then never goes.
    abort: Option<Frame>,
    done: bool,
}

/// What the writer has to do next.
enum Work {
    Frames(VecDeque<Frame>),
    Abort(Frame),
    Nothing,
}

impl Outbox {
    pub fn post(&self, frame: Frame) {
        let mut state = lock(&self.state);
        state.backlog += frame.payload.len();
        state.frames.push_back(frame);
        drop(state);
        self.posted.notify_all();
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

    fn work(&self, patience: Duration) -> Work {
        let deadline = Instant::now() + patience;
        let mut state = lock(&self.state);
        loop {
            if let Some(abort) = state.abort.take() {
                return Work::Abort(abort);
            }
            if !state.frames.is_empty() {
                return Work::Frames(mem::take(&mut state.frames));
            }
            let Some(left) = deadline.checked_duration_since(Instant::now()) else { return Work::Nothing };
            state = self.posted.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
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

/// The thread that owns the connection to one peer.
pub(super) struct Writer {
    pub outbox: Arc<Outbox>,
    pub connection: Outgoing,
    pub peer: usize,
    pub hub: Arc<Hub>,
    pub pool: Arc<Pool>,
    pub meter: Arc<Meter>,
    /// Payload that the next write takes with it, in bytes.
    pub leaving: usize,
}

impl Writer {
    /// Write frames until a farewell, an abort or a broken connection.
    pub fn run(mut self) {
        let outbox = Arc::clone(&self.outbox);
        match self.write_all() {
            Ok(()) => self.connection.finish(LAST_WORDS),
            Err(error) => {
                self.hub.await_failure(EXPLANATION);
                let (peer, step) = (self.hub.name(self.peer), String::new());
                self.hub.fail(NetError::Gone { peer, step, detail: format!("sending to it failed ({error})") });
            }
        }
        outbox.end();
    }

    fn write_all(&mut self) -> io::Result<()> {
        let mut gathered = Vec::with_capacity(2 * GATHERED);
        loop {
            match self.outbox.work(self.hub.pulse()) {
                Work::Nothing => self.write_frame(&mut gathered, Frame::control(Kind::Heartbeat))?,
                Work::Abort(reason) => {
                    self.write_frame(&mut gathered, reason)?;
                    return self.flush(&mut gathered, &[]);
                }
                Work::Frames(frames) => {
                    for frame in frames {
                        if self.outbox.aborting() {
                            break;
                        }
                        let last = frame.kind == Kind::Farewell;
                        self.write_frame(&mut gathered, frame)?;
                        if last {
                            return self.flush(&mut gathered, &[]);
                        }
                    }
                }
            }
            self.flush(&mut gathered, &[])?;
        }
    }

    fn write_frame(&mut self, gathered: &mut Vec<u8>, frame: Frame) -> io::Result<()> {
        let Frame { kind, round, payload, .. } = frame;
        if payload.is_empty() {
            gathered.extend_from_slice(&Header { kind, length: 0, round }.encode());
        }
        for part in payload.chunks(MAX_FRAME_PAYLOAD) {
            self.leaving += part.len();
            gathered.extend_from_slice(&Header { kind, length: part.len(), round }.encode());
            if part.len() > GATHERED {
                self.flush(gathered, part)?;
            } else {
                gathered.extend_from_slice(part);
            }
        }
        self.pool.give(payload);
        if gathered.len() >= GATHERED { self.flush(gathered, &[]) } else { Ok(()) }
    }

    fn flush(&mut self, gathered: &mut Vec<u8>, part: &[u8]) -> io::Result<()> {
        if gathered.is_empty() && part.is_empty() {
            return Ok(());
        }
        let written = self.connection.write(gathered, part)?;
        self.meter.wrote(written);
        self.outbox.wrote(mem::take(&mut self.leaving));
        gathered.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
