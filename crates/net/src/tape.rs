//! What passes between one party and its peers, kept in memory.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::frame::{Frame, Kind};
use crate::lock::lock;
use crate::party::PartyId;
use crate::route::Route;

/// A message: its sender or receiver, its round and its bytes.
pub type Told = (PartyId, u64, Vec<u8>);

/// What passed between one party and its peers.
#[derive(Default)]
pub(crate) struct Tape {
    pub received: Mutex<Vec<Told>>,
    pub sent: Mutex<Vec<Told>>,
}

/// A way between the recorded party and a peer, in one direction.
pub(crate) struct Taped {
    pub route: Box<dyn Route>,
    pub tape: Arc<Tape>,
    /// The peer, and whether the recorded party sends to it.
    pub peer: usize,
    pub sends: bool,
}

impl Route for Taped {
    fn post(&self, frame: Frame) {
        if frame.kind == Kind::Data {
            let told = if self.sends { &self.tape.sent } else { &self.tape.received };
            lock(told).push((PartyId(self.peer), frame.round, frame.payload.clone()));
        }
        self.route.post(frame);
    }

    fn abort(&self, reason: &str) {
        self.route.abort(reason);
    }

    fn settle(&self, bytes: usize, patience: Duration) {
        self.route.settle(bytes, patience);
    }

    fn finish(&mut self) {
        self.route.finish();
    }
}
