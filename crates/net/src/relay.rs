//! A session without a network: someone else carries the bytes, a blob at a time.
//!
//! Straight-line protocol code runs on a thread of its own over an ordinary [`Session`]. Whoever holds the [`Relay`]
//! asks for what the code has sent and hands in what the peer's code has sent. So a protocol written once also runs
//! round by round inside a cluster engine, a message queue or a test.
//!
//! A blob is the frames of [`crate::tcp`], one behind the other; its length shows what a wire would show.

use crate::error::NetError;
use crate::frame::{FRAME_HEADER, Frame, Header, Kind, MAX_FRAME_PAYLOAD};
use crate::hub::{Hub, Progress};
use crate::lock::lock;
use crate::meter::Meter;
use crate::options::Options;
use crate::pool::Pool;
use crate::route::{Links, Route};
use crate::secret::Chain;
use crate::session::Session;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What is queued for the peer: bytes of one round each, in order.
type Outgoing = Arc<Mutex<Vec<(u64, Vec<u8>)>>>;

/// The other end of a [`session`]'s only link.
pub struct Relay {
    me: usize,
    hub: Arc<Hub>,
    outgoing: Outgoing,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("parties", &self.hub.names()).finish_non_exhaustive()
    }
}

/// The session of party `me` (0 or 1) of the two `names`, and the end that carries its bytes.
///
/// # Panics
/// If `me` is neither 0 nor 1.
pub fn session(names: [&str; 2], me: usize, options: &Options) -> (Session, Relay) {
    end(names, me, options, None)
}

/// Both sessions in one process, which have a secret in common ([`Session::pair_secret`]).
///
/// # Errors
/// When the operating system gives no randomness.
pub fn pair(names: [&str; 2], options: &Options) -> Result<[(Session, Relay); 2], getrandom::Error> {
    let [first, second] = Chain::pair()?;
    Ok([end(names, 0, options, Some(first)), end(names, 1, options, Some(second))])
}

fn end(names: [&str; 2], me: usize, options: &Options, chain: Option<Chain>) -> (Session, Relay) {
    assert!(me < 2, "one of two parties");
    let hub = Arc::new(Hub::new(names.map(str::to_owned).to_vec(), options.shape, options.pulse()));
    let outgoing = Outgoing::default();
    let route = RelayRoute { outgoing: Arc::clone(&outgoing) };
    let mut routes: Vec<Option<Box<dyn Route>>> = vec![None, None];
    routes[1 - me] = Some(Box::new(route));
    let mut chains = vec![None, None];
    chains[1 - me] = chain;
    let links = Links { hub: Arc::clone(&hub), routes, pool: Arc::<Pool>::default(), chains, drawn: [0; 32] };
    let session = Session::new(me, links, Arc::new(Meter::new()), options.record);
    (session, Relay { me, hub, outgoing })
}

impl Relay {
    /// Hand in what the peer sent and wait until the session's thread can do nothing without more of it, rests or has
    /// ended. Then take what it has sent since the last call. Before a failure is told, the thread has met it too.
    ///
    /// # Errors
    /// [`NetError::Desynchronised`], which is then the session's failure too, if `input` is not a sequence of frames or
    /// comes when the session's code asks for nothing more.
    pub fn exchange(&self, input: &[u8]) -> Result<Vec<u8>, NetError> {
        let peer = 1 - self.me;
        let refused = match decode(input) {
            Ok(frames) if !frames.is_empty() && self.hub.progress() == Progress::Rests => {
                Some("it sent bytes that this party never asked for".to_owned())
            }
            Ok(frames) => {
                frames.into_iter().for_each(|frame| self.hub.deliver(peer, frame));
                None
            }
            Err(detail) => Some(detail),
        };
        let failure = refused.map(|detail| self.hub.fail_out_of_step(peer, detail));
        self.hub.await_rest();
        if let Some(failure) = failure {
            return Err(failure);
        }
        Ok(encode(&std::mem::take(&mut *lock(&self.outgoing))))
    }

    /// Said by the session's thread: it sends and receives nothing until [`Self::resume`].
    pub fn rest(&self) {
        self.hub.set_progress(Progress::Rests);
    }

    /// Said before the session's thread is given more to do.
    pub fn resume(&self) {
        self.hub.set_progress(Progress::Runs);
    }
}

/// Keeps data for whoever takes it; signs of life and leave-taking have no one to go to.
struct RelayRoute {
    outgoing: Outgoing,
}

impl Route for RelayRoute {
    fn post(&self, frame: Frame) {
        if frame.kind != Kind::Data {
            return;
        }
        let mut outgoing = lock(&self.outgoing);
        match outgoing.last_mut() {
            Some((round, bytes)) if *round == frame.round => bytes.extend_from_slice(&frame.payload),
            _ => outgoing.push((frame.round, frame.payload)),
        }
    }

    fn abort(&self, _reason: &str) {}

    fn settle(&self, _bytes: usize, _patience: Duration) {}

