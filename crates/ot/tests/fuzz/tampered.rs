//! Two honest parties, and between them a network that changes one message of a run: what a decoder of a peer's bytes
//! must survive.
//!
//! A target passes if no party panics, and both end: with a result or an error. A change is drawn by bolero, so that
//! the same targets run under a fuzzer that is guided by coverage (`cargo bolero test`).

use bolero::TypeGenerator;
use std::panic::{RefUnwindSafe, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tacit_net::relay::{self, Relay};
use tacit_net::{FRAME_HEADER, Options, Session};

/// Changes of each target in one input of the fuzzer.
const CHANGES: usize = 6;

/// More memory than any honest run of these sizes takes, in bytes: a peer's numbers must not reserve more.
const MOST_MEMORY: usize = 8 << 30;

/// Which of the messages that are not empty is changed, and how. Places wrap around.
#[derive(Clone, Debug, TypeGenerator)]
pub struct Tampering {
    message: u16,
    change: Change,
}

#[derive(Clone, Debug, TypeGenerator)]
enum Change {
    /// Bits of the payload.
    Flip { at: u16, bits: u8 },
    /// The payload from somewhere on.
    Fill { from: u16, with: u8 },
    /// Some of the payload.
    Write { at: u16, bytes: [u8; 16] },
    /// Fewer bytes, in a proper frame.
    Shorten(u16),
    /// More bytes, in a proper frame.
    Lengthen([u8; 24]),
    /// Bits of anything.
    Break { at: u16, bits: u8 },
    /// A frame's header that says anything before the payload.
    Head([u8; FRAME_HEADER]),
    /// Anything, in place of all.
    Replace([u8; 40]),
}

impl Change {
    fn apply(&self, message: &mut Vec<u8>) {
        let payload = message.len() - FRAME_HEADER;
        let place = |at: u16| FRAME_HEADER + usize::from(at) % payload;
        let end = message.len();
        match *self {
            Self::Flip { at, bits } => message[place(at)] ^= bits | 1,
            Self::Fill { from, with } => message[place(from)..].fill(with),
            Self::Write { at, bytes } => message[place(at)..].iter_mut().zip(bytes).for_each(|(to, from)| *to = from),
            Self::Shorten(by) => message.truncate(place(by)),
            Self::Lengthen(bytes) => message.extend_from_slice(&bytes),
            Self::Break { at, bits } => message[usize::from(at) % end] ^= bits | 1,
            Self::Head(bytes) => message[..FRAME_HEADER].copy_from_slice(&bytes),
            Self::Replace(bytes) => *message = bytes.to_vec(),
        }
        if let Self::Shorten(_) | Self::Lengthen(_) = self {
            let length = (message.len() - FRAME_HEADER) as u32;
            message[4..8].copy_from_slice(&length.to_le_bytes());
        }
    }
}

/// The network of one run.
pub struct Network<'a> {
    /// Changes the message of this number.
    tampering: Option<(usize, &'a Tampering)>,
    messages: AtomicUsize,
}

impl Network<'_> {
    /// Runs both parties until neither does anything without more of the other's bytes. What each of them has come to.
    pub fn run<A: Send, B: Send, E: Send + From<tacit_net::NetError>>(
        &self,
        alice: impl FnOnce(&mut Session) -> Result<A, E> + Send,
        bob: impl FnOnce(&mut Session) -> Result<B, E> + Send,
    ) -> (Result<A, E>, Result<B, E>) {
        let [(a, to_a), (b, to_b)] = relay::pair(["alice", "bob"], &Options::default()).expect("randomness");
        let aborts = [a.abort_handle(), b.abort_handle()];
        thread::scope(|scope| {
            let relays = [&to_a, &to_b];
            let alice = scope.spawn(move || party(a, relays[0], alice));
            let bob = scope.spawn(move || party(b, relays[1], bob));
            self.carry(relays);
            // Who still waits, waits for bytes that will never come.
            aborts.iter().for_each(|abort| abort.abort("nothing more comes"));
            (
                alice.join().unwrap_or_else(|panic| resume_unwind(panic)),
                bob.join().unwrap_or_else(|panic| resume_unwind(panic)),
            )
        })
    }

    fn carry(&self, relays: [&Relay; 2]) {
        let mut blobs = [Vec::new(), Vec::new()];
        loop {
            // Bytes that are no frames are a session's failure: its party ends, and sends nothing more.
            let [to_b, to_a] = [0, 1].map(|me| relays[me].exchange(&blobs[me]).unwrap_or_default());
            blobs = [to_a, to_b];
            for blob in blobs.iter_mut().filter(|blob| blob.len() > FRAME_HEADER) {
                let number = self.messages.fetch_add(1, Ordering::Relaxed);
                match self.tampering {
                    Some((which, tampering)) if which == number => tampering.change.apply(blob),
                    _ => {}
                }
            }
            if blobs.iter().all(Vec::is_empty) {
                return;
            }
        }
    }
}

fn party<T, E>(mut session: Session, relay: &Relay, body: impl FnOnce(&mut Session) -> Result<T, E>) -> Result<T, E> {
    let result = body(&mut session);
    relay.rest();
    result
}

/// A run of two parties over a network, which says whether both have come to a result.
pub type Target = Box<dyn Fn(&Network<'_>) -> bool + RefUnwindSafe>;

/// Runs every target honestly once and then as often as the fuzzer wants with changed messages.
pub fn fuzz(targets: &[(&str, Target)]) {
    let honest = |(name, target): &(&str, Target)| {
        let network = Network { tampering: None, messages: AtomicUsize::new(0) };
        assert!(target(&network), "{name}: an honest run fails");
        network.messages.into_inner()
    };
    let messages: Vec<usize> = targets.iter().map(honest).collect();
    let several = bolero::generator::produce::<Vec<Tampering>>().with().len(CHANGES * targets.len());
    bolero::check!().with_generator(several).with_max_len(1 << 20).for_each(|changes| {
        for (change, number) in changes.iter().zip((0..targets.len()).cycle()) {
            let which = usize::from(change.message) % messages[number];
            let network = Network { tampering: Some((which, change)), messages: AtomicUsize::new(0) };
            (targets[number].1)(&network);
        }
    });
    assert!(peak_virtual_memory() < MOST_MEMORY, "a peer's bytes made a party reserve too much memory");
}

/// The most memory that this process has ever reserved.
fn peak_virtual_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) << 10
}
