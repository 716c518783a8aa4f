//! Parties, sessions and the channels between them.
//!
//! A [`Session`] is one party's end of a fully connected group. Protocols are straight-line, blocking code over it:
//! [`Session::next_round`], [`Session::send`], [`Session::recv`]. Sending never blocks on the network, so every party
//! may send first and receive afterwards without a deadlock. Two transports speak the same frames: [`memory`] joins
//! parties of one process, [`tcp`] joins processes and hosts by TCP under mutually authenticated TLS 1.3. Under
//! [`relay`], someone else carries the bytes, a round at a time. [`replay`] runs one party again, alone, for tests and
//! measurements.
//!
//! What the wire shows to an observer: who speaks with whom, when, and how many bytes. Protocols declare rounds and
//! bytes before they run, as [`Traffic`] or [`Cost`]. A [`Meter`] counts what is sent per named step, and a
//! [`Transcript`] lists it message by message; in tests it also has what the messages say ([`Record`]).
//!
//! When any party ends in the middle, every other party's next call returns a [`NetError`] within seconds. The error
//! names the peer and the step. Nothing here waits without a bound on a peer that is dead or silent.

mod abort;
pub mod attendance;
mod cost;
mod error;
mod fault;
mod frame;
mod hub;
mod inbox;
pub mod keys;
mod link;
mod lock;
pub mod memory;
mod meter;
mod options;
mod party;
mod pool;
mod received;
pub mod relay;
pub mod replay;
mod route;
mod secret;
mod session;
mod tape;
pub mod tcp;
pub mod testimony;
mod transcript;

pub use abort::AbortHandle;
pub use cost::{Cost, Traffic};
pub use error::NetError;
pub use fault::Fault;
pub use frame::{FRAME_HEADER, MAX_FRAME_PAYLOAD};
pub use link::Link;
pub use meter::{Counters, Meter, Snapshot, StepCounters};
pub use options::{Options, Record, Security, Shape};
pub use party::PartyId;
pub use received::Received;
pub use secret::Secret;
pub use session::Session;
pub use transcript::{Direction, Message, Opened, Seen, Source, Transcript};

/// What both ends of a connection have to run: the version of tacit, and the noise of silent correlations where it is
/// the heavier one.
pub const VERSION: &str = if cfg!(feature = "heavier-noise") {
    concat!(env!("CARGO_PKG_VERSION"), "+heavier-noise")
} else {
    env!("CARGO_PKG_VERSION")
};