    fn finish(&mut self) {}
}

fn encode(rounds: &[(u64, Vec<u8>)]) -> Vec<u8> {
    let length = |bytes: &[u8]| bytes.len() + bytes.len().div_ceil(MAX_FRAME_PAYLOAD) * FRAME_HEADER;
    let mut blob = Vec::with_capacity(rounds.iter().map(|(_, bytes)| length(bytes)).sum());
    for (round, bytes) in rounds {
        for piece in bytes.chunks(MAX_FRAME_PAYLOAD) {
            blob.extend_from_slice(&Header { kind: Kind::Data, length: piece.len(), round: *round }.encode());
            blob.extend_from_slice(piece);
        }
    }
    blob
}

fn decode(mut blob: &[u8]) -> Result<Vec<Frame>, String> {
    let mut frames = Vec::new();
    while !blob.is_empty() {
        let cut = || "its bytes end inside of a frame".to_owned();
        let (header, rest) = blob.split_first_chunk::<FRAME_HEADER>().ok_or_else(cut)?;
        let header = Header::decode(header)?;
        if header.kind != Kind::Data {
            return Err(format!("it sent a {:?} frame where only data is carried", header.kind));
        }
        let (payload, rest) = rest.split_at_checked(header.length).ok_or_else(cut)?;
        frames.push(Frame::new(Kind::Data, header.round, payload.to_vec()));
        blob = rest;
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PartyId;
    use proptest::prelude::*;

    /// Two rounds: party 0 speaks first, party 1 answers with every byte doubled.
    fn talk(session: &mut Session, text: &[u8]) -> Result<Vec<u8>, NetError> {
        let mut heard = vec![0; text.len()];
        let peer = PartyId(1 - session.me().0);
        session.next_round();
        if session.me() == PartyId(0) {
            session.send(peer, text.to_vec())?;
            session.next_round();
            session.recv(peer, &mut heard)?;
        } else {
            session.recv(peer, &mut heard)?;
            session.next_round();
            session.send(peer, heard.iter().map(|byte| byte * 2).collect())?;
        }
        Ok(heard)
    }

    #[test]
    fn bytes_carried_by_hand_run_the_protocol() {
        let text = &vec![21_u8; (1 << 20) + 5];
        std::thread::scope(|scope| {
            let ends = [0, 1].map(|me| session(["a", "b"], me, &Options::default()));
            let mut relays = Vec::new();
            let mut threads = Vec::new();
            for (mut session, relay) in ends {
                let relay = Arc::new(relay);
                relays.push(Arc::clone(&relay));
                threads.push(scope.spawn(move || {
                    let heard = talk(&mut session, text).expect("an honest peer");
                    relay.rest();
                    heard
                }));
            }
            let first = relays[0].exchange(&[]).expect("nothing came");
            assert_eq!(first.len(), text.len() + 2 * FRAME_HEADER);
            let second = relays[1].exchange(&first).expect("frames");
            assert!(relays[0].exchange(&second).expect("frames").is_empty());
            assert!(
                matches!(relays[0].exchange(&second), Err(NetError::Desynchronised { .. })),
                "it asked for nothing"
            );
            let heard: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("no panic")).collect();
            assert_eq!((heard[0][0], heard[1][0]), (42, 21));
        });
    }

    /// The thread's error names the step, and the error of the end that carries bytes names none: the thread is first.
    #[test]
    fn a_thread_that_waits_meets_a_failure_before_it_is_told() {
        for _ in 0..200 {
            let (mut session, relay) = session(["a", "b"], 0, &Options::default());
            let relay = Arc::new(relay);
            let (met, meets) = std::sync::mpsc::channel();
            let rests = Arc::clone(&relay);
            let thread = std::thread::spawn(move || {
                met.send(talk(&mut session, &[7])).expect("the test listens");
                rests.rest();
            });
            relay.exchange(&[]).expect("nothing came");
            relay.exchange(&[1, 2, 3]).expect_err("no frame");
            meets.try_recv().expect("the thread has ended its round").expect_err("no frame");
            thread.join().expect("no panic");
        }
    }

    #[test]
    fn a_dropped_session_waits_for_nobody() {
        let (session, relay) = session(["a", "b"], 0, &Options::default());
        drop(session);
        assert!(relay.exchange(&[]).expect("nothing came").is_empty());
    }

    proptest! {
        #[test]
        fn arbitrary_blobs_are_frames_or_an_error(blob: Vec<u8>, valid: bool, cut in 0usize..40) {
            let blob = if valid { encode(&[(3, blob.clone()), (4, blob)]) } else { blob };
            let cut = &blob[..blob.len().saturating_sub(cut)];
            if let Ok(frames) = decode(cut) {
                let rounds: Vec<_> = frames.into_iter().map(|frame| (frame.round, frame.payload)).collect();
                prop_assert_eq!(encode(&rounds), cut);
            }
        }
    }
}
