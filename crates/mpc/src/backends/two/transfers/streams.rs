//! OTs of both directions on a fast link: made when they are used, tile by tile, so that nothing of them is stored.
//!
//! SoftSpokenOT with k = 2 takes half of silent OT's processor time, for 7.9 bytes an OT: less in all on a link
//! that [`is_fast`](super::super::terms::is_fast).

use tacit_math::CorrelationRobustHash;
use tacit_net::{Cost, Session, Traffic};
use tacit_ot::Adversary;
use tacit_ot::softspoken::{self, Receiver, Sender};

#[cfg(test)]
use super::Handed;
use super::{NODES, Stock};
use crate::Result;
use crate::backends::two::in_both_directions;

/// SoftSpokenOT's k.
pub(super) const DEPTH: usize = 2;

/// What `counts[d]` streamed OTs with node d as sender cost, without the round that they are part of; `first` if there
/// were none before.
pub(in crate::backends::two) fn cost(first: bool, counts: [usize; NODES]) -> Cost {
    in_both_directions(|d| {
        let extension = softspoken::extension_cost(DEPTH, Adversary::SemiHonest, counts[d]);
        let setup = if first { softspoken::setup_cost(DEPTH, Adversary::SemiHonest) } else { Traffic::default() };
        setup + Traffic { rounds: 0, ..extension }
    })
}

/// What `counts[d]` streamed OTs with node d as sender cost whose bits their receiver chose, once streams have begun.
pub(in crate::backends::two) fn chosen_cost(counts: [usize; NODES]) -> Cost {
    in_both_directions(|d| softspoken::chosen_cost(DEPTH, counts[d]))
}

/// What SoftSpokenOT of both directions goes on from.
pub(super) struct Streams {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
}

impl Stock {
    /// `counts[d]` OTs with node d as sender, whole words of them, in the present round and after
    /// [`Self::begin_streams`]. `sent` gets the zero blocks and the offset, `received` the choices and blocks, tile by
    /// tile.
    pub(in crate::backends::two) fn stream(
        &mut self,
        session: &mut Session,
        counts: [usize; NODES],
        mut sent: impl FnMut(&CorrelationRobustHash, u128, &[u128]),
        mut received: impl FnMut(&CorrelationRobustHash, &[u64], &[u128]),
    ) -> Result<()> {
        let (hash, delta) = (&self.hash, *self.delta);
        #[cfg(test)]
        let Handed { sent: seen, received: given } = &mut self.streamed;
        let Streams { sender, receiver } = self.filler.streams.as_mut().expect("streams have begun");
        session.enter("stock");
        let streamed = softspoken::extend_both(
            session,
            (sender, counts[self.me]),
            (receiver, counts[1 - self.me]),
            |blocks| {
                #[cfg(test)]
                seen.extend_from_slice(blocks);
                sent(hash, delta, blocks);
            },
            |choices, blocks| {
                #[cfg(test)]
                Handed::receive(given, choices, blocks);
                received(hash, choices, blocks);
            },
        );
        session.leave();
        Ok(streamed?)
    }

    /// As [`Self::stream`]: `send` OTs with this node as sender, and one of which it is the receiver for each bit that
    /// it chose.
    pub(in crate::backends::two) fn stream_chosen(
        &mut self,
        session: &mut Session,
        (send, choices): (usize, &[u64]),
        mut sent: impl FnMut(&CorrelationRobustHash, u128, &[u128]),
        mut received: impl FnMut(&CorrelationRobustHash, &[u64], &[u128]),
    ) -> Result<()> {
        let (hash, delta) = (&self.hash, *self.delta);
        #[cfg(test)]
        let Handed { sent: seen, received: given } = &mut self.streamed;
        let Streams { sender, receiver } = self.filler.streams.as_mut().expect("streams have begun");
        session.enter("stock");
        let streamed = softspoken::extend_both_chosen(
            session,
            (sender, send),
            (receiver, choices),
            |blocks| {
                #[cfg(test)]
                seen.extend_from_slice(blocks);
                sent(hash, delta, blocks);
            },
            |choices, blocks| {
                #[cfg(test)]
                Handed::receive(given, choices, blocks);
                received(hash, choices, blocks);
            },
        );
        session.leave();
        Ok(streamed?)
    }

    /// Sets streams up, unless they are.
    pub(in crate::backends::two) fn begin_streams(&mut self, session: &mut Session) -> Result<()> {
        self.filler.begin_streams(session)
    }
}
