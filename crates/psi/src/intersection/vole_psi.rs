//! Intersection by an oblivious pseudorandom function from VOLE and a key-value store: the default protocol.
//!
//! **Computes** for the receiver which of its items the sender has, and where in the sender's random order
//! ([`Protocol`]).
//!
//! **Adversary** semi-honest or malicious, either party. **Discloses** both sizes; beyond the matches nothing. A
//! malicious receiver may ask about more items than it declares. With 2^64 evaluations of the hash it is about 1.7
//! times as many for large sets, and some tens more for few items. [`VolePsi::questions`] has the bound, by the
//! counting argument of Garimella, Pinkas, Rosulek, Trieu, Yanai (CRYPTO 2021, section 6). A malicious sender that
//! finds two items with equal tags, 2^64 evaluations again, has both behind one tag.
//!
//! **Steps**
//!
//! 1. VOLE gives the sender delta and b, the receiver a and c = a delta + b, one for each column of a store
//!    ([`crate::okvs`]).
//! 2. The receiver encodes its items x with values h(x) to columns p and sends p + a.
//! 3. The sender turns b into k = b + (p + a) delta = c + p delta. For the receiver's items decode(k, x) - h(x) delta =
//!    decode(c, x), which both can compute. For any other item y the sender's value differs by (decode(p, y) - h(y))
//!    delta, 128 random bits.
//! 4. Hashes of these values are the tags that the sender sends in random order.
//! 5. The receiver looks its own tags, hashes of decode(c, x), up among them.
//!
//! In the malicious variant another hash of the same values proves matches ([`Prepared::proofs`]).
//!
//! | variant | field of p, a, h | width | tags | hashes |
//! |---|---|---|---|---|
//! | fast | GF(2^64) up to 10 2^20 sender's items in all bins, else GF(2^128) | 256 | 42 + log2 of all pairs, in whole bytes | AES with the key of the run; fixed-key AES |
//! | compact | the same | 512 | the same, sorted, in the form of Elias and Fano | the same |
//! | malicious | GF(2^128) | 256 | 128 bits | BLAKE3, with the item in the tag |
//!
//! **Bounds** of a whole run, all bins together ([`crate::chance`]). An item of the sender alone has decode(p, y) =
//! h(y) with probability 2^-64, so one of 10 2^20 and less with 20 2^-45. Tags of different values are equal for some
//! pair with 2^-42, malicious: 2^-128 a pair; a store cannot be encoded, 2^-45.
//!
//! **Cost** [`Protocol::declared`] is exact. Setup: that of SoftSpokenOT with k = 4. Online: the OTs and trees of
//! silent VOLE ([`tacit_ot::silent::vole`]). Then 1 round with a seed and the columns from the receiver (8 or 16 bytes
//! a column), then 1 round of tags. In a malicious run 16 bytes each more, a coin toss. For 2^20 items each: 8.8 + 11
//! bytes an element (compact 8.4 + 8, malicious 17.6 + 16) and about 2.8 MB. Nothing if either set is empty.
//!
//! **Source** Rindal, Schoppmann, "VOLE-PSI: Fast OPRF and Circuit-PSI from Vector-OLE" (EUROCRYPT 2021), Figure 4,
//! with the coin toss w of its malicious variant. The subfield of 64 bits from Raghuraman, Rindal, "Blazing Fast PSI
//! from Improved OKVS and Subfield VOLE" (CCS 2022), section 4. **Departures** the random-band store instead of theirs;
//! delta is that of the pair's setup and serves all of its runs, as if they were one long VOLE. The semi-honest tag
//! hash is correlation robust instead of a random oracle, and its input has no item.

mod hashes;
pub mod oprf;
mod receiver;
mod sender;

use crate::error::PsiError;
use crate::interface::protocol::{Declared, Held, Item, Outcome, Prepared, Protocol, Sizes};
use crate::interface::role::Role;
use crate::parts::chance::{EVENT_BITS, MOST_WORDS};
use crate::parts::okvs::Layout;
use crate::parts::tags::{SortedTags, tag_bits};
use crate::wrong_input::WrongInput;
use receiver::Receiver;
use sender::Sender;
use tacit_math::band::Word;
use tacit_math::code::Symbol;
use tacit_math::gf::{Field, Gf64, Gf128};
use tacit_net::{PartyId, Session, Traffic};
use tacit_ot::silent::vole;
use tacit_ot::{Adversary, softspoken};

