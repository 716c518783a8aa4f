//! One party of a run again, alone, against what it received from its peers: for tests and measurements.
//!
//! A recording has all that reached the party and the secrets it had in common with its peers. So it is kept in memory
//! alone, and nothing but a test or a bench makes one. Who replays it with the same inputs sends what it sent before
//! ([`Replayed::into_parts`]), whatever number of threads computes it.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use crate::frame::{Frame, Kind};
use crate::hub::Hub;
use crate::lock::lock;
use crate::memory;
use crate::meter::Meter;
use crate::options::Options;
use crate::party::PartyId;
use crate::pool::Pool;
use crate::route::{Links, Route};
use crate::secret::Chain;
use crate::session::Session;
use crate::tape::Tape;

pub use crate::tape::Told;

/// What one party of a run in this process receives.
pub struct Recording {
    me: usize,
    names: Vec<String>,
    chains: Vec<Option<Chain>>,
    drawn: [u8; 32],
    tape: Arc<Tape>,
}

/// As [`memory::mesh`], with a recording of what reaches one party.
pub fn mesh(names: &[&str], options: &Options, recorded: PartyId) -> (Vec<Session>, Recording) {
    let tape = Arc::<Tape>::default();
    let (sessions, chains, drawn) = memory::taped(names, options, recorded.0, &tape);
    let names = names.iter().map(|&name| name.to_owned()).collect();
    (sessions, Recording { me: recorded.0, names, chains, drawn, tape })
}

impl Recording {
    /// The messages that the party sent.
    pub fn sent(&self) -> Vec<Told> {
        lock(&self.tape.sent).clone()
    }

    /// The party's end of the run, to be driven again as it was, when it has ended. keeps: whether it
    /// keeps what the party sends.
    pub fn replay(&self, options: &Options, keeps: bool) -> Replayed {
        let hub = Arc::new(Hub::new(self.names.clone(), options.shape, options.pulse()));
        for (PartyId(peer), round, bytes) in lock(&self.tape.received).iter() {
            hub.deliver(*peer, Frame::new(Kind::Data, *round, bytes.clone()));
        }
        let (pool, tape) = (Arc::<Pool>::default(), Arc::<Tape>::default());
        let route = |peer: usize| -> Option<Box<dyn Route>> {
            let kept = keeps.then(|| Arc::clone(&tape));
            (peer != self.me).then(|| Box::new(Silent { peer, pool: Arc::clone(&pool), kept }) as Box<dyn Route>)
        };
        let routes = (0..self.names.len()).map(route).collect();
        let chains = self.chains.iter().map(|chain| chain.as_ref().map(Chain::again)).collect();
        // The peers have taken their leave, so that the party can take its own: behind all that it receives.
        for peer in (0..self.names.len()).filter(|&peer| peer != self.me) {
            let leave = [Kind::Ready, Kind::Goodbye, Kind::Farewell];
            leave.into_iter().for_each(|kind| hub.deliver(peer, Frame::control(kind)));
        }
        let links = Links { hub, routes, pool, chains, drawn: self.drawn };
        Replayed { session: Session::new(self.me, links, Arc::new(Meter::new()), options.record), tape }
    }
}

/// A party's end of a replayed run.
pub struct Replayed {
    /// What the party is driven with.
    pub session: Session,
    tape: Arc<Tape>,
}

impl Replayed {
    /// The session, and what later gives the messages that the party has sent.
    pub fn into_parts(self) -> (Session, impl FnOnce() -> Vec<Told>) {
        (self.session, move || mem::take(&mut *lock(&self.tape.sent)))
    }
}

/// A way to a peer that is not there.
struct Silent {
    peer: usize,
    pool: Arc<Pool>,
    kept: Option<Arc<Tape>>,
}

impl Route for Silent {
    fn post(&self, frame: Frame) {
        match &self.kept {
            Some(tape) if frame.kind == Kind::Data => {
                lock(&tape.sent).push((PartyId(self.peer), frame.round, frame.payload));
            }
            _ => self.pool.give(frame.payload),
        }
    }

    fn abort(&self, _reason: &str) {}

    fn settle(&self, _bytes: usize, _patience: Duration) {}

    fn finish(&mut self) {}
}
