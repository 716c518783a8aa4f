//! OT of labels.
//!
//! The OTs are by SoftSpokenOT with k = 2. Its receiver is node 1, whose one message both makes the OTs and chooses, so
//! that a batch is asked for in it and waits for nothing. That message is small beside the tables that come back, and
//! silent OT would take three times as much computing.

use tacit_math::plane::words_for;
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::Adversary;
use tacit_ot::softspoken::{self, Receiver, Sender};

use crate::Result;

/// SoftSpokenOT's k.
const BLOCK_BITS: usize = 2;

/// OT state of a node, kept between circuits.
pub(in crate::backends) enum Transfers {
    Garbler(Sender),
    Evaluator(Receiver),
}

impl Transfers {
    /// The garbler has the offset of labels.
    pub(super) fn setup(session: &mut Session, peer: PartyId, delta: Option<u128>) -> Result<Self> {
        let adversary = Adversary::SemiHonest;
        Ok(match delta {
            Some(delta) => Self::Garbler(Sender::setup_with(session, peer, adversary, BLOCK_BITS, delta)?),
            None => Self::Evaluator(Receiver::setup(session, peer, adversary, BLOCK_BITS)?),
        })
    }

    /// What the setup costs; the garbler is the sender.
    pub(in crate::backends) fn setup_cost() -> Traffic {
        softspoken::setup_cost(BLOCK_BITS, Adversary::SemiHonest)
    }

    /// Bytes by which the evaluator asks for a batch with `transferred` inputs by OT.
    pub(in crate::backends) fn bytes_asked(rows: usize, transferred: usize) -> u64 {
        softspoken::chosen_cost(BLOCK_BITS, 64 * words_for(rows) * transferred).receiver.max(1)
    }
}
