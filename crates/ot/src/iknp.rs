//! IKNP: correlated OT with the least computation and the most traffic, 16 bytes an OT.
//!
//! **Computes** n correlated OTs with random bits ([`crate::correlated`]). Each base OT gives both parties streams for
//! one column of the matrices Q = V + u delta. The receiver sends by how much its two streams differ from its bits u.
//! **Adversary** semi-honest or malicious, either party. **Discloses** nothing.
//!
//! **Cost** setup: 128 base OTs, 1 round. Extension of n > 0, with w = ceil(n/64) words (one more if malicious): 1
//! round, 1016 w bytes from the receiver. Malicious: 2 more rounds, 16 bytes from the sender and 1032 from the
//! receiver.
//!
//! **Source** Ishai, Kilian, Nissim, Petrank, "Extending Oblivious Transfers Efficiently" (CRYPTO 2003). It is
//! SoftSpokenOT with k = 1 (Roy, CRYPTO 2022, section 5), and runs as such: the first column's bits are the receiver's
//! choice, so 127 columns are corrected. **Departures** the check of a malicious receiver is Roy's, a universal hash of
//! every column. That of Keller, Orsini, Scholl (KOS, CRYPTO 2015), one random combination of the rows in GF(2^128),
//! has a gap in its proof, as Roy shows. Without new parameters their check is not known to reach the security that it
//! claims. [`crate::softspoken`] has the bound.

use tacit_net::{PartyId, Session, Traffic};

use crate::correlated::{CotReceiver, CotSender};
use crate::{Adversary, OtError, softspoken};

/// Bits of delta behind each base OT.
const K: usize = 1;

/// The cost of both sides' `setup`.
pub fn setup_cost(adversary: Adversary) -> Traffic {
    softspoken::setup_cost(K, adversary)
}

/// The cost of both sides' `extend`.
pub fn extension_cost(adversary: Adversary, n: usize) -> Traffic {
    softspoken::extension_cost(K, adversary, n)
}

/// The sender of OTs.
pub struct Sender(softspoken::Sender);

/// The receiver of OTs.
pub struct Receiver(softspoken::Receiver);

impl Sender {
    /// Draws delta and receives one seed of every column.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    pub fn setup(session: &mut Session, peer: PartyId, adversary: Adversary) -> Result<Self, OtError> {
        softspoken::Sender::setup(session, peer, adversary, K).map(Self)
    }

    /// The next n OTs.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    pub fn extend(&mut self, session: &mut Session, n: usize) -> Result<CotSender, OtError> {
        self.0.extend(session, n)
    }
}

impl Receiver {
    /// Draws both seeds of every column.
    ///
    /// # Errors
    /// The connection's failure; [`OtError::Cheating`].
    pub fn setup(session: &mut Session, peer: PartyId, adversary: Adversary) -> Result<Self, OtError> {
        softspoken::Receiver::setup(session, peer, adversary, K).map(Self)
    }

    /// The next n OTs, with random bits.
    ///
    /// # Errors
    /// The connection's failure.
    pub fn extend(&mut self, session: &mut Session, n: usize) -> Result<CotReceiver, OtError> {
        self.0.extend(session, n)
    }
}
