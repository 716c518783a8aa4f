//! Permute and share: one party's data in an order that only the other knows, as shares of both.
//!
//! **Computes** from data x of the owner and an order π of the permuter additive shares modulo 2^64 of x(π(0)),
//! x(π(1)), ... **Adversary** semi-honest. **Discloses** nothing.
//!
//! **Source** oblivious switching: Mohassel, Sadeghian, "How to Hide Circuits in MPC" (EUROCRYPT 2013), section 4, as
//! used by Garimella, Mohassel, Rosulek, Sadeghian, Singh, "Private Set Operations from Oblivious Switching" (PKC
//! 2021), section 3. The owner masks every wire of a permutation network; for each switch the permuter gets, by one OT,
//! the two differences of masks between its inputs and its outputs for the way in which it has set the switch.
//!
//! **Cost** with s = [`switches`] (n), about n log2 n: 1 round, 8 n bytes from the owner. Then for every 2^20 switches
//! SoftSpokenOT's extension by as many OTs and 2 rounds, with a bit a switch from the permuter and 16 bytes a switch
//! from the owner. Memory is that of 2^20 switches. **Departures** the masks of a switch's outputs are the key of the
//! OT for passing, so that one correction of 16 bytes replaces two messages.

use crate::error::PsiError;
use crate::parts::switching::{Settings, pass, switches};
use tacit_math::{Prg, Seed};
use tacit_net::{PartyId, Session};
use tacit_ot::correlated::{CotReceiver, CotSender};
use tacit_ot::{Adversary, Cost, softspoken};

/// SoftSpokenOT's parameter here: 4 bytes an OT, at 12 AES blocks.
const K: usize = 4;
/// Switches whose keys are computed, and whose corrections are sent, at a time: 512 KiB.
const PIECE: usize = 1 << 15;
/// Switches whose OTs are made at a time: 16 MiB of blocks.
const BATCH: usize = 1 << 20;

/// The cost of [`Owner::setup`] and [`Permuter::setup`]; the owner is the sender.
pub fn setup_cost() -> Cost {
    softspoken::setup_cost(K, Adversary::SemiHonest)
}

/// The cost of sharing one column of n numbers; the owner is the sender.
pub fn cost(n: usize) -> Cost {
    let mut total = Cost { rounds: 1, sender: 8 * n as u64, receiver: 0 };
    for batch in batches(switches(n)) {
        let extension = softspoken::extension_cost(K, Adversary::SemiHonest, batch);
        total.rounds += extension.rounds + 2;
        total.sender += extension.sender + 16 * batch as u64;
        total.receiver += extension.receiver + batch.div_ceil(8) as u64;
    }
    total
}

/// Sizes of the batches of switches.
fn batches(switches: usize) -> impl Iterator<Item = usize> {
    (0..switches).step_by(BATCH).map(move |start| BATCH.min(switches - start))
}

/// The party that has the data.
pub struct Owner(softspoken::Sender);

/// The party that has the order.
pub struct Permuter(softspoken::Receiver);

impl Owner {
    /// Once for any number of columns.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, permuter: PartyId) -> Result<Self, PsiError> {
        Ok(Self(softspoken::Sender::setup(session, permuter, Adversary::SemiHonest, K)?))
    }

    /// This party's shares of one column of numbers in the permuter's order.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn share(&mut self, session: &mut Session, permuter: PartyId, data: &[u64]) -> Result<Vec<u64>, PsiError> {
        session.next_round();
        let mut masks: Vec<u64> = Prg::new(&Seed::random()?).vector(data.len());
        let masked: Vec<u64> = data.iter().zip(&masks).map(|(x, mask)| x.wrapping_add(*mask)).collect();
        for piece in masked.chunks(1 << 17) {
            session.send(permuter, bytemuck::cast_slice(piece).to_vec())?;
        }
        let mut batches = batches(switches(data.len()));
        let mut keys = Keys::default();
        let mut corrections: Vec<u64> = Vec::with_capacity(2 * PIECE);
        let mut switch = |a: &mut u64, b: &mut u64| {
            if keys.left() == 0 {
                let mut ots = self.0.extend(session, batches.next().expect("as many as switches"))?;
                ots.adjust(session, permuter)?;
                session.next_round();
                keys = Keys::new(ots);
            }
            let [pass, cross] = keys.next();
            let (out_a, out_b) = (a.wrapping_add(low(pass)), b.wrapping_add(high(pass)));
            corrections.push(out_a.wrapping_sub(*b).wrapping_sub(low(cross)));
            corrections.push(out_b.wrapping_sub(*a).wrapping_sub(high(cross)));
            (*a, *b) = (out_a, out_b);
            if corrections.len() == 2 * PIECE || keys.left() == 0 {
                session.send(permuter, bytemuck::cast_slice(&corrections).to_vec())?;
                corrections.clear();
            }
            Ok::<(), PsiError>(())
        };
        pass(&mut masks, &mut vec![0; data.len()], &mut switch)?;
        Ok(masks.into_iter().map(u64::wrapping_neg).collect())
    }
}

