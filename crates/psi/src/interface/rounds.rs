//! The transport-free twin of [`Protocol`](crate::Protocol): numbered rounds that turn what came into what goes out.
//!
//! The interface is that of Badrinarayanan, Kumaresan, Christodorescu, Nagaraja, Patel, Raghuraman, Rindal, Sun, Xu, "A
//! Plug-n-Play Framework for Scaling Private Set Intersection to Billion-sized Sets", section 4.3. The calls are
//! `get-setup-round-count`, `setup`, `get-online-round-count` and `psi-round` there. So a cluster engine can move the
//! bytes and keep the bins. Both parties call every round, in order; in a round in which a party has nothing to do, the
//! bytes are empty. The input of round `id` is what the peer's round `id - 1` returned, empty for round 0; what the
//! last round returns is empty.
//!
//! **Executors.** An engine that ends its tasks between rounds saves a run ([`Rounds::save`]) and restores it in
//! another process ([`Relayed::restore`]); that computes again what was computed. **Many pairs of sets** from one setup
//! run one after the other, each with its own fresh randomness. Pairs at the same time, such as the bins of a table,
//! have an instance each, with a setup of its own ([`Protocol::declared`](crate::Protocol::declared) says what it
//! costs). The rounds of all instances are called side by side.
//!
//! | adapter | turns | into |
//! |---|---|---|
//! | [`Relayed`] | any [`Protocol`](crate::Protocol) | [`Rounds`]: the straight-line code runs on a thread of its own |
//! | [`Driven`] | any [`Rounds`], of another vendor too | [`Protocol`](crate::Protocol) over a session |

mod driven;
mod relayed;
mod state;

pub use driven::Driven;
pub use relayed::Relayed;

use crate::error::PsiError;
use crate::interface::protocol::{Item, Outcome, Sizes};
use crate::wrong_input::WrongInput;
use zeroize::Zeroizing;

/// One party of a protocol of two sets, without a transport. Setup serves any number of pairs of sets, one after the
/// other: for each, `begin`, every online round, `outcome`.
pub trait Rounds<O = Outcome>: Send {
    /// How many setup rounds there are.
    fn setup_round_count(&self) -> u32;

    /// Setup round `id`.
    ///
    /// # Errors
    /// A peer that deviates; rounds out of order.
    fn setup(&mut self, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError>;

    /// The next pair of sets: this party's items and both sizes.
    ///
    /// # Errors
    /// Items that do not fit the sizes; setup that is not complete.
    fn begin(&mut self, items: &[Item], sizes: Sizes) -> Result<(), PsiError>;

    /// How many online rounds the present pair of sets takes: a function of the sizes.
    fn online_round_count(&self) -> u32;

    /// Online round `id`.
    ///
    /// # Errors
    /// A peer that deviates; rounds out of order.
    fn round(&mut self, id: u32, input: &[u8]) -> Result<Vec<u8>, PsiError>;

    /// What this party has after the last round.
    ///
    /// # Errors
    /// If rounds are missing.
    fn outcome(&mut self) -> Result<O, PsiError>;

    /// Of the last pair of sets, once its outcome is taken: [`Prepared::proofs`](crate::Prepared::proofs).
    fn proofs(&mut self) -> Option<Vec<u64>> {
        None
    }

    /// Ends this run here, between two calls, as bytes from which it goes on elsewhere: of [`Relayed`] by
    /// [`Relayed::restore`].
    ///
    /// The bytes are as secret as items and keys together: they travel and rest encrypted. They are continued once; to
    /// continue them again with another message is to use the same randomness for two runs.
    ///
    /// # Errors
    /// [`PsiError::Input`] of a run that has failed, or that does not move.
    fn save(self: Box<Self>) -> Result<Zeroizing<Vec<u8>>, PsiError> {
        Err(WrongInput::Unmovable.into())
    }
}
