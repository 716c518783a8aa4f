//! What one peer has sent and this party has not yet used.

use crate::frame::{Frame, Kind};
use crate::lock::lock;
use crate::options::Shape;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a waiting frame costs in memory beside its payload; a hostile peer may send many tiny ones.
const BESIDE_PAYLOAD: usize = 128;

/// What a peer has said about the session as a whole, in this order.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Stage {
    #[default]
    Joining,
    Ready,
    Goodbye,
    Farewell,
}

/// A shaped link from one peer, which all sessions with it share.
#[derive(Clone, Default)]
pub(crate) struct Wire {
    /// When all that has arrived has passed.
    free: Arc<Mutex<Option<Instant>>>,
}

/// Data frames of one peer and what is known of its state.
#[derive(Default)]
pub(crate) struct Inbox {
    pub stage: Stage,
    /// What the peer said of itself when all its links stood.
    pub presence: Vec<u8>,
    frames: VecDeque<Frame>,
    bytes: usize,
    wire: Wire,
    standstill: Option<Standstill>,
}

/// A peer that says again and again that it waits and that nothing reaches it.
#[derive(Clone, Copy)]
struct Standstill {
    mark: u64,
    since: Instant,
    confirmed: Instant,
}

impl Inbox {
    /// What arrives by a link that other sessions share.
    pub fn over(wire: Wire) -> Self {
        Self { wire, ..Self::default() }
    }

    /// The link.
    pub fn wire(&self) -> Wire {
        self.wire.clone()
    }

    /// Memory held by unused frames, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn push(&mut self, mut frame: Frame, shape: Shape) {
        frame.available_at = self.delay(shape, frame.payload.len());
        self.bytes += frame.payload.len() + BESIDE_PAYLOAD;
        self.standstill = None;
        self.frames.push_back(frame);
    }

    /// When the next frame may be seen; `None` if there is none.
    pub fn next_at(&self, now: Instant) -> Option<Instant> {
        self.frames.front().map(|frame| frame.available_at.unwrap_or(now))
    }

    pub fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop_front()?;
        self.bytes -= frame.payload.len() + BESIDE_PAYLOAD;
        Some(frame)
    }

    /// The peer moves on to the stage that `kind` announces; nobody goes back.
    pub fn announce(&mut self, kind: Kind) {
        let stage = match kind {
            Kind::Ready => Stage::Ready,
            Kind::Goodbye => Stage::Goodbye,
            Kind::Farewell => Stage::Farewell,
            Kind::Data | Kind::Heartbeat | Kind::Waiting | Kind::Abort => return,
        };
        self.stage = self.stage.max(stage);
    }

    /// The peer waits, and says a number that is another one after each message that arrives there.
    pub fn waits(&mut self, mark: u64, pulse: Duration) {
        let now = Instant::now();
        let same = self.standstill.filter(|known| known.mark == mark && now - known.confirmed < 4 * pulse);
        self.standstill = Some(Standstill { mark, since: same.map_or(now, |known| known.since), confirmed: now });
    }

    /// Whether the peer has waited for `limit` without anything reaching it, and still does.
    pub fn stands_still(&self, limit: Duration, pulse: Duration) -> bool {
        self.standstill.is_some_and(|known| known.since.elapsed() >= limit && known.confirmed.elapsed() < 4 * pulse)
    }

    /// When a frame that arrives now may be seen: frames queue for the link one behind the other.
    fn delay(&mut self, shape: Shape, bytes: usize) -> Option<Instant> {
        if shape.is_none() {
            return None;
        }
        let now = Instant::now();
        let mut free = lock(&self.wire.free);
        let passed = free.map_or(now, |free| free.max(now)) + shape.occupies(bytes);
        *free = Some(passed);
        Some(passed + shape.latency)
    }
}