impl Permuter {
    /// Once for any number of columns.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn setup(session: &mut Session, owner: PartyId) -> Result<Self, PsiError> {
        Ok(Self(softspoken::Receiver::setup(session, owner, Adversary::SemiHonest, K)?))
    }

    /// This party's shares of one column of the owner's numbers: number `order[i]` is at position i.
    ///
    /// # Errors
    /// The connection's failure, or a peer that deviates.
    pub fn share(&mut self, session: &mut Session, owner: PartyId, order: &[u32]) -> Result<Vec<u64>, PsiError> {
        session.next_round();
        let mut wires = vec![0u64; order.len()];
        session.recv(owner, bytemuck::cast_slice_mut(&mut wires))?;
        let settings = Settings::route(order);
        let mut batches = batches(switches(order.len()));
        let mut settings = settings.chunks(BATCH / 64);
        let mut keys = ChosenKeys::default();
        let mut corrections = vec![0u64; 2 * PIECE];
        let mut switch = |a: &mut u64, b: &mut u64| {
            if keys.left() == 0 {
                let mut ots = self.0.extend(session, batches.next().expect("as many as switches"))?;
                ots.choose(session, owner, settings.next().expect("as many as switches"))?;
                session.next_round();
                keys = ChosenKeys::new(ots);
            }
            let at = keys.next % PIECE;
            if at == 0 {
                let piece = &mut corrections[..2 * PIECE.min(keys.left())];
                session.recv(owner, bytemuck::cast_slice_mut(piece))?;
            }
            let (key, crosses) = keys.next();
            let swap = (*a ^ *b) & crosses;
            *a = (*a ^ swap).wrapping_add(low(key)).wrapping_add(corrections[2 * at] & crosses);
            *b = (*b ^ swap).wrapping_add(high(key)).wrapping_add(corrections[2 * at + 1] & crosses);
            Ok::<(), PsiError>(())
        };
        pass(&mut wires, &mut vec![0; order.len()], &mut switch)?;
        Ok(wires)
    }
}

fn low(key: u128) -> u64 {
    key as u64
}

fn high(key: u128) -> u64 {
    (key >> 64) as u64
}

/// Both keys of every OT of a batch, one OT after the other.
#[derive(Default)]
struct Keys {
    ots: CotSender,
    piece: Vec<[u128; 2]>,
    next: usize,
}

impl Keys {
    fn new(ots: CotSender) -> Self {
        Self { ots, piece: Vec::new(), next: 0 }
    }

    fn left(&self) -> usize {
        self.ots.zero.len() - self.next
    }

    fn next(&mut self) -> [u128; 2] {
        let at = self.next % PIECE;
        if at == 0 {
            let zero = self.ots.zero[self.next..][..PIECE.min(self.left())].to_vec();
            let first = self.ots.first + self.next as u64;
            self.piece = CotSender { first, delta: self.ots.delta, zero }.random();
        }
        self.next += 1;
        self.piece[at]
    }
}

/// The chosen key of every OT of a batch, one OT after the other, with its bit in all places of a word.
#[derive(Default)]
struct ChosenKeys {
    ots: CotReceiver,
    piece: Vec<u128>,
    next: usize,
}

impl ChosenKeys {
    fn new(ots: CotReceiver) -> Self {
        Self { ots, piece: Vec::new(), next: 0 }
    }

    fn left(&self) -> usize {
        self.ots.blocks.len() - self.next
    }

    fn next(&mut self) -> (u128, u64) {
        let at = self.next % PIECE;
        if at == 0 {
            let blocks = self.ots.blocks[self.next..][..PIECE.min(self.left())].to_vec();
            let first = self.ots.first + self.next as u64;
            self.piece = CotReceiver { first, choices: Vec::new(), blocks }.random();
        }
        let crosses = u64::from(self.ots.choice(self.next)).wrapping_neg();
        self.next += 1;
        (self.piece[at], crosses)
    }
}
