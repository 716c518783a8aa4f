//! The two connections with one peer, their threads, and their end.

use super::exporter::Exported;
use super::outbox::Outbox;
use crate::frame::Frame;
use crate::route::Route;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// How long the last bytes may take at the end of a session.
const PARTING: Duration = Duration::from_secs(3);

/// The link to one peer, in the making or complete.
#[derive(Default)]
pub(super) struct Link {
    pub outbox: Arc<Outbox>,
    pub threads: Vec<JoinHandle<()>>,
    pub outgoing: Option<TcpStream>,
    pub incoming: Option<TcpStream>,
    /// What the connection to the peer contributes to what both have in common, and that from it.
    pub contributions: [Exported; 2],
}

impl Link {
    /// Whether both directions stand.
    pub fn complete(&self) -> bool {
        self.outgoing.is_some() && self.incoming.is_some()
    }
}

impl Route for Link {
    fn post(&self, frame: Frame) {
        self.outbox.post(frame);
    }

    fn abort(&self, reason: &str) {
        self.outbox.abort(reason);
    }

    fn settle(&self, bytes: usize, patience: Duration) {
        self.outbox.settle(bytes, patience);
    }

    fn finish(&mut self) {
        if self.outgoing.is_some() {
            self.outbox.await_done(PARTING);
        }
        for socket in [self.outgoing.take(), self.incoming.take()].into_iter().flatten() {
            let _ = socket.shutdown(Shutdown::Both);
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
