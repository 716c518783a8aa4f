//! A node of the engine: its sharing, its session with the other node, and what it keeps between operations.

use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::ole::Ole;
use zeroize::Zeroizing;

use super::NODES;
use super::garbled::Transfers;
use super::terms::Terms;
use super::transfers::{Order, Stock};
use crate::linear::Column;
use crate::{Linear, MpcError, Result};

/// A node's component of two. Not printable, not comparable.
#[derive(Clone)]
#[must_use]
pub struct Share<T>(pub(in crate::backends::two) T);

impl<T: Column> Linear<T> for Share<T> {
    fn map_many(inputs: &[&Self], outputs: usize, _rows: usize, map: impl Fn(&[&T]) -> Vec<T>) -> Vec<Self> {
        let out: Vec<_> = map(&inputs.iter().map(|x| &x.0).collect::<Vec<_>>()).into_iter().map(Share).collect();
        assert_eq!(out.len(), outputs, "as many outputs as promised");
        out
    }

    fn rows(&self) -> usize {
        self.0.len()
    }
}

/// What the nodes' secret is for.
const PURPOSE: &str = "two: generator of both nodes";

/// A node of the engine: its session with the other one and its stock of correlated OTs.
pub struct Two {
    pub(super) session: Session,
    pub(super) stock: Stock,
    /// The offset of the labels that this node garbles with. Nothing else has it: what would give away the stock's
    /// offset opens no circuit, and what would give away this one opens no transfer.
    pub(super) garbling: Zeroizing<u128>,
    /// OT state for garbled input labels, created by the first garbled circuit.
    pub(super) transfers: Option<Transfers>,
    /// OLE state, created by the first large product.
    pub(super) ole: Option<Ole>,
    /// What protocols are chosen by.
    pub(super) terms: Terms,
    /// The generator that both nodes hold.
    pub(super) common: Prg,
    /// This node's own generator.
    pub(super) own: Prg,
    /// Who gave the elements of the last injection.
    pub(super) turn: usize,
}

impl Two {
    /// Sets the engine up on a session of exactly two parties: base OTs in both directions. The generator that both
    /// hold begins with a secret that they have in common in this session, so that no seed is sent.
    ///
    /// # Errors
    /// When the peer is gone or misbehaves, the operating system gives no randomness, or somebody else carries the
    /// session's bytes.
    pub fn new(session: Session) -> Result<Self> {
        Self::begin(session, Stock::new)
    }

    /// As [`Self::new`], with a second session between the same nodes, in which all stock is made: ahead of its use, if
    /// it is ordered ([`Self::order`]).
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn with_stock_ahead(session: Session, background: Session) -> Result<Self> {
        Self::begin(session, |session| Stock::made_ahead(session, background))
    }

    /// Has stock made for a step, in the background, after what was ordered before. All nodes order the same in the
    /// same order, in which the steps use it ([`Costs::orders`]).
    pub fn order(&mut self, step: &str, order: Order) {
        self.stock.order(step, order);
    }

    fn begin(mut session: Session, stock: impl FnOnce(&mut Session) -> Result<Stock>) -> Result<Self> {
        assert_eq!(session.parties(), NODES, "two has two nodes");
        let fresh = || Seed::random().map_err(|e| MpcError::Randomness(e.to_string()));
        let own = fresh()?;
        let garbling = Zeroizing::new(u128::from_le_bytes(*fresh()?.expose()) | 1);
        let peer = PartyId(1 - session.me().0);
        let common = Prg::new(&Seed::from_secret(&*session.pair_secret(peer, PURPOSE)?));
        session.enter("setup");
        let stock = stock(&mut session)?;
        session.leave();
        Ok(Self {
            session,
            stock,
            garbling,
            transfers: None,
            ole: None,
            terms: Terms::default(),
            common,
            own: Prg::new(&own),
            turn: 0,
        })
    }

    pub(super) fn me(&self) -> usize {
        self.session.me().0
    }

    pub(super) fn peer(&self) -> PartyId {
        PartyId(1 - self.me())
    }

    /// A public value is component 0.
    pub(super) fn public<T>(&self, value: impl FnOnce() -> T, zero: impl FnOnce() -> T) -> Share<T> {
        Share(if self.me() == 0 { value() } else { zero() })
    }
}