/// SoftSpokenOT's k: the OTs are a quarter of an OT a column, and take little time.
const EXTENSION: usize = 4;

/// Bytes of the seed that chooses a store's rows, and of each half of a coin toss.
const SEED: usize = 16;

/// Words of a band.
const FAST: usize = 4;
const COMPACT: usize = 8;

/// Bytes of a consumed vector that are given back at once.
const GIVEN_BACK: usize = 64 << 20;

/// Evaluations of a hash that a receiver is counted on: the birthday bound of 128 bits.
const LOG2_EVALUATIONS: f64 = 64.0;

/// What is traded for what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Variant {
    /// Semi-honest, the least time.
    Fast,
    /// Semi-honest, the least traffic.
    Compact,
    /// Malicious.
    Malicious,
}

impl Variant {
    fn adversary(self) -> Adversary {
        match self {
            Self::Fast | Self::Compact => Adversary::SemiHonest,
            Self::Malicious => Adversary::Malicious,
        }
    }
}

/// Intersection from VOLE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VolePsi {
    /// What is traded for what.
    pub variant: Variant,
    /// How many pairs of sets a run has.
    pub bins: usize,
}

/// What the probability of a false match follows from.
#[derive(Clone, Copy, Debug)]
pub struct Strength {
    /// Bits of a tag.
    pub tag_bits: u32,
    /// Bits of a scalar.
    pub scalar_bits: usize,
    /// Bits that prove a match; 0 where none is proved.
    pub proof_bits: u32,
    /// Of the store of each pair of sets.
    pub layout: Layout,
}

impl VolePsi {
    /// The strength for two sets.
    pub fn strength(&self, sizes: Sizes) -> Strength {
        Parameters::new(*self, sizes).strength()
    }

    /// How many items of each pair of sets a receiver that deviates may ask about at most, but for a probability of
    /// 2^-45 in the run. The bound holds if the receiver evaluates the hash h of scalars q = 2^64 times for each pair.
    ///
    /// It chooses the columns after it has seen hashes. Of m columns of b bits there are 2^(b m); n given items are in
    /// 2^(b (m - n)) of them in the mean, as their hashes are random. So some columns hold some n of q items with
    /// probability C(q, n) 2^(b (m - n)) at most.
    pub fn questions(&self, sizes: Sizes) -> usize {
        let Strength { scalar_bits, layout, .. } = self.strength(sizes);
        let (b, columns) = (scalar_bits as f64, layout.columns());
        let missed = f64::from(EVENT_BITS) + (self.bins.max(1) as f64).log2();
        let possible = |n: usize| log2_choices(LOG2_EVALUATIONS, n) + b * (columns as f64 - n as f64) >= -missed;
        let (mut most, mut too_many) = (columns, 3 * columns + 64);
        while too_many - most > 1 {
            let middle = usize::midpoint(most, too_many);
            if possible(middle) { most = middle } else { too_many = middle }
        }
        most
    }
}

/// The binary logarithm of an upper bound on C(2^q, n), for n > 0: of 2^(q n) / n!, with Stirling's lower bound on n!.
fn log2_choices(q: f64, n: usize) -> f64 {
    let n = n as f64;
    let ln_factorial = n * n.ln() - n + (std::f64::consts::TAU * n).ln() / 2.0;
    q * n - ln_factorial / std::f64::consts::LN_2
}

/// What both parties derive from variant and sizes.
#[derive(Clone, Copy)]
struct Parameters {
    variant: Variant,
    sizes: Sizes,
    layout: Layout,
    /// Bits of a tag.
    bits: u32,
    /// Words of 64 bits that the run compares over GF(2^64).
    words: usize,
}

impl Parameters {
    fn new(VolePsi { variant, bins }: VolePsi, sizes: Sizes) -> Self {
        let width = if variant == Variant::Compact { COMPACT } else { FAST };
        let needed = tag_bits(sizes.pairs(bins));
        let bits = match variant {
            Variant::Fast => needed.next_multiple_of(8),
            Variant::Compact => needed,
            Variant::Malicious => 128,
        };
        let layout = Layout::of_run(sizes.receiver, 64 * width, bins);
        Self { variant, sizes, layout, bits, words: bins.saturating_mul(sizes.sender) }
    }

    fn strength(&self) -> Strength {
        let scalar_bits = if self.small_field() { Gf64::BITS } else { Gf128::BITS };
        let proof_bits = if self.variant == Variant::Malicious { u64::BITS } else { 0 };
        Strength { tag_bits: self.bits, scalar_bits, proof_bits, layout: self.layout }
    }

