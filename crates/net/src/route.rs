//! The way to one peer, whatever carries the bytes.

use crate::frame::Frame;
use crate::hub::Hub;
use crate::pool::Pool;
use crate::secret::Chain;
use std::sync::Arc;
use std::time::Duration;

/// A link to one peer.
pub(crate) trait Route: Send {
    /// Pass `frame` on, without waiting for the network. A broken link shows as a failure in this party's hub.
    fn post(&self, frame: Frame);

    /// Pass `reason` on ahead of whatever is still queued; then nothing more.
    fn abort(&self, reason: &str);

    /// Wait until at most `bytes` bytes of everything posted have not left yet, for `patience` at most.
    fn settle(&self, bytes: usize, patience: Duration);

    /// Wait until everything posted has left, at most some seconds, and release threads and sockets.
    fn finish(&mut self);
}

/// A link to a peer in the same process: its hub.
pub(crate) struct MemoryRoute {
    pub me: usize,
    pub peer: Arc<Hub>,
}

impl Route for MemoryRoute {
    fn post(&self, frame: Frame) {
        self.peer.deliver(self.me, frame);
    }

    fn abort(&self, reason: &str) {
        self.peer.deliver(self.me, Frame::abort(reason));
    }

    fn settle(&self, _bytes: usize, _patience: Duration) {}

    fn finish(&mut self) {}
}

/// What a session holds of its transport. `routes[me]` is `None`.
pub(crate) struct Links {
    pub hub: Arc<Hub>,
    pub routes: Vec<Option<Box<dyn Route>>>,
    pub pool: Arc<Pool>,
    /// What this party has in common with each peer; with none where somebody else carries the bytes.
    pub chains: Vec<Option<Chain>>,
    /// What the nodes have drawn together.
    pub drawn: [u8; 32],
}
