//! Stock made ahead of its use: by a thread of its own, in a session of its own, under the engine's offset.
//!
//! Both nodes order the same fillings in the same order, because what a plan takes follows from public sizes. So their
//! threads need no agreement. The order is that of use. A node that waits for a filling has taken all before it, and no
//! node waits for a peer whose thread waits for room. A thread that waits for room or for orders is in no call of its
//! session, and thus gives no sign of waiting. The peer's thread waits for it without calling that a standstill.
//!
//! A failure of the thread is one of the engine's session at once, with the thread's place. The engine's end aborts the
//! thread's session, and whoever waits for a filling notices that the engine's session has failed.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tacit_net::{AbortHandle, NetError, Session};

use super::account::Order;
use super::filler::{Filler, Made};
use crate::{MpcError, Result};

/// Fillings that are made and wait to be used, at most: of 16 MiB each, unless one use takes more.
const WAITING: usize = 2;

/// How often who waits for a filling looks whether the engine's session has failed meanwhile.
const GLANCE: Duration = Duration::from_millis(50);

/// What peers are told by a node whose engine ended without a word.
const ENDED: &str = "it stopped without closing the session";

/// The engine's end of the thread.
pub(super) struct Ahead {
    /// To the thread, which ends in order when this is gone: what to make, and for which step.
    orders: Option<Sender<(String, Order)>>,
    made: Option<Receiver<Result<(Order, Made)>>>,
    /// Orders whose fillings have not been taken.
    waiting: usize,
    session: AbortHandle,
    engine: AbortHandle,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Starts the thread in its session; its failure is to be that of the engine's session.
    pub(super) fn start(session: Session, filler: Filler, engine: AbortHandle) -> Result<Self> {
        let handle = session.abort_handle();
        let (orders, ordered) = channel();
        let (finished, made) = sync_channel(WAITING);
        let owner = engine.clone();
        let work = move || {
            if let Err(error) = produce(session, filler, ordered, &finished) {
                owner.fail(failure(&error));
                // Whoever has ended does not ask why.
                let _ = finished.send(Err(error));
            }
        };
        let thread = thread::Builder::new().name("stock".into()).spawn(work).map_err(|error| {
            NetError::BadConfiguration { detail: format!("no thread is left to make stock ahead: {error}") }
        })?;
        Ok(Self { orders: Some(orders), made: Some(made), waiting: 0, session: handle, engine, thread: Some(thread) })
    }

    /// Has a filling made for a step, after those that were ordered before.
    pub(super) fn order(&mut self, step: &str, order: Order) {
        self.waiting += 1;
        if let Some(orders) = &self.orders {
            // A thread that is gone has told why in what it made last.
            let _ = orders.send((step.to_owned(), order));
        }
    }

    /// The filling that was ordered first among those that wait; if nothing was, `unforeseen` is, at this place.
    pub(super) fn take(&mut self, path: &str, unforeseen: Order) -> Result<(Order, Made)> {
        if self.waiting == 0 {
            self.order(path, unforeseen);
        }
        self.waiting -= 1;
        while let Some(made) = &self.made {
            match made.recv_timeout(GLANCE) {
                Ok(made) => return made,
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Some(failure) = self.engine.failure(path) {
                return Err(failure.into());
            }
        }
        let reason = "no stock is made any more".to_owned();
        Err(NetError::Interrupted { step: path.to_owned(), reason }.into())
    }

    /// Ends the thread in order, with all that was ordered: the peer's has as much to do.
    pub(super) fn end(mut self) {
        self.stop();
    }

    /// Makes the thread fail; its peer is told why.
    pub(super) fn abort(&self, reason: &str) {
        self.session.abort(reason);
    }

    fn stop(&mut self) {
        (self.orders, self.made) = (None, None);
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.abort(ENDED);
            self.stop();
        }
    }
}

/// What the thread does until nothing more is ordered.
fn produce(
    mut session: Session,
    mut filler: Filler,
    orders: Receiver<(String, Order)>,
    finished: &SyncSender<Result<(Order, Made)>>,
) -> Result<()> {
    session.enter("setup");
    filler.set_up(&mut session)?;
    session.leave();
    for (step, order) in orders {
        session.enter(&step);
        let mut made = Made::default();
        filler.fill(&mut session, order, &mut made.sending, &mut made.receiving)?;
        session.leave();
        // An engine that has ended takes no more, but its peer's may.
        let _ = finished.send(Ok((order, made)));
    }
    Ok(session.close()?)
}

/// The failure as one of a session.
fn failure(error: &MpcError) -> NetError {
    match error {
        MpcError::Net(error) => error.clone(),
        other => NetError::Interrupted { step: "stock".to_owned(), reason: other.to_string() },
    }
}