    fn empty(&self) -> bool {
        self.sizes.sender == 0 || self.sizes.receiver == 0
    }

    fn small_field(&self) -> bool {
        self.variant != Variant::Malicious && self.words <= MOST_WORDS
    }

    /// Bytes of a tag that travels whole.
    fn tag_bytes(&self) -> usize {
        self.bits as usize / 8
    }

    /// Bytes of the message of tags.
    fn tags_bytes(&self) -> usize {
        match self.variant {
            Variant::Compact => SortedTags::bytes(self.sizes.sender, self.bits),
            Variant::Fast | Variant::Malicious => self.sizes.sender * self.tag_bytes(),
        }
    }

    /// Correlated OTs that the VOLE takes.
    fn ots<F: Scalar>(&self) -> usize {
        vole::ots::<F>(self.layout.columns(), self.variant.adversary())
    }

    fn vole_cost<F: Scalar>(&self) -> Traffic {
        softspoken::extension_cost(EXTENSION, self.variant.adversary(), self.ots::<F>())
            + vole::expansion_cost::<F>(self.layout.columns(), self.variant.adversary())
    }

    fn declared(&self) -> Declared {
        let setup = softspoken::setup_cost(EXTENSION, self.variant.adversary());
        if self.empty() {
            return Declared { setup, online: Traffic::default() };
        }
        let columns = self.layout.columns();
        let (vole, scalar) = match self.small_field() {
            true => (self.vole_cost::<Gf64>(), size_of::<Gf64>()),
            false => (self.vole_cost::<Gf128>(), size_of::<Gf128>()),
        };
        let toss = if self.variant == Variant::Malicious { SEED } else { 0 };
        let messages = Traffic {
            rounds: if self.variant == Variant::Malicious { 3 } else { 2 },
            sender: (self.tags_bytes() + 3 * toss) as u64,
            receiver: (SEED + toss + columns * scalar) as u64,
        };
        Declared { setup, online: vole + messages }
    }
}

/// A field of scalars, its elements as words of a store.
trait Scalar: Field + Symbol {
    type Word: Word;
}

impl Scalar for Gf64 {
    type Word = u64;
}

impl Scalar for Gf128 {
    type Word = u128;
}

impl Protocol for VolePsi {
    fn name(&self) -> &'static str {
        match self.variant {
            Variant::Fast => "vole",
            Variant::Compact => "vole-compact",
            Variant::Malicious => "vole-malicious",
        }
    }

    fn adversary(&self) -> Adversary {
        self.variant.adversary()
    }

    fn held(&self, held: &mut Held) {
        held.number(self.bins);
    }

    fn proves(&self) -> bool {
        self.variant == Variant::Malicious
    }

    fn declared(&self, sizes: Sizes) -> Declared {
        Parameters::new(*self, sizes).declared()
    }

    fn setup(&self, role: Role, session: &mut Session, peer: PartyId) -> Result<Box<dyn Prepared>, PsiError> {
        session.enter("ot");
        let adversary = self.adversary();
        let pair: Box<dyn Prepared> = match role {
            Role::Sender => {
                let ots = softspoken::Sender::setup(session, peer, adversary, EXTENSION)?;
                Box::new(Sender::new(*self, peer, ots))
            }
            Role::Receiver => {
                let ots = softspoken::Receiver::setup(session, peer, adversary, EXTENSION)?;
                Box::new(Receiver { psi: *self, peer, ots, proofs: Vec::new() })
            }
        };
        session.leave();
        Ok(pair)
    }
}

/// Shortens a vector and gives memory back to the system, not after every call, since that may copy.
fn give_back<T>(vector: &mut Vec<T>, length: usize) {
    vector.truncate(length);
    if vector.capacity() - length > GIVEN_BACK / size_of::<T>() {
        vector.shrink_to_fit();
    }
}

/// Room for the proofs of `items` items, in the variant that has them.
fn no_proofs_yet(variant: Variant, items: usize) -> Vec<u64> {
    vec![0; if variant == Variant::Malicious { items } else { 0 }]
}

/// Checks that there are as many items as announced.
fn check_count(items: &[Item], announced: usize) -> Result<(), PsiError> {
    if items.len() == announced {
        return Ok(());
    }
    Err(WrongInput::Items { given: items.len(), announced }.into())
}

impl Prepared for Sender {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<Outcome, PsiError> {
        check_count(items, sizes.sender)?;
        self.proofs.clear();
        let parameters = Parameters::new(self.psi, sizes);
        match (parameters.variant, parameters.small_field()) {
            _ if parameters.empty() => self.order_of_nothing_sent(items),
            (Variant::Compact, true) => self.run::<Gf64, COMPACT>(session, items, parameters),
            (Variant::Compact, false) => self.run::<Gf128, COMPACT>(session, items, parameters),
            (_, true) => self.run::<Gf64, FAST>(session, items, parameters),
            (_, false) => self.run::<Gf128, FAST>(session, items, parameters),
        }
    }

    fn proofs(&mut self) -> Option<Vec<u64>> {
        self.psi.proves().then(|| std::mem::take(&mut self.proofs))
    }
}

impl Prepared for Receiver {
    fn online(&mut self, session: &mut Session, items: &[Item], sizes: Sizes) -> Result<Outcome, PsiError> {
        check_count(items, sizes.receiver)?;
        self.proofs.clear();
        let parameters = Parameters::new(self.psi, sizes);
        match (parameters.variant, parameters.small_field()) {
            _ if parameters.empty() => Ok(Outcome::Receiver(Vec::new())),
            (Variant::Compact, true) => self.run::<Gf64, COMPACT>(session, items, parameters),
            (Variant::Compact, false) => self.run::<Gf128, COMPACT>(session, items, parameters),
            (_, true) => self.run::<Gf64, FAST>(session, items, parameters),
            (_, false) => self.run::<Gf128, FAST>(session, items, parameters),
        }
    }

    fn proofs(&mut self) -> Option<Vec<u64>> {
        self.psi.proves().then(|| std::mem::take(&mut self.proofs))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::binning::{MOST, capacity};
    use crate::parts::chance;

    #[test]
    fn bounds_hold_for_all_bins_of_a_run() {
        for (rows, bins) in [(1 << 24, 1), (1 << 24, 16), (1_000_000_000, 954), (1_000_000_000, MOST)] {
            let size = capacity(rows, bins);
            let sizes = Sizes { sender: size, receiver: size };
            let (items, pairs) = ((size as f64 * bins as f64).log2(), (sizes.pairs(bins) as f64).log2());
            for variant in [Variant::Fast, Variant::Compact, Variant::Malicious] {
                let Strength { tag_bits, scalar_bits, proof_bits, layout } = VolePsi { variant, bins }.strength(sizes);
                assert!(f64::from(tag_bits) - pairs >= 42.0, "{variant:?}: tags of {bins} bins");
                assert!(
                    scalar_bits as f64 - items >= chance::step_bits() - 1e-9,
                    "{variant:?}: scalars of {bins} bins"
                );
                // A receiver that guesses wrong once has ended the run.
                let proves = variant == Variant::Malicious;
                assert_eq!(proof_bits > 0, proves, "{variant:?}: proofs");
                assert!(
                    !proves || f64::from(proof_bits) - (bins as f64).log2() >= 45.0,
                    "{variant:?}: proofs of {bins} bins"
                );
                // The store of a bin fails with the probability of that many keys, as often as there are bins.
                let bits = 45.0 + (bins as f64).log2();
                assert_eq!(layout, Layout::with_failure(size, layout.band, bits), "{variant:?}: stores of {bins} bins");
            }
        }
    }

    #[test]
    fn a_receiver_asks_less_than_two_items_a_column() {
        let of = |receiver, bins| {
            let (psi, sizes) = (VolePsi { variant: Variant::Malicious, bins }, Sizes { sender: 1000, receiver });
            (psi.strength(sizes).layout.columns(), psi.questions(sizes))
        };
        let few = [1, 10, 100, 211].map(|receiver| of(receiver, 1));
        assert_eq!(few, [(46, 85), (55, 102), (145, 263), (256, 459)]);
        assert_eq!(of(1, MOST), (60, 111));
        assert_eq!(
            [1000, 10_000, 1 << 20].map(|receiver| of(receiver, 1)),
            [(1334, 2316), (11_088, 18_496), (1_150_592, 1_767_787)]
        );
        // Fewer choices than are counted, by the exact product of few factors.
        let exact =
            |n: u32| (0..n).map(|i| (2f64.powi(64) - f64::from(i)).log2() - f64::from(i + 1).log2()).sum::<f64>();
        for n in [1, 2, 76, 459] {
            let counted = log2_choices(LOG2_EVALUATIONS, n as usize);
            assert!((0.0..0.2).contains(&(counted - exact(n))), "{n}: {counted}");
        }
    }
}
